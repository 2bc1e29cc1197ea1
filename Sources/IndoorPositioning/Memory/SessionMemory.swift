import IndoorVocabulary

/// The saved state of a session, which the next session can restore.
///
///     let memory = await localizer.suspend()             // stops without leaving any room or fence
///     …                                                  // for example, stored in a file between program runs
///     await next.restore(memory, after: .seconds(40))    // before the next session starts
///
/// A session doesn't report a position from a memory alone. The memory is the prior of the position when the device
/// next detects a beacon.
public struct SessionMemory: Hashable, Sendable {
    /// The position of the device on one map, given that the device is on that map.
    package struct Place: Hashable, Sendable {
        /// The map.
        package var mapID: MapID
        /// The probability that the device is on the map, in [0, 1].
        package var probability: Double
        /// The mean position in metres.
        package var point: MapPoint
        /// Variance along x in m², at least 0.
        package var varianceX: Double
        /// Variance along y in m², at least 0.
        package var varianceY: Double
        /// Covariance in m²; its square is at most the product of the variances.
        package var covariance: Double

        /// Creates a place.
        package init(
            mapID: MapID, probability: Double, point: MapPoint, varianceX: Double, varianceY: Double,
            covariance: Double = 0
        ) {
            self.mapID = mapID
            self.probability = probability
            self.point = point
            self.varianceX = varianceX
            self.varianceY = varianceY
            self.covariance = covariance
        }
    }

    /// A room or fence that the device is in.
    package struct Presence<ID: Hashable & Sendable>: Hashable, Sendable {
        /// The area's number in its venue, or the name of the application's geofence.
        package var id: ID
        /// Whether the session reported the entry. It doesn't report an entry shortly after an exit from the same
        /// fence.
        package var isTold: Bool

        /// Creates a presence.
        package init(id: ID, isTold: Bool = true) {
            self.id = id
            self.isTold = isTold
        }
    }

    /// A fence that the device left.
    package struct Departure<ID: Hashable & Sendable>: Hashable, Sendable {
        /// The fence's number in its venue, or the name of the application's geofence.
        package var id: ID
        /// The time between the exit and the saved state.
        package var ago: Duration

        /// Creates a departure.
        package init(id: ID, ago: Duration) {
            self.id = id
            self.ago = ago
        }
    }

    /// The state of the device in a venue.
    package struct Stay: Hashable, Sendable {
        /// The venue.
        package var venueID: VenueID
        /// The version of the venue packet; positions and areas of another version are not valid.
        package var venueVersion: Int
        /// The position on each map; empty before the first detected beacon.
        package var places: [Place]
        /// The rooms that the device is in.
        package var rooms: [Presence<Int>]
        /// The fences that the device is in.
        package var fences: [Presence<Int>]
        /// The geofences of the application that the device is in.
        package var geofences: [Presence<String>]
        /// Fences that the device left so recently that the session doesn't report a new entry.
        package var departures: [Departure<Int>]
        /// The same for the application's geofences.
        package var geofenceDepartures: [Departure<String>]

        /// The most probable map of the device; nil before the first detected beacon.
        package var mapID: MapID? {
            places.max { ($0.probability, $1.mapID.rawValue) < ($1.probability, $0.mapID.rawValue) }?.mapID
        }

        /// Creates a stay.
        package init(
            venueID: VenueID, venueVersion: Int, places: [Place] = [], rooms: [Presence<Int>] = [],
            fences: [Presence<Int>] = [], geofences: [Presence<String>] = [], departures: [Departure<Int>] = [],
            geofenceDepartures: [Departure<String>] = []
        ) {
            self.venueID = venueID
            self.venueVersion = venueVersion
            self.places = places
            self.rooms = rooms
            self.fences = fences
            self.geofences = geofences
            self.departures = departures
            self.geofenceDepartures = geofenceDepartures
        }
    }

    /// The state in the current venue; nil if the device is in no venue.
    package var stay: Stay?
    /// The learned calibration of the device; nil if there is none.
    public var calibration: Calibration?
    /// The age of the state when the memory was saved: a session that detects no beacon saves the memory that it
    /// restored, with its age.
    public var age: Duration

    /// Creates a memory.
    package init(stay: Stay? = nil, calibration: Calibration? = nil, age: Duration = .zero) {
        self.stay = stay
        self.calibration = calibration
        self.age = age
    }

    /// Returns the memory with a greater age; a negative duration doesn't reduce the age.
    package func aged(by duration: Duration) -> SessionMemory {
        var memory = self
        memory.age = max(.zero, age) + max(.zero, duration)
        return memory
    }
}

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
