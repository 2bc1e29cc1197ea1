import BeaconScanning
import IndoorVocabulary

/// A rule that decides when a beacon at a known place sets the position: at a reading from close by, followed by a
/// cooldown.
///
/// A reading contains all advertisements of a beacon within a second. A reading from less than half a metre sets the
/// position if the cooldown is over, and begins another one. Each reading from half a metre to three decreases the
/// cooldown by one. A device that stays at a beacon is therefore set once, and a device that leaves and returns is set
/// again. Readings from farther away, or without a distance, have no effect.
///
/// Source: the default rule of the NaviBeacon plugin for iOS (NavisensCore). There, all beacons share one counter, so
/// that a second beacon has no effect during the cooldown of the first one. Here, each beacon has its own counter
/// unless the settings say otherwise.
public struct BeaconCorrectionRule: Hashable, Sendable {
    /// The settings of a rule.
    public struct Settings: Hashable, Sendable {
        /// The number of near readings before a beacon sets the position again, from 0 on.
        public var cooldown = 5
        /// Whether all beacons share one counter.
        public var sharesCooldown = false
        /// The shortest time between two readings of a beacon, from 0 s on; earlier advertisements belong to the last
        /// reading.
        public var readingInterval = Duration.seconds(1)

        /// Creates the settings with their defaults.
        public init() {}
    }

    private let settings: Settings
    /// The number of near readings still required; the key is nil if all beacons share one counter.
    private var cooldowns: [String?: Int] = [:]
    private var lastReadings: [String: Instant] = [:]

    /// Creates a rule without cooldowns: each beacon sets the position at its first reading from close by.
    package init(settings: Settings = Settings()) { self.settings = settings }

    /// Returns the number of near readings still required before the beacon with a name may set the position.
    package func cooldown(of id: String) -> Int { cooldowns[key(id)] ?? 0 }

    /// Handles the reception of a beacon.
    ///
    /// - Parameters:
    ///   - id: the beacon's name, such as that of a `CorrectionBeacon`; the rule stores one entry for each name.
    ///   - proximity: the proximity of the beacon; nil if it is unknown.
    ///   - instant: the time of the reception.
    /// - Returns: whether the beacon sets the position to its place.
    package mutating func handle(_ id: String, _ proximity: Proximity?, at instant: Instant) -> Bool {
        // An instant before the last one belongs to a new session.
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
