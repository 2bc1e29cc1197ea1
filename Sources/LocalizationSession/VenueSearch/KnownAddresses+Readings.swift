import BeaconScanning
import IndoorVocabulary
import VenueModel

extension KnownAddresses {
    /// Returns a reading for a consumer that has no session, and so recognises beacons by their identity only.
    ///
    /// If the transmitter's address identifies a beacon under the rules of a session, the result is the sighting of
    /// that beacon; otherwise, it is the reading itself. An advertisement with a beacon frame is returned unchanged,
    /// because its sighting follows it.
    package func named(_ reading: SensorReading) -> SensorReading {
        guard !isEmpty else { return reading }
        switch reading {
        case .sighting(let sighting): return .sighting(resolve(sighting))
        case .advertisement(let advertisement):
            // Malformed data contain no beacon.
            let frame = try? advertisement.sighting()
            return frame == nil ? sighting(of: advertisement).map(SensorReading.sighting) ?? reading : reading
        case .motion, .step, .pressure, .gnss, .fix, .range, .radio: return reading
        }
    }
}
