import Foundation
import IndoorLocalization
import ScanRecording
import TextFormats
import VenueExchange
import VenuePackets

/// The command `survey`: learns a radio map.
struct SurveyCommand: Command {
    static let syntax = CommandSyntax(
        name: "survey", operands: "RECORDING...", operandCount: 1...Int.max,
        summary: "learn a radio map from recordings with ground truth",
        details: """
            A radio map contains the readings at each surveyed place, and the position and power of each beacon. Use it
            with 'indoorloc replay --radio-map MAP', or name it in the packet as "radioMap". A MAP that ends in .gz is
            compressed.

            With --unlabelled, the map is also learned from walks without ground truth. WALKS is a recording or a folder
            of recordings; the option may be repeated. Each walk is located with the radio map, and the map is learned
            again with the estimated positions, weighted by their certainty. This repeats as long as it improves the
            positions of recordings with ground truth, which are left out in turn. Ground truth in the walks is not
            used. Without an improvement, the map is learned from the recordings with ground truth only.

            With --report, the command also writes an HTML page with advice: where to walk, which beacons are moved, silent,
            weak or used twice, and which survey points contradict each other. It leaves quarters of the recordings out in turn
            to measure the error of positions, which takes 4 to 15 times as long as the survey itself. Standard error has
            a summary.

            With --audit, the command learns no radio map but examines the beacons of the venue. The recordings are those of
            any sessions and need no ground truth: each is located, and each beacon is tested against the position that the
            others support. The command lists the beacons that need a technician: moved ones with the estimated place,
            exchanged, duplicated and silent ones, and changes of power. A RECORDING may be a folder here. --json prints
            one JSON object instead.

            With --self, the command learns no radio map but the powers of the beacons, the losses through floors and walls, and the
            sensitivity of the receivers, from recordings of any sessions without ground truth, 20 or more. A RECORDING may
            be a folder here; of more than 200, a sample is used, and the first hour of each. OUTPUT is the venue's next
            edition, a packet with these values as measured powers and settings, and self-learning.json with what they rest
            on. It is written only if the values predict recordings that were left out better than the values of V;
            otherwise the command says why not, and ends with status 0. --force writes the packet in any case. --json prints
            the content of self-learning.json.

            With --self --tags, the recordings are those of 'track --record', and the command learns the powers of the
            receivers, the losses through floors and walls, and their sensitivity. OUTPUT is then for 'track --learned' only: the sensitivity
            is not that of devices, and the powers of the beacons stay.

            example: indoorloc survey --venue Fixtures/office \\
                         --output map.json.gz Fixtures/office/survey/*.jsonl
                     indoorloc survey --audit --venue Fixtures/office walks
                     indoorloc survey --self --venue library --output library-2 walks
                     indoorloc survey --self --tags --venue workshop --output workshop-2 recordings
            """,
        options: [
            .venue,
            CommandOption(
                name: "output", short: "o", argument: "FILE",
                help: "output file; with --self, a packet: a zip file if the name ends in .zip, otherwise a folder",
                proposals: .files),
            .overwrite, .lenient,
            CommandOption(name: "audit", help: "examine the venue's beacons instead, by recordings of sessions"),
            .radioMap, .seed,
            CommandOption(name: "json", help: "print the audit, or the values of --self, as one JSON object"),
            CommandOption(
                name: "self", help: "learn powers and sensitivity from recordings without ground truth instead"),
            CommandOption(
                name: "tags", help: "with --self, learn the powers of receivers, from recordings of tags"),
            CommandOption(name: "force", help: "with --self, write the packet even if the values are not adopted"),
            CommandOption(name: "report", argument: "FILE", help: "write a review of the survey as an HTML page"),
            CommandOption(
                name: "unlabelled", argument: "WALKS",
                help: "also learn from walks without ground truth: a file or a folder"),
            CommandOption(
                name: "jobs", short: "j", argument: "N", help: "number of parallel walks (default: all processors)"),
        ])

