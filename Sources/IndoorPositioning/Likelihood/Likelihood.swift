import CMath
import IndoorVocabulary

/// The likelihood of evidence at points of a signal field; computing it also updates the receiver states.
///
/// The likelihood has two parts. The RSSI of each detected beacon follows Student's t distribution about the table's
/// value; its variance includes the uncertainty of the receiver state. The detected beacons are draws from a
/// distribution in which each beacon's probability is its share of the total detection rate at the point: a receiver
/// that listens half the time detects half of all advertisements, but in the same proportions. Detections that the
/// survey's receivers would have missed are left out: ``HearingLimit``.
/// Source of the t distribution as robust noise: K. L. Lange, R. J. A. Little, J. M. G. Taylor, *Robust Statistical
/// Modeling Using the t Distribution*, JASA 84(408), 1989.
package struct Likelihood {
    /// The likelihood terms of one detected beacon on one map.
    package struct Terms: Sendable {
        /// Variance of the reading in dB², without the table's variance.
        package var variance: Float
        /// Logarithm of the likelihood outside the beacon's table.
        package var outside: Float
    }

    let field: SignalField
    /// The evidence, the strongest beacon first: the most reliable readings update the receiver state before the others
    /// are weighed.
    package let evidence: Evidence
    /// The receiver prior by map, given that the device is on that map.
    let receivers: [ReceiverOffset]
    /// The receiver for which the level of a beacon is expected where the beacon has no table; nil for that of each map.
    ///
    /// The logarithms of a map are relative to this density of the readings. Where the levels are known, all maps have the
    /// same reference: with its own one, the map with the lowest offset would win, which is that with the loudest survey.
    /// Otherwise the offset of a map can explain any distance, and the loudest map is the nearest one.
    let reference: ReceiverOffset?
    /// The likelihood of the distances to anchors; nil without any.
    let ranges: RangeLikelihood?

    /// Logarithm of the detections per second of a beacon where it is not expected.
    private let unheard: Float
    /// The tables of the detected beacons by map; empty for a map whose tables weren't looked up.
    private var tables: [[SignalField.Table?]] = []

    /// Creates the likelihood of evidence in a field.
    ///
    /// - Parameter reference: the receiver regardless of the map; by default the first one of `receivers`.
    package init(
        field: SignalField, evidence: Evidence, receivers: [ReceiverOffset], reference: ReceiverOffset? = nil,
        ranges: RangeLikelihood? = nil
    ) {
        self.field = field
        self.evidence = evidence
        self.receivers = receivers
        self.reference = field.areLevelsKnown ? reference ?? receivers.first : nil
        self.ranges = ranges
        unheard = cmath_logf(Float(field.unheardRate))
    }

    /// Looks up the tables of the detected beacons on a map once, as each access needs a lock.
    package mutating func lookUpTables(mapIndex: Int) {
        while tables.count <= mapIndex { tables.append([]) }
        guard tables[mapIndex].isEmpty else { return }
        let known = field.maps[mapIndex].tables
        tables[mapIndex] = evidence.heard.map { known[$0.beacon] }
    }

    /// Returns the table of a detected beacon on a map; nil where the beacon cannot be detected.
    ///
    /// - Parameter place: the index of the beacon in the evidence.
    private func table(_ place: Int, mapIndex: Int) -> SignalField.Table? {
        guard mapIndex < tables.count, place < tables[mapIndex].count else {
            return field.maps[mapIndex].tables[evidence.heard[place].beacon]
        }
        return tables[mapIndex][place]
    }

    /// Adds the log-likelihood of detecting exactly these beacons, for some cells.
    ///
    /// - Parameter cells: index of each cell in the map's grid, -1 outside it; as many elements as `sums`.
    package func addRates(to sums: inout [Float], mapIndex index: Int, cells: [Int32]) {
        guard field.areRatesKnown else { return }
        let map = field.maps[index]
        precondition(sums.count == cells.count, "\(sums.count) sums for \(cells.count) cells")
        for (place, heard) in evidence.heard.enumerated() {
            guard let table = table(place, mapIndex: index) else { continue }
            let draw = draw(heard)
            table.logRate.withUnsafeBufferPointer { rate in
                guard let rate = rate.baseAddress else { return }
                var part = rates(rate, table, draw)
                cmath_add_rates(&part, Int32(map.grid.columns), cells, cells.count, &sums)
            }
        }
        cmath_subtract_cells(draws, map.logRate, map.outsideRate, cells, cells.count, &sums)
    }

    /// Adds the same log-likelihood for every cell of a map, whose sums begin at `first`.
    package func addRates(toGrid sums: inout [Float], first: Int = 0, mapIndex index: Int) {
        guard field.areRatesKnown else { return }
        let map = field.maps[index]
        precondition(sums.count >= first + map.grid.count, "\(sums.count) sums for \(map.grid.count) cells")
        for (place, heard) in evidence.heard.enumerated() {
            guard let table = table(place, mapIndex: index) else { continue }
            let draw = draw(heard)
            sums.withUnsafeMutableBufferPointer { sums in
                table.logRate.withUnsafeBufferPointer { rate in
                    guard let rate = rate.baseAddress, let sums = sums.baseAddress else { return }
                    var part = rates(rate, table, draw)
                    cmath_add_rates_grid(&part, Int32(map.grid.columns), sums + first)
                }
            }
        }
        cmath_subtract(draws, map.logRate, first, map.grid.count, &sums)
    }

    /// The number of cells of a grid whose receiver states are computed at a time, so that they stay in the nearest cache.
    private static let bandCells = 512

    /// Adds the log-likelihood of the readings at the center of every cell of a map, whose sums begin at `first`. The
    /// receiver state of each cell begins with the prior of the map.
    ///
    /// - Parameters:
    ///   - rowStep: only the middle one of so many rows is computed; 1 for all rows.
    ///   - scratch: memory that calls use again.
    package func hear(
        grid sums: inout [Float], first: Int = 0, mapIndex index: Int, rowStep: Int = 1, scratch: inout GridScratch
    ) {
        let (grid, prior) = (field.maps[index].grid, receivers[index])
        precondition(sums.count >= first + grid.count, "\(sums.count) sums for \(grid.count) cells")
        var readings: [TabledReading] = []
        swap(&readings, &scratch.readings)
        defer {
            readings.removeAll(keepingCapacity: true)
            swap(&readings, &scratch.readings)
        }
        forEachReading(mapIndex: index) { readings.append($0) }
        guard !readings.isEmpty else { return }
        let height = max(1, Self.bandCells / grid.columns)
        let room = height * grid.columns + Int(cmath_lanes)
        // The room behind the last row, too, is read.
        scratch.states.resize(to: 10 * room, with: 0)
        scratch.states.withUnsafeMutableBufferPointer { memory in
            guard let base = memory.baseAddress else { return }
            let states = cmath_receivers(
                offset: base, body_x: base + room, body_y: base + 2 * room, c00: base + 3 * room, c01: base + 4 * room,
                c02: base + 5 * room, c11: base + 6 * room, c12: base + 7 * room, c22: base + 8 * room)
            let band = base + 9 * room
            for row in stride(from: 0, to: grid.rows, by: height) {
                let rows = min(height, grid.rows - row)
                let (start, count) = (first + row * grid.columns, rows * grid.columns)
                states.offset.update(repeating: Float(prior.value), count: count)
                states.c00.update(repeating: Float(prior.variance), count: count)
                states.c11.update(repeating: Float(prior.bodyVariance), count: count)
                states.c22.update(repeating: Float(prior.bodyVariance), count: count)
                states.body_x.update(repeating: 0, count: count)
                states.body_y.update(repeating: 0, count: count)
                states.c01.update(repeating: 0, count: count)
                states.c02.update(repeating: 0, count: count)
                states.c12.update(repeating: 0, count: count)
                sums.withUnsafeMutableBufferPointer { sums in
                    guard let sums = sums.baseAddress.map({ $0 + start }) else { return }
                    band.update(from: sums, count: count)
                    for reading in readings {
                        reading.withHeard { heard in
                            cmath_hear_grid(
                                &heard, Int32(grid.columns), Int32(row), Int32(rows), Float(grid.origin.x),
                                Float(grid.origin.y), Float(grid.cellSize), Int32(rowStep), states, band)
                        }
                    }
                    sums.update(from: band, count: count)
                }
            }
        }
    }

    /// The memory of `hear(grid:…)`, for calls one after the other.
    package struct GridScratch: Sendable {
        fileprivate var readings: [TabledReading] = []
        /// The receiver states and the sums of a band of rows.
        fileprivate var states: [Float] = []

        /// Creates empty memory.
        package init() {}
    }

    /// A reading that affects a map, with the table of its beacon there.
    struct TabledReading: Sendable {
        let heard: Evidence.Heard
        let table: SignalField.Table
        /// The slot of the beacon's lasting errors, and the time of its latest reading; nil without a slot.
        let slot: (index: Int, latest: Double)?
        /// The weight of the reading, above 0.
        let share: Float
        let terms: Terms
        fileprivate let beacon: SignalField.Transmitter
        fileprivate let isDirected: Bool
        fileprivate let caution: Float
        fileprivate let freedom: Float

        /// Passes the reading to a C loop.
        @inline(__always)
        func withHeard(_ body: (inout cmath_heard) -> Void) {
            table.mean.withUnsafeBufferPointer { mean in
                table.variance.withUnsafeBufferPointer { variance in
                    guard let mean = mean.baseAddress, let variance = variance.baseAddress else { return }
                    var reading = cmath_heard(
                        mean: mean, variance: variance, first_column: Int32(table.columns.lowerBound),
                        columns: Int32(table.columns.count), first_row: Int32(table.rows.lowerBound),
                        rows: Int32(table.rows.count), rssi: heard.rssi, noise: terms.variance, share: share,
                        caution: caution, x: Float(beacon.point.x), y: Float(beacon.point.y),
                        directed: isDirected ? 1 : 0, outside: terms.outside, freedom: freedom)
                    body(&reading)
                }
            }
        }
    }

    /// Calls a closure with each reading that affects a map, the strongest first.
    ///
    /// - Parameter remembered: the beacons whose lasting errors are known.
    @inline(__always)
    func forEachReading(
        mapIndex index: Int, _ remembered: RememberedBeacons = RememberedBeacons(), _ body: (TabledReading) -> Void
    ) {
        let (map, caution) = (field.maps[index], Float(field.model.receiverCaution))
        for (place, heard) in evidence.heard.enumerated() where heard.share > 0 {
            guard let table = table(place, mapIndex: index) else { continue }
            let slot = remembered.slot(of: heard.beacon)
            let share = slot == nil ? heard.share * heard.fresh : heard.share
            guard share > 0 else { continue }
            let beacon = field.transmitters[heard.beacon]
            body(
                TabledReading(
                    heard: heard, table: table, slot: slot, share: share,
                    terms: terms(heard, share: share, mapIndex: index), beacon: beacon,
                    isDirected: beacon.mapID == map.mapID, caution: caution, freedom: freedom))
        }
    }

    private func rates(_ rate: UnsafePointer<Float>, _ table: SignalField.Table, _ draw: Float) -> cmath_rates {
        cmath_rates(
            log_rate: rate, first_column: Int32(table.columns.lowerBound), columns: Int32(table.columns.count),
            first_row: Int32(table.rows.lowerBound), rows: Int32(table.rows.count), draw: draw, outside: unheard)
    }

    /// Returns the position of a detected beacon.
    package func place(of heard: Evidence.Heard) -> MapPoint { field.transmitters[heard.beacon].point }

    /// The parameters of the measurement model.
    package var model: SignalModel { field.model }

    /// Returns the likelihood terms of a detected beacon on a map.
    ///
    /// - Parameter share: the weight of the reading; nil for that of the evidence.
    package func terms(_ heard: Evidence.Heard, share: Float? = nil, mapIndex: Int) -> Terms {
        let reference = reference ?? receivers[mapIndex]
        let variance = Float(field.readingDeviation * field.readingDeviation) + heard.variance
        let outside = density(
            difference: heard.rssi - Float(reference.value) - SignalField.inaudible,
            variance: variance + Float(reference.variance + model.shadowing * model.shadowing))
        return Terms(variance: variance, outside: (share ?? heard.share * heard.fresh) * outside)
    }

    /// The largest number of degrees of freedom. Beyond it, the log density differs from the normal one by less than
    /// 0.02 even at five standard deviations, while the C loop, which subtracts logarithms, loses precision.
    private static let mostFreedom = 1e4

    /// The degrees of freedom of Student's t distribution.
    private var freedom: Float { Float(min(field.model.degreesOfFreedom, Self.mostFreedom)) }

    private func density(difference: Float, variance: Float) -> Float {
        -(freedom + 1) / 2 * cmath_log1pf(difference * difference / (freedom * variance)) - cmath_logf(variance) / 2
    }

    /// Returns the number of draws from the survey's rates that a detected beacon represents.
    private func draw(_ heard: Evidence.Heard) -> Float {
        let draws = Float(field.model.detectionWeight) * heard.draws
        guard let limit = field.hearingLimit, let reference else { return draws }
        return draws * limit.share(ofLevel: heard.rssi - Float(reference.value))
    }

    /// The total number of draws.
    private var draws: Float { evidence.heard.reduce(0) { $0 + draw($1) } }
}

extension Likelihood {
    /// The number of detected beacons from which a map without any of them is ruled out: each unexpected beacon costs
    /// five nats or more.
    private static let decisiveCount = 8

    /// Returns whether the device can be on a map. This is the case if one of the detected beacons can be detected
    /// there, if none of them can be detected on any map, or if too few beacons were detected to decide.
    ///
    /// The engine never builds the tables of a map that is ruled out.
    func isInQuestion(mapIndex: Int) -> Bool {
        evidence.heard.count < Self.decisiveCount || canHear(mapIndex)
            || !field.maps.indices.contains { $0 != mapIndex && canHear($0) }
    }

    /// Returns whether any of the detected beacons can be detected on a map.
    func canHear(_ mapIndex: Int) -> Bool {
        evidence.heard.indices.contains { table($0, mapIndex: mapIndex) != nil }
    }
}
