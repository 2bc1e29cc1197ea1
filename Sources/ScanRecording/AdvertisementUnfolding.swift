import BeaconScanning
import IndoorVocabulary

/// Puts the sighting that an advertisement holds behind it.
///
/// Whoever recorded a source of both wrote both: a sighting that stands right behind its advertisement is not given
/// out twice.
struct AdvertisementUnfolding {
    /// The sighting that was given out last.
    private var given: Sighting?

    /// What a recorded reading stands for: itself, nothing if it was given out already, and the sighting it holds.
    mutating func unfold(_ reading: SensorReading) -> (reading: SensorReading?, sighting: Sighting?) {
        if let given = given.take(), reading == .sighting(given) { return (nil, nil) }
        guard case .advertisement(let advertisement) = reading else { return (reading, nil) }
        // Malformed data are what was heard, not an error of the recording: they hold no beacon.
        given = try? advertisement.sighting()
        return (reading, given)
    }
}
