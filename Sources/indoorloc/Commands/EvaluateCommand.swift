import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import VenuePackets

/// The command `evaluate`: learns from a data set's survey, and replays and scores its tracks.
struct EvaluateCommand: Command {
    static let syntax = CommandSyntax(
        name: "evaluate", operands: "DATASET", operandCount: 1...1,
        summary: "learn from a data set's survey, then replay and score its tracks",
        details: """
            DATASET is a folder with venue.json, survey/*.jsonl and tracks/*.jsonl. The scored instants are those of way
            points from 5 s on, at most one per second, and the end of each stay. The estimate is the session's position
            at that instant; if the session has none, its last position is used if it is at most 10 s old. Errors are in
            metres, on the right floor. IPIN is the third quartile of the error plus 15 m for each level of difference. With --json,
            prints one object: dataset, method, n, answered, floor, mean, median, p75, p90, p95, ipin, insideRadius.
            Shares are from 0 to 1; a figure without data is null.

            With --offline, the same instants are also scored with positions estimated from the whole recording,
            including later readings. They are printed as a second line, or with --json as the member 'offline' with n
            and the figures after it. --offline requires the method particle, and can't be combined with --replays.

            With --motion, beacons are ignored. Each track with motion data is followed from its first ground truth, by
            dead reckoning alone and by a session. Errors are shares of the distance walked. "Walking detected" is the share
            of walking time that was classified as walking; "climbing detected" is the share of all time that was classified
            as climbing, right or wrong. --motion can't be combined with --json, --offline or --replays.

            With --ideal, each reading is replaced by a simulated one, at the same time and of the same beacon, drawn
            from the engine's own model at the true position. The score shows the engine's accuracy if its model is
            right. It is not a bound: recorded readings that vary less than the model expects score better than ideal
            ones (data set tetam: 1.26 m recorded, 1.47 m ideal). --ideal can't be combined with --offline or --motion.

            --shift adds a constant to each RSSI of the tracks, as a different receiver would. Several values with
            commas print one line each, with the value after the data set's name. --without motion removes inertial
            samples, steps and air pressure from the tracks. --without survey removes the survey and the packet's radio
            map. --survey-share learns from a random share of the survey's recordings, selected by --seed.

            example: indoorloc evaluate Fixtures/office
                     indoorloc evaluate Fixtures/office --offline
                     indoorloc evaluate Fixtures/office --motion
                     indoorloc evaluate Fixtures/office --shift=-15,0,15
            """,
        options: [
            .method, .settings, .set, CommandOption(name: "json", help: "print one JSON object instead of a line"),
            .radioMap, .seed,
            CommandOption(
                name: "replays", argument: "FOLDER",
                help: "also write the output of 'replay' and the scored positions, one file per track"),
            .overwrite,
            CommandOption(
                name: "jobs", short: "j", argument: "N", help: "number of parallel tracks (default: all processors)"),
            .lenient,
            CommandOption(
                name: "offline", help: "also score positions estimated from the whole recording"),
            CommandOption(name: "motion", help: "score motion alone, without beacons"),
            CommandOption(
                name: "ideal", help: "replace each reading with one simulated by the engine's model"),
        ] + ParsedArguments.conditionOptions)

    private let path: String
    private let radioMap: String?
    private let replays: String?
    private let mayOverwrite: Bool
    private let isJSON: Bool
    private let isOffline: Bool
    private let isMotionAlone: Bool
    private let isIdeal: Bool
    private let jobs: Int
    private let strictness: RecordingReader.Strictness
    private let seed: UInt64
    private let settings: SettingsStack
    private let conditions: [EvaluationConditions]

    init(_ arguments: ParsedArguments) throws {
        path = arguments.operands[0]
        radioMap = try arguments.input("radio-map")
        replays = arguments.value("replays")
        mayOverwrite = arguments.has("overwrite")
        isJSON = arguments.has("json")
        let processors = ProcessInfo.processInfo.activeProcessorCount
        jobs = try arguments.number("jobs", in: 1...1024, else: processors)
        strictness = arguments.strictness
        seed = try arguments.seed()
        settings = try arguments.settings()
        isOffline = arguments.has("offline")
        isMotionAlone = arguments.has("motion")
        isIdeal = arguments.has("ideal")
        conditions = try arguments.conditions()
        if isIdeal, isOffline || isMotionAlone {
            throw UsageError(message: "--ideal can't be combined with --offline or --motion", command: Self.syntax.name)
        }
        if conditions.count > 1, replays != nil {
            throw UsageError(
                message: "--replays allows only one --shift, as each shift would replace the files of the one before",
                command: Self.syntax.name)
        }
        if isMotionAlone, ParsedArguments.conditionOptions.contains(where: { arguments.has($0.name) }) {
            throw UsageError(
                message: "--motion can't be combined with --shift, --without or --survey-share",
                command: Self.syntax.name)
        }
        let isWithoutSurvey = conditions.contains { $0.without.contains(.survey) }
        if radioMap != nil, isWithoutSurvey || arguments.has("survey-share") {
            throw UsageError(
                message: "--radio-map can't be combined with --without survey or --survey-share",
                command: Self.syntax.name)
        }
        if isMotionAlone, isJSON || isOffline || replays != nil {
            throw UsageError(
                message: "--motion can't be combined with --json, --offline or --replays", command: Self.syntax.name)
        }
        guard isOffline else { return }
        if replays != nil {
            throw UsageError(message: "--offline can't be combined with --replays", command: Self.syntax.name)
        }
    }