    private let venue: String
    private let output: OutputFile?
    private let audit: AuditOptions?
    private let learning: SelfOptions?
    private let report: OutputFile?
    private let recordings: [String]
    private let unlabelled: [String]
    private let jobs: Int
    private let strictness: RecordingReader.Strictness

    init(_ arguments: ParsedArguments) throws {
        venue = try arguments.requiredInput("venue")
        learning = try SelfOptions(arguments)
        audit = try AuditOptions(arguments)
        var output = audit == nil && learning == nil ? try arguments.requiredOutputFile("output") : nil
        report = arguments.outputFile("report")
        recordings = arguments.operands.map(ParsedArguments.path)
        unlabelled = (arguments.values["unlabelled"] ?? []).map(ParsedArguments.path)
        output?.inputs += unlabelled.flatMap(DataSet.recordings(at:))
        self.output = output
        jobs = try arguments.number("jobs", in: 1...1024, else: ProcessInfo.processInfo.activeProcessorCount)
        strictness = arguments.strictness
    }

    func run() async throws {
        if let audit { return try await run(audit) }
        if let learning { return try await run(learning) }
        guard let output else { return }
        try output.check()
        try report?.check()
        let packet = try VenuePacketReader().read(venue)
        let progress = ProgressLine()
        defer { progress.clear() }
        var learning = SurveyLearning(
            venue: packet.venue, model: SignalModel(), keepsWalks: !unlabelled.isEmpty || report != nil)
        try learning.add(recordings, strictness: strictness, progress: progress)
        let outcome = try await learn(learning, venue: packet.venue, progress)
        guard let map = outcome?.map ?? learning.learner.finish() else {
            throw CommandError(description: learning.reasonForNothing)
        }
        try output.write(RadioMapFile.document(of: map, named: output.path))
        let review = try await review(of: map, learning.walks, packet, progress)
        progress.clear()
        learning.reportUnused()
        let known = Set(packet.venue.beacons.map(\.identity) + packet.venue.receivers.map(\.identity))
        if !known.isEmpty, known.isDisjoint(with: map.beacons.map(\.identity)) {
            StandardError.line(
                "no beacon of '\(packet.venue.name)' was received; are the recordings of another venue?")
        }
        let exponent = JSONText.number(map.pathLossExponent, decimals: 2)
        try StandardOutput.write(
            "\(output.path): \(map.fingerprints.count) survey points, \(map.beacons.count) beacons, path-loss exponent \(exponent)\n"
        )
        if let learned = map.learnedText { try StandardOutput.write("learned: \(learned)\n") }
        if let text = outcome?.text { try StandardOutput.write("unlabelled: \(text)\n") }
        for line in review { StandardError.line(line) }
    }

    /// Examines the beacons by the recordings.
    private func run(_ options: AuditOptions) async throws {
        let packet = try VenuePacketReader().read(venue, radioMap: options.radioMap).reportingWarnings(venue)
        let progress = ProgressLine()
        defer { progress.clear() }
        let paths = recordings.flatMap(DataSet.recordings(at:))
        guard !paths.isEmpty else {
            throw CommandError(description: "\(recordings.joined(separator: ", ")): no recording (.jsonl or .jsonl.gz)")
        }
        let audit = try await SurveyAudit(
            venue: packet.venue, strictness: strictness, jobs: jobs, seed: options.seed
        ).audit(paths, progress: progress)
        progress.clear()
        try StandardOutput.write(lines: options.isJSON ? [audit.json.text] : audit.lines)
    }

