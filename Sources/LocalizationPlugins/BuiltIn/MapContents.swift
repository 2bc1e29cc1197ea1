import IndoorPositioning
import IndoorRouting
import IndoorVocabulary
import LocalizationSession
import VenueModel

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
        var news = enter(position, venue)
        let place = MapItem.Place(mapID: position.mapID, point: position.point, radius: position.radius)
        if trailLength > 0, trail.last.map({ distance($0, place) >= trailStep }) ?? true {
            trail.append(place)
            trail.removeFirst(max(0, trail.count - trailLength))
            news.append(.trail(trail))
        }
        self.position = .position(place)
        return news + [.position(place)]
    }

    private mutating func enter(_ position: Position, _ venue: Venue?) -> [MapItem] {
        var news: [MapItem] = []
        if let venue, venue.id != venueID {
            venueID = venue.id
            mapID = nil
            // Maps of other venues may have the same numbers.
            news = forget(tags.filter { $0.value.venueID != venue.id }.keys.sorted { "\($0)" < "\($1)" })
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
            news += [.points(labels), .beacons(transmitters)]
        }
        guard position.mapID != mapID else { return news }
        guard let map = venue?.map(position.mapID) else { return news }
        mapID = position.mapID
        trail = []
        let next = MapItem.plan(MapItem.Plan(map, of: position.venueID))
        plan = next
        return [next] + news
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
