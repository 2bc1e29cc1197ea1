import IndoorPositioning
import IndoorVocabulary
import LocalizationSession

// Methods for plugins and their host.
extension Localizer {
    /// Submits the place of a placement as `submit(_:)` does, and sets its heading as `setHeading(_:)` does.
    ///
    /// - Returns: the session's response; nil if the placement has no place.
    /// - Throws: `PluginPlacementError` if the place has no position on a map.
    @discardableResult public func place(at placement: PluginPlacement) async throws(PluginPlacementError)
        -> FixOutcome?
    {
        let fix = try placement.fix(in: state)
        if let heading = placement.heading { await setHeading(heading) }
        guard let fix else { return nil }
        return await submit(fix)
    }

    /// Does the same as `place(at:)`, once the session has handled the readings up to an instant of its source.
    ///
    /// - Returns: the session's response; nil if the placement has no place, or if the task was cancelled.
    func place(
        at placement: PluginPlacement, after instant: Instant
    ) async throws(PluginPlacementError) -> FixOutcome? {
        await waitForReadings(upTo: instant)
        return Task.isCancelled ? nil : try await place(at: placement)
    }

    /// Applies changes on top of the current settings.
    func apply(_ changes: SettingsChanges) async {
        var settings = settings
        changes.make(in: &settings)
        await setSettings(settings)
    }
}
