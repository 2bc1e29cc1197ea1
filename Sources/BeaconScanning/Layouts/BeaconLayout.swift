import IndoorVocabulary
import TextFormats

/// The layout of a beacon's advertisement, from a layout string of the AltBeacon library.
///
///     let layout = try BeaconLayout("m:2-3=beac,i:4-19,i:20-21,i:22-23,p:24-24,d:25-25")
///
/// Commas separate the terms. Offsets are in bytes from 0 and include both ends.
///
/// | term | meaning |
/// | --- | --- |
/// | `m:2-3=beac` | the bytes that identify the layout; once, and required |
/// | `s:0-1=feaa` | the fields are in service data of this UUID of 2 or 16 bytes; without it in manufacturer data |
/// | `i:4-19` | an identifier; at least one, unless the layout begins with `x` |
/// | `p:24-24` | the signal strength at 1 m in dBm, one signed byte; `p:3-3:-41` adds -41 dB to it; at most once |
/// | `d:25-25` | the manufacturer's own data; any number |
/// | `x` | the advertisement only adds data to another one, and has no identity |
///
/// `i` and `d` may end with `l`: the least significant byte comes first. `i` may end with `v`: the field ends with the
/// payload if the payload is shorter. The offset 0 is the first byte of the company number, or of the service UUID.
///
/// Source: Radius Networks, *Android Beacon Library*, documentation of `BeaconParser.setBeaconLayout`.
public struct BeaconLayout: Hashable, Sendable {
    /// The bytes of one value.
    package struct Field: Hashable, Sendable {
        /// The offsets of the first and the last byte.
        package var offsets: ClosedRange<Int>
        /// Whether the least significant byte comes first.
        package var isLittleEndian = false
        /// Whether the field may end before its last offset, at the end of the payload.
        package var isVariable = false

        /// Creates a field from its parts.
        package init(_ offsets: ClosedRange<Int>, isLittleEndian: Bool = false, isVariable: Bool = false) {
            self.offsets = offsets
            self.isLittleEndian = isLittleEndian
            self.isVariable = isVariable
        }
    }

    /// The bytes that identify a layout.
    package struct Match: Hashable, Sendable {
        /// The offset of the first byte.
        package var offset: Int
        /// The bytes, in the order of the payload.
        package var bytes: [UInt8]

        /// Creates a match from its parts.
        package init(offset: Int, bytes: [UInt8]) {
            self.offset = offset
            self.bytes = bytes
        }
    }

    /// The field of the measured power.
    package struct Power: Hashable, Sendable {
        /// The offset of its byte.
        package var offset: Int
        /// The correction in dB to the power at 1 m.
        package var correction = 0

        /// Creates a field from its parts.
        package init(offset: Int, correction: Int = 0) {
            self.offset = offset
            self.correction = correction
        }
    }

    /// The bytes that the payload must contain.
    package let match: Match
    /// The service of the service data with the fields; nil for manufacturer data.
    package let service: ServiceUUID?
    /// The identifiers, in the order of the string.
    package let identifiers: [Field]
    /// The measured power; nil if the beacon does not send it.
    package let power: Power?
    /// The manufacturer's own data, in the order of the string.
    package let data: [Field]
    /// Whether the advertisement only adds data to another one.
    package let isExtra: Bool

    /// The maximum length in bytes of an AD structure of extended advertising.
    static let longestPayload = 254

    /// Parses a layout string.
    ///
    /// - Throws: `BeaconLayoutError` with the invalid or missing term.
    public init(_ text: String) throws(BeaconLayoutError) {
        var terms = BeaconLayoutTerms()
        for term in text.split(separator: ",", omittingEmptySubsequences: false) {
            try terms.add(String(term).trimmingSpaces())
        }
        guard let match = terms.match else { throw .missing("m", in: text) }
        guard terms.isExtra || !terms.identifiers.isEmpty else { throw .missing("i", in: text) }
        self.match = match
        service = terms.service
        identifiers = terms.identifiers
        power = terms.power
        data = terms.data
        isExtra = terms.isExtra
    }

