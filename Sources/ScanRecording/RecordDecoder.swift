import IndoorVocabulary
import TextFormats

/// The content of a decoded line.
package enum DecodedLine {
    case entry(RecordingEntry)
    /// A sighting or advertisement whose RSSI is not a measurement.
    case notAMeasurement(Instant)
    /// A type that this package doesn't know.
    case unknownType
}

/// A decoder that turns a line of a recording into an entry, and checks every field against the file format.
package struct RecordDecoder {
    private var fields = RecordFields()
    private let anyNumber = -Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude
    private let identifiers = -(1 << 53)...(1 << 53)

    /// Creates a decoder, which can be used for many lines.
    package init() {}

    /// Decodes one line, or throws the problem with it.
    package mutating func decode(_ line: Span<UInt8>) throws(RecordProblem) -> DecodedLine {
        try fields.scan(line)
        guard let type = try fields.recordType(line) else { return .unknownType }
        switch type {
        case .header: return .entry(.header(try header(line)))
        case .beacon: return try beacon(line)
        case .advertisement: return try advertisement(line)
        case .motion: return .entry(.measurement(.motion(try motion(line))))
        case .step: return .entry(.measurement(.step(try step(line))))
        case .pressure: return .entry(.measurement(.pressure(try pressure(line))))
        case .gnss: return .entry(.measurement(.gnss(try gnss(line))))
        case .fix: return .entry(.measurement(.fix(try fix(line))))
        case .truth: return .entry(.truth(try truth(line)))
        case .radio: return try radio(line)
        case .range: return .entry(.measurement(.range(try range(line))))
        }
    }

    private func header(_ line: Span<UInt8>) throws(RecordProblem) -> RecordingHeader {
        guard try fields.string(.format, line) == RecordingHeader.format else {
            throw RecordProblem(.format, .notARecording)
        }
        let version = try fields.integer(.version, in: 1...Int(Int32.max), line)
        guard version <= RecordingHeader.newestVersion else {
            throw RecordProblem(.version, .unsupportedVersion(version))
        }
        var header = RecordingHeader(
            startedAt: try fields.optionalString(.startedAt, line), device: try fields.optionalString(.device, line),
            venueID: try fields.optionalInteger(.venueId, in: identifiers, line).map(VenueID.init(rawValue:)),
            name: try fields.optionalString(.name, line),
            // A trace identifier in another form doesn't make the recording unreadable.
            traceID: try fields.optionalString(.traceId, line).flatMap { TraceID($0) })
        header.version = version
        return header
    }

    // MARK: - Radio

    /// Returns the RSSI that the radio reported: a signed byte. 127 and values of 0 or above are not measurements.
    private func rssi(_ line: Span<UInt8>) throws(RecordProblem) -> Double {
        try fields.number(.rssi, in: -128...127, line)
    }

    private func beacon(_ line: Span<UInt8>) throws(RecordProblem) -> DecodedLine {
        let instant = try fields.instant(line)
        guard let uuid = BeaconUUID(try fields.string(.uuid, line)) else {
            throw RecordProblem(.uuid, .wrongType(expected: "a UUID of 32 hexadecimal digits"))
        }
        let identity = BeaconIdentity(
            uuid: uuid, major: UInt16(try fields.integer(.major, in: 0...65535, line)),
            minor: UInt16(try fields.integer(.minor, in: 0...65535, line)))
        let sighting = Sighting(
            instant: instant, beacon: identity, rssi: try rssi(line),
            measuredPower: try fields.optionalNumber(.measuredPower, in: -128...127, line),
            address: try optionalAddress(line))
        guard sighting.hasMeasurement else { return .notAMeasurement(instant) }
        return .entry(.measurement(.sighting(sighting)))
    }

    private func advertisement(_ line: Span<UInt8>) throws(RecordProblem) -> DecodedLine {
        let instant = try fields.instant(line)
        guard let address = try optionalAddress(line) else { throw RecordProblem(.address, .missingField) }
        let advertisement = Advertisement(
            instant: instant, address: address, rssi: try rssi(line), data: try fields.hexBytes(.data, line))
        guard advertisement.hasMeasurement else { return .notAMeasurement(instant) }
        return .entry(.measurement(.advertisement(advertisement)))
    }

    private func radio(_ line: Span<UInt8>) throws(RecordProblem) -> DecodedLine {
        let instant = try fields.instant(line)
        // This version cannot interpret a status that a later version defines.
        guard let status = RadioEvent.Status(rawValue: try fields.string(.status, line)) else { return .unknownType }
        return .entry(
            .measurement(
                .radio(
                    RadioEvent(
                        instant: instant, status: status, adapter: try fields.optionalString(.adapter, line),
                        detail: try fields.optionalString(.detail, line)))))
    }

    private func optionalAddress(_ line: Span<UInt8>) throws(RecordProblem) -> DeviceAddress? {
        guard let text = try fields.optionalString(.address, line) else { return nil }
        guard var address = DeviceAddress(text) else {
            throw RecordProblem(.address, .wrongType(expected: "six hexadecimal pairs with colons"))
        }
        if let kind = try fields.optionalString(.addressType, line) {
            address.kind = DeviceAddress.Kind(rawValue: kind)
            guard address.kind != nil else {
                throw RecordProblem(.addressType, .wrongType(expected: "\"public\" or \"random\""))
            }
        }
        return address
    }

    // MARK: - Device

    private func motion(_ line: Span<UInt8>) throws(RecordProblem) -> MotionSample {
        MotionSample(
            instant: try fields.instant(line), acceleration: try fields.vector(.acceleration, line),
            rotationRate: try fields.vector(.rotationRate, line),
            magneticField: try fields.vector(.magneticField, line), attitude: try fields.quaternion(.attitude, line))
    }

    private func step(_ line: Span<UInt8>) throws(RecordProblem) -> Step {
        Step(
            instant: try fields.instant(line), length: try fields.optionalNumber(.length, in: 0...10, line),
            heading: try fields.optionalNumber(.heading, in: 0...(360.0).nextDown, line))
    }

    private func pressure(_ line: Span<UInt8>) throws(RecordProblem) -> PressureSample {
        // The range includes mountains and pressure chambers, but rejects values in pascals or bars.
        PressureSample(instant: try fields.instant(line), hectopascals: try fields.number(.hPa, in: 100...2000, line))
    }

    // MARK: - Places

    private func gnss(_ line: Span<UInt8>) throws(RecordProblem) -> GNSSFix {
        GNSSFix(
            instant: try fields.instant(line),
            coordinate: Coordinate(
                latitude: try fields.number(.latitude, in: -90...90, line),
                longitude: try fields.number(.longitude, in: -180...180, line)),
            accuracy: try fields.number(.accuracy, in: 0...1e8, line),
            altitude: try fields.optionalNumber(.altitude, in: anyNumber, line),
            speed: try fields.optionalNumber(.speed, in: 0...1e6, line),
            course: try fields.optionalNumber(.course, in: 0...(360.0).nextDown, line))
    }

    private func fix(_ line: Span<UInt8>) throws(RecordProblem) -> Fix {
        Fix(
            instant: try fields.instant(line),
            mapID: MapID(rawValue: try fields.integer(.mapId, in: identifiers, line)),
            point: MapPoint(
                x: try fields.number(.x, in: Truth.coordinates, line),
                y: try fields.number(.y, in: Truth.coordinates, line)),
            radius: try fields.number(.radius, in: Double.leastNonzeroMagnitude...1e8, line),
            isSoft: try fields.optionalBool(.soft, line) ?? false)
    }

    private func range(_ line: Span<UInt8>) throws(RecordProblem) -> RangeReading {
        RangeReading(
            instant: try fields.instant(line),
            anchor: try fields.name(.anchor, upTo: RangeReading.longestName, line),
            distance: try fields.number(.distance, in: RangeReading.distances, line),
            deviation: try fields.optionalNumber(.deviation, in: RangeReading.deviations, line),
            technology: RangeTechnology(
                rawValue: try fields.name(.technology, upTo: RangeReading.longestName, line)))
    }

    private func truth(_ line: Span<UInt8>) throws(RecordProblem) -> Truth {
        var truth = Truth(
            instant: try fields.instant(line),
            mapID: try fields.optionalInteger(.mapId, in: identifiers, line).map(MapID.init(rawValue:)),
            room: try fields.optionalString(.room, line), isHold: try fields.optionalBool(.hold, line) ?? false)
        if truth.room == nil || fields.has(.x) || fields.has(.y) {
            guard truth.mapID != nil else { throw RecordProblem(.mapId, .missingField) }
            truth.point = MapPoint(
                x: try fields.number(.x, in: Truth.coordinates, line),
                y: try fields.number(.y, in: Truth.coordinates, line))
        }
        return truth
    }
}

