import BeaconScanning
import IndoorPositioning
import IndoorVocabulary
import VenueModel

extension LocalizationMachine {
    /// Applies a venue's settings; nil removes them. Reports invalid settings and applies the others.
    mutating func useSettings(of venue: Venue?) -> [Directive] {
        let problems = stack.enter(venue?.settings)
        settings = stack.resolved.localization
        motion.use(settings.motion)
        guard let venue, !problems.isEmpty else { return [] }
        let message =
            "settings of venue \(venue.id) are ignored: \(problems.map(\.description).joined(separator: "; "))"
        return [.report(LocalizationError(code: .generic, message: message, kind: .settings))]
    }

    /// Sends the radio its duty cycle if it has changed.
    mutating func reschedule() -> [Directive] {
        let wanted = ScanSchedule(stack)
        guard wanted != schedule else { return [] }
        schedule = wanted
        return [.schedule(wanted)]
    }

    /// Replaces the settings. Those that define the current visit, such as its method, take effect with the next one.
    mutating func change(to other: SettingsStack) -> Transition {
        let moved = other.inVenue(of: stack)
        let problems = moved.resolved.localization.problems
        guard problems.isEmpty else {
            let message =
                "settings out of range: \(problems.joined(separator: "; ")); the previous settings stay in effect"
            return Transition(
                state: state,
                directives: [.report(LocalizationError(code: .generic, message: message, kind: .settings))])
        }
        stack = moved
        settings = moved.resolved.localization
        motion.use(settings.motion)
        return Transition(state: state, directives: reschedule())
    }
}

extension LocalizationMachine {
    /// Creates an idle machine whose belief needs no settings.
    package init(
        settings: LocalizationSettings, seed: UInt64, hasReceiver: Bool = false, reportsMotion: Bool = false,
        reportsDiagnosis: Bool = false, preparesApart: Bool = false, makeBelief: @escaping @Sendable (Venue) -> Belief
    ) {
        self.init(
            settings: SettingsStack(localization: settings), seed: seed, hasReceiver: hasReceiver,
            reportsMotion: reportsMotion, reportsDiagnosis: reportsDiagnosis, preparesApart: preparesApart
        ) { venue, _ in makeBelief(venue) }
    }
}
