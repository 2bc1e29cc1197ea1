import IndoorVocabulary

/// The source of a setting's value. If several sources set a value, the later one in this list takes precedence.
public enum SettingsSource: String, Hashable, Sendable, CaseIterable, Comparable {
    /// The default value.
    case `default`
    /// The packet of the venue that the device is in.
    case venue
    /// A settings server, for all its devices.
    case remote
    /// A file on the device.
    case file
    /// A request from the program, which a better value also satisfies.
    case request
    /// An override from the program.
    case override

    /// Whether the source is on the device: its program or a file, not a server or a venue.
    var isOfDevice: Bool { self >= .file }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    public static func < (left: SettingsSource, right: SettingsSource) -> Bool { left.rank < right.rank }
}

/// A setting's value from one source.
public struct SettingsEntry: Hashable, Sendable {
    /// The dotted key.
    public var key: String
    /// The value; durations in seconds.
    public var value: JSONValue
    /// The location in the source: the file and line, or the path within a JSON document; nil if unknown.
    public var place: String?

    /// Creates an entry.
    package init(key: String, value: JSONValue, place: String? = nil) {
        self.key = key
        self.value = value
        self.place = place
    }

    /// Returns the entries of a JSON object with dotted, nested or mixed keys, ordered by key.
    ///
    /// - Parameters:
    ///   - object: The object in a document.
    ///   - root: The path of the object, which is the prefix of all locations.
    package static func entries(of object: [String: JSONValue], root: String = "$") -> [SettingsEntry] {
        object.sorted { $0.key < $1.key }.flatMap { key, value -> [SettingsEntry] in
            let place = root + pathComponent(key)
            guard case .object(let inner) = value else { return [SettingsEntry(key: key, value: value, place: place)] }
            return entries(of: inner, root: place).map { entry in
                SettingsEntry(key: "\(key).\(entry.key)", value: entry.value, place: entry.place)
            }
        }
    }

    /// Returns a key as a component of a JSON path, quoted if it isn't a plain word.
    private static func pathComponent(_ key: String) -> String {
        let isWord = !key.isEmpty && key.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
        return isWord ? ".\(key)" : "[\"\(key)\"]"
    }
}

/// The effective value of a setting, with its source.
public struct EffectiveSetting: Hashable, Sendable {
    /// The dotted key.
    public var key: String
    /// The value, with durations in seconds; `null` for an optional setting that isn't set.
    public var value: JSONValue
    /// The unit of a number; empty if there is none.
    public var unit: String
    /// The source of the value.
    public var source: SettingsSource
    /// The location in the source: the file and line, or the path within a JSON document; nil if unknown.
    public var place: String?
    /// The reason that the setting has no effect; nil if it has an effect.
    public var reasonOfNoEffect: String?
    /// Whether the setting is an expert setting: a value of a model that was chosen by measurement. Its key, range and
    /// default may change or go in any release.
    public var isExpert = false

    /// Creates an effective setting.
    package init(key: String, value: JSONValue, unit: String = "", source: SettingsSource, place: String? = nil) {
        self.key = key
        self.value = value
        self.unit = unit
        self.source = source
        self.place = place
    }
}
