import IndoorVocabulary
import VenueModel

/// The kind of motion of the device's carrier.
public enum MotionKind: String, Hashable, Sendable, CaseIterable {
    /// The device lies or is held still.
    case stationary
    /// The device is moved, but its carrier doesn't walk: a person takes it out, turns it, or types on it.
    case fidgeting
    /// The carrier of the device walks.
    case walking
}

/// The dead-reckoning estimate at an instant: the motion of the device, its heading, and its position.
public struct MotionEstimate: Hashable, Sendable {
    /// The states of the local frame's alignment on Earth.
    public enum Alignment: String, Hashable, Sendable, CaseIterable {
        /// The frame is not aligned: estimates have metres in the local frame only.
        case local
        /// The reckoner aligns the frame by satellites, which takes some ten metres of walking.
        case aligning
        /// The frame is aligned, by given values or by satellites: estimates have coordinates, too.
        case global
    }

    /// The time of the estimate.
    public var instant: Instant
    /// The kind of motion; nil before the first reading of the sensors.
    public var kind: MotionKind?
    /// The number of steps per second; 0 while the carrier doesn't walk.
    public var stepFrequency: Double
    /// The vertical motion; `level` without a barometer.
    public var vertical: VerticalMotion
    /// The climb rate in metres per second, positive upwards; 0 without a barometer.
    public var climbRate: Double
    /// The ordinal of the floor; without a barometer, the floor that was set, or 0.
    public var floor: Int
    /// The heading; nil before the first attitude.
    public var heading: Heading?
    /// The attitude; nil before the first reading of the sensors.
    public var attitude: Quaternion?
    /// The position in metres in the local frame: x to the right, y ahead, z up from the origin.
    public var position: Vector3
    /// The 68 % error radius in metres: the true position in the plane lies within it 68 % of the time.
    public var radius: Double
    /// The height in metres above the standard atmosphere's sea level, from the barometer; nil without one.
    public var altitude: Double?
    /// The coordinate of the position; nil until the local frame is aligned.
    public var coordinate: Coordinate?
    /// The state of the local frame's alignment on Earth.
    public var alignment: Alignment
    /// The times, steps and distances since the last reset.
    public var statistics: MotionStatistics

    /// Creates an estimate without information.
    package init(instant: Instant) {
        self.instant = instant
        stepFrequency = 0
        vertical = .level
        climbRate = 0
        floor = 0
        position = Vector3(x: 0, y: 0, z: 0)
        radius = 0
        alignment = .local
        statistics = MotionStatistics()
    }
}

/// The direction in which the device points.
public struct Heading: Hashable, Sendable {
    /// The reference of a heading.
    public enum Reference: String, Hashable, Sendable, CaseIterable {
        /// The attitude that the device reports, relative to the plan's top.
        case device
        /// The Earth's magnetic field.
        case magneticNorth
        /// The initial direction of the device, or a heading that was set; no compass is used.
        case start
    }

    /// The time of the heading.
    public var instant: Instant
    /// Degrees clockwise from the y axis of the local frame, in [0, 360); in a venue that is the plan's top.
    public var course: Double
    /// Degrees clockwise from true north, in [0, 360); nil if the bearing of the frame is unknown.
    public var trueNorth: Double?
    /// Degrees clockwise from magnetic north, in [0, 360); nil if the bearing of the frame is unknown.
    public var magneticNorth: Double?
    /// The 68 % error in degrees, up to 180.
    public var accuracy: Double
    /// The reference of the heading.
    public var reference: Reference
    /// Whether the magnetic field is disturbed, so that the heading doesn't use the compass.
    public var isMagneticallyDisturbed: Bool

    /// Creates a heading.
    package init(
        instant: Instant, course: Double, trueNorth: Double? = nil, magneticNorth: Double? = nil, accuracy: Double,
        reference: Reference, isMagneticallyDisturbed: Bool = false
    ) {
        self.instant = instant
        self.course = course
        self.trueNorth = trueNorth
        self.magneticNorth = magneticNorth
        self.accuracy = accuracy
        self.reference = reference
        self.isMagneticallyDisturbed = isMagneticallyDisturbed
    }

    /// The course in the mathematical direction: degrees counter-clockwise from the y axis, in (-180, 180].
    public var counterClockwise: Double { course < 180 ? 0 - course : 360 - course }
}

/// The attitude of the device.
public struct Attitude: Hashable, Sendable {
    /// The time of the attitude.
    public var instant: Instant
    /// The unit rotation from the device's frame (x right, y up the screen, z out of it) to the local one (z up).
    public var rotation: Quaternion

    /// Creates an attitude.
    public init(instant: Instant, rotation: Quaternion) {
        self.instant = instant
        self.rotation = rotation
    }
}

/// Functions on angles in degrees clockwise.
enum Degrees {
    /// Returns the same direction in [0, 360).
    static func course(_ degrees: Double) -> Double {
        guard degrees.isFinite else { return 0 }
        let rest = degrees.truncatingRemainder(dividingBy: 360)
        let positive = rest < 0 ? rest + 360 : rest
        return positive < 360 ? positive : 0
    }

    /// Returns the smaller turn from one direction to another, in [-180, 180).
    static func turn(from: Double, to: Double) -> Double { course(to - from + 180) - 180 }
}

/// The vertical motion of the device.
public enum VerticalMotion: Hashable, Sendable {
    /// The direction of a vertical motion.
    public enum Direction: String, Hashable, Sendable, CaseIterable {
        /// Up.
        case up
        /// Down.
        case down
    }

    /// The height doesn't change.
    case level
    /// Walking on stairs, or on a moving escalator.
    case stairs(Direction)
    /// Standing on an escalator, or in a slow elevator.
    case escalator(Direction)
    /// Standing in an elevator.
    case elevator(Direction)

