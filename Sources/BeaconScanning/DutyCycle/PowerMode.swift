import IndoorVocabulary

/// How much power a scan may take, as one word for a timing of the radio and a duty cycle.
///
/// The numbers are those that configuration files use. They are names: greater does not mean thriftier.
///
/// | mode | number | radio listens | passes | share of the time |
/// | --- | --- | --- | --- | --- |
/// | `none` | 0 | 60 of 60 ms | one without an end | 100 % |
/// | `aggressive` | 1 | 30 of 60 ms | one without an end | 50 % |
/// | `normal` | 2 | 60 of 60 ms | 10 s of every 30 s | 33 % |
/// | `eco` | 3 | 60 of 60 ms | 10 s of every 100 s | 10 % |
public enum PowerMode: Int, Hashable, Sendable, CaseIterable {
    /// No power is saved: everything is heard. What localization wants.
    case none = 0
    /// Half of the power is saved; every beacon that advertises several times a second is still heard each second.
    case aggressive = 1
    /// The radio rests for 20 s between passes of 10 s.
    case normal = 2
    /// The radio rests for 90 s between passes of 10 s: the default of `DutyCycle`.
    case eco = 3

    /// How much of the time the radio listens during a pass.
    ///
    /// 30 of 60 ms is what the Linux kernel itself uses to look for known devices (`le_scan_window` and
    /// `le_scan_interval` in its net/bluetooth/hci_core.c). Within a pass that ends anyway, a
    /// radio that listens all the time hears more for the same power than a longer pass with gaps.
    public var timing: ScanTiming {
        switch self {
        case .none, .normal, .eco: .whole
        case .aggressive: .half
        }
    }

    /// When passes begin and end.
    public var dutyCycle: DutyCycle {
        switch self {
        case .none, .aggressive: .continuous
        case .normal: DutyCycle(scanDuration: .seconds(10), interval: .seconds(20))
        case .eco: DutyCycle()
        }
    }
}
