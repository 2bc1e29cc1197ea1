import IndoorVocabulary

/// A source of satellite positions from gpsd, the Linux service for GNSS receivers.
///
///     let localizer = Localizer(source: radio, gnss: GPSDSource(), venues: packets)
///
/// The source delivers a position whenever gpsd reports a fix in two or three dimensions with its accuracy. Instants
/// are those of reception (CLOCK_BOOTTIME); most receivers need some tenths of a second to compute and send a position.
///
/// If the connection to gpsd breaks, for example during a restart, the source reconnects with increasing pauses. The
/// stream throws a `GPSDError` if gpsd isn't reachable at the start, or if it doesn't return within `patience`.
/// Otherwise the stream doesn't end.
///
/// If this program also sends positions to a gpsd, state the addresses in `ownDevices`. The stream then throws
/// `GPSDError.ownPositions` instead of returning them as satellite positions.
public struct GPSDSource: GNSSSource, Hashable {
    /// The default port of gpsd, assigned by IANA.
    public static let standardPort: UInt16 = 2947

    /// The name or address of gpsd's host.
    package var host: String
    /// The port of gpsd.
    package var port: UInt16
    /// How long the source tries to reconnect.
    package var patience: Duration
    /// The addresses to which this program sends positions, as gpsd names its devices: such as `udp://127.0.0.1:5000`,
    /// or `tcp://HOST:PORT` for a port of this program, or the path of a file.
    package var ownDevices: [String] = []
    /// The time limit for the greeting, which gpsd sends immediately.
    package var greetingTime = Duration.seconds(5)

    /// Creates a source.
    public init(
        host: String = "localhost", port: UInt16 = GPSDSource.standardPort, patience: Duration = .seconds(30)
    ) {
        self.host = host
        self.port = port
        self.patience = patience
    }

    /// Checks that gpsd doesn't read the positions that this program sends; this may block for some seconds.
    ///
    /// - Throws: `GPSDError.ownPositions` if it does. A gpsd that isn't reachable is no error here, because `fixes()`
    ///   reports it, and repeats this check.
    public func checkDevices() throws(GPSDError) {
        guard !ownDevices.isEmpty else { return }
        do throws(GPSDError) { try GPSDReception.checkDevices(of: self) } catch {
            if case .ownPositions = error { throw error }
        }
    }

    /// Connects to gpsd and delivers the positions of all its receivers.
    public func fixes() -> AsyncThrowingStream<GNSSFix, any Error> {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(Self.bufferLimit)) { continuation in
            do throws(GPSDError) {
                let alarm = try Alarm()
                continuation.onTermination = { _ in alarm.raise() }
                GPSDReception(self, alarm: alarm, continuation: continuation).begin()
            } catch {
                continuation.finish(throwing: error)
            }
        }
    }

    /// The number of positions that the stream buffers. If the buffer is full, the oldest positions are lost.
    static let bufferLimit = 256
}
