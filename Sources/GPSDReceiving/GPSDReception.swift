import Dispatch
import Glibc
import IndoorVocabulary

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
        // The last contact with gpsd; nil if there was none.
        var lastContact: Instant?
        while !alarm.isRaised {
            do throws(GPSDError) {
                try stay {
                    lastContact = Self.now
                    backoff.reset()
                }
            } catch {
                // Don't try again, because only the user can end a feedback.
                if case .ownPositions = error { throw error }
                guard let contact = lastContact, contact.duration(to: Self.now) < source.patience else { throw error }
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
