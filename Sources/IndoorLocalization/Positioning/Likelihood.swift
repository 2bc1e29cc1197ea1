import CMath

/// Weighs evidence against the cells of one level of a signal field.
///
/// Each heard beacon counts by Student's t distribution of the difference to the table. Which beacons were heard, and
/// which were not though they could have been, counts as draws from the shares that the beacons have of all detections
/// at a place: a receiver that listens half the time hears half of everything, but the same shares.
/// Source of the t distribution as robust noise: K. L. Lange, R. J. A. Little, J. M. G. Taylor, *Robust Statistical
/// Modeling Using the t Distribution*, JASA 84(408), 1989.
package struct Likelihood {
    /// What one heard beacon comes to on one level.
    package struct Terms: Sendable {
        /// The reading in dBm, less the receiver's offset.
        package var rssi: Float
        /// Variance of the reading in dB², but for the table's.
        package var variance: Float
        /// How much the reading counts.
        package var share: Float
        /// How many detections it counts as.
        package var draw: Float
        /// The logarithm of its likelihood outside the beacon's table.
        package var outside: Float
    }

    let field: SignalField
    let evidence: Evidence
    /// How much stronger this receiver hears than the one that made the map, if it is on that level; by level.
    let offsets: [ReceiverOffset]

    /// Weighs evidence against a field.
    package init(field: SignalField, evidence: Evidence, offsets: [ReceiverOffset]) {
        self.field = field
        self.evidence = evidence
        self.offsets = offsets
    }

    /// Adds the logarithm of the likelihood at some cells, up to a constant common to all cells of all levels.
    ///
    /// - Parameter cells: index of each cell in the level's grid, -1 beyond it; equal in number to `sums`.
    package func add(to sums: inout [Float], level index: Int, cells: [Int32]) {
        let level = field.levels[index]
        precondition(sums.count == cells.count, "\(sums.count) sums for \(cells.count) cells")
        for heard in evidence.heard {
            guard let table = level.tables[heard.beacon] else { continue }
            withReading(terms(heard, level: index), table) { reading in
                cmath_weigh_cells(reading, Int32(level.grid.columns), cells, cells.count, &sums)
            }
        }
        guard field.isSurveyed else { return }
        let draws = draws
        for (position, cell) in cells.enumerated() {
            sums[position] -= draws * (cell < 0 ? level.outsideRate : level.logRate[Int(cell)])
        }
    }

    /// Adds the same for every cell of a level.
    package func add(toGrid sums: inout [Float], level index: Int) {
        let level = field.levels[index]
        precondition(sums.count == level.grid.count, "\(sums.count) sums for \(level.grid.count) cells")
        for heard in evidence.heard {
            guard let table = level.tables[heard.beacon] else { continue }
            withReading(terms(heard, level: index), table) { reading in
                cmath_weigh_grid(reading, Int32(level.grid.columns), &sums)
            }
        }
        guard field.isSurveyed else { return }
        let draws = draws
        for cell in sums.indices { sums[cell] -= draws * level.logRate[cell] }
    }

    /// What a heard beacon comes to on a level.
    package func terms(_ heard: Evidence.Heard, level: Int) -> Terms {
        let (model, offset) = (field.model, offsets[level])
        let variance = Float(field.readingDeviation * field.readingDeviation) + heard.variance + Float(offset.variance)
        let rssi = heard.rssi - Float(offset.value)
        let outside = density(
            difference: rssi - SignalField.inaudible, variance: variance + Float(model.shadowing * model.shadowing))
        let draw = field.isSurveyed ? draw(heard) : 0
        return Terms(
            rssi: rssi, variance: variance, share: heard.share, draw: draw,
            outside: heard.share * outside + draw * cmath_logf(Float(model.unheardRate)))
    }

    /// Beyond this many degrees of freedom, Student's t is normal to within 0.02 even at five deviations, while the
    /// loop in C, which takes differences of logarithms, loses its digits.
    private static let mostFreedom = 1e4

    /// Hands the terms and the table to a loop in C.
    private func withReading(
        _ terms: Terms, _ table: SignalField.Table, _ body: (UnsafePointer<cmath_reading>) -> Void
    ) {
        let freedom = Float(min(field.model.degreesOfFreedom, Self.mostFreedom))
        table.mean.withUnsafeBufferPointer { mean in
            table.variance.withUnsafeBufferPointer { variance in
                table.logRate.withUnsafeBufferPointer { rate in
                    guard let mean = mean.baseAddress, let variance = variance.baseAddress else { return }
                    var reading = cmath_reading(
                        mean: mean, variance: variance, log_rate: rate.isEmpty ? nil : rate.baseAddress,
                        first_column: Int32(table.columns.lowerBound), columns: Int32(table.columns.count),
                        first_row: Int32(table.rows.lowerBound), rows: Int32(table.rows.count), rssi: terms.rssi,
                        noise: terms.variance, share: terms.share, draw: terms.draw, outside: terms.outside,
                        freedom: freedom, log_freedom: cmath_logf(freedom))
                    body(&reading)
                }
            }
        }
    }

    private func density(difference: Float, variance: Float) -> Float {
        let freedom = Float(field.model.degreesOfFreedom)
        return -(freedom + 1) / 2 * cmath_log1pf(difference * difference / (freedom * variance)) - cmath_logf(variance)
            / 2
    }

    /// How many draws a heard beacon counts as.
    private func draw(_ heard: Evidence.Heard) -> Float { Float(field.model.detectionWeight) * heard.draws }

    /// How many draws there were in all.
    private var draws: Float { evidence.heard.reduce(0) { $0 + draw($1) } }
}