    /// Learns powers and sensitivity, and writes the venue's next edition if they are better.
    private func run(_ options: SelfOptions) async throws {
        try options.output.check(
            mayReplace: options.mayOverwrite, remedy: "use --overwrite to replace it with all its content")
        let packet = try VenuePacketReader().read(venue).reportingWarnings(venue)
        let (old, subject) = (packet.venue, options.subject)
        guard old.radioMap == nil else {
            throw CommandError(
                description:
                    "\(venue) has a radio map, which is better than values learned without ground truth; to add "
                    + "walks without ground truth to a survey, use --unlabelled")
        }
        try options.output.check(PacketOutput.paths(of: old) + [Self.basisFile], mayReplace: options.mayOverwrite)
        let used = subject.venue(of: old)
        guard !used.beacons.isEmpty else {
            let option = subject == .beacons ? "--self" : "--self --tags"
            throw CommandError(
                description: "\(venue) has no \(subject.noun)s; \(option) requires the places of the \(subject.noun)s")
        }
        let progress = ProgressLine()
        defer { progress.clear() }
        let paths = recordings.flatMap(DataSet.recordings(at:))
        guard !paths.isEmpty else {
            throw CommandError(description: "\(recordings.joined(separator: ", ")): no recording (.jsonl or .jsonl.gz)")
        }
        let positioning = SettingsStack().resolved(in: old).localization.positioning
        let outcome = try await SelfSurvey(
            venue: used, settings: positioning, strictness: strictness, jobs: jobs,
            halves: subject == .beacons ? .alternating : .consecutive
        ).learn(from: paths, progress: progress)
        progress.clear()
        let verdict = outcome.verdict
        var json = outcome.calibration?.json(venue: old, presumed: positioning.signal, subject) ?? JSONText()
        json.add("decision", verdict.json)
        json.add("reason", verdict.words(venue: old, subject))
        var lines = outcome.calibration?.lines(venue: old, presumed: positioning.signal, subject) ?? []
        lines += [verdict.gains(subject), verdict.words(venue: old, subject)].compactMap(\.self)
        if let calibration = outcome.calibration, verdict.refusal == nil || options.isForced {
            let edition = calibration.edition(of: old, subject)
            let document = try JSONTree(Array(json.text.utf8)).lines()
            try options.output.write(
                edition, plansOf: packet, adding: [(Self.basisFile, document)], mayReplace: options.mayOverwrite)
            lines.append(
                "\(options.output.path): edition \(edition.version) of '\(PrintableText.line(old.name))' with "
                    + "\(calibration.usedPowers.count.counting("measured power"))")
        } else {
            lines.append(
                outcome.calibration == nil
                    ? "nothing was written" : "nothing was written; --force writes the packet all the same")
        }
        try StandardOutput.write(lines: options.isJSON ? [json.text] : lines)
    }

    /// The file of a packet with what the learned values rest on.
    private static let basisFile = "self-learning.json"

    /// Writes the report and returns its summary; empty without `--report`.
    private func review(
        of map: RadioMap, _ walks: [UnlabelledLearning.Walk], _ packet: VenuePacket, _ progress: ProgressLine
    ) async throws -> [String] {
        guard let report else { return [] }
        progress.show("report: reviewing the radio map")
        let heldOut = try await HeldOutErrors.measure(
            walks, venue: packet.venue, strictness: strictness, jobs: jobs, progress: progress)
        let review = SurveyReport(
            venue: packet.venue, radioMap: map, heldOut: heldOut, pictures: PlanPictures(packet).byMap)
        try report.write(Array(review.page.utf8))
        return review.summary
    }

    /// Learns also from the walks without ground truth; returns nil if there are none.
    private func learn(
        _ survey: SurveyLearning, venue: Venue, _ progress: ProgressLine
    ) async throws -> UnlabelledLearning.Outcome? {
        guard !unlabelled.isEmpty, survey.hasPlaces else { return nil }
        var walks: [UnlabelledLearning.Walk] = []
        for path in unlabelled {
            for path in DataSet.recordings(at: path) {
                var recording = try SurveyRecording.reportingWarnings(path, in: venue, strictness: strictness)
                recording.waypoints = []
                walks.append(UnlabelledLearning.Walk(path: path, recording: recording))
            }
        }
        guard !walks.isEmpty else {
            throw CommandError(
                description: "\(unlabelled.joined(separator: ", ")): no recording (.jsonl or .jsonl.gz) to learn from")
        }
        let learning = UnlabelledLearning(
            venue: venue, labelled: survey.walks, unlabelled: walks, strictness: strictness, jobs: jobs)
        return try await learning.learn(progress: progress)
    }
}

/// The options of `survey --audit`.
private struct AuditOptions {
    let radioMap: String?
    let seed: UInt64
    let isJSON: Bool

