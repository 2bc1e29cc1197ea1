import IndoorVocabulary

/// When a radio scans: for a while, then not for a while, and so on.
///
///     scan ████______________________________________████______________
///          10 s          90 s × intervalFactor       10 s
public struct DutyCycle: Hashable, Sendable {
    /// How long one pass takes, from 10 ms to a day.
    public var scanDuration = Duration.seconds(10)
    /// How long the radio rests between two passes, from 0 s to a day.
    public var interval = Duration.seconds(90)
    /// What `interval` is multiplied by, in [0, 1000].
    public var intervalFactor = 1.0
    /// Whether there is a single pass, which ends with `stop()`; the other settings are then of no effect.
    public var isContinuous = false

    /// Creates the cycle with its defaults: 10 s of every 100 s.
    public init() {}

    /// Creates a cycle; what is out of range is told by `problems`.
    public init(scanDuration: Duration, interval: Duration, intervalFactor: Double = 1) {
        self.scanDuration = scanDuration
        self.interval = interval
        self.intervalFactor = intervalFactor
    }

    /// One pass without an end.
    public static var continuous: DutyCycle {
        var cycle = DutyCycle()
        cycle.isContinuous = true
        return cycle
    }

    /// The share of the time in which the radio scans, in (0, 1].
    public var share: Double {
        isContinuous ? 1 : scanDuration.seconds / (scanDuration.seconds + interval.seconds * intervalFactor)
    }

    /// What is out of range; empty if all is well.
    public var problems: [String] { Self.list.problems(in: self, prefix: "dutyCycle.") }

    /// The time between two passes of a cycle without problems.
    var pause: Duration { interval * intervalFactor }
}

extension DutyCycle {
    /// The settings of a duty cycle, each once.
    package static let list: [Setting<DutyCycle>] = [
        .duration(
            "scanDuration", \.scanDuration, from: .milliseconds(10), better: .greater, "How long one pass takes."),
        .duration(
            "interval", \.interval, from: .zero, better: .smaller, "How long the radio rests between two passes."),
        .number(
            "intervalFactor", \.intervalFactor, in: 0...1000, better: .smaller,
            "What the rest between two passes is multiplied by."),
        .flag(
            "isContinuous", \.isContinuous, better: true,
            "Whether there is a single pass without an end; the other settings are then of no effect."),
    ]
}
