import IndoorVocabulary

/// A named combination of duty cycle and scan timing.
///
/// Configuration files use the numbers. A higher number doesn't necessarily save more power.
///
/// | mode | number | radio listens | passes | share of the time |
/// | --- | --- | --- | --- | --- |
/// | `none` | 0 | 60 of 60 ms | one, endless | 100 % |
/// | `aggressive` | 1 | 30 of 60 ms | one, endless | 50 % |
/// | `normal` | 2 | 60 of 60 ms | 10 s of every 30 s | 33 % |
/// | `eco` | 3 | 60 of 60 ms | 10 s of every 100 s | 10 % |
public enum PowerMode: Int, Hashable, Sendable, CaseIterable {
    /// The radio listens all the time. Use this mode for localization.
    case none = 0
    /// The radio listens half of the time, and still receives each beacon that sends several advertisements per second
    /// at least once per second.
    case aggressive = 1
    /// The radio rests for 20 s between passes of 10 s.
    case normal = 2
    /// The radio rests for 90 s between passes of 10 s: the default of `DutyCycle`.
    case eco = 3

    /// The scan timing within a pass.
    ///
    /// The Linux kernel scans 30 of every 60 ms to find known devices (`le_scan_window` and `le_scan_interval` in its
    /// net/bluetooth/hci_core.c). For the same power, a short pass without gaps receives more than a longer pass with
    /// gaps.
    public var timing: ScanTiming {
        switch self {
        case .none, .normal, .eco: .whole
        case .aggressive: .half
        }
    }

    /// The times of the passes.
    public var dutyCycle: DutyCycle {
        switch self {
        case .none, .aggressive: .continuous
        case .normal: DutyCycle(scanDuration: .seconds(10), interval: .seconds(20))
        case .eco: DutyCycle()
        }
    }
}
