import IndoorVocabulary

/// A counter of the carrier's steps, each once: those that the device reports, or those that its accelerometer shows.
///
/// A device that reports its steps has an accelerometer, too, and both show the same steps. A reported step therefore
/// suppresses detected ones for a while.
package struct Pedometer: Hashable, Sendable {
    /// A reported step suppresses detected steps before and after it for this long.
    private static let precedence = Duration.seconds(10)
    /// The length in metres of a reported step without a plausible one.
    private static let usualLength = 0.7
    /// The longest plausible step, in metres.
    private static let longestLength = 10.0

    private var detector = StepDetector()
    private var lastReport: Instant?

    /// The course of the device in radians clockwise from the plan's top, by its attitude; nil if that is unknown.
    package var heading: Double? { detector.heading }
    /// The time of the latest reading of the accelerometer; nil if there is none.
    package var lastReading: Instant? { detector.lastReading }

    /// Creates a pedometer without readings.
    package init() {}

    /// Reads a sample.
    ///
    /// - Returns: the length in metres of the step that ends with it; nil if none does, or if the device reports its steps.
    package mutating func detect(_ sample: MotionSample) -> Double? {
        let length = detector.observe(sample)
        guard let lastReport else { return length }
        let age = lastReport.duration(to: sample.instant)
        return age < Self.precedence && age > .zero - Self.precedence ? nil : length
    }

    /// Reads a step that the device reports.
    ///
    /// - Returns: its length in metres: a usual one where the device reports none from 0 to 10 m.
    package mutating func report(_ step: Step) -> Double {
        lastReport = step.instant
        return step.length.flatMap { (0...Self.longestLength).contains($0) ? $0 : nil } ?? Self.usualLength
    }
}
