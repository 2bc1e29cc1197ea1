import IndoorVocabulary
import TextFormats

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
