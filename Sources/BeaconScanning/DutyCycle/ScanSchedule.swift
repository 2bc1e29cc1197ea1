import IndoorVocabulary

/// When a radio rests, and how much of the time it listens while it scans.
public struct ScanSchedule: Hashable, Sendable {
    /// When passes begin and end.
    public var cycle: DutyCycle
    /// How much of the time the radio listens during a pass; nil leaves that to the source.
    public var timing: ScanTiming?

    /// Creates a schedule, by default of one pass without an end.
    public init(cycle: DutyCycle = .continuous, timing: ScanTiming? = nil) {
        self.cycle = cycle
        self.timing = timing
    }

    /// What is out of range; empty if all is well.
    public var problems: [String] { cycle.problems + (timing?.problems ?? []) }
}
