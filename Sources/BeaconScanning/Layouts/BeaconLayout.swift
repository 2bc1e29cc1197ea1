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
