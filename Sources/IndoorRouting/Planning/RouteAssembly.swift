import IndoorVocabulary
import VenueModel

/// Builds a route from the edges that a search has found.
struct RouteAssembly: Sendable {
    /// Part of an edge between two points.
    private struct Piece: Sendable {
        var begin: RoutePoint
        var end: RoutePoint
        var kind: PathGraph.Edge.Kind
        /// The walking distance in metres.
        var length: Double
        /// The equivalent distance of level walking in metres.
        var effort: Double
        /// The nodes at its ends, as indexes in the graph; nil off the graph.
        var beginNode: Int32?
        var endNode: Int32?
        /// The edge, as an index in the graph; nil off the graph.
        var edge: Int32?
    }

    /// A leg under construction, which can be extended by further pieces.
    private struct Draft: Sendable {
        var piece: Piece
        /// The course of its first piece; nil if the leg ends on another map.
        var course: Double?
        var vertices: ClosedRange<Int>
        var edges: Range<Int>
    }

    private let levels: [MapID: Int]
    private var vertices: [RoutePoint]
    private var distances = [0.0]
    private var drafts: [Draft] = []
    private var length = 0.0
    private var effort = 0.0
    /// The edges of the route, as indexes in the graph.
    private var edges: [Int32] = []
    /// A piece too short to be a leg, which becomes part of the next leg.
    private var pending: Piece?

    /// The minimum length of a leg in metres. A shorter leg would be displayed as 0.0 m.
    private static let shortest = 0.05
    /// The length in metres below which a piece has no direction.
    private static let least = 1e-6
    /// The angle in degrees below which consecutive pieces are straight: 0.1 m sideways in 50 m.
    private static let straight = 0.12

    /// Returns the route along a chain of edges.
    static func route(
        _ chain: RouteSearch.Chain, from start: RouteAnchor, to goal: RouteAnchor, _ options: RouteOptions,
        _ network: RouteNetwork
    ) -> Route {
        var assembly = RouteAssembly(beginning: start.place, levels: network.levels)
        let (from, to) = (start.feet[chain.from], goal.feet[chain.to])
        let begin = Self.end(start, from)
        let end = Self.end(goal, to)
        assembly.edges.reserveCapacity(chain.arcs.count + 2)
        assembly.walk(
            from: start.place, to: begin.foot, from.distance,
            endNode: Self.node(of: from, on: begin.foot.mapID, network))
        if let nodes = chain.nodes {
            assembly.add(from, begin.foot, Self.share(of: from, at: nodes.first, begin.foot.mapID, network), network)
            for arc in chain.arcs { assembly.add(arc: arc, network) }
            let share = Self.share(of: to, at: nodes.last, end.foot.mapID, network)
            assembly.add(to, end.foot, share, isToFoot: true, network)
        } else if let (way, edge) = network.way(from, on: begin.foot.mapID), let edge {
            var part = Self.part(edge, abs(to.share - from.share), way.segment.point(at: from.share), end.foot)
            part.beginNode = Self.node(of: from, on: begin.foot.mapID, network)
            part.endNode = Self.node(of: to, on: end.foot.mapID, network)
            assembly.add(part)
        }
        assembly.walk(
            from: end.foot, to: goal.place, to.distance, beginNode: Self.node(of: to, on: end.foot.mapID, network))
        assembly.settle()
        return assembly.finish(cost: chain.cost + from.distance + to.distance, options, begin, end)
    }

    private init(beginning: RoutePoint, levels: [MapID: Int]) {
        self.levels = levels
        vertices = [beginning]
    }

    private static func end(_ joint: RouteAnchor, _ foot: WayIndex.Projection) -> Route.End {
        Route.End(
            place: joint.place, foot: RoutePoint(mapID: joint.place.mapID, point: foot.point),
            distance: foot.distance, crossesWall: joint.crossesWall)
    }

    /// Returns the share at which a node lies on the way of a projection; nil if the projection is a node.
    private static func share(
        of foot: WayIndex.Projection, at node: Int, _ map: MapID, _ network: RouteNetwork
    ) -> Double? {
        network.way(foot, on: map)?.edge.map { Int($0.from) == node ? 0 : 1 }
    }

