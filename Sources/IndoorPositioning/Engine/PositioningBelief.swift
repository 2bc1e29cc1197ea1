import IndoorVocabulary

/// What a session asks of whatever finds places in a venue.
package protocol PositioningBelief: Sendable {
    /// Makes what a first look at these readings needs, where that is heavy; changes nothing that the belief reports.
    ///
    /// - Parameter mapID: a map that will be in question whatever is heard; nil for none.
    func prepareTables(for readings: [SensorReading], on mapID: MapID?)
    /// Takes in a reading.
    mutating func observe(_ reading: SensorReading)
    /// Brings the belief up to `now`.
    mutating func advance(to now: Instant)
    /// How probable each map is; empty before there is any evidence.
    var mapProbabilities: [MapID: Double] { get }
    /// The belief about the place if the device is on that map; nil if there is no evidence for that map.
    func estimate(on map: MapID) -> PositioningEngine.Estimate?
    /// How probable each room of a map is if the device is there, by its place in the list, above 0; empty without
    /// evidence.
    func roomShares(on map: MapID, in rooms: inout RoomCells) -> [(room: Int, share: Double)]
    /// Keeps the belief on one map, whatever the evidence; nil, or a map that it does not know, lets evidence decide.
    mutating func lock(to map: MapID?)
    /// How the latest fix was taken in; nil if there was none, or if it told nothing.
    var fixReception: FixReception? { get }
    /// Begins with what the venue's survey tells of that model of device, if it tells of it.
    mutating func begin(asDevice name: String)
    /// Begins with what was learned of the device before.
    mutating func begin(with calibration: Calibration)
    /// What was learned of the device; nil if nothing was.
    var calibration: Calibration? { get }
    /// Begins with where an earlier session left the device.
    mutating func begin(with place: RestoredPlace)
    /// Where the device is, map by map, as a memory keeps it; empty before any evidence.
    var places: [SessionMemory.Place] { get }
}

extension PositioningBelief {
    package func prepareTables(for readings: [SensorReading], on mapID: MapID?) {}
    package func roomShares(on map: MapID, in rooms: inout RoomCells) -> [(room: Int, share: Double)] { [] }
    package mutating func lock(to map: MapID?) {}
    package var fixReception: FixReception? { nil }
    package mutating func begin(asDevice name: String) {}
    package mutating func begin(with calibration: Calibration) {}
    package var calibration: Calibration? { nil }
    package mutating func begin(with place: RestoredPlace) {}
    package var places: [SessionMemory.Place] { [] }
}

extension PositioningEngine: PositioningBelief {}
