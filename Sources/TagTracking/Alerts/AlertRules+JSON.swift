import IndoorVocabulary
import TextFormats
import VenueModel

/// The rules of a file.
package struct AlertRules: Hashable, Sendable {
    /// The maximum number of rules, so that each output of a tag is checked fast.
    package static let mostRules = 200

    /// The rules, in the order of the file.
    package private(set) var list: [AlertRule]

    /// Creates rules whose names differ.
    package init(_ list: [AlertRule] = []) { self.list = list }

    /// Returns a warning for each part of a rule that selects no tag of a register. A key that isn't a name is valid: the
    /// tag can be unknown so far.
    package func unknownTags(in register: TagRegister) -> [String] {
        guard !register.entries.isEmpty else { return [] }
        return list.flatMap { rule in
            rule.tags.compactMap { selector in
                Self.problem(of: selector, in: register).map { "rule '\(rule.name)', tags: \($0)" }
            }
        }
    }

    /// Returns the reason why a selector selects no tag of a register that isn't empty; nil if it does or can.
    private static func problem(of selector: AlertRule.Selector, in register: TagRegister) -> String? {
        let names = register.entries.values.compactMap(\.name)
        switch selector {
        case .beginning(let text):
            guard !text.isEmpty, !names.contains(where: { $0.hasPrefix(text) }) else { return nil }
            return "no name in the register begins with '\(text.prefix(60))'"
        case .named(let text):
            guard let key = TagNaming.key(of: text), case .name = key, register.entries[key] == nil,
                !names.contains(text),
                !register.entries.values.contains(where: { $0.aliases.contains(key) })
            else { return nil }
            let proposal = EditDistance.nearestWord(to: text, among: names).map { "; did you mean '\($0)'?" } ?? ""
            return "the register has no tag '\(text.prefix(60))'\(proposal)"
        }
    }
}

extension AlertRules {
    /// The members of a rule, each with the conditions that use it; nil for all.
    private static let fields: [(name: String, conditions: Set<AlertRule.Condition>?)] = [
        ("name", nil), ("when", nil), ("tags", nil), ("room", [.enters, .leaves]), ("fence", [.enters, .leaves]),
        ("map", [.enters, .leaves]), ("after", [.enters, .leaves]), ("silence", [.silent]),
        ("percent", [.batteryLow]), ("volts", [.batteryLow]), ("repeat", nil),
    ]
    /// The bounds of times in seconds.
    private static let (day, year) = (86_400.0, 365 * 86_400.0)

    /// Creates rules from an array of objects in JSON and UTF-8.
    ///
    /// The members of an object are `name`, `when` (a condition), `tags` (a text or an array of texts, such as a name, a
    /// key, `*` or `Trolley *`), `room`, `fence` and `map` (names of the venue), `after`, `silence` and `repeat` (in
    /// seconds), `percent` and `volts`.
    ///
    /// - Parameters:
    ///   - venue: the venue with the areas.
    ///   - register: the known tags; an empty one if there is none.
    /// - Throws: ``TagFileError`` for an invalid document, for an unknown, missing or needless member, and for a name
    ///   that the venue doesn't have. A name that the register doesn't have is valid, as tags leave it: see
    ///   ``unknownTags(in:)``.
    package init(json: [UInt8], venue: Venue, register: TagRegister) throws(TagFileError) {
        var rules: [AlertRule] = []
        for row in try Self.rows(of: json) {
            guard rules.count < Self.mostRules else {
                throw TagFileError(line: row.line, message: "a file has at most \(Self.mostRules) rules")
            }
            let rule = try row.rule(venue)
            if let same = rules.firstIndex(where: { $0.name == rule.name }) {
                throw TagFileError(
                    line: row.line, field: "name", message: "rule \(same + 1) has the name '\(rule.name)', too")
            }
            for selector in rule.tags {
                if case .named(let text) = selector, TagNaming.key(of: text) == nil {
                    throw TagFileError(
                        line: row.line, field: "tags", message: "'\(text.prefix(60))' isn't a name of a tag")
                }
                if case .beginning = selector, rule.condition == .silent, register.entries.isEmpty {
                    throw TagFileError(
                        line: row.line, field: "tags",
                        message: "a rule for silence needs a register (--tags), or keys of tags")
                }
            }
            rules.append(rule)
        }
        self.init(rules)
    }

    /// The members of a rule as the file spells them.
    private struct Row {
        var line: Int
        var texts: [String: String] = [:]
        var numbers: [String: Double] = [:]
        var tags: [String] = []

        func error(_ field: String?, _ message: String) -> TagFileError {
            TagFileError(line: line, field: field, message: message)
        }

