import IndoorVocabulary

/// Scans over the kernel's raw HCI socket: hears every report of the adapter, with the kernel's time of reception.
///
/// Needs the capabilities CAP_NET_RAW and, to power an adapter on, CAP_NET_ADMIN; no Bluetooth service. Lives beside one
/// that runs: while somebody else scans, it listens along (`RadioEvent.Status.sharing`), and begins a scan of its own
/// once theirs has ended. At the end of the stream the scan ends, if it is an own one.
///
/// An adapter that is off when it is found is powered on, unless a radio switch blocks it, and off again at the end, unless
/// somebody else scans with it by then. One that somebody switches off meanwhile stays off until somebody switches it on.
///
/// Power, plugging and radio switches are events on the stream, after which the scan goes on by itself. The stream throws
/// `BluetoothError` where it cannot: without the capability, or where the kernel has no Bluetooth.
public struct HCIScanSource: ScanSource {
    /// Whether the adapter sends anything while it scans.
    public enum Mode: String, Hashable, Sendable, CaseIterable {
        /// It only listens.
        case passive
        /// It asks advertisers for their scan responses, which costs them power and air time. Beacons have none to give.
        case active
    }

    /// Which adapter is to scan.
    public let adapter: AdapterChoice
    /// Whether it sends anything.
    public let mode: Mode
    /// How long the adapter listens on an advertising channel, in [2.5 ms, 10.24 s] and at most `interval`.
    public internal(set) var window: Duration
    /// From the start of one window to that of the next, in [2.5 ms, 10.24 s]. Equal to `window`, it listens all the time.
    public internal(set) var interval: Duration
    /// What of the heard is delivered. Of `.beacons`, this source delivers the sightings without their advertisements.
    public let content: ScanContent

    /// What the first event of a stream says beside its own detail.
    package var remark: String?

    /// Scans of this source that hold the radio.
    let running = RunningScans()

    /// Readings that may wait to be fetched from the stream; beyond, the oldest are lost, which a radio event tells.
    public static let bufferLimit = 65_536

    /// Creates a source. Window and interval out of range are brought into it.
    public init(
        adapter: AdapterChoice = .first, mode: Mode = .passive, window: Duration = .milliseconds(60),
        interval: Duration = .milliseconds(60), content: ScanContent = .beacons
    ) {
        self.adapter = adapter
        self.mode = mode
        self.window = window
        self.interval = interval
        self.content = content
    }

    /// Returns as soon as no scan of this source holds the radio any more.
    ///
    /// The end of a stream begins the end of its scan, which takes moments: the adapter is given back as it was found. A
    /// program that is about to exit waits for that.
    public func released() async { await running.allEnded() }

    public var pace: ScanPace { .live }

    /// The machine's clock: CLOCK_REALTIME beside CLOCK_BOOTTIME, measured when asked.
    public var wallClock: WallClock? { KernelTimeline().wallClock }

    public func readings() -> AsyncThrowingStream<SensorReading, any Error> {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(Self.bufferLimit)) { continuation in
            HCIScan(self, continuation: continuation).begin()
        }
    }

    /// What the adapter is told.
    var parameters: HCIScanParameters {
        HCIScanParameters(isActive: mode == .active, window: window, interval: interval)
    }
}

extension HCIScanSource {
    /// Sees whether this process may scan so, without touching an adapter.
    ///
    /// - Throws: `.notPermitted`, `.noBluetooth`, or what the system says.
    public static func checkPermission() throws(BluetoothError) {
        try HCISocket().listenToAdapters()
    }
}
