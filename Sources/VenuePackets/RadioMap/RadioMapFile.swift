import FoundationEssentials
import IndoorVocabulary
import VenueModel

/// A radio map that cannot be read or written.
public struct RadioMapFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file, as the caller named it.
    public var file: String
    /// The path within the document, such as `$.beacons[3].uuid`; `$` is the whole document.
    public var path: String
    /// The problem and its remedy.
    public var message: String

    public var description: String { path == "$" ? "\(file): \(message)" : "\(file): \(path): \(message)" }
}

/// Reads and writes radio maps: JSON, compressed with gzip if the file's name ends in `.gz`.
///
/// | field | content |
/// | --- | --- |
/// | `format`, `version` | "indoor-localization-radio-map", 1 |
/// | `pathLossExponent` | shared by all beacons, above 0 |
/// | [`readingDeviation`] | deviation of readings from the map beyond fast fading, in dB |
/// | [`fit`] | further parameters that the survey estimates: [`floorLoss`] dB, [`rateLength`] m, [`ratePriorDetections`], [`supportWidth`] m, [`unsupportedShare`], [`coverage`], [`bodyDeviation`] dB, [`receiverDeviation`] dB, [`devices`]: the receiver of each device model, `offset` and `deviation` in dB |
/// | `beacons[]` | `uuid`, `major`, `minor`, `mapId`, `x`, `y`, [`z`: m above that floor], `power`: dBm at 1 m |
/// | `fingerprints[]` | `mapId`, `x`, `y`, `duration`: s, [`deviation`: of the position along each axis in m, if it was estimated from an unlabelled walk], `readings[]` |
/// | `readings[]` | `beacon`: index into `beacons[]`, `rssi`: mean in dBm, `count`, [`weight`: 1/dB] |
///
/// Units and frames are those of the venue packet.
public enum RadioMapFile: Sendable {
    /// The value of `format`.
    static let format = "indoor-localization-radio-map"
    /// The highest supported `version`.
    static let version = 1

    /// Reads a radio map; unknown fields are ignored.
    ///
    /// - Throws: `RadioMapFileError` for the first problem.
    public static func read(_ path: String) throws(RadioMapFileError) -> RadioMap {
        do throws(PacketFileError) {
            return try contents(of: path)
        } catch {
            throw RadioMapFileError(file: path, path: error.path, message: error.message)
        }
    }

    /// Writes a radio map; the same radio map gives identical output.
    ///
    /// - Throws: `RadioMapFileError` if the radio map is invalid or the file cannot be written.
    public static func write(_ radioMap: RadioMap, to path: String) throws(RadioMapFileError) {
        do throws(PacketFileError) {
            let bytes = try bytes(of: radioMap, named: path)
            do throws(FileSystemError) { try DiskFile.write(bytes, to: LocalPath.absolute(path)) } catch {
                throw PacketFileError(
                    message: "cannot be written: \(error.reason); check the folder and the free space")
            }
        } catch {
            throw RadioMapFileError(file: path, path: error.path, message: error.message)
        }
    }

    /// Returns the bytes of a radio map's file; the same radio map gives identical output.
    ///
    /// - Throws: `RadioMapFileError` if the radio map is invalid.
    package static func document(of radioMap: RadioMap, named name: String) throws(RadioMapFileError) -> [UInt8] {
        do throws(PacketFileError) { return try bytes(of: radioMap, named: name) } catch {
            throw RadioMapFileError(file: name, path: error.path, message: error.message)
        }
    }

    /// Reads the file at a path.
    static func contents(of path: String) throws(PacketFileError) -> RadioMap {
        let advice = "give a radio map that a survey has written"
        return try read(
            GivenFile.read(path, limit: InputLimits.standard.radioMap, advice: advice), named: path)
    }

    /// Parses the bytes of a file with this name.
    static func read(_ bytes: [UInt8], named name: String) throws(PacketFileError) -> RadioMap {
        // A pipe's name doesn't indicate compression, but JSON never begins with the gzip signature.
        let isCompressed = name.hasSuffix(".gz") || bytes.starts(with: [0x1F, 0x8B])
        let plain = isCompressed ? try GzipData.decompressed(bytes, limit: InputLimits.standard.radioMap) : bytes
        let document: RadioMapDocument
        do throws(PacketFileError) { document = try RadioMapReader.document(plain) } catch {
            // For a file of another kind, naming that kind helps more than naming a missing field of a radio map.
            let kind = RadioMapReader.kind(of: plain)
            if kind.format != nil || kind.version != nil { try check(kind) }
            throw error
        }
        try check(RadioMapReader.Kind(format: document.format, version: document.version))
        return try document.radioMap()
    }

    private static func check(_ kind: RadioMapReader.Kind) throws(PacketFileError) {
        guard kind.format == format else {
            let found = kind.format.map { "is \"\($0)\"" } ?? "is missing"
            throw PacketFileError(message: "\(found); a radio map has \"\(format)\" here", path: "$.format")
        }
        guard let number = kind.version, !(1...version).contains(number) else { return }
        throw PacketFileError(
            message: "is \(number), but this reader supports 1 to \(version); use a newer reader", path: "$.version")
    }

    /// Returns the bytes for a file with this name.
    static func bytes(of radioMap: RadioMap, named name: String) throws(PacketFileError) -> [UInt8] {
        let document = RadioMapDocument(radioMap)
        // An invalid radio map isn't written.
        _ = try document.radioMap()
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let bytes: [UInt8]
        do {
            bytes = [UInt8](try encoder.encode(document)) + [10]
        } catch {
            throw PacketFileError(message: "cannot be written as JSON, a number is not finite: \(error)")
        }
        return name.hasSuffix(".gz") ? try GzipData.compressed(bytes) : bytes
    }
}
