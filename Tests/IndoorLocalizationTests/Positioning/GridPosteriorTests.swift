import IndoorLocalization
import XCTest
@testable import IndoorPositioning

final class GridPosteriorTests: XCTestCase {
    private typealias Stage = PositioningStage

    func testCellsAreDrawnAsOftenAsTheyAreProbable() {
        let seed: UInt64 = 6
        var generator = SeededGenerator(seed: seed)
        let field = Stage.surveyedField
        let evidence = Stage.evidence(at: MapPoint(x: 13, y: 7), beacons: [1, 4])
        let receiver = Stage.offset(deviation: 3, bodyDeviation: 2)
        let size = field.maps[0].grid.count
        var logarithms = [Float](repeating: 0, count: size)
        let likelihood = Stage.likelihood(field, evidence, receiver: receiver)
        likelihood.addRates(toGrid: &logarithms, mapIndex: 0)
        var scratch = Likelihood.GridScratch()
        likelihood.hear(grid: &logarithms, mapIndex: 0, scratch: &scratch)
        let best = logarithms.max() ?? 0
        let weights = zip(logarithms, field.maps[0].prior).map { Double($1 * exp($0 - best)) }
        let total = weights.reduce(0, +)
        let count = 20_000
        var drawn = [Int](repeating: 0, count: weights.count)
        let posterior = GridPosterior(Likelihood(field: field, evidence: evidence, receivers: [receiver]))
        for cell in posterior.draw(count, mapIndex: 0, using: &generator) { drawn[cell] += 1 }
        XCTAssertEqual(drawn.reduce(0, +), count)
        // Evenly spread draws miss a cell's expectation by at most one.
        for cell in weights.indices {
            XCTAssertEqual(Double(drawn[cell]), Double(count) * weights[cell] / total, accuracy: 1.1, "seed \(seed)")
        }
    }

    /// The rows that share a likelihood have it from their middle, so that the posterior isn't shifted.
    func testACoarsePosteriorHasTheMomentsOfTheFineOne() throws {
        var venue = Stage.venue
        venue.maps = [Stage.map()]
        (venue.maps[0].width, venue.maps[0].height) = (40, 40)
        let field = SignalField(venue: venue)
        XCTAssertGreaterThanOrEqual(field.maps[0].grid.count, 1000)
        for place in [MapPoint(x: 5, y: 5), MapPoint(x: 13, y: 7), MapPoint(x: 9, y: 15)] {
            let likelihood = Stage.likelihood(
                field, Stage.evidence(at: place), receiver: Stage.offset(deviation: 3, bodyDeviation: 2))
            let (fine, coarse) = (GridPosterior(likelihood), GridPosterior(likelihood, isCoarse: true))
            let expected = try XCTUnwrap(fine.moments(mapIndex: 0, field: field))
            let moments = try XCTUnwrap(coarse.moments(mapIndex: 0, field: field))
            XCTAssertNotEqual(expected.mean, moments.mean, "rows share a likelihood")
            XCTAssertLessThan(expected.mean.distance(to: moments.mean), 0.3, "\(place)")
            XCTAssertEqual(moments.variance, expected.variance, accuracy: 0.2 * expected.variance + 0.5, "\(place)")
        }
    }

    func testZeroDrawsReturnNoCells() {
        var generator = SeededGenerator(seed: 1)
        let posterior = GridPosterior(
            Stage.likelihood(Stage.packetField, Stage.evidence(at: MapPoint(x: 5, y: 5)), receiver: Stage.offset()))
        XCTAssertTrue(posterior.draw(0, mapIndex: 0, using: &generator).isEmpty)
    }

    func testTheLevelWhereTheBeaconsAreLoudEnoughHasMoreEvidence() {
        let evidence = Stage.evidence(at: MapPoint(x: 2.2, y: 2.2))
        let posterior = GridPosterior(
            Likelihood(field: Stage.twoFloorField, evidence: evidence, receivers: [Stage.offset(), Stage.offset()]))
        XCTAssertGreaterThan(posterior.mapEvidence[0], posterior.mapEvidence[1] + 2)
    }

    func testALevelWithTwiceTheMatchingAreaHasTwiceTheEvidence() {
        var venue = Stage.venue
        venue.maps = [Stage.map(), Stage.map(Stage.gallery, level: 1)]
        venue.maps[1].height = 40
        venue.beacons = []
        let field = SignalField(venue: venue)
        let nothing = Evidence(duration: 1, heard: [])
        let posterior = GridPosterior(
            Likelihood(field: field, evidence: nothing, receivers: [Stage.offset(), Stage.offset()]))
        XCTAssertEqual(posterior.mapEvidence[1] - posterior.mapEvidence[0], log(2), accuracy: 1e-3)
    }

