import IndoorVocabulary

/// The conditions for selecting and changing the floor.
package struct FloorSettings: Hashable, Sendable {
    /// The probability at which the first floor is accepted immediately, in [0.5, 1].
    package var settleProbability = Expert.settleProbability
    /// The time after which the most probable floor is accepted, regardless of its probability; from 0 s to a day.
    package var patience = Expert.patience
    /// The probability at which another floor can replace the current one, in [0.5, 1].
    package var switchProbability = Expert.switchProbability
    /// How long another floor must have that probability to replace the current one, from 0 s to a day.
    package var switchTime = Expert.switchTime

    /// Creates the settings with their defaults.
    package init() {}
}

/// The defaults and the list, in which all are expert settings.
extension FloorSettings {
    /// The defaults. `list` names the unit of each, and what chose it.
    enum Expert {
        static let settleProbability = 0.8
        static let patience = Duration.seconds(2)
        static let switchProbability = 0.7
        static let switchTime = Duration.milliseconds(1500)
    }

    /// The settings of the floor selection.
    package static let list: [Setting<FloorSettings>] = [
        .number(
            "settleProbability", \.settleProbability, in: 0.5...1,
            "The probability at which the first floor is accepted immediately."
        ).expert(.estimate),
        .duration(
            "patience", \.patience, from: .zero,
            "The time after which the most probable floor is accepted, regardless of its probability."
        ).expert(.estimate),
        .number(
            "switchProbability", \.switchProbability, in: 0.5...1,
            "The probability at which another floor can replace the current one."
        ).expert(.estimate),
        .duration(
            "switchTime", \.switchTime, from: .zero,
            "How long another floor must have that probability to replace the current one."
        ).expert(.estimate),
    ]
}
