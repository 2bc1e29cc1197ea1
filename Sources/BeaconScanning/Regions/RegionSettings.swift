import IndoorVocabulary

/// The conditions for entering and leaving a region, and the rate of ranging its beacons.
public struct RegionSettings: Hashable, Sendable {
    /// The time of listening without any of a region's beacons after which the device leaves the region; above 0 s, at
    /// most a day.
    ///
    /// The time between two passes is not included. If a beacon advertises once per second and half of its
    /// advertisements are received, a silence of 10 s occurs about forty times a day, but a silence of 30 s, the
    /// timeout of phones, once in seventy years.
    public var exitTimeout = Duration.seconds(30)
    /// The minimum smoothed RSSI in dBm at which the device enters a region; in [-127, 0].
    public var enterRSSI = -127.0
    /// The minimum smoothed RSSI in dBm of a beacon while the device stays in a region; in [-127, `enterRSSI`].
    ///
    /// With a value about 6 dB below `enterRSSI`, a device at the border doesn't enter and leave repeatedly.
    public var exitRSSI = -127.0
    /// The time between two rangings of the beacons of a region, from 100 ms to a day.
    public var rangingInterval = Duration.seconds(1)

    /// Creates the settings with their defaults.
    public init() {}

    /// The values that are out of range; empty if all are valid.
    public var problems: [String] { Self.list.problems(in: self, prefix: "regions.") }
}

extension RegionSettings {
    /// The list of the settings of regions.
    package static let list: [Setting<RegionSettings>] = [
        .duration(
            "exitTimeout", \.exitTimeout, above: .zero,
            "The device leaves a region after this time of listening without any of its beacons."),
        .number(
            "enterRSSI", \.enterRSSI, in: -127...0, unit: "dBm",
            "The device enters a region at this smoothed RSSI or above."),
        .number(
            "exitRSSI", \.exitRSSI, in: -127...0, unit: "dBm",
            "The device stays in a region while a beacon has this smoothed RSSI or above; at most `enterRSSI`.",
            beside: { -127...max(-127, $0.enterRSSI) }),
        .duration(
            "rangingInterval", \.rangingInterval, from: .milliseconds(100), better: .smaller,
            "The time between two rangings of the beacons of a region."),
    ]
}

/// The reason why a region cannot be tracked.
public enum RegionError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text is not a UUID.
    case malformedUUID(String)

    public var description: String {
        switch self {
        case .malformedUUID(let text):
            "\"\(text)\" is not a UUID: give 32 hexadecimal digits, with dashes after digits 8, 12, 16 and 20 or with none."
        }
    }
}
