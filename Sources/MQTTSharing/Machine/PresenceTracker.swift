import LocalizationSession

/// The other devices on the server and their rooms, from their retained presences.
struct PresenceTracker: Hashable, Sendable {
    /// The largest number of tracked devices, because a client with write access could publish any number of them.
    static let mostDevices = 10_000

    private var rooms: [DeviceID: Set<String>] = [:]
    private var counts: [String: Int] = [:]

    /// The number of other devices on the server.
    var deviceCount: Int { rooms.count }

    /// Returns the number of other devices in a room.
    func count(in room: String) -> Int { counts[room] ?? 0 }

    /// Updates the rooms of a device; nil if it left the server.
    ///
    /// - Returns: The rooms that the device entered and left; nil if there are too many devices to track this one.
    mutating func update(_ device: DeviceID, in new: Set<String>?) -> (entered: Set<String>, left: Set<String>)? {
        let old = rooms[device] ?? []
        if new != nil, rooms[device] == nil, rooms.count >= Self.mostDevices { return nil }
        rooms[device] = new
        let entered = (new ?? []).subtracting(old)
        let left = old.subtracting(new ?? [])
        for room in entered { counts[room, default: 0] += 1 }
        for room in left {
            let rest = count(in: room) - 1
            counts[room] = rest == 0 ? nil : rest
        }
        return (entered, left)
    }
}
