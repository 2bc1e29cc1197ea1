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

/// Imports the training data of other programs and detects its format.
public enum RoomTrainingImport: Sendable {
    /// Parses a ``TrainingDocument``, a fingerprint of the second version of Crownstone's app, or a data set of
    /// localization-improvement.
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

/// Training data that cannot be read or written.
public struct TrainingFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file, as the caller named it.
    public var file: String
    /// The path within the document, such as `$[3].devices`; `$` is the whole document.
    public var path: String
    /// The problem and its remedy.
    public var message: String

    public var description: String { path == "$" ? "\(file): \(message)" : "\(file): \(path): \(message)" }
}

/// The training data of one room as JSON, in the format of Crownstone's Bluenet Localization.
///
/// An array with one object per sample, about one per second: `devices` contains each beacon's RSSI in dBm by its name
/// `UUID_Maj:1_Min:2`, `timestamp` is in seconds since 1970, UTC, with a fraction:
///
///     [{"devices": {"7C2F0A10-0000-4000-8000-000000000010_Maj:1_Min:2": -70}, "timestamp": 1.0}]
public enum TrainingDocument: Sendable {
    /// Parses a document; beacon names may also have the form used before April 2018, `UUID.Maj:1.Min:2`.
    ///
    /// Samples from a pocket have `"placement": "pocket"`, which other programs ignore. Unknown fields are ignored.
    /// RSSI values that aren't measurements, and those of -1 dBm and above, are omitted.
    /// - Parameter name: the name of the document in errors.
    /// - Throws: `TrainingFileError` for the first problem.
    public static func read(_ bytes: [UInt8], named name: String) throws(TrainingFileError) -> RoomFingerprint {
        do throws(PacketFileError) {
            let samples = try decode([TrainingSampleDocument].self, from: bytes)
            return RoomFingerprint(samples: try Self.samples(samples, at: "$"))
        } catch {
            throw TrainingFileError(file: name, path: error.path, message: error.message)
        }
    }

    /// Returns the document of a fingerprint with sorted beacons, without a line break; the same fingerprint gives
    /// identical output.
    public static func bytes(of fingerprint: RoomFingerprint) -> [UInt8] { Array(text(of: fingerprint).utf8) }

    static func text(of fingerprint: RoomFingerprint) -> String {
        let samples = fingerprint.samples.map { sample in
            let devices = sample.rssi.sorted { $0.key < $1.key }.map { beacon, rssi in
                "\"\(beacon.trainingID)\": \(Int(exactly: rssi).map(String.init) ?? "\(rssi)")"
            }
            // JSON has no numbers that aren't finite.
            let timestamp = sample.timestamp.isFinite ? sample.timestamp : 0
            // A field that other programs don't know is written only if it is needed.
            let placement = sample.placement == .hand ? "" : ", \"placement\": \"\(sample.placement.rawValue)\""
            return "{\"devices\": {\(devices.joined(separator: ", "))}, \"timestamp\": \(timestamp)\(placement)}"
        }
        return "[" + samples.joined(separator: ", ") + "]"
    }

    static func decode<Document: Decodable>(
        _ type: Document.Type, from bytes: [UInt8]
    ) throws(PacketFileError) -> Document {
        // The decoder has no limits of its own.
        do throws(JSONDocumentError) { try JSONTree.check(bytes, limits: InputLimits.standard.json) } catch {
            throw PacketFileError(message: error.message)
        }
        do { return try JSONDecoder().decode(type, from: Data(bytes)) } catch { throw PacketFileError(decoding: error) }
    }

    static func samples(
        _ documents: [TrainingSampleDocument], at path: String
    ) throws(PacketFileError) -> [RoomFingerprint.Sample] {
        var samples: [RoomFingerprint.Sample] = []
        for (index, document) in documents.enumerated() {
            var rssi: [BeaconIdentity: Double] = [:]
            for (name, value) in document.devices {
                guard let beacon = BeaconIdentity(trainingID: name) else {
                    throw PacketFileError(
                        message: "invalid beacon name \"\(name)\": expected UUID_Maj:MAJOR_Min:MINOR",
                        path: "\(path)[\(index)].devices")
                }
                rssi[beacon] = value
            }
            guard let placement = RoomFingerprint.Placement(rawValue: document.placement ?? "hand") else {
                throw PacketFileError(
                    message: "is \"\(document.placement ?? "")\"; give \"hand\" or \"pocket\"",
                    path: "\(path)[\(index)].placement")
            }
            samples.append(
                RoomFingerprint.Sample(timestamp: document.timestamp, rssi: rssi, placement: placement))
        }
        return samples
    }
}

/// A sample in the JSON format.
struct TrainingSampleDocument: Decodable {
    var devices: [String: Double]
    var timestamp: Double
    var placement: String?
}

