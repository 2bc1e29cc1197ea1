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
        output = PlotOutput(arguments, isPrivate: true)
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
        let tally = try session.play(
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
                return reading
            }
        ) { output in
            if case .position(let position) = output.content { positions.append(position) }
        }
        progress.clear()
        tally.warning(for: recording).map(StandardError.write)
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

extension TrackScore {
    /// The accuracy in a sentence.
    var caption: String {
        guard count > 0 else { return "The recording has no ground truth to compare with." }
        guard let median, let p90, let insideRadius else {
            return "No position is on the right floor at the \(count.counting("instant")) with a ground truth."
        }
        func metres(_ value: Double) -> String { JSONText.number(value, decimals: 2) + " m" }
        let inside = JSONText.number(insideRadius * 100, decimals: 0)
        return
            "Median error \(metres(median)), 90 % of the errors are at most \(metres(p90)), and \(inside) % of the true "
            + "positions lie within the 68 % radius (\(count.counting("instant")) with a ground truth)."
    }
}

extension TrackScore {
    /// The main figures in a few words.
    var summary: String {
        func metres(_ value: Double?) -> String { value.map { JSONText.number($0, decimals: 2) + " m" } ?? "–" }
        func percent(_ value: Double?) -> String { value.map { JSONText.number($0 * 100, decimals: 0) + " %" } ?? "–" }
        return "mean \(metres(mean)), median \(metres(median)), P90 \(metres(p90)); \(percent(answered)) answered, "
            + "\(percent(floor)) on the right floor, \(percent(insideRadius)) in the radius; n = \(count)"
    }
}

extension ParsedArguments {
    /// The map given by `--map`; nil if it was not given.
    func mapOption() throws(UsageError) -> MapID? {
        has("map") ? MapID(rawValue: try number("map", in: 0...Int.max, else: 0)) : nil
    }
}

extension MapID {
    /// Returns the map of a venue with this number.
    ///
    /// - Throws: `UsageError` if the venue has no such map.
    func checked(in venue: Venue, command: String) throws(UsageError) -> VenueMap {
        if let map = venue.map(self) { return map }
        let known = venue.maps.map(\.id.description).joined(separator: ", ")
        throw UsageError(message: "--map: '\(venue.name)' has no map \(self), only \(known)", command: command)
    }
}
