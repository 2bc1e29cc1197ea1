import BeaconScanning
import IndoorVocabulary
import TagTracking
import TextFormats

/// Conversion of the fields of text formats.
enum FieldText {
    /// Returns a finite number with a point or, if `hasComma`, a comma before its decimals; nil for any other text.
    static func number(_ text: some StringProtocol, hasComma: Bool) -> Double? {
        number(hasComma ? decimalPoint(text) : String(text))
    }

    /// Returns a text with points in place of its commas.
    static func decimalPoint(_ text: some StringProtocol) -> String { String(text.map { $0 == "," ? "." : $0 }) }

    /// Returns a finite number; nil for any other text.
    static func number(_ text: some StringProtocol) -> Double? {
        guard let number = Double(String(text)), number.isFinite else { return nil }
        return number
    }

    /// Returns an address of six hexadecimal pairs, with or without colons or hyphens; nil for any other text.
    static func address(_ text: some StringProtocol) -> DeviceAddress? { HexText.address(Array(text.utf8).span) }

    /// Returns the bytes of pairs of hexadecimal digits; nil for any other text.
    static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        return HexDigits.append(Array(text.utf8).span, to: &bytes) ? bytes : nil
    }

    /// Returns the bytes of advertising data that doesn't exceed the maximum length; nil for any other text.
    static func advertisingData(_ text: some StringProtocol) -> [UInt8]? {
        bytes(text).flatMap { $0.count <= AdvertisingReassembler.maximumLength ? $0 : nil }
    }

    /// Returns the number of a map, which must be exact as a double; nil for any other text.
    static func identifier(_ text: some StringProtocol) -> Int? {
        Int(String(text)).flatMap { (-(1 << 53)...(1 << 53)).contains($0) ? $0 : nil }
    }

    /// Returns the beacon of UUID, major and minor, or of namespace and instance, with `/`, `-` or `_` between them, or
    /// of the 40 digits of an AltBeacon; nil for any other text.
    static func identity(_ text: some StringProtocol) -> BeaconIdentity? {
        let text = String(text)
        let parts = text.split(maxSplits: .max, omittingEmptySubsequences: false) { "/-_".contains($0) }
        if parts.count == 2 {
            return BeaconIdentity(eddystoneNamespace: String(parts[0]), instance: String(parts[1]))
        }
        if parts.count == 1 { return BeaconIdentity(altBeaconID: text) }
        guard parts.count >= 3, let minor = UInt16(parts[parts.count - 1]), let major = UInt16(parts[parts.count - 2]),
            let uuid = BeaconUUID(String(text.dropLast(parts.suffix(2).reduce(2) { $0 + $1.count })))
        else { return nil }
        return BeaconIdentity(uuid: uuid, major: major, minor: minor)
    }
}

/// A time as a file states it.
package struct ForeignTime: Hashable, Sendable {
    /// Nanoseconds since the zero point of the file's clock.
    package var nanoseconds: Int64
    /// Whether the zero point is that of Unix, 1970-01-01 UTC.
    package var isUnix: Bool

    /// Returns the time in a text: ISO 8601, or a number whose magnitude determines its unit.
    ///
    /// A number from 10^17 counts nanoseconds, from 10^14 microseconds, from 10^11 milliseconds, and below that
    /// seconds. A number from 10^8, which is 1973 in seconds, counts since 1970. A time without a zone is local.
    ///
    /// - Parameter zoneOffset: returns the offset from UTC in seconds of a local time; nil for UTC.
    static func text(
        _ text: some StringProtocol, zoneOffset: (@Sendable (Int64) -> Int64)? = nil
    ) -> ForeignTime? {
        let bytes = Array(text.utf8)
        if bytes.count > 10, bytes[4] == UInt8(ascii: "-") {
            guard let (nanoseconds, _) = TimeText.time(bytes.span) else { return nil }
            let time = ForeignTime(nanoseconds: nanoseconds, isUnix: true)
            return TimeText.hasZone(bytes.span) ? time : ForeignTimeFormat.local(time, zoneOffset)
        }
        guard let number = FieldText.number(text) else { return nil }
        let size = number.magnitude
        let decimals = size >= 1e17 ? 0 : size >= 1e14 ? 3 : size >= 1e11 ? 6 : 9
        guard let nanoseconds = nanoseconds(bytes, unit: decimals) else { return nil }
        return ForeignTime(nanoseconds: nanoseconds, isUnix: size >= 1e8)
    }

    /// Returns a decimal number as nanoseconds; nil for any other text, and beyond ±292 years.
    ///
    /// - Parameter unit: the power of ten of the number's unit in nanoseconds, such as 9 for seconds.
    static func nanoseconds(_ text: [UInt8], unit: Int) -> Int64? {
        var (value, decimals) = (Int64(0), 0)
        var (hasPoint, hasDigit) = (false, false)
        for (index, byte) in text.enumerated() {
            if byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+"), index == 0 { continue }
            if byte == UInt8(ascii: "."), !hasPoint {
                hasPoint = true
                continue
            }
            let digit = byte &- UInt8(ascii: "0")
            guard digit <= 9 else { return scientific(text, unit: unit) }
            hasDigit = true
            guard !hasPoint || decimals < unit else { continue }
            if hasPoint { decimals += 1 }
            guard let next = multiplied(value, by: 10, plus: Int64(digit)) else { return nil }
            value = next
        }
        guard hasDigit else { return nil }
        for _ in decimals..<unit {
            guard let next = multiplied(value, by: 10, plus: 0) else { return nil }
            value = next
        }
        return text.first == UInt8(ascii: "-") ? -value : value
    }

    /// Returns a number with an exponent as nanoseconds, with the precision of a double.
    private static func scientific(_ text: [UInt8], unit: Int) -> Int64? {
        guard var number = FieldText.number(String(decoding: text, as: UTF8.self)) else { return nil }
        for _ in 0..<unit { number *= 10 }
        return number.magnitude < 9.2e18 ? Int64(number.rounded()) : nil
    }

    private static func multiplied(_ value: Int64, by factor: Int64, plus term: Int64) -> Int64? {
        let (product, overflow) = value.multipliedReportingOverflow(by: factor)
        let (sum, carry) = product.addingReportingOverflow(term)
        return overflow || carry ? nil : sum
    }
}
