import IndoorVocabulary

// The content of a venue on one of its maps. The result is empty for an unknown map.
extension Venue {
    /// Returns the rooms of a map in the order of the packet, including those without a shape.
    public func rooms(on map: MapID) -> [Room] { rooms.filter { $0.mapID == map } }

    /// Returns the geofences of a map in the order of the packet.
    public func fences(on map: MapID) -> [Fence] { fences.filter { $0.mapID == map } }

    /// Returns the beacons of a map in the order of the packet.
    public func beacons(on map: MapID) -> [VenueBeacon] { beacons.filter { $0.mapID == map } }

    /// Returns the points of interest of a map in the order of the packet.
    public func pointsOfInterest(on map: MapID) -> [PointOfInterest] { pointsOfInterest.filter { $0.mapID == map } }

    /// Returns the nodes of the path graph on a map in the order of the packet.
    public func pathNodes(on map: MapID) -> [PathGraph.Node] { paths?.nodes.filter { $0.mapID == map } ?? [] }

    /// Returns the control points of a map; empty for a map with a centre and bearing.
    public func controlPoints(on map: MapID) -> [Georeference.ControlPoint] {
        guard case .controlPoints(let points) = self.map(map)?.georeference else { return [] }
        return points
    }
}
