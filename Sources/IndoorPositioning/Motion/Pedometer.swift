import IndoorVocabulary

/// A counter of the carrier's steps, which are reported by the device or detected from its accelerometer.
///
/// A device that reports steps also has an accelerometer, which shows the same steps. To count each step once, a
/// reported step suppresses detected steps for a while.
package struct Pedometer: Hashable, Sendable {
    /// The time before and after a reported step in which detected steps are suppressed.
    private static let precedence = Duration.seconds(10)
    /// The length in metres of a reported step without a plausible length.
    private static let usualLength = 0.7
    /// The maximum plausible length of a step in metres.
    private static let longestLength = 10.0

    private var detector = StepDetector()
    private var lastReport: Instant?

    /// The course of the device in radians clockwise from the plan's top, from its attitude; nil if the attitude is
    /// unknown.
    package var heading: Double? { detector.heading }
    /// The time of the latest reading of the accelerometer; nil if there is none.
    package var lastReading: Instant? { detector.lastReading }

    /// Creates a pedometer without readings.
    package init() {}

    /// Handles a sample.
    ///
    /// - Returns: the length in metres of the step that ends with the sample; nil if no step ends, or if the device
    ///   reports its steps.
    package mutating func detect(_ sample: MotionSample) -> Double? {
        let length = detector.observe(sample)
        guard let lastReport else { return length }
        let age = lastReport.duration(to: sample.instant)
        return age < Self.precedence && age > .zero - Self.precedence ? nil : length
    }

    /// Handles a step that the device reports.
    ///
    /// - Returns: the length of the step in metres; 0.7 m if the device reports no length in the range from 0 to 10 m.
    package mutating func report(_ step: Step) -> Double {
        lastReport = step.instant
        return step.length.flatMap { (0...Self.longestLength).contains($0) ? $0 : nil } ?? Self.usualLength
    }
}
