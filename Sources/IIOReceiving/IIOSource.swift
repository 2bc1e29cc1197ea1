import IndoorVocabulary

/// Motion and air pressure from the sensors that Linux knows as Industrial I/O (IIO) devices.
///
///     let radio = try BluetoothScanSource()
///     let localizer = Localizer(source: CombinedSource(radio, with: [IIOSource()]), venues: packets)
///
/// It reads the first accelerometer, gyroscope, magnetometer and barometer under `/sys/bus/iio/devices`, with the scales,
/// offsets and mount matrices that their drivers give, and delivers ``SensorReading/motion(_:)`` and
/// ``SensorReading/pressure(_:)``. Instants count from boot (CLOCK_BOOTTIME), as those of other live sources.
///
/// A device with a buffer and a trigger is read through its node, `/dev/iio:deviceN`, by which no sample is missed; that needs
/// the right to write its attributes, which root has. Without it, and without a buffer, values are read one by one, `rate`
/// times a second, which anybody may.
///
/// The stream throws an `IIOError` where there is no sensor, where it may not be read, and when one is gone. The kernel's
/// interface: Documentation/ABI/testing/sysfs-bus-iio. The library libiio is not used: it brings USB, Avahi and XML
/// along.
public struct IIOSource: ScanSource, Hashable {
    /// The rates that are possible, a second.
    public static let rates = 1.0...200

    /// Motion samples a second, within ``rates``: what is polled is read so often, and a buffer is filled at the lowest
    /// rate of the device that is not below. Pressure is polled ten times a second at most.
    public var rate: Double {
        didSet { rate = Self.inRange(rate) }
    }
    /// Whether buffers are used where the device has one.
    public var usesBuffers: Bool
    /// Whether the accelerometer's driver reports gravity the wrong way round: −9.81 m/s² along z of a device that lies on its
    /// back, instead of 9.81. Some HID sensor hubs do, as Windows wants it.
    public var isAccelerationInverted: Bool
    /// The folder of all devices.
    public var devices: String
    /// The folder of their nodes.
    public var nodes: String

    /// Creates a source; nothing is read before `readings()`.
    ///
    /// - Parameters:
    ///   - rate: motion samples a second; outside of ``rates``, the nearest of them.
    ///   - devices: the folder of all devices; another one for tests.
    ///   - nodes: the folder of their nodes.
    public init(
        rate: Double = 50, usesBuffers: Bool = true, isAccelerationInverted: Bool = false,
        devices: String = "/sys/bus/iio/devices", nodes: String = "/dev"
    ) {
        self.rate = Self.inRange(rate)
        self.usesBuffers = usesBuffers
        self.isAccelerationInverted = isAccelerationInverted
        self.devices = devices
        self.nodes = nodes
    }

    private static func inRange(_ rate: Double) -> Double {
        rate.isFinite ? min(max(rate, rates.lowerBound), rates.upperBound) : 50
    }

    public var pace: ScanPace { .live }

    /// Begins to read, until the stream is cancelled or a sensor fails. Of readings that nobody takes, the newest 4096 are kept.
    public func readings() -> AsyncThrowingStream<SensorReading, any Error> {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(4096)) { continuation in
            let end = IIOReception.Switch()
            continuation.onTermination = { _ in end.turnOff() }
            IIOReception(self, end: end, continuation: continuation).begin()
        }
    }
}
