import IndoorVocabulary
import TextFormats

/// The known tags of a fleet.
package struct TagRegister: Hashable, Sendable {
    /// A known tag.
    package struct Entry: Hashable, Sendable {
        /// The key of the tag.
        package var key: TagKey
        /// The other names by which gateways report the tag.
        package var aliases: [TagKey]
        /// The display name; nil for the key.
        package var name: String?
        /// The signal strength of the tag at 1 m in dBm; nil if unknown.
        package var power: Double?
        /// The class of the tag, a key of ``FleetSettings/classes``; nil for the default.
        package var tagClass: String?
        /// The bits that identify the tag in the beacons among the key and the aliases; nil for all.
        package var mask: TagMask?

        /// Creates an entry.
        package init(
            key: TagKey, aliases: [TagKey] = [], name: String? = nil, power: Double? = nil,
            tagClass: String? = nil, mask: TagMask? = nil
        ) {
            self.key = key
            self.aliases = aliases
            self.name = name
            self.power = power
            self.tagClass = tagClass
            self.mask = mask
        }
    }

    /// The entries by key. Keys and aliases don't contain the kind of an address, see ``TagKey/canonical``.
    package private(set) var entries: [TagKey: Entry] = [:]

    /// Creates a register. Of several entries with the same key, the last one is kept.
    package init(_ entries: [Entry] = []) {
        for var entry in entries {
            entry.key = entry.key.canonical
            entry.aliases = entry.aliases.map(\.canonical)
            self.entries[entry.key] = entry
        }
    }
}

/// The reason why a register, or a file with rules of alerts, is invalid.
package struct TagFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The line, from 1.
    package var line: Int
    /// The column of the table or the member of the object; nil if the error concerns the whole line or object.
    package var field: String?
    /// The error in words, with the value and what is expected.
    package var message: String

    /// Creates an error.
    package init(line: Int, field: String? = nil, message: String) {
        self.line = line
        self.field = field
        self.message = message
    }

    package var description: String { "line \(line)\(field.map { ", \($0)" } ?? ""): \(message)" }
}

/// The rules for the entries of a register file, which are the same in each format.
struct TagRegisterBuilder {
    /// The members of an entry as the file spells them.
    struct Row {
        var key = ""
        var name: String?
        var power: Double?
        var tagClass: String?
        var aliases: [String] = []
        var mask: String?
    }

    /// The names of the members, in the order of a table.
    static let fields = ["key", "name", "power", "class", "aliases", "mask"]
    /// The valid powers at 1 m in dBm: those of an RSSI that a receiver measures, and some dB above for strong tags.
    static let powers = -127.0...20.0

    /// The known classes; nil to accept each name.
    let classes: Set<String>?
    private var entries: [TagRegister.Entry] = []
    /// The line and the index of the entry with each key and alias.
    private var owners: [TagKey: (line: Int, entry: Int)] = [:]
    private var beacons = MaskedBeacons()

    init(classes: Set<String>?) { self.classes = classes }

    /// The register of the rows so far.
    var register: TagRegister { TagRegister(entries) }

    /// Adds the entry of a row.
    mutating func add(_ row: Row, line: Int) throws(TagFileError) {
        let key = try claim(row.key, "key", line)
        var aliases: [TagKey] = []
        for text in row.aliases {
            let alias = try claim(text, "aliases", line)
            // Accept two spellings of the same name on a line.
            if alias != key, !aliases.contains(alias) { aliases.append(alias) }
        }
        if let power = row.power, !Self.powers.contains(power) {
            let range = "\(Int(Self.powers.lowerBound)) to \(Int(Self.powers.upperBound))"
            throw TagFileError(
                line: line, field: "power", message: "\(power) isn't a power in dBm from \(range)")
        }
        if let tagClass = row.tagClass, let classes, !classes.contains(tagClass) {
            let known = classes.sorted().joined(separator: ", ")
            throw TagFileError(
                line: line, field: "class", message: "the class '\(tagClass)' is unknown; use one of: \(known)")
        }
        let mask = try mask(of: row, [key] + aliases, line)
        entries.append(
            TagRegister.Entry(
                key: key, aliases: aliases, name: row.name, power: row.power, tagClass: row.tagClass, mask: mask))
    }

