import FoundationEssentials
import IndoorVocabulary
import TextFormats
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

    /// Returns the radio maps at the root of a packet's folder, by the format that their content states.
    ///
    /// A name without `.json` or `.json.gz` at its end isn't considered.
    package static func all(inFolder folder: String) -> [(name: String, size: Int)] {
        DiskFolder.names(in: folder).compactMap { name in
            guard name != PacketPath.venueFile, name.hasSuffix(".json") || name.hasSuffix(".json.gz"),
                let bytes = try? BoundedFile.read(name, below: folder, limit: InputLimits.standard.radioMap),
                states(bytes, format: format)
            else { return nil }
            return (name, bytes.count)
        }
    }

    /// Returns whether a document states a format, without reading all of it.
    private static func states(_ bytes: [UInt8], format: String) -> Bool {
        let isCompressed = bytes.starts(with: [0x1F, 0x8B])
        let limit = InputLimits.standard.radioMap
        guard let plain = isCompressed ? try? GzipData.decompressed(bytes, limit: limit) : bytes else { return false }
        return RadioMapReader.kind(of: plain).format == format
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

/// The JSON structure of a radio map file.
struct RadioMapDocument: Encodable {
    struct Beacon: Encodable {
        var uuid: String
        var major: Int
        var minor: Int
        var mapId: Int
        var x: Double
        var y: Double
        var z: Double?
        var power: Double
    }

    struct Reading: Encodable {
        /// The index into `beacons`.
        var beacon: Int
        var rssi: Double
        var count: Int
        var weight: Double?
    }

    struct Fingerprint: Encodable {
        var mapId: Int
        var x: Double
        var y: Double
        var duration: Double
        var deviation: Double?
        var readings: [Reading]
    }

    struct Fit: Encodable {
        var floorLoss: Double?
        var rateLength: Double?
        var ratePriorDetections: Double?
        var supportWidth: Double?
        var unsupportedShare: Double?
        var coverage: Double?
        var bodyDeviation: Double?
        var receiverDeviation: Double?
        var devices: [String: Receiver]?
    }

    struct Receiver: Encodable {
        var offset: Double
        var deviation: Double
    }

    var format = RadioMapFile.format
    var version = RadioMapFile.version
    var pathLossExponent: Double
    var readingDeviation: Double?
    var fit: Fit?
    var beacons: [Beacon]
    var fingerprints: [Fingerprint]
}

extension RadioMapDocument {
    init(_ radioMap: RadioMap) {
        pathLossExponent = radioMap.pathLossExponent
        readingDeviation = radioMap.readingDeviation
        fit = radioMap.fit == RadioMap.Fit() ? nil : Fit(radioMap.fit)
        beacons = radioMap.beacons.map { beacon in
            Beacon(
                uuid: beacon.identity.uuid.description, major: Int(beacon.identity.major),
                minor: Int(beacon.identity.minor),
                mapId: beacon.mapID.rawValue, x: beacon.point.x, y: beacon.point.y, z: beacon.z, power: beacon.power)
        }
        fingerprints = radioMap.fingerprints.map { fingerprint in
            Fingerprint(
                mapId: fingerprint.mapID.rawValue, x: fingerprint.point.x, y: fingerprint.point.y,
                duration: fingerprint.duration, deviation: fingerprint.deviation == 0 ? nil : fingerprint.deviation,
                readings: fingerprint.readings.map { reading in
                    Reading(
                        beacon: reading.beacon, rssi: reading.rssi, count: reading.count,
                        weight: reading.weight == 0 ? nil : reading.weight)
                })
        }
    }

    /// Returns the radio map after a check of its values.
    ///
    /// - Throws: `PacketFileError` with the path of the first problem.
    func radioMap() throws(PacketFileError) -> RadioMap {
        guard pathLossExponent.isFinite, pathLossExponent > 0 else {
            throw PacketFileError(message: "is \(pathLossExponent); give a number above 0", path: "$.pathLossExponent")
        }
        var seen: Set<BeaconIdentity> = []
        var knownBeacons: [RadioMap.Beacon] = []
        for (index, entry) in beacons.enumerated() {
            let beacon = try beacon(entry, at: "$.beacons[\(index)]")
            guard seen.insert(beacon.identity).inserted else {
                throw PacketFileError(message: "is a duplicate; survey again", path: "$.beacons[\(index)]")
            }
            knownBeacons.append(beacon)
        }
        var knownFingerprints: [RadioMap.Fingerprint] = []
        for (index, entry) in fingerprints.enumerated() {
            knownFingerprints.append(try fingerprint(entry, at: "$.fingerprints[\(index)]"))
        }
        if let readingDeviation, !readingDeviation.isFinite || readingDeviation < 0 {
            throw PacketFileError(message: "is \(readingDeviation); give 0 or more dB", path: "$.readingDeviation")
        }
        var radioMap = RadioMap(
            beacons: knownBeacons, fingerprints: knownFingerprints, pathLossExponent: pathLossExponent,
            readingDeviation: readingDeviation)
        if let fit { radioMap.fit = try fit.checked() }
        return radioMap
    }

    private func beacon(_ entry: Beacon, at path: String) throws(PacketFileError) -> RadioMap.Beacon {
        guard let uuid = BeaconUUID(entry.uuid) else {
            throw PacketFileError(
                message: "is not a UUID; give 32 hexadecimal digits as 8-4-4-4-12", path: path + ".uuid")
        }
        guard let major = UInt16(exactly: entry.major), let minor = UInt16(exactly: entry.minor) else {
            throw PacketFileError(message: "needs a major and a minor in [0, 65535]", path: path)
        }
        guard entry.x.isFinite, entry.y.isFinite, entry.z?.isFinite ?? true, entry.power.isFinite else {
            throw PacketFileError(message: "has a number that is not finite; survey again", path: path)
        }
        return RadioMap.Beacon(
            identity: BeaconIdentity(uuid: uuid, major: major, minor: minor),
            mapID: MapID(rawValue: entry.mapId), point: MapPoint(x: entry.x, y: entry.y), z: entry.z,
            power: entry.power)
    }

    private func fingerprint(_ entry: Fingerprint, at path: String) throws(PacketFileError) -> RadioMap.Fingerprint {
        guard entry.x.isFinite, entry.y.isFinite, entry.duration.isFinite, entry.duration > 0 else {
            throw PacketFileError(message: "needs finite x and y and a duration above 0; survey again", path: path)
        }
        guard (0...1000).contains(entry.deviation ?? 0) else {
            throw PacketFileError(message: "needs a deviation from 0 to 1000 m; survey again", path: path)
        }
        var readings: [RadioMap.Reading] = []
        for (index, reading) in entry.readings.enumerated() {
            let weight = reading.weight ?? 0
            guard beacons.indices.contains(reading.beacon) else {
                throw PacketFileError(
                    message: "there is no beacon \(reading.beacon); survey again",
                    path: "\(path).readings[\(index)].beacon")
            }
            guard reading.rssi.isFinite, weight.isFinite, reading.count > 0 else {
                throw PacketFileError(
                    message: "needs a finite rssi and weight and a count above 0; survey again",
                    path: "\(path).readings[\(index)]")
            }
            readings.append(
                RadioMap.Reading(beacon: reading.beacon, rssi: reading.rssi, count: reading.count, weight: weight))
        }
        return RadioMap.Fingerprint(
            mapID: MapID(rawValue: entry.mapId), point: MapPoint(x: entry.x, y: entry.y), duration: entry.duration,
            deviation: entry.deviation ?? 0, readings: readings)
    }
}

extension RadioMapDocument.Fit {
    init(_ fit: RadioMap.Fit) {
        floorLoss = fit.floorLoss
        rateLength = fit.rateLength
        ratePriorDetections = fit.ratePriorDetections
        supportWidth = fit.supportWidth
        unsupportedShare = fit.unsupportedShare
        coverage = fit.coverage
        bodyDeviation = fit.bodyDeviation
        receiverDeviation = fit.receiverDeviation
        devices =
            fit.devices.isEmpty
            ? nil : fit.devices.mapValues { RadioMapDocument.Receiver(offset: $0.offset, deviation: $0.deviation) }
    }

    /// Returns the fit after a check of its values.
    ///
    /// - Throws: `PacketFileError` with the path of the first invalid number.
    func checked() throws(PacketFileError) -> RadioMap.Fit {
        try check(floorLoss, "floorLoss", in: 0...100, unit: "dB")
        try check(rateLength, "rateLength", in: 0.01...1000, unit: "m")
        try check(ratePriorDetections, "ratePriorDetections", in: 0.001...1_000_000, unit: "detections")
        try check(supportWidth, "supportWidth", in: 0.01...1000, unit: "m")
        try check(unsupportedShare, "unsupportedShare", in: 1e-9...1, unit: "of 1")
        try check(coverage, "coverage", in: 0...1, unit: "of 1")
        try check(bodyDeviation, "bodyDeviation", in: 0...50, unit: "dB")
        try check(receiverDeviation, "receiverDeviation", in: 0...50, unit: "dB")
        for (name, receiver) in devices?.sorted(by: { $0.key < $1.key }) ?? [] {
            try check(receiver.offset, "devices.\(name).offset", in: -50...50, unit: "dB")
            try check(receiver.deviation, "devices.\(name).deviation", in: 0...50, unit: "dB")
        }
        var fit = RadioMap.Fit()
        fit.floorLoss = floorLoss
        fit.rateLength = rateLength
        fit.ratePriorDetections = ratePriorDetections
        fit.supportWidth = supportWidth
        fit.unsupportedShare = unsupportedShare
        fit.coverage = coverage
        fit.bodyDeviation = bodyDeviation
        fit.receiverDeviation = receiverDeviation
        fit.devices =
            devices?.mapValues { RadioMap.Receiver(offset: $0.offset, deviation: $0.deviation) } ?? [:]
        return fit
    }

    private func check(
        _ number: Double?, _ name: String, in range: ClosedRange<Double>, unit: String
    ) throws(PacketFileError) {
        guard let number, !range.contains(number) else { return }
        throw PacketFileError(
            message: "is \(number); give \(range.lowerBound) to \(range.upperBound) \(unit), or survey again",
            path: "$.fit.\(name)")
    }
}

/// Parses a radio map's document in one pass and skips unknown fields.
struct RadioMapReader {
    /// The format and version that a document declares.
    struct Kind {
        var format: String?
        var version: Int?
    }

    private var json: JSONReader
    private let limits: InputLimits
    /// The number of readings so far.
    private var readingCount = 0

    private init(_ bytes: [UInt8], _ limits: InputLimits) {
        self.limits = limits
        var open = limits
        // Parsed values have limits of their own, and skipped values need no memory.
        open.jsonValues = .max
        json = JSONReader(bytes, limits: open.json)
    }

    /// Parses a document.
    ///
    /// - Throws: `PacketFileError` with the path of the first field that is missing, invalid or above a limit.
    static func document(
        _ bytes: [UInt8], limits: InputLimits = .standard
    ) throws(PacketFileError) -> RadioMapDocument {
        var reader = RadioMapReader(bytes, limits)
        do {
            let document = try reader.document()
            try reader.json.finish()
            return document
        } catch let error as PacketFileError {
            throw error
        } catch {
            let syntax = (error as? JSONSyntaxError).map { JSONDocumentError($0, of: bytes) }
            throw PacketFileError(message: syntax?.message ?? "\(error)")
        }
    }

    /// Returns the declared format and version, as far as the document is JSON.
    static func kind(of bytes: [UInt8]) -> Kind {
        var reader = RadioMapReader(bytes, .standard)
        var kind = Kind()
        try? reader.fields(at: "$") { reader, key in
            switch key {
            case "format": kind.format = try reader.text("$.format")
            case "version": kind.version = try reader.whole("$.version")
            default: try reader.json.skipValue()
            }
        }
        return kind
    }

    // MARK: The parts of a document

    private mutating func document() throws -> RadioMapDocument {
        var (exponent, deviation): (Double?, Double?) = (nil, nil)
        var fit: RadioMapDocument.Fit?
        var (beacons, fingerprints): ([RadioMapDocument.Beacon]?, [RadioMapDocument.Fingerprint]?) = (nil, nil)
        var kind = Kind()
        try fields(at: "$") { reader, key in
            switch key {
            case "format": kind.format = try reader.text("$.format")
            case "version": kind.version = try reader.whole("$.version")
            case "pathLossExponent": exponent = try reader.number("$.pathLossExponent")
            case "readingDeviation": deviation = try reader.optionalNumber("$.readingDeviation")
            case "fit": fit = try reader.isNull() ? nil : reader.fit()
            case "beacons":
                beacons = try reader.list(at: "$.beacons", atMost: reader.limits.beacons) { try $0.beacon($1) }
            case "fingerprints":
                fingerprints = try reader.list(at: "$.fingerprints", atMost: reader.limits.fingerprints) {
                    try $0.fingerprint($1)
                }
            default: try reader.json.skipValue()
            }
        }
        return RadioMapDocument(
            format: try given(kind.format, "format", "$"), version: try given(kind.version, "version", "$"),
            pathLossExponent: try given(exponent, "pathLossExponent", "$"), readingDeviation: deviation, fit: fit,
            beacons: try given(beacons, "beacons", "$"), fingerprints: try given(fingerprints, "fingerprints", "$"))
    }

    private mutating func fit() throws -> RadioMapDocument.Fit {
        var fit = RadioMapDocument.Fit()
        try fields(at: "$.fit") { reader, key in
            switch key {
            case "floorLoss": fit.floorLoss = try reader.optionalNumber("$.fit.floorLoss")
            case "rateLength": fit.rateLength = try reader.optionalNumber("$.fit.rateLength")
            case "ratePriorDetections": fit.ratePriorDetections = try reader.optionalNumber("$.fit.ratePriorDetections")
            case "supportWidth": fit.supportWidth = try reader.optionalNumber("$.fit.supportWidth")
            case "unsupportedShare": fit.unsupportedShare = try reader.optionalNumber("$.fit.unsupportedShare")
            case "coverage": fit.coverage = try reader.optionalNumber("$.fit.coverage")
            case "bodyDeviation": fit.bodyDeviation = try reader.optionalNumber("$.fit.bodyDeviation")
            case "receiverDeviation": fit.receiverDeviation = try reader.optionalNumber("$.fit.receiverDeviation")
            case "devices": fit.devices = try reader.isNull() ? nil : reader.devices()
            default: try reader.json.skipValue()
            }
        }
        return fit
    }

    /// Returns the device models by name; if a name is repeated, the last entry is used.
    private mutating func devices() throws -> [String: RadioMapDocument.Receiver] {
        var devices: [String: RadioMapDocument.Receiver] = [:]
        try fields(at: "$.fit.devices") { reader, name in
            let path = "$.fit.devices.\(name)"
            guard devices.count < reader.limits.entries else {
                throw PacketFileError(
                    message: "has more than the limit of \(reader.limits.entries) entries",
                    path: "$.fit.devices")
            }
            devices[name] = try reader.receiver(path)
        }
        return devices
    }

    private mutating func receiver(_ path: String) throws -> RadioMapDocument.Receiver {
        var (offset, deviation): (Double?, Double?) = (nil, nil)
        try fields(at: path) { reader, key in
            switch key {
            case "offset": offset = try reader.number("\(path).offset")
            case "deviation": deviation = try reader.number("\(path).deviation")
            default: try reader.json.skipValue()
            }
        }
        return RadioMapDocument.Receiver(
            offset: try given(offset, "offset", path), deviation: try given(deviation, "deviation", path))
    }

    private mutating func beacon(_ path: String) throws -> RadioMapDocument.Beacon {
        var uuid: String?
        var (major, minor, map): (Int?, Int?, Int?) = (nil, nil, nil)
        var (x, y, z, power): (Double?, Double?, Double?, Double?) = (nil, nil, nil, nil)
        try fields(at: path) { reader, key in
            switch key {
            case "uuid": uuid = try reader.text("\(path).uuid")
            case "major": major = try reader.whole("\(path).major")
            case "minor": minor = try reader.whole("\(path).minor")
            case "mapId": map = try reader.whole("\(path).mapId")
            case "x": x = try reader.number("\(path).x")
            case "y": y = try reader.number("\(path).y")
            case "z": z = try reader.optionalNumber("\(path).z")
            case "power": power = try reader.number("\(path).power")
            default: try reader.json.skipValue()
            }
        }
        return RadioMapDocument.Beacon(
            uuid: try given(uuid, "uuid", path), major: try given(major, "major", path),
            minor: try given(minor, "minor", path), mapId: try given(map, "mapId", path), x: try given(x, "x", path),
            y: try given(y, "y", path), z: z, power: try given(power, "power", path))
    }

    private mutating func fingerprint(_ path: String) throws -> RadioMapDocument.Fingerprint {
        var map: Int?
        var (x, y, duration, deviation): (Double?, Double?, Double?, Double?) = (nil, nil, nil, nil)
        var readings: [RadioMapDocument.Reading]?
        try fields(at: path) { reader, key in
            switch key {
            case "mapId": map = try reader.whole("\(path).mapId")
            case "x": x = try reader.number("\(path).x")
            case "y": y = try reader.number("\(path).y")
            case "duration": duration = try reader.number("\(path).duration")
            case "deviation": deviation = try reader.optionalNumber("\(path).deviation")
            case "readings":
                readings = try reader.list(
                    at: "\(path).readings", atMost: reader.limits.radioMapReadings, after: reader.readingCount
                ) { try $0.reading($1) }
                reader.readingCount += readings?.count ?? 0
            default: try reader.json.skipValue()
            }
        }
        return RadioMapDocument.Fingerprint(
            mapId: try given(map, "mapId", path), x: try given(x, "x", path), y: try given(y, "y", path),
            duration: try given(duration, "duration", path), deviation: deviation,
            readings: try given(readings, "readings", path))
    }

    private mutating func reading(_ path: String) throws -> RadioMapDocument.Reading {
        var (beacon, count): (Int?, Int?) = (nil, nil)
        var (rssi, weight): (Double?, Double?) = (nil, nil)
        try fields(at: path) { reader, key in
            switch key {
            case "beacon": beacon = try reader.whole("\(path).beacon")
            case "rssi": rssi = try reader.number("\(path).rssi")
            case "count": count = try reader.whole("\(path).count")
            case "weight": weight = try reader.optionalNumber("\(path).weight")
            default: try reader.json.skipValue()
            }
        }
        return RadioMapDocument.Reading(
            beacon: try given(beacon, "beacon", path), rssi: try given(rssi, "rssi", path),
            count: try given(count, "count", path), weight: weight)
    }

    // MARK: Values

    private mutating func fields(
        at path: String, _ body: (inout RadioMapReader, String) throws -> Void
    ) throws {
        guard try json.kind() == .object else { throw PacketFileError(message: "is not an object", path: path) }
        try json.enterObject()
        while let key = try json.nextName() { try body(&self, key) }
    }

    /// - Parameters:
    ///   - limit: the limit of the elements of this array and of those before it.
    ///   - before: the number of elements of the arrays before it.
    private mutating func list<Element>(
        at path: String, atMost limit: Int, after before: Int = 0,
        _ body: (inout RadioMapReader, String) throws -> Element
    ) throws -> [Element] {
        guard try json.kind() == .array else { throw PacketFileError(message: "is not an array", path: path) }
        try json.enterArray()
        var elements: [Element] = []
        while try json.nextElement() {
            guard before + elements.count < limit else {
                let others = before > 0 ? ", with the arrays before it," : ""
                throw PacketFileError(
                    message: "has\(others) more than the limit of \(limit) entries; survey fewer places", path: path)
            }
            elements.append(try body(&self, "\(path)[\(elements.count)]"))
        }
        return elements
    }

    private mutating func isNull() throws -> Bool {
        guard try json.kind() == .null else { return false }
        try json.null()
        return true
    }

    private mutating func optionalNumber(_ path: @autoclosure () -> String) throws -> Double? {
        try isNull() ? nil : number(path())
    }

    private mutating func number(_ path: @autoclosure () -> String) throws -> Double {
        guard try json.kind() == .number else { throw PacketFileError(message: "is not a number", path: path()) }
        return try json.anyNumber()
    }

    private mutating func whole(_ path: @autoclosure () -> String) throws -> Int {
        guard let whole = Int(exactly: try number(path())) else {
            throw PacketFileError(message: "is not a whole number", path: path())
        }
        return whole
    }

    private mutating func text(_ path: @autoclosure () -> String) throws -> String {
        guard try json.kind() == .string, let text = try json.representableText() else {
            throw PacketFileError(message: "is not a string", path: path())
        }
        return text
    }

    private func given<Value>(_ value: Value?, _ name: String, _ path: String) throws -> Value {
        guard let value else { throw PacketFileError(message: "the field \(name) is missing", path: path) }
        return value
    }
}
