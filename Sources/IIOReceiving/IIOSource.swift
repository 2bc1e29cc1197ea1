import IndoorVocabulary

/// A source of motion and air pressure from Linux's Industrial I/O (IIO) devices.
///
///     let radio = try BluetoothScanSource()
///     let localizer = Localizer(source: CombinedSource(radio, with: [IIOSource()]), venues: packets)
///
/// The source reads the first accelerometer, gyroscope, magnetometer and barometer under `/sys/bus/iio/devices`, with
/// the scales, offsets and mount matrices of their drivers. It delivers ``SensorReading/motion(_:)`` and
/// ``SensorReading/pressure(_:)``. Instants count from boot (CLOCK_BOOTTIME), as in other live sources.
///
/// If a device has a buffer and a trigger, the source reads it through its node, `/dev/iio:deviceN`, and misses no
/// sample. This needs write permission for the device's attributes, which root has. Without the permission or a buffer,
/// the source polls single values `rate` times a second, which needs no special permission.
///
/// The stream throws an `IIOError` if there is no sensor, if a sensor isn't readable, or if one disappears. The
/// kernel's interface is documented in Documentation/ABI/testing/sysfs-bus-iio. The source doesn't use the library
/// libiio, which depends on USB, Avahi and XML.
public struct IIOSource: ScanSource, Hashable {
    /// The range of rates in samples a second.
    package static let rates = 1.0...200

    /// The number of motion samples a second, in 1...200. The source polls at this rate; a buffer uses the lowest
    /// rate of the device that isn't below it. The source polls pressure at most ten times a second.
    package var rate: Double {
        didSet { rate = Self.inRange(rate) }
    }
    /// Whether the source uses the buffers of devices that have one.
    package var usesBuffers: Bool
    /// Whether the accelerometer's driver reports acceleration with the opposite sign: −9.81 m/s² along z for a device
    /// that lies on its back, instead of 9.81. Some HID sensor hubs do, following the convention of Windows.
    package var isAccelerationInverted: Bool
    /// The folder of all devices.
    package var devices: String
    /// The folder of device nodes.
    package var nodes: String

    /// Creates a source. The source reads nothing until `readings()` is called.
    ///
    /// - Parameters:
    ///   - rate: The number of motion samples a second, clamped to 1...200.
    ///   - usesBuffers: Whether the source uses the buffers of devices that have one.
    ///   - isAccelerationInverted: Whether the driver reports acceleration with the opposite sign.
    ///   - devices: The folder of all devices; another folder for tests.
    ///   - nodes: The folder of device nodes.
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

    /// Reads until the stream is cancelled or a sensor fails. The stream buffers the newest 4096 readings.
    public func readings() -> AsyncThrowingStream<SensorReading, any Error> {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(4096)) { continuation in
            let end = IIOReception.Switch()
            continuation.onTermination = { _ in end.turnOff() }
            IIOReception(self, end: end, continuation: continuation).begin()
        }
    }
}
