import IndoorVocabulary

/// The interface between a session and a position estimator.
package protocol PositioningBelief: Sendable {
    /// Performs expensive work that the first update with these readings needs; doesn't change the belief.
    ///
    /// - Parameter mapID: a map that is possible regardless of the evidence; nil for none.
    func prepareTables(for readings: [SensorReading], on mapID: MapID?)
    /// Adds a reading.
    mutating func observe(_ reading: SensorReading)
    /// Advances the belief to `now`.
    mutating func advance(to now: Instant)
    /// The probability of each map; empty before any evidence.
    var mapProbabilities: [MapID: Double] { get }
    /// Returns the position estimate given that the device is on a map; nil without evidence for the map.
    func estimate(on map: MapID) -> PositioningEngine.Estimate?
    /// The ratio of the belief's squared difference from the latest evidence to its expected value; nil if unknown.
    var consistencyRatio: Double? { get }
    /// The beacons whose readings contradict the belief or that are missing, in the order of their identities.
    var beaconFaults: [BeaconFault] { get }
    /// Whether the beacons contradict each other and no majority of them agrees.
    var isContradictory: Bool { get }
    /// Returns the probability of each room given that the device is on a map, by room index, for rooms with a
    /// probability above 0; empty without evidence.
    func roomShares(on map: MapID, in rooms: inout RoomCells) -> [(room: Int, share: Double)]
    /// Locks the belief to one map, regardless of the evidence; nil or an unknown map removes the lock.
    mutating func lock(to map: MapID?)
    /// The effect of the latest fix; nil if there was none, or if it was ignored.
    var fixReception: FixReception? { get }
    /// Sets the receiver prior of a device model if the venue's survey contains the model.
    mutating func begin(asDevice name: String)
    /// Sets the priors from an earlier calibration of the device.
    mutating func begin(with calibration: Calibration)
    /// The learned calibration of the device; nil if there is none.
    var calibration: Calibration? { get }
    /// Sets the prior of the position from an earlier session.
    mutating func begin(with place: RestoredPlace)
    /// The position on each map in the form that a session memory stores; empty before any evidence.
    var places: [SessionMemory.Place] { get }
    /// The instant of the latest step that was reported or detected; nil before any.
    var lastStep: Instant? { get }
    /// Returns whether the belief's venue contains a beacon.
    func contains(_ beacon: BeaconIdentity) -> Bool
    /// Returns at most `limit` particles, each of which represents the same share of the belief; empty for a belief
    /// without particles.
    func particles(atMost limit: Int) -> [(mapID: MapID, point: MapPoint)]
    /// Returns the expected RSSI of a beacon at a point; nil if it is unknown.
    func expectedRSSI(of beacon: BeaconIdentity, at point: MapPoint, on map: MapID) -> ExpectedRSSI?
}

extension PositioningBelief {
    package func prepareTables(for readings: [SensorReading], on mapID: MapID?) {}
    package var consistencyRatio: Double? { nil }
    package var beaconFaults: [BeaconFault] { [] }
    package var isContradictory: Bool { false }
    package func roomShares(on map: MapID, in rooms: inout RoomCells) -> [(room: Int, share: Double)] { [] }
    package mutating func lock(to map: MapID?) {}
    package var fixReception: FixReception? { nil }
    package mutating func begin(asDevice name: String) {}
    package mutating func begin(with calibration: Calibration) {}
    package var calibration: Calibration? { nil }
    package mutating func begin(with place: RestoredPlace) {}
    package var places: [SessionMemory.Place] { [] }
    package var lastStep: Instant? { nil }
    package func contains(_ beacon: BeaconIdentity) -> Bool { false }
    package func particles(atMost limit: Int) -> [(mapID: MapID, point: MapPoint)] { [] }
    package func expectedRSSI(of beacon: BeaconIdentity, at point: MapPoint, on map: MapID) -> ExpectedRSSI? { nil }
}

extension PositioningEngine: PositioningBelief {}
