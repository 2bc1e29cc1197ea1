import CMath
import VenueModel

/// The weakest levels that the survey's receivers received, below which its detection rates don't count.
///
/// A receiver that hears farther than those of the survey detects beacons where the survey has none. Their detection
/// would contradict each place, and most of all the right one. The survey's receivers would not have detected a part of
/// them: without this part, the detections have the proportions of the survey. The level of a reading, less the
/// receiver's offset, decides.
///
/// The page *Positioning model* has the measurements.
struct HearingLimit: Sendable {
    /// The level in dBm that receivers of the survey detect half of the time.
    private let level: Float

    /// The share of the survey's readings below the level.
    private static let shareBelow = 0.03
    /// Width of the transition around the level in dB, as the scale of a logistic function.
    private static let width = 3.0
    /// The fewest readings that determine a level.
    private static let fewestReadings = 20
    /// The time in seconds within which detections of one beacon have the same cause, such as a place out of its sight.
    static let correlationTime = 3.0

    /// Creates the limit of a survey; nil without a survey, or if it has too few readings.
    init?(of radioMap: RadioMap?) {
        guard let radioMap else { return nil }
        let levels = radioMap.fingerprints.flatMap { $0.readings.lazy.map(\.rssi) }
        guard levels.count >= Self.fewestReadings else { return nil }
        level = Float(levels.sorted()[Int(Double(levels.count) * Self.shareBelow)])
    }

    /// Returns the share, in [0, 1], of the readings of a level in dBm that the survey's receivers would have received.
    func share(ofLevel level: Float) -> Float {
        let distance = Double(level - self.level) / Self.width
        // Beyond 40 widths, the share is 0 or 1.
        return Float(1 / (1 + cmath_exp(min(40, max(-40, -distance)))))
    }
}
