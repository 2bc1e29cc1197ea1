import IndoorPositioning
import IndoorRouting
import IndoorVocabulary
import LocalizationSession
import VenueModel

/// A plugin that combines the contents of a map view into one stream of encodable values.
///
///     let map = await host.add(MapFeed(), arguments: .init())
///     for await item in await map?.items() ?? … { view.send(try encoder.encode(item)) }
///
/// Positions, plans and headings come from the session, routes from a ``RouteGuidance`` of the same host, and tags
/// from the other devices of the host. The plugin itself draws nothing.
public actor MapFeed: LocalizationPlugin, VenuePositionReceiver {
    /// The arguments of the plugin.
    public struct Arguments: Hashable, Sendable {
        /// The maximum number of places in a trail, from 0 on.
        package var trailLength: Int
        /// The minimum distance in metres between two places of the trail.
        package var trailStep: Double

        /// Creates the arguments.
        public init(trailLength: Int = 100, trailStep: Double = 0.5) {
            self.trailLength = trailLength
            self.trailStep = trailStep
        }
    }

    /// The number of items that the stream stores for a slow view; beyond it, the oldest are lost.
    private static let buffer = 1024

    private var contents = MapContents(trailLength: 0, trailStep: 0)
    private var views: [UInt64: AsyncStream<MapItem>.Continuation] = [:]
    private var nextView: UInt64 = 0
    private var handshake: PluginHandshake?
    private weak var host: PluginHost?

    /// Creates the plugin; a host adds it.
    public init() {}

    deinit { for view in views.values { view.finish() } }

    public func initialize(host: PluginHost, arguments: Arguments) async -> Bool {
        self.host = host
        contents = MapContents(trailLength: arguments.trailLength, trailStep: arguments.trailStep)
        guard let id = await host.id(of: self) else { return false }
        // The handshake makes `RouteGuidance` send an existing route.
        let handshake = PluginHandshake(tag: RouteGuidance.tag, own: id)
        self.handshake = handshake
        await host.subscribe(self, to: [.positions, .motion, .networkPositions, .networkData, .pluginData])
        await host.broadcast(handshake.greeting)
        return true
    }

    /// Ends the streams of all views.
    public func stop() async -> Bool {
        if let handshake { await host?.broadcast(handshake.farewell) }
        for view in views.values { view.finish() }
        views = [:]
        return true
    }

    /// The items of a map view: all current ones first, then the changes. Each call returns a separate stream, which
    /// stores the newest 1024 items for a slow reader.
    public func items() -> AsyncStream<MapItem> {
        let (stream, view) = AsyncStream.makeStream(of: MapItem.self, bufferingPolicy: .bufferingNewest(Self.buffer))
        for item in contents.items { view.yield(item) }
        nextView += 1
        let key = nextView
        views[key] = view
        view.onTermination = { [weak self] _ in Task { await self?.close(key) } }
        return stream
    }

    private func close(_ key: UInt64) { views[key] = nil }

    private func tell(_ items: [MapItem]) {
        for view in views.values {
            for item in items { view.yield(item) }
        }
    }

    public func receive(position: Position) async {
        let venue = await host?.localizer.state.venue
        receive(position: position, in: venue)
    }

    package func receive(position: Position, in venue: Venue?) {
        tell(contents.receive(position, in: venue?.id == position.venueID ? venue : nil))
    }

    public func receive(motion: MotionEstimate) { tell(contents.receive(motion)) }

    public func receive(networkPosition: SharedPosition) { tell(contents.receive(networkPosition)) }

    public func receive(networkData: SharingEvent) {
        switch networkData {
        case .left(let room), .roomFull(let room, _): tell(contents.leave(room: room))
        default: break
        }
    }

    public func receive(pluginData: PluginData) async {
        if let answer = handshake?.handle(pluginData) { await host?.broadcast(answer) }
        guard pluginData.tag == RouteGuidance.tag, let update = pluginData.value(as: RouteUpdate.self) else { return }
        tell(contents.receive(update))
    }
}

