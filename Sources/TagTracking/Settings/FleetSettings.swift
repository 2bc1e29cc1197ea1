import IndoorVocabulary

/// The settings of a fleet.
package struct FleetSettings: Hashable, Sendable {
    /// The tags outside the register that have a session.
    package enum UnknownTags: Hashable, Sendable {
        /// All of them.
        case all
        /// Those whose beacon has one of the UUIDs.
        case beacons(Set<BeaconUUID>)
        /// None of them.
        case none

        /// Returns whether readings of a tag can pass. If only beacons with some UUIDs pass, a reading of an address can
        /// pass too, because the address may belong to such a beacon.
        package func passes(_ tag: TagKey, isRegistered: Bool) -> Bool {
            switch self {
            case .all: return true
            case .none: return isRegistered
            case .beacons(let uuids):
                if case .beacon(let beacon) = tag { return isRegistered || uuids.contains(beacon.uuid) }
                return true
            }
        }
    }

    /// The settings of a class of tags, which determine the memory and the time for each tag.
    package struct TagClass: Hashable, Sendable {
        /// The number of particles of a tag, at least 100.
        package var particleCount: Int
        /// The factor on the edge of the cells of the signal field, at least 1.
        package var cellScale: Double
        /// The time between two positions of a tag.
        package var positionInterval: Duration
        /// The time without a reading after which a tag is away.
        package var awayTimeout: Duration

        /// Creates a class.
        package init(
            particleCount: Int = 1500, cellScale: Double = 1, positionInterval: Duration = .seconds(1),
            awayTimeout: Duration = .seconds(60)
        ) {
            self.particleCount = particleCount
            self.cellScale = cellScale
            self.positionInterval = positionInterval
            self.awayTimeout = awayTimeout
        }

        /// As many particles and as fine a field as in the session of a device.
        package static let standard = TagClass()
        /// Less memory and time for each tag: fewer particles on a coarser field.
        package static let light = TagClass(particleCount: 250, cellScale: 2)
    }

    /// The classes by name; ``defaultClass`` is one of them.
    package var classes: [String: TagClass] = ["standard": .standard, "light": .light]
    /// The class of tags without one.
    package var defaultClass = "standard"
    /// The rule for tags outside the register.
    package var unknownTags = UnknownTags.all
    /// Whether the level of the receivers' powers is known, so that the power of a tag says something about its RSSI; nil if it
    /// is known when a receiver has a power. Powers that were learned without ground truth only differ from each other: their
    /// level is that of the packet that they were learned from.
    package var knowsReceiverPowers: Bool?
    /// The number of moments in which a tag outside of the register must be heard before it has a session: each at least
    /// 1 s and at most 60 s after the one before. With 1, the first reading begins the session.
    package var unknownTagMoments = 1
    /// The recommended number of moments for places where many unknown devices with changing addresses pass by.
    package static let standardMoments = 3
    /// The memory in bytes of all sessions of tags outside of the register, for each machine. Beyond it, the sessions
    /// of the least recently heard tags end, and these tags are away.
    package var unknownTagMemory = 128 << 20
    /// The time during which readings are put in order before the tags' sessions handle them.
    package var reorderWindow = Duration.milliseconds(300)
    /// The maximum number of tags with a state, present or recently away, for each machine. Readings of further tags
    /// are discarded and counted. The tags of the register have precedence over unknown ones.
    package var maximumTagCount = 200_000
    /// The maximum number of readings that wait in order, for each machine. Beyond it, the machine handles the oldest
    /// one before the end of the window.
    package var maximumPendingReadings = 1_000_000

    /// Creates the settings with their defaults.
    package init() {}
}
