import IndoorVocabulary
import TextFormats
import VenueModel

/// The sentences of one position: GGA, GSA, GST and RMC, in this order.
///
/// gpsd 3.22 reports one position for each cycle if GGA comes before RMC, and no position if RMC comes first. GSA
/// contains the dimensions of the position: 2, because the height above sea level is unknown.
///
/// Sources: E. S. Raymond, *NMEA Revealed*, version 2.23, 2019 (fields of the sentences); u-blox, *u-blox M8 Receiver
/// Description Including Protocol Specification*, 2022, *Position Fix Flags in NMEA* (quality 6, status A and mode E
/// for a position by dead reckoning).
struct NMEACycle {
    /// The largest value of a dilution or deviation, so that a sentence keeps its length.
    private static let largest = 999.0
    private static let knotsPerMeterPerSecond = 3600.0 / 1852
    /// The fields of GSA for the satellites, of which there are none.
    private static let satellites = [String](repeating: "", count: 12)

    private let time: CivilTime

    init(at time: UnixTime) { self.time = CivilTime(time) }

    /// Returns the sentences of a position.
    func sentences(of fix: NMEAFix) -> [NMEASentence] {
        let dilution = Self.number(HorizontalDilution.ofRadius(fix.radius), 3)
        let place = Self.place(fix.coordinate)
        let deviations = fix.deviations
        return [
            NMEASentence(
                "GGA", [clock] + place + [fix.origin.quality, "00", dilution, "", "M", "", "M", "", ""]),
            NMEASentence("GSA", ["A", "2"] + Self.satellites + [dilution, dilution, ""]),
            NMEASentence(
                "GST",
                [
                    clock, "", Self.number(deviations.semiMajor, 2), Self.number(deviations.semiMinor, 2),
                    Self.number(deviations.direction, 1), Self.number(deviations.latitude, 2),
                    Self.number(deviations.longitude, 2), "",
                ]),
            NMEASentence(
                "RMC",
                [clock, "A"] + place + [
                    fix.speed.map { Self.number($0 * Self.knotsPerMeterPerSecond, 2) } ?? "",
                    fix.course.map(Self.course) ?? "", date, "", "", fix.origin.mode,
                ]),
        ]
    }

    /// The sentences that report the time and no position.
    var withoutFix: [NMEASentence] {
        [
            NMEASentence("GGA", [clock, "", "", "", "", "0", "00", "", "", "M", "", "M", "", ""]),
            NMEASentence("GSA", ["A", "1"] + Self.satellites + ["", "", ""]),
            NMEASentence("RMC", [clock, "V", "", "", "", "", "", "", date, "", "", "N"]),
        ]
    }

    /// The time of day in UTC: `hhmmss.ss`.
    private var clock: String {
        [time.hour, time.minute, time.second].map { FixedDecimals.padded($0, 2) }.joined() + "."
            + FixedDecimals.padded(time.millisecond / 10, 2)
    }

    /// The date: `ddmmyy`.
    private var date: String {
        [time.day, time.month, time.year % 100].map { FixedDecimals.padded($0, 2) }.joined()
    }

    /// Returns a number that isn't negative, at most `largest`.
    private static func number(_ value: Double, _ decimals: Int) -> String {
        FixedDecimals.text(min(max(value, 0), largest), decimals) ?? ""
    }

    /// Returns a course in [0, 360).
    private static func course(_ degrees: Double) -> String {
        let text = FixedDecimals.text(degrees, 1) ?? ""
        return text == "360.0" ? "0.0" : text
    }

    /// Returns latitude, hemisphere, longitude and hemisphere.
    private static func place(_ coordinate: Coordinate) -> [String] {
        [
            angle(coordinate.latitude, degreeDigits: 2), coordinate.latitude < 0 ? "S" : "N",
            angle(coordinate.longitude, degreeDigits: 3), coordinate.longitude < 0 ? "W" : "E",
        ]
    }

    /// Returns an angle as degrees and minutes with six decimals, which are 2 mm.
    private static func angle(_ degrees: Double, degreeDigits: Int) -> String {
        // Round the whole angle, so that the minutes never become 60.
        let millionths = Int64((degrees.magnitude * 60e6).rounded())
        let (whole, rest) = millionths.quotientAndRemainder(dividingBy: 60_000_000)
        return FixedDecimals.padded(whole, degreeDigits) + FixedDecimals.padded(rest / 1_000_000, 2) + "."
            + FixedDecimals.padded(rest % 1_000_000, 6)
    }
}