/// The current contents of a map view: a value that handles the deliveries to a plugin and returns the changed items.
package struct MapContents: Sendable {
    private let trailLength: Int
    private let trailStep: Double
    private var venueID: VenueID?
    private var mapID: MapID?
    private var plan: MapItem?
    private var points: MapItem?
    private var beacons: MapItem?
    private var position: MapItem?
    private var heading: MapItem?
    private var route: MapItem?
    private var trail: [MapItem.Place] = []
    private var tags: [DeviceID: (label: MapItem.Label, room: String, venueID: VenueID)] = [:]

    /// Creates empty contents.
    ///
    /// - Parameters:
    ///   - trailLength: the maximum number of places in a trail.
    ///   - trailStep: the minimum distance in metres between two places of the trail.
    package init(trailLength: Int, trailStep: Double) {
        self.trailLength = max(0, trailLength)
        self.trailStep = max(0, trailStep)
    }

    /// All current items, in the order in which a view draws them.
    package var items: [MapItem] {
        let others = tags.values.map { $0.label }.sorted { $0.id < $1.id }.map(MapItem.tag)
        let trail: MapItem? = trail.isEmpty ? nil : .trail(trail)
        return [plan, points, beacons, route, trail, position, heading].compactMap(\.self) + others
    }

    /// Handles a position of the device.
    ///
    /// - Parameter venue: the venue of the session, if the position is in it.
    package mutating func receive(_ position: Position, in venue: Venue?) -> [MapItem] {
        var items = enter(position, venue)
        let place = MapItem.Place(mapID: position.mapID, point: position.point, radius: position.radius)
        if trailLength > 0, trail.last.map({ distance($0, place) >= trailStep }) ?? true {
            trail.append(place)
            trail.removeFirst(max(0, trail.count - trailLength))
            items.append(.trail(trail))
        }
        self.position = .position(place)
        return items + [.position(place)]
    }

    private mutating func enter(_ position: Position, _ venue: Venue?) -> [MapItem] {
        var items: [MapItem] = []
        if let venue, venue.id != venueID {
            venueID = venue.id
            mapID = nil
            // Maps of other venues may have the same numbers.
            items = forget(tags.filter { $0.value.venueID != venue.id }.keys.sorted { "\($0)" < "\($1)" })
            let labels = venue.pointsOfInterest.map {
                MapItem.Label(
                    id: String($0.id), name: $0.name, place: MapItem.Place(mapID: $0.mapID, point: $0.point))
            }
            let transmitters = venue.beacons.map {
                MapItem.Label(
                    id: "\($0.identity)",
                    name: $0.validNaming == .uuid ? "\($0.identity.major)_\($0.identity.minor)" : $0.name,
                    place: MapItem.Place(mapID: $0.mapID, point: $0.point))
            }
            (points, beacons) = (.points(labels), .beacons(transmitters))
            items += [.points(labels), .beacons(transmitters)]
        }
        guard position.mapID != mapID else { return items }
        guard let map = venue?.map(position.mapID) else { return items }
        mapID = position.mapID
        trail = []
        let next = MapItem.plan(MapItem.Plan(map, of: position.venueID))
        plan = next
        return [next] + items
    }

    /// Handles a motion estimate; returns the heading when its whole degree has changed.
    package mutating func receive(_ estimate: MotionEstimate) -> [MapItem] {
        guard let course = estimate.heading?.course else { return [] }
        let next = MapItem.heading(course.rounded().truncatingRemainder(dividingBy: 360))
        guard next != heading else { return [] }
        heading = next
        return [next]
    }

    /// Handles a change of the route.
    package mutating func receive(_ update: RouteUpdate) -> [MapItem] {
        let places: [MapItem.Place]
        switch update {
        case .planned(let route), .renewed(let route):
            places = route.vertices.map { MapItem.Place(mapID: $0.mapID, point: $0.point) }
        case .arrived, .lost: places = []
        case .progressed: return []
        }
        route = .route(places)
        return [.route(places)]
    }

    /// Handles the position of another device.
    package mutating func receive(_ other: SharedPosition) -> [MapItem] {
        // Maps of other venues may have the same numbers.
        guard venueID == nil || other.venueID == venueID else { return forget([other.device]) }
        let place = MapItem.Place(mapID: other.mapID, point: other.point, radius: other.radius)
        let label = MapItem.Label(id: "\(other.device)", name: other.name ?? "\(other.device)", place: place)
        tags[other.device] = (label, other.room, other.venueID)
        return [.tag(label)]
    }

    /// Removes the devices of a sharing room that this device has left.
    package mutating func leave(room: String) -> [MapItem] {
        forget(tags.filter { $0.value.room == room }.keys.sorted { "\($0)" < "\($1)" })
    }

    private mutating func forget(_ devices: [DeviceID]) -> [MapItem] {
        devices.compactMap { device in
            guard var label = tags.removeValue(forKey: device)?.label else { return nil }
            label.place = nil
            return .tag(label)
        }
    }

    private func distance(_ first: MapItem.Place, _ second: MapItem.Place) -> Double {
        MapPoint(x: first.x, y: first.y).distance(to: MapPoint(x: second.x, y: second.y))
    }
}

