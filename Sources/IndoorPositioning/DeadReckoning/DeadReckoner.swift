import CMath
import IndoorVocabulary

/// An estimator of a device's motion from its sensors alone: the kind of motion, the heading, and the position by steps
/// and stairs.
///
///     var reckoner = DeadReckoner()
///     reckoner.setPosition(x: 4, y: 2, radius: 1)
///     for reading in readings {
///         reckoner.observe(reading)
///         print(reckoner.estimate.position, reckoner.estimate.radius)
///     }
///
/// The local frame is flat, in metres: x to the right, y ahead, z up. Its origin is the initial place of the device.
/// With a compass, y points to magnetic north; without one, y points in the initial direction of the device. If the
/// device reports attitudes, y is the y axis of these attitudes. In a venue, y points to the plan's top. Headings are
/// degrees clockwise from y.
///
/// The estimator is a value that reads no clock: the same readings give the same estimates.
public struct DeadReckoner: Hashable, Sendable {
    /// The longest gap between readings; the motion in a longer one is unknown.
    private static let longestGap = Duration.seconds(1)

    /// The settings. An assigned value that is out of range has no effect: the earlier one stays.
    public var settings = DeadReckoningSettings() {
        didSet { settings = settings.inRange(or: oldValue) }
    }

    private var pedometer = Pedometer()
    private var classifier = MotionClassifier()
    private var climb = ClimbClassifier()
    var floors = FloorCounter()
    package var compass = Compass()
    var place: PedestrianEKF
    var anchor = EarthAnchor()
    private var statistics = MotionStatistics()
    private var now: Instant?
    /// The steps that count only if more steps follow, each with the heading of the device in radians, or nil if it is
    /// unknown.
    private var pending: [Stride] = []
    /// The barometer's height at which the local frame's z is 0.
    private var zeroHeight: Double?
    /// The offset of z in metres that was set explicitly.
    var zOffset = 0.0
    private var height: Double?

    private struct Stride: Hashable, Sendable {
        var length: Double
        var heading: Double?
    }

    /// Creates a reckoner at the origin of its frame.
    ///
    /// - Parameters:
    ///   - settings: the settings; the default replaces a value that is out of range.
    ///   - model: the accuracy of steps and headings.
    ///   - calibration: the step length that an earlier session learned.
    public init(
        settings: DeadReckoningSettings = DeadReckoningSettings(), model: MotionModel = MotionModel(),
        calibration: Calibration = Calibration()
    ) {
        self.settings = settings.inRange(or: DeadReckoningSettings())
        place = PedestrianEKF(
            model: model, scale: calibration.stepScale, scaleDeviation: min(calibration.stepDeviation, model.stepScale))
    }

    /// Handles a reading: motion, steps, pressure, and satellite positions during alignment. Ignores others.
    ///
    /// A fix refers to a map, and is ignored here; see ``correct(x:y:radius:)``.
    public mutating func observe(_ reading: SensorReading) {
        switch reading {
        case .motion(let sample):
            let time = pass(to: sample.instant)
            compass.observe(sample)
            let length = pedometer.detect(sample)
            classifier.observe(sample, settings)
            if let length { receive(Stride(length: length, heading: compass.course), at: time) }
        case .step(let step):
            let time = pass(to: step.instant)
            let length = pedometer.report(step)
            let heading = step.heading.map { $0 * .pi / 180 } ?? compass.course
            receive(Stride(length: length, heading: heading?.isFinite == true ? heading : nil), at: time)
        case .pressure(let sample):
            observe(sample)
        case .gnss(let fix):
            _ = pass(to: fix.instant)
            anchor.observe(fix, x: place.x, y: place.y)
        case .sighting, .advertisement, .fix, .range, .radio:
            break
        }
    }

    /// Advances the time without a reading, so that a walk without further steps ends.
    public mutating func advance(to instant: Instant) { _ = pass(to: instant) }

