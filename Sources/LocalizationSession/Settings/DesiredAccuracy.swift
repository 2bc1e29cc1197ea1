import IndoorPositioning

/// The trade-off between accuracy and power, as a single value.
///
/// | word | a position every | particles | radio listens |
/// | --- | --- | --- | --- |
/// | `best`, `bestForCart` | as the settings say | as the settings say | all the time |
/// | `low` | 2 s | 500 | half of the time, if the source supports it |
///
/// `bestForCart` also selects the motion model of a shopping cart, unless a motion mode is given.
public enum DesiredAccuracy: String, Hashable, Sendable, CaseIterable {
    /// The best accuracy that the settings allow.
    case best
    /// Less accurate and less frequent positions, to save power.
    case low
    /// The best accuracy for a device on a shopping cart.
    case bestForCart

    /// Applies this value to the settings of a session.
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
