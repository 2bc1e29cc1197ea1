// What a venue holds on one of its maps; on a map that the venue does not have, nothing.
extension Venue {
    /// The rooms of a map, in the packet's order; also those without a shape.
    public func rooms(on map: MapID) -> [Room] { rooms.filter { $0.mapID == map } }

    /// The fences of a map, in the packet's order.
    public func fences(on map: MapID) -> [Fence] { fences.filter { $0.mapID == map } }

    /// The transmitters that are mounted on a map, in the packet's order.
    public func beacons(on map: MapID) -> [VenueBeacon] { beacons.filter { $0.mapID == map } }

    /// The points of interest of a map, in the packet's order.
    public func pointsOfInterest(on map: MapID) -> [PointOfInterest] { pointsOfInterest.filter { $0.mapID == map } }

    /// The nodes of the path graph that lie on a map, in the packet's order.
    public func pathNodes(on map: MapID) -> [PathGraph.Node] { paths?.nodes.filter { $0.mapID == map } ?? [] }

    /// The points of a map that are known on Earth; none for one that is fixed by its centre and bearing.
    public func controlPoints(on map: MapID) -> [Georeference.ControlPoint] {
        guard case .controlPoints(let points) = self.map(map)?.georeference else { return [] }
        return points
    }

    /// The points of interest on all maps that one can walk to from a place, in the packet's order.
    ///
    /// Walking begins at the node of the path graph nearest to the place on its map, and ends at that nearest to the
    /// point of interest on its own. Edges are walked in the directions that they allow. Without a path graph, or
    /// without a node of it on that map, nothing is reachable. O(n log n) in the size of the graph.
    public func reachablePointsOfInterest(from point: MapPoint, on map: MapID) -> [PointOfInterest] {
        guard let paths else { return [] }
        let nearest = NearestNodes(paths.nodes)
        guard let start = nearest.node(to: point, on: map) else { return [] }
        return pointsOfInterest(near: paths.nodes(reachableFrom: [start.id]), nearest)
    }

    /// The points of interest on all maps that one can walk to from anywhere on a map, in the packet's order.
    ///
    /// As `reachablePointsOfInterest(from:on:)` from each node on the map.
    public func reachablePointsOfInterest(from map: MapID) -> [PointOfInterest] {
        guard let paths else { return [] }
        let reachable = paths.nodes(reachableFrom: pathNodes(on: map).map(\.id))
        return pointsOfInterest(near: reachable, NearestNodes(paths.nodes))
    }

    private func pointsOfInterest(near reachable: Set<Int>, _ nearest: NearestNodes) -> [PointOfInterest] {
        pointsOfInterest.filter { place in
            nearest.node(to: place.point, on: place.mapID).map { reachable.contains($0.id) } ?? false
        }
    }
}
