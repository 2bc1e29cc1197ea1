import IndoorLocalization
import XCTest
@testable import IndoorPositioning

final class ParticleFilterTests: XCTestCase {
    private typealias Stage = PositioningStage
    private typealias Stride = ParticleFilter.Stride
    private static let wall = [MapPoint(x: 10, y: -5), MapPoint(x: 10, y: 25)]

    func testANewFilterHasNoParticles() {
        let filter = Self.empty(count: 500)
        XCTAssertTrue(filter.isEmpty)
        XCTAssertNil(filter.moments(mapIndex: 0))
    }

    func testRedistributingGivesEachLevelItsShare() {
        var filter = Self.empty(count: 1000, mapCount: 2)
        Self.redistribute(&filter, to: [0.7, 0.3])
        XCTAssertEqual(Self.members(filter, of: 0), 700)
        XCTAssertEqual(Self.members(filter, of: 1), 300)
        XCTAssertEqual(Self.weight(filter, of: 0), 0.7, accuracy: 1e-4)
        XCTAssertEqual(Self.weight(filter, of: 1), 0.3, accuracy: 1e-4)
    }

    func testAnImprobableLevelHasTheFewestParticles() {
        var filter = Self.empty(count: 1000, mapCount: 2)
        Self.redistribute(&filter, to: [1, 0])
        XCTAssertEqual(Self.members(filter, of: 1), 100)
        XCTAssertEqual(Self.weight(filter, of: 1), 0)
    }

    func testRedistributingAgainKeepsWhereTheParticlesWere() throws {
        var filter = Self.cloud(at: MapPoint(x: 4, y: 15), count: 1000)
        Self.redistribute(&filter, to: [1], share: 0)
        let mean = try XCTUnwrap(filter.moments(mapIndex: 0)).mean
        XCTAssertEqual(mean.distance(to: MapPoint(x: 4, y: 15)), 0, accuracy: 0.01)
    }

    func testTheShareOfParticlesIsDrawnFromTheEvidence() {
        var filter = Self.cloud(at: MapPoint(x: 100, y: 100), count: 1000)
        Self.redistribute(&filter, to: [1], share: 0.2)
        XCTAssertEqual(filter.particles.x.filter { $0 < 50 }.count, 200)
    }

    func testOnARemoteLevelTheFilterDrawsAllParticlesFromTheEvidence() {
        for (share, fresh) in [(0.1, [99, 100]), (0, [0, 0])] {
            var filter = Self.empty(count: 1000, mapCount: 2)
            Self.redistribute(&filter, to: [0.99, 0.01])
            for index in 0..<filter.particles.count { filter.particles.x[index] = 100 }
            Self.redistribute(&filter, to: [0.99, 0.01], share: share)
            let counts = (0...1).map { filter.particles.range(of: $0).filter { filter.particles.x[$0] < 50 }.count }
            XCTAssertEqual(counts, fresh, "share \(share)")
        }
    }

    func testWeighingKeepsEachLevelsShare() {
        let seed: UInt64 = 2
        var generator = SeededGenerator(seed: seed)
        var filter = Self.empty(count: 400, mapCount: 2)
        Self.redistribute(&filter, to: [0.6, 0.4])
        _ = filter.weigh(Stage.likelihood(Stage.twoFloorField)) { _, _, sums in
            for index in sums.indices { sums[index] = Float(5 * generator.normal()) }
        }
        XCTAssertEqual(Self.weight(filter, of: 0), 0.6, accuracy: 1e-3, "seed \(seed)")
        XCTAssertEqual(Self.weight(filter, of: 1), 0.4, accuracy: 1e-3, "seed \(seed)")
    }