    /// Advances to the time of a reading and returns the reckoner's time, which never decreases.
    private mutating func pass(to instant: Instant) -> Instant {
        guard let before = now else {
            now = instant
            return instant
        }
        guard instant > before else { return before }
        let passed = before.duration(to: instant)
        if let kind = classifier.kind, passed <= Self.longestGap { statistics.add(passed, of: kind) }
        classifier.pass(to: instant, settings)
        if classifier.stepsInARow == 0 { pending.removeAll(keepingCapacity: true) }
        compass.pass(seconds: passed.seconds)
        place.pass(seconds: classifier.kind == .walking ? passed.seconds : 0)
        now = instant
        return instant
    }

    private mutating func receive(_ stride: Stride, at instant: Instant) {
        var stride = stride
        if case .stairs = climb.motion { stride.length = min(stride.length, settings.stairTread) }
        let sure = classifier.step(at: instant, settings)
        if classifier.stepsInARow == 1 { pending.removeAll(keepingCapacity: true) }
        pending.append(stride)
        guard sure > 0 else { return }
        for stride in pending.suffix(sure) {
            if let heading = stride.heading {
                place.step(length: stride.length, heading: heading)
            } else {
                place.stepAnywhere(length: stride.length)
            }
            statistics.steps += 1
            statistics.distance += stride.length * place.scale
        }
        pending.removeAll(keepingCapacity: true)
    }

    private mutating func observe(_ sample: PressureSample) {
        let time = pass(to: sample.instant)
        guard PressureMean.isPressure(sample.hectopascals) else { return }
        let measured = PressureMean.height(sample.hectopascals)
        climb.observe(measured, at: time, isWalking: classifier.kind == .walking, settings)
        guard let smooth = climb.height else { return }
        if let height, climb.motion != .level {
            statistics.ascent += max(0, smooth - height)
            statistics.descent += max(0, height - smooth)
        }
        height = smooth
        zeroHeight = zeroHeight ?? smooth
        floors.observe(smooth, isClimbing: climb.motion != .level, at: time, usual: settings.floorHeight)
    }

    /// Resets times, steps and distances; place, floor and heading stay.
    public mutating func resetStatistics() { statistics = MotionStatistics() }

    /// The height in metres above the origin of the frame, including the explicit offset.
    var z: Double { zOffset + (height ?? 0) - (zeroHeight ?? 0) }

    /// Sets the current z to a height.
    mutating func setZ(_ value: Double) { zOffset += value - z }

    /// Sets the floor, regardless of the barometer's readings.
    mutating func set(floor: Int) { floors.set(floor: floor, height: height) }

    /// The position of the frame on Earth, from a compass if it was not set.
    var earth: EarthAnchor {
        var earth = anchor
        if earth.bearing == nil, !earth.isSearching {
            earth.set(bearing: compass.ownBearing(declination: settings.magneticDeclination))
        }
        return earth
    }

    /// The heading of the device; nil before the first attitude.
    public var heading: Heading? {
        now.flatMap { compass.heading(at: $0, bearing: earth.bearing, declination: settings.magneticDeclination) }
    }

    /// The attitude of the device in the local frame; nil before the first reading of the sensors.
    public var attitude: Attitude? {
        guard let now, let rotation = compass.rotation else { return nil }
        return Attitude(instant: now, rotation: rotation)
    }

    /// The present estimate.
    public var estimate: MotionEstimate {
        var estimate = MotionEstimate(instant: now ?? .zero)
        estimate.kind = classifier.kind
        estimate.stepFrequency = classifier.stepFrequency
        estimate.vertical = climb.motion
        estimate.climbRate = climb.motion == .level ? 0 : climb.rate
        estimate.floor = floors.floor
        estimate.heading = heading
        estimate.attitude = compass.rotation
        estimate.position = Vector3(x: place.x, y: place.y, z: z)
        estimate.radius = place.radius
        estimate.altitude = height
        let earth = earth
        estimate.coordinate = earth.coordinate(x: place.x, y: place.y)
        estimate.alignment = earth.alignment
        estimate.statistics = statistics
        return estimate
    }
}

