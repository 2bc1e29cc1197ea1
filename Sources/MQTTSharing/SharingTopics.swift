import LocalizationSession

/// What a topic is about.
package enum SharingTopic: Hashable, Sendable {
    /// Retained: how many devices may be where, set by whoever runs the broker.
    case limits
    /// Retained: that a device is there, and in which rooms. It is the device's last will to remove it.
    case presence(DeviceID)
    /// Retained: where a device is, for Home Assistant.
    case location(DeviceID)
    /// Where a device is, told to a room.
    case position(room: String, DeviceID)
    /// A text of a device to a room.
    case message(room: String, DeviceID)
}

/// The names of all topics under one prefix.
package struct SharingTopics: Hashable, Sendable {
    package let prefix: String

    package init(prefix: String) { self.prefix = prefix }

    /// The presence of every device.
    package var presenceFilter: String { "\(prefix)/devices/+/presence" }

    /// What is told to a room.
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

    /// What a name is about; nil if it is about nothing that is known here.
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
