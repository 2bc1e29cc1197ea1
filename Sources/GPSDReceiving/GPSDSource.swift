import CGPS
import Dispatch
import Glibc
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

/// An error of the reception of satellite positions from gpsd.
public enum GPSDError: Error, Hashable, Sendable {
    /// The name of the host can't be resolved.
    case unknownHost(String)
    /// No server is reachable at this host and port.
    case unreachable(host: String, port: UInt16)
    /// The server at this host and port isn't gpsd.
    case noAnswer(host: String, port: UInt16)
    /// The connection broke, and reconnecting failed within the time limit; `reason` is the system's.
    case connectionLost(host: String, port: UInt16, reason: String?)
    /// gpsd reads this device, to which this program sends its own positions.
    case ownPositions(device: String, host: String, port: UInt16)
    /// A system call failed with this error number.
    case system(call: String, number: Int32)
}

extension GPSDError: ClassifiedError {
    public var kind: LocalizationError.Kind {
        switch self {
        case .unknownHost, .unreachable, .connectionLost: .noNetwork
        case .noAnswer: .badResponse
        case .ownPositions: .badRequest
        case .system: .sensorFailed
        }
    }

    public var status: LocalizationError.Status? {
        if case .system(_, let number) = self { .system(number) } else { nil }
    }
}

extension GPSDError: CustomStringConvertible {
    /// A sentence that describes the error and a remedy.
    public var description: String {
        switch self {
        case .unknownHost(let host):
            "The host '\(host)' is unknown: correct the name, or give its address."
        case .unreachable(let host, let port):
            "gpsd is not reachable at \(host):\(port): start it with \"sudo systemctl start gpsd.socket\", or manually "
                + "with \"gpsd -n /dev/ttyACM0\" and the receiver's device. On another host, gpsd listens to the "
                + "network only with -G."
        case .noAnswer(let host, let port):
            "The server at \(host):\(port) is not gpsd: it did not send gpsd's greeting. gpsd's standard port is 2947."
        case .connectionLost(let host, let port, let reason):
            "The connection to gpsd at \(host):\(port) was lost\(reason.map { " (\($0))" } ?? ""): check gpsd "
                + "with \"systemctl status gpsd\"."
        case .ownPositions(let device, let host, let port):
            "gpsd at \(host):\(port) reads \(device), to which this session sends its own positions: they would come back "
                + "as satellite positions. Remove that device from gpsd, or send the positions to another gpsd, or don't "
                + "read satellite positions from this one."
        case .system(let call, let number):
            "\(call) failed: \(Self.text(ofSystemError: number)) (error \(number))."
        }
    }

    /// Returns the system's description of an error number.
    static func text(ofSystemError number: Int32) -> String {
        guard let text = strerror(number) else { return "unknown error" }
        return String(cString: text)
    }
}

/// The reception for one stream of positions: a thread that waits in poll(2) until the stream ends.
struct GPSDReception: Sendable {
    typealias Continuation = AsyncThrowingStream<GNSSFix, any Error>.Continuation

    private static let firstPause = Duration.milliseconds(250)
    private static let longestPause = Duration.seconds(5)

    private let source: GPSDSource
    private let alarm: Alarm
    private let continuation: Continuation

    init(_ source: GPSDSource, alarm: Alarm, continuation: Continuation) {
        self.source = source
        self.alarm = alarm
        self.continuation = continuation
    }

    /// Starts a thread, which ends when the alarm is raised.
    func begin() {
        DispatchQueue(label: "IndoorLocalization.GPSDReception", qos: .userInitiated).async {
            do throws(GPSDError) { try receive() } catch { continuation.finish(throwing: error) }
        }
    }

    /// Connects and reconnects until the alarm is raised, or gpsd is unreachable for too long.
    private func receive() throws(GPSDError) {
        var backoff = Backoff(first: Self.firstPause, seed: UInt64(bitPattern: Self.now.nanoseconds))
        var absence = GPSDAbsence(patience: source.patience)
        while !alarm.isRaised {
            var hadContact = false
            do throws(GPSDError) {
                try stay {
                    hadContact = true
                    backoff.reset()
                }
            } catch {
                // Don't try again, because only the user can end a feedback.
                if case .ownPositions = error { throw error }
                guard absence.continues(after: hadContact, at: Self.now) else { throw error }
                _ = alarm.wait(for: nil, atMost: min(backoff.next(), Self.longestPause))
            }
        }
    }

