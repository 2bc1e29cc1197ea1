/// Keeps to a room until a rule believes that it has changed.
package struct RoomChangeFilter: Hashable, Sendable {
    /// A room, or none of the trained ones.
    package typealias Told = String?

    private let settings: RoomSettings
    /// What is believed; nil before anything was told.
    package private(set) var settled: Told?
    /// What was told last, the latest at the end.
    private var history: [Told] = []

    /// Creates a filter that was told nothing.
    package init(_ settings: RoomSettings) { self.settings = settings }

    /// Takes in what an estimate told, and returns what is believed.
    package mutating func take(_ told: Told) -> Told {
        history.append(told)
        if history.count > max(1, settings.changeCount) { history.removeFirst() }
        guard let present = settled else {
            settled = .some(told)
            return told
        }
        let next = believed(after: present, told)
        settled = .some(next)
        return next
    }

    private func believed(after present: Told, _ told: Told) -> Told {
        switch settings.changeRule {
        case .immediate:
            return told
        case .inARow:
            return history.count >= settings.changeCount && history.allSatisfy { $0 == told } ? told : present
        case .bestOf:
            var counts: [Told: Int] = [:]
            for told in history { counts[told, default: 0] += 1 }
            let most = counts.values.max() ?? 0
            // Of equally frequent ones the present one stays, else the latest counts.
            if counts[present] == most { return present }
            return history.last { counts[$0] == most } ?? present
        }
    }
}
