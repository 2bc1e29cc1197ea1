import IndoorVocabulary

/// An anchor of a venue: a fixed radio at a known place, to which a device can measure its distance.
public struct VenueAnchor: Hashable, Sendable {
    /// The identifier of the anchor in readings. It must be unique among all venues that a session knows.
    public var id: String
    /// The map of the anchor.
    public var mapID: MapID
    /// The point on the map.
    public var point: MapPoint
    /// The height above the floor in metres; nil for the height of the device.
    public var z: Double?

    /// Creates an anchor from its parts without checking them.
    public init(id: String, mapID: MapID, point: MapPoint, z: Double? = nil) {
        self.id = id
        self.mapID = mapID
        self.point = point
        self.z = z
    }

    /// The identity of the anchor in summaries of the venue. It depends only on the anchor's identifier.
    package var identity: BeaconIdentity { Self.identity(of: id) }

    /// Returns the identity of the anchor with the given identifier.
    package static func identity(of id: String) -> BeaconIdentity { VenueReceiver.identity(for: id) }
}

extension Venue {
    /// Returns the anchors of a map in the order of the packet.
    public func anchors(on map: MapID) -> [VenueAnchor] { anchors.filter { $0.mapID == map } }
}
