import CMath
import IndoorVocabulary

/// The readings of a time interval, prepared for weighing.
package struct Evidence: Sendable {
    /// The readings of one detected beacon.
    package struct Heard: Sendable {
        /// Index in the signal field.
        package var beacon: Int
        /// Mean RSSI in dBm.
        package var rssi: Float
        /// Variance in dB² of the mean due to fast fading.
        var variance: Float
        /// Weight of the RSSI as evidence, in [0, 1]: below 1 for the readings of a window that was partly used before, and 0
        /// for irrelevant readings.
        package var share: Float
        /// The factor on this weight, in [0, 1], for a beacon whose lasting errors are unknown: below 1 soon after another
        /// reading of the beacon.
        var fresh: Float = 1
        /// The equivalent number of independent detections.
        var draws: Float
        /// The number of readings in the mean.
        var count: Float = 1
        /// Variance in dB² of the readings about their mean; 0 for a single reading.
        var spread: Float = 0
    }

    /// Length of the interval in seconds.
    var duration: Float
    /// Mean age of the readings in seconds.
    var age = 0.0
    /// The end of the interval, in seconds since the first reading of any beacon.
    var time = 0.0
    /// The detected beacons, the strongest first.
    package var heard: [Heard]

    /// The evidence without any reading.
    static let silent = Evidence(duration: 0.5, heard: [])

    /// Sorts the beacons, the strongest first.
    mutating func order() { heard.sort { ($0.rssi, $1.beacon) > ($1.rssi, $0.beacon) } }
}