    /// The size in bytes of the service UUID or company number at the beginning of the payload.
    var headLength: Int { service.map { $0.isShort ? 2 : 16 } ?? 2 }
}

extension BeaconLayout {
    /// Apple's iBeacon.
    public static let iBeacon = known("m:2-3=0215,i:4-19,i:20-21,i:22-23,p:24-24")
    /// The AltBeacon of Radius Networks.
    public static let altBeacon = known("m:2-3=beac,i:4-19,i:20-21,i:22-23,p:24-24,d:25-25")
    /// Google's Eddystone with namespace and instance.
    public static let eddystoneUID = known("s:0-1=feaa,m:2-2=00,p:3-3:-41,i:4-13,i:14-19")
    /// Google's Eddystone with a URL.
    public static let eddystoneURL = known("s:0-1=feaa,m:2-2=10,p:3-3:-41,i:4-21v")
    /// Google's Eddystone with battery, temperature and counters.
    public static let eddystoneTLM = known("x,s:0-1=feaa,m:2-2=20,d:3-3,d:4-5,d:6-7,d:8-11,d:12-15")

    private static func known(_ text: String) -> BeaconLayout {
        do { return try BeaconLayout(text) } catch { preconditionFailure("\(error)") }
    }
}

extension BeaconLayout: CustomStringConvertible {
    /// The layout string, with its terms in the order of the table above.
    public var description: String {
        func range(_ offsets: ClosedRange<Int>) -> String { "\(offsets.lowerBound)-\(offsets.upperBound)" }
        func hex(_ bytes: [UInt8]) -> String { HexDigits.text(of: bytes, uppercase: false) }
        func field(_ name: String, _ field: Field) -> String {
            "\(name):\(range(field.offsets))\(field.isLittleEndian ? "l" : "")\(field.isVariable ? "v" : "")"
        }
        var terms = isExtra ? ["x"] : []
        if let service { terms.append("s:0-\(headLength - 1)=\(hex(service.bigEndianBytes))") }
        terms.append("m:\(range(match.offset...(match.offset + match.bytes.count - 1)))=\(hex(match.bytes))")
        terms += identifiers.map { field("i", $0) }
        if let power {
            terms.append("p:\(power.offset)-\(power.offset)\(power.correction == 0 ? "" : ":\(power.correction)")")
        }
        return (terms + data.map { field("d", $0) }).joined(separator: ",")
    }
}

/// The reason why a layout string is invalid, or why a layout cannot represent a frame.
public enum BeaconLayoutError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A term of the string is invalid; `reason` states why.
    case term(String, reason: String)
    /// A required term is missing.
    case missing(String, in: String)
    /// The number of a frame's values differs from the number of the layout's fields of that kind.
    case count(String, expected: Int, found: Int)
    /// The number of a value's bytes differs from the length of its field.
    case length(field: String, expected: Int, found: Int)
    /// The measured power in dBm does not fit into its byte, or only one of layout and frame has a power.
    case power(Int?, layout: String)

    public var description: String {
        switch self {
        case .term(let term, let reason): "Beacon layout: the term '\(term)' \(reason)."
        case .missing(let name, let text): "Beacon layout: '\(text)' has no term '\(name):'; add one."
        case .count(let kind, let expected, let found):
            "The layout has \(expected) \(kind), the frame has \(found): give one value for each."
        case .length(let field, let expected, let found):
            "The field \(field) has room for \(expected) bytes, the value has \(found)."
        case .power(let power?, let layout): "The layout \(layout) has no place for a measured power of \(power) dBm."
        case .power(nil, let layout): "The layout \(layout) needs a measured power, the frame has none."
        }
    }
}

/// The parser of the terms of a layout string.
struct BeaconLayoutTerms {
    private(set) var match: BeaconLayout.Match?
    private(set) var service: ServiceUUID?
    private(set) var identifiers: [BeaconLayout.Field] = []
    private(set) var power: BeaconLayout.Power?
    private(set) var data: [BeaconLayout.Field] = []
    private(set) var isExtra = false

