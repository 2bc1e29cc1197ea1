import Foundation
import IndoorLocalization
import ScanRecording
import VenuePackets

/// Makes the training data of rooms.
struct RoomsTrainCommand: Command {
    static let syntax = CommandSyntax(
        name: "rooms train", operands: "RECORDING...", operandCount: 0...Int.max,
        summary: "learn rooms from recordings that tell them",
        details: """
            A RECORDING (.jsonl) tells its rooms by truth with "room". One that ends in .json is what Crownstone's programs
            write: the training data or the fingerprint of a single room, which is that of --room, or a data set or
            fingerprints that tell their rooms. Printed is each room with its samples, the
            share of all beacons that it has heard, and a score from 0 to 100; below 60, train it longer.

            example: indoorloc rooms train --output home.json walk.jsonl
            """,
        options: [
            .output, CommandOption(name: "add", argument: "ROOMS", help: "training data to add to"),
            CommandOption(
                name: "forget", argument: "BEACON", help: "a beacon that was moved: UUID_Maj:1_Min:2; may be repeated"),
            CommandOption(name: "room", argument: "NAME", help: "the room of recordings that tell none"),
            CommandOption(name: "uuid", argument: "UUID", help: "of beacons that a fingerprint names by two numbers"),
            .lenient,
        ])

    private let output: String
    private let base: String?
    private let room: String?
    private let uuid: BeaconUUID?
    private let forgotten: [BeaconIdentity]
    private let recordings: [String]
    private let strictness: RecordingReader.Strictness

    init(_ arguments: ParsedArguments) throws {
        output = try arguments.required("output")
        base = arguments.value("add")
        room = arguments.value("room")
        uuid = try arguments.value("uuid").map { text in
            guard let uuid = BeaconUUID(text) else {
                throw UsageError(message: "--uuid must be a UUID, not '\(text)'", command: Self.syntax.name)
            }
            return uuid
        }
        recordings = arguments.operands
        strictness = arguments.strictness
        forgotten = try (arguments.values["forget"] ?? []).map { text in
            guard let beacon = BeaconIdentity(trainingID: text) else {
                throw UsageError(
                    message: "--forget must be a beacon such as UUID_Maj:1_Min:2, not '\(text)'",
                    command: Self.syntax.name)
            }
            return beacon
        }
        guard base != nil || !recordings.isEmpty else {
            throw UsageError(message: "RECORDING is missing", command: Self.syntax.name)
        }
    }

    func run() throws {
        var training = try base.map { path in try RoomTrainingFile.read(path) } ?? RoomTrainingSet()
        for path in recordings { training.add(try learn(path)) }
        for beacon in forgotten { training.forget(beacon) }
        try RoomTrainingFile.write(training, to: output)
        try StandardOutput.write(Self.report(on: training))
    }

    private func learn(_ path: String) throws -> RoomTrainingSet {
        if path.hasSuffix(".json") {
            let bytes: Data
            do { bytes = try Data(contentsOf: URL(filePath: path)) } catch {
                throw DataSetError(description: "\(path) cannot be read: \(error.systemReason)")
            }
            guard try room != nil || RoomTrainingImport.tellsRooms([UInt8](bytes), named: path) else {
                throw UsageError(message: "--room is missing, for \(path)", command: Self.syntax.name)
            }
            return try RoomTrainingImport.read([UInt8](bytes), named: path, room: room, uuid: uuid)
        }
        var recording = try RoomRecording(path: path, strictness: strictness)
        if let room { recording.name(room) }
        guard !recording.training.rooms.isEmpty else {
            throw DataSetError(
                description: "\(path) tells no room in which a beacon was heard: name it with --room")
        }
        return recording.training
    }

    private static func report(on training: RoomTrainingSet) -> String {
        let beacons = training.beacons
        var circumstances = FingerprintQuality.Circumstances()
        circumstances.presentBeacons = beacons
        return training.rooms.sorted { $0.key < $1.key }.map { room, fingerprint in
            let quality = FingerprintQuality(of: fingerprint, in: circumstances)
            let coverage = JSONText.number(quality.coverage * 100, decimals: 0)
            let score = JSONText.number(quality.score, decimals: 0)
            return """
                \(room): \(fingerprint.samples.count) samples, \(fingerprint.beacons.count) of \(beacons.count) beacons \
                (\(coverage) %), score \(score)

                """
        }.joined()
    }
}
