/// Tells from what regions are ranged with which of their trained rooms the device is in.
///
/// Off until it is started. What the caller changes tells nothing: only rangings do, and the exit of a region.
package struct RoomMachine: Sendable {
    private struct Region {
        var classifier: any Classifier
        var filter: RoomChangeFilter
        /// The last estimate since the device entered the region.
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
    /// Whether rooms are told.
    package private(set) var isStarted = false

    /// Creates a machine that is off and has no classifier. The settings must have no `problems`.
    package init(settings: RoomSettings) { self.settings = settings }

    // MARK: - What the caller changes

    /// Has a classifier tell the rooms of a region, in place of one before; nil for none.
    package mutating func insert(_ classifier: (any Classifier)?, for regionID: String) {
        regions[regionID] = classifier.map { Region(classifier: $0, filter: RoomChangeFilter(settings)) }
    }

    /// Tells rooms from now on; the one that the device is in is entered anew.
    package mutating func start() {
        isStarted = true
        forget()
    }

    /// Tells no rooms any more.
    package mutating func stop() {
        isStarted = false
        forget()
    }

    /// Believes the device in no room, or in none of that region: the next one told is entered anew.
    package mutating func forget(_ regionID: String? = nil) {
        for id in regions.keys where regionID == nil || id == regionID { regions[id]?.forget(settings) }
    }

    /// The room that the device is in, of each region that has one, by the region's name.
    package var rooms: [String: String] { regions.compactMapValues(\.room) }

    /// The last estimate in a region since it was entered; nil without any.
    package func estimate(in regionID: String) -> RoomEstimate? { regions[regionID]?.latest }

    // MARK: - What happens

    /// Takes in what a region was ranged with.
    package mutating func handle(_ ranging: RegionRanging) -> [RoomEvent] {
        handle(RoomScan(ranging), of: ranging.regionID)
    }

    /// Takes in a scan of a region's beacons.
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

    /// Takes in that a region was entered or left; of a room within it, the exit comes before the region's own.
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
