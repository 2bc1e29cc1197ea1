import BeaconScanning
import IndoorPositioning
import IndoorVocabulary
import VenueModel

/// The settings of all sources, in order of precedence, and their resolved values.
///
///     var settings = SettingsStack()
///     try settings.request("positionInterval", 0.2)
///     try settings.override("positioning.method", "fingerprint")
///     settings.apply()
///     print(settings.resolved.localization.positionInterval)
///
/// A stack is a value type; copies are independent. Changes take effect when you call `apply()`.
public struct SettingsStack: Hashable, Sendable {
    /// A value from a source.
    struct Given: Hashable, Sendable {
        var value: SettingValue
        var place: String?
        /// Whether the value is a preset that individual keys from any source on this device override.
        var yieldsToSingleKeys = false
    }

    /// The values from a source, by the keys of the settings.
    typealias Layer = [String: Given]

    /// The resolved settings as of the last `apply()`.
    public private(set) var resolved: ResolvedSettings
    /// The trade-off between accuracy and power. It overrides the settings of all sources and takes effect immediately.
    ///
    /// See ``DesiredAccuracy``. The value `low` never increases the rate of positions or the scanning time.
    public var desiredAccuracy = DesiredAccuracy.best { didSet { resolve() } }
    /// The structs from which the stack was created.
    private let base: ResolvedSettings
    /// The current values, and the values from the next `apply()` on.
    private var applied: [SettingsSource: Layer] = [:]
    private var staged: [SettingsSource: Layer] = [:]

    private var registry: SettingsRegistry { .standard }

    /// Creates settings from structs.
    ///
    /// Values that differ from their defaults become overrides and take effect immediately.
    public init(
        localization: LocalizationSettings = LocalizationSettings(),
        scanner: ScannerSettings = ScannerSettings(dutyCycle: DutyCycle())
    ) {
        base = ResolvedSettings(localization: localization, scanner: scanner)
        resolved = base
        let standard = ResolvedSettings()
        for setting in ResolvedSettings.list {
            let value = setting.read(base)
            if value != setting.read(standard) {
                staged[.override, default: [:]][setting.key] = Given(value: value, place: "set in code")
            }
        }
        applied = staged
    }

    /// Whether there are changes since the last `apply()`.
    package var hasChanges: Bool { staged != applied }

    // MARK: - Setting values

    /// Overrides a setting, regardless of other sources. Passing nil removes the override and all requests.
    ///
    /// - Parameters:
    ///   - key: The key of the setting, or an alias.
    ///   - value: The value, with durations in seconds; nil to remove it.
    ///   - place: The location for `EffectiveSetting.place`; nil if not needed.
    /// - Throws: `SettingsProblem` if the key or the value is invalid. In that case, nothing changes.
    public mutating func override(
        _ key: String, _ value: JSONValue?, place: String? = nil
    ) throws(SettingsProblem) {
        guard let value else {
            let own = try self.key(key, from: .override)
            staged[.override]?[own] = nil
            staged[.request]?[own] = nil
            return
        }
        try give(SettingsEntry(key: key, value: value, place: place), from: .override)
    }

    /// Requests a setting. Of several requests, the best value takes effect according to the registry, such as the
    /// smaller interval.
    ///
    /// If no value is better, the last request takes effect.
    /// - Throws: `SettingsProblem` if the key or the value is invalid. In that case, nothing changes.
    public mutating func request(_ key: String, _ value: JSONValue) throws(SettingsProblem) {
        let accepted = try registry.accept(SettingsEntry(key: key, value: value), from: .request)
        if let earlier = staged[.request]?[accepted.key],
            let preference = registry.entry(accepted.key)?.setting.preference,
            preference.isAsGood(earlier.value, as: accepted.value)
        {
            return
        }
        staged[.request, default: [:]][accepted.key] = Given(
            value: accepted.value, yieldsToSingleKeys: accepted.yieldsToSingleKeys)
    }

    /// Replaces all values of a source. If an entry occurs twice, the later one takes effect.
    ///
    /// - Returns: The problems. All valid entries are loaded.
    public mutating func load(_ entries: [SettingsEntry], from source: SettingsSource) -> [SettingsProblem] {
        let (layer, problems) = layer(of: entries, from: source)
        staged[source] = layer.isEmpty ? nil : layer
        return problems
    }

    /// Removes the values set in code and by file. Values from a server or a venue stay.
    public mutating func clear() {
        for source in [SettingsSource.override, .request, .file] { staged[source] = nil }
    }

    /// Applies all changes since the last call.
    ///
    /// - Returns: The keys of the changed settings.
    @discardableResult public mutating func apply() -> [String] {
        let before = effective
        applied = staged
        resolve()
        return zip(before, effective).compactMap { $0.value == $1.value ? nil : $0.key }
    }

    // MARK: - Reading

    /// All settings with their values and sources, in the order of the configuration reference.
    public var effective: [EffectiveSetting] {
        let layers = ordered
        let others = Set(layers.flatMap(\.layer.keys)).filter { registry.entry($0) == nil }.sorted()
        return registry.entries.map { effective($0, layers) } + others.compactMap { ofFamily($0, layers) }
    }

