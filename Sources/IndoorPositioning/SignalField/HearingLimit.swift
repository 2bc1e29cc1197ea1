import CMath
import VenueModel

/// The weakest level that the survey's receivers detected. Below it, the survey's detection rates don't apply.
///
/// A receiver that is more sensitive than the survey's receivers detects beacons where the survey detected none. These
/// detections would contradict every place, and the right place most. The filter therefore counts only the share of a
/// reading that the survey's receivers would have detected. The share depends on the reading's level minus the
/// receiver's offset.
///
/// The page *Positioning model* contains the measurements.
struct HearingLimit: Sendable {
    /// The level in dBm that the survey's receivers detect half of the time.
    private let level: Float

    /// The share of the survey's readings below the level.
    private static let shareBelow = 0.03
    /// Width of the transition around the level in dB, as the scale of a logistic function.
    private static let width = 3.0
    /// The minimum number of readings that determine a level.
    private static let fewestReadings = 20
    /// The time in seconds within which detections of one beacon have a common cause, such as a place without line of
    /// sight.
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
        // Beyond 40 widths, the share is 0 or 1; the limit avoids an overflow.
        return Float(1 / (1 + cmath_exp(min(40, max(-40, -distance)))))
    }
}
