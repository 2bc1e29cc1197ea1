import IndoorVocabulary

/// The radio by the better way that is permitted: the raw HCI socket where it may be opened, else the Bluetooth service.
///
/// The raw route hears every report, with the kernel's time of reception; the service merges reports and tells them
/// later. Which way was taken, and why, is in `choice`, and in the detail of the stream's first radio event.
public struct BluetoothScanSource: TimedScanSource {
    /// A way to the controller, and why it is the one.
    public struct Choice: Hashable, Sendable, CustomStringConvertible {
        /// The way.
        public var route: ScanRoute
        /// Why, as a sentence or two.
        public var reason: String

        /// Creates a choice from its parts.
        public init(route: ScanRoute, reason: String) {
            self.route = route
            self.reason = reason
        }

        public var description: String { "\(route.rawValue): \(reason)" }
    }

    /// The way that is taken, and why.
    public let choice: Choice
    private let source: any ScanSource
    private let release: @Sendable () async -> Void

    public var pace: ScanPace { source.pace }

    /// The machine's clock: CLOCK_REALTIME beside CLOCK_BOOTTIME, measured when asked.
    public var wallClock: WallClock? { source.wallClock }

    /// Chooses a way; nothing stays open before `readings()` is called.
    ///
    /// - Parameters:
    ///   - adapter: which adapter is to scan.
    ///   - route: the way to take, whether permitted or not; nil for the better one that is permitted.
    ///   - content: what is delivered.
    /// - Throws: `BluetoothError.noRoute` if neither way is permitted.
    public init(
        adapter: AdapterChoice = .first, route: ScanRoute? = nil, content: ScanContent = .beacons
    ) throws(BluetoothError) {
        let choice =
            if let route { Choice(route: route, reason: "It was asked for.") } else { try Self.chooseRoute() }
        self.init(choice, adapter: adapter, content: content)
    }

    /// - Parameter address: where the message bus is; nil for the system's.
    package init(
        _ choice: Choice, adapter: AdapterChoice = .first, content: ScanContent = .beacons, address: String? = nil
    ) {
        self.choice = choice
        let remark = "By the route \(choice)"
        switch choice.route {
        case .hci:
            var source = HCIScanSource(adapter: adapter, content: content)
            source.remark = remark
            release = { [source] in await source.released() }
            self.source = source
        case .dbus:
            var settings = BlueZScanSettings(adapter: adapter, content: content)
            settings.remark = remark
            let source = BlueZScanSource(settings, address: address)
            release = { await source.released() }
            self.source = source
        }
    }

    /// The better way that is permitted to this process, and why; asks the kernel, and perhaps the message bus.
    ///
    /// Whether there is an adapter, or whether the service runs, does not matter: both may change at any time, which the
    /// stream tells.
    /// - Throws: `BluetoothError.noRoute` if neither way is permitted.
    public static func chooseRoute() throws(BluetoothError) -> Choice {
        try chooseRoute(hci: HCIScanSource.checkPermission, dbus: BlueZScanSource.checkPermission)
    }

    package static func chooseRoute(
        hci: () throws(BluetoothError) -> Void, dbus: () throws(BluetoothError) -> Void
    ) throws(BluetoothError) -> Choice {
        let obstacle: BluetoothError
        do throws(BluetoothError) {
            try hci()
            return Choice(route: .hci, reason: "The raw route is permitted, and gives every report.")
        } catch {
            obstacle = error
        }
        do throws(BluetoothError) {
            try dbus()
        } catch {
            throw .noRoute(hci: obstacle, dbus: error)
        }
        return Choice(
            route: .dbus, reason: "The raw route, which gives every report, cannot be taken. \(obstacle.description)")
    }

    /// Returns as soon as no scan of this source holds the radio any more.
    ///
    /// The end of a stream begins the end of its scan, which takes moments: the adapter is given back as it was found. A
    /// program that is about to exit waits for that.
    public func released() async { await release() }

    /// Begins to scan.
    ///
    /// The stream throws what the streams of `HCIScanSource` and `BlueZScanSource` do.
    public func readings() -> AsyncThrowingStream<SensorReading, any Error> {
        source.readings()
    }

    /// Begins to scan with that timing on the raw route; the Bluetooth service chooses its own.
    public func readings(timing: ScanTiming) -> AsyncThrowingStream<SensorReading, any Error> {
        source.beginReadings(timing: timing)
    }
}
