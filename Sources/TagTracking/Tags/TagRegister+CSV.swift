import TextFormats

extension TagRegister {
    /// Creates a register from a table in CSV format (RFC 4180) and UTF-8.
    ///
    /// The first line has the names of the columns in any order: `key`, which is required, `name`, `power`, `class`,
    /// `aliases` and `mask`. An empty field is an absent value. Aliases are separated by spaces. `TagNaming.key(of:)` lists
    /// the spellings of keys and aliases, and ``TagMask/init(_:)`` those of masks.
    ///
    /// - Parameter classes: the known classes, such as the keys of ``FleetSettings/classes``; nil to accept each name.
    /// - Throws: ``TagRegisterError`` for an invalid or unknown value, and for a key or an alias of two tags.
    public init(csv: [UInt8], classes: Set<String>? = nil) throws(TagRegisterError) {
        var reader = CSVReader(csv)
        guard let header = try Self.next(&reader) else {
            throw TagRegisterError(line: 1, message: "the line with the names of the columns is missing")
        }
        let columns = header.fields.map { String($0.drop { $0 == " " }.prefix { $0 != " " }) }
        for (index, column) in columns.enumerated() {
            guard TagRegisterBuilder.fields.contains(column) else {
                let known = TagRegisterBuilder.fields.joined(separator: ",")
                throw TagRegisterError(
                    line: header.line, field: column, message: "the column is unknown; the columns are \(known)")
            }
            guard !columns[..<index].contains(column) else {
                throw TagRegisterError(line: header.line, field: column, message: "the column occurs twice")
            }
        }
        guard columns.contains("key") else {
            throw TagRegisterError(line: header.line, field: "key", message: "the column is missing")
        }
        var builder = TagRegisterBuilder(classes: classes)
        while let record = try Self.next(&reader) {
            guard record.fields.count == columns.count else {
                throw TagRegisterError(
                    line: record.line,
                    message: "the line has \(record.fields.count) fields; the first line has \(columns.count)")
            }
            var row = TagRegisterBuilder.Row()
            for (column, field) in zip(columns, record.fields) where !field.isEmpty {
                switch column {
                case "key": row.key = field
                case "name": row.name = field
                case "class": row.tagClass = field
                case "mask": row.mask = field
                case "aliases": row.aliases = field.split(separator: " ").map(String.init)
                default:
                    guard let power = Double(field), power.isFinite else {
                        throw TagRegisterError(
                            line: record.line, field: column, message: "'\(field)' isn't a number of dBm")
                    }
                    row.power = power
                }
            }
            try builder.add(row, line: record.line)
        }
        self = builder.register
    }
    private static func next(_ reader: inout CSVReader) throws(TagRegisterError) -> CSVReader.Record? {
        do { return try reader.next() } catch { throw TagRegisterError(line: error.line, message: error.message) }
    }
}
