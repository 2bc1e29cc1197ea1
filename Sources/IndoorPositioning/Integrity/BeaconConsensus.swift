import CMath
import IndoorVocabulary
import VenueModel

/// The joint posterior of the position and of the faults of the beacons, from the readings of one global update.
///
/// Each beacon is either healthy or faulty. The reading of a healthy beacon follows the signal field; that of a faulty
/// one can have any level. The likelihood of a reading at a candidate position is therefore a mixture of both, weighted
/// by the probability of a fault. The product over the beacons contains all sets of faulty beacons, so no search for
/// the right set is necessary. A few faulty beacons cannot outweigh the others that agree with each other.
///
/// The posterior without one beacon is the joint posterior divided by the beacon's own factor. The beacon is tested
/// against this posterior, as a satellite is tested against the position from the other satellites.
///
/// Sources: B. W. Parkinson, P. Axelrad, *Autonomous GPS Integrity Monitoring Using the Pseudorange Residual*,
/// Navigation 35(2), 1988: the test against the others. J. Blanch, T. Walter, P. Enge, *Protection Levels after Fault
/// Exclusion for Advanced RAIM*, Navigation 64(4), 2017: solution separation. G. E. P. Box, G. C. Tiao, *A Bayesian
/// Approach to Some Outlier Problems*, Biometrika 55(1), 1968: the mixture.
struct BeaconConsensus: Sendable {
    /// The result for one detected beacon.
    struct Test: Sendable {
        /// Index in the signal field.
        var beacon: Int
        /// Logarithm of the ratio between the probability of the reading if the beacon is faulty and its probability if
        /// the beacon is healthy, given the other beacons.
        var logRatio: Double
        /// The same ratio if a healthy beacon can have any weaker level and a persistent error of its power; 0 for a
        /// beacon whose level was surveyed.
        var excessRatio = 0.0
        /// Expected difference in dB between the reading and the field, given the other beacons.
        var residual: Double
        /// Variance in dB² of the difference if the beacon is healthy.
        var variance: Double
        /// Mean position on the most probable map from the other beacons.
        var point: MapPoint
        /// Mean position on the most probable map from this beacon alone, without the belief.
        var ownPoint: MapPoint
        /// Whether the other beacons place the device on the most probable map.
        var isOnMap: Bool
        /// The probability of a fault from this global update and the prior.
        var fault: Double
        /// The expected weight of the position in the venue's prior, in (0, 1], given the other beacons: low away
        /// from the places of the survey.
        var support: Double
    }

    private var maps: [Int32] = []
    private var columns: [Int32] = []
    private var rows: [Int32] = []
    private var xs: [Float] = []
    private var ys: [Float] = []
    private var priors: [Float] = []
    private var supports: [Float] = []
    private var beliefCount = 0
    private var residuals: [Float] = []
    private var variances: [Float] = []
    private var rates: [Float] = []
    private var healthy: [Float] = []
    private var terms: [Float] = []
    private var exponents: [Float] = []
    private var products: [Double] = []
    private var posterior: [Float] = []
    private var offsets: [Float] = []
    private var sums: [Float] = []
    /// The logarithms of the detections per second of all beacons at each candidate.
    private var totals: [Float] = []

    /// The results, in the order of the evidence; a beacon is omitted if its test has no numerical result.
    private(set) var tests: [Test] = []
    /// The most probable map.
    private(set) var mapIndex = 0
    /// The probability of each map.
    private(set) var mapShares: [Double] = []
    /// The mean position on the most probable map and the sum of the variances along both axes in m².
    private(set) var mean = MapPoint(x: 0, y: 0)
    private(set) var variance = 0.0
    /// The share of the posterior in candidates that aren't from the belief.
    private(set) var strayShare = 0.0
    /// The receiver offset in dB.
    private(set) var offset = 0.0

