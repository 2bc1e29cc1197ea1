import FoundationEssentials
import IndoorVocabulary
import LocalizationSession
import TextFormats

/// Settings in a JSON file: an object whose keys are dotted, nested or mixed.
///
///     let file = try SettingsFile(path: "settings.json")
///     let problems = file.problems + settings.load(file.entries, from: .file)
///     settings.apply()
public struct SettingsFile: Hashable, Sendable {
    /// A file that cannot be read as settings.
    public struct ReadingError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The problem with its location and remedy.
        public let description: String
    }

    /// The entries in the order of the file, each with its line, such as `settings.json:12`.
    public private(set) var entries: [SettingsEntry] = []
    /// The settings that the file contains twice; the first of each is among the entries.
    public private(set) var problems: [SettingsProblem] = []

    /// Reads a file.
    ///
    /// - Throws: `ReadingError` if the file cannot be opened, is longer than 1 MiB, or isn't a JSON object.
    ///   `SettingsStack.load` checks keys and values.
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

    /// Parses a document from another origin.
    ///
    /// - Parameters:
    ///   - name: the beginning of each entry's location.
    ///   - source: the origin of the settings.
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
        var seen: Set<String> = []
        let leaves = JSONKeyLines(bytes, limits: limits.json, limit: limits.settingCount + 1).leaves
        guard leaves.count <= limits.settingCount else {
            throw ReadingError(
                description: "\(name): has more than \(limits.settingCount) settings; give fewer")
        }
        for leaf in leaves {
            let key = leaf.keys.joined(separator: ".")
            let place = "\(name):\(leaf.line)"
            let alias = SettingsRegistry.standard.alias(key)
            let own = alias.map { $0.isSecondary ? key : $0.target } ?? key
            guard seen.insert(own).inserted else {
                problems.append(SettingsProblem(key: key, reason: .givenTwice, source: source, place: place))
                continue
            }
            // A number that doesn't fit a `Double` is out of every range, so it is reported with the others that are.
            let value = Self.value(leaf.keys[...], of: tree) ?? .number(.infinity)
            entries.append(SettingsEntry(key: key, value: value, place: place))
        }
    }

    private static func tooLong(_ name: String) -> ReadingError {
        ReadingError(description: "\(name): is longer than 1 MiB; give a shorter file")
    }

    private static func value(_ keys: ArraySlice<String>, of tree: JSONTree) -> JSONValue? {
        guard let key = keys.first else { return JSONValue(readable: tree) }
        guard case .object(let fields) = tree else { return nil }
        return fields[key].flatMap { value(keys.dropFirst(), of: $0) }
    }
}
