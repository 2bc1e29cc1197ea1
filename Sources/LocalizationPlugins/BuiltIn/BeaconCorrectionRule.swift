import BeaconScanning
import IndoorVocabulary

/// When a beacon at a known place sets the position: at a reading from close by, and then not again for a while.
///
/// A reading is what is heard of a beacon in a second, however many advertisements that are. One from less than half a
/// metre sets the position if the cooldown is over, and begins another one. Each reading from half a metre to three counts the
/// cooldown down by one: who stays at a beacon is set once, who goes and comes back is set again. Readings from farther
/// away, or without a distance, count nothing.
///
/// Source: the default rule of the NaviBeacon plugin for iOS (NavisensCore). There, one counter serves all beacons, so
/// that a second beacon is not heard while the first one cools down; here each has its own unless the settings say so.
public struct BeaconCorrectionRule: Hashable, Sendable {
    /// The rule's numbers.
    public struct Settings: Hashable, Sendable {
        /// So many readings from near must follow before a beacon sets the position again, from 0 on.
        public var cooldown = 5
        /// Whether one counter serves all beacons.
        public var sharesCooldown = false
        /// Advertisements of a beacon that follow its last reading sooner than this are part of it, from 0 s on.
        public var readingInterval = Duration.seconds(1)

        /// Creates the settings with their defaults.
        public init() {}
    }

    private let settings: Settings
    /// Near readings that are still needed; the key is nil if one counter serves all.
    private var cooldowns: [String?: Int] = [:]
    private var lastReadings: [String: Instant] = [:]

    /// Creates a rule that lets every beacon set the position at its first reading from close by.
    public init(settings: Settings = Settings()) { self.settings = settings }

    /// How many near readings are still needed before the beacon of that name may set the position.
    public func cooldown(of id: String) -> Int { cooldowns[key(id)] ?? 0 }

    /// Takes in that a beacon was heard.
    ///
    /// - Parameters:
    ///   - id: the beacon's name, as of a `CorrectionBeacon`: the memory of the rule grows with their number.
    ///   - proximity: how far away it is; nil if that is unknown.
    ///   - instant: when it was heard.
    /// - Returns: whether the position is to be set to the beacon's place.
    public mutating func handle(_ id: String, _ proximity: Proximity?, at instant: Instant) -> Bool {
        // An instant before the last one is of a new session.
        if let last = lastReadings[id], instant >= last, last.duration(to: instant) < settings.readingInterval {
            return false
        }
        lastReadings[id] = instant
        let left = cooldown(of: id)
        switch proximity {
        case .immediate where left == 0:
            cooldowns[key(id)] = max(0, settings.cooldown)
            return true
        case .near where left > 0:
            cooldowns[key(id)] = left - 1
        case .immediate, .near, .far, nil:
            break
        }
        return false
    }

    private func key(_ id: String) -> String? { settings.sharesCooldown ? nil : id }
}
