import BeaconScanning
import FoundationEssentials
import IndoorVocabulary
import TextFormats

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
