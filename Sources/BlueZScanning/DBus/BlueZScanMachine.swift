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
        /// Waiting for an answer to one of the calls that end the scan.
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
    }
}
