import BeaconScanning
import IndoorVocabulary
import ScanRecording
import VenueModel

/// The lines of a CSV file: a header, and a line for each reading or, with a column for each beacon, for each place.
///
/// A file of WiGLE has a line about the app before its header; its lines of other radios than Bluetooth LE are left out.
/// A file of Sensor Logger has a column of manufacturer data.
/// Sources: WiGLE, api.wigle.net/csvFormat.html; K. T. H. Choi, github.com/tszheichoi/awesome-sensor-logger, `UNITS.md`,
/// *Bluetooth*.
struct CSVContent: RecordContent {
    private let settings: ForeignRecordingSettings
    private var header: CSVHeader?
    private var isWigle = false
    private var isComplete = false
    private var rows: Int64 = 0
    /// The floor of the first ground truth, if `--map` puts all of them onto one map.
    private var floor: String?

    init(_ settings: ForeignRecordingSettings) { self.settings = settings }

    /// Returns whether a line is the one that WiGLE's app writes before the header.
    static func isWigle(_ line: [UInt8]) -> Bool { line.starts(with: Array("WigleWifi-".utf8)) }

    mutating func decode(_ record: [UInt8], into output: inout ForeignOutput) throws(ForeignProblem) {
        if self.header == nil {
            guard let pattern = settings.line else {
                if let problem = CSVLine.problem(ofText: record, endsFile: true) { throw problem }
                return try begin(record)
            }
            try begin(CSVHeader(pattern))
        }
        guard let header = self.header else { return }
        let fields: [String]
        if let pattern = settings.line {
            fields = try pattern.fields(record)
        } else {
            fields = try header.fields(of: record)
        }
        if isComplete { return try decode(CSVRow(header: header, fields: fields, record: record), into: &output) }
        // The first row shows which column has the addresses.
        isComplete = true
        var complete = header
        complete.complete(with: fields, settings)
        self.header = complete
        if let (column, expected) = complete.missing(settings) {
            throw ForeignProblem(column.rawValue, .missing(expected: expected), endsFile: true)
        }
        try decode(CSVRow(header: complete, fields: fields, record: record), into: &output)
    }

    /// Reads the header, or the line of WiGLE before it.
    private mutating func begin(_ record: [UInt8]) throws(ForeignProblem) {
        if Self.isWigle(record), !isWigle {
            isWigle = true
            return
        }
        try begin(try CSVHeader(record, settings, isWigle: isWigle))
    }

    private mutating func begin(_ header: CSVHeader) throws(ForeignProblem) {
        if let (column, expected) = header.missing(settings), column != .identity {
            throw ForeignProblem(column.rawValue, .missing(expected: expected), endsFile: true)
        }
        if header.columns[.x] != nil, header.columns[.map] == nil, settings.map == nil {
            var expected = "a column with the map of x and y, or its number with --map"
            if let floor = header.floor.map({ header.fields[$0] }) {
                expected =
                    "the map of x and y: --columns map=\(floor) if \"\(floor)\" has the numbers of maps, or --map if all "
                    + "lines are on one map"
            }
            throw ForeignProblem("map", .missing(expected: expected), endsFile: true)
        }
        self.header = header
    }

    private mutating func decode(_ row: CSVRow, into output: inout ForeignOutput) throws(ForeignProblem) {
        let (header, fields) = (row.header, row.fields)
        if let radio = header.radio, radio < fields.count, fields[radio] != "BLE" {
            return output.ignore("lines of \(fields[radio].prefix(20))")
        }
        let time = try time(row)
        if let truth = try truth(row, at: time) {
            noteFloor(row, of: truth, &output)
            output.add(truth, at: time)
        }
        if !header.beacons.isEmpty { try addBeacons(row, at: time, &output) }
        guard let rssi = try row.optional(.rssi, "a number of dBm", row.number) else { return }
        var beacon = try beacon(row, &output)
        if beacon == nil, let name = settings.beacon { beacon = try named(name, "--beacon", &output) }
        let address = try row.optional(.address, "six hexadecimal pairs", FieldText.address) ?? beacon?.address
        let data = try data(of: row)
        guard beacon?.identity != nil || address != nil || header.hasData else {
            throw ForeignProblem(
                header.names[.identity] ?? header.names[.address], .missing(expected: "a beacon or an address"))
        }
        let power = try row.optional(.power, "a number of dBm from -128 to 127") { text in
            row.number(text).flatMap { (-128...127).contains($0) ? $0 : nil }
        }
        // A power from 0 dBm is that of the transmitter; no receiver measures it at 1 m.
        let measured = power.flatMap { $0 < 0 ? $0 : nil }
        if !data.isEmpty {
            output.add(advertising: data, address, rssi: rssi, at: time)
        } else {
            output.add(beacon?.identity, address, rssi: rssi, power: measured, at: time)
        }
    }

