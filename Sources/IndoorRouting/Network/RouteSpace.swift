import IndoorVocabulary

/// The nodes of a network in one common space, for a lower bound of the cost between two places.
///
/// In any space, a path costs at least its straight-line distance times the lowest cost per metre of any edge. This
/// holds for each edge by definition, and therefore for every chain of edges: the bound never exceeds the cost, and
/// from node to node it decreases by no more than the cost of the edge (Hart, Nilsson, Raphael 1968: admissible and
/// consistent). The arrangement of the maps in the space affects only the tightness of the bound. Because floor plans
/// can have different origins, the maps are aligned so that stairs and elevators are vertical.
struct RouteSpace: Sendable {
    struct Place: Sendable {
        var x: Double
        var y: Double
        var z: Double

        func distance(to other: Place) -> Double {
            let (dx, dy, dz) = (x - other.x, y - other.y, z - other.z)
            return (dx * dx + dy * dy + dz * dz).squareRoot()
        }
    }

    /// The place of each node.
    let places: [Place]
    /// The lowest weight per metre of each kind of edge, by the index of the kind; infinite for a kind without edges.
    let leastWeights: SIMD4<Double>
    /// The origin of each map.
    private let origins: [MapID: Place]

    init(nodes: [RoutePoint], edges: [RouteNetwork.Edge], heights: [MapID: Double]) {
        var origins = Self.origins(nodes, edges)
        let flat = Self.places(nodes, origins)
        let flatWeights = Self.leastWeights(flat, edges)
        for (map, height) in heights { origins[map, default: Place(x: 0, y: 0, z: 0)].z = height }
        let upright = Self.places(nodes, origins)
        let uprightWeights = Self.leastWeights(upright, edges)
        // Heights tighten the bound if a change of floor costs at least its height. With heights, an elevator without
        // cost would make each bound zero; then ignore them.
        if uprightWeights.min() < flatWeights.min() {
            for map in heights.keys { origins[map]?.z = 0 }
            (places, leastWeights) = (flat, flatWeights)
        } else {
            (places, leastWeights) = (upright, uprightWeights)
        }
        self.origins = origins
    }

    /// Returns the place of a point on a map.
    func place(_ point: RoutePoint) -> Place { Self.place(point, origins) }

    private static func place(_ point: RoutePoint, _ origins: [MapID: Place]) -> Place {
        let origin = origins[point.mapID] ?? Place(x: 0, y: 0, z: 0)
        return Place(x: origin.x + point.x, y: origin.y + point.y, z: origin.z)
    }

    private static func places(_ nodes: [RoutePoint], _ origins: [MapID: Place]) -> [Place] {
        nodes.map { place($0, origins) }
    }

    private static func leastWeights(_ places: [Place], _ edges: [RouteNetwork.Edge]) -> SIMD4<Double> {
        var least = SIMD4<Double>(repeating: .infinity)
        for edge in edges {
            let distance = places[Int(edge.from)].distance(to: places[Int(edge.to)])
            guard distance > 0 else { continue }
            least[edge.kind.index] = Swift.min(least[edge.kind.index], edge.weight / distance)
        }
        return least
    }

    /// Aligns the maps one after another; the median edge from a map to the maps already aligned becomes vertical.
    private static func origins(_ nodes: [RoutePoint], _ edges: [RouteNetwork.Edge]) -> [MapID: Place] {
        var offsets: [MapID: [MapID: [MapPoint]]] = [:]
        for edge in edges {
            let (from, to) = (nodes[Int(edge.from)], nodes[Int(edge.to)])
            guard from.mapID != to.mapID else { continue }
            offsets[from.mapID, default: [:]][to.mapID, default: []].append(from.point - to.point)
            offsets[to.mapID, default: [:]][from.mapID, default: []].append(to.point - from.point)
        }
        var origins: [MapID: Place] = [:]
        for first in offsets.keys.sorted() where origins[first] == nil {
            origins[first] = Place(x: 0, y: 0, z: 0)
            var queue = [first]
            while let map = queue.popLast(), let origin = origins[map] {
                for (next, moves) in (offsets[map] ?? [:]).sorted(by: { $0.key < $1.key }) where origins[next] == nil {
                    let x = moves.map(\.x).sorted()[moves.count / 2]
                    let y = moves.map(\.y).sorted()[moves.count / 2]
                    origins[next] = Place(x: origin.x + x, y: origin.y + y, z: 0)
                    queue.append(next)
                }
            }
        }
        return origins
    }
}
