import IndoorVocabulary

/// The state machine of a scan through the Bluetooth service.
///
/// After each event the machine performs the next missing step: the bus, the service's objects, the adapter, its power,
/// the monitor, the discovery filter, the discovery. A failure clears the corresponding state, and the same steps
/// restore it. Only one call is pending at a time.
package struct BlueZScanMachine: Hashable, Sendable {
    /// An event of a scan.
    package enum Event: Hashable, Sendable {
        /// The connection to the message bus is open.
        case connected
        /// The message bus is not reachable, or denies the connection.
        case connectionFailed(reason: String, isDenied: Bool)
        /// The message bus closed the connection.
        case disconnected
        /// A message arrived.
        case received(BusMessage)
        /// The full stream buffer discarded this number of readings.
        case overrun(readings: Int)
        /// The instant `dueTime` has passed.
        case tick
        /// The client ended the scan.
        case stop
    }

    /// An action for the shell to perform.
    package enum Directive: Hashable, Sendable {
        /// Connect to the message bus, and subscribe to its signals.
        case connect
        /// Send a message.
        case send(BusMessage)
        /// Deliver a reading.
        case yield(SensorReading)
        /// End the stream with an error. Only `close` follows.
        case fail(BluetoothError)
        /// Close the connection, if there is one. No directive follows.
        case close
    }

    /// A pending call.
    package struct Pending: Hashable, Sendable {
        package var call: BlueZCall
        package var serial: UInt32
        package var deadline: Instant
    }

    /// The state of a scan: what it waits for.
    package enum State: Hashable, Sendable {
        /// Not connected to the message bus. The machine connects at the instant; nil while an attempt is pending.
        case apart(until: Instant?)
        /// Waiting for an answer.
        case asking(Pending)
        /// Waiting for a message. At the instant, the machine tries again. `memory` stores whether the adapter scans.
        case resting(until: Instant?)
        /// Waiting for an answer to one of the calls that end the scan, or to one that must be undone at the end.
        case stopping(Pending, then: [BlueZCall])
        /// Ended.
        case ended
    }

    package private(set) var state = State.apart(until: nil)
    package private(set) var memory: BlueZScanMemory

    /// Creates the machine of a scan that hasn't started. The shell performs `connect` first.
    package init(_ settings: BlueZScanSettings) { memory = BlueZScanMemory(settings: settings) }

    /// Handles an event and returns the directives to perform, in order.
    package mutating func handle(_ event: Event, at now: Instant) -> [Directive] {
        var transition = BlueZScanTransition(memory: memory, now: now)
        state = transition.state(after: state, event)
        memory = transition.memory
        return transition.directives
    }

    /// The instant at which the machine needs a tick; nil if it needs none.
    package var dueTime: Instant? {
        switch state {
        case .apart(let instant), .resting(let instant): instant
        case .asking(let pending), .stopping(let pending, then: _): pending.deadline
        case .ended: nil
        }
    }
}

