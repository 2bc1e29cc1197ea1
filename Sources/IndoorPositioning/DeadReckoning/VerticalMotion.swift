/// The vertical motion of the device.
public enum VerticalMotion: Hashable, Sendable {
    /// The direction of a vertical motion.
    public enum Direction: String, Hashable, Sendable, CaseIterable {
        /// Up.
        case up
        /// Down.
        case down
    }

    /// The height doesn't change.
    case level
    /// Walking on stairs, or on a moving escalator.
    case stairs(Direction)
    /// Standing on an escalator, or in a slow elevator.
    case escalator(Direction)
    /// Standing in an elevator.
    case elevator(Direction)

    /// The direction; nil while the height doesn't change.
    public var direction: Direction? {
        switch self {
        case .level: nil
        case .stairs(let direction), .escalator(let direction), .elevator(let direction): direction
        }
    }

    /// The name without the direction: `level`, `stairs`, `escalator` or `elevator`.
    public var name: String {
        switch self {
        case .level: "level"
        case .stairs: "stairs"
        case .escalator: "escalator"
        case .elevator: "elevator"
        }
    }
}
