import IndoorVocabulary
import VenueModel

/// How places of one floor plan go over into those of another.
///
/// Plans may have frames of their own. Where both are georeferenced they meet on Earth; else a stair or an elevator of the
/// path graph lies at the same place on both; else they are taken to lie above each other.
package struct FloorLinks: Sendable {
    /// A stair, an escalator or an elevator, seen from one of its ends.
    package struct Link: Hashable, Sendable {
        /// Indexes of the maps.
        var from: Int
        var to: Int
        /// Its ends on both plans.
        var start: MapPoint
        var end: MapPoint
    }

    /// All of them, in both directions.
    package let links: [Link]
    private let transforms: [GeoTransform?]

    /// Finds them for the maps of a venue, by their places in its list.
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

    /// The links that lead from a map to another one.
    func links(from: Int, to: Int) -> [Link] { links.filter { $0.from == from && $0.to == to } }

    /// The place on a map above or below a place of another one.
    package func place(of point: MapPoint, from: Int, to: Int) -> MapPoint {
        if let there = transforms[from], let here = transforms[to] {
            return here.point(at: there.coordinate(at: point))
        }
        let nearest = links(from: from, to: to).min { $0.start.distance(to: point) < $1.start.distance(to: point) }
        return nearest.map { point + ($0.end - $0.start) } ?? point
    }
}