/// The memory of a scan through the Bluetooth service.
package struct BlueZScanMemory: Hashable, Sendable {
    /// The status of our advertisement monitor.
    package enum Monitor: Hashable, Sendable {
        case untried
        case registered
        /// The service refused the monitor, or released it.
        case refused
    }

    package var settings: BlueZScanSettings
    /// Whether the scan has been connected to the message bus.
    package var wasConnected = false
    /// The service's unique name on the bus; nil while its objects are unknown.
    package var owner: String?
    package var objects = BlueZObjects()
    /// The path of the adapter that scans.
    package var adapterPath: String?
    package var monitor = Monitor.untried
    package var isFiltered = false
    /// Whether our discovery runs.
    package var isDiscovering = false
    /// Whether the service has refused discovery since it last ran, so that the service's record of it may be stale.
    package var discoveryIsStale = false
    /// A detector of whether the controller reports a device more than once in a scan.
    package var duplicates = DuplicateFilterDetector()
    /// The instant of the last report, or of the start of a discovery.
    package var heardAt = Instant.zero
    /// The instant at which the machine decides whether to restart discovery; nil without a discovery.
    package var renewalDue: Instant?
    /// The adapter that this scan powered on, and powers off at the end.
    package var poweredPath: String?
    /// The instant until which a service that has just listed its objects may still add adapters.
    package var adaptersDue: Instant?
    /// Whether this adapter has been powered on since it was found. The scan leaves an adapter off that is switched off
    /// later.
    package var hasSeenPower = false
    /// The instant at which the scan found the adapter powered on by somebody else; nil if it powered it on itself.
    package var foundPoweredAt: Instant?
    /// The number of consecutive failures.
    package var failures = 0
    package var lastSerial = Self.serialsStart
    /// The last reported event. The machine doesn't report an event that differs only in its instant.
    package var lastEvent: RadioEvent?

    /// The first serial number, above the few that libdbus uses for its own messages on a connection.
    package static let serialsStart: UInt32 = 1 << 16

    /// The adapter that scans, as the service describes it.
    package var adapter: BlueZObjects.Adapter? { adapterPath.flatMap { objects.adapters[$0] } }

    /// The properties of the chosen adapter that determine the next step.
    package struct Standing: Hashable, Sendable {
        package var path: String?
        package var isPowered = false
        package var isBlocked = false
        package var supportsMonitors = false
    }

    /// The standing of the chosen adapter.
    package var standing: Standing {
        let path = objects.path(of: settings.adapter, preferring: adapterPath)
        guard let path, let adapter = objects.adapters[path] else { return Standing() }
        return Standing(
            path: path, isPowered: adapter.adapter.isPowered, isBlocked: adapter.isBlocked,
            supportsMonitors: adapter.supportsMonitors)
    }

    /// Clears everything that depends on the service.
    package mutating func forgetService() {
        owner = nil
        objects = BlueZObjects()
        poweredPath = nil
        forgetAdapter()
    }

    /// Clears everything that depends on the adapter.
    package mutating func forgetAdapter() {
        adapterPath = nil
        monitor = .untried
        isFiltered = false
        isDiscovering = false
        duplicates = DuplicateFilterDetector()
        renewalDue = nil
        discoveryIsStale = false
        hasSeenPower = false
        foundPoweredAt = nil
    }
}

/// The settings of a scan through the Bluetooth service.
package struct BlueZScanSettings: Hashable, Sendable {
    /// The choice of the adapter that scans.
    package var adapter: AdapterChoice
    /// The readings to deliver.
    package var content: ScanContent
    /// Whether the scan asks the service to report unchanged data too.
    package var wantsDuplicates = true
    /// Whether the scan uses discovery, which scans actively and with pauses.
    package var usesDiscovery = true
    /// Whether the scan registers an advertisement monitor, which scans passively, if the service supports it.
    package var usesMonitor = true

    /// Whether the scan restarts discovery every second if the controller filters duplicates.
    package var renewsDiscovery = true
    /// A text that the first event of a stream adds to its own detail.
    package var initialDetail: String?
    /// How many times as long as usual the scan waits for an answer.
    package var patience = 1

    /// The time limit for listing the objects, which may start the service, and for powering an adapter on.
    package static let longTimeout = Duration.seconds(30)
    /// The time limit for other answers. If two programs start discovery at the same time, the service answers only
    /// one.
    package static let timeout = Duration.seconds(5)
    /// The time limit for an answer at the end of the scan.
    package static let timeoutAtEnd = Duration.seconds(2)
    /// The same for powering an adapter on, which loads the firmware of some adapters. It is powered off after that.
    package static let powerTimeoutAtEnd = Duration.seconds(10)
    /// How long after it was found powered on an adapter may lose power because an earlier scan ends, which had powered
    /// it on. A person doesn't switch it off so soon.
    package static let handoverTime = Duration.seconds(2)
    /// How long after listing its objects the service may add an adapter before the scan reports it as unplugged.
    package static let adapterTimeout = Duration.seconds(2)
    /// How long a discovery may deliver no report before the scan restarts it, in case the controller or the service
    /// hangs.
    package static let longestSilence = Duration.seconds(60)
    /// The pause after the first failure. It doubles after each further failure.
    package static let firstPause = Duration.seconds(1)
    /// The longest pause.
    package static let longestPause = Duration.seconds(30)

    /// Creates settings with every option on, which gives the most reports.
    package init(adapter: AdapterChoice, content: ScanContent) {
        self.adapter = adapter
        self.content = content
    }

    /// Returns the pause after a number of consecutive failures.
    package static func pause(failures: Int) -> Duration {
        min(firstPause * (1 << min(max(failures - 1, 0), 10)), longestPause)
    }
}