    /// Returns the advertising data of a line, or a structure with its manufacturer data.
    private func data(of row: CSVRow) throws(ForeignProblem) -> [UInt8] {
        let expected = "pairs of hexadecimal digits"
        if let data = try row.optional(.data, expected, FieldText.advertisingData) { return data }
        guard let index = row.header.manufacturer, index < row.fields.count, !row.fields[index].isEmpty else {
            return []
        }
        let name = row.header.fields[index]
        guard let bytes = FieldText.bytes(row.fields[index]) else {
            throw .invalid(name, row.fields[index], expected: expected)
        }
        var data = AdvertisingData()
        try data.append(AdvertisingStructure.KnownType.manufacturerData, bytes, name)
        return data.bytes
    }

    private mutating func time(_ row: CSVRow) throws(ForeignProblem) -> ForeignTime {
        guard row.header.columns[.time] == nil, let spacing = settings.spacing else {
            guard settings.timeFormat == nil else {
                return try row.required(.time, "a time in the form of --time-format") { text in
                    settings.timeFormat?.time(text, zoneOffset: settings.zoneOffset)
                }
            }
            return try detectedTime(row)
        }
        let (nanoseconds, overflow) = spacing.nanoseconds.multipliedReportingOverflow(by: rows)
        guard !overflow else { throw ForeignProblem("time", .timeOutOfRange) }
        rows += 1
        return ForeignTime(nanoseconds: nanoseconds, isUnix: false)
    }

    /// Returns a time whose form no setting states.
    private func detectedTime(_ row: CSVRow) throws(ForeignProblem) -> ForeignTime {
        let unit = row.header.timeFormat?.unit
        let expected =
            "a time in ISO 8601 or a number\(unit.map { " of \($0.name)" } ?? ""); give any other form with --time-format"
        var likely: String?
        let time = try row.required(.time, expected) { text in
            let text = row.hasComma ? FieldText.decimalPoint(text) : text
            if let format = row.header.timeFormat, FieldText.number(text) != nil {
                let time = format.time(text, zoneOffset: nil)
                likely = time.flatMap(format.likelyUnit)
                return time
            }
            return ForeignTime.text(text, zoneOffset: settings.zoneOffset)
                ?? ForeignTimeFormat.ctime.time(text, zoneOffset: settings.zoneOffset)
        }
        guard let likely, let unit else { return time }
        throw ForeignProblem(
            row.header.names[.time],
            .unsupported(
                "has a time that most likely counts \(likely) since 1970, not \(unit.name)",
                remedy: "Give --time-format \(likely), or --time-format \(unit.name) if the header is right"))
    }

    /// Counts a ground truth on another floor than the first one, if `--map` puts all of them onto one map.
    private mutating func noteFloor(_ row: CSVRow, of truth: Truth, _ output: inout ForeignOutput) {
        guard truth.point != nil, row.header.columns[.map] == nil, let column = row.header.floor,
            column < row.fields.count, !row.fields[column].isEmpty
        else { return }
        floor = floor ?? row.fields[column]
        guard floor != row.fields[column] else { return }
        let name = row.header.fields[column].prefix(40)
        output.ignore("values of \"\(name)\" that differ from the first one, as --map gives the map of all lines")
    }

    /// Adds the readings of a line that has a column for each beacon.
    private func addBeacons(
        _ row: CSVRow, at time: ForeignTime, _ output: inout ForeignOutput
    ) throws(ForeignProblem) {
        for column in row.header.beacons where column.index < row.fields.count {
            let (text, name) = (row.fields[column.index], column.name)
            guard !text.isEmpty, text.lowercased() != "nan" else { continue }
            guard let rssi = row.number(text) else {
                throw .invalid(name, text, expected: "a number of dBm, or no text if the beacon was not heard")
            }
            guard Sighting.isMeasurement(rssi: rssi), !settings.notHeard.contains(rssi) else { continue }
            let beacon = try named(name, name, &output)
            output.add(beacon.identity, beacon.address, rssi: rssi, at: time)
        }
    }

    private func beacon(_ row: CSVRow, _ output: inout ForeignOutput) throws(ForeignProblem) -> ForeignBeacon? {
        if let name = try row.optional(.identity, "a beacon", { $0 }) {
            return try named(name, row.header.names[.identity] ?? "identity", &output)
        }
        guard let uuid = try row.optional(.uuid, "a UUID of 32 hexadecimal digits", { BeaconUUID($0) }) else {
            return nil
        }
        return ForeignBeacon(
            identity: BeaconIdentity(
                uuid: uuid, major: try row.required(.major, "a number from 0 to 65535") { UInt16($0) },
                minor: try row.required(.minor, "a number from 0 to 65535") { UInt16($0) }))
    }