    func testWeighingReturnsEachLevelsMeanLikelihood() {
        var filter = Self.empty(count: 400, mapCount: 2)
        Self.redistribute(&filter, to: [0.5, 0.5])
        // On map 1, half of the particles are in one cell, the others in another one.
        for (number, index) in filter.particles.range(of: 1).enumerated() {
            (filter.particles.x[index], filter.particles.y[index]) = (number % 2 == 0 ? 3 : 9, 5)
        }
        let evidence = filter.weigh(Stage.likelihood(Stage.twoFloorField)) { mapIndex, _, sums in
            for index in sums.indices { sums[index] = mapIndex == 0 ? -2 : (index == 0 ? 0 : -30) }
        }
        XCTAssertEqual(evidence[0], -2, accuracy: 1e-3)
        XCTAssertEqual(evidence[1], log(0.5), accuracy: 1e-3)
    }

    func testAHeavyParticleCountsMoreForItsLevel() {
        var filter = Self.cloud(at: MapPoint(x: 5.3, y: 7.1), count: 2)
        filter.particles.x[1] = 15
        filter.particles.weight = [0.9, 0.1]
        let evidence = filter.weigh(Stage.likelihood(Stage.packetField)) { _, _, sums in sums = [0, -30] }
        XCTAssertEqual(evidence[0], log(0.9), accuracy: 1e-5)
    }

    func testALevelWithoutParticlesHasNoLikelihood() {
        var filter = Self.cloud(at: MapPoint(x: 5, y: 5), count: 100)
        let evidence = filter.weigh(Stage.likelihood(Stage.twoFloorField)) { _, _, _ in }
        XCTAssertEqual(evidence[1], -.infinity)
    }

    func testWeighingEvaluatesEachOccupiedCellOnce() {
        var filter = Self.cloud(at: MapPoint(x: 5.3, y: 7.1), count: 3)
        filter.particles.x[2] = -50
        var asked: [Int32] = []
        _ = filter.weigh(Stage.likelihood(Stage.packetField)) { _, cells, _ in asked = cells }
        let cell = Int32(Stage.packetField.maps[0].grid.cell(at: MapPoint(x: 5.3, y: 7.1)) ?? -2)
        XCTAssertEqual(asked, [cell, -1])
    }

    func testLevelSharesAreSet() {
        var filter = Self.empty(count: 400, mapCount: 2)
        Self.redistribute(&filter, to: [0.6, 0.4])
        filter.setMapShares([0.1, 0.9])
        XCTAssertEqual(Self.weight(filter, of: 0), 0.1, accuracy: 1e-4)
        XCTAssertEqual(Self.weight(filter, of: 1), 0.9, accuracy: 1e-4)
    }

    func testResamplingKeepsTheWeightedMean() throws {
        for seed in UInt64(1)...5 {
            var generator = SeededGenerator(seed: seed)
            var filter = Self.empty(count: 2000, seed: seed)
            Self.redistribute(&filter, to: [1])
            for index in 0..<filter.particles.count { filter.particles.weight[index] = Self.spiky(&generator) }
            filter.setMapShares([1])
            let before = try XCTUnwrap(filter.moments(mapIndex: 0))
            filter.resampleIfNeeded(mapCount: 1)
            let after = try XCTUnwrap(filter.moments(mapIndex: 0))
            XCTAssertEqual(Set(filter.particles.weight).count, 1, "nothing was resampled, seed \(seed)")
            // Four standard errors of a mean of 2000, though systematic resampling does better.
            let tolerance = 4 * (before.variance / 2000).squareRoot()
            XCTAssertEqual(after.mean.distance(to: before.mean), 0, accuracy: tolerance, "seed \(seed)")
        }
    }

    func testResamplingCopiesEachParticleAsOftenAsItsWeightSays() {
        var filter = Self.cloud(at: MapPoint(x: 0, y: 0), count: 100)
        for index in 0..<100 {
            filter.particles.x[index] = Float(index)
            filter.particles.weight[index] = index == 7 ? 0.5 : (index < 50 ? 0.5 / 49 : 0)
        }
        filter.resampleIfNeeded(mapCount: 1)
        XCTAssertEqual(filter.particles.x.filter { $0 == 7 }.count, 50)
        XCTAssertEqual(filter.particles.x.filter { $0 >= 50 }.count, 0)
        XCTAssertEqual(filter.particles.count, 100)
    }

