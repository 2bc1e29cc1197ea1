import BeaconScanning
import IndoorVocabulary

/// Reads what other programs know of rooms, whichever of their formats it is in.
public enum RoomTrainingImport: Sendable {
    /// Reads a ``TrainingDocument``, a ``FingerprintDocument`` or a ``RoomDataSetDocument``.
    ///
    /// - Parameters:
    ///   - name: what an error calls the document.
    ///   - room: whose document it is, where the document does not tell.
    ///   - uuid: of the beacons, where the document names them by major and minor alone.
    /// - Throws: `TrainingFileError` for the first thing that is wrong, also if room or UUID are needed and not given.
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
                    file: name, path: "$.data", message: "names beacons by major and minor alone; give their UUID")
            }
            return RoomTrainingSet(rooms: [try needed(room, name): document.fingerprint(uuid: uuid)])
        }
        var training = RoomTrainingSet()
        for sphere in try RoomDataSetDocument(bytes, named: name).spheres { training.add(sphere.training) }
        return training
    }

    /// Whether a document tells which rooms it is of; otherwise `read` must be given one.
    ///
    /// - Throws: `TrainingFileError` if it is not JSON.
    public static func tellsRooms(_ bytes: [UInt8], named name: String) throws(TrainingFileError) -> Bool {
        guard case .object(let fields) = try tree(of: bytes, named: name) else { return false }
        return fields["data"] == nil
    }

    private static func tree(of bytes: [UInt8], named name: String) throws(TrainingFileError) -> JSONTree {
        do throws(JSONSyntaxError) { return try JSONTree(bytes) } catch {
            throw TrainingFileError(file: name, path: "$", message: error.message)
        }
    }

    private static func needed(_ room: String?, _ name: String) throws(TrainingFileError) -> String {
        guard let room else {
            throw TrainingFileError(file: name, path: "$", message: "tells no room; name it")
        }
        return room
    }
}