    /// Returns a setting by its key or an alias, in the unit of the alias.
    ///
    /// - Throws: `SettingsProblem` if there is no such setting.
    public func setting(_ key: String) throws(SettingsProblem) -> EffectiveSetting {
        let own = try self.key(key, from: .default)
        guard let entry = registry.entry(own) else {
            if let kept = ofFamily(own, ordered) { return kept }
            throw SettingsProblem(key: key, reason: .unknownKey(nearest: nil), source: .default)
        }
        var effective = effective(entry, ordered)
        guard let alias = registry.alias(key) else { return effective }
        effective.key = key
        effective.unit = alias.unit
        let value = given(own, ordered)?.given.value ?? entry.setting.read(resolved)
        effective.value =
            effective.source == .default
            ? alias.unset ?? alias.fromTarget(value).json
            : alias.fromTarget(value).json
        return effective
    }

    /// The problems of settings that are valid individually but not in combination; empty if there are none.
    public var problems: [SettingsProblem] {
        ResolvedSettings.list.compactMap { setting in
            let value = setting.read(resolved)
            let limits = setting.limits(in: resolved)
            guard value != .none || !setting.isOptional, !limits.contains(value) else { return nil }
            let top = given(setting.key, ordered)
            return SettingsProblem(
                key: setting.key, reason: .outOfRange(allowed: limits.allowed(unit: setting.unit), found: value.found),
                source: top?.source ?? .default, place: top?.given.place)
        }
    }
}

// MARK: - Resolving

extension SettingsStack {
    /// Applies the settings of a venue until the next call; nil means no venue.
    ///
    /// - Returns: The problems. All valid settings are applied.
    package mutating func enter(_ venue: [String: JSONValue]?) -> [SettingsProblem] {
        let entries = SettingsEntry.entries(of: venue ?? [:], root: "$.settings")
        let (layer, problems) = layer(of: entries, from: .venue)
        let taken = layer.isEmpty ? nil : layer
        guard applied[.venue] != taken || staged[.venue] != taken else { return problems }
        applied[.venue] = taken
        staged[.venue] = taken
        resolve()
        return problems
    }

    /// Returns the resolved settings in a venue.
    package func resolved(in venue: Venue) -> ResolvedSettings {
        var there = self
        _ = there.enter(venue.settings)
        return there.resolved
    }

    /// Returns this stack with the venue settings of another one.
    package func inVenue(of other: SettingsStack) -> SettingsStack {
        var moved = self
        moved.applied[.venue] = other.applied[.venue]
        moved.staged[.venue] = other.applied[.venue]
        moved.resolve()
        return moved
    }

    /// Returns a note for each expert setting that a source gives: its place, its key, and that it may change.
    package func expertNotes(of source: SettingsSource) -> [String] {
        let layer = applied[source] ?? [:]
        return registry.entries.compactMap { entry in
            guard let given = layer[entry.setting.key], entry.setting.stability.origin != nil else { return nil }
            return (given.place ?? source.rawValue) + ": \(entry.setting.key) \(SettingStability.expertNote)"
        }
    }

    /// Returns whether any source sets a setting with this key prefix.
    package func isGiven(_ prefix: String) -> Bool {
        let layers = ordered
        return registry.entries.contains { $0.setting.key.hasPrefix(prefix) && given($0.setting.key, layers) != nil }
    }

    private func key(_ name: String, from source: SettingsSource) throws(SettingsProblem) -> String {
        let own = registry.alias(name)?.target ?? name
        let isKept = [applied, staged].contains { $0.values.contains { $0[own] != nil } }
        guard isKept || registry.entry(own) != nil else {
            throw SettingsProblem(
                key: name, reason: .unknownKey(nearest: registry.nearestKey(to: name)), source: source)
        }
        return own
    }

    private mutating func give(_ entry: SettingsEntry, from source: SettingsSource) throws(SettingsProblem) {
        let accepted = try registry.accept(entry, from: source)
        staged[source, default: [:]][accepted.key] = Given(
            value: accepted.value, place: entry.place, yieldsToSingleKeys: accepted.yieldsToSingleKeys)
    }

    private func layer(
        of entries: [SettingsEntry], from source: SettingsSource
    ) -> (layer: Layer, problems: [SettingsProblem]) {
        var layer: Layer = [:]
        var problems: [SettingsProblem] = []
        let isSecondary = { (entry: SettingsEntry) in registry.alias(entry.key)?.isSecondary == true }
        // Secondary aliases come first, because later entries replace earlier ones.
        for entry in entries.filter(isSecondary) + entries.filter({ !isSecondary($0) }) {
            do {
                let accepted = try registry.accept(entry, from: source)
                layer[accepted.key] = Given(
                    value: accepted.value, place: entry.place, yieldsToSingleKeys: accepted.yieldsToSingleKeys)
            } catch {
                problems.append(error)
            }
        }
        return (layer, problems)
    }

