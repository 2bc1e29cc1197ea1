/// What became of a radio that scans: it began to hear, or stopped, and why.
public struct RadioEvent: Hashable, Sendable {
    /// Whether a radio hears, and if not, what is in its way.
    public enum Status: String, Hashable, Sendable, CaseIterable {
        /// It scans, and gives every report that it hears.
        case scanning
        /// It listens along while somebody else's scan runs: reports may be filtered or merged.
        case sharing
        /// It rests until the next pass of its duty cycle: nothing is wrong with it.
        case resting
        /// The adapter has no power; powering it on lets the scan go on.
        case poweredOff
        /// The adapter is blocked by a radio switch (rfkill).
        case blocked
        /// The adapter is not there; plugging it in lets the scan go on.
        case unplugged
        /// The Bluetooth service is not running; starting it lets the scan go on.
        case serviceLost
        /// The adapter refused to scan; the scan is tried again.
        case refused

        /// Whether advertisements are heard in this state.
        public var isHearing: Bool { self == .scanning || self == .sharing }

        /// Whether something is in the way of the scan, which a rest is not.
        public var isFailure: Bool { !isHearing && self != .resting }
    }

    /// When it happened.
    public var instant: Instant
    /// What the radio does from now on.
    public var status: Status
    /// The adapter, as in "hci0"; nil if none is known.
    public var adapter: String?
    /// What a person would want to know beside the status; nil if there is nothing more to say.
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
            case .sharing: "listens along with another scan"
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
    /// A radio that ceased to hear; the session goes on.
    package init(_ event: RadioEvent) { self.init(code: .generic, message: "\(event)", kind: .sensorFailed) }
}
