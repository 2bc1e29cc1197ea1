import BeaconScanning
import IndoorPositioning
import IndoorVocabulary
import VenueModel

extension LocalizationMachine {
    /// Makes a venue's settings count, or nobody's; what is wrong with them is reported, and the rest counts.
    mutating func useSettings(of venue: Venue?) -> [Directive] {
        let problems = stack.enter(venue?.settings)
        settings = stack.resolved.localization
        motion.use(settings.motion)
        guard let venue, !problems.isEmpty else { return [] }
        let message =
            "settings of venue \(venue.id) are left out: \(problems.map(\.description).joined(separator: "; "))"
        return [.report(LocalizationError(code: .generic, message: message, kind: .settings))]
    }

    /// Tells the radio when to rest, if that has changed.
    mutating func reschedule() -> [Directive] {
        let wanted = ScanSchedule(stack)
        guard wanted != schedule else { return [] }
        schedule = wanted
        return [.schedule(wanted)]
    }

    /// Other settings count from now on; what shaped the present visit, such as its method, from the next one on.
    mutating func change(to other: SettingsStack) -> Transition {
        let moved = other.inVenue(of: stack)
        let problems = moved.resolved.localization.problems
        guard problems.isEmpty else {
            let message = "settings out of range: \(problems.joined(separator: "; ")); the earlier ones stay"
            return Transition(
                state: state,
                directives: [.report(LocalizationError(code: .generic, message: message, kind: .settings))])
        }
        stack = moved
        isPreparationStale = true
        settings = moved.resolved.localization
        motion.use(settings.motion)
        return Transition(state: state, directives: reschedule())
    }
}

extension LocalizationMachine {
    /// Creates an idle machine whose belief needs no settings.
    package init(
        settings: LocalizationSettings, seed: UInt64, hasReceiver: Bool = false, tellsMotion: Bool = false,
        preparesApart: Bool = false, makeBelief: @escaping @Sendable (Venue) -> Belief
    ) {
        self.init(
            settings: SettingsStack(localization: settings), seed: seed, hasReceiver: hasReceiver,
            tellsMotion: tellsMotion, preparesApart: preparesApart
        ) { venue, _ in makeBelief(venue) }
    }
}
