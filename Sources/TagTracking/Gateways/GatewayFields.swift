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

    /// Reads a number; returns nil for a value of another kind.
    mutating func numberIfAny(_ field: StaticString) throws(GatewayError) -> Double? {
        guard try kind() == .number else {
            try skip()
            return nil
        }
        return try number(field)
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

extension GatewayFields {
    /// Reads a Unix time in seconds, as a number or as a string of digits.
    ///
    /// - Parameter decimalResolution: the resolution in milliseconds of a time with decimals.
    mutating func unixSeconds(
        _ field: StaticString, decimalResolution: Int64 = 1
    ) throws(GatewayError) -> GatewayTime {
        let isText = try kind() == .string
        let start = offset
        let seconds = isText ? Double(try digits(field)) : try number(field)
        // The upper bound is the start of the year 2200.
        guard (0...7_258_118_400).contains(seconds) else {
            throw error(start, field, "seconds since 1970, up to the year 2200")
        }
        let whole = seconds.rounded(.down)
        let isWhole = seconds == whole
        // A double has a resolution below 1 µs here.
        let microseconds = Int64(((seconds - whole) * 1e6).rounded())
        return GatewayTime(
            nanoseconds: Int64(whole) * 1_000_000_000 + microseconds * 1000,
            resolution: isWhole ? .seconds(1) : .milliseconds(decimalResolution))
    }

    /// Reads a Unix time in milliseconds.
    mutating func unixMilliseconds(_ field: StaticString) throws(GatewayError) -> GatewayTime {
        let milliseconds = try integer(field, in: 0...7_258_118_400_000)
        return GatewayTime(nanoseconds: milliseconds * 1_000_000, resolution: .milliseconds(1))
    }

    /// Reads a time in the format of ISO 8601.
    mutating func isoTime(_ field: StaticString) throws(GatewayError) -> GatewayTime {
        try parsed(field, "a time such as 2020-10-19T12:32:47.485Z") { text in
            guard let (nanoseconds, decimals) = TimeText.time(text) else { return nil }
            var unit: Int64 = 1_000_000_000
            for _ in 0..<decimals { unit /= 10 }
            return GatewayTime(
                nanoseconds: nanoseconds, resolution: .nanoseconds(unit), isLocal: !TimeText.hasZone(text))
        }
    }

    private mutating func digits(_ field: StaticString) throws(GatewayError) -> Int64 {
        try parsed(field, "a number of seconds") { text in
            guard (1...18).contains(text.count) else { return nil }
            var number: Int64 = 0
            for index in text.indices {
                let digit = text[index] &- UInt8(ascii: "0")
                guard digit <= 9 else { return nil }
                number = number * 10 + Int64(digit)
            }
            return number
        }
    }
}

/// The parts of a reading while a decoder reads them.
struct TagReport {
    var address: DeviceAddress?
    /// The kind of the address, if the message states it.
    var addressKind: DeviceAddress.Kind?
    var beacon: BeaconIdentity?
    /// The name that the gateway gives the tag.
    var identifier: String?
    var name: String?
    /// The RSSI in dBm; nil if the message contains none, or one that isn't a measurement.
    var rssi: Double?
    /// The signal strength of the tag at 1 m in dBm.
    var power: Double?
    var time: GatewayTime?
    var channel: UInt8?
    var battery: TagBattery?
    /// The AD structures of the advertisement; empty if the message doesn't contain them.
    var data: [UInt8] = []
    /// The AD structures that the reading keeps.
    var keptData: [UInt8] = []

    /// Sets beacon, power, battery and name from the AD structures.
    ///
    /// Malformed data identify no beacon. They aren't an error, because the tag sent them in this form and the
    /// gateway's RSSI is valid.
    mutating func readAdvertisement() {
        guard !data.isEmpty else { return }
        if case .beacon(let frame)? = try? BeaconFrame.decode(data.span) {
            beacon = frame.beacon
            power = frame.measuredPower.map(Double.init)
        }
        if let battery = TagBattery(advertising: data) { self.battery = battery }
        guard name == nil else { return }
        var structures = AdvertisingStructureIterator()
        while let structure = try? structures.next(in: data.span) {
            guard
                structure.type == AdvertisingStructure.KnownType.completeName
                    || structure.type == AdvertisingStructure.KnownType.shortenedName, !structure.payload.isEmpty
            else { continue }
            // A tag can advertise any text as its name.
            name = String(validating: data[structure.payload], as: UTF8.self).flatMap {
                NameText.isName($0) ? $0 : nil
            }
            return
        }
    }

    /// Begins an AD structure; returns its offset for ``endStructure(_:)``.
    mutating func beginStructure(_ type: UInt8) -> Int {
        data.append(0)
        data.append(type)
        return data.count - 2
    }

    /// Writes the length of an AD structure. One of more than 255 bytes is removed, because no advertisement contains it.
    mutating func endStructure(_ start: Int) {
        let length = data.count - start - 1
        if length <= 255 { data[start] = UInt8(length) } else { data.removeSubrange(start...) }
    }

    /// Returns the reading; nil without an RSSI.
    ///
    /// - Parameter offset: the offset of the report in the message, for the error.
    /// - Throws: ``GatewayError`` if the receiver is empty, or if the report doesn't identify the tag.
    func reading(
        by receiver: String?, window: Duration = .zero, _ format: GatewayFormat, at offset: Int?
    ) throws(GatewayError) -> GatewayReading? {
        guard let rssi else { return nil }
        guard let receiver, !receiver.isEmpty else {
            throw GatewayError(format: format, offset: offset, message: "receiver: expected its name")
        }
        guard address != nil || beacon != nil || identifier != nil || name != nil else {
            throw GatewayError(format: format, offset: offset, message: "tag: expected its address or its beacon")
        }
        var address = address
        if let addressKind { address?.kind = addressKind }
        var reading = GatewayReading(
            receiver: receiver, address: address, beacon: beacon, identifier: identifier, name: name, rssi: rssi,
            window: window, time: time, channel: channel, measuredPower: power)
        if !keptData.isEmpty { reading.advertisingData = keptData }
        reading.battery = battery
        return reading
    }
}
