/// One reading of a scan source, as recordings store it.
public enum SensorReading: Hashable, Sendable {
    /// The radio received a beacon of a known format.
    case sighting(Sighting)
    /// The radio received an advertisement.
    case advertisement(Advertisement)
    /// A sample of the inertial sensors.
    case motion(MotionSample)
    /// The device detected a step.
    case step(Step)
    /// A sample of the barometer.
    case pressure(PressureSample)
    /// A position from a satellite receiver.
    case gnss(GNSSFix)
    /// A position from outside the package.
    case fix(Fix)
    /// A measured distance to an anchor.
    case range(RangeReading)
    /// The status of the radio changed.
    case radio(RadioEvent)

    /// The time of the reading.
    public var instant: Instant {
        get {
            switch self {
            case .sighting(let sighting): sighting.instant
            case .advertisement(let advertisement): advertisement.instant
            case .motion(let sample): sample.instant
            case .step(let step): step.instant
            case .pressure(let sample): sample.instant
            case .gnss(let fix): fix.instant
            case .fix(let fix): fix.instant
            case .range(let range): range.instant
            case .radio(let event): event.instant
            }
        }
        set {
            switch self {
            case .sighting(var sighting):
                sighting.instant = newValue
                self = .sighting(sighting)
            case .advertisement(var advertisement):
                advertisement.instant = newValue
                self = .advertisement(advertisement)
            case .motion(var sample):
                sample.instant = newValue
                self = .motion(sample)
            case .step(var step):
                step.instant = newValue
                self = .step(step)
            case .pressure(var sample):
                sample.instant = newValue
                self = .pressure(sample)
            case .gnss(var fix):
                fix.instant = newValue
                self = .gnss(fix)
            case .fix(var fix):
                fix.instant = newValue
                self = .fix(fix)
            case .range(var range):
                range.instant = newValue
                self = .range(range)
            case .radio(var event):
                event.instant = newValue
                self = .radio(event)
            }
        }
    }
}

/// Advertising data as received by the radio.
public struct Advertisement: Hashable, Sendable {
    /// When the radio received it.
    public var instant: Instant
    /// The address of the advertiser.
    public var address: DeviceAddress
    /// Received signal strength in dBm.
    public var rssi: Double
    /// The AD structures. Each consists of a length byte, a type byte, and length − 1 bytes of data.
    public var data: [UInt8]

    /// Creates an advertisement from its parts, without checking them.
    public init(instant: Instant, address: DeviceAddress, rssi: Double, data: [UInt8]) {
        self.instant = instant
        self.address = address
        self.rssi = rssi
        self.data = data
    }

    /// Whether the RSSI is a measurement, see ``Sighting/isMeasurement(rssi:)``.
    package var hasMeasurement: Bool { Sighting.isMeasurement(rssi: rssi) }
}

/// One reception of a beacon: a decoded beacon advertisement with its RSSI.
public struct Sighting: Hashable, Sendable {
    /// When the radio received it.
    public var instant: Instant
    /// The beacon.
    public var beacon: BeaconIdentity
    /// Received signal strength in dBm, below 0.
    public var rssi: Double
    /// The signal strength at 1 m that the beacon advertises, in dBm; nil if unknown.
    public var measuredPower: Double?
    /// The transmitter's device address; nil if the source does not report it.
    public var address: DeviceAddress?

    /// Creates a sighting without checking it; see ``isMeasurement(rssi:)`` for the RSSI.
    public init(
        instant: Instant, beacon: BeaconIdentity, rssi: Double, measuredPower: Double? = nil,
        address: DeviceAddress? = nil
    ) {
        self.instant = instant
        self.beacon = beacon
        self.rssi = rssi
        self.measuredPower = measuredPower
        self.address = address
    }

    /// Returns whether an RSSI is a measurement: at least -127 dBm and below 0 dBm.
    ///
    /// 127 means "not available" (Bluetooth Core Specification 5.4, Vol 4 Part E, 7.7.65.2). No receiver measures 0 dBm or
    /// more from a beacon.
    public static func isMeasurement(rssi: Double) -> Bool { rssi < 0 && rssi >= -127 }

    /// Whether the RSSI is a measurement, see ``isMeasurement(rssi:)``.
    package var hasMeasurement: Bool { Self.isMeasurement(rssi: rssi) }
}