    /// A receiver that hears everything weaker or stronger hears it at the same place.
    func testThePosteriorLocatesAReceiverWithAnOffset() throws {
        let place = MapPoint(x: 13, y: 7)
        for field in [Stage.packetField, Stage.surveyedField] {
            let receivers = [Stage.offset(deviation: 9, bodyDeviation: 2)]
            func mean(shift: Float) throws -> MapPoint {
                var evidence = Stage.evidence(at: place)
                for index in evidence.heard.indices { evidence.heard[index].rssi += shift }
                let posterior = GridPosterior(Likelihood(field: field, evidence: evidence, receivers: receivers))
                return try XCTUnwrap(posterior.moments(mapIndex: 0, field: field)).mean
            }
            let plain = try mean(shift: 0)
            XCTAssertLessThan(plain.distance(to: place), 1.5)
            for shift in [-15, 15] as [Float] {
                XCTAssertLessThan(
                    try mean(shift: shift).distance(to: plain), 1, "\(shift) dB, rates known: \(field.areRatesKnown)")
            }
        }
    }

    func testThePosteriorTrustsTheRSSIOfTheSurveysReceiver() throws {
        // One beacon alone: 15 dB more are nearer to it, unless the receiver may be the reason.
        var evidence = Stage.evidence(at: MapPoint(x: 8, y: 8), beacons: [0])
        evidence.heard[0].rssi += 15
        func distance(deviation: Double) throws -> Double {
            let posterior = GridPosterior(
                Stage.likelihood(Stage.packetField, evidence, receiver: Stage.offset(deviation: deviation)))
            let mean = try XCTUnwrap(posterior.moments(mapIndex: 0, field: Stage.packetField)).mean
            return mean.distance(to: Stage.beaconPoints[0])
        }
        XCTAssertLessThan(try distance(deviation: 0), 4)
        XCTAssertGreaterThan(try distance(deviation: 20), 6)
    }

    func testThePosteriorReusesItsMemoryForOtherEvidence() {
        let (here, there) = (Stage.evidence(at: MapPoint(x: 3, y: 3)), Stage.evidence(at: MapPoint(x: 16, y: 14)))
        let receivers = [Stage.offset(deviation: 9, bodyDeviation: 2), Stage.offset(deviation: 9, bodyDeviation: 2)]
        var posterior = GridPosterior(Likelihood(field: Stage.twoFloorField, evidence: here, receivers: receivers))
        posterior.weigh(Likelihood(field: Stage.twoFloorField, evidence: there, receivers: receivers))
        let fresh = GridPosterior(Likelihood(field: Stage.twoFloorField, evidence: there, receivers: receivers))
        XCTAssertEqual(posterior.mapEvidence, fresh.mapEvidence)
        for mapIndex in 0...1 {
            let (one, other) = (
                posterior.moments(mapIndex: mapIndex, field: Stage.twoFloorField),
                fresh.moments(mapIndex: mapIndex, field: Stage.twoFloorField)
            )
            XCTAssertEqual(one?.mean, other?.mean)
        }
    }
}

final class OccupiedCellsTests: XCTestCase {
    private static let grid = MapGrid(from: MapPoint(x: -1, y: 2), to: MapPoint(x: 19, y: 12), cellSize: 0.7)

    func testEachParticleHasTheCellOfItsGrid() {
        let seed: UInt64 = 21
        let particles = Self.particles(count: 2000, seed: seed)
        var occupied = OccupiedCells()
        var (lookup, all): ([Int32], [Int32]) = ([], [])
        occupied.find(particles, 0..<2000, grid: Self.grid, lookup: &lookup, all: &all)
        for index in 0..<2000 {
            let point = MapPoint(x: Double(particles.x[index]), y: Double(particles.y[index]))
            let offset = ((point.x + 1) / Self.grid.cellSize, (point.y - 2) / Self.grid.cellSize)
            // At an edge, rounding decides.
            guard abs(offset.0 - offset.0.rounded()) > 1e-5, abs(offset.1 - offset.1.rounded()) > 1e-5 else { continue }
            let cell = Self.grid.cell(at: point).map(Int32.init) ?? -1
            XCTAssertEqual(occupied.cells[Int(occupied.slots[index])], cell, "particle \(index), seed \(seed)")
            XCTAssertEqual(all[index], cell + 1, "particle \(index), seed \(seed)")
        }
        XCTAssertEqual(Set(occupied.cells).count, occupied.cells.count)
        XCTAssertTrue(occupied.cells.contains(-1))
    }

