import IndoorVocabulary

/// A scan source that uses the best permitted route to the radio: a raw HCI socket, or else the Bluetooth service.
///
/// The raw route receives every report with the kernel's time of reception. The service merges reports and delivers
/// them later. `choice` and the detail of the stream's first radio event name the route and the reason for it.
public struct BluetoothScanSource: TimedScanSource {
    /// A route to the controller, and the reason for it.
    public struct Choice: Hashable, Sendable, CustomStringConvertible {
        /// The route.
        public var route: ScanRoute
        /// The reason, in one or two sentences.
        public var reason: String

        /// Creates a choice from its parts.
        package init(route: ScanRoute, reason: String) {
            self.route = route
            self.reason = reason
        }

        public var description: String { "\(route.rawValue): \(reason)" }
    }

    /// The selected route, and the reason for it.
    public let choice: Choice
    private let source: any ScanSource
    private let release: @Sendable () async -> Void

    public var pace: ScanPace { source.pace }

    /// The system's clock: the offset of CLOCK_REALTIME from CLOCK_BOOTTIME, measured at each access.
    public var wallClock: WallClock? { source.wallClock }

    /// Chooses a route. The source keeps nothing open until `readings()` is called.
    ///
    /// - Parameters:
    ///   - adapter: The adapter that scans.
    ///   - route: The route to use, permitted or not; nil for the best permitted route.
    ///   - content: The readings to deliver.
    /// - Throws: `BluetoothError.noRoute` if neither route is permitted.
    public init(
        adapter: AdapterChoice = .first, route: ScanRoute? = nil, content: ScanContent = .beacons
    ) throws(BluetoothError) {
        let choice =
            if let route { Choice(route: route, reason: "selected by the caller.") } else { try Self.chooseRoute() }
        self.init(choice, adapter: adapter, content: content)
    }

    /// - Parameter address: The address of the message bus; nil for the system bus.
    package init(
        _ choice: Choice, adapter: AdapterChoice = .first, content: ScanContent = .beacons, address: String? = nil
    ) {
        self.choice = choice
        let initialDetail = "Route \(choice)"
        switch choice.route {
        case .hci:
            var source = HCIScanSource(adapter: adapter, content: content)
            source.initialDetail = initialDetail
            release = { [source] in await source.released() }
            self.source = source
        case .dbus:
            var settings = BlueZScanSettings(adapter: adapter, content: content)
            settings.initialDetail = initialDetail
            let source = BlueZScanSource(settings, address: address)
            release = { await source.released() }
            self.source = source
        }
    }

    /// Returns the best route that is permitted to this process, and the reason for it.
    ///
    /// The function asks the kernel and, if the raw route isn't permitted, the message bus. It doesn't check whether an
    /// adapter is present or the service runs: both may change at any time, and the stream reports them.
    /// - Throws: `BluetoothError.noRoute` if neither route is permitted.
    public static func chooseRoute() throws(BluetoothError) -> Choice {
        try chooseRoute(hci: HCIScanSource.checkPermission, dbus: BlueZScanSource.checkPermission)
    }

    package static func chooseRoute(
        hci: () throws(BluetoothError) -> Void, dbus: () throws(BluetoothError) -> Void
    ) throws(BluetoothError) -> Choice {
        let obstacle: BluetoothError
        do throws(BluetoothError) {
            try hci()
            return Choice(route: .hci, reason: "Raw access is permitted. It delivers every report.")
        } catch {
            obstacle = error
        }
        do throws(BluetoothError) {
            try dbus()
        } catch {
            throw .noRoute(hci: obstacle, dbus: error)
        }
        return Choice(
            route: .dbus, reason: "Raw access, which delivers every report, is not available. \(obstacle.description)")
    }

    /// Waits until no scan of this source uses the radio.
    ///
    /// When a stream ends, its scan stops and restores the adapter to its former state, which takes a moment. Call this
    /// function before the program exits.
    public func released() async { await release() }

    /// Starts to scan.
    ///
    /// The stream throws `BluetoothError` if no route can be used.
    public func readings() -> AsyncThrowingStream<SensorReading, any Error> {
        source.readings()
    }

    /// Starts to scan with a timing. Only the raw route uses the timing; the Bluetooth service chooses its own.
    public func readings(timing: ScanTiming) -> AsyncThrowingStream<SensorReading, any Error> {
        source.beginReadings(timing: timing)
    }
}