/// One sample of the inertial sensors, in the frame of the device: x right, y up the screen, z out of it.
public struct MotionSample: Hashable, Sendable {
    /// When the sensors measured it.
    public var instant: Instant
    /// Acceleration with gravity, in m/s²; nil if not measured.
    public var acceleration: Vector3?
    /// Rotation rate in rad/s; nil if not measured.
    public var rotationRate: Vector3?
    /// Magnetic field in µT; nil if not measured.
    public var magneticField: Vector3?
    /// Rotation from the frame of the device to that of the world (x: the map's x, y: the map's up, z: up); nil if unknown.
    public var attitude: Quaternion?

    /// Creates a sample.
    public init(
        instant: Instant, acceleration: Vector3? = nil, rotationRate: Vector3? = nil, magneticField: Vector3? = nil,
        attitude: Quaternion? = nil
    ) {
        self.instant = instant
        self.acceleration = acceleration
        self.rotationRate = rotationRate
        self.magneticField = magneticField
        self.attitude = attitude
    }
}

/// One sample of the barometer.
public struct PressureSample: Hashable, Sendable {
    /// When the barometer measured it.
    public var instant: Instant
    /// Air pressure in hectopascal.
    public var hectopascals: Double

    /// Creates a sample.
    public init(instant: Instant, hectopascals: Double) {
        self.instant = instant
        self.hectopascals = hectopascals
    }
}

/// A step that the device detected.
public struct Step: Hashable, Sendable {
    /// When the foot touched the ground.
    public var instant: Instant
    /// Length in metres; nil if unknown.
    public var length: Double?
    /// Direction of the step in degrees clockwise from the plan's top; nil if unknown.
    public var heading: Double?

    /// Creates a step.
    public init(instant: Instant, length: Double? = nil, heading: Double? = nil) {
        self.instant = instant
        self.length = length
        self.heading = heading
    }
}

/// A measured distance between the device and an anchor: a fixed radio at a known place.
public struct RangeReading: Hashable, Sendable {
    /// The time of the measurement.
    public var instant: Instant
    /// The identifier of the anchor in its venue, of 1 to 128 bytes in UTF-8.
    public var anchor: String
    /// The distance in metres in space, from -100 to 10,000. Timing errors can make a short distance negative.
    public var distance: Double
    /// The standard deviation in metres that the driver reports for the distance, from 0.0001 to 1000; nil if unknown.
    public var deviation: Double?
    /// The technology of the measurement.
    public var technology: RangeTechnology

    /// Creates a measured distance.
    public init(
        instant: Instant, anchor: String, distance: Double, deviation: Double? = nil, technology: RangeTechnology
    ) {
        self.instant = instant
        self.anchor = anchor
        self.distance = distance
        self.deviation = deviation
        self.technology = technology
    }

    /// The distances in metres that a reading can have.
    package static let distances = -100.0...10_000.0
    /// The standard deviations in metres that a reading can have.
    package static let deviations = 1e-4...1000.0
    /// The maximum length of an anchor's or a technology's name, in bytes.
    package static let longestName = 128

    /// Whether distance and deviation are in their ranges.
    package var hasMeasurement: Bool {
        Self.distances.contains(distance) && deviation.map(Self.deviations.contains) ?? true
    }
}

/// A technology that measures the distance between two devices.
///
/// The package has an error model for each of the technologies below, and a common model for all others.
public struct RangeTechnology: RawRepresentable, Hashable, Sendable {
    /// The name, as stored in recordings.
    public var rawValue: String

    /// Creates a technology from its name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Two-way ranging by ultra-wideband pulses, such as IEEE 802.15.4z.
    public static let uwb = RangeTechnology(rawValue: "uwb")
    /// Fine timing measurement of IEEE 802.11, also known as Wi-Fi round-trip time.
    public static let wifi = RangeTechnology(rawValue: "wifi")
    /// Bluetooth Channel Sounding, or another phase-based method with Bluetooth LE.
    public static let ble = RangeTechnology(rawValue: "ble")
}

/// A position from a satellite receiver.
public struct GNSSFix: Hashable, Sendable {
    /// The time of the position.
    public var instant: Instant
    /// The position.
    public var coordinate: Coordinate
    /// 68 % radius in metres.
    public var accuracy: Double
    /// Altitude above the WGS84 ellipsoid in metres; nil if unknown.
    public var altitude: Double?
    /// Speed over ground in metres per second; nil if unknown.
    public var speed: Double?
    /// Direction of movement in degrees clockwise from true north, in [0, 360); nil if unknown.
    public var course: Double?

