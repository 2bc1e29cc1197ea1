import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import TagTracking
import VenuePackets

/// The command `rooms train`: makes the training data of rooms.
struct RoomsTrainCommand: Command {
    static let syntax = CommandSyntax(
        name: "rooms train", operands: "RECORDING...", operandCount: 0...Int.max,
        summary: "train a room classifier from labelled recordings, or from the radio",
        details: """
            A RECORDING (.jsonl) has its rooms in ground truth with "room". A RECORDING that ends in .json is a file of
            Crownstone's programs: training data or a fingerprint of a single room, whose name --room gives, or a data
            set or fingerprints with room names.

            Prints one line per room: "enough", or the shortcomings of its training; then the number of samples, the
            share of all beacons that were received, and the score of Crownstone's app from 0 to 100 with its
            deductions. 150 samples in hand, some in a pocket and all beacons give the full score.

            With --tag, trains rooms for the tags of 'track --rooms': --live uses what the gateways of --broker report about
            the tag that someone carries through the room. 'convert --tag' makes a RECORDING from messages of gateways that
            'mosquitto_sub -v' has printed.

            With --live, trains the present room from the radio, one sample per second, until Ctrl-C or for --seconds.
            The beacons are those with the UUID given by --uuid, or those of the training given by --add.

            --add extends existing training data; --overwrite replaces it.

            example: indoorloc rooms train --output home.json walk.jsonl
                     indoorloc rooms train --output home.json --add home.json --room attic attic.jsonl
                     indoorloc rooms train --output home.json --uuid UUID --live kitchen --seconds 60
                     indoorloc rooms train --output home.json --broker mqtt://localhost --tag keys --live hall
            """,
        options: [
            .output, CommandOption(name: "add", argument: "ROOMS", help: "training data to extend; may be the output"),
            CommandOption(name: "overwrite", help: "replace the output and all its rooms"),
            CommandOption(
                name: "forget", argument: "BEACON",
                help: "remove a beacon that was moved, UUID_Maj:1_Min:2; may be repeated"),
            CommandOption(name: "room", argument: "NAME", help: "the room of recordings without room names"),
            CommandOption(
                name: "uuid", argument: "UUID",
                help: "UUID of beacons in fingerprints without UUIDs, or of beacons to train with --live"),
            .lenient,
        ] + LiveTraining.options + GatewayTraining.options)

    private let output: OutputFile
    private let base: String?
    private let room: String?
    private let uuid: BeaconUUID?
    private let forgotten: [BeaconIdentity]
    private let recordings: [String]
    private let live: LiveTraining?
    private let gateways: GatewayTraining?
    private let strictness: RecordingReader.Strictness

    init(_ arguments: ParsedArguments) throws {
        output = try Self.output(arguments)
        base = try arguments.input("add")
        room = arguments.value("room")
        uuid = try arguments.value("uuid").map { text in
            guard let uuid = BeaconUUID(text) else {
                throw UsageError(message: "--uuid must be a UUID, not '\(text)'", command: Self.syntax.name)
            }
            return uuid
        }
        recordings = arguments.operands.map(ParsedArguments.path)
        gateways = try GatewayTraining(arguments)
        live = gateways == nil ? try LiveTraining(arguments) : nil
        strictness = arguments.strictness
        forgotten = try (arguments.values["forget"] ?? []).map { text in
            guard let beacon = BeaconIdentity(trainingID: text) else {
                throw UsageError(
                    message: "--forget must be a beacon such as UUID_Maj:1_Min:2, not '\(text)'",
                    command: Self.syntax.name)
            }
            return beacon
        }
        guard base != nil || !recordings.isEmpty || live != nil || gateways != nil else {
            throw UsageError(message: "RECORDING is missing", command: Self.syntax.name)
        }
        guard live == nil || uuid != nil || base != nil else {
            throw UsageError(message: "--live requires --uuid, or --add with training data", command: Self.syntax.name)
        }
    }

