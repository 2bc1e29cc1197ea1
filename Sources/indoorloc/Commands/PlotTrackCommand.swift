import IndoorLocalization
import IndoorLocalizationTesting
import LocalizationFigures
import ScanRecording
import VenuePackets

/// The command `plot track`: draws a recording's positions and ground truth on the plan.
struct PlotTrackCommand: Command {
    static let syntax = CommandSyntax(
        name: "plot track", operands: "RECORDING", operandCount: 1...1,
        summary: "draw the track of a recording on the floor plan, as SVG",
        details: """
            Plays the recording through a session, as 'indoorloc replay' does, and draws the positions, some of their 68 %
            error radii, and the ground truth if the recording has it, on the plan of each floor. The caption has the
            median error at the ground truth.

            The figure is an SVG document. Its colours follow the light or dark scheme of the reader's system.

            example: indoorloc plot track --venue Fixtures/office --output walk.svg \\
                         Fixtures/recordings/one-floor/scan.jsonl.gz
            """,
        options: [
            .venue, .radioMap,
            CommandOption(name: "map", argument: "MAP", help: "draw this map only, by its number"),
            .seed, .method, .settings, .set, .lenient,
        ] + PlotOutput.options)

    private let venue: String
    private let radioMap: String?
    private let recording: String
    private let map: MapID?
    private let seed: UInt64
    private let settings: SettingsStack
    private let strictness: RecordingReader.Strictness
    private let output: PlotOutput

    init(_ arguments: ParsedArguments) throws {
        venue = try arguments.requiredInput("venue")
        radioMap = try arguments.input("radio-map")
        recording = arguments.stream(operand: 0)
        map = try arguments.mapOption()
        seed = try arguments.seed()
        settings = try arguments.settings()
        strictness = arguments.strictness
        output = try PlotOutput(arguments, isPrivate: true)
    }

    func run() async throws {
        try output.check()
        let venue = try VenuePacketReader().read(venue, radioMap: radioMap).reportingWarnings(venue).venue
        let maps = try map.map { [try $0.checked(in: venue, command: Self.syntax.name).id] }
        let progress = ProgressLine()
        defer { progress.clear() }
        let session = RecordedSession(venues: [venue], settings: settings, seed: seed, strictness: strictness)
        var truths: [Truth] = []
        var positions: [Position] = []
        var end = Instant.zero
        var conclusion: SessionDiagnosis?
        let findings = try session.play(
            recording,
            truth: { truth, session in
                truths.append(truth)
                end = max(end, truth.instant)
                // As 'evaluate' does: the position at the ground truth's instant.
                if let position = session.position(at: truth.instant) { positions.append(position) }
            },
            concluding: { conclusion = $0 },
            passing: { reading in
                progress.show("replay: \(Int(reading.instant.seconds)) s of the recording")
                end = max(end, reading.instant)
                return [reading]
            }
        ) { output in
            if case .position(let position) = output.content { positions.append(position) }
        }
        progress.clear()
        findings.warning(for: recording).map(StandardError.write)
        let places = truths.compactMap(\.waypoint)
        let reason = conclusion.map { ", as \($0.clauseWithHelp)" } ?? ""
        guard !positions.isEmpty || !places.isEmpty else {
            let message = PrintableText.line("nothing to draw: no position\(reason)")
            throw CommandError(description: "\(recording): \(message)")
        }
        positions.sort { $0.instant < $1.instant }
        var scorer = TrackScorer(venue: venue)
        scorer.add(truths: truths, end: end, positions: positions)
        let caption =
            positions.isEmpty ? PrintableText.line("The session emitted no position\(reason).") : scorer.score.caption
        try output.write(
            Figure.track(
                title: "\(PlotSource.name(ofRecording: recording)): \(venue.name)", venue: venue,
                maps: maps.map(Set.init),
                truth: places, positions: positions, caption: [caption]))
    }
}
