import IndoorVocabulary
import VenueModel

/// A way from a start to a goal, over any number of maps.
public struct Route: Hashable, Sendable {
    /// A stretch in one direction on one map, or from one map to another.
    public struct Leg: Hashable, Sendable {
        /// Where it begins.
        public let begin: RoutePoint
        /// Where it ends.
        public let end: RoutePoint
        /// What one walks on.
        public let kind: PathGraph.Edge.Kind
        /// Metres to walk; in an elevator, one does not walk.
        public let length: Double
        /// What it is worth in metres of level walking, as the weights of the packet tell.
        public let effort: Double
        /// Degrees clockwise from the plan's top, in [0, 360); nil if it leads to another map.
        public let course: Double?
        /// What to do where it begins; nil where that cannot be told: at the start, and on leaving an elevator.
        public let turn: Turn?
        /// The node of the venue's ``PathGraph`` at which it begins, as an index; nil off the graph.
        public let beginNodeIndex: Int?
        /// The node of the venue's ``PathGraph`` at which it ends, as an index; nil off the graph.
        public let endNodeIndex: Int?
        /// Its points among the route's vertices.
        package let vertices: ClosedRange<Int>
        /// The edges that it follows, among those of the route.
        let edges: Range<Int>
    }

    /// What to do where a leg begins.
    public enum Turn: Hashable, Sendable {
        /// Go on, within 22.5° of the course so far; as when something else is walked on from here.
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
        /// Turn back: by more than 157.5°.
        case around
        /// Go up to that level; 0 is the ground floor.
        case up(toLevel: Int)
        /// Go down to that level; 0 is the ground floor.
        case down(toLevel: Int)
        /// Go over to another map of the same level.
        case over(to: MapID)
    }

    /// How an end of the route is joined to the ways of the venue.
    public struct End: Hashable, Sendable {
        /// The place that was asked for.
        public let place: RoutePoint
        /// The nearest point of a way, on the same map.
        public let foot: RoutePoint
        /// Metres between both.
        public let distance: Double
        /// Whether a wall lies between both: no way is near without one.
        public let crossesWall: Bool
    }

    /// Where the route turns or changes its map, from the start to the goal; the start alone if the goal is the same.
    public let vertices: [RoutePoint]
    /// The stretches between them, in order; empty if the goal is the start.
    public let legs: [Leg]
    /// Metres to walk.
    public let length: Double
    /// What the route is worth in metres of level walking, as the weights of the packet tell.
    public let effort: Double
    /// What was made as small as possible: the effort, times the factors of the options.
    public let cost: Double
    /// How long it takes: its effort at the walking speed of the options.
    public let duration: Duration
    /// How the start is joined to the ways.
    public let start: End
    /// How the goal is joined to the ways.
    public let goal: End
    /// Metres to walk from the start to each vertex.
    package let distances: [Double]
    /// The edges that it follows, as indexes of the graph's.
    let walkedEdges: [Int32]
}

extension Route {
    /// The edges of the venue's ``PathGraph`` that a leg follows, in order, as indexes.
    ///
    /// A leg joins all edges that go on in one direction. Of an edge, it may be a part. Empty off the graph: from the start
    /// to the nearest way, and from the last way to the goal.
    public func edgeIndexes(of leg: Leg) -> [Int] {
        guard leg.edges.upperBound <= walkedEdges.count else { return [] }  // a leg of another route
        return walkedEdges[leg.edges].map(Int.init)
    }
}

extension Route.Turn {
    /// The turn from one course to another, both in degrees clockwise: one of eight equal sectors.
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

/// How far along a route a position is.
public struct RouteProgress: Hashable, Sendable {
    /// The point of the route next to the position.
    public let place: RoutePoint
    /// Metres walked from the start to that point.
    public let distanceDone: Double
    /// Metres to walk from that point to the goal.
    public let distanceRemaining: Double
    /// Metres from the position to that point.
    public let distanceOff: Double
    /// The leg that the point lies on, among the route's; nil if the route has none.
    public let legIndex: Int?
    /// Metres to the end of that leg.
    public let distanceToLegEnd: Double
}

extension Route {
    /// The point after so many metres to walk; the start and the goal beyond its ends.
    ///
    /// Between two maps it is on the first one for half the way. At a ride in an elevator, where nothing is walked, it
    /// is where the ride ends.
    public func point(at distance: Double) -> RoutePoint {
        guard distance > 0, vertices.count > 1 else { return vertices[0] }
        // The last vertex that has been passed.
        var (low, high) = (0, vertices.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if distances[middle] <= distance { low = middle } else { high = middle }
        }
        guard low + 1 < vertices.count else { return vertices[low] }
        let (begin, end) = (vertices[low], vertices[low + 1])
        let share = (distance - distances[low]) / (distances[low + 1] - distances[low])
        guard begin.mapID == end.mapID else { return share < 0.5 ? begin : end }
        return RoutePoint(mapID: begin.mapID, point: begin.point + (end.point - begin.point) * share)
    }

    /// How far along the route a place is; nil if the route does not touch its map.
    ///
    /// Where the route comes by more than once, the nearest passage counts; of those that are no more than `tolerance`
    /// metres farther off than that, the one next to the distance `after`.
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
