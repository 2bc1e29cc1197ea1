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
        let particles = belief.filter.particles
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
        let (offset, model) = (device.offsets[mapIndex], field.model)
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
        let (grid, particles) = (field.maps[mapIndex].grid, belief.filter.particles)
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
        let (mean, model, offset) = (sum / received, field.model, device.offsets[mapIndex])
        guard mean > Double(SignalField.inaudible) else { return nil }
        let noise = field.readingDeviation * field.readingDeviation + model.fastFading * model.fastFading
        let spread = max(0, squares / received - mean * mean)
        return ExpectedRSSI(
            mean: mean + offset.value,
            deviation: (spread + variance / received + offset.variance + noise).squareRoot())
    }
}

extension PositioningEngine {
    /// Returns the error covariance of a point on a map, scaled to the radius.
    func covariance(mapIndex: Int, around point: MapPoint, radius: Double) -> PositionCovariance? {
        guard let shape = belief.filter.covariance(mapIndex: mapIndex, around: point) else { return nil }
        // The lower bound of the radius is isotropic.
        let floor = radiusFloor / PositionCovariance.radiusOfDeviation
        let (xx, yy) = (shape.xx + floor * floor, shape.yy + floor * floor)
        let wanted = radius / PositionCovariance.radiusOfDeviation
        let scale = 2 * wanted * wanted / (xx + yy)
        guard scale.isFinite else { return nil }
        return PositionCovariance(xx: xx * scale, xy: shape.xy * scale, yy: yy * scale)
    }

    /// Returns the probability of each room given that the device is on a map, by room index, for rooms with a
    /// probability above 0.
    package func roomShares(on map: MapID, in rooms: inout RoomCells) -> [(room: Int, share: Double)] {
        guard !rooms.index.rooms.isEmpty, let mapIndex = field.maps.firstIndex(where: { $0.mapID == map }) else {
            return []
        }
        let grid = field.maps[mapIndex].grid
        guard settings.method == .particle else {
            let weights = belief.memoryless.cellWeights(mapIndex: mapIndex, grid: grid)
            let cells = weights.indices.map { Int32($0 + 1) }
            return Self.shares(rooms.sums(of: cells, weights: weights[...], on: map, grid: grid))
        }
        let members = belief.filter.particles.range(of: mapIndex)
        var cells = [Int32](repeating: 0, count: members.count)
        var place = grid.cells
        cmath_cells(
            &place, members.lowerBound, members.count, belief.filter.particles.x, belief.filter.particles.y, &cells)
        return Self.shares(rooms.sums(of: cells, weights: belief.filter.particles.weight[members], on: map, grid: grid))
    }

    private static func shares(
        _ sums: (rooms: [(room: Int, weight: Double)], total: Double)
    ) -> [(room: Int, share: Double)] {
        sums.total > 0 ? sums.rooms.map { ($0.room, $0.weight / sums.total) } : []
    }
}

extension ParticleFilter {
    /// Returns the covariance of a map's particles about a point, in m²; nil if the sum of their weights is zero.
    func covariance(mapIndex: Int, around point: MapPoint) -> PositionCovariance? {
        // Once: without optimization, each access copies the arrays.
        let particles = particles
        var (all, xx, xy, yy) = (0.0, 0.0, 0.0, 0.0)
        for index in particles.range(of: mapIndex) {
            let weight = Double(particles.weight[index])
            let (dx, dy) = (Double(particles.x[index]) - point.x, Double(particles.y[index]) - point.y)
            all += weight
            xx += weight * dx * dx
            xy += weight * dx * dy
            yy += weight * dy * dy
        }
        return all > 0 ? PositionCovariance(xx: xx / all, xy: xy / all, yy: yy / all) : nil
    }
}

/// The room of each grid cell of a map, looked up on first use.
package struct RoomCells: Sendable {
    /// The index of the rooms.
    package let index: RoomIndex
    private var roomsByMap: [MapID: CellRooms] = [:]

    /// The rooms of one map's cells, as positions in the room index.
    private struct CellRooms: Sendable {
        var grid: MapGrid
        var places: [Int32]
    }

    private static let unknown: Int32 = -2
    private static let none: Int32 = -1

    /// Creates an empty lookup.
    package init(_ index: RoomIndex) { self.index = index }

    /// Sums the weights of cells by the room that contains the center of each cell.
    ///
    /// - Parameter cells: the cells, numbered from 1 in the grid; 0 is outside it.
    /// - Returns: the rooms by their position in the index, in order, and the sum of all weights.
    mutating func sums(
        of cells: [Int32], weights: ArraySlice<Float>, on map: MapID, grid: MapGrid
    ) -> (rooms: [(room: Int, weight: Double)], total: Double) {
        guard !index.rooms.isEmpty else { return ([], 0) }
        // Remove the entry and store it again below: the loop then neither copies it nor looks it up for each cell.
        var rooms =
            roomsByMap.removeValue(forKey: map).flatMap { $0.grid == grid ? $0 : nil }
            ?? CellRooms(grid: grid, places: Array(repeating: Self.unknown, count: grid.count))
        defer { roomsByMap[map] = rooms }
        var sums = [Double](repeating: 0, count: index.rooms.count)
        var total = 0.0
        for offset in 0..<min(cells.count, weights.count) {
            let weight = weights[weights.startIndex + offset]
            total += Double(weight)
            guard cells[offset] > 0 else { continue }
            let cell = Int(cells[offset]) - 1
            if rooms.places[cell] == Self.unknown {
                rooms.places[cell] = index.place(at: grid.center(of: cell), on: map).map { Int32($0) } ?? Self.none
            }
            let place = Int(rooms.places[cell])
            if place >= 0 { sums[place] += Double(weight) }
        }
        return (sums.enumerated().filter { $0.element > 0 }.map { ($0.offset, $0.element) }, total)
    }
}

