import IndoorLocalization
import IndoorLocalizationTesting

/// A collector of a source's readings, which a test can wait for.
///
/// A class because its own task receives the readings.
final class Listening: Sendable {
    struct Heard: Sendable {
        /// All readings but radio events, in order.
        var readings: [SensorReading] = []
        /// The radio events, in order.
        var events: [RadioEvent] = []
        var sightingCount = 0
        /// The error that ended the stream, if it threw.
        var error: (any Error)?
        /// Whether the stream has ended.
        var isOver = false

        var sightings: [Sighting] { readings.compactMap { if case .sighting(let it) = $0 { it } else { nil } } }
        var advertisements: [Advertisement] {
            readings.compactMap { if case .advertisement(let it) = $0 { it } else { nil } }
        }
        var statuses: [RadioEvent.Status] { events.map(\.status) }
    }

    let heard: WatchedState<Heard>
    private let task: Task<Void, Never>

    /// Starts to scan.
    init(to source: some ScanSource) {
        let heard = WatchedState(Heard())
        self.heard = heard
        task = Task {
            do {
                for try await reading in source.readings() { heard.update { $0.add(reading) } }
            } catch {
                heard.update { $0.error = error }
            }
            heard.update { $0.isOver = true }
        }
    }

    deinit { task.cancel() }

    /// Ends the scan and waits until the stream has ended.
    func stop() async throws {
        task.cancel()
        try await wait(for: "the end of the stream") { $0.isOver }
    }

    /// Waits until a condition holds, within the time limit.
    func wait(
        for awaited: String, until condition: @escaping @Sendable (Heard) -> Bool
    ) async throws {
        do {
            try await Bounded.waitInGuest(for: awaited) { [heard] in try await heard.wait(until: condition) }
        } catch let error as Bounded.Expired {
            let now = heard.value
            throw Bounded.Expired(
                awaited: "\(error.awaited) (\(now.readings.count) readings, \(now.sightingCount) sightings, radio: "
                    + "\(now.events.suffix(8)), error: \(now.error.map { "\($0)" } ?? "none"))")
        }
    }

    /// Waits for a status in an event after the first `count`. Returns the number of events up to it.
    @discardableResult
    func wait(for status: RadioEvent.Status, after count: Int = 0) async throws -> Int {
        try await wait(for: "the event \(status)") { $0.statuses.dropFirst(count).contains(status) }
        return (heard.value.statuses.dropFirst(count).firstIndex(of: status) ?? count) + 1
    }

    /// Waits for a total number of sightings.
    func waitForSightings(_ count: Int) async throws {
        try await wait(for: "\(count) sightings") { $0.sightingCount >= count }
    }
}

extension Listening.Heard {
    fileprivate mutating func add(_ reading: SensorReading) {
        switch reading {
        case .radio(let event): events.append(event)
        case .sighting:
            sightingCount += 1
            readings.append(reading)
        default: readings.append(reading)
        }
    }
}
