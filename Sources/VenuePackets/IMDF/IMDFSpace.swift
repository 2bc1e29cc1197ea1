/// What the category of a unit says of its boundary and of walking in it.
enum IMDFSpace: Hashable, Sendable {
    /// A space of its own, such as a room, a shop or a stairwell: people pass its boundary at openings.
    case enclosed
    /// A part of a larger space, such as a walkway: its boundary with its like is only a line on the plan.
    case open
    /// Matter: nobody is in it.
    case solid
    /// No floor, or none to walk on: nobody is in it.
    case void

    /// Whether people may be there.
    var isWalkable: Bool { self == .enclosed || self == .open }

    /// The space of a UNIT-CATEGORY; one that is unknown is enclosed, as most are.
    init(category: String) {
        // A category may be made finer behind a dot: "walkway.island".
        switch category.prefix(while: { $0 != "." }) {
        case "brick", "column", "concrete", "drywall", "glass", "structure", "wood": self = .solid
        case "opentobelow", "vegetation": self = .void
        case "fieldofplay", "footbridge", "lobby", "movingwalkway", "parking", "platform", "ramp", "road", "steps",
            "terrace", "unenclosedarea", "unspecified", "walkway":
            self = .open
        default: self = .enclosed
        }
    }

    /// Whether a fixture's category says that nobody walks through it: the rest is furniture, which is moved.
    static func isObstacle(fixture category: String) -> Bool {
        ["obstruction", "vegetation", "wall", "water"].contains(category)
    }
}
