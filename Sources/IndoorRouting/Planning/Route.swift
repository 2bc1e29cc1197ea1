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
