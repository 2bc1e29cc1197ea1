import IndoorLocalization

/// A method that `evaluate` and `plot error` compare: one of the engine, or a simple one.
enum EvaluatedMethod: Hashable, Sendable {
    case engine(PositioningMethod)
    case simple(SimpleMethod)

    static let all =
        PositioningMethod.allCases.map(EvaluatedMethod.engine) + SimpleMethod.allCases.map(EvaluatedMethod.simple)

    /// The name on a command line.
    var name: String {
        switch self {
        case .engine(let method): method.rawValue
        case .simple(let method): method.rawValue
        }
    }

    /// Whether the method has no random numbers of its own.
    var isDeterministic: Bool { self != .engine(.particle) }
    /// Whether the method is a simple one.
    var isSimple: Bool { if case .simple = self { true } else { false } }
}

extension CommandOption {
    /// The methods of a comparison.
    static let methods = CommandOption(
        name: "method", argument: "METHODS",
        help: EvaluatedMethod.all.map(\.name).joined(separator: ", ")
            + " (default particle); several with commas or repeated",
        proposals: .words(EvaluatedMethod.all.map(\.name)))
    /// The parameters of the simple methods.
    static let simpleMethods = [
        CommandOption(name: "neighbors", argument: "K", help: "number of nearest fingerprints of knn (default 9)"),
        CommandOption(
            name: "weights", argument: "WEIGHTS", help: "weights of knn: uniform or distance (default distance)",
            proposals: .words(of: SimpleMethodSettings.Weights.self)),
        CommandOption(
            name: "missing", argument: "DBM", help: "RSSI of a beacon that knn did not receive (default -105)"),
        CommandOption(
            name: "window", argument: "SECONDS",
            help: "time over which the simple methods average RSSI (default 4, and 20 in a stay)"),
    ]
    /// The explanation of the methods in the help.
    static let methodDetails = """
        The engine's methods are particle (a filter over time), fingerprint (the mean of the grid posterior of the last
        seconds; not the nearest fingerprints) and trilateration. The simple methods, for comparison, use only the mean RSSI of
        each beacon over --window and have no radius: strongest (the place of the strongest beacon), centroid (the mean place
        of the beacons, weighted by amplitude), multilateration (least squares with the path-loss law fitted to the survey),
        and knn (the mean place of the nearest fingerprints of the survey). The page EvaluateYourData describes them.
        """
}

extension ParsedArguments {
    /// The methods given by `--method`, each once; nil if it was not given.
    func evaluatedMethods() throws(UsageError) -> [EvaluatedMethod]? {
        guard let values = values["method"] else { return nil }
        var methods: [EvaluatedMethod] = []
        for word in values.flatMap({ $0.split(separator: ",", omittingEmptySubsequences: false) }) {
            guard let method = EvaluatedMethod.all.first(where: { $0.name == word }) else {
                let all = EvaluatedMethod.all.map(\.name).joined(separator: ", ")
                throw UsageError(message: "--method must be one of \(all), not '\(word)'", command: syntax.name)
            }
            if !methods.contains(method) { methods.append(method) }
        }
        return methods
    }

    /// The settings for a comparison of methods.
    ///
    /// - Throws: `UsageError` if `--set` gives the method beside `--method`.
    func settings(for methods: [EvaluatedMethod]?) throws -> SettingsStack {
        var only: String?
        if let methods, methods.count == 1, case .engine(let method)? = methods.first { only = method.rawValue }
        let settings = try settings(method: only)
        let given = try settings.setting("positioning.method")
        guard methods == nil || only != nil || given.source != .override else {
            throw UsageError(
                message: "--method contradicts --set, which gives the method \(given.value.summary)",
                command: syntax.name)
        }
        return settings
    }

    /// The parameters of the simple methods.
    func simpleMethodSettings() throws(UsageError) -> SimpleMethodSettings {
        var settings = SimpleMethodSettings()
        settings.neighbors = try number("neighbors", in: 1...1000, else: settings.neighbors)
        if let text = value("weights") {
            guard let weights = SimpleMethodSettings.Weights(rawValue: text) else {
                throw UsageError(message: "--weights must be uniform or distance, not '\(text)'", command: syntax.name)
            }
            settings.weights = weights
        }
        if let text = value("missing") {
            guard let missing = Double(text), (-200...0).contains(missing) else {
                throw UsageError(
                    message: "--missing must be a number of dBm from -200 to 0, not '\(text)'", command: syntax.name)
            }
            settings.missing = missing
        }
        if has("window") { settings.window = try seconds("window", in: 0.1...3600, else: 4) }
        return settings
    }

    /// The seeds given by `--seeds`, such as 0-4 or 0,3, or the only one given by `--seed`.
    func seeds() throws(UsageError) -> [UInt64] {
        guard let values = values["seeds"] else { return [try seed()] }
        guard !has("seed") else {
            throw UsageError(message: "--seeds can't be combined with --seed", command: syntax.name)
        }
        var seeds: [UInt64] = []
        for word in values.flatMap({ $0.split(separator: ",", omittingEmptySubsequences: false) }) {
            let ends = word.split(separator: "-", omittingEmptySubsequences: false).map { UInt64($0) }
            guard let first = ends.first ?? nil, let last = ends.last ?? nil, ends.count <= 2, first <= last,
                last - first < 1000
            else {
                throw UsageError(
                    message: "--seeds must be numbers such as 0,3 or a range such as 0-4, not '\(word)'",
                    command: syntax.name)
            }
            for seed in first...last where !seeds.contains(seed) { seeds.append(seed) }
        }
        return seeds
    }
}
