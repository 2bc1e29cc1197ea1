import IndoorVocabulary

/// The alternation of scan passes and rests of a radio.
///
///     scan ████______________________________________████______________
///          10 s          90 s × intervalFactor       10 s
public struct DutyCycle: Hashable, Sendable {
    /// The duration of one pass, from 10 ms to a day.
    public var scanDuration = Duration.seconds(10)
    /// The rest between two passes, from 0 s to a day.
    public var interval = Duration.seconds(90)
    /// The factor of `interval`, in [0, 1000].
    public var intervalFactor = 1.0
    /// Whether the radio scans in a single pass, which ends with `stop()`; the other settings then have no effect.
    public var isContinuous = false

    /// Creates the cycle with its defaults: passes of 10 s in every 100 s.
    public init() {}

    /// Creates a cycle without checking it; see `problems`.
    public init(scanDuration: Duration, interval: Duration, intervalFactor: Double = 1) {
        self.scanDuration = scanDuration
        self.interval = interval
        self.intervalFactor = intervalFactor
    }

    /// A cycle with one endless pass.
    public static var continuous: DutyCycle {
        var cycle = DutyCycle()
        cycle.isContinuous = true
        return cycle
    }

    /// The share of the time in which the radio scans, in (0, 1].
    public var share: Double {
        isContinuous ? 1 : scanDuration.seconds / (scanDuration.seconds + interval.seconds * intervalFactor)
    }

    /// The values that are out of range; empty if all are valid.
    public var problems: [String] { Self.list.problems(in: self, prefix: "dutyCycle.") }

    /// The time between two passes of a valid cycle.
    var pause: Duration { interval * intervalFactor }
}

extension DutyCycle {
    /// The list of the settings of a duty cycle.
    package static let list: [Setting<DutyCycle>] = [
        .duration(
            "scanDuration", \.scanDuration, from: .milliseconds(10), better: .greater, "The duration of one pass."),
        .duration(
            "interval", \.interval, from: .zero, better: .smaller, "The rest between two passes."),
        .number(
            "intervalFactor", \.intervalFactor, in: 0...1000, better: .smaller,
            "The factor of `interval`."),
        .flag(
            "isContinuous", \.isContinuous, better: true,
            "Whether there is a single pass, which ends with `stop()`; the other settings then have no effect."),
    ]
}