    func testEvenWeightsAreNotResampled() {
        var filter = Self.empty(count: 200)
        Self.redistribute(&filter, to: [1])
        let before = filter.particles.x
        filter.resampleIfNeeded(mapCount: 1)
        XCTAssertEqual(filter.particles.x, before)
    }

    func testAWallStopsAParticle() {
        var filter = Self.cloud(at: MapPoint(x: 9.5, y: 10), count: 300, walls: [Self.wall])
        filter.walk([Stride(length: 2, heading: .pi / 2)], seconds: 1)
        XCTAssertEqual(filter.particles.x.filter { $0 > 10 }.count, 0)
    }

    func testAParticleThatHitsAWallBecomesLessProbableButNotImpossible() {
        var filter = Self.cloud(at: MapPoint(x: 9.5, y: 10), count: 300, walls: [Self.wall])
        let before = filter.particles.weight[0]
        filter.walk([Stride(length: 4, heading: .pi / 2)], seconds: 1)
        for weight in filter.particles.weight { XCTAssertEqual(weight, before * 0.3, accuracy: before * 1e-3) }
    }

    func testWithoutAWallAllParticlesPass() {
        var filter = Self.cloud(at: MapPoint(x: 9.5, y: 10), count: 300)
        filter.walk([Stride(length: 2, heading: .pi / 2)], seconds: 1)
        XCTAssertGreaterThan(filter.particles.x.filter { $0 > 10 }.count, 290)
    }

    func testStridesMoveTheMeanByTheirLength() throws {
        let directions: [(heading: Double, way: MapPoint)] = [
            (0, MapPoint(x: 0, y: -1.4)), (.pi / 2, MapPoint(x: 1.4, y: 0)), (.pi, MapPoint(x: 0, y: 1.4)),
            (-.pi / 2, MapPoint(x: -1.4, y: 0)),
        ]
        for (heading, way) in directions {
            let start = MapPoint(x: 10, y: 10)
            var filter = Self.cloud(at: start, count: 2000)
            let stride = Stride(length: 0.7, heading: heading)
            filter.walk([stride, stride], seconds: 1)
            let mean = try XCTUnwrap(filter.moments(mapIndex: 0)).mean
            // Turns of 8° shorten the way by 1 %.
            XCTAssertEqual(mean.distance(to: start + way), 0, accuracy: 0.04, "heading \(heading)")
        }
    }

    func testStridesWithoutHeadingSpreadInAllDirections() throws {
        var filter = Self.cloud(at: MapPoint(x: 10, y: 10), count: 3000)
        filter.walk([Stride(length: 0.7, heading: nil)], seconds: 1)
        let moments = try XCTUnwrap(filter.moments(mapIndex: 0))
        XCTAssertEqual(moments.mean.distance(to: MapPoint(x: 10, y: 10)), 0, accuracy: 0.04)
        // 0.7² of the step, 1 % more by its own variance, and 2·0.15² of wandering.
        XCTAssertEqual(moments.variance, 0.54, accuracy: 0.04)
    }

    func testWithoutStridesTheDeviceStands() throws {
        var filter = Self.cloud(at: MapPoint(x: 10, y: 10), count: 1000)
        for _ in 0..<10 { filter.walk([], seconds: 1) }
        // Ten seconds of wandering: 2·0.15²·10 = 0.45 m².
        XCTAssertEqual(try XCTUnwrap(filter.moments(mapIndex: 0)).variance, 0.45, accuracy: 0.08)
    }

