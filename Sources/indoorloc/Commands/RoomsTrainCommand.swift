import Foundation
import IndoorLocalization
import ScanRecording
import VenuePackets

/// Makes the training data of rooms.
struct RoomsTrainCommand: Command {
    static let syntax = CommandSyntax(
        name: "rooms train", operands: "RECORDING...", operandCount: 0...Int.max,
        summary: "learn rooms from recordings that tell them, or from what the radio hears now",
        details: """
            A RECORDING (.jsonl) tells its rooms by truth with "room". One that ends in .json is what Crownstone's programs
            write: the training data or the fingerprint of a single room, which is that of --room, or a data set or
            fingerprints that tell their rooms.

            Printed is each room with what counts: "enough", or what is missing for the room to be told well; then its
            samples, the share of all beacons that it has heard, and the score from 0 to 100 that Crownstone's app gives,
            with what it takes points off for: 150 samples in hand, some in a pocket and all beacons cost none.

            With --live, the room that the machine is in is trained with the radio, a sample a second, until Ctrl-C, or for
            --seconds; the beacons are those of --uuid, or of the training that is added to.

            Training that is there already is added to with --add, and replaced with --overwrite only.

            example: indoorloc rooms train --output home.json walk.jsonl
                     indoorloc rooms train --output home.json --add home.json --room attic attic.jsonl
                     indoorloc rooms train --output home.json --uuid UUID --live kitchen --seconds 60
            """,
        options: [
            .output, CommandOption(name: "add", argument: "ROOMS", help: "training data to add to; may be the output"),
            CommandOption(name: "overwrite", help: "replace the output, and all rooms that are in it"),
            CommandOption(
                name: "forget", argument: "BEACON", help: "a beacon that was moved: UUID_Maj:1_Min:2; may be repeated"),
            CommandOption(name: "room", argument: "NAME", help: "the room of recordings that tell none"),
            CommandOption(
                name: "uuid", argument: "UUID",
                help: "of beacons that a fingerprint names by two numbers, or that are heard live"),
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
            throw UsageError(message: "--live needs --uuid, or --add with training", command: Self.syntax.name)
        }
    }

    func run() async throws {
        try output.check()
        var training = try base.map { path in try RoomTrainingFile.read(path) } ?? RoomTrainingSet()
        for path in recordings { training.add(try learn(path)) }
        if let live {
            let uuids: Set<BeaconUUID> = uuid.map { [$0] } ?? Set(training.beacons.map(\.uuid))
            guard !uuids.isEmpty else {
                throw UsageError(message: "--live needs --uuid: the training has no beacons", command: Self.syntax.name)
            }
            training.add(try await live.train(with: uuids))
        }
        for beacon in forgotten {
            if !training.beacons.contains(beacon) {
                StandardError.line(
                    "--forget \(beacon.trainingID): the training does not have it; nothing was forgotten")
            }
            training.forget(beacon)
        }
        try output.write(Array(RoomTrainingFile.document(of: training).utf8))
        try StandardOutput.write(Self.report(on: training))
    }

    /// The training may be added to in its place: unlike most outputs, it cannot be made again of the recordings at hand.
    private static func output(_ arguments: ParsedArguments) throws(UsageError) -> OutputFile {
        var output = try arguments.requiredOutputFile("output", except: "add")
        let base = arguments.value("add").flatMap { FileIdentity(path: $0) }
        if base != nil, base == FileIdentity(path: output.path) { output.existing = .replaced }
        output.remedy = "say --add \(output.path) to add to it, or --overwrite to lose its rooms"
        return output
    }

    private func learn(_ path: String) throws -> RoomTrainingSet {
        if path.hasSuffix(".json") {
            let bytes: [UInt8]
            do throws(BoundedFileError) {
                bytes = try BoundedFile.read(path, limit: InputLimits.standard.training)
            } catch {
                throw DataSetError(description: "\(path) \(error)")
            }
            let tellsRooms = try RoomTrainingImport.tellsRooms(bytes, named: path)
            guard room != nil || tellsRooms else {
                throw UsageError(message: "--room is missing, for \(path)", command: Self.syntax.name)
            }
            if tellsRooms { warnOfUnusedRoom(path) }
            return try RoomTrainingImport.read(bytes, named: path, room: room, uuid: uuid)
        }
        var recording = try RoomRecording(path: path, strictness: strictness)
        if !recording.stays.isEmpty, recording.stays.allSatisfy({ $0.room != nil }) { warnOfUnusedRoom(path) }
        if let room { recording.name(room) }
        guard !recording.training.rooms.isEmpty else {
            throw DataSetError(
                description: "\(path) tells no room in which a beacon was heard: name it with --room")
        }
        return recording.training
    }

    private func warnOfUnusedRoom(_ path: String) {
        guard let room else { return }
        StandardError.line("\(path) tells its rooms itself: --room \(room) was not used")
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
            case .samples: return "train it longer, \(samples) of \(FingerprintQuality.neededSamples) samples"
            case .beacons:
                let share = JSONText.number((1 - quality.answerableShare) * 100, decimals: 0)
                return "place beacons nearer, \(share) % of the samples hold fewer than "
                    + "\(FingerprintQuality.neededBeacons)"
            }
        }
        return missing.isEmpty ? "enough" : missing.joined(separator: "; ")
    }
}
