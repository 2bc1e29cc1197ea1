import CMath
import IndoorVocabulary
import VenueModel

/// How strong and how often the beacons of a venue were received during some time, by place.
///
/// A session collects these levels beside its positions; `BeaconHistory` adds them up by day.
package struct BeaconLevels: Hashable, Sendable {
    /// A square of a map.
    package struct Place: Hashable, Comparable, Sendable {
        /// The edge length in metres: large enough for several looks of each visit, small enough that a wall lies between
        /// a place and a beacon or doesn't.
        package static let edge = 5.0

        /// The map.
        package var mapID: MapID
        /// The column and the row, from the plan's top left corner.
        package var column: Int32
        package var row: Int32

        /// Creates a place.
        package init(mapID: MapID, column: Int32, row: Int32) {
            (self.mapID, self.column, self.row) = (mapID, column, row)
        }

        /// Creates the place that contains a point.
        init(_ point: MapPoint, on mapID: MapID) {
            self.init(
                mapID: mapID, column: Int32(clamping: Int((point.x / Self.edge).rounded(.down))),
                row: Int32(clamping: Int((point.y / Self.edge).rounded(.down))))
        }

        package static func < (one: Place, other: Place) -> Bool {
            guard one.mapID == other.mapID else { return one.mapID < other.mapID }
            return one.column != other.column ? one.column < other.column : one.row < other.row
        }
    }

    /// What was received of one beacon at one place.
    package struct Cell: Hashable, Sendable {
        /// The number of independent looks near the beacon, and of those with a reading of it.
        package var looks = 0.0
        package var heard = 0.0
        /// The number of independent readings, and the sum of their differences from the expected level in dB.
        package var readings = 0.0
        package var sum = 0.0

        /// Creates an empty cell.
        package init() {}

        /// Creates a cell.
        package init(looks: Double, heard: Double, readings: Double, sum: Double) {
            (self.looks, self.heard, self.readings, self.sum) = (looks, heard, readings, sum)
        }

        /// The mean difference from the expected level in dB; nil without a reading.
        package var level: Double? { readings > 0 ? sum / readings : nil }

        /// Adds what was received at other times.
        package mutating func add(_ other: Cell) {
            looks += other.looks
            heard += other.heard
            readings += other.readings
            sum += other.sum
        }

        /// Whether all numbers are possible.
        package var isValid: Bool {
            [looks, heard, readings].allSatisfy { (0...1e9).contains($0) } && heard <= looks * 1.001 + 1e-6
                && sum.magnitude <= readings * BeaconLevels.largestDifference * 1.001 + 1e-6
        }
    }

    /// A beacon at a place.
    package struct Key: Hashable, Comparable, Sendable {
        /// The beacon.
        package var beacon: BeaconIdentity
        /// The place of the device.
        package var place: Place

        /// Creates a key.
        package init(beacon: BeaconIdentity, place: Place) { (self.beacon, self.place) = (beacon, place) }

        package static func < (one: Key, other: Key) -> Bool {
            (one.beacon, one.place) < (other.beacon, other.place)
        }
    }

    /// The bound of one reading's difference in dB, so that a short disturbance doesn't decide a day.
    static let largestDifference = 40.0
    /// The maximum number of cells between two drains; further ones are left out.
    static let mostCells = 100_000

    /// What was received of each beacon at each place.
    package var cells: [Key: Cell]

    /// Creates levels.
    package init(cells: [Key: Cell] = [:]) { self.cells = cells }

    /// Adds other levels of the same venue.
    package mutating func add(_ other: BeaconLevels) {
        cells.merge(other.cells) { one, other in
            var sum = one
            sum.add(other)
            return sum
        }
    }
}

/// A collector of the beacons' levels during a session.
///
/// A beacon must not confirm its own level. A difference is therefore taken against the position from the other
/// beacons of the look (`BeaconConsensus`): the joint posterior without the beacon's own factor. The candidates of that
/// posterior are partly particles, which earlier readings of the beacon have moved; the cells of the whole map have
/// 30 % of the prior, so that the others can overrule the particles.
///
/// The receiver's offset, which depends on the device and on how it is held, is the median of the differences of a
/// look. A change that all beacons have in common therefore doesn't appear.
struct BeaconLevelCollector: Sendable {
    private struct Key: Hashable {
        let beacon: Int32
        let place: BeaconLevels.Place
    }

    private var cells: [Key: BeaconLevels.Cell] = [:]

    /// Whether nothing was collected.
    var isEmpty: Bool { cells.isEmpty }

    /// Adds a look.
    ///
    /// - Parameters:
    ///   - tests: the tests of the beacons whose levels the field knows here.
    ///   - heard: returns whether the look has a reading of a beacon.
    ///   - fresh: the share of the errors that is independent of the previous look, in [0, 1].
    mutating func add(
        _ tests: [BeaconConsensus.Test], at point: MapPoint, mapIndex: Int, field: SignalField, fresh: Double,
        heard: (Int) -> Bool
    ) {
        guard fresh > 0 else { return }
        let map = field.maps[mapIndex]
        let place = BeaconLevels.Place(point, on: map.mapID)
        if tests.count >= IntegrityConstants.fewestBeacons {
            let sorted = tests.map(\.residual).sorted()
            let offset = (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
            for test in tests {
                let bound = BeaconLevels.largestDifference
                let difference = test.residual - offset
                change(test.beacon, place) { cell in
                    cell.readings += fresh
                    cell.sum += fresh * min(max(difference, -bound), bound)
                }
            }
        }
        for (beacon, transmitter) in field.transmitters.enumerated()
        where transmitter.mapID == map.mapID && transmitter.point.distance(to: point) < IntegrityConstants.nearDistance
        {
            let isHeard = heard(beacon)
            change(beacon, place) { cell in
                cell.looks += fresh
                if isHeard { cell.heard += fresh }
            }
        }
    }

    private mutating func change(
        _ beacon: Int, _ place: BeaconLevels.Place, _ body: (inout BeaconLevels.Cell) -> Void
    ) {
        let key = Key(beacon: Int32(beacon), place: place)
        guard cells.count < BeaconLevels.mostCells || cells[key] != nil else { return }
        body(&cells[key, default: BeaconLevels.Cell()])
    }

    /// Returns what was collected since the previous call.
    mutating func drain(_ field: SignalField) -> BeaconLevels {
        defer { cells.removeAll(keepingCapacity: true) }
        return BeaconLevels(
            cells: Dictionary(
                cells.map { (BeaconLevels.Key(beacon: field.beacons[Int($0.beacon)], place: $0.place), $1) },
                uniquingKeysWith: { first, _ in first }))
    }
}