    func testWithoutSensorsWalkersSpreadAtWalkingSpeed() {
        var filter = Self.walkers(count: 2000)
        filter.drift(seconds: 1)
        let moved = filter.particles.x.indices.filter { filter.particles.isWalking[$0] }.map { walker -> Double in
            let (x, y) = (filter.particles.x[walker] - 10, filter.particles.y[walker] - 10)
            return Double((x * x + y * y).squareRoot())
        }
        // The mean of a Rayleigh distribution with 0.9² + 0.3² m² along each axis: 0.949·√(π/2) = 1.19 m.
        XCTAssertEqual(moved.reduce(0, +) / Double(moved.count), 1.19, accuracy: 0.08)
    }

    func testAStandingParticleHardlyMoves() {
        var filter = Self.cloud(at: MapPoint(x: 10, y: 10), count: 1000)
        filter.drift(seconds: 1)
        let standing = filter.particles.x.indices.filter { !filter.particles.isWalking[$0] }
        // Two fifths a second start to walk: 1 - exp(-0.4) = 0.33.
        XCTAssertEqual(Double(standing.count), 670, accuracy: 50)
        let farthest = standing.map { abs(filter.particles.x[$0] - 10) }.max() ?? 99
        XCTAssertLessThan(farthest, 0.75)
    }

    func testTheSameSeedGivesTheSameParticles() {
        let (first, second) = (Self.journey(seed: 4), Self.journey(seed: 4))
        XCTAssertEqual(first.x, second.x)
        XCTAssertEqual(first.y, second.y)
        XCTAssertEqual(first.weight, second.weight)
    }

    func testAnotherSeedGivesOtherParticles() {
        XCTAssertNotEqual(Self.journey(seed: 4).x, Self.journey(seed: 5).x)
    }

    func testMomentsAreThoseOfTheWeights() throws {
        var filter = Self.cloud(at: MapPoint(x: 0, y: 0), count: 2)
        filter.particles.x = [0, 4]
        filter.particles.weight = [0.75, 0.25]
        let moments = try XCTUnwrap(filter.moments(mapIndex: 0))
        XCTAssertEqual(moments.mean.x, 1, accuracy: 1e-6)
        // 0.75·1² + 0.25·3².
        XCTAssertEqual(moments.variance, 3, accuracy: 1e-5)
    }

    func testTheMedianOfTwoModesLiesNearTheMoreProbableOne() throws {
        var filter = Self.cloud(at: MapPoint(x: 0, y: 0), count: 100)
        for index in 60..<100 { filter.particles.x[index] = 20 }
        let mean = try XCTUnwrap(filter.moments(mapIndex: 0)).mean
        XCTAssertEqual(mean.x, 8, accuracy: 1e-4)
        XCTAssertEqual(filter.median(mapIndex: 0, from: mean).x, 0, accuracy: 3)
    }

    func testTheMedianOfOneModeIsTheMean() throws {
        let seed: UInt64 = 5
        var generator = SeededGenerator(seed: seed)
        var filter = Self.cloud(at: MapPoint(x: 7, y: 3), count: 1000)
        for index in 0..<1000 {
            filter.particles.x[index] += Float(2 * generator.normal())
            filter.particles.y[index] += Float(generator.normal())
        }
        let mean = try XCTUnwrap(filter.moments(mapIndex: 0)).mean
        XCTAssertEqual(filter.median(mapIndex: 0, from: mean).distance(to: mean), 0, accuracy: 0.15, "seed \(seed)")
    }

