import CMath

/// Weighs evidence against the cells of one level of a signal field.
///
/// Heard beacons count by Student's t distribution of the difference to the table, wider on the weak side; beacons
/// heard or missed count by a negative binomial (Polya) process of detections, which lets the n-th second of silence
/// say less than the first, as bursts and shadowing do.
/// Source of the t distribution as robust noise: K. L. Lange, R. J. A. Little, J. M. G. Taylor, *Robust Statistical
/// Modeling Using the t Distribution*, JASA 84(408), 1989.
struct Likelihood {
    let field: SignalField
    let evidence: Evidence
    /// How much stronger this receiver hears than the one that made the map, in dB, and the variance of that.
    let offset: Float
    let offsetVariance: Float

    /// Adds the logarithm of each cell's likelihood, up to a common constant, to `sums`.
    ///
    /// - Parameters:
    ///   - columns: column of each cell in the level's grid; equal in number to `rows` and `sums`.
    ///   - rows: row of each cell.
    func add(to sums: inout [Float], level: SignalField.Level, columns: [Int32], rows: [Int32]) {
        guard let box = Box(columns, rows) else { return }
        for heard in evidence.heard {
            add(heard, to: &sums, level: level, columns: columns, rows: rows)
        }
        guard field.isSurveyed else { return }
        for missed in evidence.missed {
            guard let table = level.tables[missed.beacon], box.meets(table) else { continue }
            add(missed, table, to: &sums, columns: columns, rows: rows)
        }
    }

    private struct Box {
        var columns: ClosedRange<Int>
        var rows: ClosedRange<Int>

        init?(_ columns: [Int32], _ rows: [Int32]) {
            guard let left = columns.min(), let right = columns.max(), let top = rows.min(), let bottom = rows.max()
            else { return nil }
            self.columns = Int(left)...Int(right)
            self.rows = Int(top)...Int(bottom)
        }

        func meets(_ table: SignalField.Table) -> Bool {
            !table.columns.isEmpty && columns.overlaps(table.columns) && rows.overlaps(table.rows)
        }
    }

    private func add(
        _ heard: Evidence.Heard, to sums: inout [Float], level: SignalField.Level, columns: [Int32], rows: [Int32]
    ) {
        let model = field.model
        let reading = Float(field.readingDeviation * field.readingDeviation) + heard.variance + offsetVariance
        let outside = density(
            rssi: heard.rssi, mean: SignalField.inaudible, variance: reading + Float(model.shadowing * model.shadowing))
        let outsideRate = detection(rate: Float(model.unheardRate), gap: heard.gap)
        let table = level.tables[heard.beacon]
        for particle in sums.indices {
            guard let table, let cell = table.index(column: Int(columns[particle]), row: Int(rows[particle])) else {
                sums[particle] += heard.share * outside + (field.isSurveyed ? outsideRate : 0)
                continue
            }
            sums[particle] +=
                heard.share
                * density(rssi: heard.rssi, mean: table.mean[cell], variance: reading + table.variance[cell])
            if field.isSurveyed { sums[particle] += detection(rate: table.rate[cell], gap: heard.gap) }
        }
    }

    private func density(rssi: Float, mean: Float, variance: Float) -> Float {
        let freedom = Float(field.model.degreesOfFreedom)
        let asymmetry = Float(field.model.asymmetry)
        let difference = rssi - offset - mean
        let scaled = difference < 0 ? difference / asymmetry : difference * asymmetry
        return -(freedom + 1) / 2 * cmath_log1pf(scaled * scaled / (freedom * variance)) - cmath_logf(variance) / 2
    }

    /// Logarithm of the probability to be detected within the stretch after `gap` seconds of silence.
    private func detection(rate: Float, gap: Float) -> Float {
        let shape = Float(field.model.detectionShape)
        let silence = cmath_expf(
            -shape * cmath_log1pf(rate * evidence.duration / (shape + rate * gap)))
        return Float(field.model.detectionWeight) * cmath_logf(max(1 - silence, 0.02))
    }

    private func add(
        _ missed: Evidence.Missed, _ table: SignalField.Table, to sums: inout [Float], columns: [Int32], rows: [Int32]
    ) {
        // Outside the table the beacon is hardly ever heard. That silence is the common constant, so that beacons
        // without a table anywhere near need no visit.
        let expected = silence(rate: Float(field.model.unheardRate), gap: missed.gap)
        for particle in sums.indices {
            guard let cell = table.index(column: Int(columns[particle]), row: Int(rows[particle])) else { continue }
            sums[particle] += silence(rate: table.rate[cell], gap: missed.gap) - expected
        }
    }

    /// Logarithm of the probability not to be detected within the stretch after `gap` seconds of silence.
    private func silence(rate: Float, gap: Float) -> Float {
        let shape = Float(field.model.detectionShape)
        return -Float(field.model.detectionWeight) * shape
            * cmath_log1pf(rate * evidence.duration / (shape + rate * gap))
    }
}
