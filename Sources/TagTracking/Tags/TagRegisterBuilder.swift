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
    mutating func add(_ row: Row, line: Int) throws(TagRegisterError) {
        let key = try claim(row.key, "key", line)
        var aliases: [TagKey] = []
        for text in row.aliases {
            let alias = try claim(text, "aliases", line)
            // Accept two spellings of the same name on a line.
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
        let mask = try mask(of: row, [key] + aliases, line)
        entries.append(
            TagRegister.Entry(
                key: key, aliases: aliases, name: row.name, power: row.power, tagClass: row.tagClass, mask: mask))
    }

    /// Returns the mask of a row, and checks that no other line has the same beacon under the masks.
    private mutating func mask(of row: Row, _ names: [TagKey], _ line: Int) throws(TagRegisterError) -> TagMask? {
        func failure(_ message: String) -> TagRegisterError {
            TagRegisterError(line: line, field: "mask", message: message)
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
