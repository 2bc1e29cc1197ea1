/// A setting that cannot be taken, where it is given, and what is allowed.
public struct SettingsProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong.
    public enum Reason: Hashable, Sendable {
        /// There is no setting of that key; the nearest one has this key, if any is near.
        case unknownKey(nearest: String?)
        /// The value is of another type: what is wanted, and what was found.
        case wrongType(wanted: String, found: String)
        /// The value is of the right type: what is allowed, and what was found.
        case outOfRange(allowed: String, found: String)
        /// That source may not give this setting.
        case notAllowed
        /// The same source gives it twice, perhaps once dotted and once nested, or by another name.
        case givenTwice
    }

    /// The key as it was given.
    public var key: String
    /// What is wrong.
    public var reason: Reason
    /// Who gives it.
    public var source: SettingsSource
    /// Where the source gives it: the file with the line, or the path within a JSON document; nil if unknown.
    public var place: String?

    /// Creates a problem.
    public init(key: String, reason: Reason, source: SettingsSource, place: String? = nil) {
        self.key = key
        self.reason = reason
        self.source = source
        self.place = place
    }

    /// What is wrong and what is allowed, without the place.
    public var message: String {
        switch reason {
        case .unknownKey(let nearest?): "there is no setting \(key); did you mean \(nearest)?"
        case .unknownKey(nil): "there is no setting \(key); 'indoorloc config keys' lists them all"
        case .wrongType(let wanted, let found): "\(key) must be \(wanted), not \(found)"
        case .outOfRange(let allowed, let found): "\(key) must be \(allowed), not \(found)"
        case .notAllowed:
            source == .venue
                ? "\(key) is not for a venue to set, as it counts before a venue is known; set it elsewhere"
                : "\(key) cannot be set as \(source.rawValue); give it as a file, by request or by override"
        case .givenTwice: "\(key) is given twice, perhaps dotted and nested, or by another name; give it once"
        }
    }

    public var description: String { (place ?? source.rawValue) + ": " + message }
}
