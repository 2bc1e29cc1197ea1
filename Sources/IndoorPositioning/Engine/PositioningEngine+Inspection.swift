import CMath
import IndoorVocabulary
import VenueModel

/// The RSSI that a belief expects of a beacon at a point.
package struct ExpectedRSSI: Hashable, Sendable {
    /// The mean in dBm, for this receiver.
    package var mean: Double
    /// The standard deviation in dB of one reading about the mean.
    package var deviation: Double

    /// Creates an expected RSSI.
    package init(mean: Double, deviation: Double) {
        (self.mean, self.deviation) = (mean, deviation)
    }
}

extension PositioningEngine {
    /// Returns whether the venue or its radio map contains a beacon.
    package func contains(_ beacon: BeaconIdentity) -> Bool { field.indexes[beacon] != nil }

    /// Returns particles in proportion to their weights, by systematic sampling without random numbers: each one
    /// represents the same share of the belief, and the same belief gives the same particles.
    ///
    /// The result is empty before any evidence, and for a method without particles.
    /// - Parameter limit: the maximum number of particles.
    package func particles(atMost limit: Int) -> [(mapID: MapID, point: MapPoint)] {
        let particles = filter.particles
        let count = min(limit, particles.count)
        guard settings.method == .particle, count > 0 else { return [] }
        var picks: [Int32] = []
        particles.pick(count, of: 0..<particles.count, start: 0.5, into: &picks)
        return picks.map { pick in
            let index = Int(pick)
            let point = MapPoint(x: Double(particles.x[index]), y: Double(particles.y[index]))
            return (field.maps[Int(particles.mapIndex[index])].mapID, point)
        }
    }

    /// Returns the RSSI that the signal field and the estimated receiver offset predict for a beacon at a point.
    ///
    /// The deviation combines the uncertainty of the field and of the offset with the noise of one reading.
    /// - Returns: nil if the venue doesn't contain the beacon, or where the field predicts no reception of it.
    package func expectedRSSI(of beacon: BeaconIdentity, at point: MapPoint, on map: MapID) -> ExpectedRSSI? {
        guard let index = field.indexes[beacon],
            let mapIndex = field.maps.firstIndex(where: { $0.mapID == map }), field.maps[mapIndex].tables[index] != nil,
            let expected = field.expectation(of: index, at: point, on: map),
            expected.rssi > Double(SignalField.inaudible)
        else { return nil }
        let (offset, model) = (offsets[mapIndex], field.model)
        let noise = field.readingDeviation * field.readingDeviation + model.fastFading * model.fastFading
        return ExpectedRSSI(
            mean: expected.rssi + offset.value,
            deviation: (expected.variance + offset.variance + noise).squareRoot())
    }

    /// The maximum number of particles in an expectation over the belief. Their mean differs from the mean of all
    /// particles by about a tenth of the spread.
    private static let expectationSample = 100

    /// Returns the RSSI that the signal field and the estimated receiver offset predict for a beacon over the belief on
    /// a map.
    ///
    /// The deviation combines the uncertainty of the position, of the field and of the offset with the noise of one
    /// reading.
    /// - Returns: nil if the venue doesn't contain the beacon, without particles on the map, or where the field predicts
    ///   no reception for most of the belief.
    package func expectedRSSI(of beacon: BeaconIdentity, on map: MapID) -> ExpectedRSSI? {
        guard settings.method == .particle, let index = field.indexes[beacon],
            let mapIndex = field.maps.firstIndex(where: { $0.mapID == map }),
            let table = field.maps[mapIndex].tables[index]
        else { return nil }
        let (grid, particles) = (field.maps[mapIndex].grid, filter.particles)
        let range = particles.range(of: mapIndex)
        var (all, received, sum, squares, variance) = (0.0, 0.0, 0.0, 0.0, 0.0)
        for place in stride(from: range.lowerBound, to: range.upperBound, by: 1 + range.count / Self.expectationSample)
        {
            let weight = Double(particles.weight[place])
            all += weight
            let point = MapPoint(x: Double(particles.x[place]), y: Double(particles.y[place]))
            guard let cell = grid.cell(at: point),
                let entry = table.index(column: cell % grid.columns, row: cell / grid.columns)
            else { continue }
            let mean = Double(table.mean[entry])
            received += weight
            sum += weight * mean
            squares += weight * mean * mean
            variance += weight * Double(table.variance[entry])
        }
        guard received > all / 2 else { return nil }
        let (mean, model, offset) = (sum / received, field.model, offsets[mapIndex])
        guard mean > Double(SignalField.inaudible) else { return nil }
        let noise = field.readingDeviation * field.readingDeviation + model.fastFading * model.fastFading
        let spread = max(0, squares / received - mean * mean)
        return ExpectedRSSI(
            mean: mean + offset.value,
            deviation: (spread + variance / received + offset.variance + noise).squareRoot())
    }
}