    /// Creates a satellite position.
    public init(
        instant: Instant, coordinate: Coordinate, accuracy: Double, altitude: Double? = nil, speed: Double? = nil,
        course: Double? = nil
    ) {
        self.instant = instant
        self.coordinate = coordinate
        self.accuracy = accuracy
        self.altitude = altitude
        self.speed = speed
        self.course = course
    }

    /// Returns whether the position is usable: a valid coordinate with a 68 % radius of at most `limit` metres.
    package func isWithin(_ limit: Double) -> Bool { accuracy >= 0 && accuracy <= limit && coordinate.isValid }
}

/// A source of satellite positions in addition to the radio: a receiver, or a service that provides its positions.
///
/// A `Localizer` can use one in addition to its `ScanSource`. A recording contains satellite positions among its
/// readings, and needs no such source.
public protocol GNSSSource: Sendable {
    /// Begins to receive and returns positions, ordered by instant, until the receiver ends or is cancelled.
    ///
    /// The stream throws the error that ended the reception; a localizer reports it and starts again after a pause.
    /// Each call begins a separate reception. While the receiver has no position, the stream delivers nothing.
    ///
    /// Instants are on the clock of the scan. On Linux, live sources use CLOCK_BOOTTIME, which `ContinuousClock` reads.
    /// If a receiver has another clock, a localizer shifts its instants so that the first position has the current
    /// time.
    func fixes() -> AsyncThrowingStream<GNSSFix, any Error>
}

/// A position on a map from outside the package: from the user, a door sensor or another system.
public struct Fix: Hashable, Sendable {
    /// The time of the position.
    public var instant: Instant
    /// The map that the point lies on.
    public var mapID: MapID
    /// The position.
    public var point: MapPoint
    /// 68 % radius in metres, above 0.
    public var radius: Double
    /// Whether the session combines the fix with its other evidence; if false, the fix replaces that evidence.
    public var isSoft: Bool

    /// Creates a fix.
    public init(instant: Instant, mapID: MapID, point: MapPoint, radius: Double, isSoft: Bool = false) {
        self.instant = instant
        self.mapID = mapID
        self.point = point
        self.radius = radius
        self.isSoft = isSoft
    }
}

/// A value with an instant.
package protocol Timed {
    /// The time of the value.
    var instant: Instant { get }
}

extension SensorReading: Timed {}

/// The readings of the last seconds, stored for a position filter that begins later.
package typealias RecentReadings = RecentElements<SensorReading>

/// The elements of the last seconds. Adding an element takes constant time on average, regardless of the rate of
/// elements.
package struct RecentElements<Element: Timed & Hashable & Sendable>: Hashable, Sendable {
    /// The time span; older elements are discarded, because the device may have moved since then.
    @inlinable package static var span: Duration { .seconds(10) }
    /// The maximum number of elements, for sources with a high rate.
    @inlinable package static var limit: Int { 5000 }

    /// The stored elements, up to twice the limit. A clean-up visits all elements, so it runs only after many
    /// additions.
    @usableFromInline var stored: [Element] = []
    @usableFromInline var latest: Instant?

    /// Creates an empty list.
    @inlinable package init() {}

    /// The elements within the time span and the limit, in the order of their arrival.
    @inlinable package var readings: [Element] {
        guard stored.count > Self.limit else { return stored }
        return Array(fresh.suffix(Self.limit))
    }

    /// Adds an element and discards those beyond the time span or the limit.
    @inlinable package mutating func add(_ element: Element) {
        stored.append(element)
        let now = element.instant
        latest = now
        if stored.count >= 2 * Self.limit {
            stored = Array(fresh.suffix(Self.limit))
        } else if isStale(now) {
            stored = fresh
        }
    }

    /// The elements within the time span before the latest one.
    @inlinable var fresh: [Element] {
        guard let oldest = latest?.advanced(by: .zero - Self.span) else { return stored }
        return stored.filter { $0.instant >= oldest }
    }

    /// Returns whether so many elements are too old that a clean-up is worthwhile.
    @inlinable func isStale(_ now: Instant) -> Bool {
        stored.first.map { $0.instant.duration(to: now) > Self.span + Self.span } ?? false
    }

    /// Discards all elements.
    @inlinable package mutating func clear() {
        stored = []
        latest = nil
    }
}

extension RecentElements<SensorReading> {
    /// Moves the readings to a timeline with another origin.
    package mutating func shift(by duration: Duration) {
        latest = latest?.advanced(by: duration)
        for index in stored.indices { stored[index].instant = stored[index].instant.advanced(by: duration) }
    }
}
