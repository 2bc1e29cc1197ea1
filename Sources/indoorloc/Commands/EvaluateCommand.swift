import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import VenuePackets

/// Surveys, replays and scores a data set.
struct EvaluateCommand: Command {
    static let syntax = CommandSyntax(
        name: "evaluate", operands: "DATASET", operandCount: 1...1,
        summary: "learn from a data set's survey, replay its tracks and score them",
        details: """
            DATASET is a folder with venue.json, survey/*.jsonl and tracks/*.jsonl. Scored causally are way points from
            5 s on, at most one a second, and the end of each stay. The session is asked where the device is at that
            instant; if it cannot tell, its last position counts if it is not older than 10 s. Errors in metres, on the right floor; IPIN is the third quartile of error plus 15 m a level.
            With --json one object: dataset, method, n, answered, floor, mean, median, p75, p90, p95, ipin,
            insideRadius; shares from 0 to 1, null where nothing tells.

            With --offline the same instants are also scored with positions found from the whole recording, what came
            later too: a second line, or with --json a member 'offline' with n and all behind it. It goes with the
            method particle alone, and not with --replays.

            With --motion no beacon is heard: each track that has motion is followed from its first truth on, by dead
            reckoning alone and by a session. Errors are told as shares of the way since then. "Walking told" is the
            share of the time on the way for which walking was told, "climbing told" that of all time for which a climb
            was, whether there was one or not. It goes with neither --json nor --offline nor --replays.

            With --ideal each reading is replaced by a simulated one: at the same time, of the same beacon, drawn from the
            engine's own model at the true place. The score tells how the engine does where its model is right. It is no
            bound: recorded readings that scatter less than the model expects score better than ideal ones (the set
            tetam: 1.26 m recorded, 1.47 m ideal). --ideal goes with neither --offline nor --motion.

            --shift adds a constant to each RSSI of the tracks, as another receiver does; several with commas print a
            line each, behind the name of the set. --without motion removes inertial samples, steps and air pressure
            from the tracks; --without survey removes the survey and the packet's radio map. --survey-share learns from
            a random share of the survey's recordings, chosen by --seed.

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
                help: "also write what 'replay' prints and what is scored, a file a track"),
            .overwrite,
            CommandOption(name: "jobs", short: "j", argument: "N", help: "tracks at a time (default: all processors)"),
            .lenient,
            CommandOption(
                name: "offline", help: "also score the track as known after the fact, of all the recording"),
            CommandOption(name: "motion", help: "score motion alone, without any beacon"),
            CommandOption(
                name: "ideal", help: "replace each reading by one simulated from the engine's model; no bound"),
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
            throw UsageError(message: "--ideal goes with neither --offline nor --motion", command: Self.syntax.name)
        }
        if conditions.count > 1, replays != nil {
            throw UsageError(
                message: "--replays takes one --shift: the files of a second one would replace those of the first",
                command: Self.syntax.name)
        }
        if isMotionAlone, ParsedArguments.conditionOptions.contains(where: { arguments.has($0.name) }) {
            throw UsageError(
                message: "--motion goes with none of --shift, --without and --survey-share", command: Self.syntax.name)
        }
        let isWithoutSurvey = conditions.contains { $0.without.contains(.survey) }
        if radioMap != nil, isWithoutSurvey || arguments.has("survey-share") {
            throw UsageError(
                message: "--radio-map goes with neither --without survey nor --survey-share", command: Self.syntax.name)
        }
        if isMotionAlone, isJSON || isOffline || replays != nil {
            throw UsageError(
                message: "--motion goes with neither --json nor --offline nor --replays", command: Self.syntax.name)
        }
        guard isOffline else { return }
        if replays != nil {
            throw UsageError(message: "--offline and --replays don't go together", command: Self.syntax.name)
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
            throw UsageError(message: "--offline goes with the method particle alone", command: Self.syntax.name)
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

    /// The data set's venue with what its survey tells.
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
    /// The file of each track's replay; nothing is written yet, but the folder made.
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
            score?.text(of: dataSet.name) ?? "\(dataSet.name): no track has both motion and a truth with a place\n")
    }

    /// Does something with a file or folder; a failure tells its path, the system's reason and what to do.
    static func explained(_ path: String, _ body: () throws -> Void) throws(DataSetError) {
        do { try body() } catch {
            let reason = "cannot be written: \(error.systemReason)"
            throw DataSetError(description: "\(path): \(reason). Check the path, its permissions and the free space.")
        }
    }
}
