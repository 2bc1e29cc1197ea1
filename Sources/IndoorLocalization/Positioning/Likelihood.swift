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
        forJoinedReadings(level: index) { readings, share in
            cmath_weigh_cells(readings, share, freedom, Int32(level.grid.columns), cells, cells.count, &sums)
        }
        guard field.isSurveyed else { return }
        cmath_subtract_cells(draws, level.logRate, level.outsideRate, cells, cells.count, &sums)
    }

    /// Adds the same for every cell of a level, whose sums begin at `first`.
    package func add(toGrid sums: inout [Float], first: Int = 0, level index: Int) {
        let level = field.levels[index]
        precondition(sums.count >= first + level.grid.count, "\(sums.count) sums for \(level.grid.count) cells")
        forJoinedReadings(level: index) { readings, share in
            cmath_weigh_grid(
                readings, share, freedom, Int32(level.grid.columns), first, level.grid.count, &sums)
        }
        if field.isSurveyed { cmath_subtract(draws, level.logRate, first, level.grid.count, &sums) }
    }

    /// Readings that are weighed at once if their products stay numbers and keep their digits.
    private static let mostJoined = 4
    private static let joinable: ClosedRange<Float> = 1e-3...1e6
    private static let mostJoinableFreedom: Float = 100
    /// All readings that are weighed at once, with those whose RSSI doesn't count.
    private static let mostInList = 12

    /// The degrees of freedom.
    private var freedom: Float { Float(min(field.model.degreesOfFreedom, Self.mostFreedom)) }

    /// A list of readings, in the making.
    private struct JoinedReadings {
        var first: UnsafePointer<cmath_reading>?
        /// How much each of those counts that count.
        var share: Float = 0
        /// Number of readings, and of those that count.
        var length = 0
        var joined = 0

        /// The list with one more reading in front; nil if the two don't go together.
        func joining(_ terms: Terms, isJoinable: Bool) -> JoinedReadings? {
            guard length < Likelihood.mostInList else { return nil }
            var longer = self
            longer.length += 1
            guard terms.share != 0 else { return longer }
            guard joined == 0 || joined < Likelihood.mostJoined && terms.share == share && isJoinable else {
                return nil
            }
            longer.share = terms.share
            longer.joined = isJoinable ? joined + 1 : Likelihood.mostJoined
            return longer
        }
    }

    /// Goes through the beacons that were heard on a level, a few at a time that count alike.
    private func forJoinedReadings(
        level: Int, _ body: (_ readings: UnsafePointer<cmath_reading>, _ share: Float) -> Void
    ) {
        var position = 0
        while position < evidence.heard.count { position = join(from: position, to: JoinedReadings(), level, body) }
    }

    /// Adds the beacons from a position on to a list as long as they go together with it.
    ///
    /// Each adds itself and calls this for the next one, as pointers to its table last no longer.
    ///
    /// - Returns: the position of the first that doesn't.
    private func join(
        from position: Int, to list: JoinedReadings, _ level: Int,
        _ body: (_ readings: UnsafePointer<cmath_reading>, _ share: Float) -> Void
    ) -> Int {
        var position = position
        while position < evidence.heard.count {
            let heard = evidence.heard[position]
            guard let table = field.levels[level].tables[heard.beacon], !table.mean.isEmpty else {
                position += 1
                continue
            }
            let terms = terms(heard, level: level)
            let isJoinable = Self.joinable.contains(terms.variance) && freedom <= Self.mostJoinableFreedom
            guard let longer = list.joining(terms, isJoinable: isJoinable) else { break }
            return withReading(terms, table, before: list.first) { reading in
                var longer = longer
                longer.first = reading
                return join(from: position + 1, to: longer, level, body)
            }
        }
        if let first = list.first { body(first, list.share) }
        return position
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
        _ terms: Terms, _ table: SignalField.Table, before next: UnsafePointer<cmath_reading>?,
        _ body: (UnsafePointer<cmath_reading>) -> Int
    ) -> Int {
        table.mean.withUnsafeBufferPointer { mean in
            table.variance.withUnsafeBufferPointer { variance in
                table.logRate.withUnsafeBufferPointer { rate in
                    guard let mean = mean.baseAddress, let variance = variance.baseAddress else { return .max }
                    var reading = cmath_reading(
                        mean: mean, variance: variance, log_rate: rate.isEmpty ? nil : rate.baseAddress,
                        first_column: Int32(table.columns.lowerBound), columns: Int32(table.columns.count),
                        first_row: Int32(table.rows.lowerBound), rows: Int32(table.rows.count), rssi: terms.rssi,
                        noise: terms.variance, counts: terms.share == 0 ? 0 : 1, draw: terms.draw,
                        outside: terms.outside, inverse_freedom: 1 / freedom, next: next)
                    return body(&reading)
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