    func run() async throws {
        try output.check()
        var training = try base.map { path in try RoomTrainingFile.read(path) } ?? RoomTrainingSet()
        for path in recordings { training.add(try learn(path)) }
        if let live {
            let uuids: Set<BeaconUUID> = uuid.map { [$0] } ?? Set(training.beacons.map(\.uuid))
            guard !uuids.isEmpty else {
                throw UsageError(
                    message: "--live requires --uuid, as the training has no beacons", command: Self.syntax.name)
            }
            training.add(try await live.train(with: uuids))
        }
        if let gateways { training.add(try await gateways.train()) }
        for beacon in forgotten {
            if !training.beacons.contains(beacon) {
                StandardError.line(
                    "--forget \(beacon.trainingID): the training has no such beacon; nothing was removed")
            }
            training.forget(beacon)
        }
        try output.write(Array(RoomTrainingFile.document(of: training).utf8))
        try StandardOutput.write(Self.report(on: training))
    }

    /// The output, which may be the training given by `--add`, as it can't be recreated from the given recordings
    /// alone.
    private static func output(_ arguments: ParsedArguments) throws(UsageError) -> OutputFile {
        var output = try arguments.requiredOutputFile("output", except: "add")
        let base = arguments.value("add").flatMap { FileIdentity(path: $0) }
        if base != nil, base == FileIdentity(path: output.path) { output.existing = .replaced }
        output.remedy = "use --add \(output.path) to extend it, or --overwrite to discard its rooms"
        return output
    }

    private func learn(_ path: String) throws -> RoomTrainingSet {
        if path.hasSuffix(".json") {
            let bytes: [UInt8]
            do throws(BoundedFileError) {
                bytes = try BoundedFile.read(path, limit: InputLimits.standard.training)
            } catch {
                throw CommandError(description: "\(path) \(error)")
            }
            let tellsRooms = try RoomTrainingImport.tellsRooms(bytes, named: path)
            guard room != nil || tellsRooms else {
                throw UsageError(message: "--room is missing, for \(path)", command: Self.syntax.name)
            }
            if tellsRooms { warnOfUnusedRoom(path) }
            return try RoomTrainingImport.read(bytes, named: path, room: room, uuid: uuid)
        }
        var recording = try RoomRecording.reportingWarnings(path, strictness: strictness)
        if !recording.stays.isEmpty, recording.stays.allSatisfy({ $0.room != nil }) { warnOfUnusedRoom(path) }
        if let room { recording.name(room) }
        guard !recording.training.rooms.isEmpty else {
            throw CommandError(
                description: room == nil
                    ? "\(path) has no room in which a beacon was received; name the room with --room"
                    : "\(path) has no reading of a beacon")
        }
        return recording.training
    }

    private func warnOfUnusedRoom(_ path: String) {
        guard let room else { return }
        StandardError.line("\(path) has room names; --room \(room) was not used")
    }

    private static func report(on training: RoomTrainingSet) -> String {
        let beacons = training.beacons
        var circumstances = FingerprintQuality.Circumstances()
        circumstances.presentBeacons = beacons
        return training.rooms.sorted { $0.key < $1.key }.map { room, fingerprint in
            let quality = FingerprintQuality(of: fingerprint, in: circumstances)
            let count = fingerprint.samples.count
            let coverage = JSONText.number(quality.coverage * 100, decimals: 0)
            return """
                \(room): \(verdict(quality, samples: count)); \(count) \(count == 1 ? "sample" : "samples"), \
                \(fingerprint.beacons.count) of \(beacons.count) beacons (\(coverage) %); \(score(quality))

                """
        }.joined()
    }

    private static func score(_ quality: FingerprintQuality) -> String {
        let deductions = FingerprintQuality.Deduction.allCases.compactMap { reason in
            quality.deductions[reason].map { "\(reason.rawValue) -\(JSONText.number($0, decimals: 0))" }
        }
        return "Crownstone's score \(JSONText.number(quality.score, decimals: 0))"
            + (deductions.isEmpty ? "" : " (\(deductions.joined(separator: ", ")))")
    }

    private static func verdict(_ quality: FingerprintQuality, samples: Int) -> String {
        let missing = quality.shortcomings.map { shortcoming in
            switch shortcoming {
            case .samples: return "train longer, \(samples) of \(FingerprintQuality.neededSamples) samples"
            case .beacons:
                let share = JSONText.number((1 - quality.answerableShare) * 100, decimals: 0)
                return "place beacons closer, \(share) % of the samples have fewer than "
                    + "\(FingerprintQuality.neededBeacons)"
            }
        }
        return missing.isEmpty ? "enough" : missing.joined(separator: "; ")
    }
}

