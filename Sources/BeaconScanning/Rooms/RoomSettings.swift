import IndoorVocabulary

/// The rule for accepting a room change.
public enum RoomChangeRule: String, Hashable, Sendable, CaseIterable {
    /// A change is accepted immediately.
    case immediate
    /// A change is accepted after several consecutive estimates of the new room.
    case inARow
    /// A change is accepted when the new room is the most frequent one in the latest estimates.
    case bestOf
}

/// Settings for room changes.
///
/// The first room is always reported immediately.
public struct RoomSettings: Hashable, Sendable {
    /// When a room change is accepted: immediately, after several equal consecutive estimates, or for the most frequent
    /// room.
    ///
    /// The default is `immediate`, because ``AdaptiveClassifier`` detects changes itself. Use `inARow` or `bestOf` for
    /// a classifier that evaluates each scan independently.
    public var changeRule = RoomChangeRule.immediate
    /// The number of estimates that the rule considers, from 1 to 100; no effect with `immediate`.
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
    /// The list of the settings of room changes.
    package static let list: [Setting<RoomSettings>] = [
        .choice(
            "changeRule", \.changeRule, fromWorst: [.immediate, .inARow, .bestOf],
            "When a room change is accepted: immediately, after several equal estimates, or for the most frequent room."
        ),
        .wholeNumber(
            "changeCount", \.changeCount, in: 1...100, better: .greater,
            "The number of estimates that the rule considers; no effect with `immediate`."),
    ]
}
