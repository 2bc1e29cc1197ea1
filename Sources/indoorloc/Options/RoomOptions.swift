import IndoorLocalization

/// A classifier of the package.
enum ClassifierKind: String, CaseIterable, Sendable {
    case naiveBayes, nearestNeighbor, adaptive

    /// Whether earlier scans affect the room of a scan.
    var hasMemory: Bool { self == .adaptive }

    /// Returns a classifier trained with these data.
    ///
    /// - Parameter remembersRooms: whether earlier scans affect the room, if the classifier supports this.
    func classifier(_ training: RoomTrainingSet, remembersRooms: Bool = true) -> any Classifier {
        switch self {
        case .naiveBayes: return NaiveBayesClassifier(training)
        case .nearestNeighbor: return NearestNeighborClassifier(training)
        case .adaptive:
            var settings = AdaptiveClassifier.Settings()
            settings.remembersRooms = remembersRooms
            return AdaptiveClassifier(training, settings: settings)
        }
    }
}

/// The options of the rule that accepts a change of room.
enum RoomRuleOptions {
    static let options = [
        CommandOption(
            name: "rule", argument: "RULE",
            help: RoomChangeRule.allCases.map(\.rawValue).joined(separator: ", ")
                + " (default \(RoomSettings().changeRule.rawValue))",
            proposals: .words(of: RoomChangeRule.self)),
        CommandOption(
            name: "count", argument: "N",
            help: "number of estimates that the rule considers (default \(RoomSettings().changeCount))"),
    ]
}

extension ParsedArguments {
    /// The room settings with the given change rule.
    func roomSettings() throws(UsageError) -> RoomSettings {
        let standard = RoomSettings()
        let rule = try word("rule", of: RoomChangeRule.self) ?? standard.changeRule
        return RoomSettings(
            changeRule: rule, changeCount: try number("count", in: 1...100, else: standard.changeCount))
    }

    /// The value of an option, a case of an enumeration; nil if the option was not given.
    func word<Word: RawRepresentable<String> & CaseIterable>(
        _ option: String, of type: Word.Type
    ) throws(UsageError) -> Word? {
        guard let text = value(option) else { return nil }
        guard let word = Word(rawValue: text) else {
            let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError(message: "--\(option) must be one of \(words), not '\(text)'", command: syntax.name)
        }
        return word
    }
}