    /// Returns the node at a projection, as an index in the graph; nil if the projection is between two nodes.
    private static func node(of foot: WayIndex.Projection, on map: MapID, _ network: RouteNetwork) -> Int32? {
        guard let (way, edge) = network.way(foot, on: map) else { return nil }
        guard let edge else { return network.nodeIndexes[Int(way.node)] }
        if foot.share <= 0 { return network.nodeIndexes[Int(edge.from)] }
        return foot.share >= 1 ? network.nodeIndexes[Int(edge.to)] : nil
    }

    private static func part(
        _ edge: RouteNetwork.Edge, _ share: Double, _ begin: MapPoint, _ end: RoutePoint
    ) -> Piece {
        Piece(
            begin: RoutePoint(mapID: end.mapID, point: begin), end: end, kind: edge.kind,
            length: edge.length * share, effort: edge.weight * share, edge: share > 0 ? edge.index : nil)
    }

    /// Adds the part of an edge between a projection and the node at `share`.
    private mutating func add(
        _ foot: WayIndex.Projection, _ place: RoutePoint, _ share: Double?, isToFoot: Bool = false,
        _ network: RouteNetwork
    ) {
        guard let share, let (way, edge) = network.way(foot, on: place.mapID), let edge else { return }
        let node = RoutePoint(mapID: place.mapID, point: way.segment.point(at: share))
        let part = abs(share - foot.share)
        let nodeIndex = network.nodeIndexes[Int(share == 0 ? edge.from : edge.to)]
        let footIndex = Self.node(of: foot, on: place.mapID, network)
        var piece = isToFoot ? Self.part(edge, part, node.point, place) : Self.part(edge, part, place.point, node)
        (piece.beginNode, piece.endNode) = isToFoot ? (nodeIndex, footIndex) : (footIndex, nodeIndex)
        add(piece)
    }

    /// Adds a whole edge.
    private mutating func add(arc: Int, _ network: RouteNetwork) {
        let edge = network.edges[Int(network.arcEdges[arc])]
        let (from, to) = (network.nodes[network.source(of: arc)], network.nodes[Int(network.arcs[arc].target)])
        add(
            Piece(
                begin: from, end: to, kind: edge.kind, length: edge.length, effort: edge.weight,
                beginNode: network.nodeIndexes[network.source(of: arc)],
                endNode: network.nodeIndexes[Int(network.arcs[arc].target)], edge: edge.index))
    }

    /// Adds a straight walk between an end of the route and its projection.
    private mutating func walk(
        from begin: RoutePoint, to end: RoutePoint, _ distance: Double, beginNode: Int32? = nil, endNode: Int32? = nil
    ) {
        add(
            Piece(
                begin: begin, end: end, kind: .walk, length: distance, effort: distance, beginNode: beginNode,
                endNode: endNode))
    }

    private mutating func add(_ next: Piece) {
        effort += next.effort
        let before = edges.count
        if let edge = next.edge { edges.append(edge) }
        let isLevel = next.begin.mapID == next.end.mapID
        var piece = next
        if let short = pending.take() {
            if !isLevel, drafts.last?.course != nil {
                extendLast(by: short, before: before)
            } else {
                piece.begin = short.begin
                // If the short piece has no length, both pieces begin at the same node; keep the node.
                if Self.span(short) > Self.least { piece.beginNode = short.beginNode }
                piece.length += short.length
                piece.effort += short.effort
            }
        }
        guard isLevel else { return append(piece, course: nil) }
        guard Self.span(piece) >= Self.shortest else { return pending = piece }
        // Ignore the direction of a short piece, which must not change the course of a long piece.
        let way = Self.span(next) >= Self.shortest ? next : piece
        append(piece, course: (way.end.point - way.begin.point).course)
    }

    private static func span(_ piece: Piece) -> Double { piece.begin.point.distance(to: piece.end.point) }