/// The command `rooms classify`: prints the rooms of a recording.
struct RoomsClassifyCommand: Command {
    static let syntax = CommandSyntax(
        name: "rooms classify", operands: "RECORDING", operandCount: 1...1,
        summary: "print the trained rooms in which a recording was made",
        details: """
            Prints one JSON line for each room that is entered or left: t, type "room", event, room and probability.
            With --scans, also prints one line for each scan: t, type "estimate", room (null for none of the rooms),
            probability, and the three best candidates.

            example: indoorloc rooms classify --training home.json walk.jsonl
            """,
        options: [
            CommandOption(name: "training", argument: "ROOMS", help: "training data from 'indoorloc rooms train'"),
            CommandOption(
                name: "classifier", argument: "NAME",
                help: ClassifierKind.allCases.map(\.rawValue).joined(separator: ", ") + " (default adaptive)",
                proposals: .words(of: ClassifierKind.self)),
        ] + RoomRuleOptions.options + [
            CommandOption(name: "scans", help: "also print the estimate of each scan"), .lenient,
        ])

    private let training: String
    private let recording: String
    private let kind: ClassifierKind
    private let settings: RoomSettings
    private let printsScans: Bool
    private let strictness: RecordingReader.Strictness

    init(_ arguments: ParsedArguments) throws {
        training = try arguments.requiredInput("training")
        recording = arguments.stream(operand: 0)
        kind = try arguments.word("classifier", of: ClassifierKind.self) ?? .adaptive
        settings = try arguments.roomSettings()
        printsScans = arguments.has("scans")
        strictness = arguments.strictness
    }

    func run() throws {
        let rooms = try RoomTrainingFile.read(training)
        var classifier = kind.classifier(rooms)
        var machine = RoomMachine(settings: settings)
        machine.insert(classifier, for: "")
        machine.start()
        var output = LineOutput()
        let scans = try RoomRecording.reportingWarnings(recording, strictness: strictness).stays.flatMap(\.scans)
        var hasEvents = false
        for scan in scans {
            if printsScans, let estimate = classifier.classify(scan) { try output.line(estimate.json) }
            for event in machine.handle(scan, of: "") where event.kind != .current {
                hasEvents = true
                try output.line(event.json)
            }
        }
        try output.flush()
        if !hasEvents {
            StandardError.line("\(recording): no room, as \(rooms.reasonForNoRoom(in: scans, training: training))")
        }
    }
}

extension RoomEvent {
    /// The event as a line of JSON.
    var json: String {
        var json = JSONText()
        json.add("t", instant.seconds, decimals: 3)
        json.add("type", "room")
        json.add("event", kind.rawValue)
        json.add("room", room)
        json.add("probability", probability, decimals: 4)
        return json.text
    }
}

extension RoomEstimate {
    /// The estimate as a line of JSON.
    fileprivate var json: String {
        var json = JSONText()
        json.add("t", instant.seconds, decimals: 3)
        json.add("type", "estimate")
        json.add("room", content: room.map { .string($0) } ?? .null)
        json.add("probability", probability, decimals: 4)
        json.add(
            "candidates",
            candidates.prefix(3).map { candidate in
                var json = JSONText()
                json.add("room", content: candidate.room.map { .string($0) } ?? .null)
                json.add("probability", candidate.probability, decimals: 4)
                return json
            })
        return json.text
    }
}

