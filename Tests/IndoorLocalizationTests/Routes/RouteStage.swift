import IndoorLocalization

/// Venues with ways, made in a line or two.
enum RouteStage {
    typealias Kind = PathGraph.Edge.Kind

    /// A venue of these maps, each 100 m by 100 m, with its number less one as its level.
    ///
    /// - Parameter nodes: map, x and y by the node's number.
    static func venue(
        maps: Int = 1, walls: [[MapPoint]] = [], nodes: [Int: (Int, Double, Double)], _ edges: [PathGraph.Edge]
    ) -> Venue {
        let maps = (1...maps).map { number in
            VenueMap(
                id: MapID(rawValue: number), name: "Floor \(number)", level: number - 1, width: 100, height: 100,
                elevation: 4 * Double(number - 1), walls: number == 1 ? walls : [])
        }
        let nodes = nodes.sorted { $0.key < $1.key }.map { id, place in
            PathGraph.Node(id: id, mapID: MapID(rawValue: place.0), point: MapPoint(x: place.1, y: place.2))
        }
        return Venue(id: 1, name: "Ways", maps: maps, paths: PathGraph(nodes: nodes, edges: edges))
    }

    static func edge(
        _ from: Int, _ to: Int, _ weight: Double? = nil, _ kind: Kind = .walk, oneWay: Bool = false
    ) -> PathGraph.Edge {
        PathGraph.Edge(from: from, to: to, weight: weight, kind: kind, isOneWay: oneWay)
    }

    static func at(_ map: Int, _ x: Double, _ y: Double) -> RoutePoint {
        RoutePoint(mapID: MapID(rawValue: map), point: MapPoint(x: x, y: y))
    }

    static func position(_ map: Int, _ x: Double, _ y: Double, at seconds: Double, radius: Double = 1) -> Position {
        Position(
            instant: Instant(seconds: seconds), venueID: 1, mapID: MapID(rawValue: map), point: MapPoint(x: x, y: y),
            radius: radius)
    }

    /// Two floors, each a corridor 40 m long, joined by stairs at x = 10 and an elevator at x = 30.
    static let twoFloors = venue(
        maps: 2,
        nodes: [
            1: (1, 0, 10), 2: (1, 10, 10), 3: (1, 30, 10), 4: (1, 40, 10), 5: (1, 10, 5), 6: (1, 30, 5),
            11: (2, 0, 10), 12: (2, 10, 10), 13: (2, 30, 10), 14: (2, 40, 10), 15: (2, 10, 5), 16: (2, 30, 5),
        ],
        [
            edge(1, 2), edge(2, 3), edge(3, 4), edge(2, 5), edge(3, 6), edge(11, 12), edge(12, 13), edge(13, 14),
            edge(12, 15), edge(13, 16), edge(5, 15, 12, .stairs), edge(6, 16, 30, .elevator),
        ])
}