/// An item of a map view, as an encodable value. It replaces the previous item of its kind.
///
/// Its JSON is an object with the kind as its only key, as Swift encodes enumerations: `{"position": {"_0": {"mapID":
/// 1, …}}}`. Places are in metres from the plan's top left corner, x to the right and y down.
public enum MapItem: Hashable, Sendable, Codable {
    /// The plan of the map that the device is on.
    case plan(Plan)
    /// The position of the device.
    case position(Place)
    /// The heading of the device, in degrees clockwise from the plan's top.
    case heading(Double)
    /// The latest positions of the device on this map, the oldest first.
    case trail([Place])
    /// The route to the goal, on all maps; empty without one.
    case route([Place])
    /// The points of interest of the venue, on all maps.
    case points([Label])
    /// The beacons of the venue, on all maps.
    case beacons([Label])
    /// Another device and its place; a device without a place has left.
    case tag(Label)

    /// A plan.
    public struct Plan: Hashable, Sendable, Codable {
        /// The number of the venue.
        public var venueID: Int
        /// The number of the map.
        public var mapID: Int
        /// The name of the floor.
        public var name: String
        /// Ordinal of the floor.
        public var level: Int
        /// The width in metres.
        public var width: Double
        /// The height in metres.
        public var height: Double
        /// The path of the image in the packet; nil without one.
        public var imagePath: String?
        /// The walls as lines of points, each with two numbers.
        public var walls: [[[Double]]]

        /// Creates the plan of a map.
        package init(_ map: VenueMap, of venue: VenueID) {
            venueID = venue.rawValue
            mapID = map.id.rawValue
            name = map.name
            level = map.level
            width = map.width
            height = map.height
            imagePath = map.imagePath
            walls = map.walls.map { $0.map { [$0.x, $0.y] } }
        }
    }

    /// A place on a map.
    public struct Place: Hashable, Sendable, Codable {
        /// The number of the map.
        public var mapID: Int
        /// Metres to the right of the plan's left edge.
        public var x: Double
        /// Metres below the plan's top edge.
        public var y: Double
        /// The 68 % radius in metres; nil if the place has none.
        public var radius: Double?

        /// Creates a place.
        package init(mapID: MapID, point: MapPoint, radius: Double? = nil) {
            self.mapID = mapID.rawValue
            x = point.x
            y = point.y
            self.radius = radius
        }
    }

    /// A place with a name.
    public struct Label: Hashable, Sendable, Codable {
        /// The identifier among the items of its kind: a number, a beacon's identity, the name of a device.
        public var id: String
        /// The name to display.
        public var name: String
        /// The place; nil if it no longer has one.
        public var place: Place?

        /// Creates a place with a name.
        package init(id: String, name: String, place: Place?) {
            self.id = id
            self.name = name
            self.place = place
        }
    }
}
