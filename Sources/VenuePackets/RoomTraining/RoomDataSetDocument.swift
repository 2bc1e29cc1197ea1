import BeaconScanning

/// Rooms as Crownstone's localization-improvement keeps them: what was heard in one room, or fingerprints of many.
///
/// | file | fields |
/// | --- | --- |
/// | data set | `location`: `name`, [`uid`]; [`sphereCloudId`], [`annotation`], [`device`: `name`], `dataset[]`: `timestamp` in ms, `devices` |
/// | fingerprints | `spheres`: by identifier, each `fingerprints`: by identifier, each `name`, `fingerprint[]`: a ``TrainingDocument`` |
///
/// Unknown fields are ignored.
public struct RoomDataSetDocument: Hashable, Sendable {
    /// What was heard in the rooms of one sphere, which is a house.
    public struct Sphere: Hashable, Sendable {
        /// Names the sphere; nil if the document does not.
        public var id: String?
        /// What was heard in each room.
        public var training: RoomTrainingSet
    }

    /// The device that heard; nil if the document does not tell.
    public var device: String?
    /// A remark on how it was heard; nil if there is none.
    public var annotation: String?
    /// The houses, by identifier.
    public var spheres: [Sphere]

    private struct Fields: Decodable {
        struct Location: Decodable { var name: String }
        struct Device: Decodable { var name: String? }
        struct Sphere: Decodable { var fingerprints: [String: Fingerprint] }
        struct Fingerprint: Decodable {
            var name: String
            var fingerprint: [TrainingSampleDocument]
        }

        var sphereCloudId: String?
        var annotation: String?
        var device: Device?
        var location: Location?
        var dataset: [TrainingSampleDocument]?
        var spheres: [String: Sphere]?
    }

    /// Reads a data set or fingerprints.
    ///
    /// - Parameter name: what an error calls the document.
    /// - Throws: `TrainingFileError` for the first thing that is wrong.
    public init(_ bytes: [UInt8], named name: String) throws(TrainingFileError) {
        do throws(PacketFileError) {
            let fields = try TrainingDocument.decode(Fields.self, from: bytes)
            device = fields.device?.name
            annotation = fields.annotation
            spheres = try Self.spheres(fields)
        } catch {
            throw TrainingFileError(file: name, path: error.path, message: error.message)
        }
    }

    private static func spheres(_ fields: Fields) throws(PacketFileError) -> [Sphere] {
        if let dataset = fields.dataset {
            guard let room = fields.location?.name else {
                throw PacketFileError(message: "is missing; a data set tells its room", path: "$.location.name")
            }
            // Here, and only here, milliseconds.
            let samples = try TrainingDocument.samples(dataset, at: "$.dataset").map { sample in
                RoomFingerprint.Sample(
                    timestamp: sample.timestamp / 1000, rssi: sample.rssi, placement: sample.placement)
            }
            let training = RoomTrainingSet(rooms: [room: RoomFingerprint(samples: samples)])
            return [Sphere(id: fields.sphereCloudId, training: training)]
        }
        guard let spheres = fields.spheres else {
            throw PacketFileError(message: "is neither a data set nor fingerprints; give \"dataset\" or \"spheres\"")
        }
        var read: [Sphere] = []
        for (id, sphere) in spheres.sorted(by: { $0.key < $1.key }) {
            var training = RoomTrainingSet()
            for (key, room) in sphere.fingerprints.sorted(by: { $0.key < $1.key }) {
                let path = "$.spheres[\"\(id)\"].fingerprints[\"\(key)\"].fingerprint"
                training.add(
                    RoomFingerprint(samples: try TrainingDocument.samples(room.fingerprint, at: path)), to: room.name)
            }
            read.append(Sphere(id: id, training: training))
        }
        return read
    }
}
