/// Keeps to a room until a rule believes that it has changed.
package struct RoomChangeFilter: Hashable, Sendable {
    /// The place of the device among the trained rooms.
    package enum State: Hashable, Sendable {
        /// There was no estimate yet.
        case unknown
        /// The device is in none of the trained rooms.
        case noRoom
        /// The device is in a trained room.
        case room(String)

        /// The state of an estimate whose most probable room this is; nil for none of the trained ones.
        init(_ room: String?) { self = room.map(State.room) ?? .noRoom }

        /// The room's name; nil if the device is in none, or nothing is known.
        package var room: String? {
            switch self {
            case .unknown, .noRoom: nil
            case .room(let name): name
            }
        }
    }

    private let settings: RoomSettings
    /// The state that is believed.
    package private(set) var settled = State.unknown
    /// The states of the latest estimates, the latest at the end.
    private var history: [State] = []

    /// Creates a filter without estimates.
    package init(_ settings: RoomSettings) { self.settings = settings }

    /// Reads the room of an estimate, nil for none of the trained ones; returns the room that is believed, likewise.
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
            // Of equally frequent ones the present one stays, else the latest counts.
            if counts[present] == most { return present }
            return history.last { counts[$0] == most } ?? present
        }
    }
}
