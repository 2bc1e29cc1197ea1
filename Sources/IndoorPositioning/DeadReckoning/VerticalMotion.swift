/// How the height of the device changes.
public enum VerticalMotion: Hashable, Sendable {
    /// Up or down.
    public enum Direction: String, Hashable, Sendable, CaseIterable {
        /// Up.
        case up
        /// Down.
        case down
    }

    /// It stays.
    case level
    /// Walking on stairs, or on a moving escalator.
    case stairs(Direction)
    /// Standing on an escalator, or on a slow lift.
    case escalator(Direction)
    /// Standing in an elevator.
    case elevator(Direction)

    /// Up or down; nil while it stays.
    public var direction: Direction? {
        switch self {
        case .level: nil
        case .stairs(let direction), .escalator(let direction), .elevator(let direction): direction
        }
    }

    /// What it is without its direction: `level`, `stairs`, `escalator` or `elevator`.
    public var name: String {
        switch self {
        case .level: "level"
        case .stairs: "stairs"
        case .escalator: "escalator"
        case .elevator: "elevator"
        }
    }
}
