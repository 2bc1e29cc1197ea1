import LocalizationSession

/// The other devices on the server and their rooms, from their retained presences.
///
/// A client with write access could publish any number of presences. The tracker therefore has a limit. Beyond it, the
/// tracker forgets devices so that a new device always has a place: first those that share no room with this device,
/// then those in its rooms, and last those with a verified signature. Within each group, it first forgets those that
/// sent nothing for the longest time.
struct PresenceTracker: Hashable, Sendable {
    /// The largest number of tracked devices.
    static let mostDevices = 10_000
    /// The largest number of rooms, summed over all devices.
    static let mostRooms = 40_000

    private struct Entry: Hashable, Sendable {
        var rooms: Set<String>
        var isVerified: Bool
        /// The number of the device's latest message.
        var seen: Int
    }

    /// A change of the tracked devices.
    struct Change: Hashable, Sendable {
        /// The rooms that the device entered.
        var entered: Set<String> = []
        /// The rooms that the device, or forgotten devices, left.
        var left: Set<String> = []
    }

    private var entries: [DeviceID: Entry] = [:]
    private var counts: [String: Int] = [:]
    private var roomCount = 0
    private var clock = 0
    /// The number of devices that were forgotten because of the limit.
    private(set) var forgottenCount = 0

    /// The number of other devices on the server.
    var deviceCount: Int { entries.count }

    /// Returns the number of other devices in a room.
    func count(in room: String) -> Int { counts[room] ?? 0 }

    /// Updates the rooms of a device; nil if it left the server.
    ///
    /// - Parameters:
    ///   - isVerified: Whether the presence has a verified signature.
    ///   - near: The rooms of this device.
    mutating func update(
        _ device: DeviceID, in new: Set<String>?, isVerified: Bool = false, near: Set<String> = []
    ) -> Change {
        clock += 1
        let old = entries[device]?.rooms ?? []
        entries[device] = new.map { Entry(rooms: $0, isVerified: isVerified, seen: clock) }
        var change = Change(entered: (new ?? []).subtracting(old), left: old.subtracting(new ?? []))
        for room in change.entered { counts[room, default: 0] += 1 }
        remove(change.left)
        roomCount += change.entered.count
        while entries.count > Self.mostDevices || roomCount > Self.mostRooms {
            change.left.formUnion(forgetSome(but: device, near))
        }
        return change
    }

    /// Records a message of a device, if it is tracked.
    mutating func touch(_ device: DeviceID) {
        clock += 1
        entries[device]?.seen = clock
    }

    private mutating func remove(_ rooms: Set<String>) {
        for room in rooms {
            let rest = count(in: room) - 1
            counts[room] = rest == 0 ? nil : rest
        }
        roomCount -= rooms.count
    }

    /// Forgets an eighth of the devices at once, so that not every device of a flood of new ones causes a sort.
    ///
    /// - Returns: The rooms of the forgotten devices.
    private mutating func forgetSome(but newest: DeviceID, _ near: Set<String>) -> Set<String> {
        func group(_ entry: Entry) -> Int { entry.isVerified ? 2 : entry.rooms.isDisjoint(with: near) ? 0 : 1 }
        let ranked = entries.filter { $0.key != newest }.map { (device: $0.key, group: group($0.value), $0.value.seen) }
            .sorted { ($0.group, $0.2) < ($1.group, $1.2) }
        // Forget devices of one group at a time, so that new devices of the first group don't displace those of the
        // others.
        let first = ranked.first?.group
        let chosen = ranked.prefix { $0.group == first }.prefix(max(1, entries.count / 8))
        var left: Set<String> = []
        for (device, _, _) in chosen {
            guard let entry = entries.removeValue(forKey: device) else { continue }
            remove(entry.rooms)
            left.formUnion(entry.rooms)
        }
        forgottenCount += chosen.count
        return left
    }
}