extension PacketFileError {
    /// Creates the error for a decoder's failure on valid JSON, with its path in the form of a problem's path.
    fileprivate init(decoding error: any Error) {
        let (context, message): (DecodingError.Context?, String) =
            switch error {
            case DecodingError.keyNotFound(let key, let context): (context, "the field \(key.stringValue) is missing")
            case DecodingError.typeMismatch(let type, let context): (context, "is not of type \(type)")
            case DecodingError.valueNotFound(let type, let context): (context, "is null, not of type \(type)")
            case DecodingError.dataCorrupted(let context):
                (context, "has a number that is out of range, or an invalid string")
            default: (nil, "\(error)")
            }
        let path = (context?.codingPath ?? []).map { key in
            key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)"
        }
        self.init(message: message, path: "$" + path.joined())
    }
}

/// A room's fingerprint as JSON, in the second format of Crownstone's app, which includes the device's placement.
///
///     {"id": "5f", "type": "IN_HAND", "createdOnDeviceType": "phone", "createdByUser": "ana",
///      "crownstonesAtCreation": {"1_2": true}, "data": [{"dt": 0, "data": {"1_2": -70}}],
///      "createdAt": 1700000000000, "updatedAt": 1700000000000}
///
/// Beacons are identified by major and minor only, so their UUID is an argument. `cloudId` may be absent, times are in
/// milliseconds, and unknown fields are ignored.
package struct FingerprintDocument: Hashable, Sendable {
    /// The origin of a fingerprint.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Trained with the device in a hand.
        case inHand = "IN_HAND"
        /// Trained with the device in a pocket.
        case inPocket = "IN_POCKET"
        /// Collected automatically.
        case autoCollected = "AUTO_COLLECTED"
        /// Collected when the user corrected a wrong room.
        case findAndFix = "FIND_AND_FIX"
    }

    /// A beacon among the beacons of one UUID.
    package struct Beacon: Hashable, Sendable, Comparable {
        /// The major number.
        package var major: UInt16
        /// The minor number.
        package var minor: UInt16

        /// Creates an identifier.
        package init(major: UInt16, minor: UInt16) {
            self.major = major
            self.minor = minor
        }

        /// Parses a name such as `1_2`; nil for any other text.
        init?(_ text: String) {
            let parts = text.split(separator: "_", omittingEmptySubsequences: false)
            guard parts.count == 2, let major = UInt16(parts[0]), let minor = UInt16(parts[1]) else { return nil }
            self.init(major: major, minor: minor)
        }

        var text: String { "\(major)_\(minor)" }

        package static func < (left: Beacon, right: Beacon) -> Bool {
            (left.major, left.minor) < (right.major, right.minor)
        }
    }

    /// The readings of one moment.
    package struct Moment: Hashable, Sendable {
        /// Milliseconds since the beginning of the fingerprint.
        package var milliseconds: Double
        /// The RSSI of each beacon in dBm.
        package var rssi: [Beacon: Double]

        /// Creates a moment.
        package init(milliseconds: Double, rssi: [Beacon: Double]) {
            self.milliseconds = milliseconds
            self.rssi = rssi
        }
    }

    /// The fingerprint's identifier.
    package var id: String
    /// The fingerprint's identifier on a server; nil if it has none.
    package var cloudID: String?
    /// The fingerprint's origin.
    package var kind: Kind
    /// The device type of the receiver.
    package var deviceType: String
    /// The user who trained the fingerprint.
    package var user: String
    /// The beacons that were installed at the time.
    package var beaconsAtCreation: Set<Beacon>
    /// The readings, in order of time.
    package var moments: [Moment]
    /// The time of creation, in milliseconds since 1970, UTC.
    package var createdAt: Double
    /// The time of the last change, in milliseconds since 1970, UTC.
    package var updatedAt: Double

    /// Creates a document of a fingerprint's samples in one placement; beacons with a UUID other than the region's are
    /// omitted.
    package init(
        of fingerprint: RoomFingerprint, in placement: RoomFingerprint.Placement, id: String, uuid: BeaconUUID,
        deviceType: String, user: String, updatedAt: Double? = nil
    ) {
        let samples = fingerprint.samples(in: placement)
        let begin = (samples.first?.timestamp ?? 0) * 1000
        self.id = id
        kind = placement == .pocket ? .inPocket : .inHand
        self.deviceType = deviceType
        self.user = user
        moments = samples.map { sample in
            let heard = sample.rssi.filter { $0.key.uuid == uuid }
            return Moment(
                milliseconds: (sample.timestamp * 1000 - begin).rounded(),
                rssi: Dictionary(uniqueKeysWithValues: heard.map { (Beacon(major: $0.major, minor: $0.minor), $1) }))
        }
        beaconsAtCreation = Set(moments.flatMap(\.rssi.keys))
        createdAt = begin.rounded()
        self.updatedAt = updatedAt ?? (samples.last?.timestamp ?? 0) * 1000
    }

    /// Returns the fingerprint of beacons with that UUID.
    package func fingerprint(uuid: BeaconUUID) -> RoomFingerprint {
        RoomFingerprint(
            samples: moments.map { moment in
                let rssi = moment.rssi.map { (BeaconIdentity(uuid: uuid, major: $0.major, minor: $0.minor), $1) }
                return RoomFingerprint.Sample(
                    timestamp: (createdAt + moment.milliseconds) / 1000, rssi: Dictionary(uniqueKeysWithValues: rssi),
                    placement: kind == .inPocket ? .pocket : .hand)
            })
    }
}