    func testTheMedianHasTheLeastMeanDistance() throws {
        let seed: UInt64 = 6
        var generator = SeededGenerator(seed: seed)
        var filter = Self.cloud(at: MapPoint(x: 7, y: 3), count: 999)
        for index in 0..<999 {
            filter.particles.x[index] = Float(index % 3 == 0 ? 15 : 3 + 2 * generator.normal())
            filter.particles.y[index] += Float(generator.normal())
        }
        let mean = try XCTUnwrap(filter.moments(mapIndex: 0)).mean
        func cost(_ point: MapPoint) -> Double {
            zip(filter.particles.x, filter.particles.y).reduce(0) {
                $0 + point.distance(to: MapPoint(x: Double($1.0), y: Double($1.1))) / 999
            }
        }
        let median = filter.median(mapIndex: 0, from: mean)
        let best = stride(from: 0.0, through: 15, by: 0.5).flatMap { x in
            stride(from: 0.0, through: 6, by: 0.5).map { cost(MapPoint(x: x, y: $0)) }
        }.min()
        XCTAssertLessThan(cost(median), try XCTUnwrap(best) + 0.02, "seed \(seed)")
        XCTAssertLessThan(cost(median), cost(mean) - 0.05, "seed \(seed)")
    }

    func testTheMedianOfParticlesWithoutAPositionIsTheInitialMean() {
        var filter = Self.cloud(at: MapPoint(x: 5, y: 5), count: 3)
        filter.particles.weight = [0, 0, 0]
        let start = MapPoint(x: 2, y: 1)
        XCTAssertEqual(filter.median(mapIndex: 0, from: start), start)
    }

    func testParticlesWithoutAPositionAreOutsideTheMap() {
        for wild in [Float.nan, .infinity, -.infinity, 1e30] {
            var filter = Self.cloud(at: MapPoint(x: 5, y: 5), count: 3)
            filter.particles.x[1] = wild
            var found: [Int32] = []
            _ = filter.weigh(Stage.likelihood(Stage.packetField)) { _, cells, _ in found = cells }
            XCTAssertEqual(found.map { $0 < 0 }, [false, true], "\(wild)")
        }
    }

    func testAHardFixGivesEachLevelItsProbability() {
        var filter = Self.empty(count: 1000, mapCount: 2)
        Self.redistribute(&filter, to: [0.6, 0.4])
        filter.applyFix(at: MapPoint(x: 5, y: 5), deviation: 1, mapIndex: 0, probabilities: [0.8, 0.2])
        XCTAssertEqual(Self.weight(filter, of: 0), 0.8, accuracy: 1e-4)
        XCTAssertEqual(Self.weight(filter, of: 1), 0.2, accuracy: 1e-4)
    }

    func testTheFilterIgnoresAFixBeyondItsRange() {
        var filter = Self.cloud(at: MapPoint(x: 5, y: 5), count: 300)
        for (place, deviation) in [(1e300, 1.0), (1e30, 1), (5, .infinity), (.nan, 1)] {
            filter.applyFix(
                at: MapPoint(x: place, y: 5), deviation: deviation, mapIndex: 0, probabilities: [1])
        }
        XCTAssertTrue(filter.particles.x.allSatisfy { $0 == 5 })
    }

    func testTheFilterIgnoresAnImplausibleStep() throws {
        var filter = Self.cloud(at: MapPoint(x: 5, y: 5), count: 300)
        let wild = [
            Stride(length: 1e300, heading: 0), Stride(length: .nan, heading: 0), Stride(length: 1, heading: .infinity),
            Stride(length: -1, heading: 0),
        ]
        filter.walk(wild, seconds: 0.5)
        let mean = try XCTUnwrap(filter.moments(mapIndex: 0)).mean
        XCTAssertEqual(mean.distance(to: MapPoint(x: 5, y: 5)), 0, accuracy: 0.05)
    }

    private static func empty(
        count: Int, mapCount: Int = 1, walls: [[MapPoint]] = [], seed: UInt64 = 1
    ) -> ParticleFilter {
        ParticleFilter(
            walls: (0..<mapCount).map { _ in WallIndex(walls: walls) }, motion: MotionModel(), count: count, seed: seed)
    }

