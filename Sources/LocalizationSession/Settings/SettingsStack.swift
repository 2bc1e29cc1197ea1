import BeaconScanning
import IndoorVocabulary
import VenueModel

/// All sources of settings on top of each other, and what they come to.
///
///     var settings = SettingsStack()
///     try settings.request("positionInterval", 0.2)
///     try settings.override("positioning.method", "fingerprint")
///     settings.apply()
///     print(settings.resolved.localization.positionInterval)
///
/// A plain value: of two copies each goes its own way. Whatever is given takes effect with `apply()`, and not before.
public struct SettingsStack: Hashable, Sendable {
    /// What a source gives for a setting.
    struct Given: Hashable, Sendable {
        var value: SettingValue
        var place: String?
        /// Whether it is a preset that single keys of any source of this device take precedence over.
        var yieldsToSingleKeys = false
    }

    /// What a source gives, by the settings' own keys.
    typealias Layer = [String: Given]

    /// The settings as they are since the last `apply()`, ready to use.
    public private(set) var resolved: ResolvedSettings
    /// How much power positions may cost: what the word means is put over what the sources give, at once.
    ///
    /// See ``DesiredAccuracy``: `low` never makes positions more frequent than the sources say, nor the radio listen more.
    public var desiredAccuracy = DesiredAccuracy.best { didSet { resolve() } }
    /// The structs that the stack was made with.
    private let base: ResolvedSettings
    /// What counts, and what will count from the next `apply()` on.
    private var applied: [SettingsSource: Layer] = [:]
    private var staged: [SettingsSource: Layer] = [:]

    private var registry: SettingsRegistry { .standard }

    /// Creates settings in which nobody gives anything but these structs.
    ///
    /// What differs from its default in them counts as an override, and is in effect at once.
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

    /// Whether something waits for `apply()`.
    public var hasChanges: Bool { staged != applied }

    // MARK: - Giving

    /// Sets a setting, whatever the other sources give; nil takes back what was set and requested.
    ///
    /// - Parameters:
    ///   - key: of the setting, or another name of it.
    ///   - value: durations in seconds; nil to take it back.
    ///   - place: where it is set, for `EffectiveSetting.place`; nil if that is of no use.
    /// - Throws: `SettingsProblem` if the key or the value is wrong; then nothing is changed.
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

    /// Asks for a setting: of several requests the best counts, as the registry knows it, such as the smaller interval.
    ///
    /// Where none is better, the last request counts.
    /// - Throws: `SettingsProblem` if the key or the value is wrong; then nothing is changed.
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

    /// Takes all that a source gives, in place of what it gave before; of an entry given twice, the later counts.
    ///
    /// - Returns: what is wrong; all that is right is taken.
    public mutating func load(_ entries: [SettingsEntry], from source: SettingsSource) -> [SettingsProblem] {
        let (layer, problems) = layer(of: entries, from: source)
        staged[source] = layer.isEmpty ? nil : layer
        return problems
    }

    /// Takes back what was set in code and by file; what comes from a server or a venue stays.
    public mutating func clear() {
        for source in [SettingsSource.override, .request, .file] { staged[source] = nil }
    }

    /// Makes all that was given since the last time take effect.
    ///
    /// - Returns: the keys of the settings that changed by it.
    @discardableResult public mutating func apply() -> [String] {
        let before = effective
        applied = staged
        resolve()
        return zip(before, effective).compactMap { $0.value == $1.value ? nil : $0.key }
    }

    // MARK: - Reading

    /// Every setting with its value and where that comes from, in the order of the configuration reference.
    public var effective: [EffectiveSetting] {
        let layers = ordered
        let others = Set(layers.flatMap(\.layer.keys)).filter { registry.entry($0) == nil }.sorted()
        return registry.entries.map { effective($0, layers) } + others.compactMap { ofFamily($0, layers) }
    }

    /// A setting by its key or another name, in the unit of that name.
    ///
    /// - Throws: `SettingsProblem` if there is none.
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

    /// Settings that are right one by one, but not beside each other; empty if all is well.
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
    /// The settings of a venue count from now on, and until the next call; nil is in no venue.
    ///
    /// - Returns: what is wrong with them; all that is right counts.
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

    /// What counts in a venue.
    public func resolved(in venue: Venue) -> ResolvedSettings {
        var there = self
        _ = there.enter(venue.settings)
        return there.resolved
    }

    /// The same stack, in the venue that another one is in.
    package func inVenue(of other: SettingsStack) -> SettingsStack {
        var moved = self
        moved.applied[.venue] = other.applied[.venue]
        moved.staged[.venue] = other.applied[.venue]
        moved.resolve()
        return moved
    }

    /// Whether anybody gives one of the settings whose key begins so.
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
        // Those that count less come first, as later ones take their place.
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

    /// What every source gives, those that count most first, and what their presets stand for.
    private var ordered: [(source: SettingsSource, layer: Layer, covered: Layer)] {
        applied.sorted { $0.key > $1.key }.map { source, layer in
            var covered: Layer = [:]
            for (key, given) in layer {
                guard case .preset(let settings)? = registry.entry(key)?.role else { continue }
                let yields = given.yieldsToSingleKeys && source.isOfDevice
                // Where single keys count more than the preset: sources that count as much or more.
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
        return effective
    }

    /// A key that is accepted for its family alone; nil if nobody gives it.
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
        // From what the stack was made with: a number that JSON cannot hold stays.
        var next = base
        for setting in ResolvedSettings.list where given(setting.key, layers) == nil {
            setting.write(&next, setting.read(standard))
        }
        // After all defaults, as null for one of the radio's timings unsets them both.
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
