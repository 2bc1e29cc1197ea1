import IndoorVocabulary
import VenueModel

/// An end of a route, connected to the paths of the venue.
struct RouteAnchor: Sendable {
    var place: RoutePoint
    var feet: [WayIndex.Projection]
    var crossesWall: Bool
}

extension RouteNetwork {
    /// Connects an end of a route to the nearest paths on its map.
    ///
    /// - Throws: `.noPaths`, `.unknownMap` or `.tooFarFromPaths`.
    func join(
        _ place: RoutePoint, _ end: RouteError.End, _ options: RouteOptions
    ) throws(RouteError) -> RouteAnchor {
        guard !edges.isEmpty else { throw .noPaths(venueID) }
        guard levels[place.mapID] != nil else { throw .unknownMap(place.mapID, end, known: levels.keys.sorted()) }
        let limit = options.snappingDistance
        guard let index = ways[place.mapID], place.isPlace else {
            throw .tooFarFromPaths(place, end, nearest: nil, limit: limit)
        }
        let found = index.feet(of: place.point, options.permitted, within: limit)
        guard !found.feet.isEmpty else {
            let nearest = index.feet(of: place.point, options.permitted, within: .infinity).feet.first?.distance
            throw .tooFarFromPaths(place, end, nearest: nearest, limit: limit)
        }
        return RouteAnchor(place: place, feet: found.feet, crossesWall: found.crossesWall)
    }

    /// Returns the search query between two ends.
    func query(from start: RouteAnchor, to goal: RouteAnchor, _ options: RouteOptions) -> RouteSearch.Query {
        let factors = options.factors
        let permitted = options.permitted
        var least = Double.infinity
        for kind in PathGraph.Edge.Kind.allCases where permitted.contains(WayKinds([kind])) {
            // A kind without edges has an infinite weight, and infinity times a factor of zero is NaN.
            guard space.leastWeights[kind.index] < .infinity else { continue }
            least = min(least, space.leastWeights[kind.index] * factors[kind.index])
        }
        let places = goal.feet.map { space.place(RoutePoint(mapID: goal.place.mapID, point: $0.point)) }
        var query = RouteSearch.Query(
            factors: factors, permitted: permitted,
            costPerMetre: options.algorithm == .aStar && least < .infinity ? least : 0, goal: places[0],
            slack: places.map { $0.distance(to: places[0]) }.max() ?? 0)
        for (index, foot) in start.feet.enumerated() {
            addExits(&query, index, foot, on: start.place.mapID)
            for (other, end) in goal.feet.enumerated() where start.place.mapID == goal.place.mapID {
                guard foot.way == end.way, let cost = cost(foot, end, on: start.place.mapID, factors),
                    cost < query.direct?.cost ?? .infinity
                else { continue }
                query.direct = (cost, index, other)
            }
        }
        for (index, foot) in goal.feet.enumerated() { addEntries(&query, index, foot, on: goal.place.mapID) }
        return query
    }

    /// Returns the way of a projection and its edge; the edge is nil for a node.
    func way(_ foot: WayIndex.Projection, on map: MapID) -> (way: WayIndex.Way, edge: Edge?)? {
        guard let way = ways[map]?.ways[foot.way] else { return nil }
        return (way, way.edge.map { edges[Int($0)] })
    }

    /// Returns the cost between two projections on the same way; nil against the direction of a one-way edge.
    private func cost(
        _ from: WayIndex.Projection, _ to: WayIndex.Projection, on map: MapID, _ factors: SIMD4<Double>
    ) -> Double? {
        guard let edge = way(from, on: map)?.edge else { return 0 }
        if edge.isOneWay && to.share < from.share { return nil }
        return edge.weight * abs(to.share - from.share) * factors[edge.kind.index]
    }

    private func addExits(_ query: inout RouteSearch.Query, _ index: Int, _ foot: WayIndex.Projection, on map: MapID) {
        guard let (way, edge) = way(foot, on: map) else { return }
        guard let edge else {
            query.exits.append(RouteSearch.Query.Gate(node: way.node, cost: 0, foot: index))
            return
        }
        let cost = edge.weight * query.factors[edge.kind.index]
        query.exits.append(RouteSearch.Query.Gate(node: edge.to, cost: cost * (1 - foot.share), foot: index))
        guard !edge.isOneWay || foot.share == 0 else { return }
        query.exits.append(RouteSearch.Query.Gate(node: edge.from, cost: cost * foot.share, foot: index))
    }

    private func addEntries(_ query: inout RouteSearch.Query, _ index: Int, _ foot: WayIndex.Projection, on map: MapID)
    {
        guard let (way, edge) = way(foot, on: map) else { return }
        guard let edge else {
            query.entries.append(RouteSearch.Query.Gate(node: way.node, cost: 0, foot: index))
            return
        }
        let cost = edge.weight * query.factors[edge.kind.index]
        query.entries.append(RouteSearch.Query.Gate(node: edge.from, cost: cost * foot.share, foot: index))
        guard !edge.isOneWay || foot.share == 1 else { return }
        query.entries.append(RouteSearch.Query.Gate(node: edge.to, cost: cost * (1 - foot.share), foot: index))
    }
}