    func testTheSearchRestoresItsScratchMemory() {
        var occupied = OccupiedCells()
        var (lookup, all): ([Int32], [Int32]) = ([], [])
        for seed in UInt64(1)...3 {
            let particles = Self.particles(count: 300, seed: seed)
            occupied.find(particles, 0..<300, grid: Self.grid, lookup: &lookup, all: &all)
            XCTAssertEqual(Set(lookup), [-1], "seed \(seed)")
            XCTAssertEqual(occupied.slots.count, 300)
        }
    }

    func testTheCellsOfSomeParticlesAreThoseOfTheRangeAlone() {
        let particles = Self.particles(count: 500, seed: 5)
        var (some, every) = (OccupiedCells(), OccupiedCells())
        var (lookup, all, whole): ([Int32], [Int32], [Int32]) = ([], [], [])
        every.find(particles, 0..<500, grid: Self.grid, lookup: &lookup, all: &whole)
        some.find(particles, 100..<400, grid: Self.grid, lookup: &lookup, all: &all)
        XCTAssertEqual(all, Array(whole[100..<400]))
        XCTAssertEqual(some.slots.map { some.cells[Int($0)] + 1 }, all)
    }

    func testWithoutParticlesNoCellIsOccupied() {
        var occupied = OccupiedCells()
        var (lookup, all): ([Int32], [Int32]) = ([], [])
        occupied.find(ParticleFilter.Particles(), 0..<0, grid: Self.grid, lookup: &lookup, all: &all)
        XCTAssertTrue(occupied.cells.isEmpty && occupied.slots.isEmpty && all.isEmpty)
    }

    func testTheParticlesOfALevelLieTogether() {
        var particles = ParticleFilter.Particles()
        particles.mapIndex = [0, 0, 2, 2, 2, 5]
        XCTAssertEqual((0...6).map { particles.range(of: $0) }, [0..<2, 2..<2, 2..<5, 5..<5, 5..<5, 5..<6, 6..<6])
    }

    /// Particles in and around the grid, a few of them nowhere.
    private static func particles(count: Int, seed: UInt64) -> ParticleFilter.Particles {
        var generator = SeededGenerator(seed: seed)
        var particles = ParticleFilter.Particles()
        for index in 0..<count {
            particles.x.append(index % 97 == 0 ? .nan : Float(24 * generator.uniform() - 3))
            particles.y.append(index % 89 == 0 ? -.infinity : Float(14 * generator.uniform()))
            particles.weight.append(Float(generator.uniform()))
        }
        return particles
    }
}

/// The ellipse and the rooms of a position.
final class PositionSpreadTests: XCTestCase {
    func testTheEllipseOfARoundErrorIsACircle() throws {
        let ellipse = try XCTUnwrap(PositionCovariance(xx: 4, xy: 0, yy: 4).ellipse(probability: 0.68))
        // √(−2 ln 0.32) = 1.5096 deviations.
        XCTAssertEqual(ellipse.semiMajorAxis, 3.019, accuracy: 1e-3)
        XCTAssertEqual(ellipse.semiMinorAxis, 3.019, accuracy: 1e-3)
    }

    /// The plan's y axis points down: a corridor from the upper left to the lower right lies at 135° from the top.
    func testTheLongAxisHasACompassDirection() throws {
        let corridor = try XCTUnwrap(PositionCovariance(xx: 5, xy: 4, yy: 5).ellipse())
        XCTAssertEqual(corridor.direction, 135, accuracy: 1e-9)
        XCTAssertEqual(corridor.semiMajorAxis / corridor.semiMinorAxis, 3, accuracy: 1e-9)
        XCTAssertEqual(try XCTUnwrap(PositionCovariance(xx: 5, xy: -4, yy: 5).ellipse()).direction, 45, accuracy: 1e-9)
        XCTAssertEqual(try XCTUnwrap(PositionCovariance(xx: 9, xy: 0, yy: 1).ellipse()).direction, 90, accuracy: 1e-9)
        XCTAssertEqual(try XCTUnwrap(PositionCovariance(xx: 1, xy: 0, yy: 9).ellipse()).direction, 0, accuracy: 1e-9)
    }

    func testTheEllipseContainsItsStatedShareOfErrors() throws {
        var generator = SeededGenerator(seed: 4)
        let covariance = PositionCovariance(xx: 9, xy: 3, yy: 4)
        for probability in [0.3, 0.68, 0.95] {
            let ellipse = try XCTUnwrap(covariance.ellipse(probability: probability))
            let course = ellipse.direction * .pi / 180
            var inside = 0
            for _ in 0..<20_000 {
                // A Cholesky factor of the matrix: (3, 0), (1, √3).
                let (u, v) = generator.normalPair()
                let (x, y) = (3 * u, u + 3.0.squareRoot() * v)
                let (along, across) = (x * sin(course) - y * cos(course), x * cos(course) + y * sin(course))
                inside +=
                    pow(along / ellipse.semiMajorAxis, 2) + pow(across / ellipse.semiMinorAxis, 2) <= 1 ? 1 : 0
            }
            XCTAssertEqual(Double(inside) / 20_000, probability, accuracy: 0.012, "seed 4")
        }
    }

