import IndoorVocabulary

/// A scan source that uses the kernel's raw HCI socket. It delivers every report of the adapter with the kernel's time
/// of reception.
///
/// The source needs the capability CAP_NET_RAW and, to power an adapter on, CAP_NET_ADMIN. It needs no Bluetooth
/// service, and works alongside one. While another program scans, the source receives that scan's reports
/// (`RadioEvent.Status.sharing`); when that scan ends, the source starts its own. At the end of the stream, the source
/// stops its own scan.
///
/// The source powers on an adapter that is off when found, unless a radio switch blocks it. It powers the adapter off
/// again at the end, unless another program then scans with it. If somebody switches the adapter off during the scan,
/// it stays off until somebody switches it on.
///
/// Power, plugging and radio switches are events on the stream, after which the scan resumes automatically. The stream
/// throws a `BluetoothError` if the scan can't resume: if the process lacks a capability, or the kernel has no
/// Bluetooth support.
package struct HCIScanSource: ScanSource {
    /// Whether the adapter transmits while it scans.
    package enum Mode: String, Hashable, Sendable, CaseIterable {
        /// The adapter only listens.
        case passive
        /// The adapter requests scan responses, which costs the advertisers power and air time. Beacons have no scan
        /// response.
        case active
    }

    /// The choice of the adapter that scans.
    package let adapter: AdapterChoice
    /// Whether the adapter transmits while it scans.
    package let mode: Mode
    /// The time that the adapter listens on an advertising channel in each interval: 2.5 ms to 10.24 s, and at most
    /// `interval`.
    package internal(set) var window: Duration
    /// The time from the start of one window to the start of the next: 2.5 ms to 10.24 s. If it equals `window`, the
    /// adapter listens continuously.
    package internal(set) var interval: Duration
    /// The readings to deliver. With `.beacons`, this source delivers sightings without their advertisements.
    package let content: ScanContent

    /// A text that the first event of a stream adds to its own detail.
    package var initialDetail: String?

    /// The scans of this source that use the radio.
    let running = RunningScans()

    /// The number of readings that the stream buffers. If the buffer is full, the oldest readings are lost, and a radio
    /// event reports the loss.
    package static let bufferLimit = 65_536

    /// Creates a source. A window or interval out of range is clamped to the range.
    package init(
        adapter: AdapterChoice = .first, mode: Mode = .passive, window: Duration = .milliseconds(60),
        interval: Duration = .milliseconds(60), content: ScanContent = .beacons
    ) {
        self.adapter = adapter
        self.mode = mode
        self.window = window
        self.interval = interval
        self.content = content
    }

    /// Waits until no scan of this source uses the radio.
    ///
    /// When a stream ends, its scan stops and restores the adapter to its former state, which takes a moment. Call this
    /// function before the program exits.
    package func released() async { await running.allEnded() }

    package var pace: ScanPace { .live }

    /// The system's clock: the offset of CLOCK_REALTIME from CLOCK_BOOTTIME, measured at each access.
    package var wallClock: WallClock? { KernelTimeline().wallClock }

    package func readings() -> AsyncThrowingStream<SensorReading, any Error> {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(Self.bufferLimit)) { continuation in
            HCIScan(self, continuation: continuation).begin()
        }
    }

    /// The parameters for the adapter.
    var parameters: HCIScanParameters {
        HCIScanParameters(isActive: mode == .active, window: window, interval: interval)
    }
}

extension HCIScanSource {
    /// Checks whether this process may scan over the raw socket, without using an adapter.
    ///
    /// - Throws: `.notPermitted`, `.noBluetooth`, or `.system` if a system call fails.
    package static func checkPermission() throws(BluetoothError) {
        try HCISocket().listenToAdapters()
    }
}

extension HCIScanSource: TimedScanSource {
    /// Starts to scan with a timing instead of `window` and `interval`.
    package func readings(timing: ScanTiming) -> AsyncThrowingStream<SensorReading, any Error> {
        with(timing).readings()
    }

    /// Returns this source with another timing.
    package func with(_ timing: ScanTiming) -> HCIScanSource {
        var source = self
        source.window = timing.window
        source.interval = timing.interval
        return source
    }
}
