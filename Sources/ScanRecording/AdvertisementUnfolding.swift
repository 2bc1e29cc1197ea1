import IndoorLocalization

/// Pairs each advertisement with the sighting that it contains.
///
/// A recording of a source that emits both contains both. A sighting directly after its advertisement is therefore
/// not returned a second time.
struct AdvertisementUnfolding {
    /// The sighting that was returned last.
    private var given: Sighting?

    /// Returns the reading, or nil if it was already returned, and the sighting that it contains.
    mutating func unfold(_ reading: SensorReading) -> (reading: SensorReading?, sighting: Sighting?) {
        if let given = given.take(), reading == .sighting(given) { return (nil, nil) }
        guard case .advertisement(let advertisement) = reading else { return (reading, nil) }
        // Malformed data is what the radio received, not an error in the recording. It contains no beacon.
        given = try? advertisement.sighting()
        return (reading, given)
    }
}