    /// Particles that stand at one place with equal weights, without bias.
    private static func cloud(at point: MapPoint, count: Int, walls: [[MapPoint]] = []) -> ParticleFilter {
        var filter = empty(count: count, walls: walls)
        filter.particles.place(Array(repeating: point, count: count), Stage.offset())
        for index in 0..<count { filter.particles.weight[index] = 1 / Float(count) }
        return filter
    }

    private static func walkers(count: Int) -> ParticleFilter {
        var generator = SeededGenerator(seed: 3)
        var filter = cloud(at: MapPoint(x: 10, y: 10), count: count)
        for index in 0..<count {
            filter.particles.isWalking[index] = true
            filter.particles.velocityX[index] = Float(0.9 * generator.normal())
            filter.particles.velocityY[index] = Float(0.9 * generator.normal())
        }
        return filter
    }

    private static func redistribute(
        _ filter: inout ParticleFilter, to probabilities: [Double], share: Double = 0.03
    ) {
        let field = probabilities.count == 1 ? Stage.packetField : Stage.twoFloorField
        let likelihood = Stage.likelihood(field, Stage.evidence(at: MapPoint(x: 10, y: 10)))
        let posterior = GridPosterior(likelihood)
        filter.redistribute(to: probabilities, posterior: posterior, likelihood: likelihood, share: share)
    }

    private static func journey(seed: UInt64) -> ParticleFilter.Particles {
        var filter = empty(count: 200, seed: seed)
        redistribute(&filter, to: [1])
        filter.drift(seconds: 1)
        filter.walk([Stride(length: 0.7, heading: 1)], seconds: 1)
        redistribute(&filter, to: [1])
        return filter.particles
    }

    private static func members(_ filter: ParticleFilter, of mapIndex: Int32) -> Int {
        filter.particles.mapIndex.filter { $0 == mapIndex }.count
    }

    private static func weight(_ filter: ParticleFilter, of mapIndex: Int32) -> Double {
        zip(filter.particles.mapIndex, filter.particles.weight).reduce(0) { $0 + ($1.0 == mapIndex ? Double($1.1) : 0) }
    }

    private static func spiky(_ generator: inout SeededGenerator) -> Float { Float(exp(3 * generator.normal())) }
}

final class ResamplingTests: XCTestCase {
    /// A few that weigh much, many that weigh little, some nothing.
    private static let weights: [Float] = (0..<50).map { index in
        if index % 10 == 3 { return 5 }
        return index % 7 == 0 ? 0 : 0.1 + Float(index % 5)
    }

    func testBothSchemesDrawParticlesInProportionToTheirWeights() {
        let repeats = 4000
        let total = Self.weights.reduce(0, +)
        for scheme in Resampling.Scheme.allCases {
            let seed: UInt64 = 17
            var generator = SeededGenerator(seed: seed)
            var taken = [Int](repeating: 0, count: Self.weights.count)
            for _ in 0..<repeats { for pick in Self.picks(scheme, 40, using: &generator) { taken[pick] += 1 } }
            for (index, weight) in Self.weights.enumerated() {
                // A particle's number deviates by at most √½ from its mean: five standard errors of 4000 are 0.056.
                let expected = Double(40 * weight / total)
                XCTAssertEqual(
                    Double(taken[index]) / Double(repeats), expected, accuracy: 0.056,
                    "\(scheme), particle \(index), seed \(seed)")
            }
        }
    }

    func testSystematicDrawsDifferLessFromTheWeightsThanStratifiedOnes() {
        var generator = SeededGenerator(seed: 5)
        let total = Self.weights.reduce(0, +)
        var errors: [Resampling.Scheme: Double] = [:]
        for scheme in Resampling.Scheme.allCases {
            for _ in 0..<500 {
                let picks = Self.picks(scheme, 40, using: &generator)
                for (index, weight) in Self.weights.enumerated() {
                    let difference = Double(picks.filter { $0 == index }.count) - Double(40 * weight / total)
                    errors[scheme, default: 0] += difference * difference
                    // Within one of the weight's share for equal distances, within two for a draw in each share.
                    XCTAssertLessThan(
                        abs(difference), scheme == .systematic ? 1.001 : 2, "\(scheme), particle \(index)")
                }
            }
        }
        XCTAssertLessThan(errors[.systematic] ?? .infinity, errors[.stratified] ?? 0, "seed 5")
    }

