/// What whoever carries the device is doing.
public enum MotionKind: String, Hashable, Sendable, CaseIterable {
    /// The device lies or is held still.
    case stationary
    /// The device is moved, but nobody walks with it: it is taken out, turned, typed on.
    case fidgeting
    /// Whoever carries the device walks.
    case walking
}