    func run() async throws {
        let progress = ProgressLine()
        defer { progress.clear() }
        let dataSet = try DataSet(path: path, radioMap: radioMap)
        let replays = try replayFiles(of: dataSet)
        if isMotionAlone { return try evaluateMotion(of: dataSet, progress) }
        let positioning = settings.resolved(in: dataSet.venue).localization.positioning
        if isOffline, positioning.method != .particle {
            throw UsageError(message: "--offline requires the method particle", command: Self.syntax.name)
        }
        let venue = try surveyed(dataSet, model: positioning.signal, progress)
        progress.show("tables of \(dataSet.name)")
        let field = SignalField(venue: venue, model: positioning.signal)
        for conditions in conditions {
            let evaluation = TrackEvaluation(
                venue: venue, field: field, settings: settings, seed: seed, strictness: strictness, isIdeal: isIdeal,
                conditions: conditions, isOffline: isOffline, replays: replays)
            let scores = try await evaluation.score(dataSet.tracks, jobs: jobs, progress: progress)
            progress.clear()
            try write(scores, of: dataSet.name, under: conditions, method: positioning.method)
        }
    }

    /// The data set's venue with the radio map learned from its survey.
    private func surveyed(_ dataSet: DataSet, model: SignalModel, _ progress: ProgressLine) throws -> Venue {
        let conditions = conditions.first ?? EvaluationConditions()
        var venue = conditions.adapted(dataSet.venue)
        let surveys = conditions.kept(dataSet.surveys, seed: seed)
        guard radioMap == nil, !surveys.isEmpty else { return venue }
        var learning = SurveyLearning(venue: venue, model: model)
        try learning.add(surveys, strictness: strictness, progress: progress)
        venue.radioMap = learning.learner.finish() ?? venue.radioMap
        return venue
    }

    private func write(
        _ scores: (causal: TrackScore, offline: TrackScore), of name: String, under conditions: EvaluationConditions,
        method: PositioningMethod
    ) throws {
        let isShifted = self.conditions.count > 1 || conditions.shift != 0
        guard isJSON else {
            let shift = isShifted ? " \(JSONText.number(conditions.shift, decimals: 1)) dB" : ""
            let lines = [(name + shift, scores.causal), ("\(name)\(shift) offline", isOffline ? scores.offline : nil)]
            return try StandardOutput.write(
                lines.compactMap { name, score in score.map { $0.figureLine(of: name) + "\n" } }.joined())
        }
        var json = JSONText()
        json.add("dataset", name)
        json.add("method", method.rawValue)
        if isShifted { json.add("shift", conditions.shift, decimals: 1) }
        scores.causal.addFigures(to: &json)
        if isOffline {
            var after = JSONText()
            scores.offline.addFigures(to: &after)
            json.add("offline", after)
        }
        try StandardOutput.write(json.text + "\n")
    }
}

extension EvaluateCommand {
    /// Creates the folder for replays, and returns the file of each track's replay without writing it.
    private func replayFiles(of dataSet: DataSet) throws -> [String: OutputFile] {
        guard let replays else { return [:] }
        try Self.explained(replays) {
            try FileManager.default.createDirectory(atPath: replays, withIntermediateDirectories: true)
        }
        var files: [String: OutputFile] = [:]
        for track in dataSet.tracks {
            var name = URL(filePath: track).lastPathComponent
            if name.hasSuffix(".gz") { name.removeLast(3) }
            let file = OutputFile(
                path: replays + "/" + name, existing: mayOverwrite ? .replaced : .kept,
                inputs: dataSet.tracks + dataSet.surveys + [path], isPrivate: true)
            try file.check()
            files[track] = file
        }
        return files
    }

    private func evaluateMotion(of dataSet: DataSet, _ progress: ProgressLine) throws {
        let positioning = settings.resolved(in: dataSet.venue).localization.positioning
        let evaluation = MotionEvaluation(
            venue: dataSet.venue, field: SignalField(venue: dataSet.venue, model: positioning.signal),
            settings: settings, seed: seed, strictness: strictness)
        var score: MotionScore?
        for (index, track) in dataSet.tracks.enumerated() {
            progress.show("tracks: \(index) of \(dataSet.tracks.count)")
            guard let one = try evaluation.score(track) else { continue }
            var sum = score ?? MotionScore()
            sum.add(one)
            score = sum
        }
        progress.clear()
        try StandardOutput.write(
            score?.text(of: dataSet.name)
                ?? "\(dataSet.name): no track has both motion and a ground truth with a position\n")
    }

    /// Runs file operations; the error has the path, the system's reason and advice.
    static func explained(_ path: String, _ body: () throws -> Void) throws(CommandError) {
        do { try body() } catch {
            let reason = "cannot be written: \(error.systemReason)"
            throw CommandError(description: "\(path): \(reason). Check the path, its permissions and the free space.")
        }
    }
}
