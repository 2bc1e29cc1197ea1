import IndoorVocabulary
import ScanRecording

/// The lines of a CSV file: a header, and a line for each reading.
struct CSVContent: RecordContent {
    private let settings: ForeignRecordingSettings
    private var header: CSVHeader?
    private var lastTruth: Truth?

    init(_ settings: ForeignRecordingSettings) { self.settings = settings }

    mutating func decode(_ record: [UInt8], into output: inout ForeignOutput) throws(ForeignProblem) {
        guard let header else {
            let header = try CSVHeader(record, given: settings.columns)
            if let (column, expected) = header.missing {
                throw ForeignProblem(column.rawValue, .missing(expected: expected), endsFile: true)
            }
            if header.columns[.x] != nil, header.columns[.map] == nil, settings.map == nil {
                throw ForeignProblem(
                    "map", .missing(expected: "a column with the map of x and y, or its number with --map"),
                    endsFile: true)
            }
            self.header = header
            return
        }
        let fields = try CSVLine.fields(record, separator: header.separator)
        let row = Row(header: header, fields: fields)
        let time = try row.required(.time, "a time") { ForeignTime.text($0) }
        if let truth = try truth(row, at: time) { output.add(truth, at: time) }
        guard let rssi = try row.optional(.rssi, "a number of dBm", FieldText.number) else { return }
        let beacon = try beacon(row)
        let address = try row.optional(.address, "six hexadecimal pairs", FieldText.address)
        guard beacon != nil || address != nil else {
            throw ForeignProblem(
                header.names[.identity] ?? header.names[.address], .missing(expected: "a beacon or an address"))
        }
        let data = try row.optional(.data, "pairs of hexadecimal digits", FieldText.advertisingData) ?? []
        let power = try row.optional(.power, "a number of dBm from -128 to 127") { text in
            FieldText.number(text).flatMap { (-128...127).contains($0) ? $0 : nil }
        }
        if let address, !data.isEmpty {
            output.add(nil, address, rssi: rssi, data: data, at: time)
        } else {
            output.add(beacon, address, rssi: rssi, power: power, at: time)
        }
    }

    private func beacon(_ row: Row) throws(ForeignProblem) -> BeaconIdentity? {
        if let beacon = try row.optional(.identity, "a beacon such as UUID/1/42", FieldText.identity) { return beacon }
        guard let uuid = try row.optional(.uuid, "a UUID of 32 hexadecimal digits", { BeaconUUID($0) }) else {
            return nil
        }
        return BeaconIdentity(
            uuid: uuid, major: try row.required(.major, "a number from 0 to 65535") { UInt16($0) },
            minor: try row.required(.minor, "a number from 0 to 65535") { UInt16($0) })
    }

    /// Returns the ground truth of a line; nil if the line has none, or if the same ground truth was already written.
    private mutating func truth(_ row: Row, at time: ForeignTime) throws(ForeignProblem) -> Truth? {
        let room = try row.optional(.room, "a name") { $0 }
        var truth = Truth(instant: Instant(nanoseconds: time.nanoseconds), room: room)
        if let x = try row.optional(.x, "a number of metres", FieldText.number) {
            let y = try row.required(.y, "a number of metres", FieldText.number)
            let map = try row.optional(.map, "the number of a map", FieldText.identifier).map { MapID(rawValue: $0) }
            guard let map = map ?? settings.map else {
                throw ForeignProblem(row.header.names[.map] ?? "map", .missing(expected: "the number of a map"))
            }
            (truth.mapID, truth.point) = (map, MapPoint(x: x, y: y))
        } else {
            guard room != nil else { return nil }
            // A room applies until the next ground truth.
            truth.isHold = true
            if let lastTruth, lastTruth.point == nil, lastTruth.room == room { return nil }
        }
        guard lastTruth?.instant != truth.instant || lastTruth?.point != truth.point else { return nil }
        lastTruth = truth
        return truth
    }
}

/// The fields of a line by the kind of their content.
private struct Row {
    let header: CSVHeader
    let fields: [String]

    /// Returns the value of a column; nil if the file has no such column, and for an empty field.
    func optional<Value>(
        _ column: CSVColumn, _ expected: String, _ parse: (String) -> Value?
    ) throws(ForeignProblem) -> Value? {
        guard let index = header.columns[column], index < fields.count, !fields[index].isEmpty else { return nil }
        guard let value = parse(fields[index]) else {
            throw .invalid(header.names[column] ?? column.rawValue, fields[index], expected: expected)
        }
        return value
    }

    /// Returns the value of a column that must have one.
    func required<Value>(
        _ column: CSVColumn, _ expected: String, _ parse: (String) -> Value?
    ) throws(ForeignProblem) -> Value {
        guard let value = try optional(column, expected, parse) else {
            throw ForeignProblem(header.names[column] ?? column.rawValue, .missing(expected: expected))
        }
        return value
    }
}
