import IndoorVocabulary
import VenueModel

/// The places of a venue that its path graph reaches, for checking a venue packet.
///
/// The graph reaches a place if a route can begin and end there without passing through a wall, and if the nearest
/// edges belong to the largest connected part of the graph.
package struct PathCoverage: Sendable {
    /// The reason that no path reaches a place.
    package enum Gap: Hashable, Sendable {
        /// No edge on the place's map is within `within` metres.
        case noWay(within: Double)
        /// A wall separates the place from all edges within the distance.
        case behindWall
        /// The nearest edges aren't connected to the largest part of the graph.
        case apart
    }

    private let network: RouteNetwork
    /// The connected part that each node belongs to, identified by one node of the part.
    private let parts: [Int]
    /// The part with the most nodes, identified in the same way.
    private let main: Int
    private let limit = RouteOptions().snappingDistance

    /// Creates the coverage of a venue; nil if its packet has no path graph.
    package init?(venue: Venue) {
        network = RouteNetwork(venue: venue)
        guard !network.edges.isEmpty else { return nil }
        parts = Self.parts(of: network)
        let sizes = Dictionary(parts.map { ($0, 1) }, uniquingKeysWith: +)
        main = sizes.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key ?? 0
    }

    /// Returns the reason that no path reaches a point of interest; nil if one does, or if its map has no edges.
    package func gap(of place: PointOfInterest) -> Gap? {
        guard let ways = network.ways[place.mapID] else { return nil }
        return gap(of: [place.point], by: ways)
    }

    /// Returns the reason that no path reaches a room; nil if one does, if its map has no edges, or if the room has no
    /// shape.
    ///
    /// An edge that enters a room reaches it. A nearby edge also reaches it if no wall separates the two.
    package func gap(of room: Room) -> Gap? {
        guard let ways = network.ways[room.mapID], let area = room.area else { return nil }
        // Compare boxes first: this is much faster than comparing polygons, and excludes most edges.
        guard let box = area.bounds else { return nil }
        let entering = ways.ways.filter { box.meets($0.segment) && area.meets($0.segment) }
        if entering.contains(where: isMain) { return nil }
        return entering.isEmpty ? gap(of: area.samples, by: ways) : .apart
    }

    private func isMain(_ way: WayIndex.Way) -> Bool { parts[Int(way.node)] == main }

    /// Returns the gap of a place given by several of its points; nil if a path reaches one of them.
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

    /// Returns the connected part of each node, ignoring the direction of the edges.
    private static func parts(of network: RouteNetwork) -> [Int] {
        var parts = Array(network.nodes.indices)
        func part(_ node: Int) -> Int {
            var node = node
            while parts[node] != node {
                parts[node] = parts[parts[node]]  // path halving
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
    /// Returns whether a segment touches the area.
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

    /// Points inside the area: its centre, and the points halfway between the centre and each corner.
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
    /// Returns whether the bounding box of a segment touches this box.
    fileprivate func meets(_ segment: WaySegment) -> Bool {
        min(segment.from.x, segment.to.x) <= maxX && max(segment.from.x, segment.to.x) >= minX
            && min(segment.from.y, segment.to.y) <= maxY && max(segment.from.y, segment.to.y) >= minY
    }
}

extension WaySegment {
    /// Returns whether two segments cross; false for collinear segments.
    fileprivate func crosses(_ other: WaySegment) -> Bool {
        func side(_ from: MapPoint, _ to: MapPoint, _ point: MapPoint) -> Double {
            let (way, offset) = (to - from, point - from)
            return way.x * offset.y - way.y * offset.x
        }
        return side(from, to, other.from) * side(from, to, other.to) < 0
            && side(other.from, other.to, from) * side(other.from, other.to, to) < 0
    }
}
