import IndoorVocabulary

/// The radio through the Bluetooth service (bluetoothd) and its D-Bus API.
///
/// It needs no capability, only the message bus's permission to talk to `org.bluez`, which Debian gives to everybody
/// and other systems to the group "bluetooth" or to whoever sits at the machine. For that the service stands between:
///
/// - It merges reports that come close together, and pauses while it discovers; see the article "The radio" for measured losses.
/// - It takes advertisements apart. An `Advertisement` of this source is put together again from manufacturer data,
///   service data, service UUIDs and transmit power; its other bytes are lost.
/// - A report that tells no signal strength has the latest one that was told, which may be off by less than 8 dB. A device
///   that the service only remembers is no report.
/// - An instant is the one at which the service's message was read, some milliseconds after the air. It counts from the
///   machine's boot, sleep included (CLOCK_BOOTTIME), as those of the other route.
///
/// An adapter that has no power when the scan first meets it gets some, unless a radio switch blocks it, and loses it
/// again when the scan ends. Who switches it off later is respected: the scan waits.
public struct BlueZScanSource: ScanSource {
    private let settings: BlueZScanSettings
    private let address: String?
    private let running = RunningScans()

    /// Readings that may wait to be fetched from the stream; beyond, the oldest are lost, which a radio event tells.
    public static let bufferLimit = 65_536

    public var pace: ScanPace { .live }

    /// The machine's clock: CLOCK_REALTIME beside CLOCK_BOOTTIME, measured when asked.
    public var wallClock: WallClock? { KernelTimeline().wallClock }

    /// Creates a source; nothing is opened before `readings()` is called.
    public init(adapter: AdapterChoice = .first, content: ScanContent = .beacons) {
        self.init(BlueZScanSettings(adapter: adapter, content: content))
    }

    /// - Parameter address: where the message bus is, as in "unix:path=…"; nil for the system's.
    package init(_ settings: BlueZScanSettings, address: String? = nil) {
        self.settings = settings
        self.address = address
    }

    /// Sees whether this process may scan so, by connecting to the message bus for a moment.
    ///
    /// Whether the service lets itself be called is seen only when it is called.
    /// - Throws: `.busUnavailable` or `.busForbidden`.
    public static func checkPermission() throws(BluetoothError) { try checkPermission(address: nil) }

    package static func checkPermission(address: String?) throws(BluetoothError) {
        do throws(BusConnection.Failure) {
            try BusConnection(address: address).close()
        } catch {
            throw BlueZRefusal.denies(error.name)
                ? .busForbidden(reason: error.reason) : .busUnavailable(reason: error.reason)
        }
    }

    /// Returns as soon as no scan of this source holds the radio any more.
    ///
    /// The end of a stream begins the end of its scan, which takes moments: the adapter is given back as it was found. A
    /// program that is about to exit waits for that.
    public func released() async { await running.allEnded() }

    /// Begins to scan.
    ///
    /// The stream throws `BluetoothError.busUnavailable` if the message bus cannot be reached at the start, and
    /// `.busForbidden` if it, or the service, denies what a scan needs. Whatever else is in the way is a `RadioEvent`.
    public func readings() -> AsyncThrowingStream<SensorReading, any Error> {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(Self.bufferLimit)) { continuation in
            let shell = BlueZScanShell(settings, address: address, running, continuation)
            continuation.onTermination = { _ in shell.stop() }
            shell.start()
        }
    }
}
