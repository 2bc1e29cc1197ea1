import IndoorVocabulary
import TextFormats

/// The columns of a CSV file by the kind of their content.
struct CSVHeader: Hashable, Sendable {
    /// The maximum number of columns.
    static let maximumColumns = 1000

    /// A column with the signal strength of one beacon.
    struct BeaconColumn: Hashable, Sendable {
        /// The number of the column from 0.
        let index: Int
        /// The name of the beacon.
        let name: String
    }

    /// The number of each column from 0.
    private(set) var columns: [CSVColumn: Int] = [:]
    /// The name of each column in the file.
    private(set) var names: [CSVColumn: String] = [:]
    /// The columns that each have the signal strength of one beacon, from left to right.
    private(set) var beacons: [BeaconColumn] = []
    /// The column with the kind of radio in a file of WiGLE; nil in other files.
    private(set) var radio: Int?
    /// The column with manufacturer data after the AD type, as Sensor Logger writes it; nil in other files.
    private(set) var manufacturer: Int?
    /// The form of the times by the unit in their header; nil if it states none.
    private(set) var timeFormat: ForeignTimeFormat?
    /// The column that has the floor by its header, and isn't read as another one; nil without such a column.
    private(set) var floor: Int?
    /// All headers.
    let fields: [String]
    /// The separator of the fields.
    let separator: UInt8

    /// Finds the columns in the first line of a file.
    ///
    /// - Parameter isWigle: whether the line follows the line of WiGLE that states the app.
    init(_ line: [UInt8], _ settings: ForeignRecordingSettings, isWigle: Bool = false) throws(ForeignProblem) {
        separator = CSVLine.separator(of: line)
        fields = try CSVLine.fields(line, separator: separator)
        guard fields.count <= Self.maximumColumns else {
            throw ForeignProblem(nil, .tooMany(what: "columns", limit: Self.maximumColumns), endsFile: true)
        }
        for column in CSVColumn.allCases {
            if let name = settings.columns[column] {
                let index = try index(of: name)
                (columns[column], names[column]) = (index, fields[index])
            }
        }
        // Both letters for the Greek mu of a unit.
        let plain = fields.map { field in
            String(field.lowercased().filter { $0.isLetter || $0.isNumber }.map { "µμ".contains($0) ? "u" : $0 })
        }
        let taken = Set(columns.values)
        for column in CSVColumn.allCases where columns[column] == nil {
            let found = column.names.lazy.compactMap { name in
                plain.indices.first { plain[$0] == name && !taken.contains($0) }
            }.first
            if let found { (columns[column], names[column]) = (found, fields[found]) }
        }
        timeFormat = names[.time].flatMap(ForeignTimeFormat.init(header:))
        floor = fields.indices.first { index in
            let word = fields[index].lowercased().split { !$0.isLetter }.first ?? ""
            return ["floor", "level", "storey"].contains(word) && !columns.values.contains(index)
        }
        if isWigle { radio = plain.firstIndex(of: "type") }
        manufacturer = plain.firstIndex(of: "manufacturerdata")
        if let given = settings.beaconColumns {
            var found: [Int: String] = [:]
            for name in given { found[try index(of: name)] = name }
            setBeacons(found)
        } else if columns[.rssi] == nil {
            findBeacons(settings)
        }
    }

    /// Creates the columns of lines without a header.
    init(_ pattern: LinePattern) {
        fields = pattern.names
        // No comma separates the fields, so a comma may stand before decimals.
        separator = UInt8(ascii: ";")
        for (index, column) in pattern.columns.enumerated() {
            if let column { (columns[column], names[column]) = (index, column.rawValue) }
        }
    }

    private func index(of name: String) throws(ForeignProblem) -> Int {
        guard let index = fields.firstIndex(of: name) else {
            throw ForeignProblem(name, .missing(expected: "a column of this name in \(list)"), endsFile: true)
        }
        return index
    }

    private mutating func setBeacons(_ names: [Int: String]) {
        beacons = names.sorted { $0.key < $1.key }.map { BeaconColumn(index: $0.key, name: $0.value) }
    }

    /// Finds columns whose headers are beacons: an identity, an address, a name that the settings know, or at least two
    /// headers of the same letters with different numbers.
    private mutating func findBeacons(_ settings: ForeignRecordingSettings) {
        var found: [Int: String] = [:]
        var numbered: [Substring: [Int]] = [:]
        let taken = Set(columns.values)
        for (index, field) in fields.enumerated() where !taken.contains(index) && !field.isEmpty {
            if settings.beacons[field] != nil || FieldText.address(field) != nil || FieldText.identity(field) != nil {
                found[index] = field
            } else {
                let number = field.reversed().prefix { $0.isASCII && $0.isNumber }.count
                let word = field.dropLast(number)
                if number > 0, (1...20).contains(word.count), word.allSatisfy({ !$0.isNumber }) {
                    numbered[word, default: []].append(index)
                }
            }
        }
        if let most = numbered.values.max(by: { ($0.count, $1[0]) < ($1.count, $0[0]) }), most.count > 1 {
            for index in most { found[index] = fields[index] }
        }
        setBeacons(found)
    }

