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
            prints one object: dataset, method, n, answered, floor, mean, median, p75, p90, p95, ipin, insideRadius,
            radius (the median of the 68 % radius). Shares are from 0 to 1; a figure without data is null.

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
            map. --survey-share learns from a random share of the survey's recordings, selected by --seed. --survey-deaf
            removes the weakest readings from the survey, as if its receiver heard less far than that of the tracks, and
            --deaf those of the tracks: a share at least 0 and below 1, or several with commas.

            --disturb adds faults of beacons or attacks on the radio, selected by --seed: clone=COUNT,LEVELdBm sends the
            identities of distant beacons from a transmitter near the device, ten times a second, or with ,otherFloor those of
            beacons of other floors. moved=SHARE,DISTANCEm moves beacons in the packet. exchanged=SHARE exchanges beacons in
            pairs after the survey. dead=SHARE removes the readings of beacons. power=DIFFERENCE changes the power of a fifth of
            the beacons. replay plays the readings of the radio backwards in time. flood=RATE/s adds foreign beacons. A second
            line has the disturbed beacons that the session named on its error stream, and the false alarms; --json has
            them as disturbedBeacons, namedInMinute, receivedDisturbedBeacons, named, falseAlarms and hours. Sessions test
            beacons that were surveyed, and the others for levels that are far too strong; --set positioning.testedBeacons=all
            tests them in every way. With that setting, undisturbed tracks also have the line.

            With --gateways, the roles are exchanged: the beacons stand for gateways that receive the device as a tag.
            Their messages pass the decoder, the intake and the machine of 'track'. raw messages have each reading with
            its time, and espresense ones the median of 15 s every 5 s, without a time. --gateways can't be combined
            with --method, --offline, --motion, --ideal or --report.

            --report writes report-NAME.html into FOLDER, where NAME is the data set's: a page with the scores of all
            methods, or of the one given by --method, the distribution of the error, the error over time, each track on
            its plan, the radio map, the residuals and ranges of the tracks' readings, and the expected 68 % error of the
            venue's beacons. index.html in FOLDER lists all its reports. The pages contain their figures, have no script and load nothing. They show where people were:
            only their owner can read the files.

            example: indoorloc evaluate Fixtures/office
                     indoorloc evaluate Fixtures/office --report reports
                     indoorloc evaluate Fixtures/office --offline
                     indoorloc evaluate Fixtures/office --motion
                     indoorloc evaluate Fixtures/office --shift=-15,0,15
                     indoorloc evaluate Fixtures/office --survey-deaf 0,0.35,0.5
                     indoorloc evaluate Fixtures/office --without survey --disturb clone=1,-50dBm
                     indoorloc evaluate Fixtures/real/tetam --gateways raw
            """,
        options: [
            .method, .settings, .set, CommandOption(name: "json", help: "print one JSON object instead of a line"),
            .radioMap, .seed,
            CommandOption(
                name: "replays", argument: "FOLDER",
                help: "also write the output of 'replay' and the scored positions, one file per track"),
            CommandOption(
                name: "report", argument: "FOLDER", help: "also write a page with figures, and an index of all reports"),
            .overwrite,
            CommandOption(
                name: "jobs", short: "j", argument: "N", help: "number of parallel tracks (default: all processors)"),
            .lenient,
            CommandOption(
                name: "offline", help: "also score positions estimated from the whole recording"),
            CommandOption(name: "motion", help: "score motion alone, without beacons"),
            CommandOption(
                name: "ideal", help: "replace each reading with one simulated by the engine's model"),
            CommandOption(
                name: "gateways", argument: "MESSAGES",
                help: "locate the device as a tag, with the beacons as gateways that send raw or espresense messages"),
        ] + ParsedArguments.conditionOptions)

    private let path: String
    private let radioMap: String?
    private let replays: String?
    private let report: ReportFolder?
    /// The methods that the report compares with the evaluated one.
    private let otherMethods: [PositioningMethod]
    private let mayOverwrite: Bool
    private let isJSON: Bool
    private let isOffline: Bool
    private let isMotionAlone: Bool
    private let isIdeal: Bool
    private let gateways: GatewayReplay.Messages?
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
        report = arguments.value("report").map {
            ReportFolder($0, mayOverwrite: arguments.has("overwrite"), inputs: arguments.inputs(except: ["report"]))
        }
        let isChosen = settings.isGiven("positioning.method")
        otherMethods = isChosen ? [] : PositioningMethod.allCases
        isOffline = arguments.has("offline")
        isMotionAlone = arguments.has("motion")
        isIdeal = arguments.has("ideal")
        conditions = try arguments.conditions()
        gateways = try Self.gateways(arguments)
        if isIdeal, isOffline || isMotionAlone {
            throw UsageError(message: "--ideal can't be combined with --offline or --motion", command: Self.syntax.name)
        }
        if conditions.count > 1, replays != nil {
            throw UsageError(
                message:
                    "--replays allows only one value of --shift, --survey-deaf and --deaf, as each would replace the files of "
                    + "the one before",
                command: Self.syntax.name)
        }
        if report != nil, conditions.count > 1 || isMotionAlone {
            throw UsageError(
                message:
                    "--report can't be combined with --motion or several values of --shift, --survey-deaf or --deaf",
                command: Self.syntax.name)
        }
        if isMotionAlone, ParsedArguments.conditionOptions.contains(where: { arguments.has($0.name) }) {
            throw UsageError(
                message:
                    "--motion can't be combined with --shift, --deaf, --survey-deaf, --without, --survey-share or --disturb",
                command: Self.syntax.name)
        }
        let isWithoutSurvey = conditions.contains { $0.without.contains(.survey) }
        let isDisturbed = conditions.contains { !$0.disturbances.isEmpty }
        if isDisturbed, isIdeal || report != nil {
            throw UsageError(message: "--disturb can't be combined with --ideal or --report", command: Self.syntax.name)
        }
        if radioMap != nil, isWithoutSurvey || arguments.has("survey-share") || arguments.has("survey-deaf") {
            throw UsageError(
                message: "--radio-map can't be combined with --without survey, --survey-share or --survey-deaf",
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

    /// The kind of the gateways' messages; nil for a session of a device.
    private static func gateways(_ arguments: ParsedArguments) throws(UsageError) -> GatewayReplay.Messages? {
        guard let name = arguments.value("gateways") else { return nil }
        guard let messages = GatewayReplay.Messages(rawValue: name) else {
            throw UsageError(message: "--gateways must be raw or espresense, not '\(name)'", command: syntax.name)
        }
        if let other = ["offline", "motion", "ideal", "report", "method"].first(where: arguments.has) {
            throw UsageError(message: "--gateways can't be combined with --\(other)", command: syntax.name)
        }
        return messages
    }

    func run() async throws {
        let missing = [report?.folder, replays].compactMap(\.self).flatMap(DiskFolder.missing)
        do { try await evaluate() } catch {
            // Complete files stay.
            DiskFolder.removeEmpty(missing)
            throw error
        }
    }

    private func evaluate() async throws {
        let progress = ProgressLine()
        defer { progress.clear() }
        let dataSet = try DataSet(path: path, radioMap: radioMap)
        let replays = try replayFiles(of: dataSet)
        let page = try report?.file(of: dataSet.name)
        if isMotionAlone { return try evaluateMotion(of: dataSet, progress) }
        let positioning = settings.resolved(in: dataSet.venue).localization.positioning
        if isOffline, positioning.method != .particle {
            throw UsageError(message: "--offline requires the method particle", command: Self.syntax.name)
        }
        var learned: (deafness: Double, venue: Venue, field: SignalField)?
        var missing: [CommandError] = []
        for var conditions in conditions {
            if learned?.deafness != conditions.surveyDeafness {
                let venue = try dataSet.surveyed(
                    model: positioning.signal, under: conditions, radioMap: radioMap, seed: seed,
                    strictness: strictness, progress)
                if learned == nil { settings.warnOfUselessSettings(in: [venue]) }
                progress.show("tables of \(dataSet.name)")
                learned = (conditions.surveyDeafness, venue, SignalField(venue: venue, model: positioning.signal))
            }
            guard let (_, venue, field) = learned else { continue }
            try conditions.measure(dataSet.tracks, of: venue, strictness: strictness)
            let evaluation = TrackEvaluation(
                venue: venue, field: field, settings: settings, seed: seed, strictness: strictness, isIdeal: isIdeal,
                conditions: conditions, isOffline: isOffline, replays: replays, gateways: gateways,
                disturbed: conditions.disturbed(dataSet.venue))
            let outcomes = try await evaluation.outcomes(of: dataSet.tracks, jobs: jobs, progress: progress)
            let scores = evaluation.scores(of: outcomes)
            if let reason = outcomes.reasonForNoScore(in: venue) {
                let words = self.conditions.count > 1 ? conditions.words.map { ", \($0)" }.joined() : ""
                let rest = page == nil ? "" : "; the report was not written"
                missing.append(CommandError(description: "\(dataSet.name)\(words): \(reason)\(rest)"))
                continue
            }
            if let page {
                let result = MethodComparison.Result(
                    method: positioning.method, outcomes: outcomes, score: scores.causal)
                try await write(
                    result, offline: isOffline ? scores.offline : nil, of: dataSet, evaluation, to: page, progress)
            }
            progress.clear()
            try write(
                (scores.causal, scores.offline), scores.faults, of: dataSet.name, under: conditions,
                method: positioning.method)
        }
        // The other values of a list such as '--shift=-60,0' are scored all the same.
        if let last = missing.popLast() {
            progress.clear()
            missing.forEach { StandardError.line($0.description) }
            throw last
        }
        try report?.writeIndex()
    }

    /// Writes the report of the evaluated method, with the scores of the other methods.
    private func write(
        _ result: MethodComparison.Result, offline: TrackScore?, of dataSet: DataSet, _ evaluation: TrackEvaluation,
        to file: OutputFile, _ progress: ProgressLine
    ) async throws {
        let comparison = MethodComparison(
            venue: evaluation.venue, settings: settings, seed: seed, strictness: strictness,
            conditions: evaluation.conditions, isIdeal: isIdeal)
        let others = try await comparison.results(
            of: otherMethods.filter { $0 != result.method }, dataSet.tracks, jobs: jobs, progress)
        let placed = try PlacedReadings(
            dataSet.tracks, in: evaluation.venue, strictness: strictness, under: evaluation.conditions,
            warns: false, progress)
        let names = BeaconNames(evaluation.venue)
        let report = EvaluationReport(
            name: dataSet.name, venue: evaluation.venue, results: [result] + others, offline: offline,
            conditions: evaluation.conditions.words + (isIdeal ? ["readings simulated by the model"] : []),
            residuals: ResidualList(placed, of: [], field: evaluation.field, names),
            ranges: RangeList(
                placed, of: [], in: evaluation.venue, usualExponent: evaluation.field.model.pathLossExponent, names),
            field: evaluation.field)
        progress.show("report of \(dataSet.name)")
        try file.write(Array(report.page.utf8))
    }

    private func write(
        _ scores: (causal: TrackScore, offline: TrackScore), _ faults: FaultScorer, of name: String,
        under conditions: EvaluationConditions, method: PositioningMethod
    ) throws {
        let isShifted = Set(self.conditions.map(\.shift)).count > 1 || conditions.shift != 0
        let deafness = [("survey deaf", conditions.surveyDeafness), ("deaf", conditions.deafness)].filter { $0.1 > 0 }
        let reportsFaults = !conditions.disturbances.isEmpty || settings.isGiven("positioning.testedBeacons")
        guard isJSON else {
            let shift =
                deafness.map { " \($0) \(JSONText.number($1, decimals: 2))" }.joined()
                + (isShifted ? " \(JSONText.number(conditions.shift, decimals: 1)) dB" : "")
            let lines = [(name + shift, scores.causal), ("\(name)\(shift) offline", isOffline ? scores.offline : nil)]
            let texts = lines.compactMap { name, score in score.map { $0.figureLine(of: name) } }
            return try StandardOutput.write(
                texts.map { $0 + "\n" }.joined() + (reportsFaults ? faults.line(of: name) + "\n" : ""))
        }
        var json = JSONText()
        json.add("dataset", name)
        json.add("method", method.rawValue)
        if isShifted { json.add("shift", conditions.shift, decimals: 1) }
        if conditions.surveyDeafness > 0 { json.add("surveyDeaf", conditions.surveyDeafness, decimals: 3) }
        if conditions.deafness > 0 { json.add("deaf", conditions.deafness, decimals: 3) }
        scores.causal.addFigures(to: &json)
        if reportsFaults { faults.addFigures(to: &json) }
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
        try CommandError.explaining(replays) {
            try DiskFolder.create(replays)
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
        guard let score else {
            throw CommandError(
                description: "\(dataSet.name): no track has both motion and a ground truth with a position")
        }
        try StandardOutput.write(score.text(of: dataSet.name))
    }
}
