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
        let interval = lastSample.map { $0.duration(to: sample.instant).seconds } ?? .infinity
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