    /// The values of each source in descending order of precedence, with the values of its presets.
    private var ordered: [(source: SettingsSource, layer: Layer, covered: Layer)] {
        applied.sorted { $0.key > $1.key }.map { source, layer in
            var covered: Layer = [:]
            for (key, given) in layer {
                guard case .preset(let settings)? = registry.entry(key)?.role else { continue }
                let yields = given.yieldsToSingleKeys && source.isOfDevice
                // The sources whose individual keys override the preset: those with the same or a higher precedence.
                let single = applied.filter { $0.key >= source || yields && $0.key.isOfDevice }.values
                for setting in settings(given.value) {
                    let others = [setting.key] + setting.contraries
                    guard !single.contains(where: { layer in others.contains { layer[$0] != nil } }) else { continue }
                    covered[setting.key] = Given(value: setting.value, place: given.place)
                }
            }
            return (source, layer, covered)
        }
    }

    private func given(
        _ key: String, _ layers: [(source: SettingsSource, layer: Layer, covered: Layer)]
    ) -> (source: SettingsSource, given: Given)? {
        for (source, layer, covered) in layers {
            if let given = layer[key] ?? covered[key] { return (source, given) }
        }
        return nil
    }

    private func effective(
        _ entry: SettingsRegistry.Entry, _ layers: [(source: SettingsSource, layer: Layer, covered: Layer)]
    ) -> EffectiveSetting {
        let top = given(entry.setting.key, layers)
        let value: SettingValue =
            switch entry.role {
            case .held: entry.setting.read(resolved)
            case .preset: top?.given.value ?? .none
            case .kept(let standard, _): top?.given.value ?? standard
            }
        var effective = EffectiveSetting(
            key: entry.setting.key, value: value.json, unit: entry.setting.unit, source: top?.source ?? .default,
            place: top?.given.place)
        if case .kept(_, let reason) = entry.role { effective.reasonOfNoEffect = reason }
        effective.isExpert = entry.setting.stability.origin != nil
        return effective
    }

    /// Returns a key accepted by its prefix alone; nil if no source sets it.
    private func ofFamily(
        _ key: String, _ layers: [(source: SettingsSource, layer: Layer, covered: Layer)]
    ) -> EffectiveSetting? {
        guard let top = given(key, layers) else { return nil }
        var effective = EffectiveSetting(
            key: key, value: top.given.value.json, source: top.source, place: top.given.place)
        effective.reasonOfNoEffect = SettingsRegistry.reasonOfFamily
        return effective
    }

    private mutating func resolve() {
        let layers = ordered
        let standard = ResolvedSettings()
        // Starting with the original structs preserves numbers that JSON can't represent.
        var next = base
        for setting in ResolvedSettings.list where given(setting.key, layers) == nil {
            setting.write(&next, setting.read(standard))
        }
        // After all defaults, because null for one of the radio's timings unsets both.
        for setting in ResolvedSettings.list {
            if let given = given(setting.key, layers)?.given { setting.write(&next, given.value) }
        }
        desiredAccuracy.adjust(&next.localization)
        if desiredAccuracy == .low, next.scanner.timing?.share ?? 1 > ScanTiming.half.share {
            next.scanner.timing = .half
        }
        resolved = next
    }
}

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

/// A setting that was given on the device but has no effect in a venue.
package struct UselessSetting: Hashable, Sendable {
    /// The key.
    package var key: String
    /// Where it was given, such as `--set`; nil if unknown.
    package var place: String?
    /// The reason in words, to follow "has no effect".
    package var reason: String
}

extension SettingsStack {
    /// Returns the settings of the measurement model that were given on the device but don't change the positions in a
    /// venue.
    package func useless(in venue: Venue) -> [UselessSetting] {
        var there = self
        _ = there.enter(venue.settings)
        let standard = ResolvedSettings()
        let given = there.effective.reduce(into: [String: EffectiveSetting]()) { $0[$1.key] = $1 }
        let model = there.resolved.localization.positioning.signal.inEffect(in: venue)
        return ResolvedSettings.list.compactMap { setting in
            guard setting.key.hasPrefix("positioning.signal."), let effective = given[setting.key],
                effective.source.isOfDevice, setting.read(there.resolved) != setting.read(standard)
            else { return nil }
            var without = there.resolved
            setting.write(&without, setting.read(standard))
            guard without.localization.positioning.signal.inEffect(in: venue) == model else { return nil }
            var used = there.resolved
            used.localization.positioning.signal = model
            let isReplaced = setting.read(used) != setting.read(there.resolved) && venue.radioMap != nil
            let value = isReplaced ? "the radio map gives \(Self.rounded(setting.read(used)))" : Self.unused(in: venue)
            return UselessSetting(
                key: setting.key, place: effective.place, reason: "has no effect in '\(venue.name)': \(value)")
        }
    }

    /// The text of a value, with at most two decimals.
    private static func rounded(_ value: SettingValue) -> String {
        guard case .number(let number) = value else { return value.found }
        return SettingValue.number((number * 100).rounded() / 100).found
    }

    private static func unused(in venue: Venue) -> String {
        venue.radioMap == nil ? "it has no radio map" : "positions there don't depend on it"
    }
}