    /// Parses the next term.
    mutating func add(_ term: String) throws(BeaconLayoutError) {
        if term == "x" {
            isExtra = true
            return
        }
        guard term.dropFirst().first == ":", let name = term.first else {
            throw .term(term, reason: "is none of m:, s:, i:, p:, d: and x")
        }
        let rest = term.dropFirst(2)
        switch name {
        case "m":
            guard match == nil else { throw .term(term, reason: "comes a second time") }
            let (offsets, bytes) = try Self.bytes(rest, of: term)
            match = BeaconLayout.Match(offset: offsets.lowerBound, bytes: bytes)
        case "s":
            guard service == nil else { throw .term(term, reason: "comes a second time") }
            service = try Self.service(rest, of: term)
        case "i": identifiers.append(try Self.field(rest, of: term, canVary: true))
        case "d": data.append(try Self.field(rest, of: term, canVary: false))
        case "p":
            guard power == nil else { throw .term(term, reason: "comes a second time") }
            power = try Self.power(rest, of: term)
        default: throw .term(term, reason: "is none of m:, s:, i:, p:, d: and x")
        }
    }

    private static func service(_ text: Substring, of term: String) throws(BeaconLayoutError) -> ServiceUUID {
        let (offsets, bytes) = try bytes(text, of: term)
        guard offsets.lowerBound == 0 else { throw .term(term, reason: "does not begin at 0, where a UUID stands") }
        switch bytes.count {
        case 2: return ServiceUUID(short: UInt32(bytes[0]) << 8 | UInt32(bytes[1]))
        case 16:
            func number(_ part: ArraySlice<UInt8>) -> UInt64 { part.reduce(0) { $0 << 8 | UInt64($1) } }
            return ServiceUUID(BeaconUUID(high: number(bytes[..<8]), low: number(bytes[8...])))
        default: throw .term(term, reason: "is no service UUID of 2 or 16 bytes")
        }
    }

    private static func power(_ text: Substring, of term: String) throws(BeaconLayoutError) -> BeaconLayout.Power {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let offsets = try range(parts[0], of: term)
        guard offsets.count == 1 else { throw .term(term, reason: "is longer than the one byte of a power") }
        guard parts.count == 2 else { return BeaconLayout.Power(offset: offsets.lowerBound) }
        guard let correction = Int(parts[1]), (-255...255).contains(correction) else {
            throw .term(term, reason: "has a correction that is no whole number of dB from -255 to 255")
        }
        return BeaconLayout.Power(offset: offsets.lowerBound, correction: correction)
    }

    private static func field(
        _ text: Substring, of term: String, canVary: Bool
    ) throws(BeaconLayoutError) -> BeaconLayout.Field {
        let letters = text.drop { $0.isNumber || $0 == "-" }
        let offsets = try range(text.dropLast(letters.count), of: term)
        let allowed: Set<Character> = canVary ? ["l", "v"] : ["l", "b"]
        guard letters.allSatisfy(allowed.contains), Set(letters).count == letters.count else {
            throw .term(term, reason: "ends with '\(letters)'; only \(canVary ? "l and v" : "l") may stand there")
        }
        guard !letters.contains("v") || !letters.contains("l") else {
            throw .term(term, reason: "is of variable length and low byte first, which contradict each other")
        }
        return BeaconLayout.Field(
            offsets, isLittleEndian: letters.contains("l"), isVariable: letters.contains("v"))
    }

