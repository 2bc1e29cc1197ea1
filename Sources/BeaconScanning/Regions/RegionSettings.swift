import IndoorVocabulary

/// When a region counts as entered and left, and how often its beacons are ranged.
public struct RegionSettings: Hashable, Sendable {
    /// A region is left when none of its beacons was heard for this long, while the radio heard; above 0 s, at most a
    /// day.
    ///
    /// Only time in which the radio scans counts, so that the rest between two passes is no silence. Of a beacon that
    /// advertises once a second, and is heard half of the times, nothing is heard for 10 s some forty times a day, but
    /// for 30 s, as phones wait, once in seventy years.
    public var exitTimeout = Duration.seconds(30)
    /// A region is entered at this smoothed RSSI in dBm, or above; in [-127, 0].
    public var enterRSSI = -127.0
    /// A region is not left as long as a beacon is heard at this smoothed RSSI in dBm, or above; in [-127, `enterRSSI`].
    ///
    /// Some 6 dB below `enterRSSI`, a device that stays at the border does not go in and out.
    public var exitRSSI = -127.0
    /// Time between two rangings of a region's beacons, from 100 ms to a day.
    public var rangingInterval = Duration.seconds(1)

    /// Creates the settings with their defaults.
    public init() {}

    /// What is out of range; empty if all is well.
    public var problems: [String] { Self.list.problems(in: self, prefix: "regions.") }
}

extension RegionSettings {
    /// The settings of regions, each once.
    package static let list: [Setting<RegionSettings>] = [
        .duration(
            "exitTimeout", \.exitTimeout, above: .zero,
            "A region is left when none of its beacons was heard for this long, while the radio heard."),
        .number(
            "enterRSSI", \.enterRSSI, in: -127...0, unit: "dBm", "A region is entered at this smoothed RSSI, or above."),
        .number(
            "exitRSSI", \.exitRSSI, in: -127...0, unit: "dBm",
            "A region is not left as long as a beacon is heard at this smoothed RSSI, or above; at most `enterRSSI`.",
            beside: { -127...max(-127, $0.enterRSSI) }),
        .duration(
            "rangingInterval", \.rangingInterval, from: .milliseconds(100), better: .smaller,
            "Time between two rangings of a region's beacons."),
    ]
}