    func testAnInvalidCovarianceHasNoEllipse() {
        XCTAssertNil(PositionCovariance(xx: 1, xy: 2, yy: 1).ellipse())
        XCTAssertNil(PositionCovariance(xx: .nan, xy: 0, yy: 1).ellipse())
        for probability in [0, 1, -0.5, 2, .nan] {
            XCTAssertNil(PositionCovariance(xx: 1, xy: 0, yy: 1).ellipse(probability: probability))
        }
    }

    // MARK: - Of a session

    /// Two rooms side by side, and a beacon in the left one.
    private static func venue() -> Venue {
        var venue = SessionStage.office
        venue.rooms = [
            Room(id: 1, name: "left", mapID: 10, area: .polygon(square(0..<5))),
            Room(id: 2, name: "right", mapID: 10, area: .polygon(square(5..<40))),
            Room(id: 3, name: "upstairs", mapID: 11, area: .polygon(square(0..<40))),
            Room(id: 4, name: "trained", mapID: 10),
        ]
        return venue
    }

    private static func square(_ x: Range<Double>) -> [MapPoint] {
        [(x.lowerBound, 0), (x.upperBound, 0), (x.upperBound, 30), (x.lowerBound, 30)].map { MapPoint(x: $0, y: $1) }
    }

    private func positions(of venue: Venue, seed: UInt64 = 0) -> [Position] {
        var settings = LocalizationSettings()
        settings.positioning.particleCount = 2000
        var replay = SessionReplay(venues: [venue], settings: settings, seed: seed)
        var outputs = replay.start()
        for reading in LocalizerStage.walk(from: 0, for: 10) { outputs += replay.handle(reading) }
        return outputs.compactMap { if case .position(let position) = $0.content { position } else { nil } }
    }

    func testAPositionListsTheRoomsThatItCanBeIn() throws {
        let last = try XCTUnwrap(positions(of: Self.venue()).last)
        // The beacons hang above the wall between both: neither is sure.
        XCTAssertEqual(Set(last.rooms.map(\.name)), ["left", "right"])
        XCTAssertEqual(last.rooms.map(\.probability), last.rooms.map(\.probability).sorted(by: >))
        let certainty = try XCTUnwrap(last.floorCertainty)
        XCTAssertEqual(last.rooms.reduce(0) { $0 + $1.probability }, certainty, accuracy: 0.02)
        for room in last.rooms { XCTAssertGreaterThan(room.probability, 0.2, "\(last.rooms)") }
    }

    func testAPositionOmitsRoomsWithoutAShapeOrOnOtherFloors() throws {
        for position in positions(of: Self.venue()) {
            XCTAssertTrue(Set(position.rooms.map(\.id)).isSubset(of: [1, 2]), "\(position.rooms)")
        }
        var venue = SessionStage.office
        venue.rooms = []
        XCTAssertTrue(positions(of: venue).allSatisfy(\.rooms.isEmpty))
    }

    func testTheEllipseIsAsWideAsTheRadius() throws {
        let all = positions(of: Self.venue())
        XCTAssertFalse(all.isEmpty)
        for position in all {
            let covariance = try XCTUnwrap(position.covariance)
            // The circle of 68 % around a round error of the same total variance.
            XCTAssertEqual(1.51 * ((covariance.xx + covariance.yy) / 2).squareRoot(), position.radius, accuracy: 1e-6)
            XCTAssertNotNil(covariance.ellipse())
        }
    }

    /// A long corridor whose beacons stand in a row: across it little is known.
    func testTheEllipseIsLongAlongTheUncertainDirection() throws {
        var filter = ParticleFilter(walls: [WallIndex(walls: [])], motion: MotionModel(), count: 400, seed: 1)
        let points = (0..<400).map { MapPoint(x: 10 + Double($0 % 20) / 2, y: 5 + Double($0 / 20) / 20) }
        filter.particles.place(points, ReceiverOffset(deviation: 0))
        for index in points.indices { filter.particles.weight[index] = 1 }
        let covariance = try XCTUnwrap(filter.covariance(mapIndex: 0, around: MapPoint(x: 14.75, y: 5.475)))
        XCTAssertEqual(covariance.xx, 8.3125, accuracy: 1e-3)
        XCTAssertEqual(covariance.yy, 0.083_125, accuracy: 1e-4)
        XCTAssertEqual(covariance.xy, 0, accuracy: 1e-3)
        XCTAssertNil(filter.covariance(mapIndex: 1, around: MapPoint(x: 0, y: 0)))
    }
}
