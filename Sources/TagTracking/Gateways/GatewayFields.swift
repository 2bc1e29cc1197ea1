import BeaconScanning
import IndoorVocabulary
import TextFormats

/// A reader of the fields of a gateway's JSON message. Each error names the field.
struct GatewayFields {
    let format: GatewayFormat
    private var json: JSONReader

    init(_ payload: [UInt8], _ format: GatewayFormat) {
        self.format = format
        json = JSONReader(payload, limits: .gateway)
    }

    /// The offset of the next byte.
    var offset: Int { json.offset }

    // MARK: - Structure

    mutating func enterObject(_ field: StaticString) throws(GatewayError) {
        do { try json.enterObject() } catch { throw failure(field, error) }
    }

    mutating func enterArray(_ field: StaticString) throws(GatewayError) {
        do { try json.enterArray() } catch { throw failure(field, error) }
    }

    mutating func nextKey() throws(GatewayError) -> JSONString? {
        do { return try json.nextKey() } catch { throw failure("message", error) }
    }

    mutating func nextElement() throws(GatewayError) -> Bool {
        do { return try json.nextElement() } catch { throw failure("message", error) }
    }

    mutating func kind() throws(GatewayError) -> JSONKind {
        do { return try json.kind() } catch { throw failure("message", error) }
    }

    mutating func skip() throws(GatewayError) {
        do { try json.skipValue() } catch { throw failure("message", error) }
    }

    mutating func finish() throws(GatewayError) {
        do { try json.finish() } catch { throw failure("message", error) }
    }

    @inline(__always)
    func matches(_ key: JSONString, _ word: StaticString) -> Bool {
        // Most words differ in length from the key. This check is cheaper than a call into the other module.
        (key.hasEscapes || key.range.count == word.utf8CodeUnitCount) && json.matches(key, word)
    }

    // MARK: - Texts

    mutating func string(_ field: StaticString) throws(GatewayError) -> JSONString {
        do { return try json.string() } catch { throw failure(field, error) }
    }

    func text(of string: JSONString, _ field: StaticString) throws(GatewayError) -> String {
        do { return try json.text(of: string) } catch { throw failure(field, error) }
    }

    /// Reads the name that a tag advertises; returns nil for an empty or invalid name.
    ///
    /// A tag can advertise any text, so an invalid name isn't an error of the reading.
    mutating func tagName(_ field: StaticString) throws(GatewayError) -> String? { tagName(of: try string(field)) }

    /// Returns the name that a tag advertises; nil for an empty or invalid name.
    func tagName(of string: JSONString) -> String? {
        guard let text = try? json.text(of: string), NameText.isName(text) else { return nil }
        return text
    }

    /// Reads a text; returns nil for an empty one.
    mutating func text(_ field: StaticString) throws(GatewayError) -> String? {
        let text = try text(of: try string(field), field)
        return text.isEmpty ? nil : text
    }

    func withBytes<Result>(of string: JSONString, _ body: (Span<UInt8>) -> Result) -> Result {
        json.withBytes(of: string, body)
    }

    /// Reads a string with a parser of its bytes, which returns nil for an invalid one.
    mutating func parsed<Result>(
        _ field: StaticString, _ expected: StaticString, _ body: (Span<UInt8>) -> Result?
    ) throws(GatewayError) -> Result {
        let string = try string(field)
        guard let result = json.withBytes(of: string, body) else {
            throw error(string.range.lowerBound, field, "\(expected)")
        }
        return result
    }

    mutating func address(_ field: StaticString) throws(GatewayError) -> DeviceAddress {
        try parsed(field, "an address of 12 hexadecimal digits, with or without colons") { HexText.address($0) }
    }

    mutating func uuid(_ field: StaticString) throws(GatewayError) -> BeaconUUID {
        try parsed(field, "a UUID of 32 hexadecimal digits") { HexText.uuid($0) }
    }

    /// Appends the bytes of a text in hexadecimal digits.
    mutating func hex(_ field: StaticString, to data: inout [UInt8]) throws(GatewayError) {
        let string = try string(field)
        guard withBytes(of: string, { HexDigits.append($0, to: &data) }) else {
            throw error(string.range.lowerBound, field, "pairs of hexadecimal digits")
        }
    }

    // MARK: - Numbers

    mutating func bool(_ field: StaticString) throws(GatewayError) -> Bool {
        do { return try json.bool() } catch { throw failure(field, error) }
    }

    mutating func number(_ field: StaticString) throws(GatewayError) -> Double {
        do { return try json.number() } catch { throw failure(field, error) }
    }

    /// Reads an integer within a range.
    mutating func integer(_ field: StaticString, in range: ClosedRange<Int64>) throws(GatewayError) -> Int64 {
        _ = try kind()
        let start = json.offset
        let value: Int64
        do { value = try json.integer() } catch { throw failure(field, error) }
        guard range.contains(value) else {
            throw error(start, field, "an integer from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    /// Reads major or minor.
    mutating func number16(_ field: StaticString) throws(GatewayError) -> UInt16 {
        UInt16(truncatingIfNeeded: try integer(field, in: 0...65_535))
    }

    /// Reads a signal strength in dBm; returns nil for a value that means "not available".
    ///
    /// These values are 0 and above, because gateways send 0 for a tag that is gone and 127 for a missing measurement,
    /// and −128, which some controllers send.
    mutating func signalStrength(_ field: StaticString) throws(GatewayError) -> Double? {
        _ = try kind()
        let start = json.offset
        let value = try number(field)
        guard value >= -128 else { throw error(start, field, "a signal strength from -128 dBm") }
        return Sighting.isMeasurement(rssi: value) ? value : nil
    }

    /// Reads the number of a channel; returns nil for a channel that isn't an advertising channel.
    mutating func channel(_ field: StaticString) throws(GatewayError) -> UInt8? {
        let channel = try integer(field, in: 0...39)
        return channel >= 37 ? UInt8(truncatingIfNeeded: channel) : nil
    }

    // MARK: - Errors

    func error(_ offset: Int?, _ field: StaticString, _ expected: String) -> GatewayError {
        GatewayError(format: format, offset: offset, message: "\(field): expected \(expected)")
    }

    private func failure(_ field: StaticString, _ failure: JSONReader.Failure) -> GatewayError {
        error(failure.offset, field, failure.expected)
    }
}

extension GatewayFields {
    /// Returns the readings of a message that is an object, or an array of objects.
    ///
    /// - Parameter read: reads one object, and appends its readings.
    static func readings(
        of payload: [UInt8], _ format: GatewayFormat,
        _ read: (inout GatewayFields, inout [GatewayReading]) throws(GatewayError) -> Void
    ) throws(GatewayError) -> [GatewayReading] {
        var fields = GatewayFields(payload, format)
        var readings: [GatewayReading] = []
        if try fields.kind() == .array {
            try fields.enterArray("message")
            while try fields.nextElement() { try read(&fields, &readings) }
        } else {
            try read(&fields, &readings)
        }
        try fields.finish()
        return readings
    }
}
