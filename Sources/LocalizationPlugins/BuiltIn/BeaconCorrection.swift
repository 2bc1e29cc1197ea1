import BeaconScanning
import IndoorPositioning
import IndoorVocabulary

/// A plugin that sets the position of the device to the place of a beacon when the device is close to the beacon.
///
///     let scanner = BeaconScanner(source: radio, settings: ScannerSettings(dutyCycle: .continuous))
///     let door = CorrectionBeacon(
///         id: "door", region: BeaconRegion(uuid: uuid),
///         placement: PluginPlacement(mapID: 1, place: .point(point)))
///     await host.add(BeaconCorrection(), arguments: .init(scanner: scanner, beacons: [door]))
///
/// `BeaconCorrectionRule`, or a rule of the program, decides when to set the position. The device's radio must be a
/// `SharedScanSource`, which delivers readings to both the localizer and the scanner. The plugin broadcasts each
/// correction with the tag `BeaconCorrection.tag`.
public actor BeaconCorrection: LocalizationPlugin {
    /// The arguments of the plugin.
    public struct Arguments: Sendable {
        /// The scanner that receives the beacons; the plugin starts and stops it.
        package var scanner: BeaconScanner
        /// The beacons at known places.
        package var beacons: [CorrectionBeacon]
        /// The settings of the rule.
        package var settings: BeaconCorrectionRule.Settings
        /// A function that decides, instead of the rule, whether a reception sets the position; nil uses the rule.
        public var decide: (@Sendable (BeaconRecord, CorrectionBeacon) -> Bool)?

        /// Creates the arguments.
        public init(
            scanner: BeaconScanner, beacons: [CorrectionBeacon] = [],
            settings: BeaconCorrectionRule.Settings = BeaconCorrectionRule.Settings(),
            decide: (@Sendable (BeaconRecord, CorrectionBeacon) -> Bool)? = nil
        ) {
            self.scanner = scanner
            self.beacons = beacons
            self.settings = settings
            self.decide = decide
        }
    }

    /// A correction by a beacon.
    public struct Correction: Hashable, Sendable {
        /// The beacon that made it.
        public var beacon: CorrectionBeacon
        /// The time of the beacon's reception.
        public var instant: Instant
        /// The heading of the device, in degrees clockwise from the plan's top: that of the beacon, or the earlier one
        /// if the beacon has none; nil if no heading is known yet.
        public var heading: Double?
        /// The session's response to the place; nil if the beacon has a heading only.
        public var outcome: FixOutcome?
    }

    /// The tag of the plugin's broadcasts, whose payload is a `Correction`.
    package static let tag = "IndoorLocalization.BeaconCorrection"

    /// The beacons at known places, by their names. If several match a transmitter, the first name in order is used.
    package private(set) var beacons: [String: CorrectionBeacon] = [:]
    /// The heading of the last beacon that has one; nil if there was none.
    package private(set) var heading: Double?

    private var rule = BeaconCorrectionRule()
    private var decide: (@Sendable (BeaconRecord, CorrectionBeacon) -> Bool)?
    private var scanner: BeaconScanner?
    private weak var host: PluginHost?
    private var listening: Task<Void, Never>?

    /// Creates the plugin; a host adds it.
    public init() {}

    deinit { listening?.cancel() }

    public func initialize(host: PluginHost, arguments: Arguments) async -> Bool {
        self.host = host
        scanner = arguments.scanner
        rule = BeaconCorrectionRule(settings: arguments.settings)
        decide = arguments.decide
        for beacon in arguments.beacons { beacons[beacon.id] = beacon }
        let records = arguments.scanner.beacons
        listening = Task { [weak self] in
            for await record in records { await self?.handle(record) }
        }
        await arguments.scanner.start()
        return true
    }

    public func stop() async -> Bool {
        listening?.cancel()
        listening = nil
        await scanner?.stop()
        return true
    }

    /// Adds a beacon; replaces one with the same name.
    public func add(_ beacon: CorrectionBeacon) { beacons[beacon.id] = beacon }

    /// Removes the beacon with a name; returns whether there was one.
    @discardableResult public func remove(_ id: String) -> Bool { beacons.removeValue(forKey: id) != nil }

    /// Stops the scanner until `resumeScanning()`.
    public func pauseScanning() async { await scanner?.stop() }

    /// Starts the scanner after a pause.
    public func resumeScanning() async { await scanner?.start() }

    private func handle(_ record: BeaconRecord) async {
        guard !Task.isCancelled, let host, let beacon = beacon(of: record.beacon) else { return }
        let isDue =
            decide.map { $0(record, beacon) } ?? rule.handle(beacon.id, record.proximity, at: record.instant)
        guard isDue else { return }
        do {
            // Wait for the session, which may be behind the scanner: earlier readings would contradict the place.
            let outcome = try await host.localizer.place(at: beacon.placement, after: record.instant)
            guard !Task.isCancelled else { return }
            heading = beacon.placement.heading ?? heading
            let correction = Correction(beacon: beacon, instant: record.instant, heading: heading, outcome: outcome)
            await host.broadcast(Self.tag, correction, from: self)
        } catch {
            await host.report(error, by: self)
        }
    }

    private func beacon(of identity: BeaconIdentity) -> CorrectionBeacon? {
        beacons.values.filter { $0.region.contains(identity) }.min { $0.id < $1.id }
    }
}

/// A beacon at a known place, for `BeaconCorrection`.
public struct CorrectionBeacon: Hashable, Sendable {
    /// The name of the beacon, for adding and removing it.
    public var id: String
    /// The transmitter: a single beacon, or any beacon of a UUID if there is only one.
    public var region: BeaconRegion
    /// The place of the beacon, and the heading of a device in front of it.
    public var placement: PluginPlacement

    /// Creates a beacon.
    public init(id: String, region: BeaconRegion, placement: PluginPlacement) {
        self.id = id
        self.region = region
        self.placement = placement
    }
}

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
        package var readingInterval = Duration.seconds(1)

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