    /// Returns the beacon of a name: that of the table, an identity, an address, or a beacon that stands for a short
    /// name.
    private func named(
        _ name: String, _ field: String, _ output: inout ForeignOutput
    ) throws(ForeignProblem) -> ForeignBeacon {
        if let beacon = settings.beacons[name] { return beacon }
        if let identity = FieldText.identity(name) { return ForeignBeacon(identity: identity) }
        if let address = FieldText.address(name) { return ForeignBeacon(address: address) }
        guard settings.beacons.isEmpty else {
            throw .invalid(field, name, expected: "a name in the table of --beacons")
        }
        // A longer text is an identity with an error.
        guard name.utf8.count <= 20, name.allSatisfy({ $0.isLetter || $0.isNumber || " _-".contains($0) }) else {
            throw .invalid(field, name, expected: "a beacon such as UUID/1/42, or a name in the table of --beacons")
        }
        output.standIn(for: name)
        return ForeignBeacon(identity: VenueReceiver.identity(for: name))
    }

    var understood: [String] {
        guard let header else { return [] }
        var lines: [String] = []
        for column in CSVColumn.allCases {
            guard let name = header.names[column] else { continue }
            let unit = column == .time ? (settings.timeFormat ?? header.timeFormat)?.unit?.symbol : column.unit
            lines.append("\(column.rawValue): column \"\(name)\"\(unit.map { ", \($0)" } ?? "")")
        }
        if !header.beacons.isEmpty {
            let names = header.beacons.prefix(20).map { "\"\($0.name)\"" }
            lines.append(
                "rssi: \(header.beacons.count) columns of a beacon each, dBm: \(names.joined(separator: ", "))")
        }
        if let manufacturer = header.manufacturer {
            lines.append("manufacturer data: column \"\(header.fields[manufacturer])\"")
        }
        if !unread.isEmpty { lines.append("left out: \(unread.map { "\"\($0)\"" }.joined(separator: ", "))") }
        return lines
    }

    var unread: [String] {
        guard let header else { return [] }
        let used = Set(header.columns.values).union(header.beacons.map(\.index))
            .union([header.manufacturer, header.radio].compactMap(\.self))
        return header.fields.indices.filter { !used.contains($0) && !header.fields[$0].isEmpty }.prefix(20).map {
            index in
            String(header.fields[index].prefix(40))
        }
    }

    /// Returns the ground truth of a line; nil if the line has none.
    private func truth(_ row: CSVRow, at time: ForeignTime) throws(ForeignProblem) -> Truth? {
        let room = try row.optional(.room, "a name") { $0 }
        var truth = Truth(instant: Instant(nanoseconds: time.nanoseconds), room: room)
        let metres = "a number of metres from -1000000 to 1000000"
        if let x = try row.optional(.x, metres, row.coordinate) {
            let y = try row.required(.y, metres, row.coordinate)
            let map = try row.optional(.map, "the number of a map", FieldText.identifier).map { MapID(rawValue: $0) }
            guard let map = map ?? settings.map else {
                throw ForeignProblem(row.header.names[.map] ?? "map", .missing(expected: "the number of a map"))
            }
            (truth.mapID, truth.point) = (map, MapPoint(x: x, y: y))
            // A line without a time is a stay at one place.
            truth.isHold = row.header.columns[.time] == nil
        } else {
            guard room != nil else { return nil }
            // A room applies until the next ground truth.
            truth.isHold = true
        }
        return truth
    }
}

extension CSVColumn {
    /// The unit of the column's numbers; nil for a column of another kind.
    fileprivate var unit: String? {
        switch self {
        case .rssi, .power: "dBm"
        case .x, .y: "m"
        default: nil
        }
    }
}

/// The fields of a line by the kind of their content.
struct CSVRow {
    let header: CSVHeader
    let fields: [String]
    /// The bytes of the line.
    let record: [UInt8]

    /// Whether a number may have a comma before its decimals: a comma doesn't separate the fields.
    var hasComma: Bool { header.separator != UInt8(ascii: ",") }

    /// Returns a finite number; nil for any other text.
    func number(_ text: String) -> Double? { FieldText.number(text, hasComma: hasComma) }

    /// Returns a coordinate on a map; nil for any other text.
    func coordinate(_ text: String) -> Double? { number(text).flatMap { Truth.coordinates.contains($0) ? $0 : nil } }

    /// Returns the value of a column; nil if the file has no such column, and for an empty field.
    func optional<Value>(
        _ column: CSVColumn, _ expected: String, _ parse: (String) -> Value?
    ) throws(ForeignProblem) -> Value? {
        guard let index = header.columns[column], index < fields.count, !fields[index].isEmpty else { return nil }
        // Bytes that aren't UTF-8 matter only here: names from the air may be cut in the middle of a character.
        if fields[index].unicodeScalars.contains("\u{FFFD}"), let problem = CSVLine.problem(ofText: record) {
            throw problem
        }
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
