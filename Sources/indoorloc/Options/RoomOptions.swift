import IndoorLocalization

/// A classifier that comes with the package.
enum ClassifierKind: String, CaseIterable, Sendable {
    case naiveBayes, nearestNeighbor, adaptive

    /// Whether the room of a scan depends on the scans before.
    var hasMemory: Bool { self == .adaptive }

    /// Learns the training.
    ///
    /// - Parameter remembersRooms: whether earlier scans count for the room, where the classifier can do so.
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

/// Which changes of room are believed.
enum RoomRuleOptions {
    static let options = [
        CommandOption(
            name: "rule", argument: "RULE",
            help: RoomChangeRule.allCases.map(\.rawValue).joined(separator: ", ")
                + " (default \(RoomSettings().changeRule.rawValue))"),
        CommandOption(
            name: "count", argument: "N",
            help: "how many estimates the rule looks at (default \(RoomSettings().changeCount))"),
    ]
}

extension ParsedArguments {
    /// The change rule that was asked for.
    func roomSettings() throws(UsageError) -> RoomSettings {
        let standard = RoomSettings()
        let rule = try word("rule", of: RoomChangeRule.self) ?? standard.changeRule
        return RoomSettings(
            changeRule: rule, changeCount: try number("count", in: 1...100, else: standard.changeCount))
    }

    /// The value of an option that is one of the words of an enumeration; nil if it was not given.
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
