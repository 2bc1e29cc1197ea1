import IndoorVocabulary

/// Satellite positions from gpsd, the service that talks to GNSS receivers on Linux.
///
///     let localizer = Localizer(source: radio, gnss: GPSDSource(), venues: packets)
///
/// A position is delivered where gpsd has one (a fix in two or three dimensions) and says how exact it is. Instants are
/// those of reception (CLOCK_BOOTTIME); most receivers need some tenths of a second to compute and send a position.
///
/// A gpsd that goes away, as when it is restarted, is connected to again, with growing pauses. The stream throws a
/// `GPSDError` where there is none at the beginning, and where none has come back after `patience`. It never ends by itself.
public struct GPSDSource: GNSSSource, Hashable {
    /// The port that gpsd listens on unless told otherwise, by assignment of IANA.
    public static let standardPort: UInt16 = 2947

    /// Name or address of the machine that gpsd runs on.
    public var host: String
    /// The port that gpsd listens on.
    public var port: UInt16
    /// How long a gpsd that has gone is waited for.
    public var patience: Duration
    /// How long gpsd may take for its greeting, which it sends at once.
    package var greetingTime = Duration.seconds(5)

    /// Creates a source.
    public init(
        host: String = "localhost", port: UInt16 = GPSDSource.standardPort, patience: Duration = .seconds(30)
    ) {
        self.host = host
        self.port = port
        self.patience = patience
    }

    /// Connects to gpsd and delivers its positions; with several receivers, those of all.
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

    /// Positions that may wait to be fetched from the stream; beyond, the oldest are lost.
    static let bufferLimit = 256
}
