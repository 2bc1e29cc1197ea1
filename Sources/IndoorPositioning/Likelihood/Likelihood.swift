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

    /// Adds the log-likelihood of detecting exactly these beacons, for some cells.
    ///
    /// - Parameter cells: index of each cell in the map's grid, -1 outside it; as many elements as `sums`.
    package func addRates(to sums: inout [Float], mapIndex index: Int, cells: [Int32]) {
        guard field.areRatesKnown else { return }
        let map = field.maps[index]
        precondition(sums.count == cells.count, "\(sums.count) sums for \(cells.count) cells")
        for heard in evidence.heard {
            guard let table = map.tables[heard.beacon] else { continue }
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
        for heard in evidence.heard {
            guard let table = map.tables[heard.beacon] else { continue }
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

    /// Adds the log-likelihood of the readings at the center of every cell of a map.
    ///
    /// - Parameters:
    ///   - states: the receiver state of each cell.
    ///   - rowStep: only the middle one of so many rows is computed; 1 for all rows.
    package func hear(
        grid states: inout ReceiverStates, first: Int, sums: inout [Float], mapIndex index: Int, rowStep: Int = 1
    ) {
        let grid = field.maps[index].grid
        states.withPointers { receivers in
            sums.withUnsafeMutableBufferPointer { sums in
                guard let sums = sums.baseAddress else { return }
                forEachReading(mapIndex: index) { reading, _, _ in
                    cmath_hear_grid(
                        &reading, Int32(grid.columns), Float(grid.origin.x), Float(grid.origin.y),
                        Float(grid.cellSize), Int32(rowStep), receivers, sums + first)
                }
            }
        }
    }

    /// Calls a closure with each reading on a map.
    ///
    /// - Parameter remembered: the beacons whose lasting errors are known; the closure gets their slots, and the times of
    ///   their latest readings.
    @inline(__always)
    func forEachReading(
        mapIndex index: Int, _ remembered: RememberedBeacons = RememberedBeacons(),
        _ body: (inout cmath_heard, Evidence.Heard, (index: Int, latest: Double)?) -> Void
    ) {
        let map = field.maps[index]
        for heard in evidence.heard where heard.share > 0 {
            guard let table = map.tables[heard.beacon] else { continue }
            let slot = remembered.slot(of: heard.beacon)
            let share = slot == nil ? heard.share * heard.fresh : heard.share
            guard share > 0 else { continue }
            let terms = terms(heard, share: share, mapIndex: index)
            let beacon = field.transmitters[heard.beacon]
            table.mean.withUnsafeBufferPointer { mean in
                table.variance.withUnsafeBufferPointer { variance in
                    guard let mean = mean.baseAddress, let variance = variance.baseAddress else { return }
                    var reading = cmath_heard(
                        mean: mean, variance: variance, first_column: Int32(table.columns.lowerBound),
                        columns: Int32(table.columns.count), first_row: Int32(table.rows.lowerBound),
                        rows: Int32(table.rows.count), rssi: heard.rssi, noise: terms.variance, share: share,
                        caution: Float(field.model.receiverCaution), x: Float(beacon.point.x),
                        y: Float(beacon.point.y), directed: beacon.mapID == map.mapID ? 1 : 0,
                        outside: terms.outside, freedom: freedom)
                    body(&reading, heard, slot)
                }
            }
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
        let tables = field.maps[mapIndex].tables
        return evidence.heard.contains { tables[$0.beacon] != nil }
    }
}
