import Foundation
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
        let packet = try VenuePacketReader().read(venue, radioMap: radioMap).reportingWarnings(venue)
        let venue = packet.venue
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
                truth: places, positions: positions, pictures: PlanPictures(packet).byMap, caption: [caption]))
    }
}

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

            Without --method, the distribution compares the engine's methods, and the error over time is that of the method
            particle. 'indoorloc evaluate --help' describes all methods.

            --errors draws the errors in a file of CSV beside them, or without an operand alone: those of 'indoorloc evaluate
            --errors', or of another program. Its first line names the columns. It needs method and error, or method, true_x,
            true_y, x and y; t, track, radius and floor_right (0 or 1) are optional. Each method is drawn by its name.

            example: indoorloc plot error --output error.svg Fixtures/office
                     indoorloc plot error --output error.svg --errors ours.csv --errors theirs.csv
                     indoorloc plot error --against time --venue Fixtures/office \\
                         --output walk.svg Fixtures/recordings/one-floor/scan.jsonl.gz
            """,
        options: PlotSource.options + [
            CommandOption(
                name: "against", argument: "AXIS", help: "cdf or time (default cdf)", proposals: .words(of: Axis.self)),
            .methods,
            CommandOption(
                name: "errors", argument: "FILE",
                help: "draw the errors in this file of 'evaluate --errors' or of another program; may be repeated"),
            .seed, .settings, .set,
            CommandOption(
                name: "jobs", short: "j", argument: "N", help: "number of parallel tracks (default: all processors)"),
        ] + CommandOption.simpleMethods + PlotOutput.options)

    /// The horizontal axis.
    private enum Axis: String, CaseIterable {
        case cdf, time
    }

    /// The data set or recordings; nil if only files of errors are drawn.
    private let source: PlotSource?
    private let errorFiles: [String]
    private let axis: Axis
    private let methods: [EvaluatedMethod]
    private let simpleMethods: SimpleMethodSettings
    private let seed: UInt64
    private let settings: SettingsStack
    private let jobs: Int
    private let output: PlotOutput

    init(_ arguments: ParsedArguments) throws {
        errorFiles = try (arguments.values["errors"] ?? []).map { try InputFile.keeping($0) }
        let isAlone = !errorFiles.isEmpty && arguments.operands.isEmpty && !arguments.has("venue")
        source = isAlone ? nil : try PlotSource(arguments, needsRecordings: true)
        let word = arguments.value("against") ?? Axis.cdf.rawValue
        guard let axis = Axis(rawValue: word) else {
            throw UsageError(message: "--against must be cdf or time, not '\(word)'", command: Self.syntax.name)
        }
        self.axis = axis
        let methods = try arguments.evaluatedMethods()
        settings = try arguments.settings(for: methods)
        let given = settings.resolved.localization.positioning.method
        let isOne = settings.isGiven("positioning.method") || axis == .time
        self.methods =
            methods ?? (isOne ? [.engine(given)] : PositioningMethod.allCases.map(EvaluatedMethod.engine))
        simpleMethods = try arguments.simpleMethodSettings()
        seed = try arguments.seed()
        jobs = try arguments.number("jobs", in: 1...1024, else: ProcessInfo.processInfo.activeProcessorCount)
        output = try PlotOutput(arguments, isPrivate: true)
    }

    func run() async throws {
        try output.check()
        let others = try errorFiles.flatMap { path throws(CommandError) in try ErrorTable.series(path) }
        let progress = ProgressLine()
        defer { progress.clear() }
        var name = "Errors"
        var series: [ErrorSeries] = []
        var caption: [String] = []
        if let source {
            let input = try source.read(settings, seed: seed, progress)
            name = "\(input.name): error"
            let results = try await results(of: input, source, progress)
            series = results.map(\.errors)
            caption = results.map { "\($0.method.name): \($0.score.summary)" }
        }
        for other in others {
            guard !other.sorted.isEmpty else {
                throw CommandError(
                    description: PrintableText.line("--errors: \(other.name) has no error on the right floor"))
            }
            let mean = other.sorted.reduce(0, +) / Double(other.sorted.count)
            caption.append(
                PrintableText.line(
                    "\(other.name): mean \(JSONText.number(mean, decimals: 2)) m; n = \(other.sorted.count)"))
            series.append(other)
        }
        try output.write(
            axis == .cdf
                ? Figure.errorDistribution(title: name, of: series, caption: caption)
                : Figure.errorOverTime(
                    title: "\(name) over time", of: series.map { $0.aligned(to: series[0]) }, caption: caption))
    }

    private func results(
        of input: PlotInput, _ source: PlotSource, _ progress: ProgressLine
    ) async throws -> [MethodComparison.Result] {
        var comparison = MethodComparison(
            venue: input.venue, settings: settings, seed: seed, strictness: source.strictness,
            conditions: EvaluationConditions(), isIdeal: false)
        if methods.contains(where: \.isSimple) {
            let survey =
                try input.dataSet?.simpleSurvey(
                    of: input.venue, settings: simpleMethods, under: EvaluationConditions(), radioMap: source.radioMap,
                    seed: seed, strictness: source.strictness)
                ?? SimpleSurvey([], venue: input.venue, settings: simpleMethods)
            comparison.simple = (simpleMethods, survey)
        }
        let results = try await comparison.results(of: methods, input.recordings, jobs: jobs, progress)
        progress.clear()
        let reasons = results.map { $0.outcomes.reasonForNoScore(in: input.venue) }
        if let reason = reasons.first ?? nil, reasons.allSatisfy({ $0 != nil }) {
            throw CommandError(description: "\(input.name): \(reason)")
        }
        results.first?.outcomes.misplacedTruths(in: input.venue).report()
        guard results.contains(where: { $0.score.median != nil }) else {
            throw CommandError(
                description: "\(input.name): no method estimated a position on the right floor at an instant with "
                    + "ground truth")
        }
        return results
    }
}

extension ErrorSeries {
    /// Returns the series with its tracks in the order of another one, by their names; unchanged if no name agrees.
    ///
    /// Several tracks have the same name, one for each seed or data set: they correspond in their order. A track that this series
    /// has once corresponds to each of them.
    func aligned(to other: ErrorSeries) -> ErrorSeries {
        let named = Dictionary(grouping: tracks, by: \.name)
        guard other.tracks.contains(where: { named[$0.name] != nil }) else { return self }
        var used: [String: Int] = [:]
        let matched = other.tracks.map { track in
            let same = named[track.name] ?? []
            let number = same.count == 1 ? 0 : used[track.name, default: 0]
            used[track.name, default: 0] += 1
            return number < same.count ? same[number] : ErrorSeries.Track(name: track.name, samples: [])
        }
        let others = Set(other.tracks.map(\.name))
        return ErrorSeries(name: name, tracks: matched + tracks.filter { !others.contains($0.name) })
    }
}

/// The command `plot range`: draws the RSSI over the distance with the fitted path-loss law.
struct PlotRangeCommand: Command {
    static let syntax = CommandSyntax(
        name: "plot range", operands: "DATASET|RECORDING...", operandCount: 0...Int.max,
        summary: "draw the RSSI over the distance with the fitted path-loss law, as SVG",
        details: """
            \(PlotSource.details) With --venue and no recording, the readings are those of the survey in the radio map.

            Draws a chart for each of the twelve beacons with the most readings, or for those of --beacon. The distance is
            the horizontal one on the plan; readings on another floor are left out. The path-loss law RSSI = power - 10 *
            exponent * log10(distance) is fitted by least squares to the readings of each beacon.

            example: indoorloc plot range --output range.svg Fixtures/office
                     indoorloc plot range --venue Fixtures/real/openhps --output survey.svg
            """,
        options: ReadingPlot.options)

    private let plot: ReadingPlot

    init(_ arguments: ParsedArguments) throws { plot = try ReadingPlot(arguments) }

    func run() async throws {
        let progress = ProgressLine()
        defer { progress.clear() }
        let content = try plot.read(progress)
        let input = content.input
        let ranges = RangeList(
            content.readings, of: content.chosen, in: input.venue, usualExponent: content.model.pathLossExponent,
            content.names)
        progress.clear()
        guard !ranges.beacons.isEmpty else {
            throw CommandError(description: "\(input.name): \(input.reasonForNoReading), on the floor of the beacon")
        }
        try plot.output.write(
            Figure.range(title: "\(input.name): RSSI over distance", of: ranges.beacons, caption: [ranges.caption]))
    }
}

/// The command `plot residuals`: draws the differences between measured and expected RSSI.
struct PlotResidualsCommand: Command {
    static let syntax = CommandSyntax(
        name: "plot residuals", operands: "DATASET|RECORDING...", operandCount: 0...Int.max,
        summary: "draw measured minus expected RSSI, of all readings and of each beacon, as SVG",
        details: """
            \(PlotSource.details) With --venue and no recording, the readings are those of the survey in the radio map.

            The expected RSSI is that of the engine's tables at the place of the ground truth. The mean difference is the
            offset of the receiver; a beacon that differs from the others was moved, or its power was changed.

            example: indoorloc plot residuals --output residuals.svg Fixtures/office
                     indoorloc plot residuals --venue Fixtures/real/openhps --output survey.svg
            """,
        options: ReadingPlot.options)

    private let plot: ReadingPlot

    init(_ arguments: ParsedArguments) throws { plot = try ReadingPlot(arguments) }

    func run() async throws {
        let progress = ProgressLine()
        defer { progress.clear() }
        let content = try plot.read(progress)
        let input = content.input
        progress.show("tables of \(input.name)")
        let residuals = ResidualList(
            content.readings, of: Set(content.chosen),
            field: SignalField(venue: input.venue, model: content.model), content.names)
        progress.clear()
        guard residuals.count > 0 else {
            throw CommandError(description: "\(input.name): \(input.reasonForNoReading)")
        }
        try plot.output.write(
            Figure.residuals(
                title: "\(input.name): measured minus expected RSSI", of: residuals.beacons,
                caption: [residuals.caption] + (input.recordings.isEmpty ? [Self.remark] : [])))
    }

    /// The caption of a radio map's own readings.
    private static let remark =
        "The radio map was learned from these readings, so the differences on new recordings are larger."
}

/// The command `plot radiomap`: draws the expected RSSI on the floor plan.
struct PlotRadioMapCommand: Command {
    static let syntax = CommandSyntax(
        name: "plot radiomap", operands: "V", operandCount: 1...1,
        summary: "draw the expected RSSI of beacons on the floor plan, as SVG",
        details: """
            V is a venue packet, or a data set, whose radio map is learned from its survey. Draws the expected RSSI of the
            engine's tables and the survey points: of the beacons given by --beacon, of each beacon with --each, and
            otherwise of the strongest beacon at each point. Places where no beacon can be received are left blank. Without
            a radio map, the expected RSSI is that of the path-loss law.

            example: indoorloc plot radiomap --output map.svg Fixtures/office
                     indoorloc plot radiomap --beacon 1/3 --map 1 --output beacon.svg Fixtures/office
            """,
        options: [
            .radioMap, .beacon, CommandOption(name: "each", help: "draw a plan for each beacon"),
            CommandOption(name: "map", argument: "MAP", help: "draw this map only, by its number"),
            .settings, .set, .lenient,
        ] + PlotOutput.options)

    private let path: String
    private let radioMap: String?
    private let beacons: [String]
    private let isEach: Bool
    private let map: MapID?
    private let settings: SettingsStack
    private let strictness: RecordingReader.Strictness
    private let output: PlotOutput

    init(_ arguments: ParsedArguments) throws {
        path = try arguments.input(operand: 0)
        radioMap = try arguments.input("radio-map")
        beacons = arguments.values["beacon"] ?? []
        isEach = arguments.has("each")
        map = try arguments.mapOption()
        settings = try arguments.settings()
        strictness = arguments.strictness
        output = try PlotOutput(arguments, isPrivate: false)
        guard !isEach || beacons.isEmpty else {
            throw UsageError(message: "--each and --beacon can't be combined", command: Self.syntax.name)
        }
    }

    func run() async throws {
        try output.check()
        let progress = ProgressLine()
        defer { progress.clear() }
        let packet = try VenuePacketReader().read(path, radioMap: radioMap).reportingWarnings(path)
        var venue = packet.venue
        let model = settings.resolved(in: venue).localization.positioning.signal
        let surveys = radioMap == nil && venue.radioMap == nil ? DataSet.surveys(in: path) : []
        if !surveys.isEmpty {
            var learning = SurveyLearning(venue: venue, model: model)
            try learning.add(surveys, strictness: strictness, progress: progress)
            learning.reportUnused()
            venue.radioMap = learning.learner.finish()
        }
        let maps = try map.map { [try $0.checked(in: venue, command: Self.syntax.name)] } ?? venue.maps
        let names = BeaconNames(venue)
        let field = SignalField(venue: venue, model: model)
        let chosen =
            try isEach ? field.beacons.sorted() : beacons.map { try names.beacon($0, command: Self.syntax.name) }
        let contents: [Figure.RadioMapContent] =
            chosen.isEmpty ? [.strongest] : chosen.map { .beacon($0, name: names.name(of: $0)) }
        progress.show("expected RSSI of \(venue.name)")
        let figure = Figure.radioMap(
            title: chosen.isEmpty
                ? "\(venue.name): expected RSSI of the strongest beacon" : "\(venue.name): expected RSSI",
            venue: venue, field: field, maps: maps, contents: contents, pictures: PlanPictures(packet).byMap,
            caption: [venue.radioMapCaption])
        progress.clear()
        guard let figure else {
            throw CommandError(description: "'\(venue.name)' has no beacon that can be received on these maps")
        }
        try output.write(figure)
    }
}

/// The command `plot coverage`: draws the expected error of a venue's beacons, and proposes places for more beacons.
struct PlotCoverageCommand: Command {
    static let syntax = CommandSyntax(
        name: "plot coverage", summary: "draw the expected 68 % error of a venue's beacons, as SVG",
        details: """
            Draws the expected 68 % error of a position on each map: the Cramér–Rao bound from the session's
            signal model, with the walls of the map and the packet's radio map. --beacons adds proposed places for more
            beacons, each the place that reduces the mean expected error most. With --target, the proposals reduce the error where it
            exceeds the target. A session on a walk can be more accurate, because it combines successive readings.

            With --output, prints one line per map and per proposed beacon. With --json, prints one object with the errors of all cells
            in metres, cell by cell from the top left corner; null is outside the building.

            example: indoorloc plot coverage --venue Fixtures/office --beacons 3 --target 3 \\
                         --output coverage.svg
            """,
        options: [
            .venue, .radioMap,
            CommandOption(name: "map", argument: "MAP", help: "draw this map only, by its number"),
            CommandOption(name: "beacons", argument: "N", help: "number of proposed beacons (default 1)"),
            CommandOption(name: "target", argument: "METRES", help: "68 % error that positions should have"),
            CommandOption(name: "at-walls", help: "propose places within 1 m of a wall"),
            CommandOption(
                name: "wall-loss", argument: "DB", help: "signal loss through one wall (default 3.4, a light wall)"),
            CommandOption(
                name: "json", help: "print the errors as one JSON object; with --output, also write the drawing"),
        ] + PlotOutput.options)

    private let path: String
    private let radioMap: String?
    private let output: OutputFile?
    private let mapID: MapID?
    private let count: Int
    private let isJSON: Bool
    private let settings: CoverageSettings

    init(_ arguments: ParsedArguments) throws {
        path = try arguments.requiredInput("venue")
        radioMap = try arguments.input("radio-map")
        isJSON = arguments.has("json")
        output = try PlotOutput.file(arguments, isPrivate: false)
        mapID = try arguments.mapOption()
        count = try arguments.number("beacons", in: 0...100, else: 1)
        var settings = CoverageSettings()
        if arguments.has("target") { settings.target = try arguments.decimal("target", in: 0.1...1000, unit: "metres") }
        if arguments.has("wall-loss") {
            settings.wallLoss = try arguments.decimal("wall-loss", in: 0...100, unit: "decibels")
        }
        if arguments.has("at-walls") { settings.placement = .atWalls(within: 1) }
        self.settings = settings
    }

    func run() throws {
        try output?.check()
        let packet = try VenuePacketReader().read(path, radioMap: radioMap)
        let venue = packet.venue
        let maps = try mapID.map { [try $0.checked(in: venue, command: Self.syntax.name)] } ?? venue.maps
        let chosen = Set(maps.map(\.id))
        for map in MapInterior.unknown(in: venue) where chosen.contains(map.id) {
            StandardError.line(
                PrintableText.line(
                    "\(map.name): nothing says where the inside of the building is, so that the whole plan counts; add rooms, "
                        + "walls or walkable areas with 'venue edit'"), .warning)
        }
        let analysis = CoverageAnalysis(venue: venue, settings: settings)
        let coverage = CoverageResult(
            venue: venue, grids: maps.compactMap { analysis.expectedErrors(on: $0.id) },
            proposals: count > 0 ? analysis.proposedBeacons(count: count, on: mapID) : [], target: settings.target,
            pictures: isJSON && output == nil ? [:] : PlanPictures(packet).byMap)
        try output?.write(Array(coverage.figure().svg.utf8))
        if isJSON {
            try StandardOutput.write(lines: [coverage.json.text])
        } else if output != nil {
            try StandardOutput.write(lines: coverage.lines)
        } else {
            try StandardOutput.write(coverage.figure().svg)
        }
    }
}

extension ParsedArguments {
    /// The value of a given option, a number within `range`.
    func decimal(_ option: String, in range: ClosedRange<Double>, unit: String) throws(UsageError) -> Double {
        let text = try required(option)
        guard let number = Double(text), range.contains(number) else {
            let bounds = [range.lowerBound, range.upperBound].map { bound in
                Int(exactly: bound).map(String.init) ?? "\(bound)"
            }
            throw UsageError(
                message: "--\(option) must be a number of \(unit) from \(bounds[0]) to \(bounds[1]), not '\(text)'",
                command: syntax.name)
        }
        return number
    }
}
