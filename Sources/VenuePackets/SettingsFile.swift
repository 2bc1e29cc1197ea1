import FoundationEssentials
import IndoorVocabulary
import LocalizationSession

/// Settings in a JSON file: an object whose keys are dotted, nested or mixed.
///
///     let file = try SettingsFile(path: "settings.json")
///     let problems = file.problems + settings.load(file.entries, from: .file)
///     settings.apply()
public struct SettingsFile: Hashable, Sendable {
    /// A file that cannot be read as settings at all.
    public struct ReadingError: Error, Hashable, Sendable, CustomStringConvertible {
        /// What is wrong, where, and what to do.
        public let description: String
    }

    /// What the file gives, in its order, each with its line as in `settings.json:12`.
    public private(set) var entries: [SettingsEntry] = []
    /// What the file gives twice; of these the first is among the entries.
    public private(set) var problems: [SettingsProblem] = []

    /// Reads a file.
    ///
    /// - Throws: `ReadingError` if it cannot be opened, is longer than 1 MiB, or is no JSON object. Whether keys and
    ///   values are right is told by `SettingsStack.load`.
    public init(path: String) throws(ReadingError) {
        let bytes: [UInt8]
        do throws(BoundedFileError) {
            bytes = try BoundedFile.read(path, limit: InputLimits.standard.settings)
        } catch .tooLong {
            throw Self.tooLong(path)
        } catch {
            throw ReadingError(description: "\(path): \(error)")
        }
        try self.init(bytes, name: path, source: .file)
    }

    /// Reads a document that came from somewhere else.
    ///
    /// - Parameters:
    ///   - name: what the places of the entries begin with.
    ///   - source: who gave it.
    /// - Throws: as `init(path:)`.
    public init(_ bytes: [UInt8], name: String, source: SettingsSource) throws(ReadingError) {
        let limits = InputLimits.standard
        guard bytes.count <= limits.settings else { throw Self.tooLong(name) }
        let tree: JSONTree
        do { tree = try JSONTree(bytes) } catch {
            throw ReadingError(description: "\(name): \(error.message)")
        }
        guard case .object = tree else {
            throw ReadingError(description: "\(name): is \(tree.summary); give an object with settings")
        }
        var taken: Set<String> = []
        let leaves = JSONKeyLines(bytes, limit: limits.settingCount + 1).leaves
        guard leaves.count <= limits.settingCount else {
            throw ReadingError(
                description: "\(name): has more than \(limits.settingCount) settings; there are fewer to set")
        }
        for leaf in leaves {
            let key = leaf.keys.joined(separator: ".")
            let place = "\(name):\(leaf.line)"
            let alias = SettingsRegistry.standard.alias(key)
            let own = alias.map { $0.isSecondary ? key : $0.target } ?? key
            guard taken.insert(own).inserted else {
                problems.append(SettingsProblem(key: key, reason: .givenTwice, source: source, place: place))
                continue
            }
            // A number that cannot be held is in no range, so it is told with the others that are not.
            let value = Self.value(leaf.keys[...], of: tree) ?? .number(.infinity)
            entries.append(SettingsEntry(key: key, value: value, place: place))
        }
    }

    private static func tooLong(_ name: String) -> ReadingError {
        ReadingError(description: "\(name): is longer than 1 MiB; settings are shorter")
    }

    private static func value(_ keys: ArraySlice<String>, of tree: JSONTree) -> JSONValue? {
        guard let key = keys.first else { return JSONValue(readable: tree) }
        guard case .object(let fields) = tree else { return nil }
        return fields[key].flatMap { value(keys.dropFirst(), of: $0) }
    }
}

extension JSONValue {
    /// The value of a document; nil if a number in it cannot be held, or a text is broken.
    init?(readable tree: JSONTree) {
        switch tree {
        case .null: self = .null
        case .bool(let flag): self = .bool(flag)
        case .number(let number): self = .number(number)
        case .string(let text): self = .string(text)
        case .unreadable: return nil
        case .array(let trees):
            let values = trees.compactMap { JSONValue(readable: $0) }
            guard values.count == trees.count else { return nil }
            self = .array(values)
        case .object(let fields):
            let values = fields.compactMapValues { JSONValue(readable: $0) }
            guard values.count == fields.count else { return nil }
            self = .object(values)
        }
    }
}