/// The known members of one line, with checked access to their values.
///
/// The decoder reuses one value for all lines, so that reading a line allocates nothing. A member whose value is `null`
/// is treated as absent.
struct RecordFields {
    private let names = RecordField.names
    private let types = RecordType.names
    private var tokens = [JSONToken?](repeating: nil, count: RecordField.allCases.count)

    /// Reads a line. Members with unknown names are checked and discarded.
    mutating func scan(_ line: Span<UInt8>) throws(RecordProblem) {
        for index in tokens.indices { tokens[index] = nil }
        var duplicate: RecordField?
        do throws(JSONSyntaxError) {
            var cursor = JSONCursor(limits: RecordLine.limits)
            try cursor.enterObject(line)
            while let name = try cursor.nextKey(line) {
                let value = try cursor.skipValue(line)
                guard let field = field(named: name, in: line) else { continue }
                if tokens[field.rawValue] != nil { duplicate = duplicate ?? field }
                tokens[field.rawValue] = value
            }
            try cursor.finishText(line)
        } catch {
            throw RecordProblem(nil, RecordLine.problem(error))
        }
        if let duplicate { throw RecordProblem(duplicate, .duplicateField) }
    }

    private func field(named name: JSONString, in line: Span<UInt8>) -> RecordField? {
        guard name.hasEscapes else { return names.value(of: name.range, in: line) }
        let text = JSONEscapes.removed(from: line.extracting(name.range))
        return names.value(of: text.indices, in: text.span)
    }

