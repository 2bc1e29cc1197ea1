import CMath
import IndoorVocabulary

/// Follows a device by its motion alone: what it does, where it points, and where steps and stairs have led it.
///
///     var reckoner = DeadReckoner()
///     reckoner.setPosition(x: 4, y: 2, radius: 1)
///     for reading in readings {
///         reckoner.observe(reading)
///         print(reckoner.estimate.position, reckoner.estimate.radius)
///     }
///
/// The local frame is flat, in metres: x to the right, y ahead, z up. It begins where the device is and, with a compass, has y to
/// magnetic north; without one, y is where the device pointed first; with attitudes that the device gives itself, y is
/// theirs, in a venue the plan's top. Headings are degrees clockwise from y.
///
/// A value without a clock: equal readings give equal estimates.
public struct DeadReckoner: Hashable, Sendable {
    /// Readings further apart than this leave a time of which nothing is known.
    private static let longestGap = Duration.seconds(1)

    /// How motion is judged. A value out of its range has no effect: the earlier one stays.
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
    /// Steps that are walking only if more follow, with the heading in radians that the device had; nil if unknown.
    private var pending: [Stride] = []
    /// Barometer's height at which the local frame's z is 0.
    private var zeroHeight: Double?
    /// Metres that z was moved by hand.
    var zOffset = 0.0
    private var height: Double?

    private struct Stride: Hashable, Sendable {
        var length: Double
        var heading: Double?
    }

    /// Creates a reckoner that stands at the origin of its frame.
    ///
    /// - Parameters:
    ///   - settings: how motion is judged; in place of a value out of its range stands the default.
    ///   - model: how well steps and headings tell the way.
    ///   - calibration: what an earlier session learned of the length of a step.
    public init(
        settings: DeadReckoningSettings = DeadReckoningSettings(), model: MotionModel = MotionModel(),
        calibration: Calibration = Calibration()
    ) {
        self.settings = settings.inRange(or: DeadReckoningSettings())
        place = PedestrianEKF(
            model: model, scale: calibration.stepScale, scaleDeviation: min(calibration.stepDeviation, model.stepScale))
    }

    /// Takes in a reading: motion, steps, pressure, and while it is being aligned satellite positions. Others are ignored.
    ///
    /// A fix is for maps and tells nothing here; see ``correct(x:y:radius:)``.
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
        case .sighting, .advertisement, .fix, .radio:
            break
        }
    }

    /// Lets time pass without a reading: whoever takes no further step has stopped.
    public mutating func advance(to instant: Instant) { _ = pass(to: instant) }

    /// Time to which the reckoner has come, never backwards.
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

    /// Begins times, steps and ways anew; place, floor and heading stay.
    public mutating func resetStatistics() { statistics = MotionStatistics() }

    /// Metres above where the frame began; what was moved by hand included.
    var z: Double { zOffset + (height ?? 0) - (zeroHeight ?? 0) }

    /// Puts z to a height, now.
    mutating func setZ(_ value: Double) { zOffset += value - z }

    /// The floor that it is on, whatever the barometer has told so far.
    mutating func set(floor: Int) { floors.set(floor: floor, height: height) }

    /// Where the frame lies on Earth, by a compass if nobody said.
    var earth: EarthAnchor {
        var earth = anchor
        if earth.bearing == nil, !earth.isSearching {
            earth.set(bearing: compass.ownBearing(declination: settings.magneticDeclination))
        }
        return earth
    }

    /// Where the device points; nil before any sensor tells.
    public var heading: Heading? {
        now.flatMap { compass.heading(at: $0, bearing: earth.bearing, declination: settings.magneticDeclination) }
    }

    /// How the device is turned in the local frame; nil before any sensor tells.
    public var attitude: Attitude? {
        guard let now, let rotation = compass.rotation else { return nil }
        return Attitude(instant: now, rotation: rotation)
    }

    /// What is known now.
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
