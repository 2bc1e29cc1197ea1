import IndoorVocabulary

/// The rule that confirms a change of room.
public enum RoomChangeRule: String, Hashable, Sendable, CaseIterable {
    /// At once.
    case immediate
    /// When several consecutive estimates have the other room.
    case inARow
    /// When the other room is the most frequent one among the latest estimates.
    case bestOf
}

/// The conditions for a change of room.
///
/// The first room is always reported at once.
public struct RoomSettings: Hashable, Sendable {
    /// The rule that confirms a change.
    ///
    /// The default is `immediate`, because ``AdaptiveClassifier`` tests for changes itself. For a classifier without
    /// memory, `inARow` or `bestOf` are better.
    public var changeRule = RoomChangeRule.immediate
    /// The number of estimates that the rule uses; from 1 to 100, without effect on `immediate`.
    public var changeCount = 3

    /// Creates the settings with their defaults.
    public init() {}

    /// Creates the settings with a rule.
    public init(changeRule: RoomChangeRule, changeCount: Int = 3) {
        self.changeRule = changeRule
        self.changeCount = changeCount
    }

    /// The values that are out of range; empty if all are valid.
    public var problems: [String] { Self.list.problems(in: self, prefix: "rooms.") }
}

extension RoomSettings {
    /// The settings of changes of room, each once.
    package static let list: [Setting<RoomSettings>] = [
        .choice(
            "changeRule", \.changeRule, fromWorst: [.immediate, .inARow, .bestOf],
            "When a change of room is believed: at once, told several times in a row, or most often of the last times."),
        .wholeNumber(
            "changeCount", \.changeCount, in: 1...100, better: .greater,
            "How many estimates that rule looks at; of no effect on `immediate`."),
    ]
}