/// The settings of dead reckoning and of its updates.
public struct DeadReckoningSettings: Hashable, Sendable {
    /// The time between two motion estimates, at most a day; zero emits one for every reading.
    public var interval = Duration.milliseconds(100)
    /// Whether satellite positions determine the location of the local frame on Earth.
    public var estimationMode = EstimationMode.local
    /// The minimum change of the heading in degrees to emit a new one, in [0, 180]; 0 emits every heading.
    public var headingFilter = 1.0
    /// The minimum change of the attitude in degrees to emit a new one, in [0, 180]; 0 emits every attitude.
    public var attitudeFilter = 1.0
    /// The magnetic declination in degrees, in [-180, 180]: the angle from true north eastwards to magnetic north.
    public var magneticDeclination = 0.0
    /// The number of consecutive steps that indicate walking, in [1, 20].
    package var stepsToWalk = Expert.stepsToWalk
    /// The maximum time between two steps of a walking user; above 0 s, at most a day.
    package var longestStep = Expert.longestStep
    /// The standard deviation of the acceleration in m/s² above which the device is moving, in [0.001, 100].
    package var fidgetAcceleration = Expert.fidgetAcceleration
    /// The rotation rate in rad/s above which the device is moving, in [0.001, 100].
    package var fidgetRotation = Expert.fidgetRotation
    /// How long the device must be still to be stationary, from 0 s to a day.
    package var settleTime = Expert.settleTime
    /// The default floor height in metres, in [1, 100].
    public var floorHeight = 4.5
    /// The vertical speed in m/s above which the user changes height, in [0.01, 10].
    package var climbSpeed = Expert.climbSpeed
    /// The vertical speed in m/s, in [0.01, 10], above which a standing user is in an elevator, and below which on an
    /// escalator.
    package var elevatorSpeed = Expert.elevatorSpeed
    /// The horizontal length of a step on stairs in metres, in [0, 2]: the depth of a tread.
    ///
    /// Source: ISO 21542:2021 requires at least 0.3 m.
    package var stairTread = Expert.stairTread
    /// The time for which a session without any beacon stays in the forced venue, by a submitted place and the motion
    /// after it; from 0 s to a day. After a failure of the radio for this long, the session loses the venue.
    public var reckoningLimit = Duration.seconds(1800)

    /// Creates the settings with their defaults.
    public init() {}
}

extension DeadReckoningSettings {
    /// The list of all motion settings.
    package static let list: [Setting<DeadReckoningSettings>] = publicList + expertList

    private static let publicList: [Setting<DeadReckoningSettings>] = [
        .duration(
            "interval", \.interval, from: .zero, better: .smaller,
            "The time between two motion estimates; 0 emits one for every reading."),
        .choice(
            "estimationMode", \.estimationMode, fromWorst: [.local, .global],
            "Whether satellite positions determine the location of the local frame on Earth."),
        .number(
            "headingFilter", \.headingFilter, in: 0...180, unit: "°", better: .smaller,
            "The minimum change of the heading to emit a new one; 0 emits every heading."),
        .number(
            "attitudeFilter", \.attitudeFilter, in: 0...180, unit: "°", better: .smaller,
            "The minimum change of the attitude to emit a new one; 0 emits every attitude."),
        .number(
            "magneticDeclination", \.magneticDeclination, in: -180...180, unit: "°",
            "The magnetic declination: the angle from true north eastwards to magnetic north."),
        .duration(
            "reckoningLimit", \.reckoningLimit, from: .zero,
            "How long external fixes and motion keep a session in the forced venue without beacons. "
                + "If the radio fails for this long, the session leaves the venue."),
        .number(
            "floorHeight", \.floorHeight, in: 1...100, unit: "m", "The default floor height."),
    ]

    /// Returns these settings; replaces each value that is out of range by the value in `other`.
    func inRange(or other: DeadReckoningSettings) -> DeadReckoningSettings {
        var settings = self
        for setting in Self.list where !setting.limits.contains(setting.read(self)) {
            setting.write(&settings, setting.read(other))
        }
        return settings
    }
}

/// Whether a session determines from satellites where its local frame lies on Earth.
public enum EstimationMode: String, Hashable, Sendable, CaseIterable {
    /// Motion estimates are in metres from the origin; they have coordinates only if the program or a venue sets the
    /// frame's location on Earth.
    case local
    /// The session uses satellites from its start: after some ten metres of walking outdoors, estimates have
    /// coordinates.
    case global
}

