import IndoorVocabulary

/// All nodes of a network in one space, to tell how much a way costs at least.
///
/// In any space, a way costs at least its straight distance times the least cost of a metre on any edge. That holds on
/// each edge by definition, so it holds along every chain of them: the bound never exceeds the cost, and it falls from
/// node to node by no more than the edge costs (Hart, Nilsson, Raphael 1968: admissible and consistent). How the maps
/// lie in the space decides only how good the bound is. They are laid so that stairs and elevators stand upright, as
/// plans may have different origins.
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

    /// Where each node is.
    let places: [Place]
    /// The least weight of a metre on edges of each kind, by the kind's index; infinite if there are none.
    let leastWeights: SIMD4<Double>
    /// Where each map's origin is.
    private let origins: [MapID: Place]

    init(nodes: [RoutePoint], edges: [RouteNetwork.Edge], heights: [MapID: Double]) {
        var origins = Self.origins(nodes, edges)
        let flat = Self.places(nodes, origins)
        let flatWeights = Self.leastWeights(flat, edges)
        for (map, height) in heights { origins[map, default: Place(x: 0, y: 0, z: 0)].z = height }
        let upright = Self.places(nodes, origins)
        let uprightWeights = Self.leastWeights(upright, edges)
        // Heights help where floors cost at least as much as they are high; a free elevator would make every bound zero.
        if uprightWeights.min() < flatWeights.min() {
            for map in heights.keys { origins[map]?.z = 0 }
            (places, leastWeights) = (flat, flatWeights)
        } else {
            (places, leastWeights) = (upright, uprightWeights)
        }
        self.origins = origins
    }

    /// Where a place of a map is.
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

    /// Lays map after map so that the edges to those that lie already are upright, by the median.
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
