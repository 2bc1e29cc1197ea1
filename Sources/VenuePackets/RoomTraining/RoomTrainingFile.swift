import BeaconScanning
import FoundationEssentials
import IndoorVocabulary
import TextFormats

/// Reads and writes the training data of all rooms of a region as JSON.
///
/// | field | content |
/// | --- | --- |
/// | `format`, `version` | "indoor-localization-rooms", 1 |
/// | `rooms` | an object: the samples of each room as a ``TrainingDocument``, by the room's name |
public enum RoomTrainingFile: Sendable {
    private struct Document: Decodable {
        var format: String
        var version: Int
        var rooms: [String: [TrainingSampleDocument]]
    }

    private static let format = "indoor-localization-rooms"
    private static let version = 1

    /// Reads a file; unknown fields are ignored.
    ///
    /// - Throws: `TrainingFileError` for the first problem.
    public static func read(_ path: String) throws(TrainingFileError) -> RoomTrainingSet {
        do throws(PacketFileError) {
            return try contents(of: path)
        } catch {
            throw TrainingFileError(file: path, path: error.path, message: error.message)
        }
    }

    /// Writes a file with one room per line; the same set gives identical output.
    ///
    /// - Throws: `TrainingFileError` if the file cannot be written.
    public static func write(_ training: RoomTrainingSet, to path: String) throws(TrainingFileError) {
        do throws(FileSystemError) {
            try DiskFile.write(Array(document(of: training).utf8), to: LocalPath.absolute(path))
        } catch {
            throw TrainingFileError(
                file: path, path: "$",
                message: "cannot be written: \(error.reason); check the folder and the free space")
        }
    }

    /// Returns the text of a file.
    package static func document(of training: RoomTrainingSet) -> String {
        let rooms = training.rooms.sorted { $0.key < $1.key }.map { room, fingerprint in
            var name: [UInt8] = JSONTree.string(room).line()
            name += Array(": ".utf8)
            return String(decoding: name, as: UTF8.self) + TrainingDocument.text(of: fingerprint)
        }
        return """
            {"format": "\(format)", "version": \(version), "rooms": {
            \(rooms.joined(separator: ",\n"))
            }}

            """
    }

    private static func contents(of path: String) throws(PacketFileError) -> RoomTrainingSet {
        let advice = "give training data of rooms"
        return try set(of: GivenFile.read(path, limit: InputLimits.standard.training, advice: advice))
    }

    /// Returns the training data of a file's bytes.
    static func set(of bytes: [UInt8]) throws(PacketFileError) -> RoomTrainingSet {
        let document = try TrainingDocument.decode(Document.self, from: bytes)
        guard document.format == format else {
            throw PacketFileError(
                message: "is \"\(document.format)\"; training data have \"\(format)\" here", path: "$.format")
        }
        guard (1...version).contains(document.version) else {
            throw PacketFileError(
                message: "is \(document.version), but this reader supports 1 to \(version); use a newer reader",
                path: "$.version")
        }
        var training = RoomTrainingSet()
        for (room, samples) in document.rooms.sorted(by: { $0.key < $1.key }) {
            training.rooms[room] = RoomFingerprint(
                samples: try TrainingDocument.samples(samples, at: "$.rooms[\"\(room)\"]"))
        }
        return training
    }
}