    var byteCount: Int {
        let floats = [
            xs, ys, priors, supports, residuals, variances, rates, healthy, terms, posterior, offsets, sums, totals,
            exponents,
        ]
        return 4 * (maps.capacity + columns.capacity + rows.capacity + floats.reduce(0) { $0 + $1.capacity })
            + 8 * products.capacity + MemoryLayout<Test>.stride * tests.capacity
    }

    // MARK: Candidates

    /// Sets the candidate positions: points of the belief, and cells of each possible map.
    ///
    /// - Parameters:
    ///   - count: the number of points of the belief.
    ///   - belief: returns a point of the belief.
    mutating func place(_ likelihood: Likelihood, count: Int, belief: (Int) -> (map: Int, point: MapPoint)) {
        let field = likelihood.field
        maps.removeAll(keepingCapacity: true)
        columns.removeAll(keepingCapacity: true)
        rows.removeAll(keepingCapacity: true)
        xs.removeAll(keepingCapacity: true)
        ys.removeAll(keepingCapacity: true)
        priors.removeAll(keepingCapacity: true)
        supports.removeAll(keepingCapacity: true)
        totals.removeAll(keepingCapacity: true)
        let each = (1 - IntegrityConstants.gridShare) / Float(max(count, 1))
        var latest: MapCells?
        for index in 0..<count {
            let (map, point) = belief(index)
            if latest?.mapIndex != map { latest = MapCells(field, mapIndex: map) }
            guard let cells = latest, let cell = cells.grid.cell(at: point) else { continue }
            append(cell, of: cells, point: point, prior: each)
        }
        beliefCount = priors.count
        for index in field.maps.indices where likelihood.isInQuestion(mapIndex: index) {
            placeCells(MapCells(field, mapIndex: index))
        }
        var all: Float = 0
        for index in beliefCount..<priors.count { all += priors[index] }
        let scale = (beliefCount > 0 ? IntegrityConstants.gridShare : 1) / max(all, 1e-20)
        for index in beliefCount..<priors.count { priors[index] *= scale }
    }

    /// The values that the candidates of a map share. A lock protects the cells' values, so they are read once.
    private struct MapCells {
        let mapIndex: Int
        let grid: MapGrid
        let priors: [Float]
        /// The logarithms of the detections per second of all beacons; empty without a survey.
        let logRates: [Float]

        init(_ field: SignalField, mapIndex: Int) {
            let map = field.maps[mapIndex]
            (self.mapIndex, grid, priors) = (mapIndex, map.grid, map.prior)
            logRates = field.areRatesKnown ? map.logRate : []
        }
    }

    private mutating func placeCells(_ cells: MapCells) {
        let grid = cells.grid
        let stride = max(1, Int((Double(grid.count) / Double(IntegrityConstants.mapCount)).squareRoot().rounded(.up)))
        let area = Float(grid.cellSize * grid.cellSize) * Float(stride * stride)
        for row in Swift.stride(from: min(stride / 2, grid.rows - 1), to: grid.rows, by: stride) {
            for column in Swift.stride(from: min(stride / 2, grid.columns - 1), to: grid.columns, by: stride) {
                let cell = row * grid.columns + column
                let weight = max(cells.priors[cell], IntegrityConstants.leastCellWeight) * area
                append(cell, of: cells, point: grid.center(of: cell), prior: weight)
            }
        }
    }

    private mutating func append(_ cell: Int, of cells: MapCells, point: MapPoint, prior: Float) {
        maps.append(Int32(cells.mapIndex))
        columns.append(Int32(cell % cells.grid.columns))
        rows.append(Int32(cell / cells.grid.columns))
        xs.append(Float(point.x))
        ys.append(Float(point.y))
        priors.append(prior)
        supports.append(cells.priors[cell])
        totals.append(cells.logRates.isEmpty ? 0 : cells.logRates[cell])
    }

    // MARK: Posterior

