import LocalizationSession

/// Which other devices are there, and in which rooms, as their retained presences tell.
struct PresenceTracker: Hashable, Sendable {
    /// More devices are not kept in mind, as whoever may publish could name any number.
    static let mostDevices = 10_000

    private var rooms: [DeviceID: Set<String>] = [:]
    private var counts: [String: Int] = [:]

    /// How many others are on the server.
    var deviceCount: Int { rooms.count }

    /// How many others are in a room.
    func count(in room: String) -> Int { counts[room] ?? 0 }

    /// Takes in where a device is now: nil for nowhere.
    ///
    /// - Returns: the rooms that it came into and left; nil if there are too many devices to keep this one in mind.
    mutating func note(_ device: DeviceID, in new: Set<String>?) -> (entered: Set<String>, left: Set<String>)? {
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
