import IndoorVocabulary
import VenueModel

/// A route from a start to a goal, across any number of maps.
public struct Route: Hashable, Sendable {
    /// A section of a route in one direction on one map, or from one map to another.
    public struct Leg: Hashable, Sendable {
        /// The start of the leg.
        public let begin: RoutePoint
        /// The end of the leg.
        public let end: RoutePoint
        /// The kind of path.
        public let kind: PathGraph.Edge.Kind
        /// The walking distance in metres; 0 in an elevator.
        public let length: Double
        /// The equivalent distance of level walking in metres, from the weights in the venue packet.
        public let effort: Double
        /// The direction in degrees clockwise from the plan's top, in [0, 360); nil if the leg ends on another map.
        public let course: Double?
        /// The instruction at the start of the leg; nil at the start of the route and after an elevator.
        public let turn: Turn?
        /// The index of the start node in the venue's ``PathGraph``; nil off the graph.
        public let beginNodeIndex: Int?
        /// The index of the end node in the venue's ``PathGraph``; nil off the graph.
        public let endNodeIndex: Int?
        /// The range of the leg's points in the route's vertices.
        package let vertices: ClosedRange<Int>
        /// The range of the leg's edges in the route's edges.
        let edges: Range<Int>
    }

    /// An instruction at the start of a leg.
    public enum Turn: Hashable, Sendable {
        /// Continue within 22.5° of the current course, for example where the kind of path changes.
        case straight
        /// Turn by 22.5° to 67.5°.
        case slightLeft
        /// Turn by 22.5° to 67.5°.
        case slightRight
        /// Turn by 67.5° to 112.5°.
        case left
        /// Turn by 67.5° to 112.5°.
        case right
        /// Turn by 112.5° to 157.5°.
        case sharpLeft
        /// Turn by 112.5° to 157.5°.
        case sharpRight
        /// Turn around, by more than 157.5°.
        case around
        /// Go up to this level; 0 is the ground floor.
        case up(toLevel: Int)
        /// Go down to this level; 0 is the ground floor.
        case down(toLevel: Int)
        /// Go to another map of the same level.
        case over(to: MapID)
    }

    /// The connection of one end of the route to the paths of the venue.
    public struct End: Hashable, Sendable {
        /// The requested place.
        public let place: RoutePoint
        /// The nearest point of a path, on the same map.
        public let foot: RoutePoint
        /// The distance between the two in metres.
        public let distance: Double
        /// Whether a wall separates the two. If true, walls block every path within the snapping distance.
        public let crossesWall: Bool
    }

    /// The points at which the route turns or changes maps, from the start to the goal; only the start if the goal is
    /// the same place.
    public let vertices: [RoutePoint]
    /// The legs between the vertices, in order; empty if the goal is the start.
    public let legs: [Leg]
    /// The walking distance in metres.
    public let length: Double
    /// The equivalent distance of level walking in metres, from the weights in the venue packet.
    public let effort: Double
    /// The minimized cost: the effort multiplied by the cost factors of the options.
    public let cost: Double
    /// The walking time: the effort divided by the walking speed of the options.
    public let duration: Duration
    /// The connection of the start to the paths.
    public let start: End
    /// The connection of the goal to the paths.
    public let goal: End
    /// The walking distance in metres from the start to each vertex.
    package let distances: [Double]
    /// The edges of the route, as indexes in the graph.
    let walkedEdges: [Int32]
}

extension Route {
    /// Returns the indexes of the edges in the venue's ``PathGraph`` that a leg follows, in order.
    ///
    /// A leg joins consecutive edges of the same direction, and can cover part of an edge. The result is empty off the
    /// graph: from the start to the nearest path, and from the last path to the goal.
    public func edgeIndexes(of leg: Leg) -> [Int] {
        guard leg.edges.upperBound <= walkedEdges.count else { return [] }  // a leg of another route
        return walkedEdges[leg.edges].map(Int.init)
    }
}