extension PositioningEngine {
    /// Maximum time in seconds between two steps of a walker.
    private static let longestStep = 1.2
    /// Minimum length of the mean direction vector, which is 1 if all particles agree.
    private static let leastAgreement = 0.3

    /// Minimum share of particles that walk in one direction; below it, the device may as well be standing.
    private static let leastWalking = 0.5

    /// Returns the course of the device in degrees clockwise from the plan's top; nil while the device stands or if the
    /// course is unclear.
    ///
    /// If a motion sensor is available, the steps determine the course, and the absence of steps means that the device
    /// stands. Otherwise, the course is the mean velocity of the particles, and is reported only if a beacon was
    /// detected.
    ///
    /// - Parameter velocity: mean velocity of the map's particles.
    func course(_ velocity: MapPoint, mapIndex: Int) -> Double? {
        guard steps.isSensed || !hasHeard else {
            let agreement = belief.filter.walkingAgreement(mapIndex: mapIndex)
            return agreement >= Self.leastWalking ? velocity.course : nil
        }
        guard let step = steps.latest, let now = clock.latestAdvance, let heading = step.heading,
            step.instant.seconds(to: now) <= Self.longestStep
        else { return nil }
        let lean = belief.filter.lean(mapIndex: mapIndex)
        guard cmath_hypot(lean.x, lean.y) >= Self.leastAgreement else { return nil }
        return Degrees.course((heading + cmath_atan2(lean.y, lean.x)) * 180 / .pi)
    }
}

extension ParticleFilter {
    /// Returns the degree to which a map's particles walk in one direction: 1 if all of them do, 0 if they stand or
    /// walk in all directions.
    func walkingAgreement(mapIndex: Int) -> Double {
        // Once: without optimization, each access copies the arrays.
        let particles = particles
        var (all, x, y) = (0.0, 0.0, 0.0)
        for index in particles.range(of: mapIndex) {
            let weight = Double(particles.weight[index])
            all += weight
            guard particles.isWalking[index] else { continue }
            let (vx, vy) = (Double(particles.velocityX[index]), Double(particles.velocityY[index]))
            let speed = max((vx * vx + vy * vy).squareRoot(), 1e-6)
            x += weight * vx / speed
            y += weight * vy / speed
        }
        return all > 0 ? cmath_hypot(x, y) / all : 0
    }

    /// Returns the mean angle between walking direction and device heading on a map, as a vector of length up to 1;
    /// zero without particles.
    func lean(mapIndex: Int) -> (x: Double, y: Double) {
        // Once: without optimization, each access copies the arrays.
        let particles = particles
        var (all, x, y) = (0.0, 0.0, 0.0)
        for index in particles.range(of: mapIndex) {
            let (weight, bias) = (Double(particles.weight[index]), Double(particles.bias[index]))
            all += weight
            x += weight * cmath_cos(bias)
            y += weight * cmath_sin(bias)
        }
        return all > 0 ? (x / all, y / all) : (0, 0)
    }
}

extension PositioningEngine {
    /// The position on each map in the form that a session memory stores; empty before any evidence, and for methods
    /// without a filter state.
    package var places: [SessionMemory.Place] {
        guard learnedMapIndex != nil else { return [] }
        let probabilities = mapProbabilities
        return field.maps.indices.compactMap { mapIndex in
            let map = field.maps[mapIndex].mapID
            guard let probability = probabilities[map], let mean = belief.filter.moments(mapIndex: mapIndex)?.mean,
                let spread = belief.filter.covariance(mapIndex: mapIndex, around: mean),
                (spread.xx + spread.yy).isFinite
            else { return nil }
            return SessionMemory.Place(
                mapID: map, probability: min(max(probability, 0), 1), point: mean, varianceX: spread.xx,
                varianceY: spread.yy, covariance: spread.xy)
        }
    }
}