    /// Computes the posterior.
    ///
    /// - Parameters:
    ///   - faults: the prior probability of a fault of each detected beacon, in the order of the evidence.
    ///   - receiver: the receiver offset, and its variance in dB².
    ///   - scale: the factor on the standard deviations of the readings.
    mutating func weigh(
        _ likelihood: Likelihood, faults: [Float], receiver: (value: Double, variance: Double), scale: Double
    ) {
        let field = likelihood.field
        let (heard, count) = (likelihood.evidence.heard, priors.count)
        guard count > 0, !heard.isEmpty else { return }
        // With a variance of 0, the offset's prior gets the smallest variance that the computation supports.
        let doubt = max(Float(receiver.variance), 1e-3)
        fill(heard, field, offset: Float(receiver.value), scale: Float(scale * scale))
        offsets.resize(to: 0, with: 0)
        offsets.resize(to: count, with: 0)
        sums.resize(to: count, with: 0)
        let passes = IntegrityConstants.offsetPasses
        for pass in 0..<(doubt > passes.doubt ? passes.many : passes.few) {
            cmath_offsets(
                residuals, variances, faults, heard.count, count, IntegrityConstants.faultyRange, 1 / doubt,
                pass == 0 ? doubt : 0, &offsets, &sums)
        }
        exponents.resize(to: count, with: 0)
        products.resize(to: count, with: 0)
        posterior.resize(to: count, with: 0)
        var all = 0.0
        cmath_consensus(
            residuals, variances, rates, faults, heard.count, priors, offsets, sums, count,
            1 / IntegrityConstants.faultyRange, IntegrityConstants.faultyShare / Float(heard.count), doubt, &healthy,
            &terms, &exponents, &products,
            &posterior, &all)
        guard all > 0, all.isFinite else { return tests.removeAll(keepingCapacity: true) }
        summarize(field, receiver.value)
        test(heard, field)
    }

    /// Looks up the expected values of each reading at each candidate.
    private mutating func fill(_ heard: [Evidence.Heard], _ field: SignalField, offset: Float, scale: Float) {
        let count = priors.count
        let size = heard.count * count
        residuals.resize(to: size, with: 0)
        variances.resize(to: size, with: 0)
        rates.resize(to: size, with: 0)
        healthy.resize(to: size, with: 0)
        terms.resize(to: size, with: 0)
        var expected = cmath_expected()
        expected.noise = Float(field.readingDeviation * field.readingDeviation) + IntegrityConstants.bodyVariance
        expected.scale = scale
        expected.outside_mean = SignalField.inaudible
        expected.outside_variance = Float(field.model.shadowing * field.model.shadowing)
        expected.outside_log_rate = cmath_logf(Float(field.unheardRate))
        let power = field.areRatesKnown ? Float(field.model.detectionWeight) : 0
        var start = 0
        while start < count {
            let tables = field.maps[Int(maps[start])].tables
            let end = maps[start...].firstIndex { $0 != maps[start] } ?? count
            for (index, reading) in heard.enumerated() {
                expected.level = reading.rssi - offset
                expected.fading = reading.variance
                expected.power = power * (field.hearingLimit?.share(ofLevel: expected.level) ?? 1)
                look(tables[reading.beacon], expected, start..<end, target: index * count + start)
            }
            start = end
        }
    }

    /// Looks up the expected values of one reading at candidates of one map.
    private mutating func look(
        _ table: SignalField.Table?, _ expected: cmath_expected, _ places: Range<Int>, target: Int
    ) {
        var expected = expected
        guard let table else {
            return cmath_expect(
                &expected, columns, rows, totals, places.lowerBound, places.count, target, &residuals, &variances,
                &rates)
        }
        expected.first_column = Int32(table.columns.lowerBound)
        expected.columns = Int32(table.columns.count)
        expected.first_row = Int32(table.rows.lowerBound)
        expected.rows = Int32(table.rows.count)
        table.mean.withUnsafeBufferPointer { mean in
            table.variance.withUnsafeBufferPointer { variance in
                table.logRate.withUnsafeBufferPointer { logRate in
                    expected.mean = mean.baseAddress
                    expected.variance = variance.baseAddress
                    expected.log_rate = logRate.baseAddress
                    cmath_expect(
                        &expected, columns, rows, totals, places.lowerBound, places.count, target, &residuals,
                        &variances, &rates)
                }
            }
        }
    }