    func testNoSchemeDrawsAParticleOfWeightZero() {
        var generator = SeededGenerator(seed: 3)
        for scheme in Resampling.Scheme.allCases {
            for _ in 0..<200 {
                for pick in Self.picks(scheme, 40, using: &generator) {
                    XCTAssertGreaterThan(Self.weights[pick], 0, "\(scheme), particle \(pick), seed 3")
                }
            }
        }
    }

    func testZeroWeightsGiveUniformDraws() {
        var particles = ParticleFilter.Particles()
        particles.resize(to: 10)
        var generator = SeededGenerator(seed: 1)
        var picks: [Int32] = []
        particles.pick(10, of: 0..<10, using: &generator, into: &picks)
        XCTAssertEqual(picks, Array(0..<10))
    }

    func testTheEffectiveShareDecidesWhenTheFilterResamples() {
        // Half weigh three times as much as the others: (Σw)² / Σw² is 80 of 100.
        for (share, isDrawn) in [(0, false), (0.5, false), (0.79, false), (0.81, true), (1, true)] {
            for scheme in Resampling.Scheme.allCases {
                var filter = ParticleFilter(
                    walls: [WallIndex(walls: [])], motion: MotionModel(),
                    resampling: Resampling(scheme: scheme, effectiveShare: share), count: 100, seed: 1)
                filter.particles.resize(to: 100)
                for index in 0..<100 { filter.particles.weight[index] = index % 2 == 0 ? 0.005 : 0.015 }
                filter.resampleIfNeeded(mapCount: 1)
                let isEven = Set(filter.particles.weight).count == 1
                XCTAssertEqual(isEven, isDrawn, "\(scheme), \(share)")
            }
        }
    }

    func testTheEngineUsesTheStratifiedScheme() {
        let place = MapPoint(x: 7, y: 12)
        let (systematic, stratified) = (Self.estimate(at: place, .systematic), Self.estimate(at: place, .stratified))
        expectClose(stratified?.point.distance(to: place), 0, within: 2, "seed 1")
        XCTAssertNotEqual(systematic, stratified, "the scheme changed nothing")
    }

    private static func estimate(
        at place: MapPoint, _ scheme: Resampling.Scheme
    ) -> PositioningEngine.Estimate? {
        typealias Stage = PositioningStage
        var settings = PositioningSettings()
        settings.resampling.scheme = scheme
        var engine = PositioningEngine(venue: Stage.venue, field: Stage.packetField, settings: settings, seed: 1)
        for second in 0..<8 {
            for (index, beacon) in Stage.beaconPoints.enumerated() {
                let sighting = Sighting(
                    instant: Instant(seconds: Double(second) + 0.5), beacon: Stage.identity(index),
                    rssi: Stage.rssi(from: beacon, to: place))
                engine.observe(.sighting(sighting))
            }
            engine.advance(to: Instant(seconds: Double(second + 1)))
        }
        return engine.estimate(on: Stage.hall)
    }

    private static func picks(
        _ scheme: Resampling.Scheme, _ count: Int, using generator: inout SeededGenerator
    ) -> [Int] {
        var particles = ParticleFilter.Particles()
        particles.resize(to: weights.count)
        particles.weight = weights
        var picks: [Int32] = []
        switch scheme {
        case .systematic:
            particles.pick(count, of: 0..<weights.count, start: Float(generator.uniform()), into: &picks)
        case .stratified: particles.pick(count, of: 0..<weights.count, using: &generator, into: &picks)
        }
        XCTAssertEqual(picks.count, count)
        return picks.map(Int.init)
    }
}
