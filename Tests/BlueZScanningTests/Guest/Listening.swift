import IndoorLocalization
import IndoorLocalizationTesting

/// Keeps what a source delivers, so that a test can wait for it.
///
/// A class because a task of its own takes the readings.
final class Listening: Sendable {
    struct Heard: Sendable {
        /// All readings but radio events, in order.
        var readings: [SensorReading] = []
        /// What the radio told of itself, in order.
        var events: [RadioEvent] = []
        var sightingCount = 0
        /// Why the stream ended, if it threw.
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

    /// Begins to scan.
    init(to source: some ScanSource) {
        let heard = WatchedState(Heard())
        self.heard = heard
        task = Task {
            do {
                for try await reading in source.readings() { heard.update { $0.take(reading) } }
            } catch {
                heard.update { $0.error = error }
            }
            heard.update { $0.isOver = true }
        }
    }

    deinit { task.cancel() }

    /// Ends the scan; returns once the stream has ended.
    func stop() async throws {
        task.cancel()
        try await wait(for: "the end of the stream") { $0.isOver }
    }

    /// Waits until a condition holds, within a bound.
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

    /// Waits until the radio says so, in an event behind the first so many; returns how many there were up to it.
    @discardableResult
    func wait(for status: RadioEvent.Status, after count: Int = 0) async throws -> Int {
        try await wait(for: "the event \(status)") { $0.statuses.dropFirst(count).contains(status) }
        return (heard.value.statuses.dropFirst(count).firstIndex(of: status) ?? count) + 1
    }

    /// Waits for so many sightings in all.
    func waitForSightings(_ count: Int) async throws {
        try await wait(for: "\(count) sightings") { $0.sightingCount >= count }
    }
}

extension Listening.Heard {
    fileprivate mutating func take(_ reading: SensorReading) {
        switch reading {
        case .radio(let event): events.append(event)
        case .sighting:
            sightingCount += 1
            readings.append(reading)
        default: readings.append(reading)
        }
    }
}
