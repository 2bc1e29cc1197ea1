import IndoorLocalization
import VenuePackets

extension SettingsStack {
    /// Notes on standard error each expert setting that a settings file gives.
    func noteExpertSettings() {
        for note in expertNotes(of: .file) { StandardError.line(PrintableText.line(note)) }
    }

    /// Warns on standard error of each given setting that has no effect in one of the venues.
    func warnOfUselessSettings(in venues: [Venue]) {
        for venue in venues {
            for setting in useless(in: venue) {
                let place = setting.place.map { "\($0): " } ?? ""
                StandardError.line(PrintableText.line("\(place)\(setting.key) \(setting.reason)"), .warning)
            }
        }
    }
}
