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
