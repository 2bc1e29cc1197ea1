import IndoorVocabulary

/// The state machine of rooms: from the rangings of regions, it determines which of their trained rooms the device is
/// in.
///
/// It is off until it is started. It returns events only for rangings and for exits from regions, not from other
/// methods.
package struct RoomMachine: Sendable {
    private struct Region {
        var classifier: any Classifier
        var filter: RoomChangeFilter
        /// The latest estimate since the device entered the region.
        var latest: RoomEstimate?
        var room: String? { filter.settled.room }

        mutating func forget(_ settings: RoomSettings) {
            classifier.forgetRooms()
            filter = RoomChangeFilter(settings)
            latest = nil
        }
    }

    private let settings: RoomSettings
    private var regions: [String: Region] = [:]
    /// Whether room detection is on.
    package private(set) var isStarted = false
    /// The number of estimates so far.
    private(set) var estimateCount = 0

    /// Creates a machine that is off and has no classifier. The settings must have no `problems`.
    package init(settings: RoomSettings) { self.settings = settings }

    // MARK: - Changes by the caller

    /// Sets the classifier of a region's rooms; nil removes it.
    package mutating func insert(_ classifier: (any Classifier)?, for regionID: String) {
        regions[regionID] = classifier.map { Region(classifier: $0, filter: RoomChangeFilter(settings)) }
    }

    /// Starts room detection; the next estimate causes a new entry into its room.
    package mutating func start() {
        isStarted = true
        forget()
    }

    /// Stops room detection.
    package mutating func stop() {
        isStarted = false
        forget()
    }

    /// Forgets the current room of all regions or of one region, so that the next estimate enters its room again.
    package mutating func forget(_ regionID: String? = nil) {
        for id in regions.keys where regionID == nil || id == regionID { regions[id]?.forget(settings) }
    }

    /// The current room of each region that has one, by the region's name.
    package var rooms: [String: String] { regions.compactMapValues(\.room) }

    /// Returns the latest estimate in a region since the device entered it; nil if there is none.
    package func estimate(in regionID: String) -> RoomEstimate? { regions[regionID]?.latest }

    // MARK: - Events

    /// Handles the ranging of a region.
    package mutating func handle(_ ranging: RegionRanging) -> [RoomEvent] {
        handle(RoomScan(ranging), of: ranging.regionID)
    }

    /// Handles a scan of a region's beacons.
    package mutating func handle(_ scan: RoomScan, of id: String) -> [RoomEvent] {
        guard isStarted, var region = regions[id] else { return [] }
        defer { regions[id] = region }
        guard let estimate = region.classifier.classify(scan) else { return [] }
        let old = region.room
        let room = region.filter.observe(estimate)
        region.latest = estimate
        estimateCount += 1
        func event(_ kind: RoomEvent.Kind, _ room: String) -> RoomEvent {
            RoomEvent(
                instant: scan.instant, regionID: id, room: room, kind: kind,
                probability: estimate.probability(of: room))
        }
        let change = old == room ? [] : [old.map { event(.exit, $0) }, room.map { event(.enter, $0) }]
        return (change + [room.map { event(.current, $0) }]).compactMap(\.self)
    }

    /// Handles an entry into a region or an exit from it; the exit from a room precedes the exit from its region.
    package mutating func handle(_ event: RegionEvent) -> [RoomEvent] {
        defer { regions[event.regionID]?.forget(settings) }
        guard isStarted, event.kind == .exit, let region = regions[event.regionID], let room = region.room else {
            return []
        }
        return [
            RoomEvent(
                instant: event.instant, regionID: event.regionID, room: room, kind: .exit,
                probability: region.latest?.probability(of: room) ?? 0)
        ]
    }
}

/// The rule for accepting a room change.
public enum RoomChangeRule: String, Hashable, Sendable, CaseIterable {
    /// A change is accepted immediately.
    case immediate
    /// A change is accepted after several consecutive estimates of the new room.
    case inARow
    /// A change is accepted when the new room is the most frequent one in the latest estimates.
    case bestOf
}

/// Settings for room changes.
///
/// The first room is always reported immediately.
public struct RoomSettings: Hashable, Sendable {
    /// When a room change is accepted: immediately, after several equal consecutive estimates, or for the most frequent
    /// room.
    ///
    /// The default is `immediate`, because ``AdaptiveClassifier`` detects changes itself. Use `inARow` or `bestOf` for
    /// a classifier that evaluates each scan independently.
    public var changeRule = RoomChangeRule.immediate
    /// The number of estimates that the rule considers, from 1 to 100; no effect with `immediate`.
    public var changeCount = 3
    /// The least ratio of another room's probability to that of the present room for a change; 1 or more.
    ///
    /// A device on the border of two rooms has about the same probability for both, and their order changes by chance.
    package var changeOdds = 1.0

    /// Creates the settings with their defaults.
    public init() {}

    /// Creates the settings with a rule.
    public init(changeRule: RoomChangeRule, changeCount: Int = 3) {
        self.changeRule = changeRule
        self.changeCount = changeCount
    }

    /// The values that are out of range; empty if all are valid.
    public var problems: [String] { Self.list.problems(in: self, prefix: "rooms.") }
}

extension RoomSettings {
    /// The list of the settings of room changes.
    package static let list: [Setting<RoomSettings>] = [
        .choice(
            "changeRule", \.changeRule, fromWorst: [.immediate, .inARow, .bestOf],
            "When a room change is accepted: immediately, after several equal estimates, or for the most frequent room."
        ),
        .wholeNumber(
            "changeCount", \.changeCount, in: 1...100, better: .greater,
            "The number of estimates that the rule considers; no effect with `immediate`."),
        .number(
            "changeOdds", \.changeOdds, in: 1...1000,
            "The least ratio of another room's probability to that of the present room for a change."
        ).expert(.estimate),
    ]
}

/// The entry into a trained room, the exit from it, or an update of the current room.
public struct RoomEvent: Hashable, Sendable {
    /// The kinds of events.
    public enum Kind: String, Hashable, Sendable {
        /// The device has entered the room.
        case enter
        /// The device has left the room.
        case exit
        /// The device is in the room; emitted with each valid estimate.
        case current
    }

    /// When it happened.
    public var instant: Instant
    /// The name of the tracked region that the room belongs to.
    public var regionID: String
    /// The room's name.
    public var room: String
    /// The kind of the event.
    public var kind: Kind
    /// The probability that the device is in the room, from the latest estimate; in [0, 1].
    public var probability: Double

    /// Creates an event.
    package init(instant: Instant, regionID: String, room: String, kind: Kind, probability: Double) {
        self.instant = instant
        self.regionID = regionID
        self.room = room
        self.kind = kind
        self.probability = probability
    }
}

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

    /// Handles an estimate and returns the confirmed room; nil for none of the trained rooms.
    ///
    /// An estimate below ``RoomSettings/changeOdds`` counts as one of the present room.
    package mutating func observe(_ estimate: RoomEstimate) -> String? {
        let present = estimate.probability(of: settled.room)
        let counts = settled == .unknown || estimate.probability >= settings.changeOdds * present
        return observe(counts ? State(estimate.room) : settled)
    }

    /// Confirms a room that is known from elsewhere; nil for none of the trained rooms.
    package mutating func settle(_ room: String?) {
        history = []
        settled = State(room)
    }

    private mutating func observe(_ latest: State) -> String? {
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
