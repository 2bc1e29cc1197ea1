import IndoorVocabulary
import TextFormats

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
