/// One thing that a device sensed: whatever a source delivers and a recording keeps.
public enum SensorReading: Hashable, Sendable {
    /// A known beacon format was heard.
    case sighting(Sighting)
    /// Raw advertising data was heard.
    case advertisement(Advertisement)
    /// The inertial sensors were read.
    case motion(MotionSample)
    /// The device found a step.
    case step(Step)
    /// The barometer was read.
    case pressure(PressureSample)
    /// A satellite receiver gave a position.
    case gnss(GNSSFix)
    /// A position was given from outside.
    case fix(Fix)

    /// When it was sensed.
    public var instant: Instant {
        switch self {
        case .sighting(let sighting): sighting.instant
        case .advertisement(let advertisement): advertisement.instant
        case .motion(let sample): sample.instant
        case .step(let step): step.instant
        case .pressure(let sample): sample.instant
        case .gnss(let fix): fix.instant
        case .fix(let fix): fix.instant
        }
    }
}

/// Advertising data as it came over the air.
public struct Advertisement: Hashable, Sendable {
    /// When it was heard.
    public var instant: Instant
    /// Who sent it.
    public var address: DeviceAddress
    /// Received signal strength in dBm.
    public var rssi: Double
    /// The AD structures: each a length, a type and that many bytes less one.
    public var data: [UInt8]

    /// Creates an advertisement from its parts, unchecked.
    public init(instant: Instant, address: DeviceAddress, rssi: Double, data: [UInt8]) {
        self.instant = instant
        self.address = address
        self.rssi = rssi
        self.data = data
    }
}

/// One reading of the inertial sensors, in the device's frame: x right, y up the screen, z out of it.
public struct MotionSample: Hashable, Sendable {
    /// When it was read.
    public var instant: Instant
    /// Acceleration with gravity, in m/s²; nil if not measured.
    public var acceleration: Vector3?
    /// Rotation rate in rad/s; nil if not measured.
    public var rotationRate: Vector3?
    /// Magnetic field in µT; nil if not measured.
    public var magneticField: Vector3?
    /// Rotation from the device's frame to the world's (x: the map's x, y: the map's up, z: up); nil if unknown.
    public var attitude: Quaternion?

    /// Creates a sample from what the sensors gave.
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

/// A step that the device found by itself.
public struct Step: Hashable, Sendable {
    /// When the foot came down.
    public var instant: Instant
    /// Length in metres; nil if unknown.
    public var length: Double?
    /// Course of the step in degrees clockwise from the plan's top; nil if unknown.
    public var heading: Double?

    /// Creates a step.
    public init(instant: Instant, length: Double? = nil, heading: Double? = nil) {
        self.instant = instant
        self.length = length
        self.heading = heading
    }
}

/// One reading of the barometer.
public struct PressureSample: Hashable, Sendable {
    /// When it was read.
    public var instant: Instant
    /// Air pressure in hectopascal.
    public var hectopascals: Double

    /// Creates a reading.
    public init(instant: Instant, hectopascals: Double) {
        self.instant = instant
        self.hectopascals = hectopascals
    }
}

/// A position that a satellite receiver gave.
public struct GNSSFix: Hashable, Sendable {
    /// When it was valid.
    public var instant: Instant
    /// Where the receiver believes to be.
    public var coordinate: Coordinate
    /// 68 % radius in metres.
    public var accuracy: Double
    /// Metres above the WGS84 ellipsoid; nil if unknown.
    public var altitude: Double?

    /// Creates a satellite position.
    public init(instant: Instant, coordinate: Coordinate, accuracy: Double, altitude: Double? = nil) {
        self.instant = instant
        self.coordinate = coordinate
        self.accuracy = accuracy
        self.altitude = altitude
    }
}

/// A position on a map given from outside: by the user, a door, another system.
public struct Fix: Hashable, Sendable {
    /// When it was valid.
    public var instant: Instant
    /// The map that the point lies on.
    public var mapID: MapID
    /// Where.
    public var point: MapPoint
    /// 68 % radius in metres, above 0.
    public var radius: Double

    /// Creates a fix.
    public init(instant: Instant, mapID: MapID, point: MapPoint, radius: Double) {
        self.instant = instant
        self.mapID = mapID
        self.point = point
        self.radius = radius
    }
}
