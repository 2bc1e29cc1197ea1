/// The columns of a CSV file by the kind of their content.
struct CSVHeader: Hashable, Sendable {
    /// The maximum number of columns.
    static let maximumColumns = 1000

    /// The number of each column from 0.
    private(set) var columns: [CSVColumn: Int] = [:]
    /// The name of each column in the file.
    private(set) var names: [CSVColumn: String] = [:]
    /// The separator of the fields.
    let separator: UInt8

    /// Finds the columns in the first line of a file.
    ///
    /// - Parameter given: the name of a column in the file; it takes precedence over the known names.
    init(_ line: [UInt8], given: [CSVColumn: String]) throws(ForeignProblem) {
        separator = CSVLine.separator(of: line)
        let fields = try CSVLine.fields(line, separator: separator)
        guard fields.count <= Self.maximumColumns else {
            throw ForeignProblem(nil, .tooMany(what: "columns", limit: Self.maximumColumns), endsFile: true)
        }
        let plain = fields.map { $0.lowercased().filter { $0.isLetter || $0.isNumber } }
        for column in CSVColumn.allCases {
            if let name = given[column] {
                guard let index = fields.firstIndex(of: name) else {
                    throw ForeignProblem(
                        name, .missing(expected: "a column of this name in \(Self.list(fields))"), endsFile: true)
                }
                (columns[column], names[column]) = (index, fields[index])
            }
        }
        let taken = Set(columns.values)
        for column in CSVColumn.allCases where columns[column] == nil {
            let found = column.names.lazy.compactMap { name in
                plain.indices.first { plain[$0] == name && !taken.contains($0) }
            }.first
            if let found { (columns[column], names[column]) = (found, fields[found]) }
        }
    }

    /// Whether the line can be the header of a recording: it has a time, an RSSI and an identification of the
    /// transmitter.
    var isComplete: Bool { missing == nil }

    /// The first required column that is missing; nil if none is.
    var missing: (column: CSVColumn, expected: String)? {
        if columns[.time] == nil { return (.time, "a column with the time, such as \"time\"; name it with --columns") }
        let hasTruth = columns[.x] != nil && columns[.y] != nil || columns[.room] != nil
        if columns[.rssi] == nil, !hasTruth {
            return (.rssi, "a column with the signal strength, such as \"rssi\"; name it with --columns")
        }
        let hasBeacon = columns[.uuid] != nil && columns[.major] != nil && columns[.minor] != nil
        if columns[.rssi] != nil, !hasBeacon, columns[.identity] == nil, columns[.address] == nil {
            return (
                .identity,
                "columns with \"uuid\", \"major\" and \"minor\", \"identity\" or \"mac\"; name them with --columns"
            )
        }
        return nil
    }

    private static func list(_ fields: [String]) -> String {
        fields.prefix(20).map { "\"\($0.prefix(40))\"" }.joined(separator: ", ")
    }
}