/// The command `rooms watch`: prints the trained room of this device as it changes.
struct RoomsWatchCommand: Command {
    static let syntax = CommandSyntax(
        name: "rooms watch", operands: "", operandCount: 0...0,
        summary: "print the trained room that this device is in, from its Bluetooth radio",
        details: """
            Prints one JSON line for each room that is entered or left: t (seconds since the first reading), type
            "room", event, room and probability. With --current, also prints the present room once per second. The
            device also leaves a room when it has received none of the trained beacons for 30 s.

            The training data come from 'indoorloc rooms train', which trains live or from recordings.

            example: indoorloc rooms watch --training home.json --seconds 600
            """,
        options: [
            CommandOption(name: "training", argument: "ROOMS", help: "training data from 'indoorloc rooms train'"),
            CommandOption(
                name: "classifier", argument: "NAME",
                help: ClassifierKind.allCases.map(\.rawValue).joined(separator: ", ") + " (default adaptive)",
                proposals: .words(of: ClassifierKind.self)),
        ] + RoomRuleOptions.options + [
            CommandOption(name: "current", help: "also print the present room once per second")
        ] + HeardSource.options + CommandOption.log)

    private let source: HeardSource
    private let training: String
    private let kind: ClassifierKind
    private let rooms: RoomSettings
    private let printsCurrent: Bool

    init(_ arguments: ParsedArguments) throws {
        training = try arguments.requiredInput("training")
        kind = try arguments.word("classifier", of: ClassifierKind.self) ?? .adaptive
        rooms = try arguments.roomSettings()
        printsCurrent = arguments.has("current")
        source = try HeardSource(arguments)
    }

    func run() async throws {
        let training = try RoomTrainingFile.read(training)
        let uuids = Set(training.beacons.map(\.uuid)).sorted { $0.description < $1.description }
        guard uuids.count == 1, let uuid = uuids.first else {
            let found = uuids.isEmpty ? "no beacons" : "beacons of \(uuids.count) UUIDs"
            throw CommandError(
                description: "\(self.training) has \(found); train rooms of one building, whose beacons have one UUID")
        }
        var settings = ScannerSettings()
        settings.rooms = rooms
        var listener = Listener(printsCurrent: printsCurrent)
        let classifier = kind.classifier(training)
        try await source.listen(settings, &listener) { machine in
            _ = machine.regions.track(BeaconRegion(uuid: uuid), id: uuid.description)
            machine.rooms.insert(classifier, for: uuid.description)
            machine.rooms.start()
        }
        if !listener.hasRoom { StandardError.line("no room was found; see 'indoorloc rooms classify --scans'") }
    }

    /// Prints room events.
    private struct Listener: ScannerListener {
        let printsCurrent: Bool
        private(set) var hasRoom = false
        private var lines = LiveOutput()

        init(printsCurrent: Bool) { self.printsCurrent = printsCurrent }

        mutating func receive(_ directive: ScanMachine.Directive) throws {
            guard case .emitRoomEvent(let event) = directive else { return try reportTrouble(directive) }
            hasRoom = true
            if event.kind != .current || printsCurrent { try lines.line(event.json) }
        }

        mutating func write() throws -> Bool {
            try lines.write()
            return lines.isWritten
        }

        mutating func end() throws { try lines.end() }
    }
}

/// The command `rooms evaluate`: scores room classifiers on a data set.
struct RoomsEvaluateCommand: Command {
    static let syntax = CommandSyntax(
        name: "rooms evaluate", operands: "DATASET", operandCount: 1...1,
        summary: "train classifiers on a data set's survey and score them on its tracks",
        details: """
            DATASET is a folder with venue.json, survey/*.jsonl and tracks/*.jsonl whose ground truth has "room". Each
            classifier is scored with the training of the same device and with the training of other devices:

              alone    share of scans classified correctly, each scan by itself
              scans    the same, with the classifier's memory of earlier scans of the track
              rule     share of scans after which the change rule has accepted the right room
              false/h  false changes of the accepted room per hour
              change   median seconds until a change of room is accepted, with all tracks in a row
              none     share of scans after which no room is accepted, although all were trained
              unknown  the same, with the room of the track left out of the training
              error    mean difference between the probability of an answer and the share of correct
                       answers, in percentage points, over the bins of the last table

            With --gateways, the roles are exchanged: each beacon is a gateway that hears the device as a tag, and the adaptive
            classifier with the change rule of 'track --rooms' is scored.

            The last table is for the adaptive classifier with its memory. For each range of probabilities, it has the
            share of answers, their mean probability, and the share of correct answers.

            example: indoorloc rooms evaluate home
            """,
        options: RoomRuleOptions.options + [
            CommandOption(name: "gateways", help: "score the rooms of tags: each beacon is a gateway"),
            CommandOption(name: "json", help: "print one JSON object, with the figures of each pair of devices"),
            .lenient,
        ])

