import IndoorVocabulary

/// Where the value of a setting comes from: of several sources that give one, the later in this list counts.
public enum SettingsSource: String, Hashable, Sendable, CaseIterable, Comparable {
    /// Nobody gives it.
    case `default`
    /// The packet of the venue that the device is in.
    case venue
    /// A server, for all its devices.
    case remote
    /// A file on the device.
    case file
    /// The program asks for it, and takes something better, too.
    case request
    /// The program sets it.
    case override

    /// Whether the device itself gives it, by its program or a file, and no server and no venue.
    var isOfDevice: Bool { self >= .file }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    public static func < (left: SettingsSource, right: SettingsSource) -> Bool { left.rank < right.rank }
}

/// One value that a source gives.
public struct SettingsEntry: Hashable, Sendable {
    /// The dotted key.
    public var key: String
    /// The value; durations in seconds.
    public var value: JSONValue
    /// Where the source gives it: the file with the line, or the path within a JSON document; nil if unknown.
    public var place: String?

    /// Creates an entry.
    public init(key: String, value: JSONValue, place: String? = nil) {
        self.key = key
        self.value = value
        self.place = place
    }

    /// The entries of a JSON object, whether its keys are dotted, nested or mixed, ordered by key.
    ///
    /// - Parameters:
    ///   - object: what a document holds.
    ///   - root: the object's path, which the places begin with.
    public static func entries(of object: [String: JSONValue], root: String = "$") -> [SettingsEntry] {
        object.sorted { $0.key < $1.key }.flatMap { key, value -> [SettingsEntry] in
            let place = root + pathComponent(key)
            guard case .object(let inner) = value else { return [SettingsEntry(key: key, value: value, place: place)] }
            return entries(of: inner, root: place).map { entry in
                SettingsEntry(key: "\(key).\(entry.key)", value: entry.value, place: entry.place)
            }
        }
    }

    /// A key as a part of a JSON path, quoted where it is not a plain word.
    private static func pathComponent(_ key: String) -> String {
        let isWord = !key.isEmpty && key.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
        return isWord ? ".\(key)" : "[\"\(key)\"]"
    }
}

/// What counts of a setting, and who said so.
public struct EffectiveSetting: Hashable, Sendable {
    /// The dotted key.
    public var key: String
    /// The value; `null` for an optional setting that is not set, durations in seconds.
    public var value: JSONValue
    /// The unit of a number; empty without one.
    public var unit: String
    /// Who gives it.
    public var source: SettingsSource
    /// Where the source gives it: the file with the line, or the path within a JSON document; nil if unknown.
    public var place: String?
    /// Why the setting is accepted and of no effect here; nil if it is of effect.
    public var reasonOfNoEffect: String?

    /// Creates a value.
    public init(key: String, value: JSONValue, unit: String = "", source: SettingsSource, place: String? = nil) {
        self.key = key
        self.value = value
        self.unit = unit
        self.source = source
        self.place = place
    }
}
