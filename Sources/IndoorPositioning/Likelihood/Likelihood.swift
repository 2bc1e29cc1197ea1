import CMath
import IndoorVocabulary

/// Weighs evidence against places of a signal field, and lets the receiver's state be learned of it.
///
/// Each heard beacon counts by Student's t distribution of the difference to the table, whose variance holds what is not
/// known of the receiver. Which beacons were heard, and
/// which were not though they could have been, counts as draws from the shares that the beacons have of all detections
/// at a place: a receiver that listens half the time hears half of everything, but the same shares.
/// Source of the t distribution as robust noise: K. L. Lange, R. J. A. Little, J. M. G. Taylor, *Robust Statistical
/// Modeling Using the t Distribution*, JASA 84(408), 1989.
package struct Likelihood {
    /// What one heard beacon comes to on one map.
    package struct Terms: Sendable {
        /// Variance of the reading in dB², but for the table's.
        package var variance: Float
        /// The logarithm of its likelihood outside the beacon's table.
        package var outside: Float
    }

    let field: SignalField
    /// What was heard, the strongest first: the surest readings tell of the receiver before the others are weighed.
    package let evidence: Evidence
    /// What is known of the receiver, if it is on that map; by map.
    let receivers: [ReceiverOffset]

    /// Logarithm of the detections a second of a beacon where it should not be heard.
    private let unheard: Float

    /// Weighs evidence against a field.
    package init(field: SignalField, evidence: Evidence, receivers: [ReceiverOffset]) {
        self.field = field
        self.evidence = evidence
        self.receivers = receivers
        unheard = cmath_logf(Float(field.unheardRate))
    }

    /// Adds the logarithm of how probable it is to hear these beacons and no others, at some cells.
    ///
    /// - Parameter cells: index of each cell in the map's grid, -1 beyond it; equal in number to `sums`.
    package func addRates(to sums: inout [Float], mapIndex index: Int, cells: [Int32]) {
        guard field.isSurveyed else { return }
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

    /// Adds the same for every cell of a map, whose sums begin at `first`.
    package func addRates(toGrid sums: inout [Float], first: Int = 0, mapIndex index: Int) {
        guard field.isSurveyed else { return }
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

    /// Adds the logarithm of the likelihood of what is heard at the middle of every cell of a map.
    ///
    /// - Parameter states: of the receiver at each cell.
    package func hear(grid states: inout ReceiverStates, first: Int, sums: inout [Float], mapIndex index: Int) {
        let grid = field.maps[index].grid
        states.withPointers { receivers in
            sums.withUnsafeMutableBufferPointer { sums in
                guard let sums = sums.baseAddress else { return }
                forEachReading(mapIndex: index) { reading in
                    cmath_hear_grid(
                        &reading, Int32(grid.columns), Float(grid.origin.x), Float(grid.origin.y),
                        Float(grid.cellSize), receivers, sums + first)
                }
            }
        }
    }

    @inline(__always)
    func forEachReading(mapIndex index: Int, _ body: (inout cmath_heard) -> Void) {
        let map = field.maps[index]
        for heard in evidence.heard where heard.share > 0 {
            guard let table = map.tables[heard.beacon] else { continue }
            let terms = terms(heard, mapIndex: index)
            let beacon = field.transmitters[heard.beacon]
            table.mean.withUnsafeBufferPointer { mean in
                table.variance.withUnsafeBufferPointer { variance in
                    guard let mean = mean.baseAddress, let variance = variance.baseAddress else { return }
                    var reading = cmath_heard(
                        mean: mean, variance: variance, first_column: Int32(table.columns.lowerBound),
                        columns: Int32(table.columns.count), first_row: Int32(table.rows.lowerBound),
                        rows: Int32(table.rows.count), rssi: heard.rssi, noise: terms.variance, share: heard.share,
                        caution: Float(field.model.receiverCaution), x: Float(beacon.point.x),
                        y: Float(beacon.point.y), directed: beacon.mapID == map.mapID ? 1 : 0,
                        outside: terms.outside, freedom: freedom)
                    body(&reading)
                }
            }
        }
    }

    private func rates(_ rate: UnsafePointer<Float>, _ table: SignalField.Table, _ draw: Float) -> cmath_rates {
        cmath_rates(
            log_rate: rate, first_column: Int32(table.columns.lowerBound), columns: Int32(table.columns.count),
            first_row: Int32(table.rows.lowerBound), rows: Int32(table.rows.count), draw: draw, outside: unheard)
    }

    /// Where a heard beacon is.
    package func place(of heard: Evidence.Heard) -> MapPoint { field.transmitters[heard.beacon].point }

    /// The numbers of the measurement model.
    package var model: SignalModel { field.model }

    /// What a heard beacon comes to on a map.
    package func terms(_ heard: Evidence.Heard, mapIndex: Int) -> Terms {
        let receiver = receivers[mapIndex]
        let variance = Float(field.readingDeviation * field.readingDeviation) + heard.variance
        let outside = density(
            difference: heard.rssi - Float(receiver.value) - SignalField.inaudible,
            variance: variance + Float(receiver.variance + model.shadowing * model.shadowing))
        return Terms(variance: variance, outside: heard.share * outside)
    }

    /// Beyond this many degrees of freedom, Student's t is normal to within 0.02 even at five deviations, while the
    /// loop in C, which takes differences of logarithms, loses its digits.
    private static let mostFreedom = 1e4

    /// The degrees of freedom.
    private var freedom: Float { Float(min(field.model.degreesOfFreedom, Self.mostFreedom)) }

    private func density(difference: Float, variance: Float) -> Float {
        -(freedom + 1) / 2 * cmath_log1pf(difference * difference / (freedom * variance)) - cmath_logf(variance) / 2
    }

    /// How many draws a heard beacon counts as.
    private func draw(_ heard: Evidence.Heard) -> Float { Float(field.model.detectionWeight) * heard.draws }

    /// How many draws there were in all.
    private var draws: Float { evidence.heard.reduce(0) { $0 + draw($1) } }
}

extension Likelihood {
    /// So many beacons are not heard together where none of them is expected: each one costs a place five nats and more, as
    /// what is heard there are others.
    private static let decisiveCount = 8

    /// Whether the device may be on a map: something of what is heard can be heard there, or nowhere at all, or too little
    /// is heard to tell.
    ///
    /// Tables of maps that are out of the question are never made.
    func isInQuestion(mapIndex: Int) -> Bool {
        evidence.heard.count < Self.decisiveCount || canHear(mapIndex)
            || !field.maps.indices.contains { $0 != mapIndex && canHear($0) }
    }

    /// Whether something of what is heard can be heard on a map.
    func canHear(_ mapIndex: Int) -> Bool {
        let tables = field.maps[mapIndex].tables
        return evidence.heard.contains { tables[$0.beacon] != nil }
    }
}