    private let path: String
    private let settings: RoomSettings
    private let isJSON: Bool
    private let isReversed: Bool
    private let strictness: RecordingReader.Strictness

    init(_ arguments: ParsedArguments) throws {
        path = arguments.operands[0]
        isReversed = arguments.has("gateways")
        settings = isReversed ? RoomFleetMachine.roomSettings : try arguments.roomSettings()
        if isReversed, let option = ["rule", "count"].first(where: arguments.has) {
            throw UsageError(
                message: "--gateways has the change rule of 'track --rooms': --\(option) has no effect",
                command: Self.syntax.name)
        }
        isJSON = arguments.has("json")
        strictness = arguments.strictness
    }

    func run() throws {
        let progress = ProgressLine()
        defer { progress.clear() }
        let dataSet = try DataSet(path: path, radioMap: nil)
        let evaluation = try RoomEvaluation(
            dataSet, settings: settings, isReversed: isReversed, strictness: strictness, progress: progress)
        var results: [(kind: ClassifierKind, pairs: [RoomEvaluation.Pair])] = []
        for kind in isReversed ? [.adaptive] : ClassifierKind.allCases {
            let pairs = evaluation.pairs().map { pair in
                progress.show("\(kind.rawValue): \(pair.trained) on \(pair.tested)")
                return evaluation.score(kind, trained: pair.trained, tested: pair.tested)
            }
            results.append((kind, pairs))
        }
        progress.clear()
        guard results.contains(where: { $0.pairs.contains { $0.tracks.answeredCount > 0 } }) else {
            throw CommandError(description: "\(dataSet.name): no answer to score, as \(evaluation.reasonForNoAnswer)")
        }
        let extent = evaluation.extent
        if isJSON {
            var json = JSONText()
            json.add("dataset", dataSet.name)
            json.add("rooms", extent.rooms)
            json.add("scans", extent.scans)
            json.add("rule", settings.changeRule.rawValue)
            json.add("count", settings.changeCount)
            for (kind, pairs) in results { json.add(kind.rawValue, Self.json(of: pairs)) }
            return try StandardOutput.write(json.text + "\n")
        }
        let heading = """
            \(dataSet.name): \(extent.rooms) rooms, \(extent.devices) devices, \(extent.scans) scans; \
            change rule \(settings.changeRule.rawValue)\(settings.changeRule == .immediate ? "" : " \(settings.changeCount)")


            """
        let best = results.last?.pairs.filter(\.isSame) ?? []
        try StandardOutput.write(
            heading + Self.table(results) + Self.confusions(Self.sum(best)?.tracks)
                + Self.reliability(results.last?.pairs ?? []))
    }

    private static func sum(_ pairs: [RoomEvaluation.Pair]) -> RoomEvaluation.Pair? {
        guard var sum = pairs.first else { return nil }
        for pair in pairs.dropFirst() { sum.add(pair) }
        return sum
    }

    private static func groups(_ pairs: [RoomEvaluation.Pair]) -> [(name: String, pair: RoomEvaluation.Pair)] {
        [("same", sum(pairs.filter(\.isSame))), ("other", sum(pairs.filter { !$0.isSame }))].compactMap { name, pair in
            pair.map { (name, $0) }
        }
    }

    private static func json(of pairs: [RoomEvaluation.Pair]) -> JSONText {
        var json = JSONText()
        for (name, pair) in groups(pairs) { json.add(name, pair.json) }
        json.add(
            "pairs",
            pairs.map { pair in
                var text = JSONText()
                text.add("trained", pair.trained)
                text.add("tested", pair.tested)
                text.add("figures", pair.json)
                return text
            })
        return json
    }

    private static func table(_ results: [(kind: ClassifierKind, pairs: [RoomEvaluation.Pair])]) -> String {
        var rows = [
            ["classifier", "device", "alone", "scans", "rule", "false/h", "change", "none", "unknown", "error"]
        ]
        for (kind, pairs) in results {
            for (name, pair) in groups(pairs) { rows.append([kind.rawValue, name] + pair.cells) }
        }
        return aligned(rows)
    }

