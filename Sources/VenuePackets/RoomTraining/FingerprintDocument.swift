import BeaconScanning
import IndoorVocabulary
import TextFormats

/// A room's fingerprint as JSON, in the second format of Crownstone's app, which includes the device's placement.
///
///     {"id": "5f", "type": "IN_HAND", "createdOnDeviceType": "phone", "createdByUser": "ana",
///      "crownstonesAtCreation": {"1_2": true}, "data": [{"dt": 0, "data": {"1_2": -70}}],
///      "createdAt": 1700000000000, "updatedAt": 1700000000000}
///
/// Beacons are identified by major and minor only, so their UUID is an argument. `cloudId` may be absent, times are in
/// milliseconds, and unknown fields are ignored.
public struct FingerprintDocument: Hashable, Sendable {
    /// The origin of a fingerprint.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
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
    public var kind: Kind
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
    public init(
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
    public func fingerprint(uuid: BeaconUUID) -> RoomFingerprint {
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
    public init(_ bytes: [UInt8], named name: String) throws(TrainingFileError) {
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
    public var bytes: [UInt8] {
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
