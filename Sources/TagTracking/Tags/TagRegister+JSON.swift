import IndoorVocabulary
import TextFormats

extension TagRegister {
    /// Creates a register from an array of objects in JSON and UTF-8.
    ///
    /// The members of an object are `key`, which is required, `name`, `power`, `class`, `aliases`, an array of strings,
    /// and `mask`, a string. A member without a value is absent or null. `TagNaming.key(of:)` lists the spellings of
    /// keys and aliases, and ``TagMask/init(_:)`` those of masks.
    ///
    /// - Parameter classes: the known classes, such as the keys of ``FleetSettings/classes``; nil to accept each name.
    /// - Throws: ``TagRegisterError`` for an invalid document, for an invalid or unknown value, and for a key or an alias of
    ///   two tags.
    public init(json: [UInt8], classes: Set<String>? = nil) throws(TagRegisterError) {
        var builder = TagRegisterBuilder(classes: classes)
        for (row, line) in try Self.rows(of: json) { try builder.add(row, line: line) }
        self = builder.register
    }

    /// Returns the entries of a document, each with its line.
    private static func rows(
        of content: [UInt8]
    ) throws(TagRegisterError) -> [(row: TagRegisterBuilder.Row, line: Int)] {
        var reader = JSONReader(content, limits: .gateway)
        // The member that is being read.
        var field: String?
        do throws(JSONReader.Failure) {
            var rows: [(row: TagRegisterBuilder.Row, line: Int)] = []
            // Counts each line once.
            var (line, counted) = (1, 0)
            try reader.enterArray()
            while try reader.nextElement() {
                line += breaks(in: content[counted..<reader.offset])
                counted = reader.offset
                rows.append((try row(&reader, &field), line))
            }
            try reader.finish()
            return rows
        } catch {
            let line = 1 + breaks(in: content.prefix(error.offset))
            throw TagRegisterError(line: line, field: field, message: "expected \(error.expected)")
        }
    }

    private static func row(
        _ reader: inout JSONReader, _ field: inout String?
    ) throws(JSONReader.Failure) -> TagRegisterBuilder.Row {
        var row = TagRegisterBuilder.Row()
        var seen: Set<String> = []
        try reader.enterObject()
        while let key = try reader.nextKey() {
            let name = try reader.text(of: key)
            let place = key.range.lowerBound
            guard TagRegisterBuilder.fields.contains(name) else {
                let known = TagRegisterBuilder.fields.joined(separator: ", ")
                throw JSONReader.Failure(offset: place, expected: "one of the members \(known), not '\(name)'")
            }
            guard seen.insert(name).inserted else {
                throw JSONReader.Failure(offset: place, expected: "each member once, not '\(name)' again")
            }
            field = name
            if try reader.kind() == .null {
                try reader.null()
                continue
            }
            switch name {
            case "key": row.key = try reader.text(of: reader.string())
            case "name": row.name = try reader.text(of: reader.string())
            case "class": row.tagClass = try reader.text(of: reader.string())
            case "power": row.power = try reader.number()
            case "mask": row.mask = try reader.text(of: reader.string())
            default:
                try reader.enterArray()
                while try reader.nextElement() { row.aliases.append(try reader.text(of: reader.string())) }
            }
            field = nil
        }
        field = nil
        return row
    }

    private static func breaks(in bytes: ArraySlice<UInt8>) -> Int { bytes.count { $0 == UInt8(ascii: "\n") } }
}
