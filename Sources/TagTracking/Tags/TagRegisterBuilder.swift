/// The rules for the entries of a register file, which are the same in each format.
struct TagRegisterBuilder {
    /// The members of an entry as the file spells them.
    struct Row {
        var key = ""
        var name: String?
        var power: Double?
        var tagClass: String?
        var aliases: [String] = []
    }

    /// The names of the members, in the order of a table.
    static let fields = ["key", "name", "power", "class", "aliases"]
    /// The valid powers at 1 m in dBm: those of an RSSI that a receiver measures, and some dB above for strong tags.
    static let powers = -127.0...20.0

    /// The known classes; nil to accept each name.
    let classes: Set<String>?
    private var entries: [TagRegister.Entry] = []
    /// The line and the index of the entry with each key and alias.
    private var owners: [TagKey: (line: Int, entry: Int)] = [:]

    init(classes: Set<String>?) { self.classes = classes }

    /// The register of the rows so far.
    var register: TagRegister { TagRegister(entries) }

    /// Adds the entry of a row.
    mutating func add(_ row: Row, line: Int) throws(TagRegisterError) {
        let key = try claim(row.key, "key", line)
        var aliases: [TagKey] = []
        for text in row.aliases {
            let alias = try claim(text, "aliases", line)
            // Two spellings of the same name on a line do no harm.
            if alias != key, !aliases.contains(alias) { aliases.append(alias) }
        }
        if let power = row.power, !Self.powers.contains(power) {
            let range = "\(Int(Self.powers.lowerBound)) to \(Int(Self.powers.upperBound))"
            throw TagRegisterError(
                line: line, field: "power", message: "\(power) isn't a power in dBm from \(range)")
        }
        if let tagClass = row.tagClass, let classes, !classes.contains(tagClass) {
            let known = classes.sorted().joined(separator: ", ")
            throw TagRegisterError(
                line: line, field: "class", message: "the class '\(tagClass)' is unknown; use one of: \(known)")
        }
        entries.append(
            TagRegister.Entry(key: key, aliases: aliases, name: row.name, power: row.power, tagClass: row.tagClass))
    }

    /// Returns the key for a name, which no other line may use.
    private mutating func claim(_ text: String, _ field: String, _ line: Int) throws(TagRegisterError) -> TagKey {
        guard let key = TagNaming.key(of: text) else {
            let reason =
                text.allSatisfy({ $0 == " " })
                ? "the name of the tag is missing"
                : "'\(text.prefix(40))' isn't a name; use at most \(TagNaming.longestName) bytes without control characters"
            throw TagRegisterError(line: line, field: field, message: reason)
        }
        // A JSON document can have several entries on a line.
        if let owner = owners[key], owner.entry != entries.count {
            throw TagRegisterError(
                line: line, field: field, message: "\(key) is already a name of the tag on line \(owner.line)")
        }
        owners[key] = (line, entries.count)
        return key
    }
}
