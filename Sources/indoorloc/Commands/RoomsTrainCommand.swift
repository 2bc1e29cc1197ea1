import Foundation
import IndoorLocalization
import ScanRecording
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

            With --live, trains the present room from the radio, one sample per second, until Ctrl-C or for --seconds.
            The beacons are those with the UUID given by --uuid, or those of the training given by --add.

            --add extends existing training data; --overwrite replaces it.

            example: indoorloc rooms train --output home.json walk.jsonl
                     indoorloc rooms train --output home.json --add home.json --room attic attic.jsonl
                     indoorloc rooms train --output home.json --uuid UUID --live kitchen --seconds 60
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
        ] + LiveTraining.options)

    private let output: OutputFile
    private let base: String?
    private let room: String?
    private let uuid: BeaconUUID?
    private let forgotten: [BeaconIdentity]
    private let recordings: [String]
    private let live: LiveTraining?
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
        live = try LiveTraining(arguments)
        strictness = arguments.strictness
        forgotten = try (arguments.values["forget"] ?? []).map { text in
            guard let beacon = BeaconIdentity(trainingID: text) else {
                throw UsageError(
                    message: "--forget must be a beacon such as UUID_Maj:1_Min:2, not '\(text)'",
                    command: Self.syntax.name)
            }
            return beacon
        }
        guard base != nil || !recordings.isEmpty || live != nil else {
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
