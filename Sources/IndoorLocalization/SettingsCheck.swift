/// Collects what is out of range.
struct SettingsCheck {
    /// Longer durations are a mistake of the unit.
    static let longest = Duration.seconds(86_400)

    var problems: [String] = []

    /// Not-a-number is in no range.
    mutating func number(_ key: String, _ value: Double, in range: ClosedRange<Double>, _ unit: String) {
        guard !range.contains(value) else { return }
        let suffix = unit.isEmpty ? "" : " " + unit
        problems.append("\(key) must be in [\(range.lowerBound), \(range.upperBound)]\(suffix), not \(value)")
    }

    mutating func duration(_ key: String, _ value: Duration, from least: Duration) {
        guard value < least || value > Self.longest else { return }
        problems.append("\(key) must be in [\(least.seconds), \(Self.longest.seconds)] s, not \(value.seconds)")
    }

    mutating func duration(_ key: String, _ value: Duration, above bound: Duration) {
        guard value <= bound || value > Self.longest else { return }
        problems.append("\(key) must be in (\(bound.seconds), \(Self.longest.seconds)] s, not \(value.seconds)")
    }

    mutating func duration(_ key: String, _ value: Duration, in range: ClosedRange<Duration>) {
        guard !range.contains(value) else { return }
        problems.append(
            "\(key) must be in [\(range.lowerBound.seconds), \(range.upperBound.seconds)] s, not \(value.seconds)")
    }
}

extension LocalizationError {
    /// The critical error of settings with these problems; nil if there are none.
    init?(settingsProblems problems: [String]) {
        guard !problems.isEmpty else { return nil }
        self.init(
            code: .critical,
            message: "settings out of range: \(problems.joined(separator: "; ")); correct them and start again")
    }
}