    /// Connects, and delivers positions until the connection is lost or the alarm is raised.
    ///
    /// - Parameter onContact: Called for the greeting and each report.
    private func stay(_ onContact: () -> Void) throws(GPSDError) {
        let connection = try GPSDConnection(host: source.host, port: source.port)
        let connectedAt = Self.now
        let feedback = GPSDFeedback(source)
        var isGreeted = false
        while true {
            let patience = isGreeted ? nil : source.greetingTime - connectedAt.duration(to: Self.now)
            guard alarm.wait(for: connection.descriptor, atMost: patience) != .alarm else { return }
            let now = Self.now
            while let report = try connection.next() {
                isGreeted = isGreeted || report.is_version
                if isGreeted { onContact() }
                if report.devices > 0 { try feedback.check(connection.devices(of: report)) }
                if isGreeted, let fix = GNSSFix(report, at: now) { continuation.yield(fix) }
            }
            if !isGreeted, connectedAt.duration(to: now) >= source.greetingTime {
                throw .noAnswer(host: source.host, port: source.port)
            }
        }
    }

    /// Connects, and checks the list of devices, which gpsd sends after its greeting.
    static func checkDevices(of source: GPSDSource) throws(GPSDError) {
        let alarm = try Alarm()
        let connection = try GPSDConnection(host: source.host, port: source.port)
        let limit = now.advanced(by: source.greetingTime)
        while now < limit, alarm.wait(for: connection.descriptor, atMost: now.duration(to: limit)) == .ready {
            while let report = try connection.next() {
                guard report.devices > 0 else { continue }
                return try GPSDFeedback(source).check(connection.devices(of: report))
            }
        }
    }

    /// The time since boot, including sleep, as in live scans.
    private static var now: Instant {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}

/// The absence of gpsd after the loss of a connection.
///
/// It begins with the loss, not with the last report: gpsd reports nothing without a receiver, and the loss of another host
/// is only noticed after a minute without reports.
package struct GPSDAbsence: Sendable {
    private let patience: Duration
    /// When the last connection was lost; nil if there was none.
    private var lostAt: Instant?

    /// - Parameter patience: how long the source tries to reconnect.
    package init(patience: Duration) { self.patience = patience }

    /// Returns whether to connect again after a connection or an attempt has failed.
    ///
    /// - Parameter hadContact: whether gpsd sent something over the connection.
    package mutating func continues(after hadContact: Bool, at now: Instant) -> Bool {
        if hadContact { lostAt = now }
        return lostAt.map { $0.duration(to: now) < patience } ?? false
    }
}

/// A connection to gpsd, for use by a single thread.
struct GPSDConnection: ~Copyable {
    private let connection: OpaquePointer
    private let host: String
    private let port: UInt16

    /// Connects, which may block for as long as the network takes, and requests reports.
    init(host: String, port: UInt16) throws(GPSDError) {
        var number: Int32 = 0
        guard let connection = cgps_open(host, String(port), &number) else {
            if cgps_is_no_host(number) { throw .unknownHost(host) }
            if cgps_is_no_connection(number) { throw .unreachable(host: host, port: port) }
            throw .system(call: "gps_open", number: number)
        }
        Self.enableKeepAlive(cgps_descriptor(connection))
        guard cgps_watch(connection) == 0 else {
            let reason = GPSDError.text(ofSystemError: errno)
            cgps_close(connection)
            throw .connectionLost(host: host, port: port, reason: reason)
        }
        self.connection = connection
        self.host = host
        self.port = port
    }

    deinit { cgps_close(connection) }

    /// The descriptor to wait on for reports.
    var descriptor: Int32 { cgps_descriptor(connection) }

    /// Returns the next report without waiting; nil if there is none yet.
    func next() throws(GPSDError) -> cgps_report? {
        var report = cgps_report()
        switch cgps_read(connection, &report) {
        case 0: return nil
        case 1: return report
        default:
            let reason = errno == 0 ? nil : GPSDError.text(ofSystemError: errno)
            throw .connectionLost(host: host, port: port, reason: reason)
        }
    }

