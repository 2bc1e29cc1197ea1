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
        return keys.firstIndex(of: key).map { values[$0] }
    }
}
