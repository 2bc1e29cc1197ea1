import IndoorVocabulary
import VenueModel

/// Which places of a venue its path graph reaches, for whoever checks a packet.
///
/// A place is reached if a route may begin and end there without going through a wall, and the ways next to it hang
/// together with most of the others.
package struct PathCoverage: Sendable {
    /// Why no path reaches a place.
    package enum Gap: Hashable, Sendable {
        /// No way of its map is within so many metres.
        case noWay(within: Double)
        /// A wall lies between it and all ways that are near enough.
        case behindWall
        /// The ways next to it lead to few others, and not to most of the graph.
        case apart
    }

    private let network: RouteNetwork
    /// The part of the graph that each node belongs to, named by one of its nodes.
    private let parts: [Int]
    /// The part with the most nodes.
    private let main: Int
    private let limit = RouteOptions().snappingDistance

    /// Looks at the ways of a venue; nil if its packet tells none.
    package init?(venue: Venue) {
        network = RouteNetwork(venue: venue)
        guard !network.edges.isEmpty else { return nil }
        parts = Self.parts(of: network)
        let sizes = Dictionary(parts.map { ($0, 1) }, uniquingKeysWith: +)
        main = sizes.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key ?? 0
    }

    /// Why no path reaches a point of interest; nil if one does, or if its map has no ways.
    package func gap(of place: PointOfInterest) -> Gap? {
        guard let ways = network.ways[place.mapID] else { return nil }
        return gap(of: [place.point], by: ways)
    }

    /// Why no path reaches a room; nil if one does, if its map has no ways, or if the room has no shape.
    ///
    /// A way that leads into a room reaches it; else one next to it does, if it can be seen from within.
    package func gap(of room: Room) -> Gap? {
        guard let ways = network.ways[room.mapID], let area = room.area else { return nil }
        // Most ways are elsewhere, and a box is compared much faster than a polygon.
        guard let box = area.bounds else { return nil }
        let entering = ways.ways.filter { box.meets($0.segment) && area.meets($0.segment) }
        if entering.contains(where: isMain) { return nil }
        return entering.isEmpty ? gap(of: area.samples, by: ways) : .apart
    }

    private func isMain(_ way: WayIndex.Way) -> Bool { parts[Int(way.node)] == main }

    /// The gap of a place of which some points are known; nil if one of these is reached.
    private func gap(of points: [MapPoint], by ways: WayIndex) -> Gap? {
        var gap = Gap.noWay(within: limit)
        for point in points {
            let (feet, crossesWall) = ways.feet(of: point, .all, within: limit)
            guard !feet.isEmpty else { continue }
            if crossesWall {
                if gap != .apart { gap = .behindWall }
            } else if feet.contains(where: { isMain(ways.ways[$0.way]) }) {
                return nil
            } else {
                gap = .apart
            }
        }
        return gap
    }

    /// Which nodes hang together, whatever the direction of the ways.
    private static func parts(of network: RouteNetwork) -> [Int] {
        var parts = Array(network.nodes.indices)
        func part(_ node: Int) -> Int {
            var node = node
            while parts[node] != node {
                parts[node] = parts[parts[node]]  // halves the way for the next one
                node = parts[node]
            }
            return node
        }
        for edge in network.edges {
            let (from, to) = (part(Int(edge.from)), part(Int(edge.to)))
            parts[max(from, to)] = min(from, to)
        }
        return parts.indices.map(part)
    }
}

extension Area {
    /// Whether a straight piece touches the area.
    fileprivate func meets(_ segment: WaySegment) -> Bool {
        switch self {
        case .circle(let center, let radius):
            return segment.point(at: segment.share(nearestTo: center)).distance(to: center) <= radius
        case .polygon(let corners):
            if contains(segment.from) || contains(segment.to) { return true }
            guard var previous = corners.last else { return false }
            for corner in corners {
                if segment.crosses(WaySegment(from: previous, to: corner)) { return true }
                previous = corner
            }
            return false
        }
    }

    /// Points within: the middle, and those halfway from there to the corners.
    fileprivate var samples: [MapPoint] {
        switch self {
        case .circle(let center, _): return [center]
        case .polygon(let corners):
            guard !corners.isEmpty else { return [] }
            let sum = corners.reduce(MapPoint(x: 0, y: 0)) { MapPoint(x: $0.x + $1.x, y: $0.y + $1.y) }
            let middle = MapPoint(x: sum.x / Double(corners.count), y: sum.y / Double(corners.count))
            return ([middle] + corners.map { middle + ($0 - middle) * 0.5 }).filter(contains)
        }
    }
}

extension BoundingBox {
    /// Whether the box around a straight piece touches this one.
    fileprivate func meets(_ segment: WaySegment) -> Bool {
        min(segment.from.x, segment.to.x) <= maxX && max(segment.from.x, segment.to.x) >= minX
            && min(segment.from.y, segment.to.y) <= maxY && max(segment.from.y, segment.to.y) >= minY
    }
}

extension WaySegment {
    /// Whether two pieces have a point in common; not where they lie on one line.
    fileprivate func crosses(_ other: WaySegment) -> Bool {
        func side(_ from: MapPoint, _ to: MapPoint, _ point: MapPoint) -> Double {
            let (way, offset) = (to - from, point - from)
            return way.x * offset.y - way.y * offset.x
        }
        return side(from, to, other.from) * side(from, to, other.to) < 0
            && side(other.from, other.to, from) * side(other.from, other.to, to) < 0
    }
}
