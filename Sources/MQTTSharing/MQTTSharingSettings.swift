import IndoorVocabulary

/// How positions are shared over a broker.
public struct MQTTSharingSettings: Hashable, Sendable {
    /// What all topics begin with; devices see each other under the same prefix only.
    public var prefix = "indoorloc/v1"
    /// The least time between two positions that are told, up to a day; the newest wins. Zero tells each one at once.
    public var interval = Duration.seconds(1)
    /// How many devices a room takes; nil for any number. Where the broker has limits, too, the lower one counts.
    public var roomCapacity: Int?
    /// How many devices the server takes; nil for any number.
    public var serverCapacity: Int?
    /// How long the connection may be silent before it is tried; after one and a half times that, the broker takes the device
    /// for gone. In whole seconds, from 5 s to 65 535 s.
    public var keepAlive = Duration.seconds(15)
    /// How long an answer of the broker is waited for, from 1 ms to an hour.
    public var patience = Duration.seconds(10)
    /// The longest pause before the first attempt to connect again; later ones are twice as long each, up to a minute. From
    /// 1 ms on.
    public var firstPause = Duration.seconds(1)
    /// What Home Assistant's discovery topics begin with, usually `homeassistant`; nil tells it nothing.
    public var homeAssistantPrefix: String?

    /// Creates settings with the defaults.
    public init() {}

    /// The least time between two refreshes of how many devices are where.
    public static let refreshInterval = Duration.milliseconds(500)
    /// The longest text that can be sent, in bytes of UTF-8.
    public static let longestText = 4096
    /// The longest tag, in bytes of UTF-8.
    public static let longestTag = 256

    var keepAliveSeconds: Int32 { Int32(max(5, min(65_535, keepAlive.seconds.rounded(.up)))) }
}
