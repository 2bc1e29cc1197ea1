import IndoorVocabulary
import LocalizationSession

/// The settings of position sharing over a broker.
public struct MQTTSharingSettings: Hashable, Sendable {
    /// The prefix of all topics. Only devices with the same prefix see each other.
    public var prefix = "indoorloc/v1"
    /// The shortest time between two published positions, up to a day. The newest position replaces one that waits.
    /// Zero publishes each position immediately.
    public var interval = Duration.seconds(1)
    /// The capacity of a room in devices; nil for no limit. If the broker also sets a limit, the lower one applies.
    public var roomCapacity: Int?
    /// The capacity of the server in devices; nil for no limit.
    public var serverCapacity: Int?
    /// The silence after which the client pings the broker. After one and a half times this duration, the broker
    /// considers the device gone. In whole seconds, from 5 s to 65 535 s.
    public var keepAlive = Duration.seconds(15)
    /// The time limit for an answer of the broker, from 1 ms to an hour.
    public var patience = Duration.seconds(10)
    /// The longest pause before the first attempt to reconnect, at least 1 ms. It doubles for each further attempt, up
    /// to a minute.
    public var firstPause = Duration.seconds(1)
    /// The prefix of Home Assistant's discovery topics, usually `homeassistant`; nil publishes nothing for Home
    /// Assistant.
    public var homeAssistantPrefix: String?

    /// Whether the device obeys the limits that the broker retains under `limits`. Any client that may write this
    /// topic can keep devices out of rooms.
    public var obeysBrokerLimits = true
    /// The key with which the device signs its presence, positions and texts; nil for no signatures.
    public var signingKey: SharingSigningKey?
    /// The devices whose signatures the device verifies; nil verifies none.
    public var trust: SharingTrust?

    /// Creates the default settings.
    public init() {}

    /// The shortest time between two refreshes of the occupancy.
    package static let refreshInterval = Duration.milliseconds(500)
    /// The longest text that can be sent, in bytes of UTF-8.
    package static let longestText = 4096
    /// The longest tag, in bytes of UTF-8.
    package static let longestTag = 256

    var keepAliveSeconds: Int32 { Int32(max(5, min(65_535, keepAlive.seconds.rounded(.up)))) }
}

extension MQTTSharingSettings {
    /// Checks that all settings are in range.
    ///
    /// - Throws: `MQTTSharingError.badPrefix` or `badSetting`.
    package func check() throws(MQTTSharingError) {
        for prefix in [prefix] + (homeAssistantPrefix.map { [$0] } ?? []) {
            let levels = prefix.split(separator: "/", omittingEmptySubsequences: false)
            guard levels.allSatisfy({ SharingNameError(of: String($0)) == nil }) else { throw .badPrefix(prefix) }
        }
        try Self.check("interval", interval, 0...86_400)
        try Self.check("keepAlive", keepAlive, 5...65_535)
        try Self.check("patience", patience, 0.001...3600)
        try Self.check("firstPause", firstPause, 0.001...60)
        for (name, capacity) in [("roomCapacity", roomCapacity), ("serverCapacity", serverCapacity)] {
            guard let capacity, capacity < 0 else { continue }
            throw .badSetting(name: name, value: "\(capacity)", range: "0 or more devices")
        }
    }

    private static func check(
        _ name: String, _ value: Duration, _ range: ClosedRange<Double>
    ) throws(MQTTSharingError) {
        guard !range.contains(value.seconds) else { return }
        throw .badSetting(
            name: name, value: "\(value.seconds) s", range: "\(range.lowerBound) s to \(range.upperBound) s")
    }
}
