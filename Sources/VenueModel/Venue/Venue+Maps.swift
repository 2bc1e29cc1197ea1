import IndoorVocabulary

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
}