    /// Returns nil without `--audit`.
    ///
    /// - Throws: `UsageError` if an option of the audit is given without it, or an option of a survey with it.
    init?(_ arguments: ParsedArguments) throws {
        let isAudit = arguments.has("audit")
        let (audits, learns) = (["radio-map", "seed", "json"], ["output", "report", "unlabelled", "self", "force"])
        if arguments.has("self"), !isAudit { return nil }
        if let other = (isAudit ? learns : audits).first(where: arguments.has) {
            throw UsageError(
                message: isAudit ? "--\(other) can't be combined with --audit" : "--\(other) requires --audit",
                command: arguments.syntax.name)
        }
        guard isAudit else { return nil }
        radioMap = try arguments.input("radio-map")
        seed = try arguments.seed()
        isJSON = arguments.has("json")
    }
}

/// The options of `survey --self`.
private struct SelfOptions {
    let output: PacketOutput
    let subject: SelfSurveySubject
    let mayOverwrite: Bool
    let isForced: Bool
    let isJSON: Bool

    /// Returns nil without `--self`.
    ///
    /// - Throws: `UsageError` if an option of `--self` is given without it, or an option of a survey or audit with it.
    init?(_ arguments: ParsedArguments) throws {
        guard arguments.has("self") else {
            if let option = ["force", "tags"].first(where: arguments.has) {
                throw UsageError(message: "--\(option) requires --self", command: arguments.syntax.name)
            }
            return nil
        }
        let others = ["audit", "report", "unlabelled", "radio-map", "seed"]
        if let other = others.first(where: arguments.has) {
            throw UsageError(message: "--\(other) can't be combined with --self", command: arguments.syntax.name)
        }
        output = PacketOutput(
            path: try arguments.required("output"), inputs: arguments.inputs(except: ["output"]))
        subject = arguments.has("tags") ? .receivers : .beacons
        mayOverwrite = arguments.has("overwrite")
        isForced = arguments.has("force")
        isJSON = arguments.has("json")
    }
}

extension UnlabelledLearning.Outcome {
    /// The improvement by the walks in words.
    var text: String {
        guard let before = errors.first else {
            return "no improvement, as there is only one recording with ground truth to compare with"
        }
        let all = errors.map { JSONText.number($0, decimals: 2) }
        guard rounds > 0 else {
            return
                "no significant improvement: the mean error of recordings left out is \(all[0]) m without the walks and "
                + "\(JSONText.number(errors.dropFirst().min() ?? before, decimals: 2)) m with them"
        }
        let gain = JSONText.number((1 - errors[rounds] / before) * 100, decimals: 0)
        return
            "\(rounds) \(rounds == 1 ? "round" : "rounds"), the mean error of recordings left out is \(all[rounds]) m instead of "
            + "\(all[0]) m (\(gain) % less)"
    }
}

extension RadioMap {
    /// The model parameters learned from the survey, in words; nil if none was learned.
    var learnedText: String? {
        var parts: [String] = []
        func add(_ number: Double?, decimals: Int, _ text: (String) -> String) {
            if let number { parts.append(text(JSONText.number(number, decimals: decimals))) }
        }
        add(readingDeviation, decimals: 1) { "readings deviate by \($0) dB from the map" }
        add(fit.floorLoss, decimals: 1) { "a floor attenuates by \($0) dB" }
        add(fit.receiverDeviation, decimals: 1) { "receivers differ by \($0) dB" }
        for (name, receiver) in fit.devices.sorted(by: { $0.key < $1.key }).prefix(5) {
            let deviation = JSONText.number(receiver.deviation, decimals: 1)
            add(receiver.offset, decimals: 1) { "the receiver offset of \(name) is \($0) ± \(deviation) dB" }
        }
        add(fit.bodyDeviation, decimals: 1) { "bodies attenuate by \($0) dB" }
        add(fit.rateLength, decimals: 2) { "detections are averaged over \($0) m" }
        add(fit.supportWidth, decimals: 2) { "people stay within \($0) m" }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }
}