// JSON.
extension FingerprintDocument {
    private struct Fields: Decodable {
        struct Moment: Decodable {
            var dt: Double
            var data: [String: Double]
        }

        var id: String
        var cloudId: String?
        var type: String
        var createdOnDeviceType: String?
        var createdByUser: String?
        var crownstonesAtCreation: [String: Bool]?
        var data: [Moment]
        var createdAt: Double
        var updatedAt: Double?
    }

    /// Parses a document.
    ///
    /// - Parameter name: the name of the document in errors.
    /// - Throws: `TrainingFileError` for the first problem.
    package init(_ bytes: [UInt8], named name: String) throws(TrainingFileError) {
        do throws(PacketFileError) {
            try self.init(fields: try TrainingDocument.decode(Fields.self, from: bytes))
        } catch {
            throw TrainingFileError(file: name, path: error.path, message: error.message)
        }
    }

    private init(fields: Fields) throws(PacketFileError) {
        guard let kind = Kind(rawValue: fields.type) else {
            let known = Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw PacketFileError(message: "is \"\(fields.type)\"; give one of \(known)", path: "$.type")
        }
        id = fields.id
        cloudID = fields.cloudId
        self.kind = kind
        deviceType = fields.createdOnDeviceType ?? ""
        user = fields.createdByUser ?? ""
        createdAt = fields.createdAt
        updatedAt = fields.updatedAt ?? fields.createdAt
        var moments: [Moment] = []
        for (index, moment) in fields.data.enumerated() {
            var rssi: [Beacon: Double] = [:]
            for (text, value) in moment.data { rssi[try Self.beacon(text, "$.data[\(index)].data")] = value }
            moments.append(Moment(milliseconds: moment.dt, rssi: rssi))
        }
        self.moments = moments
        var beacons: Set<Beacon> = []
        for (text, isThere) in fields.crownstonesAtCreation ?? [:] where isThere {
            beacons.insert(try Self.beacon(text, "$.crownstonesAtCreation"))
        }
        beaconsAtCreation = beacons
    }

    private static func beacon(_ text: String, _ path: String) throws(PacketFileError) -> Beacon {
        guard let beacon = Beacon(text) else {
            throw PacketFileError(
                message: "invalid beacon name \"\(text)\": expected major_minor, such as 1_42", path: path)
        }
        return beacon
    }

    /// The document as JSON in one line without a line break; the same document gives identical output.
    package var bytes: [UInt8] {
        var fields: [String: JSONTree] = [
            "id": .string(id), "type": .string(kind.rawValue), "createdOnDeviceType": .string(deviceType),
            "createdByUser": .string(user), "createdAt": .number(createdAt), "updatedAt": .number(updatedAt),
            "crownstonesAtCreation": .object(
                Dictionary(uniqueKeysWithValues: beaconsAtCreation.map { ($0.text, JSONTree.bool(true)) })),
            "data": .array(
                moments.map { moment in
                    let rssi = moment.rssi.map { ($0.text, JSONTree.number($1)) }
                    return .object([
                        "dt": .number(moment.milliseconds), "data": .object(Dictionary(uniqueKeysWithValues: rssi)),
                    ])
                }),
        ]
        if let cloudID { fields["cloudId"] = .string(cloudID) }
        return JSONTree.object(fields).line()
    }
}

/// Rooms in the formats of Crownstone's localization-improvement: readings in one room, or fingerprints of many.
///
/// | file | fields |
/// | --- | --- |
/// | data set | `location`: `name`, [`uid`]; [`sphereCloudId`], [`annotation`], [`device`: `name`], `dataset[]`: `timestamp` in ms, `devices` |
/// | fingerprints | `spheres`: by identifier, each `fingerprints`: by identifier, each `name`, `fingerprint[]`: a ``TrainingDocument`` |
///
/// Unknown fields are ignored.
package struct RoomDataSetDocument: Hashable, Sendable {
    /// The training data of the rooms in one sphere, which is a house.
    package struct Sphere: Hashable, Sendable {
        /// The sphere's identifier; nil if the document has none.
        package var id: String?
        /// The readings in each room.
        package var training: RoomTrainingSet
    }

    /// The name of the receiving device; nil if the document has none.
    package var device: String?
    /// A remark about the data set; nil if there is none.
    package var annotation: String?
    /// The houses, by identifier.
    package var spheres: [Sphere]

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
    package init(_ bytes: [UInt8], named name: String) throws(TrainingFileError) {
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