extension BlueZCall {
    /// The time limit for the answer while the scan runs.
    var timeout: Duration {
        switch self {
        case .listObjects, .setPower: BlueZScanSettings.longTimeout
        case .registerMonitor, .unregisterMonitor, .setFilter, .startDiscovery, .stopDiscovery:
            BlueZScanSettings.timeout
        }
    }

    /// The time limit for the answer if the scan ends meanwhile.
    var timeoutAtEnd: Duration {
        if case .setPower = self { BlueZScanSettings.powerTimeoutAtEnd } else { BlueZScanSettings.timeoutAtEnd }
    }

    /// The call that undoes this one; nil if there is nothing to undo.
    var opposite: BlueZCall? {
        switch self {
        case .setPower(let adapter, true): .setPower(adapter: adapter, false)
        case .registerMonitor(let adapter): .unregisterMonitor(adapter: adapter)
        case .startDiscovery(let adapter): .stopDiscovery(adapter: adapter)
        case .listObjects, .setPower, .unregisterMonitor, .setFilter, .stopDiscovery: nil
        }
    }
}

/// A detector of whether a controller reports a device repeatedly, or only once in each scan.
///
/// During discovery by bluetoothd, the kernel enables the controller's duplicate filter. A controller that filters
/// reports a device once, and again only in the next scan, which the kernel starts every 10.24 s. In this case,
/// restarting discovery more often gives more reports. With an advertisement monitor, the kernel asks for duplicates,
/// so the detector isn't needed.
package struct DuplicateFilterDetector: Hashable, Sendable {
    /// The behavior of the controller.
    package enum Verdict: Hashable, Sendable {
        case undecided
        /// The controller reports a device repeatedly within a scan.
        case repeats
        /// The controller reports a device once in a scan.
        case filters
    }

    /// The duration of an observation. Most beacons advertise ten times in it, or more.
    package static let observation = Duration.seconds(3)
    /// The duration of a discovery if duplicates are filtered: one report a second, with a loss of about one in twenty.
    package static let renewal = Duration.seconds(1)
    /// The number of reports of a device within a scan that can't be an advertisement with a late scan response.
    private static let enough = 3

    package private(set) var verdict = Verdict.undecided
    private var counts: [String: Int] = [:]

    /// Creates a detector without a verdict.
    package init() {}

    /// Starts an observation with a discovery.
    package mutating func begin() { counts = [:] }

    /// Records a report of a device.
    package mutating func record(_ path: String) {
        guard verdict == .undecided else { return }
        counts[path, default: 0] += 1
        if counts[path, default: 0] >= Self.enough {
            verdict = .repeats
            counts = [:]
        }
    }

    /// Ends the observation. If devices were reported but none repeatedly, the controller filters; without any report,
    /// the verdict stays open.
    package mutating func end() {
        if verdict == .undecided, !counts.isEmpty { verdict = .filters }
        counts = [:]
    }

    /// The duration of a discovery; nil if it has no limit.
    package var term: Duration? {
        switch verdict {
        case .undecided: Self.observation
        case .repeats: nil
        case .filters: Self.renewal
        }
    }
}
