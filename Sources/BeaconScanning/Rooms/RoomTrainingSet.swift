import IndoorVocabulary

/// The fingerprints of a region's rooms: the training data of a classifier.
public struct RoomTrainingSet: Hashable, Sendable {
    /// The fingerprint of each room, by the room's name.
    public var rooms: [String: RoomFingerprint]

    /// Creates a set.
    public init(rooms: [String: RoomFingerprint] = [:]) { self.rooms = rooms }

    /// The beacons that were received in any room.
    public var beacons: Set<BeaconIdentity> {
        rooms.values.reduce(into: []) { beacons, fingerprint in beacons.formUnion(fingerprint.beacons) }
    }

    /// Adds a fingerprint to the fingerprint of a room.
    public mutating func add(_ fingerprint: RoomFingerprint, to room: String) {
        rooms[room, default: RoomFingerprint()].add(fingerprint)
    }

    /// Adds the fingerprints of another set.
    public mutating func add(_ other: RoomTrainingSet) {
        for (room, fingerprint) in other.rooms { add(fingerprint, to: room) }
    }

    /// Removes a beacon that was moved or removed from the building, in all rooms.
    public mutating func forget(_ beacon: BeaconIdentity) {
        for room in rooms.keys { rooms[room]?.forget(beacon) }
    }
}
