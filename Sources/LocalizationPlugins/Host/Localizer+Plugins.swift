import IndoorPositioning
import LocalizationSession

// What plugins and their host want of a session.
extension Localizer {
    /// Puts the device to a place, as `submit(_:)` does, and turns it to its heading, as `setHeading(_:)` does.
    ///
    /// - Returns: how far it was believed; nil if the placement has no place.
    /// - Throws: `PluginPlacementError` if the place cannot be found on a map.
    @discardableResult public func place(at placement: PluginPlacement) async throws(PluginPlacementError)
        -> FixOutcome?
    {
        let fix = try placement.fix(in: state)
        if let heading = placement.heading { await setHeading(heading) }
        guard let fix else { return nil }
        return await submit(fix)
    }

    /// Makes wishes count, beside whatever was set since they were made.
    func apply(_ changes: SettingsChanges) async {
        var settings = settings
        changes.make(in: &settings)
        await setSettings(settings)
    }
}
