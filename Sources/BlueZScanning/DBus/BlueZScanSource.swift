import IndoorVocabulary

/// A scan source that uses the Bluetooth service (bluetoothd) through its D-Bus API.
///
/// The source needs no capability, only permission to call `org.bluez` on the message bus. Debian grants it to every
/// user; other systems grant it to the group "bluetooth", or to the user at the console. Compared with the raw route,
/// the service has these limits:
///
/// - The service merges reports that arrive close together, and pauses during discovery. The article "The radio" lists
///   measured losses.
/// - The service parses advertisements. This source rebuilds an `Advertisement` from manufacturer data, service data,
///   service UUIDs and transmit power; all other bytes are lost.
/// - A report without an RSSI has the latest reported RSSI, which may be off by less than 8 dB. The source doesn't
///   report devices that the service only has in its cache.
/// - An instant is the time at which the source read the service's message, some milliseconds after reception. It
///   counts from boot and includes sleep (CLOCK_BOOTTIME), as on the raw route.
///
/// The source powers on an adapter that is off when found, unless a radio switch blocks it, and powers it off again at
/// the end of the scan. If somebody switches the adapter off during the scan, the scan waits until it is on again.
package struct BlueZScanSource: ScanSource {
    private let settings: BlueZScanSettings
    private let address: String?
    private let running = RunningScans()

    /// The number of readings that the stream buffers. If the buffer is full, the oldest readings are lost, and a radio
    /// event reports the loss.
    package static let bufferLimit = 65_536

    package var pace: ScanPace { .live }

    /// The system's clock: the offset of CLOCK_REALTIME from CLOCK_BOOTTIME, measured at each access.
    package var wallClock: WallClock? { KernelTimeline().wallClock }

    /// Creates a source. The source opens nothing until `readings()` is called.
    package init(adapter: AdapterChoice = .first, content: ScanContent = .beacons) {
        self.init(BlueZScanSettings(adapter: adapter, content: content))
    }

    /// - Parameter address: The address of the message bus, such as "unix:path=…"; nil for the system bus.
    package init(_ settings: BlueZScanSettings, address: String? = nil) {
        self.settings = settings
        self.address = address
    }

    /// Checks whether this process may use the message bus, by connecting to it briefly.
    ///
    /// The check doesn't show whether the service accepts calls; a scan finds that out with its first call.
    /// - Throws: `.busUnavailable` or `.busForbidden`.
    package static func checkPermission() throws(BluetoothError) { try checkPermission(address: nil) }

    package static func checkPermission(address: String?) throws(BluetoothError) {
        do throws(BusConnection.Failure) {
            try BusConnection(address: address).close()
        } catch {
            throw BlueZRefusal.denies(error.name)
                ? .busForbidden(reason: error.reason) : .busUnavailable(reason: error.reason)
        }
    }

    /// Waits until no scan of this source uses the radio.
    ///
    /// When a stream ends, its scan stops and restores the adapter to its former state, which takes a moment. Call this
    /// function before the program exits.
    package func released() async { await running.allEnded() }

    /// Starts to scan.
    ///
    /// The stream throws `BluetoothError.busUnavailable` if the message bus isn't reachable at the start, and
    /// `.busForbidden` if the bus or the service denies a call that the scan needs. The stream delivers all other
    /// problems as `RadioEvent`s.
    package func readings() -> AsyncThrowingStream<SensorReading, any Error> {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(Self.bufferLimit)) { continuation in
            let shell = BlueZScanShell(settings, address: address, running, continuation)
            continuation.onTermination = { _ in shell.stop() }
            shell.start()
        }
    }
}
