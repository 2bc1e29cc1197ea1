import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording

/// The command `evaluate`, with after-the-fact tracks beside the causal ones.
struct OfflineEvaluateCommand: Command {
    static let syntax: CommandSyntax = {
        var syntax = EvaluateCommand.syntax
        let option = CommandOption(
            name: "offline", help: "also score the track as known after the fact, of all the recording")
        syntax.options.append(option)
        syntax.details +=
            "\n\n" + """
                With --offline the same instants are also scored with positions found from the whole recording,
                what came later too: a second line, or with --json a member 'offline' with n and all behind it.

                example: indoorloc evaluate Fixtures/office --offline
                """
        return syntax
    }()

    private let causal: EvaluateCommand
    private let evaluation: OfflineEvaluation?

    init(_ arguments: ParsedArguments) throws {
        causal = try EvaluateCommand(arguments)
        guard arguments.has("offline") else {
            evaluation = nil
            return
        }
        if arguments.has("replays") {
            throw UsageError(message: "--offline and --replays don't go together", command: Self.syntax.name)
        }
        let settings = try arguments.settings()
        guard settings.positioning.method == .particle else {
            throw UsageError(message: "--offline goes with the method particle alone", command: Self.syntax.name)
        }
        let processors = ProcessInfo.processInfo.activeProcessorCount
        evaluation = OfflineEvaluation(
            path: arguments.operands[0], radioMap: arguments.value("radio-map"), isJSON: arguments.has("json"),
            jobs: try arguments.number("jobs", in: 1...1024, else: processors), strictness: arguments.strictness,
            seed: try arguments.seed(), settings: settings)
    }

    func run() async throws {
        if let evaluation { try await evaluation.run() } else { try await causal.run() }
    }
}
