import CMath
import IndoorVocabulary

/// A classifier of motion as stationary, fidgeting or walking, from accelerometer, gyroscope and steps.
///
/// Walking begins after a number of consecutive steps and ends when the next step is missing. Fidgeting begins with the
/// first movement and ends after a quiet time. These conditions prevent rapid changes. Source of the features, which
/// are the variance of the acceleration and the step rhythm: A. Brajdic, R. Harle, *Walk Detection and Step Counting on
/// Unconstrained Smartphones*, UbiComp 2013.
struct MotionClassifier: Hashable, Sendable {
    /// The time constant in seconds of the moving mean and variance: the duration of one or two steps.
    private static let window = 0.7
    /// The maximum gap between readings in seconds; after a longer gap, the statistics start again.
    private static let longestGap = 1.0
    /// The time constant in seconds of the cadence: the last three steps have the most weight.
    private static let rhythm = 1.5

    /// The current kind of motion; nil before the first reading.
    private(set) var kind: MotionKind?
    /// The number of steps per second while walking; 0 otherwise.
    var stepFrequency: Double { kind == .walking ? cadence : 0 }

    private var mean = 0.0
    private var variance = 0.0
    private var turning = 0.0
    private var lastSample: Instant?
    /// The time of the latest movement of the device.
    private var lastUnrest: Instant?
    private var lastStep: Instant?
    /// The number of consecutive steps up to the latest one.
    private(set) var stepsInARow = 0
    private var cadence = 0.0

    /// Handles a reading of the inertial sensors.
    mutating func observe(_ sample: MotionSample, _ settings: DeadReckoningSettings) {
        guard sample.acceleration != nil || sample.rotationRate != nil else { return }
        let interval = lastSample.map { $0.seconds(to: sample.instant) } ?? .infinity
        guard interval > 0 else { return }
        lastSample = sample.instant
        let share = interval < Self.longestGap ? min(1, interval / Self.window) : 1
        if let magnitude = sample.acceleration?.length, magnitude.isFinite {
            if share == 1 { (mean, variance) = (magnitude, 0) }
            let difference = magnitude - mean
            mean += share * difference
            variance = (1 - share) * (variance + share * difference * difference)
        }
        if let rate = sample.rotationRate?.length, rate.isFinite { turning += share * (rate * rate - turning) }
        let isMoved =
            variance.squareRoot() > settings.fidgetAcceleration || turning.squareRoot() > settings.fidgetRotation
        if isMoved || lastUnrest == nil { lastUnrest = sample.instant }
        decide(at: sample.instant, settings)
    }

    /// Handles a step that ends now.
    ///
    /// - Returns: the number of steps that it confirms: 0 before walking begins, all pending steps when it begins, then
    ///   1.
    mutating func step(at now: Instant, _ settings: DeadReckoningSettings) -> Int {
        let interval = lastStep.map { $0.duration(to: now) } ?? .seconds(86_400)
        lastStep = now
        guard interval > .zero, interval <= settings.longestStep else {
            (stepsInARow, cadence) = (1, 0)
            decide(at: now, settings)
            return settings.stepsToWalk <= 1 ? 1 : 0
        }
        stepsInARow += 1
        let rate = 1 / interval.seconds
        cadence += (rate - cadence) * (cadence == 0 ? 1 : 1 - cmath_exp(-interval.seconds / Self.rhythm))
        decide(at: now, settings)
        if stepsInARow < settings.stepsToWalk { return 0 }
        return stepsInARow == settings.stepsToWalk ? stepsInARow : 1
    }

    /// Advances the time without a reading.
    mutating func pass(to now: Instant, _ settings: DeadReckoningSettings) { decide(at: now, settings) }

    private mutating func decide(at now: Instant, _ settings: DeadReckoningSettings) {
        if let lastStep, lastStep.duration(to: now) > settings.longestStep { stepsInARow = 0 }
        if stepsInARow >= settings.stepsToWalk {
            kind = .walking
        } else if let lastUnrest {
            let isQuiet = lastUnrest.duration(to: now) >= settings.settleTime
            kind = isQuiet ? .stationary : kind == nil && variance == 0 ? nil : .fidgeting
        } else if lastStep != nil {
            // A device that reports only steps is stationary between them.
            kind = .stationary
        }
    }
}

/// A classifier of vertical motion from the barometer's height: its direction, its rate, and whether it is by stairs,
/// escalator or elevator.
///
/// The pressure gives the rate, the steps distinguish stairs from escalators and elevators, and the rate distinguishes
/// escalators from elevators. Source of the idea: K. Muralidharan, A. J. Khan, A. Misra, R. K. Balan, S. Agarwal,
/// *Barometric Phone Sensors: More Hype Than Hope!*, HotMobile 2014.
struct ClimbClassifier: Hashable, Sendable {
    private struct Entry: Hashable, Sendable {
        var seconds: Double
        var height: Double
    }

    /// The length of the window in seconds. A slow walk on stairs changes the height by a metre in this time; the noise
    /// of a barometer is smaller.
    private static let window = 4.0
    /// The minimum difference of height within the window, in metres; a smaller one is noise.
    private static let span = 0.7
    /// The shortest time in seconds between two stored heights; heights in between are averaged.
    private static let spacing = 0.4

