import CMath
import IndoorVocabulary

extension ParticleFilter {
    /// Weighs the particles of each map by the likelihood of the readings and updates their receiver states. Each map
    /// keeps its share of the total weight.
    ///
    /// - Parameter fill: adds to a sum for each occupied cell; -1 stands for the area outside the grid.
    /// - Returns: the log-likelihood of each map; minus infinity for a map without particles.
    package mutating func weigh(
        _ likelihood: Likelihood, fill: (_ mapIndex: Int, _ cells: [Int32], _ sums: inout [Float]) -> Void
    ) -> [Double] {
        workspace.evidence.removeAll(keepingCapacity: true)
        remember(likelihood)
        defer { use(likelihood.evidence) }
        while workspace.occupied.count < likelihood.field.maps.count { workspace.occupied.append(OccupiedCells()) }
        for mapIndex in likelihood.field.maps.indices {
            let members = particles.range(of: mapIndex)
            guard !members.isEmpty else {
                workspace.evidence.append(-.infinity)
                continue
            }
            workspace.occupied[mapIndex].find(
                particles, members, grid: likelihood.field.maps[mapIndex].grid, lookup: &workspace.lookup,
                all: &workspace.heardCells)
            workspace.cellSums.resize(to: 0, with: 0)
            workspace.cellSums.resize(to: workspace.occupied[mapIndex].cells.count, with: 0)
            fill(mapIndex, workspace.occupied[mapIndex].cells, &workspace.cellSums)
            likelihood.addRates(to: &workspace.cellSums, mapIndex: mapIndex, cells: workspace.occupied[mapIndex].cells)
            workspace.sums.resize(to: members.count, with: 0)
            for (index, slot) in workspace.occupied[mapIndex].slots.enumerated() {
                workspace.sums[index] = workspace.cellSums[Int(slot)]
            }
            likelihood.hear(
                &particles, members, mapIndex: mapIndex, cells: workspace.heardCells, sums: &workspace.sums,
                remembered: remembered)
            likelihood.ranges?.add(
                to: &workspace.sums, x: particles.x, y: particles.y, members, mapIndex: mapIndex)
            workspace.evidence.append(weigh(members))
        }
        return workspace.evidence
    }

    /// Weighs the particles of a map by the logarithms in `sums`.
    private mutating func weigh(_ members: Range<Int>) -> Double {
        guard let best = workspace.sums.max(), best.isFinite else { return -.infinity }
        cmath_exp_below(&workspace.sums, best, workspace.sums.count)
        let before = particles.weight(of: members)
        // The lower bound keeps every particle alive in case the evidence as a whole is an outlier.
        for index in workspace.sums.indices {
            particles.weight[members.lowerBound + index] *= workspace.sums[index] + 1e-6
        }
        let after = particles.weight(of: members)
        // The map's total weight doesn't change.
        let scale = before / after
        guard scale.isFinite else {
            for index in members { particles.weight[index] = before / Float(members.count) }
            return -.infinity
        }
        cmath_multiply(members.lowerBound, members.count, &particles.weight, scale)
        return Double(best) + cmath_log(Double(after / before))
    }

    /// Weighs particles that were drawn from grid cells by the distances to anchors, which are finer than the cells.
    ///
    /// - Parameter cells: the cell that each particle was drawn from.
    mutating func refine(_ members: Range<Int>, cells: [Int], mapIndex: Int, _ likelihood: Likelihood) {
        guard let ranges = likelihood.ranges, !members.isEmpty else { return }
        let grid = likelihood.field.maps[mapIndex].grid
        workspace.sums.resize(to: members.count, with: 0)
        for index in workspace.sums.indices { workspace.sums[index] = 0 }
        ranges.add(to: &workspace.sums, x: particles.x, y: particles.y, members, mapIndex: mapIndex)
        var distances = ranges.scratch
        for (index, cell) in cells.enumerated() {
            workspace.sums[index] -= ranges.logLikelihood(
                inCell: cell, grid: grid, mapIndex: mapIndex, distances: &distances)
        }
        _ = weigh(members)
    }

