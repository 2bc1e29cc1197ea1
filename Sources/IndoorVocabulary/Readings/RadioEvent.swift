/// A change of the status of a scanning radio.
public struct RadioEvent: Hashable, Sendable {
    /// Whether a radio receives, and if not, the reason.
    public enum Status: String, Hashable, Sendable, CaseIterable {
        /// The radio scans, and the source delivers every report.
        case scanning
        /// The radio receives during the scan of another program: reports may be filtered or merged.
        case sharing
        /// The radio is off until the next pass of its duty cycle; this is not a failure.
        case resting
        /// The adapter is powered off; the scan continues when it is powered on.
        case poweredOff
        /// The adapter is blocked by a radio switch (rfkill).
        case blocked
        /// The adapter is missing; the scan continues when it is plugged in.
        case unplugged
        /// The Bluetooth service is not running; the scan continues when it is started.
        case serviceLost
        /// The adapter refused to scan; the source tries again.
        case refused

        /// Whether the radio receives advertisements.
        package var isHearing: Bool { self == .scanning || self == .sharing }

        /// Whether a failure prevents the scan; `resting` is not a failure.
        package var isFailure: Bool { !isHearing && self != .resting }
    }

    /// When the status changed.
    public var instant: Instant
    /// The new status.
    public var status: Status
    /// The name of the adapter, such as "hci0"; nil if unknown.
    public var adapter: String?
    /// Further information for the user; nil if there is none.
    public var detail: String?

    /// Creates an event from its parts.
    public init(instant: Instant, status: Status, adapter: String? = nil, detail: String? = nil) {
        self.instant = instant
        self.status = status
        self.adapter = adapter
        self.detail = detail
    }
}

extension RadioEvent: CustomStringConvertible {
    public var description: String {
        let what =
            switch status {
            case .scanning: "scans"
            case .sharing: "receives during the scan of another program"
            case .resting: "rests until the next pass"
            case .poweredOff: "is powered off"
            case .blocked: "is blocked by a radio switch (rfkill)"
            case .unplugged: "is not plugged in"
            case .serviceLost: "cannot be reached: the Bluetooth service does not run"
            case .refused: "refused to scan"
            }
        return "\(adapter ?? "the Bluetooth adapter") \(what)" + (detail.map { ": \($0)" } ?? "")
    }
}

extension LocalizationError {
    /// Creates the error for a radio that stopped receiving; the session continues.
    package init(_ event: RadioEvent) { self.init(code: .generic, message: "\(event)", kind: .sensorFailed) }
}
