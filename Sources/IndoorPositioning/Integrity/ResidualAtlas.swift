import CMath
import IndoorVocabulary
import VenueModel

/// The differences between the readings of each beacon and the signal field, by place.
///
/// The error of the field at a place is persistent; a place therefore counts once, regardless of the number of visits.
struct ResidualAtlas: Sendable {
    /// The averages of one beacon's readings at one place.
    struct Place: Sendable {
        /// The means over the global updates.
        var sample: BeaconRecord.Sample
        /// The mean variance in dB² of the residual if the beacon is healthy.
        var variance: Double
        /// The number of global updates.
        var count: Double
    }

    /// The counts of all global updates with one beacon.
    struct Tally: Sendable {
        /// The number of global updates, and the number of those whose readings have two levels.
        var looks = 0.0
        var doubleLooks = 0.0
        /// The number of expected readings that did not arrive.
        var missed = 0.0
    }

    private struct Key: Hashable, Comparable {
        let beacon: Int
        let mapIndex: Int
        let column: Int
        let row: Int

        static func < (one: Key, other: Key) -> Bool {
            (one.beacon, one.mapIndex, one.column, one.row)
                < (other.beacon, other.mapIndex, other.column, other.row)
        }
    }

    /// The edge length of a place in metres; the errors of two places are independent.
    private static let edge = 3.0
    /// The maximum number of places of all beacons together, which need 64 MB.
    private static let mostPlaces = 500_000

    private var places: [Key: Place] = [:]
    private(set) var tallies: [Int: Tally] = [:]

    /// Adds a test of a beacon.
    mutating func add(_ test: BeaconConsensus.Test, level: Double, isDouble: Bool, mapIndex: Int) {
        tallies[test.beacon, default: Tally()].looks += 1
        if isDouble { tallies[test.beacon, default: Tally()].doubleLooks += 1 }
        let key = Key(
            beacon: test.beacon, mapIndex: mapIndex, column: Int((test.point.x / Self.edge).rounded(.down)),
            row: Int((test.point.y / Self.edge).rounded(.down)))
        let sample = BeaconRecord.Sample(
            mapIndex: Int32(mapIndex), x: Float(test.point.x), y: Float(test.point.y), level: Float(level),
            residual: Float(test.residual))
        add(Place(sample: sample, variance: test.variance, count: 1), at: key)
    }

    /// Adds the number of readings of a beacon that were expected and didn't arrive.
    mutating func addMissed(_ count: Double, of beacon: Int) {
        tallies[beacon, default: Tally()].missed += count
    }

    /// Adds the places of another atlas.
    mutating func add(_ other: ResidualAtlas) {
        for (key, place) in other.places { add(place, at: key) }
        for (beacon, tally) in other.tallies {
            tallies[beacon, default: Tally()].looks += tally.looks
            tallies[beacon, default: Tally()].doubleLooks += tally.doubleLooks
            tallies[beacon, default: Tally()].missed += tally.missed
        }
    }

    private mutating func add(_ place: Place, at key: Key) {
        guard let known = places[key] else {
            if places.count < Self.mostPlaces { places[key] = place }
            return
        }
        let share = place.count / (known.count + place.count)
        func mix(_ one: Float, _ other: Float) -> Float { one + Float(share) * (other - one) }
        var sum = known
        sum.sample.x = mix(known.sample.x, place.sample.x)
        sum.sample.y = mix(known.sample.y, place.sample.y)
        sum.sample.level = mix(known.sample.level, place.sample.level)
        sum.sample.residual = mix(known.sample.residual, place.sample.residual)
        sum.variance += share * (place.variance - known.variance)
        sum.count += place.count
        places[key] = sum
    }

    /// Returns the places of each received beacon, ordered by beacon and place.
    func placesByBeacon() -> [(beacon: Int, places: [Place])] {
        var all: [(beacon: Int, places: [Place])] = []
        for (key, place) in places.sorted(by: { $0.key < $1.key }) {
            if all.last?.beacon != key.beacon { all.append((key.beacon, [])) }
            all[all.count - 1].places.append(place)
        }
        return all
    }
}
