import IndoorVocabulary

/// The rules of a scan through the Bluetooth service: what to ask it, when to try again, what was heard.
///
/// After each event it looks at what it knows and takes the next step that is missing: the bus, the service's objects,
/// the adapter, its power, the monitor, the discovery filter, the discovery. Whatever breaks takes that knowledge away,
/// and the same steps bring it back. One call is under way at a time.
package struct BlueZScanMachine: Hashable, Sendable {
    /// What happens to a scan.
    package enum Event: Hashable, Sendable {
        /// The message bus is reached.
        case connected
        /// The message bus cannot be reached, or denies it.
        case connectionFailed(reason: String, isDenied: Bool)
        /// The message bus is gone.
        case disconnected
        /// A message came.
        case received(BusMessage)
        /// So many readings were lost, as nobody fetched them in time.
        case overrun(readings: Int)
        /// The instant `dueTime` has come.
        case tick
        /// The scan is to end.
        case stop
    }

    /// What is to be done.
    package enum Directive: Hashable, Sendable {
        /// To connect to the message bus, and to listen to its signals.
        case connect
        /// To send a message.
        case send(BusMessage)
        /// To deliver what was sensed.
        case yield(SensorReading)
        /// To end the stream with an error. Nothing follows but `close`.
        case fail(BluetoothError)
        /// To close the connection, if there is one. Nothing follows.
        case close
    }

    /// A call under way.
    package struct Pending: Hashable, Sendable {
        package var call: BlueZCall
        package var serial: UInt32
        package var deadline: Instant
    }

    /// What the scan waits for.
    package enum State: Hashable, Sendable {
        /// The message bus: to be reached then, or under way if there is no instant.
        case apart(until: Instant?)
        /// An answer.
        case asking(Pending)
        /// News; at the latest at the instant something is tried again. Whether it hears stands in the memory.
        case resting(until: Instant?)
        /// An answer to one of the last calls.
        case stopping(Pending, then: [BlueZCall])
        /// Nothing any more.
        case ended
    }

    package private(set) var state = State.apart(until: nil)
    package private(set) var memory: BlueZScanMemory

    /// Creates a scan that has not begun; the shell carries out `connect` first.
    package init(_ settings: BlueZScanSettings) { memory = BlueZScanMemory(settings: settings) }

    /// Takes in what happened; returns what is to be done, in order.
    package mutating func handle(_ event: Event, at now: Instant) -> [Directive] {
        var turn = BlueZScanTransition(memory: memory, now: now)
        state = turn.state(after: state, event)
        memory = turn.memory
        return turn.directives
    }

    /// When a tick is due; nil if none is.
    package var dueTime: Instant? {
        switch state {
        case .apart(let instant), .resting(let instant): instant
        case .asking(let pending), .stopping(let pending, then: _): pending.deadline
        case .ended: nil
        }
    }
}

/// What a scan through the Bluetooth service knows.
package struct BlueZScanMemory: Hashable, Sendable {
    /// What became of our advertisement monitor.
    package enum Monitor: Hashable, Sendable {
        case untried
        case registered
        /// The service does not take it, or has released it.
        case refused
    }

    package var settings: BlueZScanSettings
    /// Whether the message bus was reached once.
    package var wasConnected = false
    /// The service's own name on the bus; nil while its objects are unknown.
    package var owner: String?
    package var objects = BlueZObjects()
    /// The adapter that scans.
    package var adapterPath: String?
    package var monitor = Monitor.untried
    package var isFiltered = false
    /// Whether a discovery of ours runs.
    package var isDiscovering = false
    /// Whether discovery was refused since it ran last: what the service knows of it may be stale.
    package var discoveryIsStale = false
    /// Whether the controller reports a device more than once in a scan.
    package var duplicates = DuplicateFilterDetector()
    /// When anything was heard last, or a discovery began.
    package var heardAt = Instant.zero
    /// When is looked at whether a discovery should begin anew; nil without one.
    package var renewalDue: Instant?
    /// The adapter that this scan gave power, which it takes back in the end.
    package var poweredPath: String?
    /// Until when a service that has just shown its objects may still add its adapters.
    package var adaptersDue: Instant?
    /// Whether this adapter had power since it was met: what is switched off later is left off.
    package var hasSeenPower = false
    /// Failures in a row.
    package var failures = 0
    package var lastSerial = Self.serialsStart
    /// The latest event; its instant aside, none is told twice in a row.
    package var told: RadioEvent?

    /// Above the numbers that libdbus gives to its own messages on a connection, of which there are a few.
    package static let serialsStart: UInt32 = 1 << 16

    /// The adapter that scans, as the service shows it.
    package var adapter: BlueZObjects.Adapter? { adapterPath.flatMap { objects.adapters[$0] } }

    /// What of the adapters decides on the next step.
    package struct Standing: Hashable, Sendable {
        package var path: String?
        package var isPowered = false
        package var isBlocked = false
        package var takesMonitors = false
    }

    /// How the adapter that is meant stands.
    package var standing: Standing {
        let path = objects.path(of: settings.adapter, preferring: adapterPath)
        guard let path, let adapter = objects.adapters[path] else { return Standing() }
        return Standing(
            path: path, isPowered: adapter.adapter.isPowered, isBlocked: adapter.isBlocked,
            takesMonitors: adapter.takesMonitors)
    }

    /// Forgets what the service knew of us, and what it showed.
    package mutating func forgetService() {
        owner = nil
        objects = BlueZObjects()
        poweredPath = nil
        forgetAdapter()
    }

    /// Forgets what the adapter was asked.
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
