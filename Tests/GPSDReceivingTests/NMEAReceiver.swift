import IndoorLocalizationTesting

/// A satellite receiver that sends NMEA 0183 sentences as fast as the client reads them.
struct NMEAReceiver: Sendable {
    var mode = 3
    /// The number of seconds without a fix at the start.
    var isSearching = 0
    /// Degrees and minutes in the form of the sentences: 52.52° north, 13.41° east.
    var place = "5231.2000,N,01324.6000,E"
    var horizontalDilution = 1.2

    /// Returns the sentences for one second of the receiver's time.
    func cycle(_ second: Int) -> String {
        let digits = [second / 3600, second / 60 % 60, second % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
        let time = digits.joined() + ".00"
        let satellites = (1...8).map { "0\($0)" }.joined(separator: ",")
        if second < isSearching {
            return Self.sentence("GPGGA,\(time),,,,,0,00,99.9,,M,,M,,")
                + Self.sentence("GPGSA,A,1,,,,,,,,,,,,,99.9,99.9,99.9")
                + Self.sentence("GPRMC,\(time),V,,,,,,,211126,,")
        }
        let height = mode == 3 ? "48.0,M,46.0,M" : ",M,,M"
        return Self.sentence("GPGGA,\(time),\(place),1,08,\(horizontalDilution),\(height),,")
            + Self.sentence("GPGSA,A,\(mode),\(satellites),,,,,2.0,\(horizontalDilution),1.6")
            + Self.sentence("GPRMC,\(time),A,\(place),2.00,045.0,211126,,")
    }

    private static func sentence(_ text: String) -> String {
        let sum = text.utf8.reduce(0, ^)
        let digits = String(sum, radix: 16, uppercase: true)
        return "$\(text)*\(digits.count < 2 ? "0" : "")\(digits)\r\n"
    }
}
