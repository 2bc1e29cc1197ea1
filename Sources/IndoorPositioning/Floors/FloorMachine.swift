import IndoorVocabulary

/// The state machine that selects the map that the device is on. It avoids rapid changes between floors, but changes
/// soon after the device does.
package struct FloorMachine: Hashable, Sendable {
    /// The states of the machine.
    package enum State: Hashable, Sendable {
        /// No floor has enough evidence; `since` is the time of the first evidence.
        case searching(since: Instant?)
        /// The device is on `map`; `rival` is currently more probable.
        case settled(map: MapID, rival: Rival?)
    }

    /// A floor that may replace the current one.
    package struct Rival: Hashable, Sendable {
        package var map: MapID
        package var since: Instant

        package init(map: MapID, since: Instant) {
            self.map = map
            self.since = since
        }
    }

    /// The state; only `observe` and `begin` change it.
    package private(set) var state = State.searching(since: nil)
    private let settings: FloorSettings

    /// The map that the device is on; nil while it is unknown.
    package var map: MapID? {
        if case .settled(let map, _) = state { map } else { nil }
    }

    /// Creates a machine without a floor.
    package init(settings: FloorSettings) { self.settings = settings }

    /// Continues on the map of an earlier machine, with the floor that may replace it.
    package mutating func begin(on map: MapID, rival: Rival?) { state = .settled(map: map, rival: rival) }

    /// Handles the probability of each map; empty without evidence. A locked map is selected regardless of the
    /// probabilities.
    ///
    /// - Parameter isNew: whether a reading has arrived since the previous call. If not, no change of the floor begins.
    package mutating func observe(
        _ probabilities: [MapID: Double], isNew: Bool = true, locked: MapID? = nil, at now: Instant
    ) {
        state = next(probabilities, isNew, locked, now)
    }

    private func next(_ probabilities: [MapID: Double], _ isNew: Bool, _ locked: MapID?, _ now: Instant) -> State {
        if let locked, !probabilities.isEmpty { return .settled(map: locked, rival: nil) }
        let best = probabilities.max { ($0.value, $1.key.rawValue) < ($1.value, $0.key.rawValue) }
        guard let best else { return state }
        switch state {
        case .searching(let since):
            let start = since ?? now
            let isSure = best.value >= settings.settleProbability || start.duration(to: now) >= settings.patience
            return isSure ? .settled(map: best.key, rival: nil) : .searching(since: start)
        case .settled(let map, let rival):
            guard best.key != map, best.value >= settings.switchProbability else {
                return .settled(map: map, rival: nil)
            }
            guard isNew || rival?.map == best.key else { return state }
            let since = rival?.map == best.key ? rival?.since ?? now : now
            return since.duration(to: now) >= settings.switchTime
                ? .settled(map: best.key, rival: nil)
                : .settled(map: map, rival: Rival(map: best.key, since: since))
        }
    }
}
