import IndoorVocabulary

/// The inside of a map, so that the margins of a plan, such as a garden, don't count.
///
/// A map with walkable areas says itself what is inside. Otherwise, a place is inside if it is in a room, near a surveyed
/// place, or between walls: on at least two of four lines through it, both sides are blocked by a wall, the outline of a
/// room, or an edge of the plan that walls or rooms reach. An open door leaves a corridor inside, and a place beside a
/// building is outside.
///
/// If many beacons would be outside, only some of the rooms and walls are described, and the whole plan counts as inside.
package struct MapInterior: Sendable {
    /// The distance in metres around a surveyed place that is inside.
    private static let surveyedDistance = 3.0
    /// The least number of lines, of four, that are blocked on both sides inside of a building.
    private static let enclosing = 2
    /// The distance in metres from the edge of the plan within which a wall reaches it.
    private static let edgeDistance = 1.0
    /// The largest share of a map's beacons outside of a building that is described.
    private static let outsideShare = 1.0 / 3

    /// Whether anything says where the inside is; otherwise the whole plan counts.
    package private(set) var isKnown: Bool
    /// The walkable areas; without them, the rooms.
    private let areas: [Area]
    private let obstacles: WallIndex
    private let surveyed: [MapPoint]
    /// A length in metres that is longer than the map.
    private let length: Double

    /// Reads the description of a map of a venue.
    ///
    /// - Parameter usesSurvey: whether surveyed places are inside.
    package init(of map: VenueMap, in venue: Venue, usesSurvey: Bool = true) {
        length = map.width + map.height + 1
        guard map.walkable.isEmpty else {
            areas = map.walkable.map(Area.polygon)
            (isKnown, obstacles, surveyed) = (true, WallIndex(walls: []), [])
            return
        }
        areas = venue.rooms.filter { $0.mapID == map.id }.compactMap(\.area)
        let outlines = areas.compactMap { area in
            if case .polygon(let corners) = area { corners + corners.prefix(1) } else { nil }
        }
        let lines = map.walls + outlines
        obstacles = WallIndex(walls: lines + Self.edges(of: map, near: lines.joined()))
        surveyed =
            usesSurvey ? (venue.radioMap?.fingerprints ?? []).filter { $0.mapID == map.id }.map(\.point) : []
        isKnown = !areas.isEmpty || !lines.isEmpty || !surveyed.isEmpty
        let beacons = venue.beacons.filter { $0.mapID == map.id }
        let outside = beacons.count { !contains($0.point) }
        if Double(outside) > Self.outsideShare * Double(beacons.count) { isKnown = false }
    }

    /// Returns the maps of a venue with an image, which may have a margin, of which nothing says where the inside is.
    package static func unknown(in venue: Venue) -> [VenueMap] {
        venue.maps.filter {
            ($0.imagePath != nil || $0.tilesPath != nil) && !MapInterior(of: $0, in: venue).isKnown
        }
    }

    /// Returns the edges of a plan that any of the points is close to.
    private static func edges(of map: VenueMap, near points: some Sequence<MapPoint>) -> [[MapPoint]] {
        let corners = [
            MapPoint(x: 0, y: 0), MapPoint(x: map.width, y: 0), MapPoint(x: map.width, y: map.height),
            MapPoint(x: 0, y: map.height),
        ]
        var isNear = [false, false, false, false]
        for point in points {
            let distances = [point.y, map.width - point.x, map.height - point.y, point.x]
            for (index, distance) in distances.enumerated() where distance <= edgeDistance { isNear[index] = true }
        }
        return isNear.indices.filter { isNear[$0] }.map { [corners[$0], corners[($0 + 1) % 4]] }
    }

    /// Points of the areas, for a grid whose tested points are all outside of a small area.
    package var corners: [MapPoint] {
        areas.flatMap { area in
            switch area {
            case .circle(let center, _): [center]
            case .polygon(let corners): corners
            }
        }
    }

    /// Returns whether a point of the plan is inside.
    package func contains(_ point: MapPoint) -> Bool {
        guard isKnown else { return true }
        if areas.contains(where: { $0.contains(point) }) { return true }
        if surveyed.contains(where: { $0.distance(to: point) <= Self.surveyedDistance }) { return true }
        let diagonal = 0.5.squareRoot()
        let directions = [
            MapPoint(x: 1, y: 0), MapPoint(x: diagonal, y: diagonal), MapPoint(x: 0, y: 1),
            MapPoint(x: -diagonal, y: diagonal),
        ]
        return directions.count { direction in
            [length, -length].allSatisfy { length in
                let end = point + direction * length
                return obstacles.blocks(fromX: Float(point.x), y: Float(point.y), toX: Float(end.x), y: Float(end.y))
            }
        } >= Self.enclosing
    }
}