    /// Parses a range and its bytes in hexadecimal, as in `2-3=beac`.
    private static func bytes(
        _ text: Substring, of term: String
    ) throws(BeaconLayoutError) -> (offsets: ClosedRange<Int>, bytes: [UInt8]) {
        let parts = text.split(separator: "=", omittingEmptySubsequences: false)
        guard parts.count == 2 else { throw .term(term, reason: "needs offsets and bytes, as in 2-3=beac") }
        let offsets = try range(parts[0], of: term)
        let digits = Array(parts[1].utf8)
        guard digits.count == 2 * offsets.count else {
            throw .term(term, reason: "needs \(2 * offsets.count) hexadecimal digits for its offsets")
        }
        var bytes: [UInt8] = []
        guard HexDigits.append(digits.span, to: &bytes) else {
            throw .term(term, reason: "has digits that are not hexadecimal")
        }
        return (offsets, bytes)
    }

    private static func range(_ text: Substring, of term: String) throws(BeaconLayoutError) -> ClosedRange<Int> {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.allSatisfy(\.isNumber) }), let first = Int(ends[0]),
            let last = Int(ends[1])
        else { throw .term(term, reason: "needs the offsets of its first and last byte, as in 4-19") }
        guard first <= last, last < BeaconLayout.longestPayload else {
            throw .term(term, reason: "needs offsets that rise, and end below \(BeaconLayout.longestPayload)")
        }
        return first...last
    }
}

extension String {
    /// Returns the string without spaces at both ends.
    func trimmingSpaces() -> String {
        let rest = drop { $0 == " " }
        return String(rest.prefix(rest.count - rest.reversed().prefix { $0 == " " }.count))
    }
}

/// The fields of an advertisement with a `BeaconLayout`.
public struct LayoutFrame: Hashable, Sendable {
    /// The company of the manufacturer data; nil in service data.
    public var company: UInt16?
    /// The identifiers in the order of the layout, the most significant byte of each first.
    public var identifiers: [[UInt8]]
    /// Signal strength at 1 m in dBm, with the correction of the layout; nil if the layout has no power field.
    public var measuredPower: Int?
    /// The manufacturer's own data in the order of the layout, the most significant byte of each first.
    public var data: [[UInt8]]

    /// Creates a frame from its parts without checking them.
    package init(company: UInt16? = nil, identifiers: [[UInt8]], measuredPower: Int? = nil, data: [[UInt8]] = []) {
        self.company = company
        self.identifiers = identifiers
        self.measuredPower = measuredPower
        self.data = data
    }

    /// The identity of the beacon in a venue; nil if the identifiers are empty, or longer than 20 bytes together.
    ///
    /// The bytes of all identifiers, one after the other, are the UUID (16 bytes), the major (2) and the minor (2);
    /// missing bytes are zero. For an iBeacon, the result is its UUID, major and minor. For Eddystone, the UUID is
    /// namespace and instance.
    public var identity: BeaconIdentity? {
        var bytes = Array(identifiers.joined())
        guard (1...20).contains(bytes.count) else { return nil }
        bytes += [UInt8](repeating: 0, count: 20 - bytes.count)
        func number(_ range: Range<Int>) -> UInt64 { bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }
        return BeaconIdentity(
            uuid: BeaconUUID(high: number(0..<8), low: number(8..<16)), major: UInt16(number(16..<18)),
            minor: UInt16(number(18..<20)))
    }
}

extension BeaconLayout {
    /// Returns the first frame of this layout in advertising data; nil if there is none.
    ///
    /// - Throws: `AdvertisementError` if the structure of the data is malformed.
    public func decode(_ data: Span<UInt8>) throws(AdvertisementError) -> LayoutFrame? {
        var structures = AdvertisingStructureIterator()
        var found: LayoutFrame?
        while let structure = try structures.next(in: data) {
            guard found == nil, structure.type == structureType else { continue }
            found = frame(of: data.extracting(structure.payload))
        }
        return found
    }

    /// Returns advertising data with the flags of a beacon and a frame.
    ///
    /// Bytes between the fields are zero. A frame without a company gets the company number for tests, 0xFFFF.
    /// - Throws: `BeaconLayoutError` if the layout cannot represent the frame.
    public func advertisingData(of frame: LayoutFrame) throws(BeaconLayoutError) -> [UInt8] {
        let payload = try payload(of: frame)
        return [2, AdvertisingStructure.KnownType.flags, 0x06, UInt8(payload.count + 1), structureType] + payload
    }