    private mutating func summarize(_ field: SignalField, _ value: Double) {
        mapShares.removeAll(keepingCapacity: true)
        for _ in field.maps { mapShares.append(0) }
        (strayShare, offset) = (0, value)
        for place in posterior.indices {
            let weight = Double(posterior[place])
            mapShares[Int(maps[place])] += weight
            offset += weight * Double(offsets[place])
            if place >= beliefCount { strayShare += weight }
        }
        mapIndex = mapShares.indices.max { mapShares[$0] < mapShares[$1] } ?? 0
        var (all, x, y, squares) = (0.0, 0.0, 0.0, 0.0)
        for place in posterior.indices where maps[place] == Int32(mapIndex) {
            let (weight, px, py) = (Double(posterior[place]), Double(xs[place]), Double(ys[place]))
            all += weight
            x += weight * px
            y += weight * py
            squares += weight * (px * px + py * py)
        }
        mean = MapPoint(x: x / all, y: y / all)
        variance = max(0, squares / all - mean.x * mean.x - mean.y * mean.y)
    }

    /// Tests each beacon against the posterior without it.
    private mutating func test(_ heard: [Evidence.Heard], _ field: SignalField) {
        tests.removeAll(keepingCapacity: true)
        let count = priors.count
        withUnsafeTemporaryAllocation(of: cmath_test.self, capacity: heard.count) { results in
            guard let sums = results.baseAddress else { return }
            cmath_tests(
                maps, xs, ys, priors, supports, posterior, offsets, self.sums, count, beliefCount, Int32(mapIndex),
                residuals, variances, rates, healthy, terms, heard.count, sums)
            for (index, reading) in heard.enumerated() {
                add(results[index], of: reading, first: index * count, field)
            }
        }
    }

    /// Adds the test of one beacon.
    ///
    /// - Parameter first: the first index of the reading's values.
    private mutating func add(_ result: cmath_test, of reading: Evidence.Heard, first: Int, _ field: SignalField) {
        // The sum of the posterior without this beacon, up to a constant; the beacon's factor is the ratio of its
        // mixture to the faulty part of the mixture.
        let all = result.all
        guard all > 1e-30 else { return }
        let residual = result.residual / all
        let faulty = 1 / Double(IntegrityConstants.faultyRange)
        var test = Test(
            beacon: reading.beacon, logRatio: cmath_log(faulty / max(result.level / all, 1e-12)), residual: residual,
            variance: result.variance / all + max(0, result.square / all - residual * residual),
            point: result.here > 0 ? MapPoint(x: result.x / result.here, y: result.y / result.here) : mean,
            ownPoint: result.alone > 0
                ? MapPoint(x: result.own_x / result.alone, y: result.own_y / result.alone) : mean,
            isOnMap: result.here > all / 2, fault: min(all, 1), support: result.support / all)
        if !field.isPowerSurveyed(reading.beacon) {
            let deviation = Float(field.model.powerDeviation)
            test.excessRatio = excessRatio(first: first, sum: all, lastingVariance: deviation * deviation)
        }
        tests.append(test)
    }

    /// Returns the logarithm of the ratio between the probability of a reading if the beacon is faulty and its
    /// probability if the beacon is healthy but any weaker level is as probable as the expected one. Walls and bodies
    /// attenuate the signal, and no survey has measured by how much.
    ///
    /// - Parameters:
    ///   - first: the first index of the reading's values.
    ///   - sum: the sum of the posterior without the beacon.
    ///   - lastingVariance: variance in dB² of the persistent error of the beacon's power.
    private func excessRatio(first: Int, sum: Double, lastingVariance: Float) -> Double {
        var healthy = 0.0
        cmath_excess(
            posterior, offsets, sums, posterior.count, residuals, variances, terms, first, lastingVariance, &healthy)
        return -cmath_log(Double(IntegrityConstants.faultyRange) * max(healthy / sum, 1e-12))
    }
}
