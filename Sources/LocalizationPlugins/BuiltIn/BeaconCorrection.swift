import BeaconScanning
import IndoorPositioning
import IndoorVocabulary

/// A plugin that puts the device to the place of a beacon as soon as that is heard from close by.
///
///     let scanner = BeaconScanner(source: radio, settings: ScannerSettings(dutyCycle: .continuous))
///     let door = CorrectionBeacon(id: "door", region: BeaconRegion(uuid: uuid), placement: PluginPlacement(mapID: 1, place: .point(point)))
///     await host.add(BeaconCorrection(), arguments: .init(scanner: scanner, beacons: [door]))
///
/// When that happens, `BeaconCorrectionRule` says, or a rule of the program's own. The device's radio is to be a
/// `SharedScanSource`, of which the localizer and the scanner are readers. After each correction, the plugin broadcasts it
/// with the tag `BeaconCorrection.tag`.
public actor BeaconCorrection: LocalizationPlugin {
    /// What the plugin works with.
    public struct Arguments: Sendable {
        /// Hears the beacons; the plugin starts and stops it.
        public var scanner: BeaconScanner
        /// The beacons at known places.
        public var beacons: [CorrectionBeacon]
        /// The rule's numbers.
        public var settings: BeaconCorrectionRule.Settings
        /// Decides in place of the rule whether what was heard sets the position; nil leaves it to the rule.
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

    /// A correction that was made.
    public struct Correction: Hashable, Sendable {
        /// The beacon that made it.
        public var beacon: CorrectionBeacon
        /// When the beacon was heard.
        public var instant: Instant
        /// Where the device faces by now, in degrees clockwise from the plan's top: the beacon's heading, or the one that
        /// was known before if that has none; nil if nobody has told one yet.
        public var heading: Double?
        /// How far the session believed the place; nil if the beacon has a heading only.
        public var outcome: FixOutcome?
    }

    /// The tag of the plugin's broadcasts, whose payload is a `Correction`.
    public static let tag = "IndoorLocalization.BeaconCorrection"

    /// The beacons at known places, by their names; of several that a beacon belongs to, the first name in order counts.
    public private(set) var beacons: [String: CorrectionBeacon] = [:]
    /// Where the device faces, as the last beacon with a heading told; nil if none has.
    public private(set) var heading: Double?

    private var rule = BeaconCorrectionRule()
    private var decide: (@Sendable (BeaconRecord, CorrectionBeacon) -> Bool)?
    private var scanner: BeaconScanner?
    private weak var host: PluginHost?
    private var listening: Task<Void, Never>?

    /// Creates the plugin, to be added to a host.
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

    /// Adds a beacon, in place of one of the same name.
    public func add(_ beacon: CorrectionBeacon) { beacons[beacon.id] = beacon }

    /// Forgets the beacon of that name; returns whether there was one.
    @discardableResult public func remove(_ id: String) -> Bool { beacons.removeValue(forKey: id) != nil }

    /// Ceases to listen until `resumeScanning()`; the scanner is stopped.
    public func pauseScanning() async { await scanner?.stop() }

    /// Listens again after a pause.
    public func resumeScanning() async { await scanner?.start() }

    private func handle(_ record: BeaconRecord) async {
        guard !Task.isCancelled, let host, let beacon = beacon(of: record.beacon) else { return }
        let isDue =
            decide.map { $0(record, beacon) } ?? rule.handle(beacon.id, record.proximity, at: record.instant)
        guard isDue else { return }
        do {
            let outcome = try await host.localizer.place(at: beacon.placement)
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

/// A beacon whose place is known, for `BeaconCorrection`.
public struct CorrectionBeacon: Hashable, Sendable {
    /// The name by which it is added and removed.
    public var id: String
    /// Which transmitter: a single one, or any of a UUID where there is but one.
    public var region: BeaconRegion
    /// Where it is, and which way somebody faces who stands at it.
    public var placement: PluginPlacement

    /// Creates a beacon.
    public init(id: String, region: BeaconRegion, placement: PluginPlacement) {
        self.id = id
        self.region = region
        self.placement = placement
    }
}