    /// The type of the AD structure with the fields.
    private var structureType: UInt8 {
        guard let service else { return AdvertisingStructure.KnownType.manufacturerData }
        return service.isShort ? AdvertisingStructure.KnownType.serviceData : 0x21
    }

    // MARK: - Decoding

    private func frame(of payload: Span<UInt8>) -> LayoutFrame? {
        if let service {
            let head = Array(service.bigEndianBytes.reversed())
            guard holds(payload, head, at: 0) else { return nil }
        }
        guard holds(payload, match.bytes, at: match.offset) else { return nil }
        var frame = LayoutFrame(identifiers: [])
        if service == nil, payload.count >= 2 { frame.company = UInt16(payload[1]) << 8 | UInt16(payload[0]) }
        for field in identifiers {
            guard let value = value(of: field, in: payload) else { return nil }
            frame.identifiers.append(value)
        }
        for field in data {
            guard let value = value(of: field, in: payload) else { return nil }
            frame.data.append(value)
        }
        if let power {
            guard power.offset < payload.count else { return nil }
            frame.measuredPower = Int(Int8(bitPattern: payload[power.offset])) + power.correction
        }
        return frame
    }

    private func holds(_ payload: Span<UInt8>, _ bytes: [UInt8], at offset: Int) -> Bool {
        guard offset + bytes.count <= payload.count else { return false }
        return bytes.indices.allSatisfy { payload[offset + $0] == bytes[$0] }
    }

    private func value(of field: Field, in payload: Span<UInt8>) -> [UInt8]? {
        var range = field.offsets.lowerBound..<(field.offsets.upperBound + 1)
        if field.isVariable { range = range.clamped(to: 0..<max(payload.count, field.offsets.lowerBound)) }
        guard range.upperBound <= payload.count, !range.isEmpty else { return nil }
        let bytes = range.map { payload[$0] }
        return field.isLittleEndian ? bytes.reversed() : bytes
    }

    // MARK: - Encoding

    private func payload(of frame: LayoutFrame) throws(BeaconLayoutError) -> [UInt8] {
        guard frame.identifiers.count == identifiers.count else {
            throw .count("identifiers", expected: identifiers.count, found: frame.identifiers.count)
        }
        guard frame.data.count == data.count else {
            throw .count("data fields", expected: data.count, found: frame.data.count)
        }
        let company = frame.company ?? 0xFFFF
        var bytes: [UInt8] = []
        put(
            service.map { $0.bigEndianBytes.reversed() } ?? [UInt8(company & 0xFF), UInt8(company >> 8)], at: 0,
            into: &bytes)
        put(match.bytes, at: match.offset, into: &bytes)
        for (field, value) in zip(identifiers + data, frame.identifiers + frame.data) {
            let isFitting = field.isVariable ? value.count <= field.offsets.count : value.count == field.offsets.count
            guard isFitting, !value.isEmpty else {
                let name = "\(field.offsets.lowerBound)-\(field.offsets.upperBound)"
                throw .length(field: name, expected: field.offsets.count, found: value.count)
            }
            put(field.isLittleEndian ? value.reversed() : value, at: field.offsets.lowerBound, into: &bytes)
        }
        guard let power else {
            guard frame.measuredPower == nil else { throw .power(frame.measuredPower, layout: description) }
            return bytes
        }
        guard let measured = frame.measuredPower, let byte = Int8(exactly: measured - power.correction) else {
            throw .power(frame.measuredPower, layout: description)
        }
        put([UInt8(bitPattern: byte)], at: power.offset, into: &bytes)
        return bytes
    }

    private func put(_ value: [UInt8], at offset: Int, into bytes: inout [UInt8]) {
        let end = offset + value.count
        if bytes.count < end { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
        bytes.replaceSubrange(offset..<end, with: value)
    }
}
