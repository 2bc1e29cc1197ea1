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
        let room = region.filter.observe(estimate.room)
        region.latest = estimate
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