    /// The devices that the latest report lists, as gpsd names them: such as `/dev/ttyACM0` or `udp://0.0.0.0:5000`.
    func devices(of report: cgps_report) -> [String] {
        (0..<max(0, report.devices)).compactMap { index in cgps_device(connection, index).map { String(cString: $0) } }
    }

    /// Enables TCP keep-alive, so that the kernel detects the loss of the other host: after 30 s of silence, it sends
    /// three probes.
    private static func enableKeepAlive(_ descriptor: Int32) {
        let options = [
            (Int32(SOL_SOCKET), SO_KEEPALIVE, 1), (Int32(IPPROTO_TCP), TCP_KEEPIDLE, 30),
            (Int32(IPPROTO_TCP), TCP_KEEPINTVL, 10), (Int32(IPPROTO_TCP), TCP_KEEPCNT, 3),
        ]
        for (level, name, value) in options {
            var value = Int32(value)
            setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
        }
    }
}

extension GNSSFix {
    /// The ratio of the 68 % radius to the 95 % radius: √(ln(1 − 0.68) / ln(1 − 0.95)).
    ///
    /// The ratio applies to normal errors with equal deviations to the north and to the east. The radius that contains
    /// a share p of such errors is σ √(−2 ln(1 − p)), the quantile of the Rayleigh distribution.
    package static let shareOf95Percent = 0.6167

    /// Creates a fix from a report of gpsd; returns nil if the report has no position or no accuracy.
    ///
    /// gpsd treats a receiver's errors as 95 % radii, and computes its own in the same way (gpsd_json(5) of gpsd 3.22,
    /// *TPV*; *Error modeling* in its HACKING guide; 95 % pseudorange error times dilution of precision). If gpsd
    /// reports only the errors along the axes, the radius is the root of the sum of their squares.
    package init?(_ report: cgps_report, at instant: Instant) {
        let coordinate = Coordinate(latitude: report.latitude, longitude: report.longitude)
        let known = report.eph.isFinite ? report.eph : (report.epx * report.epx + report.epy * report.epy).squareRoot()
        guard report.has_position, coordinate.isValid, known.isFinite, known > 0 else { return nil }
        self.init(
            instant: instant, coordinate: coordinate, accuracy: known * Self.shareOf95Percent,
            altitude: report.mode >= 3 && report.altitude.isFinite ? report.altitude : nil,
            speed: report.speed.isFinite && report.speed >= 0 ? report.speed : nil,
            course: report.track >= 0 && report.track < 360 ? report.track : nil)
    }
}

/// A pipe with which any thread can end another thread's waits permanently.
final class Alarm: Sendable {
    /// The read end of the pipe, which is readable once the alarm is raised.
    private let descriptor: Int32
    private let other: Int32

    init() throws(GPSDError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .system(call: "pipe", number: errno) }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (descriptor, other) = (ends[0], ends[1])
    }

    deinit {
        close(descriptor)
        close(other)
    }

    /// Ends the current wait and all later ones: the byte stays in the pipe.
    func raise() {
        var byte: UInt8 = 1
        // If the pipe is full, the alarm is already raised.
        _ = write(other, &byte, 1)
    }

    /// Whether the alarm is raised.
    var isRaised: Bool { wait(for: nil, atMost: .zero) == .alarm }

    /// The event that ended a wait.
    enum Outcome: Hashable {
        case alarm
        /// The descriptor is readable or at its end.
        case ready
        case timeout
    }

    /// Waits until another descriptor is readable, the alarm is raised, or the timeout expires.
    ///
    /// - Parameter timeout: The time limit; nil for none.
    func wait(for other: Int32?, atMost timeout: Duration?) -> Outcome {
        // Rounded up, so that the deadline has passed afterwards. poll ignores negative descriptors.
        let milliseconds = timeout.map { Int32(clamping: max(0, $0.nanoseconds / 1_000_000 + ($0 > .zero ? 1 : 0))) }
        var watched = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: other ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        let count = poll(&watched, nfds_t(watched.count), milliseconds ?? -1)
        if watched[0].revents != 0 { return .alarm }
        // A signal may end a wait early, which only causes an unnecessary read.
        return count > 0 ? .ready : .timeout
    }
}