    // MARK: - Presence

    /// Returns whether the member is present and not null.
    func has(_ field: RecordField) -> Bool {
        tokens[field.rawValue].map { $0.kind != .null } ?? false
    }

    /// Returns the member's token if it is present, after checking its kind.
    private func token(
        _ field: RecordField, _ kind: JSONKind, _ expected: String
    ) throws(RecordProblem) -> JSONToken? {
        guard let token = tokens[field.rawValue], token.kind != .null else { return nil }
        if token.kind == kind { return token }
        throw RecordProblem(field, .wrongType(expected: expected))
    }

    private func required<Value>(_ value: Value?, _ field: RecordField) throws(RecordProblem) -> Value {
        guard let value else { throw RecordProblem(field, .missingField) }
        return value
    }

    // MARK: - Numbers

    /// Returns a number that the scan has found to be well-formed.
    private func number(_ token: JSONToken, _ line: Span<UInt8>) -> JSONNumber {
        var cursor = JSONCursor(limits: RecordLine.limits, at: token.range.lowerBound)
        return (try? cursor.decimal(line)) ?? JSONNumber()
    }

    /// Returns the numbers of an array; nil if it has another count of elements, or an element is not a finite number.
    private func numbers<let count: Int>(
        _ token: JSONToken, _ line: Span<UInt8>
    ) -> InlineArray<count, Double>? {
        var cursor = JSONCursor(limits: RecordLine.limits, at: token.range.lowerBound)
        var numbers = InlineArray<count, Double>(repeating: 0)
        guard (try? cursor.enterArray(line)) != nil else { return nil }
        for index in 0..<count {
            guard (try? cursor.nextElement(line)) == true, let value = try? cursor.number(line) else { return nil }
            numbers[index] = value
        }
        return (try? cursor.nextElement(line)) == false ? numbers : nil
    }

