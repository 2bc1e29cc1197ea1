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
            radius (the median of the 68 % radius). Shares are from 0 to 1; a figure without data is null. If the tracks have
            ground truth on maps that the venue doesn't have, which isn't scored, or outside the plan, the object also has the
            numbers truthsOnUnknownMaps and truthsOutside, and standard error names the tracks.

            \(CommandOption.methodDetails)

            Several methods print one line each, with the method after the data set's name. Several --seeds print the mean of
            each figure ± its standard deviation over the seeds; --json has seeds and deviation as members. --format prints a
            table in Markdown or LaTeX instead.

            --errors writes a row of CSV for each scored instant: data_set, track, method, seed, t, true_x, true_y, true_level,
            x, y, level, error, radius, floor_right. 'indoorloc plot error --errors' draws such files.

            --start also scores the positions 1, 2, 5, 10 and 20 s after the first reading of each track: one line each, or
            with --json the member 'start'.

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

            --self scores what a venue learns without a survey: the tracks without a survey, with beacon powers and a sensitivity
            learned as 'survey --self' does, from N recordings that the seed selects or from all, with these only where the
            rule adopts them, and with the survey. The recordings are those in DATASET/walks, otherwise those of the survey;
            their ground truth is not used. With several seeds, a line counts the wrong decisions of the rule. --self can be
            combined with --seed, --seeds, --settings, --set, --jobs, --json and --lenient only.

            --report writes report-NAME.html into FOLDER, where NAME is the data set's: a page with the scores of all
            methods, or of the one given by --method, the distribution of the error, the error over time, each track on
            its plan, the radio map, the residuals and ranges of the tracks' readings, and the expected 68 % error of the
            venue's beacons. index.html in FOLDER lists all its reports. The pages contain their figures, have no script and load nothing. They show where people were:
            only their owner can read the files.

            example: indoorloc evaluate Fixtures/office
                     indoorloc evaluate Fixtures/office --report reports
                     indoorloc evaluate Fixtures/office --method particle,knn --seeds 0-4 --format latex
                     indoorloc evaluate Fixtures/office --offline
                     indoorloc evaluate Fixtures/office --motion
                     indoorloc evaluate Fixtures/office --shift=-15,0,15
                     indoorloc evaluate Fixtures/office --survey-deaf 0,0.35,0.5
                     indoorloc evaluate Fixtures/office --without survey --disturb clone=1,-50dBm
                     indoorloc evaluate Fixtures/real/tetam --gateways raw
                     indoorloc evaluate Fixtures/office --self all
            """,
        options: [
            .methods, .settings, .set, CommandOption(name: "json", help: "print one JSON object instead of a line"),
            CommandOption(
                name: "format", argument: "FORMAT", help: "text, json, markdown or latex (default text)",
                proposals: .words(of: EvaluationTable.Format.self)),
            .radioMap, .seed,
            CommandOption(
                name: "seeds", argument: "N-M", help: "several seeds, such as 0-4 or 0,3; may be repeated"),
            CommandOption(
                name: "errors", argument: "FILE", help: "also write the error at each scored instant, as CSV"),
            CommandOption(
                name: "start", help: "also score the positions 1, 2, 5, 10 and 20 s after each track's first reading"),
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
            CommandOption(
                name: "self", argument: "N",
                help: "score values learned without ground truth from N recordings, or from 'all'"),
        ] + CommandOption.simpleMethods + ParsedArguments.conditionOptions)

    private let path: String
    private let radioMap: String?
    private let replays: String?
    private let report: ReportFolder?
    /// The methods to evaluate; nil for the one of the settings.
    private let methods: [EvaluatedMethod]?
    private let simpleMethods: SimpleMethodSettings
    private let errors: OutputFile?
    private let scoresStart: Bool
    private let mayOverwrite: Bool
    private let format: EvaluationTable.Format
    private let isOffline: Bool
    private let isMotionAlone: Bool
    private let isIdeal: Bool
    private let gateways: GatewayReplay.Messages?
    /// The number of recordings for `--self`, which is nil for all; nil without the option.
    private let learned: Int??
    private let jobs: Int
    private let strictness: RecordingReader.Strictness
    private let seeds: [UInt64]
    private let settings: SettingsStack
    private let conditions: [EvaluationConditions]

    init(_ arguments: ParsedArguments) throws {
        path = arguments.operands[0]
        radioMap = try arguments.input("radio-map")
        replays = arguments.value("replays")
        mayOverwrite = arguments.has("overwrite")
        format = try Self.format(arguments)
        let processors = ProcessInfo.processInfo.activeProcessorCount
        jobs = try arguments.number("jobs", in: 1...1024, else: processors)
        strictness = arguments.strictness
        seeds = try arguments.seeds()
        methods = try arguments.evaluatedMethods()
        simpleMethods = try arguments.simpleMethodSettings()
        settings = try arguments.settings(for: methods)
        errors = arguments.outputFile("errors", isPrivate: true, reading: DataSet.allRecordings(in: path))
        scoresStart = arguments.has("start")
        report = arguments.value("report").map {
            ReportFolder($0, mayOverwrite: arguments.has("overwrite"), inputs: arguments.inputs(except: ["report"]))
        }
        isOffline = arguments.has("offline")
        isMotionAlone = arguments.has("motion")
        isIdeal = arguments.has("ideal")
        conditions = try arguments.conditions()
        gateways = try Self.gateways(arguments)
        learned = try Self.learned(arguments)
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
        if replays != nil, seeds.count > 1 || (methods?.count ?? 1) > 1 {
            throw UsageError(
                message:
                    "--replays allows only one method and one seed, as each would replace the files of the one before",
                command: Self.syntax.name)
        }
        if conditions.count > 1, errors != nil {
            throw UsageError(
                message: "--errors allows only one value of --shift, --survey-deaf and --deaf, as rows don't have them",
                command: Self.syntax.name)
        }
        if isMotionAlone,
            let other = ["seeds", "errors", "start", "format"].first(where: arguments.has)
                ?? (methods?.contains { $0.isSimple } ?? false || (methods?.count ?? 1) > 1 ? "method" : nil)
        {
            throw UsageError(message: "--motion can't be combined with --\(other)", command: Self.syntax.name)
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
        if isMotionAlone, format == .json || isOffline || replays != nil {
            throw UsageError(
                message: "--motion can't be combined with --json, --offline or --replays", command: Self.syntax.name)
        }
        guard isOffline else { return }
        if replays != nil {
            throw UsageError(message: "--offline can't be combined with --replays", command: Self.syntax.name)
        }
    }

    /// The format given by `--format`, or by `--json`.
    private static func format(_ arguments: ParsedArguments) throws(UsageError) -> EvaluationTable.Format {
        guard let format = try arguments.word("format", of: EvaluationTable.Format.self) else {
            return arguments.has("json") ? .json : .text
        }
        guard format == .json || !arguments.has("json") else {
            throw UsageError(message: "--json can't be combined with --format \(format.rawValue)", command: syntax.name)
        }
        return format
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

    /// The number of recordings to learn from without ground truth; nil within for all, nil without `--self`.
    private static func learned(_ arguments: ParsedArguments) throws(UsageError) -> Int?? {
        guard let text = arguments.value("self") else { return nil }
        let allowed: Set = ["self", "seed", "seeds", "settings", "set", "jobs", "json", "lenient"]
        if let other = arguments.values.keys.sorted().first(where: { !allowed.contains($0) }) {
            throw UsageError(message: "--self can't be combined with --\(other)", command: syntax.name)
        }
        if text == "all" { return .some(nil) }
        guard let count = Int(text), count > 0 else {
            throw UsageError(
                message: "--self must be a number of recordings or 'all', not '\(text)'", command: syntax.name)
        }
        return .some(count)
    }

    private func evaluateLearning(_ count: Int?, of dataSet: DataSet, _ progress: ProgressLine) async throws {
        let result = try await SelfEvaluation(
            dataSet: dataSet, settings: settings, strictness: strictness, jobs: jobs, count: count
        ).result(seeds: seeds, progress: progress)
        progress.clear()
        try StandardOutput.write(
            lines: format == .json
                ? [result.json(of: dataSet.name).text] : result.lines(of: dataSet.name, venue: dataSet.venue))
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
        try errors?.check()
        if isMotionAlone { return try evaluateMotion(of: dataSet, progress) }
        if let learned { return try await evaluateLearning(learned, of: dataSet, progress) }
        let usual = settings.resolved(in: dataSet.venue).localization.positioning.method
        let methods = self.methods ?? [.engine(usual)]
        if isOffline, methods != [.engine(.particle)] {
            throw UsageError(message: "--offline requires the method particle", command: Self.syntax.name)
        }
        var learned: Surroundings?
        var missing: [CommandError] = []
        var table = EvaluationTable()
        var rows = ""
        var misplaced: MisplacedTruths?
        var hasWarned = false
        for conditions in conditions {
            var studies = methods.map { MethodStudy(method: $0) }
            for seed in seeds {
                var conditions = conditions
                conditions.seed = seed
                if learned?.serves(conditions, seed) != true {
                    learned = try surroundings(of: dataSet, methods, under: conditions, seed: seed, progress)
                }
                guard let learned else { continue }
                try conditions.measure(dataSet.tracks, of: learned.venue, strictness: strictness)
                var comparison = MethodComparison(
                    venue: learned.venue, settings: settings, seed: seed, strictness: strictness,
                    conditions: conditions,
                    isIdeal: isIdeal)
                comparison.simple = learned.survey.map { (simpleMethods, $0) }
                for index in studies.indices {
                    let isSame =
                        methods[index].isDeterministic && !isIdeal && !conditions.dependsOnSeed && gateways == nil
                    if isSame, let first = studies[index].runs.first {
                        studies[index].runs.append(first.with(seed: seed))
                        continue
                    }
                    var evaluation = try comparison.evaluation(by: methods[index], field: learned.field)
                    evaluation.isOffline = isOffline
                    evaluation.replays = replays
                    evaluation.gateways = gateways
                    evaluation.disturbed = conditions.disturbed(dataSet.venue)
                    evaluation.scoresStart = scoresStart
                    let outcomes = try await evaluation.outcomes(of: dataSet.tracks, jobs: jobs, progress: progress)
                    misplaced = misplaced ?? outcomes.misplacedTruths(in: dataSet.venue)
                    studies[index].runs.append(
                        MethodStudy.Run(
                            seed: seed, comparison: comparison, evaluation: evaluation, outcomes: outcomes))
                }
            }
            var scored: [MethodStudy] = []
            for study in studies {
                guard let reason = study.reasonForNoScore(in: dataSet.venue) else {
                    scored.append(study)
                    continue
                }
                let words =
                    (self.conditions.count > 1 ? conditions.words.map { ", \($0)" }.joined() : "")
                    + (methods.count > 1 ? ", \(study.method.name)" : "")
                let rest = page == nil ? "" : "; the report was not written"
                missing.append(CommandError(description: "\(dataSet.name)\(words): \(reason)\(rest)"))
            }
            if let page, scored.count == studies.count {
                try await write(scored, of: dataSet, to: page, progress)
            }
            progress.clear()
            if !scored.isEmpty, !hasWarned {
                misplaced?.report()
                hasWarned = true
            }
            for study in scored {
                try write(
                    study, of: dataSet.name, under: conditions, isOneOfSeveral: methods.count > 1, misplaced,
                    into: &table)
                for run in study.runs where errors != nil {
                    rows += ErrorTable.rows(
                        of: run.outcomes, dataSet: dataSet.name, method: study.method.name, seed: run.seed,
                        venue: dataSet.venue)
                }
            }
        }
        try write(table, of: dataSet.name)
        if !rows.isEmpty { try errors?.write(Array((ErrorTable.header + rows).utf8)) }
        // The other values of a list such as '--shift=-60,0', and the other methods, are scored all the same.
        if let last = missing.popLast() {
            progress.clear()
            missing.forEach { StandardError.line($0.description) }
            throw last
        }
        try report?.writeIndex()
    }

    /// What was learned from a survey under some conditions.
    private struct Surroundings {
        var conditions: EvaluationConditions
        var seed: UInt64
        var venue: Venue
        var field: SignalField
        /// The survey as the simple methods use it; nil without a simple method.
        var survey: SimpleSurvey?

        /// Whether it was learned from the same survey as under other conditions.
        func serves(_ other: EvaluationConditions, _ seed: UInt64) -> Bool {
            conditions.surveyDeafness == other.surveyDeafness && (seed == self.seed || !other.dependsOnSeed)
        }
    }

    /// Learns from the survey.
    private func surroundings(
        of dataSet: DataSet, _ methods: [EvaluatedMethod], under conditions: EvaluationConditions, seed: UInt64,
        _ progress: ProgressLine
    ) throws -> Surroundings {
        let model = settings.resolved(in: dataSet.venue).localization.positioning.signal
        let isSimple = methods.allSatisfy(\.isSimple)
        let isFirst = conditions.surveyDeafness == self.conditions.first?.surveyDeafness && seed == seeds.first
        // The engine's radio map takes long to learn, and simple methods don't use it.
        let learns = !isSimple || dataSet.surveys.isEmpty || isIdeal || report != nil
        let venue =
            learns
            ? try dataSet.surveyed(
                model: model, under: conditions, radioMap: radioMap, seed: seed, strictness: strictness, warns: isFirst,
                progress)
            : conditions.adapted(dataSet.venue)
        if isFirst, !isSimple { settings.warnOfUselessSettings(in: [venue]) }
        progress.show("tables of \(dataSet.name)")
        let survey =
            methods.contains(where: \.isSimple)
            ? try dataSet.simpleSurvey(
                of: venue, settings: simpleMethods, under: conditions, radioMap: radioMap, seed: seed,
                strictness: strictness, warns: isFirst && !learns) : nil
        return Surroundings(
            conditions: conditions, seed: seed, venue: venue, field: SignalField(venue: venue, model: model),
            survey: survey)
    }

    /// Writes the report of the evaluated methods; without `--method`, it has the scores of the engine's other methods.
    private func write(
        _ studies: [MethodStudy], of dataSet: DataSet, to file: OutputFile, _ progress: ProgressLine
    ) async throws {
        guard let first = studies.first, let run = first.runs.first else { return }
        var results = studies.compactMap { study in
            study.runs.first.map {
                MethodComparison.Result(method: study.method, outcomes: $0.outcomes, score: $0.causal)
            }
        }
        if methods == nil, !settings.isGiven("positioning.method") {
            let others = PositioningMethod.allCases.map(EvaluatedMethod.engine).filter { $0 != first.method }
            results += try await run.comparison.results(of: others, dataSet.tracks, jobs: jobs, progress)
        }
        let evaluation = run.evaluation
        let placed = try PlacedReadings(
            dataSet.tracks, in: evaluation.venue, strictness: strictness, under: evaluation.conditions,
            warns: false, progress)
        let names = BeaconNames(evaluation.venue)
        let report = EvaluationReport(
            name: dataSet.name, venue: evaluation.venue, results: results, offline: isOffline ? run.offline : nil,
            conditions: evaluation.conditions.words + (isIdeal ? ["readings simulated by the model"] : []),
            residuals: ResidualList(placed, of: [], field: evaluation.field, names),
            ranges: RangeList(
                placed, of: [], in: evaluation.venue, usualExponent: evaluation.field.model.pathLossExponent, names),
            field: evaluation.field, pictures: PlanPictures(dataSet.packet).byMap)
        progress.show("report of \(dataSet.name)")
        try file.write(Array(report.page.utf8))
    }

    /// Writes the figures of a method as text or JSON, or adds them to the table.
    private func write(
        _ study: MethodStudy, of name: String, under conditions: EvaluationConditions, isOneOfSeveral: Bool,
        _ misplaced: MisplacedTruths?, into table: inout EvaluationTable
    ) throws {
        guard let (means, deviations) = TrackScore.summary(of: study.runs.map(\.causal)) else { return }
        let after = isOffline ? TrackScore.summary(of: study.runs.map(\.offline)) : nil
        let isShifted = Set(self.conditions.map(\.shift)).count > 1 || conditions.shift != 0
        let deafness = [("survey deaf", conditions.surveyDeafness), ("deaf", conditions.deafness)].filter { $0.1 > 0 }
        let reportsFaults = !conditions.disturbances.isEmpty || settings.isGiven("positioning.testedBeacons")
        let words =
            deafness.map { " \($0) \(JSONText.number($1, decimals: 2))" }.joined()
            + (isShifted ? " \(JSONText.number(conditions.shift, decimals: 1)) dB" : "")
        switch format {
        case .markdown, .latex:
            table.add(study.method.name + words, means, deviations: deviations)
            if let after {
                table.add("\(study.method.name)\(words) offline", after.means, deviations: after.deviations)
            }
        case .text:
            let label = name + (isOneOfSeveral ? " \(study.method.name)" : "") + words
            var lines = [means.figureLine(of: label, deviations: deviations)]
            if let after { lines.append(after.means.figureLine(of: "\(label) offline", deviations: after.deviations)) }
            if reportsFaults {
                lines.append(study.faults.line(of: isOneOfSeveral ? "\(name) \(study.method.name)" : name))
            }
            if scoresStart { lines += study.start.lines(of: label) }
            try StandardOutput.write(lines: lines)
        case .json:
            var json = JSONText()
            json.add("dataset", name)
            json.add("method", study.method.name)
            if isShifted { json.add("shift", conditions.shift, decimals: 1) }
            if conditions.surveyDeafness > 0 { json.add("surveyDeaf", conditions.surveyDeafness, decimals: 3) }
            if conditions.deafness > 0 { json.add("deaf", conditions.deafness, decimals: 3) }
            means.addFigures(to: &json)
            if let deviations {
                json.add("seeds", content: .array(study.runs.map { .number(Double($0.seed)) }))
                var spread = JSONText()
                deviations.addFigures(to: &spread, withCount: false)
                json.add("deviation", spread)
            }
            if reportsFaults { study.faults.addFigures(to: &json) }
            if let after {
                var offline = JSONText()
                after.means.addFigures(to: &offline)
                json.add("offline", offline)
            }
            if scoresStart { json.add("start", study.start.json) }
            for (name, count) in [
                ("truthsOnUnknownMaps", misplaced?.countOnUnknownMaps ?? 0),
                ("truthsOutside", misplaced?.countOutside ?? 0),
            ] where count > 0 { json.add(name, count) }
            try StandardOutput.write(json.text + "\n")
        }
    }

    private func write(_ table: EvaluationTable, of name: String) throws {
        guard !table.isEmpty else { return }
        let seeds = seeds.count > 1 ? ", mean and standard deviation of \(seeds.count) seeds" : ""
        try StandardOutput.write(
            format == .latex
                ? table.latex(
                    comment: PrintableText.line("\(name), indoorloc \(PackageVersion.current)\(seeds), metres"))
                : table.markdown)
    }
}

/// The evaluation of a method with several seeds.
private struct MethodStudy {
    /// The evaluation with one seed.
    struct Run {
        var seed: UInt64
        let comparison: MethodComparison
        let evaluation: TrackEvaluation
        let outcomes: [TrackEvaluation.Outcome]
        let causal: TrackScore
        let offline: TrackScore
        let faults: FaultScorer

        init(
            seed: UInt64, comparison: MethodComparison, evaluation: TrackEvaluation,
            outcomes: [TrackEvaluation.Outcome]
        ) {
            self.seed = seed
            self.comparison = comparison
            self.evaluation = evaluation
            self.outcomes = outcomes
            (causal, offline, faults) = evaluation.scores(of: outcomes)
        }

        /// The same run as that with another seed, of a method without random numbers.
        func with(seed: UInt64) -> Run {
            var run = self
            run.seed = seed
            return run
        }
    }

    let method: EvaluatedMethod
    var runs: [Run] = []

    /// The reported faults with all seeds.
    var faults: FaultScorer { runs.reduce(into: FaultScorer()) { $0.add($1.faults) } }

    /// The scores after the start, of the tracks with all seeds.
    var start: StartScorer {
        runs.reduce(into: StartScorer()) { sum, run in run.outcomes.forEach { sum.add($0.start) } }
    }

    /// The reason why a run has no score; nil if all have one.
    func reasonForNoScore(in venue: Venue) -> String? {
        guard
            let (run, reason) = runs.lazy.compactMap({ run in
                run.outcomes.reasonForNoScore(in: venue).map { (run, $0) }
            }).first
        else { return nil }
        if method.isSimple, venue.beacons.isEmpty, !venue.anchors.isEmpty {
            return "the method \(method.name) uses RSSI, and the venue has anchors only; for distances, use particle, "
                + "fingerprint or trilateration"
        }
        guard method == .simple(.knn), run.comparison.simple?.survey.fingerprints.isEmpty == true else {
            return reason
        }
        return "the method knn requires a survey or a radio map"
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
                inputs: DataSet.allRecordings(in: path) + [path], isPrivate: true)
            try file.check()
            files[track] = file
        }
        return files
    }

    private func evaluateMotion(of dataSet: DataSet, _ progress: ProgressLine) throws {
        let positioning = settings.resolved(in: dataSet.venue).localization.positioning
        let evaluation = MotionEvaluation(
            venue: dataSet.venue, field: SignalField(venue: dataSet.venue, model: positioning.signal),
            settings: settings, seed: seeds.first ?? 0, strictness: strictness)
        var score: MotionScore?
        var misplaced = MisplacedTruths(venue: dataSet.venue)
        for (index, track) in dataSet.tracks.enumerated() {
            progress.show("tracks: \(index) of \(dataSet.tracks.count)")
            guard let one = try evaluation.score(track, &misplaced) else { continue }
            var sum = score ?? MotionScore()
            sum.add(one)
            score = sum
        }
        progress.clear()
        misplaced.report()
        guard let score else {
            throw CommandError(
                description: "\(dataSet.name): no track has both motion and a ground truth with a position")
        }
        try StandardOutput.write(score.text(of: dataSet.name))
    }
}
