import IndoorVocabulary

/// The reason why a session memory document is invalid.
public enum SessionMemoryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A value is missing or invalid.
    case invalid(path: String, expected: String)

    public var description: String {
        switch self {
        case .invalid(let path, let expected): "\(path) must be \(expected); discard the memory"
        }
    }
}

// The JSON document, for storage between sessions.
extension SessionMemory {
    /// The memory as a JSON object; durations are in seconds.
    public var document: JSONValue {
        var members: [String: JSONValue] = ["age": .number(age.seconds)]
        if let stay { members["stay"] = stay.document }
        if let calibration { members["calibration"] = calibration.document }
        return .object(members)
    }

    /// Reads a memory from its document; other members are ignored.
    ///
    /// - Throws: `SessionMemoryError` for the first value that is missing or wrong.
    public init(_ document: JSONValue) throws(SessionMemoryError) {
        let reader = try MemoryReader(document, at: "memory")
        self.init(age: .seconds(try reader.number("age", in: 0...MemoryReader.longest)))
        if let part = reader.members["stay"] { stay = try Stay(MemoryReader(part, at: "memory.stay")) }
        guard let part = reader.members["calibration"] else { return }
        do throws(CalibrationError) { calibration = try Calibration(part) } catch {
            throw .invalid(path: "memory.calibration", expected: "a calibration (\(error))")
        }
    }
}

extension SessionMemory.Stay {
    fileprivate var document: JSONValue {
        var members: [String: JSONValue] = ["venueId": .whole(venueID.rawValue), "venueVersion": .whole(venueVersion)]
        members["places"] = .array(places.map(\.document))
        members["rooms"] = .array(rooms.map { $0.document(JSONValue.whole) })
        members["fences"] = .array(fences.map { $0.document(JSONValue.whole) })
        members["geofences"] = .array(geofences.map { $0.document(JSONValue.string) })
        members["departures"] = .array(departures.map { $0.document(JSONValue.whole) })
        members["geofenceDepartures"] = .array(geofenceDepartures.map { $0.document(JSONValue.string) })
        return .object(members)
    }

    fileprivate init(_ reader: MemoryReader) throws(SessionMemoryError) {
        self.init(
            venueID: VenueID(rawValue: try reader.whole("venueId")), venueVersion: try reader.whole("venueVersion"))
        for part in try reader.list("places") { places.append(try SessionMemory.Place(part)) }
        for part in try reader.list("rooms") { rooms.append(try .init(part, id: part.whole("id"))) }
        for part in try reader.list("fences") { fences.append(try .init(part, id: part.whole("id"))) }
        for part in try reader.list("geofences") { geofences.append(try .init(part, id: part.text("id"))) }
        for part in try reader.list("departures") { departures.append(try .init(part, id: part.whole("id"))) }
        for part in try reader.list("geofenceDepartures") {
            geofenceDepartures.append(try .init(part, id: part.text("id")))
        }
    }
}

extension SessionMemory.Place {
    /// Maximum magnitude of a coordinate in metres; no building is larger.
    private static let farthest = 1e6

    fileprivate var document: JSONValue {
        .object([
            "mapId": .number(Double(mapID.rawValue)), "probability": .number(probability), "x": .number(point.x),
            "y": .number(point.y), "varianceX": .number(varianceX), "varianceY": .number(varianceY),
            "covariance": .number(covariance),
        ])
    }

    fileprivate init(_ reader: MemoryReader) throws(SessionMemoryError) {
        let (far, square) = (Self.farthest, Self.farthest * Self.farthest)
        let point = MapPoint(x: try reader.number("x", in: -far...far), y: try reader.number("y", in: -far...far))
        self.init(
            mapID: MapID(rawValue: try reader.whole("mapId")), probability: try reader.number("probability", in: 0...1),
            point: point, varianceX: try reader.number("varianceX", in: 0...square),
            varianceY: try reader.number("varianceY", in: 0...square),
            covariance: try reader.number("covariance", in: -square...square))
        guard covariance * covariance <= varianceX * varianceY * (1 + 1e-9) else {
            throw .invalid(
                path: reader.path + ".covariance",
                expected: "at most the square root of varianceX · varianceY in magnitude")
        }
    }
}

extension SessionMemory.Presence {
    fileprivate func document(_ value: (ID) -> JSONValue) -> JSONValue {
        .object(["id": value(id), "isTold": .bool(isTold)])
    }

    fileprivate init(_ reader: MemoryReader, id: ID) throws(SessionMemoryError) {
        self.init(id: id, isTold: try reader.flag("isTold"))
    }
}

extension SessionMemory.Departure {
    fileprivate func document(_ value: (ID) -> JSONValue) -> JSONValue {
        .object(["id": value(id), "ago": .number(ago.seconds)])
    }

    fileprivate init(_ reader: MemoryReader, id: ID) throws(SessionMemoryError) {
        self.init(id: id, ago: .seconds(try reader.number("ago", in: 0...MemoryReader.longest)))
    }
}

extension JSONValue {
    fileprivate static func whole(_ number: Int) -> JSONValue { .number(Double(number)) }
}

/// A reader for an object of the document, with the object's path.
private struct MemoryReader {
    /// Maximum age in seconds: a thousand years.
    static let longest = 3.2e10

    let path: String
    let members: [String: JSONValue]

    init(_ value: JSONValue, at path: String) throws(SessionMemoryError) {
        guard case .object(let members) = value else { throw .invalid(path: path, expected: "an object") }
        self.path = path
        self.members = members
    }

    func number(_ name: String, in range: ClosedRange<Double>) throws(SessionMemoryError) -> Double {
        guard case .number(let number)? = members[name], range.contains(number) else {
            let expected = "a number from \(range.lowerBound) to \(range.upperBound)"
            throw .invalid(path: "\(path).\(name)", expected: expected)
        }
        return number
    }

    func whole(_ name: String) throws(SessionMemoryError) -> Int {
        guard case .number(let number)? = members[name], let whole = Int(exactly: number) else {
            throw .invalid(path: "\(path).\(name)", expected: "a whole number")
        }
        return whole
    }

    func text(_ name: String) throws(SessionMemoryError) -> String {
        guard case .string(let text)? = members[name] else {
            throw .invalid(path: "\(path).\(name)", expected: "a string")
        }
        return text
    }

    func flag(_ name: String) throws(SessionMemoryError) -> Bool {
        guard case .bool(let flag)? = members[name] else {
            throw .invalid(path: "\(path).\(name)", expected: "true or false")
        }
        return flag
    }

    func list(_ name: String) throws(SessionMemoryError) -> [MemoryReader] {
        guard case .array(let values)? = members[name] else {
            throw .invalid(path: "\(path).\(name)", expected: "an array")
        }
        var readers: [MemoryReader] = []
        for (index, value) in values.enumerated() {
            readers.append(try MemoryReader(value, at: "\(path).\(name)[\(index)]"))
        }
        return readers
    }
}