    /// Returns a number within a range; nil if the member is absent.
    func optionalNumber(
        _ field: RecordField, in allowed: ClosedRange<Double>, _ line: Span<UInt8>
    ) throws(RecordProblem) -> Double? {
        guard let token = try token(field, .number, "a number") else { return nil }
        let value = number(token, line).double(line)
        guard allowed.contains(value) else {
            throw RecordProblem(
                field,
                .outOfRange(
                    value: ShortestNumber.text(value),
                    allowed: "\(ShortestNumber.text(allowed.lowerBound)) to \(ShortestNumber.text(allowed.upperBound))"
                ))
        }
        return value
    }

    /// Returns a number within a range.
    func number(
        _ field: RecordField, in allowed: ClosedRange<Double>, _ line: Span<UInt8>
    ) throws(RecordProblem) -> Double {
        try required(try optionalNumber(field, in: allowed, line), field)
    }

    /// Returns a whole number within a range; nil if the member is absent.
    func optionalInteger(
        _ field: RecordField, in allowed: ClosedRange<Int>, _ line: Span<UInt8>
    ) throws(RecordProblem) -> Int? {
        let bounds = Double(allowed.lowerBound)...Double(allowed.upperBound)
        guard let value = try optionalNumber(field, in: bounds, line) else { return nil }
        guard let integer = Int(exactly: value) else {
            throw RecordProblem(field, .wrongType(expected: "a whole number"))
        }
        return integer
    }

    /// Returns a whole number within a range.
    func integer(
        _ field: RecordField, in allowed: ClosedRange<Int>, _ line: Span<UInt8>
    ) throws(RecordProblem) -> Int {
        try required(try optionalInteger(field, in: allowed, line), field)
    }

    /// Returns the line's instant.
    func instant(_ line: Span<UInt8>) throws(RecordProblem) -> Instant {
        let token = try required(try token(.t, .number, "a number"), .t)
        guard let nanoseconds = number(token, line).nanoseconds(line) else {
            let value = ShortestNumber.text(number(token, line).double(line))
            throw RecordProblem(.t, .outOfRange(value: value, allowed: "-9.2e9 to 9.2e9"))
        }
        return Instant(nanoseconds: nanoseconds)
    }

    /// Returns three numbers as a vector; nil if the member is absent.
    func vector(_ field: RecordField, _ line: Span<UInt8>) throws(RecordProblem) -> Vector3? {
        guard let token = try token(field, .array, "an array of 3 numbers") else { return nil }
        guard let values: InlineArray<3, Double> = numbers(token, line) else {
            throw RecordProblem(field, .wrongType(expected: "an array of 3 numbers"))
        }
        return Vector3(x: values[0], y: values[1], z: values[2])
    }

    /// Returns a unit quaternion, with a tolerance for rounding and drift; nil if the member is absent.
    func quaternion(_ field: RecordField, _ line: Span<UInt8>) throws(RecordProblem) -> Quaternion? {
        guard let token = try token(field, .array, "an array of 4 numbers") else { return nil }
        guard let values: InlineArray<4, Double> = numbers(token, line) else {
            throw RecordProblem(field, .wrongType(expected: "an array of 4 numbers"))
        }
        let (w, x, y, z) = (values[0], values[1], values[2], values[3])
        let length = (w * w + x * x + y * y + z * z).squareRoot()
        guard abs(length - 1) <= 0.05 else {
            throw RecordProblem(
                field,
                .outOfRange(
                    value: "a quaternion of length \(ShortestNumber.text(length))", allowed: "a unit quaternion"))
        }
        return Quaternion(w: w, x: x, y: y, z: z)
    }

    // MARK: - Text and truth values

    /// Returns a string; nil if the member is absent.
    func optionalString(_ field: RecordField, _ line: Span<UInt8>) throws(RecordProblem) -> String? {
        guard let token = try token(field, .string, "a string") else { return nil }
        return String(decoding: JSONEscapes.removed(from: line.extracting(token.range)), as: UTF8.self)
    }

    /// Returns a string.
    func string(_ field: RecordField, _ line: Span<UInt8>) throws(RecordProblem) -> String {
        try required(try optionalString(field, line), field)
    }

