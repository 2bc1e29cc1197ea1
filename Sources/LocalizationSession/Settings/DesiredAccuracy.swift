import IndoorPositioning

/// How much power positions may cost, as one word.
///
/// | word | a position every | particles | radio listens |
/// | --- | --- | --- | --- |
/// | `best`, `bestForCart` | as the settings say | as the settings say | all the time |
/// | `low` | 2 s | 500 | half of the time, if the source can be told |
///
/// `bestForCart` also means a shopping cart, unless a motion mode is given.
public enum DesiredAccuracy: String, Hashable, Sendable, CaseIterable {
    /// The best positions that the settings give.
    case best
    /// Coarser and fewer positions, for less power.
    case low
    /// The best positions of a device on a shopping cart.
    case bestForCart

    /// Puts what the word means over the settings of a session.
    func adjust(_ settings: inout LocalizationSettings) {
        switch self {
        case .best: break
        case .low:
            settings.positionInterval = max(settings.positionInterval, .seconds(2))
            settings.positioning.particleCount = min(settings.positioning.particleCount, 500)
        case .bestForCart: settings.positioning.motion = MotionModel(.shoppingCart)
        }
    }
}
