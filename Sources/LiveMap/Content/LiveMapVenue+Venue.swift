import IndoorVocabulary
import VenueModel

extension LiveMapVenue {
    /// Creates the description of a venue. Rooms without a shape are left out, because a map can't show them.
    ///
    /// - Parameter tiles: the Deep Zoom images of maps.
    package init(_ venue: Venue, tiles: [MapID: Tiles] = [:]) {
        self.init(
            id: venue.id.rawValue, name: venue.name, version: venue.version,
            maps: venue.maps.map { Map($0, tiles: tiles[$0.id]) },
            rooms: venue.rooms.compactMap { room in
                room.area.map { Area(id: room.id, name: room.name, mapID: room.mapID, area: $0) }
            },
            fences: venue.fences.map { Area(id: $0.id, name: $0.name, mapID: $0.mapID, area: $0.area) },
            pointsOfInterest: venue.pointsOfInterest.map {
                Point(
                    id: $0.id, name: $0.name, mapId: $0.mapID.rawValue, x: $0.point.x.rounded(decimals: 3),
                    y: $0.point.y.rounded(decimals: 3))
            },
            beacons: Self.beacons(of: venue))
    }

    /// Returns the beacons of a venue, then those whose place only the survey determined.
    private static func beacons(of venue: Venue) -> [Beacon] {
        let placed = venue.beacons.map { Beacon($0.identity, on: $0.mapID, at: $0.point) }
        let known = Set(venue.beacons.map(\.identity))
        let surveyed = venue.radioMap?.beacons.filter { !known.contains($0.identity) } ?? []
        return placed + surveyed.map { Beacon($0.identity, on: $0.mapID, at: $0.point) }
    }
}

extension LiveMapVenue.Map {
    fileprivate init(_ map: VenueMap, tiles: LiveMapVenue.Tiles?) {
        func lines(_ lines: [[MapPoint]]) -> [[Double]] { lines.map(LiveMapVenue.numbers) }
        self.init(
            id: map.id.rawValue, name: map.name, level: map.level, width: map.width, height: map.height,
            hasImage: map.imagePath != nil, tiles: tiles, walls: lines(map.walls), walkable: lines(map.walkable))
    }
}

extension LiveMapVenue.Area {
    fileprivate init(id: Int, name: String, mapID: MapID, area: Area) {
        self.init(id: id, name: name, mapId: mapID.rawValue)
        switch area {
        case .polygon(let corners): polygon = LiveMapVenue.numbers(corners)
        case .circle(let center, let radius):
            circle = LiveMapVenue.Circle(
                x: center.x.rounded(decimals: 3), y: center.y.rounded(decimals: 3), radius: radius.rounded(decimals: 3))
        }
    }
}

extension LiveMapVenue.Beacon {
    fileprivate init(_ identity: BeaconIdentity, on map: MapID, at point: MapPoint) {
        self.init(
            id: identity.description, mapId: map.rawValue, x: point.x.rounded(decimals: 3),
            y: point.y.rounded(decimals: 3))
    }
}

extension LiveMapVenue {
    /// Returns x, y, x, y, … of points, in millimetre steps.
    fileprivate static func numbers(_ points: [MapPoint]) -> [Double] {
        points.flatMap { [$0.x.rounded(decimals: 3), $0.y.rounded(decimals: 3)] }
    }
}
