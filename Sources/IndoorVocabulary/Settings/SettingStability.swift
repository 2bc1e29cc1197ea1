/// Whether a setting stays as it is in later releases.
package enum SettingStability: Hashable, Sendable {
    /// A public setting: its value can be judged from what a user sees, and its changes are announced.
    case stable
    /// An expert setting: a value of a model. Its key, range and default may change or go in any release.
    case expert(DefaultOrigin)

    /// The note for a person who gives an expert setting, to follow its key.
    package static let expertNote = "is an expert key, which may change or go in any release"

    /// The origin of an expert setting's default; nil for a public setting.
    package var origin: DefaultOrigin? {
        if case .expert(let origin) = self { origin } else { nil }
    }
}

/// What chose the default of an expert setting.
package enum DefaultOrigin: String, Hashable, Sendable, CaseIterable {
    /// Cross-validation on the surveys of the ten public data sets that the documentation's page PositioningModel uses.
    case surveys
    /// The errors of positions on the tracks of these data sets.
    case tracks
    /// Published figures, such as a standard or the documentation of a chip.
    case publications
    /// An estimate from physics or usual practice. No data set determines the value alone.
    case estimate

    /// The origin in words, for the reference page.
    package var summary: String {
        switch self {
        case .surveys: "cross-validation on the surveys of ten public data sets"
        case .tracks: "position errors on the tracks of these data sets"
        case .publications: "published figures, such as a standard"
        case .estimate: "an estimate from physics or usual practice"
        }
    }
}
