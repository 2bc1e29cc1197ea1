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

    /// Logarithm of the detections a second of a beacon where it should not be heard.
    private let unheard: Float

    /// Weighs evidence against a field.
    package init(field: SignalField, evidence: Evidence, offsets: [ReceiverOffset]) {
        self.field = field
        self.evidence = evidence
        self.offsets = offsets
        unheard = cmath_logf(Float(field.model.unheardRate(of: field.beacons.count)))
    }

    /// Adds the logarithm of the likelihood at some cells, up to a constant common to all cells of all levels.
    ///
    /// - Parameter cells: index of each cell in the level's grid, -1 beyond it; equal in number to `sums`.
    package func add(to sums: inout [Float], level index: Int, cells: [Int32]) {
        let level = field.levels[index]
        precondition(sums.count == cells.count, "\(sums.count) sums for \(cells.count) cells")
        join(cells.count, level: index) { reading, start, count, narrow, wide in
            cmath_join_cells(reading, Int32(level.grid.columns), cells, start, count, narrow, wide, &sums)
        } add: { share, start, count, narrow, wide in
            cmath_add_joined(share, freedom, start, count, narrow, wide, &sums)
        }
        guard field.isSurveyed else { return }
        cmath_subtract_cells(draws, level.logRate, level.outsideRate, cells, cells.count, &sums)
    }

    /// Adds the same for every cell of a level, whose sums begin at `first`.
    package func add(toGrid sums: inout [Float], first: Int = 0, level index: Int) {
        let level = field.levels[index]
        precondition(sums.count >= first + level.grid.count, "\(sums.count) sums for \(level.grid.count) cells")
        sums.withUnsafeMutableBufferPointer { sums in
            guard let sums = sums.baseAddress.map({ $0 + first }) else { return }
            join(level.grid.count, level: index) { reading, start, count, narrow, wide in
                cmath_join_grid(reading, Int32(level.grid.columns), start, count, narrow, wide, sums + start)
            } add: { share, start, count, narrow, wide in
                cmath_add_joined(share, freedom, start, count, narrow, wide, sums)
            }
        }
        if field.isSurveyed { cmath_subtract(draws, level.logRate, first, level.grid.count, &sums) }
    }

    /// Cells that are weighed at a time: as many as their products stay in the nearest cache.
    private static let block = 512
    /// Readings whose likelihoods are multiplied before a logarithm is taken, if these stay numbers and keep their
    /// digits.
    private static let mostJoined = 4
    private static let joinable: ClosedRange<Float> = 1e-3...1e6
    private static let mostJoinableFreedom: Float = 100

    /// The degrees of freedom.
    private var freedom: Float { Float(min(field.model.degreesOfFreedom, Self.mostFreedom)) }

    /// Products of variances, or of what differences widen these to.
    private typealias Products = UnsafeMutablePointer<Float>

    /// Goes through the cells block by block and through the beacons that were heard on a level.
    ///
    /// - Parameters:
    ///   - join: takes a reading, the first and the number of the cells, and the products to join it to.
    ///   - add: takes how much the joined readings count, the cells, and the products to be added and made 1.
    @inline(__always)
    private func join(
        _ count: Int, level index: Int,
        join: (UnsafePointer<cmath_reading>, _ start: Int, _ count: Int, _ narrow: Products, _ wide: Products) -> Void,
        add: (_ share: Float, _ start: Int, _ count: Int, _ narrow: Products, _ wide: Products) -> Void
    ) {
        let (heard, tables) = (evidence.heard, field.levels[index].tables)
        // On the stack: a step of the filter asks for no memory.
        var products = InlineArray<1024, Float>(repeating: 1)
        withUnsafeMutableBytes(of: &products) { bytes in
            guard let narrow = bytes.assumingMemoryBound(to: Float.self).baseAddress else { return }
            let wide = narrow + Self.block
            for start in stride(from: 0, to: count, by: Self.block) {
                let length = min(Self.block, count - start)
                var (joined, share): (Int, Float) = (0, 0)
                for heard in heard {
                    guard let table = tables[heard.beacon] else { continue }
                    let terms = terms(heard, level: index)
                    if terms.share != 0 {
                        let isAlone = freedom > Self.mostJoinableFreedom || !Self.joinable.contains(terms.variance)
                        if joined == Self.mostJoined || joined > 0 && (isAlone || terms.share != share) {
                            add(share, start, length, narrow, wide)
                            joined = 0
                        }
                        share = terms.share
                        joined = isAlone ? Self.mostJoined : joined + 1
                    }
                    withReading(terms, table) { join($0, start, length, narrow, wide) }
                }
                if joined > 0 { add(share, start, length, narrow, wide) }
            }
        }
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
            outside: heard.share * outside + draw * unheard)
    }

    /// Beyond this many degrees of freedom, Student's t is normal to within 0.02 even at five deviations, while the
    /// loop in C, which takes differences of logarithms, loses its digits.
    private static let mostFreedom = 1e4

    /// Hands the terms and the table to a loop in C.
    @inline(__always)
    private func withReading(
        _ terms: Terms, _ table: SignalField.Table, _ body: (UnsafePointer<cmath_reading>) -> Void
    ) {
        table.mean.withUnsafeBufferPointer { mean in
            table.variance.withUnsafeBufferPointer { variance in
                table.logRate.withUnsafeBufferPointer { rate in
                    guard let mean = mean.baseAddress, let variance = variance.baseAddress else { return }
                    var reading = cmath_reading(
                        mean: mean, variance: variance, log_rate: rate.isEmpty ? nil : rate.baseAddress,
                        first_column: Int32(table.columns.lowerBound), columns: Int32(table.columns.count),
                        first_row: Int32(table.rows.lowerBound), rows: Int32(table.rows.count), rssi: terms.rssi,
                        noise: terms.variance, counts: terms.share == 0 ? 0 : 1, draw: terms.draw,
                        outside: terms.outside, inverse_freedom: 1 / freedom)
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
