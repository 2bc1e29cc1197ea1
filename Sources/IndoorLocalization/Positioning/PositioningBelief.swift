/// What a session asks of whatever finds places in a venue.
package protocol PositioningBelief: Sendable {
    /// Takes in a reading.
    mutating func observe(_ reading: SensorReading)
    /// Brings the belief up to `now`.
    mutating func advance(to now: Instant)
    /// How probable each map is; empty before there is any evidence.
    var mapProbabilities: [MapID: Double] { get }
    /// The belief about the place if the device is on that map; nil if there is no evidence for that map.
    func estimate(on map: MapID) -> PositioningEngine.Estimate?
}

extension PositioningEngine: PositioningBelief {}
