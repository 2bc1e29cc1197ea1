import IndoorVocabulary

/// The fingerprints of a region's rooms: what a classifier learns.
public struct RoomTrainingSet: Hashable, Sendable {
    /// The fingerprint of each room, by the room's name.
    public var rooms: [String: RoomFingerprint]

    /// Creates a set.
    public init(rooms: [String: RoomFingerprint] = [:]) { self.rooms = rooms }

    /// The beacons that were heard in any room.
    public var beacons: Set<BeaconIdentity> {
        rooms.values.reduce(into: []) { beacons, fingerprint in beacons.formUnion(fingerprint.beacons) }
    }

    /// Adds what was trained in a room to what is known of it.
    public mutating func add(_ fingerprint: RoomFingerprint, to room: String) {
        rooms[room, default: RoomFingerprint()].add(fingerprint)
    }

    /// Adds all of another set.
    public mutating func add(_ other: RoomTrainingSet) {
        for (room, fingerprint) in other.rooms { add(fingerprint, to: room) }
    }

    /// Forgets a beacon that was moved or taken away, in all rooms.
    public mutating func forget(_ beacon: BeaconIdentity) {
        for room in rooms.keys { rooms[room]?.forget(beacon) }
    }
}