    /// Updates the receiver states of particles by the evidence that the particles were drawn from.
    mutating func teach(_ members: Range<Int>, mapIndex: Int, _ likelihood: Likelihood) {
        guard !members.isEmpty else { return }
        var place = likelihood.field.maps[mapIndex].grid.cells
        workspace.heardCells.resize(to: members.count, with: 0)
        cmath_cells(&place, members.lowerBound, members.count, particles.x, particles.y, &workspace.heardCells)
        workspace.sums.resize(to: members.count, with: 0)
        likelihood.hear(
            &particles, members, mapIndex: mapIndex, cells: workspace.heardCells, sums: &workspace.sums,
            remembered: remembered)
    }

    /// Returns the mean of the receiver offset on a map in dB and its variance in dB²; nil without particles.
    package func receiverOffset(mapIndex: Int) -> (mean: Double, variance: Double)? {
        particles.receivers.offset(of: particles.range(of: mapIndex), weights: particles.weight)
    }

    /// Sets each map's share of the total weight.
    package mutating func setMapShares(_ probabilities: [Double]) {
        for (mapIndex, probability) in probabilities.enumerated() {
            let members = particles.range(of: mapIndex)
            let sum = particles.weight(of: members)
            let scale = sum > 0 ? Float(probability) / sum : 0
            cmath_multiply(members.lowerBound, members.count, &particles.weight, scale)
        }
    }

    /// Returns the mean position, the sum of the variances along both axes in m², and the mean velocity on a map; nil
    /// without particles.
    package func moments(mapIndex: Int) -> (mean: MapPoint, variance: Double, velocity: MapPoint)? {
        let range = particles.range(of: mapIndex)
        var sums = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        withUnsafeMutableBytes(of: &sums) { sums in
            guard let sums = sums.assumingMemoryBound(to: Double.self).baseAddress else { return }
            cmath_moments(
                range.lowerBound, range.count, particles.x, particles.y, particles.velocityX, particles.velocityY,
                particles.isWalking, particles.weight, sums)
        }
        let (weight, x, y, square, vx, vy) = sums
        guard weight > 1e-6 else { return nil }
        let mean = MapPoint(x: x / weight, y: y / weight)
        let variance = max(0, square / weight - mean.x * mean.x - mean.y * mean.y)
        return (mean, variance, MapPoint(x: vx / weight, y: vy / weight))
    }
}

extension Likelihood {
    /// Adds the log-likelihood of the readings at each particle of a range and updates the particles' receiver states and
    /// lasting errors.
    ///
    /// - Parameters:
    ///   - cells: the cell of each particle in the range, numbered from 1 in the map's grid; 0 is outside it.
    ///   - remembered: the beacons of the lasting errors.
    package func hear(
        _ particles: inout ParticleFilter.Particles, _ range: Range<Int>, mapIndex index: Int, cells: [Int32],
        sums: inout [Float], remembered: RememberedBeacons = RememberedBeacons()
    ) {
        let columns = Int32(field.maps[index].grid.columns)
        precondition(sums.count >= range.count && cells.count >= range.count, "too few sums or cells")
        particles.hear { x, y, receivers, errors in
            precondition(errors.slots == 0 || errors.count >= range.upperBound, "too few lasting errors")
            forEachReading(mapIndex: index, remembered) { reading, heard, slot in
                guard let slot else {
                    return cmath_hear(&reading, columns, cells, x, y, range.lowerBound, range.count, receivers, &sums)
                }
                errors.withPointers(slot.index, after: evidence.time - slot.latest, fading: heard.variance) { last in
                    cmath_hear_lasting(
                        &reading, &last, columns, cells, x, y, range.lowerBound, range.count, receivers, &sums)
                }
            }
        }
    }
}
