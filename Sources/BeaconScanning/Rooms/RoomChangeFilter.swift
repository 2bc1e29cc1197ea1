/// A filter that keeps a room until a rule confirms the change to another room.
package struct RoomChangeFilter: Hashable, Sendable {
    /// The place of the device among the trained rooms.
    package enum State: Hashable, Sendable {
        /// There is no estimate yet.
        case unknown
        /// The device is in none of the trained rooms.
        case noRoom
        /// The device is in a trained room.
        case room(String)

        /// Creates the state of an estimate's most probable room; nil for none of the trained rooms.
        init(_ room: String?) { self = room.map(State.room) ?? .noRoom }

        /// The room's name; nil if the device is in none, or the room is unknown.
        package var room: String? {
            switch self {
            case .unknown, .noRoom: nil
            case .room(let name): name
            }
        }
    }

    private let settings: RoomSettings
    /// The confirmed state.
    package private(set) var settled = State.unknown
    /// The states of the latest estimates, the latest at the end.
    private var history: [State] = []

    /// Creates a filter without estimates.
    package init(_ settings: RoomSettings) { self.settings = settings }

    /// Handles the room of an estimate and returns the confirmed room; both are nil for none of the trained rooms.
    package mutating func observe(_ room: String?) -> String? {
        let latest = State(room)
        history.append(latest)
        if history.count > max(1, settings.changeCount) { history.removeFirst() }
        settled = settled == .unknown ? latest : believed(after: settled, latest)
        return settled.room
    }

    private func believed(after present: State, _ latest: State) -> State {
        switch settings.changeRule {
        case .immediate:
            return latest
        case .inARow:
            return history.count >= settings.changeCount && history.allSatisfy { $0 == latest } ? latest : present
        case .bestOf:
            var counts: [State: Int] = [:]
            for state in history { counts[state, default: 0] += 1 }
            let most = counts.values.max() ?? 0
            // Among equally frequent states, keep the current one if it is among them; otherwise use the latest.
            if counts[present] == most { return present }
            return history.last { counts[$0] == most } ?? present
        }
    }
}