    /// The rows as text: the first two columns aligned left, the others aligned right.
    private static func aligned(_ rows: [[String]]) -> String {
        TextTable.lines(rows, leading: 2).map { $0 + "\n" }.joined()
    }

    /// The table of answer probabilities and shares of correct answers, for the same device and for others.
    private static func reliability(_ pairs: [RoomEvaluation.Pair]) -> String {
        var rows = [["device", "probability", "scans", "mean", "right"]]
        for (name, pair) in groups(pairs) {
            let reliability = pair.tracks.reliability
            for (index, bin) in reliability.bins.enumerated() {
                guard let mean = bin.meanProbability, let right = bin.accuracy else { continue }
                let share = Double(bin.count) / Double(reliability.count)
                rows.append(
                    [name, "\(index * 10)-\(index * 10 + 10)%"]
                        + [share, mean, right].map { JSONText.number($0 * 100, decimals: 1) + "%" })
            }
        }
        return rows.count > 1 ? "\nadaptive, probabilities of the answers:\n" + aligned(rows) : ""
    }

    /// The most frequent confusions of the last classifier with the same device.
    private static func confusions(_ score: RoomScore?) -> String {
        let mistakes = (score?.confusion ?? [:]).flatMap { room, reported in
            let count = reported.values.reduce(0, +)
            return reported.filter { $0.key != room }.map {
                (room: room, reported: $0.key, share: Double($0.value) / Double(count))
            }
        }
        let sorted = mistakes.filter { $0.share >= 0.01 }.sorted { left, right in
            (-left.share, left.room, left.reported ?? "") < (-right.share, right.room, right.reported ?? "")
        }
        guard !sorted.isEmpty else { return "" }
        let lines = sorted.prefix(5).map { mistake in
            let share = JSONText.number(mistake.share * 100, decimals: 0)
            return "  \(share) % of the scans in \(mistake.room) as \(mistake.reported ?? "none of the rooms")\n"
        }
        return "\nadaptive, same device, most frequent confusions:\n" + lines.joined()
    }
}

extension RoomEvaluation.Pair {
    fileprivate var cells: [String] {
        func percent(_ share: Double?) -> String { share.map { JSONText.number($0 * 100, decimals: 1) + "%" } ?? "-" }
        return [
            percent(alone.accuracy), percent(tracks.accuracy), percent(tracks.believedAccuracy),
            tracks.falseChangesPerHour.map { JSONText.number($0, decimals: 1) } ?? "-",
            joined.medianDelay.map { $0.isFinite ? JSONText.number($0, decimals: 1) + " s" : "never" } ?? "-",
            percent(tracks.nowhereShare), percent(untrained.nowhereShare),
            tracks.reliability.error.map { JSONText.number($0 * 100, decimals: 1) } ?? "-",
        ]
    }

    fileprivate var json: JSONText {
        var json = JSONText()
        json.add("scans", tracks.scanCount)
        json.add("answered", tracks.answeredCount)
        for (name, value) in [
            ("alone", alone.accuracy), ("aloneProbability", alone.meanProbability), ("accuracy", tracks.accuracy),
            ("probability", tracks.meanProbability), ("believed", tracks.believedAccuracy),
            ("falseChangesPerHour", tracks.falseChangesPerHour), ("joinedBelieved", joined.believedAccuracy),
            ("joinedFalseChangesPerHour", joined.falseChangesPerHour), ("changeSeconds", joined.medianDelay),
            ("none", tracks.nowhereShare), ("unknown", untrained.nowhereShare),
            ("reliabilityError", tracks.reliability.error),
        ] {
            json.add(name, value ?? .nan, decimals: 4)
        }
        json.add("reliability", tracks.reliability.bins.map(\.json))
        return json
    }
}

extension RoomReliability.Bin {
    fileprivate var json: JSONText {
        var json = JSONText()
        json.add("scans", count)
        json.add("probability", meanProbability ?? .nan, decimals: 4)
        json.add("right", accuracy ?? .nan, decimals: 4)
        return json
    }
}
