/// A rejected setting, with its source, location and valid values.
public struct SettingsProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason for rejecting the setting.
    public enum Reason: Hashable, Sendable {
        /// There is no setting with this key; `nearest` is the most similar key, if there is one.
        case unknownKey(nearest: String?)
        /// The value has the wrong type.
        case wrongType(wanted: String, found: String)
        /// The value is out of range.
        case outOfRange(allowed: String, found: String)
        /// The source isn't allowed to set this setting.
        case notAllowed
        /// The source sets the setting twice, for example as a dotted and a nested key, or through an alias.
        case givenTwice
    }

    /// The key as written in the source.
    public var key: String
    /// The reason for rejecting the setting.
    public var reason: Reason
    /// The source of the setting.
    public var source: SettingsSource
    /// The location in the source: the file and line, or the path within a JSON document; nil if unknown.
    public var place: String?

    /// Creates a problem.
    package init(key: String, reason: Reason, source: SettingsSource, place: String? = nil) {
        self.key = key
        self.reason = reason
        self.source = source
        self.place = place
    }

    /// A description of the problem and the valid values, without the location.
    public var message: String {
        switch reason {
        case .unknownKey(let nearest?): "there is no setting \(key); did you mean \(nearest)?"
        case .unknownKey(nil): "there is no setting \(key); 'indoorloc config keys' lists them all"
        case .wrongType(let wanted, let found): "\(key) must be \(wanted), not \(found)"
        case .outOfRange(let allowed, let found): "\(key) must be \(allowed), not \(found)"
        case .notAllowed:
            source == .venue
                ? "\(key) cannot be set by a venue, as it applies before a venue is known; set it in another source"
                : "\(key) cannot be set as \(source.rawValue); set it in a file, by request or by override"
        case .givenTwice: "\(key) is set twice, for example dotted and nested, or by an alias; set it once"
        }
    }

    public var description: String { (place ?? source.rawValue) + ": " + message }
}
