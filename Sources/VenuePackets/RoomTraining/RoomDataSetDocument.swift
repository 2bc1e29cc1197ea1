import BeaconScanning

/// Rooms in the formats of Crownstone's localization-improvement: readings in one room, or fingerprints of many.
///
/// | file | fields |
/// | --- | --- |
/// | data set | `location`: `name`, [`uid`]; [`sphereCloudId`], [`annotation`], [`device`: `name`], `dataset[]`: `timestamp` in ms, `devices` |
/// | fingerprints | `spheres`: by identifier, each `fingerprints`: by identifier, each `name`, `fingerprint[]`: a ``TrainingDocument`` |
///
/// Unknown fields are ignored.
public struct RoomDataSetDocument: Hashable, Sendable {
    /// The training data of the rooms in one sphere, which is a house.
    public struct Sphere: Hashable, Sendable {
        /// The sphere's identifier; nil if the document has none.
        public var id: String?
        /// The readings in each room.
        public var training: RoomTrainingSet
    }

    /// The name of the receiving device; nil if the document has none.
    public var device: String?
    /// A remark about the data set; nil if there is none.
    package var annotation: String?
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

    /// Parses a data set or fingerprints.
    ///
    /// - Parameter name: the name of the document in errors.
    /// - Throws: `TrainingFileError` for the first problem.
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
                throw PacketFileError(message: "is missing; a data set names its room", path: "$.location.name")
            }
            // Only this format has timestamps in milliseconds.
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
