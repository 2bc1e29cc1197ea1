import CMath
import IndoorVocabulary
import VenueModel

/// An estimate of the memory and time that a venue's tables require, computed before the tables are built.
///
/// A small packet can describe a large model: 50,000 maps need 260 KB in a packet, but gigabytes in tables. The engine
/// builds tables on demand, but a session can demand all of them.
package struct ModelSize {
    private let venue: Venue
    private let limits: InputLimits
    private let model: SignalModel
    private let transmitters: TransmitterList
    private let floorDistance: FloorDistance
    private var cells = 0
    private var entries = 0
    private var wallCells = 0
    private var steps = 0

    /// Returns the path in the document and a message with reason and remedy if the venue is too large for positioning;
    /// nil if the venue is within the limits.
    ///
    /// The time is proportional to the size of the venue's document. The check stops at the first limit that is
    /// exceeded.
    package static func problem(of venue: Venue, limits: InputLimits = .standard) -> (path: String, message: String)? {
        if let problem = countProblem(of: venue, limits) { return problem }
        var size = ModelSize(venue: venue, limits: limits)
        return size.problem()
    }

    /// Returns the minimum cell edge in metres at which the tables of all beacons on their own floors need at most half
    /// of the limit. Venues with very many beacons have larger cells.
    static func leastCellSize(of venue: Venue, limits: InputLimits = .standard) -> Double {
        let model = SignalModel()
        let areas = Dictionary(
            venue.maps.map { ($0.id, max(1, $0.width) * max(1, $0.height)) }, uniquingKeysWith: { first, _ in first })
        let exponent = model.usualExponent(with: venue.radioMap)
        func area(_ map: MapID, _ power: Double) -> Double {
            let edge = 2 * range(power: power, exponent: exponent)
            return min(edge * edge, areas[map] ?? 0)
        }
        let placed = venue.beacons.reduce(0) { $0 + area($1.mapID, $1.measuredPower ?? model.defaultPower) }
        let surveyed = venue.radioMap?.beacons.reduce(0) { $0 + area($1.mapID, $1.power) } ?? 0
        return (max(placed, surveyed) / Double(limits.tableEntries / 2)).squareRoot()
    }

    /// Returns the distance in metres up to which a beacon can be detected.
    private static func range(power: Double, exponent: Double) -> Double {
        let range = cmath_pow(10, (power - Double(SignalField.inaudible)) / (10 * exponent))
        return min(max(range, 1), MapGrid.longestRange)
    }

    private static func countProblem(
        of venue: Venue, _ limits: InputLimits
    ) -> (path: String, message: String)? {
        let (maps, fingerprints) = (venue.maps.count, venue.radioMap?.fingerprints ?? [])
        let beacons = venue.beacons.count + (venue.radioMap?.beacons.count ?? 0)
        let readings = fingerprints.reduce(0) { $0 + $1.readings.count }
        let counts: [(path: String, count: Int, limit: Int, what: String)] = [
            ("$.maps", maps, limits.maps, "maps"),
            ("$.beacons", venue.beacons.count, limits.beacons, "beacons"),
            ("$.radioMap", venue.radioMap?.beacons.count ?? 0, limits.beacons, "beacons"),
            ("$.radioMap", fingerprints.count, limits.fingerprints, "fingerprints"),
            ("$.radioMap", readings, limits.radioMapReadings, "readings"),
            ("$.maps", maps * beacons, limits.beaconMaps, "pairs of a map and a beacon"),
            ("$.maps", maps * fingerprints.count, limits.fingerprintMaps, "pairs of a map and a fingerprint"),
        ]
        return counts.first { $0.count > $0.limit }.map { entry in
            (
                entry.path,
                "has \(entry.count) \(entry.what), more than the \(entry.limit) that one venue may have; divide it into several"
            )
        }
    }

    private init(venue: Venue, limits: InputLimits) {
        self.venue = venue
        self.limits = limits
        model = SignalModel().fitted(to: venue.radioMap)
        transmitters = TransmitterList(venue: venue, model: model)
        floorDistance = FloorDistance(venue.maps)
    }

    private mutating func problem() -> (path: String, message: String)? {
        let fingerprints = Dictionary(grouping: venue.radioMap?.fingerprints ?? [], by: \.mapID)
        let edges = edgesByMap()
        for (index, map) in venue.maps.enumerated() {
            let grid = MapGrid(of: map, in: venue)
            cells += grid.count
            wallCells += WallIndex.cellCount(around: map.walls)
            steps += grid.count * map.walkable.reduce(0) { $0 + $1.count }
            for edge in edges[map.id] ?? [] { steps += Self.cells(between: edge.from, edge.to, grid, model) }
            addTables(on: map, grid, fingerprints[map.id] ?? [])
            if let message = firstExcess { return ("$.maps[\(index)]", message) }
        }
        return nil
    }

    /// The first limit that the maps counted so far exceed.
    private var firstExcess: String? {
        let sums: [(count: Int, limit: Int, what: String)] = [
            (cells, limits.cells, "map cells; give the map its true size in metres, or divide the venue"),
            (wallCells, limits.wallCells, "cells of walls; simplify the walls, or divide the venue"),
            (entries, limits.tableEntries, "table entries of beacons; divide the venue"),
            (
                steps, limits.modelSteps,
                "comparisons with cells; simplify the survey, paths and walkable areas"
            ),
        ]
        return sums.first { $0.count > $0.limit }.map { sum in
            "makes the model too large: \(sum.count) exceeds the limit of \(sum.limit) \(sum.what)"
        }
    }

    // MARK: Tables

    private typealias Block = (columns: Range<Int>, rows: Range<Int>)

    private static func count(_ block: Block) -> Int { block.columns.count * block.rows.count }

    /// Adds the cells in which each beacon can be detected, and the cells that the survey is compared with.
    private mutating func addTables(on map: VenueMap, _ grid: MapGrid, _ places: [RadioMap.Fingerprint]) {
        var blocks: [Int: Block] = [:]
        for place in places {
            let near = grid.block(around: place.point, radius: 4 * model.shadowingLength)
            let rate = Self.count(grid.block(around: place.point, radius: 3 * model.rateLength))
            let support = Self.count(grid.block(around: place.point, radius: 3 * model.supportWidth))
            steps += support + rate + place.readings.count * (Self.count(near) + rate)
            guard steps <= limits.modelSteps else { return }
            for reading in place.readings { blocks[reading.beacon] = Self.hull(blocks[reading.beacon], near) }
        }
        let surveyed = venue.radioMap?.beacons.count ?? 0
        for (index, beacon) in transmitters.beacons.enumerated() {
            let isHome = beacon.mapID == map.id
            if index < surveyed, blocks[index] == nil, !isHome { continue }
            var block = blocks[index]
            if block == nil || isHome {
                let loss = model.floorLoss * Double(floorDistance.floors(from: beacon.mapID, to: map.id))
                let exponent = model.usualExponent(with: venue.radioMap)
                let range = Self.range(power: beacon.power - loss, exponent: exponent)
                block = Self.hull(block, grid.block(around: beacon.point, radius: range))
            }
            entries += block.map(Self.count) ?? 0
            guard entries <= limits.tableEntries else { return }
        }
    }

    private static func hull(_ one: Block?, _ other: Block) -> Block {
        guard let one, !one.columns.isEmpty, !one.rows.isEmpty else { return other }
        guard !other.columns.isEmpty, !other.rows.isEmpty else { return one }
        func hull(_ first: Range<Int>, _ second: Range<Int>) -> Range<Int> {
            min(first.lowerBound, second.lowerBound)..<max(first.upperBound, second.upperBound)
        }
        return (hull(one.columns, other.columns), hull(one.rows, other.rows))
    }

    // MARK: Paths

    private func edgesByMap() -> [MapID: [(from: MapPoint, to: MapPoint)]] {
        guard let paths = venue.paths else { return [:] }
        let nodes = Dictionary(paths.nodes.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        var edges: [MapID: [(from: MapPoint, to: MapPoint)]] = [:]
        for edge in paths.edges {
            guard let from = nodes[edge.from], let to = nodes[edge.to], from.mapID == to.mapID else { continue }
            edges[from.mapID, default: []].append((from.point, to.point))
        }
        return edges
    }

    private static func cells(between from: MapPoint, _ to: MapPoint, _ grid: MapGrid, _ model: SignalModel) -> Int {
        let radius = 4 * model.pathWidth
        return count(hull(grid.block(around: from, radius: radius), grid.block(around: to, radius: radius)))
    }
}

extension LocalizationError {
    /// Creates the error for a venue whose model is larger than a session can hold; nil if the venue is within the
    /// limits.
    package init?(tooLarge venue: Venue) {
        guard let problem = ModelSize.problem(of: venue) else { return nil }
        self.init(
            code: .critical, message: "venue \(venue.id) is too large: \(problem.path) \(problem.message)",
            kind: .badResponse)
    }
}

/// Limits on an engine's CPU time and memory that are not user settings, for a process with thousands of engines.
///
/// The defaults are the limits for an engine on a device.
package struct PositioningEffort: Hashable, Sendable {
    /// The minimum number of particles on a map; an improbable map needs them for an estimate.
    package var fewestParticles = 100
    /// The factor on the edge of the cells of the signal field, at least 1.
    package var cellScale = 1.0
    /// Whether a global update needs a reading that no global update has used. Without a new reading, the readings of
    /// the last seconds belong to an earlier place of the device.
    package var needsNewEvidence = false
    /// Whether the beacons are tested against each other, if the settings enable the test.
    package var testsBeacons = true

    /// Creates the limits for an engine on a device.
    package init() {}
}