    private var entries: [Entry] = []
    /// The number of heights in the mean of the last entry.
    private var latestCount = 0
    private var start: Instant?
    private var isClimbing = false
    private var fastest = 0.0
    private var walked = 0.0
    private var stood = 0.0

    /// The climb rate in metres per second, positive upwards.
    private(set) var rate = 0.0
    /// The current vertical motion.
    private(set) var motion = VerticalMotion.level
    /// The mean height of the last second in metres; nil before the first one.
    private(set) var height: Double?

    /// Handles a height in metres.
    mutating func observe(_ height: Double, at now: Instant, isWalking: Bool, _ settings: DeadReckoningSettings) {
        let begin = start ?? now
        start = begin
        let seconds = begin.seconds(to: now)
        let last = entries.last?.seconds ?? -.infinity
        guard seconds >= last else { return }
        let elapsed = entries.isEmpty ? 0 : min(seconds - last, Self.window)
        add(Entry(seconds: seconds, height: height))
        entries.removeAll { $0.seconds < seconds - Self.window }
        let recent = entries.suffix(2)
        self.height = recent.reduce(0) { $0 + $1.height } / Double(recent.count)
        rate = slope
        decide(settings)
        if isClimbing {
            if isWalking { walked += elapsed } else { stood += elapsed }
            fastest = max(fastest, abs(rate))
        } else {
            (fastest, walked, stood) = (0, 0, 0)
        }
        motion = isClimbing ? means(settings) : .level
    }

    private mutating func add(_ entry: Entry) {
        if let last = entries.last, entry.seconds - last.seconds < Self.spacing {
            latestCount += 1
            let share = 1 / Double(latestCount)
            entries[entries.count - 1].height += (entry.height - last.height) * share
        } else {
            entries.append(entry)
            latestCount = 1
        }
    }

    /// The slope of the heights, by least squares over the window.
    private var slope: Double {
        guard entries.count >= 3 else { return 0 }
        let count = Double(entries.count)
        let middle = entries.reduce(0) { $0 + $1.seconds } / count
        let mean = entries.reduce(0) { $0 + $1.height } / count
        let (above, below) = entries.reduce((0.0, 0.0)) { sums, entry in
            let time = entry.seconds - middle
            return (sums.0 + time * (entry.height - mean), sums.1 + time * time)
        }
        return below > 0 ? above / below : 0
    }

    /// Updates the motion. A climb begins at a minimum difference of height and a minimum rate, and ends below half of
    /// that rate.
    private mutating func decide(_ settings: DeadReckoningSettings) {
        let heights = entries.map(\.height)
        let span = (heights.max() ?? 0) - (heights.min() ?? 0)
        if isClimbing {
            isClimbing = abs(rate) > settings.climbSpeed / 2
        } else {
            isClimbing = abs(rate) > settings.climbSpeed && span > Self.span
        }
    }

    private func means(_ settings: DeadReckoningSettings) -> VerticalMotion {
        let direction = rate > 0 ? VerticalMotion.Direction.up : .down
        if walked >= stood { return .stairs(direction) }
        return fastest >= settings.elevatorSpeed ? .elevator(direction) : .escalator(direction)
    }
}

/// A counter of floors by the barometer's height; without a barometer, the floor changes only if it is set.
struct FloorCounter: Hashable, Sendable {
    /// The share of the height to the next floor above which the device is on that floor.
    private static let switchShare = 0.6
    /// The time constant in seconds with which a floor's height follows the barometer while the device doesn't climb;
    /// this corrects for the weather and for inexact floor heights.
    private static let settling = 8.0

    /// The ordinal of the floor; the initial floor is 0 unless it was set.
    private(set) var floor = 0
    /// The barometer's height on the current floor, in metres; nil before a reading.
    private var reference: Double?
    private var lastHeight: Instant?
    /// The height in metres from a floor up to the next one, by the floor's number.
    private var heights: [Int: Double] = [:]

    /// Sets the floor; the barometer's current height becomes the height of the floor.
    mutating func set(floor: Int, height: Double?) {
        self.floor = floor
        reference = height
    }

    /// Sets the height in metres from a floor up to the next one.
    mutating func setHeight(_ metres: Double, of floor: Int) { heights[floor] = metres }

    /// Replaces all these heights.
    mutating func setHeights(_ heights: [Int: Double]) { self.heights = heights }

    /// Handles a height in metres.
    mutating func observe(_ height: Double, isClimbing: Bool, at now: Instant, usual: Double) {
        let seconds = lastHeight.map { max(0, $0.seconds(to: now)) } ?? 0
        lastHeight = now
        guard var reference else { return self.reference = height }
        // The limit bounds the loop if a broken barometer reports an impossible height; no building has as many floors.
        for _ in 0..<200 {
            let offset = height - reference
            let step = offset > 0 ? storeyHeight(from: floor, usual) : storeyHeight(from: floor - 1, usual)
            guard abs(offset) > Self.switchShare * step else { break }
            floor += offset > 0 ? 1 : -1
            reference += offset > 0 ? step : -step
        }
        if !isClimbing { reference += (height - reference) * min(1, seconds / Self.settling) }
        self.reference = reference
    }

    /// Returns the height in metres from a floor up to the next one.
    private func storeyHeight(from floor: Int, _ usual: Double) -> Double { heights[floor] ?? usual }
}
