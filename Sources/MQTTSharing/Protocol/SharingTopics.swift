import LocalizationSession

/// The meaning of a topic.
package enum SharingTopic: Hashable, Sendable {
    /// Retained: the capacities, set by the operator of the broker.
    case limits
    /// Retained: the presence of a device and its rooms. The device's last will removes it.
    case presence(DeviceID)
    /// Retained: the location of a device, for Home Assistant.
    case location(DeviceID)
    /// The position of a device, published to a room.
    case position(room: String, DeviceID)
    /// A text from a device to a room.
    case message(room: String, DeviceID)
}

/// The topic names under a prefix.
package struct SharingTopics: Hashable, Sendable {
    package let prefix: String

    package init(prefix: String) { self.prefix = prefix }

    /// The filter for the presence of every device.
    package var presenceFilter: String { "\(prefix)/devices/+/presence" }

    /// Returns the filter for all messages of a room.
    package func filter(ofRoom room: String) -> String { "\(prefix)/rooms/\(room)/devices/+/+" }

    package func name(_ topic: SharingTopic) -> String {
        switch topic {
        case .limits: "\(prefix)/limits"
        case .presence(let device): "\(prefix)/devices/\(device)/presence"
        case .location(let device): "\(prefix)/devices/\(device)/location"
        case .position(let room, let device): "\(prefix)/rooms/\(room)/devices/\(device)/position"
        case .message(let room, let device): "\(prefix)/rooms/\(room)/devices/\(device)/message"
        }
    }

    /// Returns the meaning of a topic name; nil if the name is unknown.
    package func topic(_ name: String) -> SharingTopic? {
        guard name.utf8.starts(with: (prefix + "/").utf8) else { return nil }
        let levels = name.unicodeScalars.dropFirst(prefix.unicodeScalars.count + 1).split(
            separator: "/", omittingEmptySubsequences: false
        ).map { String(Substring($0)) }
        func device(_ index: Int) -> DeviceID? { DeviceID(rawValue: levels[index]) }
        switch (levels.count, levels.first, levels.last) {
        case (1, "limits", _): return .limits
        case (3, "devices", "presence"): return device(1).map { .presence($0) }
        case (3, "devices", "location"): return device(1).map { .location($0) }
        case (5, "rooms", let last) where levels[2] == "devices" && SharingNameError(of: levels[1]) == nil:
            guard let device = device(3) else { return nil }
            if last == "position" { return .position(room: levels[1], device) }
            return last == "message" ? .message(room: levels[1], device) : nil
        default: return nil
        }
    }
}