    /// Returns the mask of a row, and checks that no other line has the same beacon under the masks.
    private mutating func mask(of row: Row, _ names: [TagKey], _ line: Int) throws(TagFileError) -> TagMask? {
        func failure(_ message: String) -> TagFileError {
            TagFileError(line: line, field: "mask", message: message)
        }
        let mask = row.mask.flatMap { TagMask($0) }
        if let text = row.mask, mask == nil {
            throw failure(
                "'\(text.prefix(40))' isn't a mask; write the bits that identify the tag as 0xFF00 for the minor, or as "
                    + "0xFFFF/0xFF00 for the major and the minor")
        }
        let beacons = names.compactMap { if case .beacon(let beacon) = $0 { beacon } else { nil } }
        if let mask {
            guard !beacons.isEmpty else {
                throw failure("a mask needs a beacon, UUID-MAJOR-MINOR, as the key or an alias of the tag")
            }
            guard !self.beacons.exceedsLimit(with: mask) else {
                throw failure(
                    "the register has more than \(MaskedBeacons.limit) masks; use the same ones for more tags")
            }
        }
        for beacon in beacons {
            guard let other = self.beacons.add(beacon, mask ?? .all, (line, entries.count)) else { continue }
            throw failure(
                "\(beacon) and a beacon on line \(other.line) are the same tag, as they differ only in bits that a mask "
                    + "leaves out; change a mask, or join the lines")
        }
        return mask
    }

    /// Returns the key for a name, and checks that no other line uses it.
    private mutating func claim(_ text: String, _ field: String, _ line: Int) throws(TagFileError) -> TagKey {
        guard let key = TagNaming.key(of: text) else {
            let reason =
                text.allSatisfy({ $0 == " " })
                ? "the name of the tag is missing"
                : "'\(text.prefix(40))' isn't a name; use at most \(TagNaming.longestName) bytes without control characters"
            throw TagFileError(line: line, field: field, message: reason)
        }
        // A JSON document can have several entries on a line.
        if let owner = owners[key], owner.entry != entries.count {
            throw TagFileError(
                line: line, field: field, message: "\(key) is already a name of the tag on line \(owner.line)")
        }
        owners[key] = (line, entries.count)
        return key
    }
}

extension TagRegister {
    /// Creates a register from an array of objects in JSON and UTF-8.
    ///
    /// The members of an object are `key`, which is required, `name`, `power`, `class`, `aliases`, an array of strings,
    /// and `mask`, a string. A member without a value is absent or null. `TagNaming.key(of:)` lists the spellings of
    /// keys and aliases, and ``TagMask/init(_:)`` those of masks.
    ///
    /// - Parameter classes: the known classes, such as the keys of ``FleetSettings/classes``; nil to accept each name.
    /// - Throws: ``TagFileError`` for an invalid document, for an invalid or unknown value, and for a key or an alias of
    ///   two tags.
    package init(json: [UInt8], classes: Set<String>? = nil) throws(TagFileError) {
        var builder = TagRegisterBuilder(classes: classes)
        for (row, line) in try Self.rows(of: json) { try builder.add(row, line: line) }
        self = builder.register
    }

    /// Returns the entries of a document, each with its line.
    private static func rows(
        of content: [UInt8]
    ) throws(TagFileError) -> [(row: TagRegisterBuilder.Row, line: Int)] {
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
            throw TagFileError(line: line, field: field, message: "expected \(error.expected)")
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

extension TagRegister {
    /// Creates a register from a table in CSV format (RFC 4180) and UTF-8.
    ///
    /// The first line has the names of the columns in any order: `key`, which is required, `name`, `power`, `class`,
    /// `aliases` and `mask`. An empty field is an absent value. Aliases are separated by spaces. `TagNaming.key(of:)` lists
    /// the spellings of keys and aliases, and ``TagMask/init(_:)`` those of masks.
    ///
    /// - Parameter classes: the known classes, such as the keys of ``FleetSettings/classes``; nil to accept each name.
    /// - Throws: ``TagFileError`` for an invalid or unknown value, and for a key or an alias of two tags.
    package init(csv: [UInt8], classes: Set<String>? = nil) throws(TagFileError) {
        var reader = CSVReader(csv)
        guard let header = try Self.next(&reader) else {
            throw TagFileError(line: 1, message: "the line with the names of the columns is missing")
        }
        let columns = header.fields.map { String($0.drop { $0 == " " }.prefix { $0 != " " }) }
        for (index, column) in columns.enumerated() {
            guard TagRegisterBuilder.fields.contains(column) else {
                let known = TagRegisterBuilder.fields.joined(separator: ",")
                throw TagFileError(
                    line: header.line, field: column, message: "the column is unknown; the columns are \(known)")
            }
            guard !columns[..<index].contains(column) else {
                throw TagFileError(line: header.line, field: column, message: "the column occurs twice")
            }
        }
        guard columns.contains("key") else {
            throw TagFileError(line: header.line, field: "key", message: "the column is missing")
        }
        var builder = TagRegisterBuilder(classes: classes)
        while let record = try Self.next(&reader) {
            guard record.fields.count == columns.count else {
                throw TagFileError(
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
                        throw TagFileError(
                            line: record.line, field: column, message: "'\(field)' isn't a number of dBm")
                    }
                    row.power = power
                }
            }
            try builder.add(row, line: record.line)
        }
        self = builder.register
    }
    private static func next(_ reader: inout CSVReader) throws(TagFileError) -> CSVReader.Record? {
        do { return try reader.next() } catch { throw TagFileError(line: error.line, message: error.message) }
    }
}
