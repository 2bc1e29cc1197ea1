import IndoorVocabulary

/// The duty cycle of a radio, and its scan timing within a pass.
public struct ScanSchedule: Hashable, Sendable {
    /// The times of the passes.
    public var cycle: DutyCycle
    /// The scan timing within a pass; nil for the default of the source.
    public var timing: ScanTiming?

    /// Creates a schedule; the default is one endless pass.
    public init(cycle: DutyCycle = .continuous, timing: ScanTiming? = nil) {
        self.cycle = cycle
        self.timing = timing
    }

    /// The values that are out of range; empty if all are valid.
    public var problems: [String] { cycle.problems + (timing?.problems ?? []) }
}