        func rule(_ venue: Venue) throws(TagFileError) -> AlertRule {
            guard let name = texts["name"], NameText.isName(name) else {
                throw error("name", "a rule needs a name without control characters, such as \"Cart leaves ward\"")
            }
            let conditions = AlertRule.Condition.allCases.map(\.rawValue)
            guard let text = texts["when"] else {
                throw error("when", "a rule needs a condition: \(conditions.joined(separator: ", "))")
            }
            guard let condition = AlertRule.Condition(rawValue: text) else {
                let proposal = EditDistance.nearestWord(to: text, among: conditions)
                throw error(
                    "when",
                    "'\(text.prefix(40))' is unknown; "
                        + (proposal.map { "did you mean '\($0)'?" } ?? "use \(conditions.joined(separator: ", "))"))
            }
            for (field, users) in AlertRules.fields where texts[field] != nil || numbers[field] != nil {
                guard users?.contains(condition) ?? true else {
                    throw error(field, "the member has no effect in a rule with the condition '\(condition.rawValue)'")
                }
            }
            guard !tags.isEmpty else {
                throw error("tags", "a rule needs tags: names, keys, or \"*\" for the whole register")
            }
            var rule = AlertRule(name: name, condition: condition, tags: tags.map(AlertRules.selector))
            rule.repetition = try seconds("repeat", from: 1, to: AlertRules.year)
            switch condition {
            case .enters, .leaves:
                rule.area = try area(venue)
                rule.dwell = try seconds("after", from: 0, to: AlertRules.day) ?? AlertRule.standardDwell
            case .silent:
                guard let silence = try seconds("silence", from: 1, to: AlertRules.year) else {
                    throw error("silence", "a rule for silence needs a time in seconds, such as 600")
                }
                rule.silence = silence
            case .batteryLow:
                rule.battery.percent = try number("percent", in: 1...100, "a level in percent")
                rule.battery.volts = try number("volts", in: 0.1...100, "a voltage in volts")
                guard rule.battery != AlertRule.BatteryLimits() else {
                    throw error("percent", "a rule for batteries needs a limit: 'percent', 'volts' or both")
                }
            }
            return rule
        }

        private func area(_ venue: Venue) throws(TagFileError) -> AlertArea {
            let (room, fence, map) = (texts["room"], texts["fence"], texts["map"])
            if room != nil, fence != nil { throw error("fence", "a rule has a room or a fence, not both") }
            do throws(AlertArea.Unknown) {
                if let room { return try AlertArea(.room, room, on: map, of: venue) }
                if let fence { return try AlertArea(.fence, fence, on: map, of: venue) }
                if let map { return try AlertArea(.map, map, of: venue) }
            } catch { throw self.error(error.kind.rawValue, "\(error)") }
            throw error("room", "the rule needs an area: 'room', 'fence' or 'map'")
        }

        private func seconds(
            _ field: String, from least: Double, to most: Double
        ) throws(TagFileError) -> Duration? {
            try number(field, in: least...most, "a time in seconds").map { .seconds($0) }
        }

        private func number(
            _ field: String, in range: ClosedRange<Double>, _ content: String
        ) throws(TagFileError) -> Double? {
            guard let number = numbers[field] else { return nil }
            guard range.contains(number) else {
                func text(_ bound: Double) -> String { bound == bound.rounded() ? "\(Int(bound))" : "\(bound)" }
                throw error(
                    field,
                    "\(number) isn't \(content) from \(text(range.lowerBound)) to \(text(range.upperBound))")
            }
            return number
        }
    }

    private static func selector(_ text: String) -> AlertRule.Selector {
        text.hasSuffix("*") ? .beginning(String(text.dropLast())) : .named(text)
    }

    /// Returns the rules of a document, each with its line.
    private static func rows(of content: [UInt8]) throws(TagFileError) -> [Row] {
        var reader = JSONReader(content, limits: .gateway)
        // The member that is being read.
        var field: String?
        do throws(JSONReader.Failure) {
            var rows: [Row] = []
            try reader.enterArray()
            while try reader.nextElement() {
                rows.append(try row(&reader, &field, line: line(of: reader.offset, in: content)))
            }
            try reader.finish()
            return rows
        } catch {
            throw TagFileError(
                line: line(of: error.offset, in: content), field: field, message: "expected \(error.expected)")
        }
    }

    private static func line(of offset: Int, in content: [UInt8]) -> Int {
        1 + content.prefix(offset).count { $0 == UInt8(ascii: "\n") }
    }

    private static func row(
        _ reader: inout JSONReader, _ field: inout String?, line: Int
    ) throws(JSONReader.Failure) -> Row {
        var row = Row(line: line)
        var seen: Set<String> = []
        try reader.enterObject()
        while let key = try reader.nextKey() {
            let name = try reader.text(of: key)
            let names = fields.map(\.name)
            guard names.contains(name) else {
                let proposal = EditDistance.nearestWord(to: name, among: names).map { "; did you mean '\($0)'?" }
                throw JSONReader.Failure(
                    offset: key.range.lowerBound,
                    expected: "one of the members \(names.joined(separator: ", ")), not '\(name.prefix(40))'"
                        + (proposal ?? ""))
            }
            guard seen.insert(name).inserted else {
                throw JSONReader.Failure(
                    offset: key.range.lowerBound, expected: "each member once, not '\(name)' again")
            }
            field = name
            switch name {
            case "name", "when", "room", "fence", "map": row.texts[name] = try reader.text(of: reader.string())
            case "tags" where try reader.kind() == .array:
                try reader.enterArray()
                while try reader.nextElement() { row.tags.append(try reader.text(of: reader.string())) }
            case "tags": row.tags = [try reader.text(of: reader.string())]
            default: row.numbers[name] = try reader.number()
            }
            field = nil
        }
        return row
    }
}