/// The rate at which a session uses satellite positions.
public enum SatelliteUse: String, Hashable, Sendable, CaseIterable {
    /// The session uses no satellite positions: neither for the venue, nor outdoors, nor for motion.
    case off
    /// The session uses one satellite position every ten seconds.
    case lowAccuracy
    /// The session uses all satellite positions.
    case highAccuracy

    /// The time between two used positions; nil if no positions are used.
    package var interval: Duration? {
        switch self {
        case .off: nil
        case .lowAccuracy: .seconds(10)
        case .highAccuracy: .zero
        }
    }
}

/// The reason why a dead reckoner rejects a value.
public enum DeadReckoningError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A place or a heading is not finite, or a coordinate is invalid.
    case invalidPlace
    /// A radius is negative or not finite.
    case invalidRadius(Double)
    /// The accuracy of a heading, in degrees, is negative or not finite.
    case invalidAccuracy(Double)
    /// The height of a floor is not in [0.1, 100] m.
    case invalidFloorHeight(Double)
    /// The position of the local frame on Earth is unknown.
    case notOnEarth

    public var description: String {
        switch self {
        case .invalidPlace: "the place or heading is invalid; give finite numbers, latitude and longitude in range"
        case .invalidRadius(let radius): "the radius \(radius) is invalid; give one of 0 m or more"
        case .invalidAccuracy(let degrees): "the heading accuracy \(degrees)° is invalid; give 0° or more"
        case .invalidFloorHeight(let height): "the floor height \(height) m is invalid; give one from 0.1 to 100 m"
        case .notOnEarth:
            "the local frame has no position on Earth; call setGlobalPosition or alignWithSatellites first"
        }
    }
}

// Corrections by the program. `set…` replaces a value, `offset…` changes it by an amount.
extension DeadReckoner {
    /// Sets the place of the device in the local frame, in metres.
    ///
    /// - Parameters:
    ///   - x: metres to the right of the frame's origin.
    ///   - y: metres ahead of it.
    ///   - z: metres above it; nil keeps the height.
    ///   - radius: the 68 % radius in metres, from which the uncertainty grows.
    /// - Throws: `DeadReckoningError` if a number is invalid.
    public mutating func setPosition(x: Double, y: Double, z: Double? = nil, radius: Double = 0)
        throws(DeadReckoningError)
    {
        try Self.check([x, y, z ?? 0], radius)
        place.set(x: x, y: y, radius: radius)
        if let z { setZ(z) }
    }

    /// Moves the device in the local frame, in metres; its uncertainty stays.
    ///
    /// - Throws: `DeadReckoningError` if a number is invalid.
    public mutating func offsetPosition(x: Double, y: Double, z: Double = 0) throws(DeadReckoningError) {
        try Self.check([x, y, z])
        place.offset(x: x, y: y)
        zOffset += z
    }

    /// Corrects the estimate with a measured place, weighted by its radius.
    ///
    /// The displacement since the previous correction also corrects the angle between the device and the direction of
    /// walking, and the step length.
    /// - Throws: `DeadReckoningError` if a number is invalid.
    public mutating func correct(x: Double, y: Double, radius: Double) throws(DeadReckoningError) {
        try Self.check([x, y], radius)
        place.correct(x: x, y: y, radius: radius)
    }

    /// Sets the heading of the device, in degrees clockwise from the local frame's y axis.
    ///
    /// Before the first attitude, the reckoner stores the heading and applies it to that attitude.
    ///
    /// - Parameters:
    ///   - course: degrees clockwise.
    ///   - accuracy: the 68 % radius in degrees.
    /// - Throws: `DeadReckoningError` if a number is invalid.
    public mutating func setHeading(_ course: Double, accuracy: Double = 5) throws(DeadReckoningError) {
        try Self.check(course, accuracy: accuracy)
        compass.set(course: course, accuracy: accuracy)
        place.setBias(0, deviation: accuracy * .pi / 180)
    }

    /// Turns the heading clockwise by a number of degrees.
    ///
    /// - Throws: `DeadReckoningError` if the number is not finite.
    public mutating func offsetHeading(by degrees: Double) throws(DeadReckoningError) {
        try Self.check([degrees])
        compass.turn(by: degrees)
    }