    /// Finds the column whose field in the first row is an address, if nothing else identifies the transmitter.
    mutating func complete(with row: [String], _ settings: ForeignRecordingSettings) {
        guard columns[.rssi] != nil, !hasIdentity(settings) else { return }
        let taken = Set(columns.values)
        guard
            let found = fields.indices.first(where: { index in
                index < row.count && !taken.contains(index) && FieldText.address(row[index]) != nil
            })
        else { return }
        (columns[.address], names[.address]) = (found, fields[found])
    }

    /// Whether a line may have advertising data, which can identify the transmitter.
    var hasData: Bool { columns[.data] != nil || manufacturer != nil }

    private func hasIdentity(_ settings: ForeignRecordingSettings) -> Bool {
        settings.beacon != nil || columns[.identity] != nil || columns[.address] != nil
            || columns[.uuid] != nil && columns[.major] != nil && columns[.minor] != nil
    }

    /// The first required column that is missing; nil if none is.
    func missing(_ settings: ForeignRecordingSettings) -> (column: CSVColumn, expected: String)? {
        if columns[.time] == nil, settings.spacing == nil {
            return (
                .time,
                "a column with the time, such as \"time\"; name it with --columns, or give the time between lines "
                    + "with --spacing"
            )
        }
        let hasTruth = columns[.x] != nil && columns[.y] != nil || columns[.room] != nil
        if columns[.rssi] == nil, beacons.isEmpty, !hasTruth {
            return (
                .rssi,
                "a column with the signal strength, such as \"rssi\", or a column for each beacon; name them with "
                    + "--columns or --beacon-columns"
            )
        }
        if columns[.rssi] != nil, beacons.isEmpty, !hasData, !hasIdentity(settings) {
            return (
                .identity,
                "columns with \"uuid\", \"major\" and \"minor\", \"identity\" or \"mac\"; name them with --columns, or "
                    + "the only beacon of the file with --beacon"
            )
        }
        return nil
    }

    /// Returns the fields of a line below the header.
    ///
    /// - Throws: `ForeignProblem` if the line has more fields than the header, such as for decimals with a comma.
    func fields(of line: [UInt8]) throws(ForeignProblem) -> [String] {
        let found = try CSVLine.fields(line, separator: separator)
        guard found.dropFirst(fields.count).contains(where: { !$0.isEmpty }) else { return found }
        let isComma = separator == UInt8(ascii: ",")
        throw ForeignProblem(
            nil,
            .unsupported(
                "has \(found.count) fields, but the header has \(fields.count)",
                remedy: isComma
                    ? "Write decimals with a point, or separate the fields by semicolons"
                    : "Put a field that contains the separator into quotes"))
    }

    /// The headers in words.
    var list: String { fields.prefix(20).map { "\"\($0.prefix(40))\"" }.joined(separator: ", ") }
}

extension LinePattern {
    /// Returns the fields of a line, without white space around them.
    func fields(_ line: [UInt8]) throws(ForeignProblem) -> [String] {
        var fields: [String] = []
        var rest = line[...]
        guard rest.starts(with: texts[0]) else {
            let text = String(decoding: texts[0].prefix(40), as: UTF8.self)
            throw ForeignProblem(nil, .malformed("expected \"\(text)\" at its beginning, as --line has it"))
        }
        rest = rest.dropFirst(texts[0].count)
        for (column, text) in zip(columns, texts.dropFirst()) {
            guard let end = Self.end(of: rest, before: text, isLast: fields.count + 1 == columns.count) else {
                throw Self.mismatch(column?.rawValue, text)
            }
            let field = String(decoding: rest[..<end], as: UTF8.self)
            fields.append(String(CSVText.trimmed(field[...])))
            rest = rest[end...].dropFirst(text.count)
        }
        return fields
    }

    /// Returns the end of a field before a text; nil if the text doesn't follow.
    private static func end(of line: ArraySlice<UInt8>, before text: [UInt8], isLast: Bool) -> Int? {
        if isLast {
            let end = line.endIndex - text.count
            return end >= line.startIndex && line[end...].elementsEqual(text) ? end : nil
        }
        guard let first = text.first else { return nil }
        return line.indices.first { line[$0] == first && line[$0...].starts(with: text) }
    }

    private static func mismatch(_ field: String?, _ text: [UInt8]) -> ForeignProblem {
        let text = String(decoding: text.prefix(40), as: UTF8.self)
        return ForeignProblem(field, .malformed("expected \"\(text)\" behind it, as --line has it"))
    }
}
