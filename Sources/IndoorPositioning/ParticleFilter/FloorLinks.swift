import IndoorVocabulary
import VenueModel

/// Transforms between floor-plan coordinate systems.
///
/// Each plan can have its own coordinate system. If both plans are georeferenced, the transform uses geographic
/// coordinates. Otherwise it aligns the plans at a stair or an elevator of the path graph. Without such a link it
/// assumes that the coordinates are the same.
package struct FloorLinks: Sendable {
    /// A stair, an escalator or an elevator in one direction.
    package struct Link: Hashable, Sendable {
        /// Indexes of the maps.
        var from: Int
        var to: Int
        /// Its ends on both plans.
        var start: MapPoint
        var end: MapPoint
    }

    /// All links, in both directions.
    package let links: [Link]
    private let transforms: [GeoTransform?]

    /// Creates the links of a venue; maps are identified by their index in the venue.
    package init(venue: Venue) {
        transforms = venue.maps.map { try? $0.geoTransform() }
        var indexes: [MapID: Int] = [:]
        for (mapIndex, map) in venue.maps.enumerated() where indexes[map.id] == nil { indexes[map.id] = mapIndex }
        var nodes: [Int: PathGraph.Node] = [:]
        for node in venue.paths?.nodes ?? [] { nodes[node.id] = node }
        var links: [Link] = []
        for edge in venue.paths?.edges ?? [] {
            guard let from = nodes[edge.from], let to = nodes[edge.to], from.mapID != to.mapID,
                let low = indexes[from.mapID], let high = indexes[to.mapID]
            else { continue }
            links.append(Link(from: low, to: high, start: from.point, end: to.point))
            links.append(Link(from: high, to: low, start: to.point, end: from.point))
        }
        self.links = links
    }

    /// Returns the links from one map to another.
    func links(from: Int, to: Int) -> [Link] { links.filter { $0.from == from && $0.to == to } }

    /// Returns the point on a map that lies above or below a point of another map.
    package func place(of point: MapPoint, from: Int, to: Int) -> MapPoint {
        if let there = transforms[from], let here = transforms[to] {
            return here.point(at: there.coordinate(at: point))
        }
        let nearest = links(from: from, to: to).min { $0.start.distance(to: point) < $1.start.distance(to: point) }
        return nearest.map { point + ($0.end - $0.start) } ?? point
    }
}