    /// The direction; nil while the height doesn't change.
    public var direction: Direction? {
        switch self {
        case .level: nil
        case .stairs(let direction), .escalator(let direction), .elevator(let direction): direction
        }
    }

    /// The name without the direction: `level`, `stairs`, `escalator` or `elevator`.
    public var name: String {
        switch self {
        case .level: "level"
        case .stairs: "stairs"
        case .escalator: "escalator"
        case .elevator: "elevator"
        }
    }
}

/// The times, steps and distances of a device's motion.
///
/// Times without sensor readings are not included.
public struct MotionStatistics: Hashable, Sendable {
    /// The time that the carrier walked.
    public var walking = Duration.zero
    /// The time that the device was moved without walking.
    public var fidgeting = Duration.zero
    /// The time that the device was stationary.
    public var stationary = Duration.zero
    /// The number of steps.
    public var steps = 0
    /// The length of these steps in metres, along the path.
    public var distance = 0.0
    /// The ascent in metres by stairs, escalators and elevators together.
    public var ascent = 0.0
    /// The descent in metres.
    public var descent = 0.0

    /// Creates statistics of zero.
    package init() {}

    /// The time without walking: fidgeting or stationary.
    public var dwelling: Duration { fidgeting + stationary }

    /// Returns the share of the time for a kind of motion, in [0, 1]; nil before any time has passed.
    public func share(of kind: MotionKind) -> Double? {
        let all = (walking + dwelling).seconds
        return all > 0 ? time(of: kind).seconds / all : nil
    }

    /// Returns the time for a kind of motion.
    public func time(of kind: MotionKind) -> Duration {
        switch kind {
        case .walking: walking
        case .fidgeting: fidgeting
        case .stationary: stationary
        }
    }

    mutating func add(_ duration: Duration, of kind: MotionKind) {
        switch kind {
        case .walking: walking += duration
        case .fidgeting: fidgeting += duration
        case .stationary: stationary += duration
        }
    }
}

/// A motion update from a session.
package enum MotionUpdate: Hashable, Sendable {
    /// A motion estimate.
    case motion(MotionEstimate)
    /// A changed heading.
    case heading(Heading)
    /// A changed attitude.
    case attitude(Attitude)
}

/// A reporter that follows the motion of a session's device, and emits updates at the rate of the settings.
package struct MotionReporter: Sendable {
    package private(set) var reckoner: DeadReckoner
    private var lastMotion: Instant?
    private var lastHeading: Double?
    private var lastAttitude: Quaternion?

    /// Creates a reporter without readings.
    package init(_ settings: DeadReckoningSettings, model: MotionModel, calibration: Calibration?) {
        reckoner = DeadReckoner(settings: settings, model: model, calibration: calibration ?? Calibration())
        alignIfWanted()
    }

    /// Replaces the settings.
    package mutating func use(_ settings: DeadReckoningSettings) {
        reckoner.settings = settings
        alignIfWanted()
    }

    /// Begins the alignment by satellites, unless the frame's position or bearing is known.
    private mutating func alignIfWanted() {
        let isKnown = reckoner.anchor.alignment != .local || reckoner.anchor.bearing != nil
        if reckoner.settings.estimationMode == .global, !isKnown { reckoner.alignWithSatellites() }
    }

    /// Aligns the floors and the frame with a map of a venue that the device has entered.
    package mutating func enter(_ map: MapID, of venue: Venue, bearing: Double?) {
        guard let level = venue.map(map)?.level else { return }
        reckoner.setFloor(level)
        reckoner.setFrameBearing(bearing)
        reckoner.setFloorHeights(Self.floorHeights(of: venue))
    }

    /// Returns the height in metres from each level of a venue up to the next one.
    ///
    /// It is unknown if the maps of a level have several elevations: those of other buildings don't apply.
    private static func floorHeights(of venue: Venue) -> [Int: Double] {
        let elevations = Dictionary(grouping: venue.maps, by: \.level).compactMapValues { maps in
            let known = Set(maps.compactMap(\.elevation))
            return known.count == 1 ? known.first : nil
        }
        let levels = elevations.sorted { $0.key < $1.key }
        return zip(levels, levels.dropFirst()).reduce(into: [:]) { heights, pair in
            let (lower, upper) = pair
            if upper.key == lower.key + 1 { heights[lower.key] = upper.value - lower.value }
        }
    }

    /// Sets the heading of the device from outside, in degrees clockwise from the plan's top.
    package mutating func set(heading course: Double) {
        // An invalid number has no effect.
        try? reckoner.setHeading(course)
    }

    /// Handles a reading.
    package mutating func observe(_ reading: SensorReading) { reckoner.observe(reading) }

    /// Returns the updates since the last call.
    package mutating func updates(at now: Instant) -> [MotionUpdate] {
        let settings = reckoner.settings
        var updates: [MotionUpdate] = []
        if let heading = reckoner.heading {
            let turn = lastHeading.map { abs(Degrees.turn(from: $0, to: heading.course)) } ?? .infinity
            if turn >= settings.headingFilter {
                lastHeading = heading.course
                updates.append(.heading(heading))
            }
        }
        if let attitude = reckoner.attitude {
            let turn = lastAttitude.map { $0.angle(to: attitude.rotation) * 180 / .pi } ?? .infinity
            if turn >= settings.attitudeFilter {
                lastAttitude = attitude.rotation
                updates.append(.attitude(attitude))
            }
        }
        if lastMotion.map({ $0.duration(to: now) >= settings.interval }) ?? true {
            lastMotion = now
            updates.append(.motion(reckoner.estimate))
        }
        return updates
    }
}
