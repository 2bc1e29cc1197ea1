import Foundation
import IndoorLocalization
import LocalizationFigures

/// The command `plot error`: draws the errors of positioning methods.
struct PlotErrorCommand: Command {
    static let syntax = CommandSyntax(
        name: "plot error", operands: "DATASET|RECORDING...", operandCount: 0...Int.max,
        summary: "draw the error of several methods as a distribution or over time, as SVG",
        details: """
            \(PlotSource.details)

            Draws the errors that 'indoorloc evaluate' scores, in metres, of positions on the right floor. With --against
            cdf, the figure shows for each method and each distance the share of positions with at most this error. With
            --against time, it shows the error of each track over time, and the 68 % radius of the first method.

            Without --method, the distribution compares all methods, and the error over time is that of the method
            particle.

            example: indoorloc plot error --output error.svg Fixtures/office
                     indoorloc plot error --against time --venue Fixtures/office \\
                         --output walk.svg Fixtures/recordings/one-floor/scan.jsonl.gz
            """,
        options: PlotSource.options + [
            CommandOption(
                name: "against", argument: "AXIS", help: "cdf or time (default cdf)", proposals: .words(of: Axis.self)),
            CommandOption(
                name: "method", argument: "METHOD",
                help: PositioningMethod.allCases.map(\.rawValue).joined(separator: ", ") + "; may be repeated"),
            .seed, .settings, .set,
            CommandOption(
                name: "jobs", short: "j", argument: "N", help: "number of parallel tracks (default: all processors)"),
        ] + PlotOutput.options)

    /// The horizontal axis.
    private enum Axis: String, CaseIterable {
        case cdf, time
    }

    private let source: PlotSource
    private let axis: Axis
    private let methods: [PositioningMethod]
    private let seed: UInt64
    private let settings: SettingsStack
    private let jobs: Int
    private let output: PlotOutput

    init(_ arguments: ParsedArguments) throws {
        source = try PlotSource(arguments, needsRecordings: true)
        let word = arguments.value("against") ?? Axis.cdf.rawValue
        guard let axis = Axis(rawValue: word) else {
            throw UsageError(message: "--against must be cdf or time, not '\(word)'", command: Self.syntax.name)
        }
        self.axis = axis
        settings = try arguments.settings()
        methods = try Self.methods(arguments, settings, axis)
        seed = try arguments.seed()
        jobs = try arguments.number("jobs", in: 1...1024, else: ProcessInfo.processInfo.activeProcessorCount)
        output = try PlotOutput(arguments, isPrivate: true)
    }

    private static func methods(
        _ arguments: ParsedArguments, _ settings: SettingsStack, _ axis: Axis
    ) throws -> [PositioningMethod] {
        guard let words = arguments.values["method"] else {
            let given = settings.resolved.localization.positioning.method
            return settings.isGiven("positioning.method") || axis == .time ? [given] : PositioningMethod.allCases
        }
        var methods: [PositioningMethod] = []
        for word in words {
            guard let method = PositioningMethod(rawValue: word) else {
                let all = PositioningMethod.allCases.map(\.rawValue).joined(separator: ", ")
                throw UsageError(message: "--method must be one of \(all), not '\(word)'", command: syntax.name)
            }
            if !methods.contains(method) { methods.append(method) }
        }
        return methods
    }

    func run() async throws {
        try output.check()
        let progress = ProgressLine()
        defer { progress.clear() }
        let input = try source.read(settings, seed: seed, progress)
        let comparison = MethodComparison(
            venue: input.venue, settings: settings, seed: seed, strictness: source.strictness,
            conditions: EvaluationConditions(), isIdeal: false)
        let results = try await comparison.results(of: methods, input.recordings, jobs: jobs, progress)
        progress.clear()
        let reasons = results.map { $0.outcomes.reasonForNoScore(in: input.venue) }
        if let reason = reasons.first ?? nil, reasons.allSatisfy({ $0 != nil }) {
            throw CommandError(description: "\(input.name): \(reason)")
        }
        guard results.contains(where: { $0.score.median != nil }) else {
            throw CommandError(
                description: "\(input.name): no method estimated a position on the right floor at an instant with "
                    + "ground truth")
        }
        let series = results.map(\.errors)
        let caption = results.map { "\($0.method.rawValue): \($0.score.summary)" }
        try output.write(
            axis == .cdf
                ? Figure.errorDistribution(title: "\(input.name): error", of: series, caption: caption)
                : Figure.errorOverTime(title: "\(input.name): error over time", of: series, caption: caption))
    }
}