    /// Sets the coordinate of the device; its place in the local frame stays.
    ///
    /// Estimates have coordinates once the frame's bearing is known, too: from a compass, or from
    /// ``setGlobalHeading(_:accuracy:)``.
    ///
    /// - Throws: `DeadReckoningError` if the coordinate is invalid.
    public mutating func setGlobalPosition(_ coordinate: Coordinate) throws(DeadReckoningError) {
        guard coordinate.isValid else { throw .invalidPlace }
        anchor.set(coordinate, x: place.x, y: place.y)
    }

    /// Sets the heading of the device in degrees clockwise from true north, which determines the bearing of the local
    /// frame.
    ///
    /// - Parameters:
    ///   - trueNorth: degrees clockwise.
    ///   - accuracy: the 68 % radius in degrees.
    /// - Throws: `DeadReckoningError` if a number is invalid.
    public mutating func setGlobalHeading(_ trueNorth: Double, accuracy: Double = 5) throws(DeadReckoningError) {
        try Self.check(trueNorth, accuracy: accuracy)
        let course = (compass.course ?? 0) * 180 / .pi
        compass.set(course: course, accuracy: accuracy)
        anchor.set(bearing: trueNorth - course)
    }

    /// Sets the bearing of the local frame's y axis, in degrees clockwise from true north; nil if it is unknown.
    ///
    /// In a venue, this is the bearing of the plan's top. From then on, a compass gives headings relative to the
    /// frame, unless the heading was set explicitly.
    package mutating func setFrameBearing(_ bearing: Double?) {
        let bearing = bearing.flatMap { $0.isFinite ? $0 : nil }
        anchor.set(bearing: bearing)
        compass.setNorth(bearing.map { settings.magneticDeclination - $0 })
    }

    /// Begins to determine the frame's position on Earth from satellites, which takes some ten metres of walking
    /// outdoors.
    public mutating func alignWithSatellites() { anchor.align() }

    /// Corrects the estimate with a coordinate, weighted by its radius, as ``correct(x:y:radius:)`` does with a place.
    ///
    /// - Throws: `DeadReckoningError` if the coordinate is invalid, or if the local frame has no position on Earth.
    public mutating func correct(_ coordinate: Coordinate, radius: Double) throws(DeadReckoningError) {
        guard coordinate.isValid else { throw .invalidPlace }
        guard let point = earth.place(of: coordinate) else { throw .notOnEarth }
        try correct(x: point.x, y: point.y, radius: radius)
    }

    /// Sets the floor that the device is on, from which the barometer counts.
    public mutating func setFloor(_ floor: Int) { set(floor: floor) }

    /// Sets the height in metres from a floor up to the next one; the other floors use
    /// ``DeadReckoningSettings/floorHeight``.
    ///
    /// A later height of the same floor replaces the earlier one.
    /// - Throws: `DeadReckoningError` if the height is not from 0.1 to 100 m.
    public mutating func addFloor(_ floor: Int, height: Double) throws(DeadReckoningError) {
        guard Self.storeyHeights.contains(height) else { throw .invalidFloorHeight(height) }
        floors.setHeight(height, of: floor)
    }

    /// Replaces the heights in metres from a floor up to the next one, by the floor; other floors use the default height, and so
    /// does one with an impossible height, such as that of two plans of the same elevation.
    package mutating func setFloorHeights(_ heights: [Int: Double]) {
        floors.setHeights(heights.filter { Self.storeyHeights.contains($0.value) })
    }

    private static let storeyHeights = 0.1...100

    /// Sets the step length relative to the detector's measurement, from the calibration of a session.
    package mutating func begin(with calibration: Calibration) {
        place.setScale(calibration.stepScale, deviation: calibration.stepDeviation)
    }

    private static func check(_ heading: Double, accuracy: Double) throws(DeadReckoningError) {
        try check([heading])
        guard accuracy >= 0, accuracy.isFinite else { throw .invalidAccuracy(accuracy) }
    }

    private static func check(_ numbers: [Double], _ radius: Double = 0) throws(DeadReckoningError) {
        guard numbers.allSatisfy({ abs($0) <= 1e9 }) else { throw .invalidPlace }
        guard radius >= 0, radius.isFinite else { throw .invalidRadius(radius) }
    }
}