extension Route.Turn {
    /// Creates the turn from one course to another, both in degrees clockwise, as one of eight equal sectors.
    package init(from before: Double, to after: Double) {
        var angle = after - before
        if angle > 180 { angle -= 360 }
        if angle <= -180 { angle += 360 }
        self =
            switch abs(angle) {
            case ...22.5: .straight
            case ...67.5: angle < 0 ? .slightLeft : .slightRight
            case ...112.5: angle < 0 ? .left : .right
            case ...157.5: angle < 0 ? .sharpLeft : .sharpRight
            default: .around
            }
    }
}

/// The progress of a position along a route.
public struct RouteProgress: Hashable, Sendable {
    /// The nearest point of the route.
    public let place: RoutePoint
    /// The distance in metres from the start to that point, along the route.
    public let distanceDone: Double
    /// The distance in metres from that point to the goal, along the route.
    public let distanceRemaining: Double
    /// The distance in metres from the position to that point.
    public let distanceOff: Double
    /// The index of the leg that contains the point; nil if the route has no legs.
    public let legIndex: Int?
    /// The distance in metres to the end of that leg.
    public let distanceToLegEnd: Double
}

extension Route {
    /// Returns the point at a walking distance in metres from the start, clamped to the start and the goal.
    ///
    /// Between two maps, the point is on the first map for the first half of the leg. In an elevator, which has no
    /// walking distance, the point is at the end of the ride.
    public func point(at distance: Double) -> RoutePoint {
        guard distance > 0, vertices.count > 1 else { return vertices[0] }
        // The last vertex that has been passed.
        let low = (1..<vertices.count).bisection { distances[$0] > distance } - 1
        guard low + 1 < vertices.count else { return vertices[low] }
        let (begin, end) = (vertices[low], vertices[low + 1])
        let share = (distance - distances[low]) / (distances[low + 1] - distances[low])
        guard begin.mapID == end.mapID else { return share < 0.5 ? begin : end }
        return RoutePoint(mapID: begin.mapID, point: begin.point + (end.point - begin.point) * share)
    }

    /// Returns the progress of a place along the route; nil if the route doesn't touch its map.
    ///
    /// If the route passes the place several times, the method uses the nearest pass. Among the passes within
    /// `tolerance` metres of the nearest, it uses the one closest to the distance `after`.
    public func progress(of place: RoutePoint, after: Double = 0, tolerance: Double = 0) -> RouteProgress? {
        guard place.isPlace else { return nil }
        var least = Double.infinity
        var passages: [(offset: Double, distance: Double, point: MapPoint)] = []
        for index in vertices.indices where vertices[index].mapID == place.mapID {
            let begin = vertices[index].point
            var (share, length) = (0.0, 0.0)
            var point = begin
            if index + 1 < vertices.count, vertices[index + 1].mapID == place.mapID {
                let way = WaySegment(from: begin, to: vertices[index + 1].point)
                share = way.share(nearestTo: place.point)
                point = way.point(at: share)
                length = distances[index + 1] - distances[index]
            }
            let offset = point.distance(to: place.point)
            guard offset <= least + tolerance else { continue }
            least = min(least, offset)
            passages.append((offset, distances[index] + share * length, point))
        }
        let near = passages.filter { $0.offset <= least + tolerance }
        guard let best = near.min(by: { abs($0.distance - after) < abs($1.distance - after) }) else { return nil }
        let leg = legs.firstIndex { distances[$0.vertices.upperBound] > best.distance } ?? legs.indices.last
        return RouteProgress(
            place: RoutePoint(mapID: place.mapID, point: best.point), distanceDone: best.distance,
            distanceRemaining: max(0, length - best.distance), distanceOff: best.offset, legIndex: leg,
            distanceToLegEnd: leg.map { max(0, distances[legs[$0].vertices.upperBound] - best.distance) } ?? 0)
    }
}