    /// Adds the remaining short piece to the last leg.
    private mutating func settle() {
        guard let short = pending.take() else { return }
        if !drafts.isEmpty {
            extendLast(by: short, before: edges.count)
        } else if Self.span(short) > Self.least {
            append(short, course: (short.end.point - short.begin.point).course)
        }
    }

    /// Extends the last leg by a short piece.
    ///
    /// - Parameter before: The number of edges before the piece.
    private mutating func extendLast(by short: Piece, before: Int) {
        length += short.length
        let last = drafts[drafts.count - 1]
        drafts[drafts.count - 1].edges = last.edges.lowerBound..<before
        drafts[drafts.count - 1].piece.endNode =
            short.endNode ?? (Self.span(short) > Self.least ? nil : last.piece.endNode)
        drafts[drafts.count - 1].piece.end = short.end
        drafts[drafts.count - 1].piece.length += short.length
        drafts[drafts.count - 1].piece.effort += short.effort
        vertices[vertices.count - 1] = short.end
        distances[distances.count - 1] = length
    }

    private mutating func append(_ piece: Piece, course: Double?) {
        length += piece.length
        if let last = drafts.last, continues(last, piece, course) {
            drafts[drafts.count - 1].piece.end = piece.end
            drafts[drafts.count - 1].piece.endNode = piece.endNode
            drafts[drafts.count - 1].edges = last.edges.lowerBound..<edges.count
            drafts[drafts.count - 1].piece.length += piece.length
            drafts[drafts.count - 1].piece.effort += piece.effort
            // A straight continuation needs no new vertex, but each change of map does.
            if course != nil {
                vertices[vertices.count - 1] = piece.end
                distances[distances.count - 1] = length
                return
            }
            drafts[drafts.count - 1].vertices = last.vertices.lowerBound...vertices.count
        } else {
            drafts.append(
                Draft(
                    piece: piece, course: course, vertices: vertices.count - 1...vertices.count,
                    edges: (drafts.last?.edges.upperBound ?? 0)..<edges.count))
        }
        vertices.append(piece.end)
        distances.append(length)
    }

    /// Returns whether a piece continues a leg: straight ahead, or up or down by the same kind of path.
    private func continues(_ last: Draft, _ piece: Piece, _ course: Double?) -> Bool {
        guard last.piece.kind == piece.kind else { return false }
        if let before = last.course, let course {
            let angle = abs(before - course)
            return min(angle, 360 - angle) < Self.straight
        }
        guard last.course == nil, course == nil else { return false }
        let levelDifference = levelDifference(last.piece)
        return levelDifference != 0 && levelDifference.signum() == self.levelDifference(piece).signum()
    }

    private func level(_ place: RoutePoint) -> Int { levels[place.mapID] ?? 0 }

    private func levelDifference(_ piece: Piece) -> Int { level(piece.end) - level(piece.begin) }

    private func finish(cost: Double, _ options: RouteOptions, _ start: Route.End, _ goal: Route.End) -> Route {
        var legs: [Route.Leg] = []
        for draft in drafts {
            let piece = draft.piece
            let course = draft.course.flatMap { _ in (piece.end.point - piece.begin.point).course }
            legs.append(
                Route.Leg(
                    begin: piece.begin, end: piece.end, kind: piece.kind, length: piece.length, effort: piece.effort,
                    course: course, turn: turn(piece, course, after: legs.last),
                    beginNodeIndex: piece.beginNode.map(Int.init), endNodeIndex: piece.endNode.map(Int.init),
                    vertices: draft.vertices, edges: draft.edges))
        }
        return Route(
            vertices: vertices, legs: legs, length: length, effort: effort, cost: cost,
            duration: .seconds(effort / options.walkingSpeed), start: start, goal: goal, distances: distances,
            walkedEdges: edges)
    }

    private func turn(_ piece: Piece, _ course: Double?, after last: Route.Leg?) -> Route.Turn? {
        if let course { return last?.course.map { Route.Turn(from: $0, to: course) } }
        let (levelDifference, level) = (levelDifference(piece), level(piece.end))
        if levelDifference == 0 { return .over(to: piece.end.mapID) }
        return levelDifference > 0 ? .up(toLevel: level) : .down(toLevel: level)
    }
}