    /// Returns a string of 1 to `limit` bytes.
    func name(_ field: RecordField, upTo limit: Int, _ line: Span<UInt8>) throws(RecordProblem) -> String {
        let name = try string(field, line)
        guard (1...limit).contains(name.utf8.count) else {
            throw RecordProblem(field, .wrongType(expected: "a string of 1 to \(limit) bytes"))
        }
        return name
    }

    /// Returns `true` or `false`; nil if the member is absent.
    func optionalBool(_ field: RecordField, _ line: Span<UInt8>) throws(RecordProblem) -> Bool? {
        guard let token = try token(field, .bool, "true or false") else { return nil }
        return line[token.range.lowerBound] == UInt8(ascii: "t")
    }

    /// Returns the type of the line; nil if this package doesn't know it.
    func recordType(_ line: Span<UInt8>) throws(RecordProblem) -> RecordType? {
        let token = try required(try token(.type, .string, "a string"), .type)
        guard token.hasEscapes else { return types.value(of: token.range, in: line) }
        let text = JSONEscapes.removed(from: line.extracting(token.range))
        return types.value(of: text.indices, in: text.span)
    }

    /// Returns the bytes that pairs of hexadecimal digits represent.
    func hexBytes(_ field: RecordField, _ line: Span<UInt8>) throws(RecordProblem) -> [UInt8] {
        let token = try required(try token(field, .string, "a string of hexadecimal pairs"), field)
        var bytes: [UInt8] = []
        guard HexDigits.append(line.extracting(token.range), to: &bytes) else {
            throw RecordProblem(field, .wrongType(expected: "a string of hexadecimal pairs"))
        }
        return bytes
    }
}

/// The members of a recording's lines that this package reads. Each case has the name of the member in the file.
package enum RecordField: Int, CaseIterable, Sendable {
    case t, type
    case format, version, startedAt, device, venueId, name
    case uuid, major, minor, rssi, measuredPower, address, addressType, data
    case acceleration, rotationRate, magneticField, attitude
    case length, heading, hPa, latitude, longitude, accuracy, altitude
    case mapId, x, y, radius, room, hold
    case status, adapter, detail
    case speed, course
    case soft
    case traceId
    case anchor, distance, technology, deviation

    /// The name of the member in the file.
    var text: String { Self.texts[rawValue] }

    /// The table that finds a field by its name.
    static let names = NameTable(allCases, name: \.text)

    // The names are stored, because describing a case takes longer than reading a line.
    private static let texts = allCases.map { String(describing: $0) }
}

/// The kinds of line that this package reads. Each case has the name of the kind in the file.
enum RecordType: Int, CaseIterable, Sendable {
    case header, beacon, advertisement, motion, step, pressure, gnss, fix, truth, radio, range

    /// The name of the kind in the file.
    var text: String { Self.texts[rawValue] }

    /// The table that finds a type by its name.
    static let names = NameTable(allCases, name: \.text)

    private static let texts = allCases.map { String(describing: $0) }
}

/// A table that finds a value by the bytes of its name. It compares names of up to 16 bytes as one integer.
struct NameTable<Value: Sendable>: Sendable {
    private let keys: [UInt128]
    private let values: [Value]

    /// Creates a table of values with distinct names of 1 to 16 bytes.
    init(_ values: [Value], name: (Value) -> String) {
        self.values = values
        keys = values.map { value in name(value).utf8.reduce(0) { $0 << 8 | UInt128($1) } }
    }

    /// Returns the value with that name; nil if there is none.
    func value(of name: Range<Int>, in line: Span<UInt8>) -> Value? {
        guard !name.isEmpty, name.count <= 16 else { return nil }
        var key: UInt128 = 0
        for offset in name { key = key << 8 | UInt128(line[offset]) }
        for index in keys.indices where keys[index] == key { return values[index] }
        return nil
    }
}

/// An error in a line. The reader adds the file and the line number.
package struct RecordProblem: Error, Hashable, Sendable {
    /// The invalid field; nil if the error concerns the whole line.
    package var field: RecordField?
    /// The kind of error.
    package var problem: RecordingError.Problem

    /// Creates a problem with one field or with the whole line.
    package init(_ field: RecordField?, _ problem: RecordingError.Problem) {
        self.field = field
        self.problem = problem
    }
}
