import BeaconScanning
import IndoorVocabulary
import TextFormats

/// Imports the training data of other programs and detects its format.
public enum RoomTrainingImport: Sendable {
    /// Parses a ``TrainingDocument``, a ``FingerprintDocument`` or a ``RoomDataSetDocument``.
    ///
    /// - Parameters:
    ///   - name: the name of the document in errors.
    ///   - room: the room, if the document doesn't name it.
    ///   - uuid: the UUID of the beacons, if the document names them by major and minor only.
    /// - Throws: `TrainingFileError` for the first problem, including a missing room or UUID.
    public static func read(
        _ bytes: [UInt8], named name: String, room: String? = nil, uuid: BeaconUUID? = nil
    ) throws(TrainingFileError) -> RoomTrainingSet {
        guard case .object(let fields) = try tree(of: bytes, named: name) else {
            let fingerprint = try TrainingDocument.read(bytes, named: name)
            return RoomTrainingSet(rooms: [try needed(room, name): fingerprint])
        }
        if fields["data"] != nil {
            let document = try FingerprintDocument(bytes, named: name)
            guard let uuid else {
                throw TrainingFileError(
                    file: name, path: "$.data", message: "identifies beacons by major and minor only; give their UUID")
            }
            return RoomTrainingSet(rooms: [try needed(room, name): document.fingerprint(uuid: uuid)])
        }
        var training = RoomTrainingSet()
        for sphere in try RoomDataSetDocument(bytes, named: name).spheres { training.add(sphere.training) }
        return training
    }

    /// Returns whether a document names its rooms; otherwise `read` requires a room.
    ///
    /// - Throws: `TrainingFileError` if the document isn't JSON.
    package static func tellsRooms(_ bytes: [UInt8], named name: String) throws(TrainingFileError) -> Bool {
        guard case .object(let fields) = try tree(of: bytes, named: name) else { return false }
        return fields["data"] == nil
    }

    private static func tree(of bytes: [UInt8], named name: String) throws(TrainingFileError) -> JSONTree {
        do throws(JSONDocumentError) { return try JSONTree(bytes) } catch {
            throw TrainingFileError(file: name, path: "$", message: error.message)
        }
    }

    private static func needed(_ room: String?, _ name: String) throws(TrainingFileError) -> String {
        guard let room else {
            throw TrainingFileError(file: name, path: "$", message: "does not name its room; give the room")
        }
        return room
    }
}
