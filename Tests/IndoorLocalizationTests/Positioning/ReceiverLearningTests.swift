import XCTest

@testable import IndoorPositioning
import IndoorLocalization

/// What each particle learns of its receiver.
final class ReceiverLearningTests: XCTestCase {
    private typealias Stage = PositioningStage
    private static let right = MapPoint(x: 13, y: 7)
    private static let wrong = MapPoint(x: 6, y: 15)
    private static let receiver = Stage.offset(deviation: 9, bodyDeviation: 2)

    func testReadingsTeachTheOffsetAtTheTruePlaceAndContradictAWrongPlace() throws {
        for field in [Stage.packetField, Stage.surveyedField] {
            var particles = ParticleFilter.Particles()
            particles.place([Self.right, Self.wrong], Self.receiver)
            var sums: [Float] = [0, 0]
            for _ in 0..<10 { Self.hear(Self.evidence(shift: -12), &particles, field, &sums) }
            let learned = try Self.offset(&particles, 0)
            XCTAssertEqual(learned.mean, -12, accuracy: 1)
            XCTAssertLessThan(learned.variance, 3)
            XCTAssertGreaterThan(sums[0], sums[1] + 10, "rates known: \(field.areRatesKnown)")
        }
    }

    func testEachReadingReducesTheVariance() throws {
        var particles = ParticleFilter.Particles()
        particles.place([Self.right], Self.receiver)
        var before = try Self.offset(&particles, 0).variance
        XCTAssertEqual(before, 81, accuracy: 1e-3)
        for _ in 0..<20 {
            Self.hear(Self.evidence(shift: 3), &particles)
            let after = try Self.offset(&particles, 0).variance
            XCTAssertLessThan(after, before)
            XCTAssertGreaterThan(after, 0)
            before = after
        }
    }

    func testAPriorWithoutVarianceLearnsNothing() throws {
        var model = SignalModel()
        (model.receiverOffsetDeviation, model.bodyDeviation) = (0, 0)
        var filter = Self.filter(at: [Self.right], Stage.offset(deviation: 0))
        for _ in 0..<10 {
            filter.passReceivers(seconds: 1, model)
            Self.hear(Self.evidence(shift: -12), &filter.particles)
        }
        XCTAssertEqual(Self.fields(&filter.particles, 0), Array(repeating: 0, count: 9))
    }

    func testTheWeightOfAnOutlierGrowsSublinearly() throws {
        func moved(by difference: Float, deviation: Double) throws -> Double {
            var particles = ParticleFilter.Particles()
            particles.place([Self.right], Stage.offset(deviation: deviation))
            Self.hear(Self.evidence(beacons: [1], shift: difference), &particles)
            return try Self.offset(&particles, 0).mean
        }
        for deviation in [1.0, 3, 9] {
            let (near, far) = (try moved(by: 5, deviation: deviation), try moved(by: 50, deviation: deviation))
            XCTAssertGreaterThan(near, 0.1)
            XCTAssertLessThan(far, 9 * near, "deviation \(deviation)")
        }
        // Once the receiver is known, an outlier moves it less than what is just far off.
        XCTAssertLessThan(try moved(by: 80, deviation: 1), try moved(by: 10, deviation: 1))
    }

    func testOneOutlierHardlyMovesTheOffset() throws {
        var particles = ParticleFilter.Particles()
        particles.place([Self.right], Self.receiver)
        for _ in 0..<30 { Self.hear(Self.evidence(shift: 4), &particles) }
        let before = try Self.offset(&particles, 0).mean
        Self.hear(Self.evidence(beacons: [2], shift: 60), &particles)
        XCTAssertEqual(try Self.offset(&particles, 0).mean, before, accuracy: 0.3)
    }

    func testReadingsTeachBodyShadowingAsAVector() throws {
        // To the right everything is 5 dB stronger, to the left as much weaker.
        var evidence = Self.evidence(shift: 0)
        for index in evidence.heard.indices {
            let way = Stage.beaconPoints[evidence.heard[index].beacon] - Self.right
            evidence.heard[index].rssi += Float(5 * way.x / Self.right.distance(to: Self.right + way))
        }
        var particles = ParticleFilter.Particles()
        particles.place([Self.right], Stage.offset(deviation: 9, bodyDeviation: 5))
        for _ in 0..<10 { Self.hear(evidence, &particles) }
        let fields = Self.fields(&particles, 0)
        XCTAssertEqual(fields[0], 0, accuracy: 1)
        XCTAssertEqual(fields[1], 5, accuracy: 1)
        XCTAssertEqual(fields[2], 0, accuracy: 1)
    }

    func testABeaconOfAnotherFloorTeachesNothingAboutTheBody() {
        var particles = ParticleFilter.Particles()
        particles.place([Self.right], Self.receiver)
        let likelihood = Stage.likelihood(Stage.twoFloorField, Self.evidence(shift: -6), receiver: Self.receiver)
        let cell = Stage.twoFloorField.maps[1].grid.cell(at: Self.right).map { Int32($0 + 1) } ?? 0
        var sums: [Float] = [0]
        likelihood.hear(&particles, 0..<1, mapIndex: 1, cells: [cell], sums: &sums)
        let fields = Self.fields(&particles, 0)
        XCTAssertNotEqual(fields[0], 0)
        XCTAssertEqual(fields[1...2], [0, 0])
        XCTAssertEqual(fields[6], 4)
        XCTAssertEqual(fields[8], 4)
    }

    func testTimeIncreasesTheVariance() throws {
        var model = SignalModel()
        model.receiverWander = 0.1
        var filter = Self.filter(at: [Self.right], Stage.offset(deviation: 3))
        filter.passReceivers(seconds: 100, model)
        // 0.1 dB a second, added as variances: 9 + 0.01·100.
        XCTAssertEqual(try Self.offset(&filter.particles, 0).variance, 10, accuracy: 1e-4)
    }

    func testBodyShadowingReturnsToThePriorWithTime() {
        var model = SignalModel()
        (model.bodyDeviation, model.bodyTime) = (2, 6)
        var filter = Self.filter(at: [Self.right], Self.receiver)
        for _ in 0..<10 { Self.hear(Self.evidence(beacons: [1, 4], shift: -8), &filter.particles) }
        let learned = Self.fields(&filter.particles, 0)
        XCTAssertLessThan(learned[6], 3.9)
        filter.passReceivers(seconds: 6, model)
        let later = Self.fields(&filter.particles, 0)
        XCTAssertEqual(later[1], learned[1] * exp(-1), accuracy: 1e-3)
        XCTAssertEqual(later[6], learned[6] * exp(-2) + 4 * (1 - exp(-2)), accuracy: 1e-3)
        filter.passReceivers(seconds: 600, model)
        let atLast = Self.fields(&filter.particles, 0)
        for (index, expected) in [(1, 0.0), (2, 0), (4, 0), (5, 0), (6, 4), (7, 0), (8, 4)] {
            XCTAssertEqual(atLast[index], expected, accuracy: 1e-3, "number \(index)")
        }
        XCTAssertEqual(atLast[0], later[0], "the offset stays")
    }

    func testSeveralTimeStepsEqualOneLongStep() {
        let model = SignalModel()
        var filter = Self.filter(at: [Self.right], Self.receiver)
        Self.hear(Self.evidence(shift: -8), &filter.particles)
        var other = filter
        filter.passReceivers(seconds: 5, model)
        for _ in 0..<10 { other.passReceivers(seconds: 0.5, model) }
        for (one, other) in zip(Self.fields(&filter.particles, 0), Self.fields(&other.particles, 0)) {
            XCTAssertEqual(one, other, accuracy: 1e-3 * (1 + abs(one)))
        }
    }

    func testTheFiltersOffsetIsTheWeightedMeanOfItsParticles() throws {
        var filter = Self.filter(at: [Self.right, Self.wrong], Self.receiver)
        XCTAssertNil(Self.filter(at: [], Self.receiver).receiverOffset(mapIndex: 0))
        Self.hear(Self.evidence(shift: -12), &filter.particles)
        filter.particles.weight = [0.75, 0.25]
        let (one, other) = (try Self.offset(&filter.particles, 0), try Self.offset(&filter.particles, 1))
        let all = try XCTUnwrap(filter.receiverOffset(mapIndex: 0))
        let mean = 0.75 * one.mean + 0.25 * other.mean
        XCTAssertEqual(all.mean, mean, accuracy: 1e-4)
        let spread = 0.75 * pow(one.mean - mean, 2) + 0.25 * pow(other.mean - mean, 2)
        XCTAssertEqual(all.variance, 0.75 * one.variance + 0.25 * other.variance + spread, accuracy: 1e-3)
        XCTAssertNil(filter.receiverOffset(mapIndex: 1))
    }

    func testWeighingUpdatesTheParticlesReceivers() throws {
        var filter = Self.filter(at: Array(repeating: Self.right, count: 50), Self.receiver)
        let likelihood = Stage.likelihood(
            Stage.packetField, Self.evidence(shift: -12), receiver: Self.receiver)
        _ = filter.weigh(likelihood) { _, _, _ in }
        XCTAssertEqual(try XCTUnwrap(filter.receiverOffset(mapIndex: 0)).mean, -12, accuracy: 2)
    }

    func testAResampledParticleKeepsItsReceiver() throws {
        let places = (0..<10).map { MapPoint(x: 2 * Double($0), y: 9) }
        var filter = Self.filter(at: places, Self.receiver)
        Self.hear(Self.evidence(shift: -12), &filter.particles)
        let expected = Self.fields(&filter.particles, 7)
        XCTAssertNotEqual(Self.fields(&filter.particles, 3), expected)
        for index in 0..<10 { filter.particles.weight[index] = index == 7 ? 1 : 0 }
        filter.resampleIfNeeded(mapCount: 1)
        for index in 0..<10 { XCTAssertEqual(Self.fields(&filter.particles, index), expected, "particle \(index)") }
    }

    func testOnlyParticlesDrawnFromTheEvidenceLearnFromIt() throws {
        var filter = Self.filter(at: Array(repeating: Self.right, count: 1000), Self.receiver)
        for _ in 0..<30 { Self.hear(Self.evidence(shift: 10), &filter.particles) }
        let known = try Self.offset(&filter.particles, 0).mean
        let likelihood = Stage.likelihood(
            Stage.packetField, Self.evidence(shift: -12), receiver: Self.receiver)
        let posterior = GridPosterior(likelihood)
        filter.redistribute(to: [1], posterior: posterior, likelihood: likelihood, share: 0.2)
        let means = try (0..<1000).map { try Self.offset(&filter.particles, $0).mean }
        XCTAssertEqual(means.filter { abs($0 - known) < 1e-4 }.count, 800)
        let fresh = means.filter { abs($0 - known) >= 1e-4 }
        XCTAssertEqual(fresh.reduce(0, +) / Double(fresh.count), -12, accuracy: 2)
    }

    func testResizingKeepsTheExistingStates() {
        var particles = ParticleFilter.Particles()
        particles.place([Self.right, Self.wrong], Self.receiver)
        Self.hear(Self.evidence(shift: -12), &particles)
        let before = (0..<2).map { Self.fields(&particles, $0) }
        particles.resize(to: 100)
        XCTAssertEqual((0..<2).map { Self.fields(&particles, $0) }, before)
        particles.resize(to: 1)
        XCTAssertEqual(Self.fields(&particles, 0), before[0])
    }

    /// What is heard at the right place by a receiver that hears everything that much stronger.
    private static func evidence(beacons: [Int] = Array(0..<8), shift: Float) -> Evidence {
        var evidence = Stage.evidence(at: right, beacons: beacons)
        for index in evidence.heard.indices { evidence.heard[index].rssi += shift }
        return evidence
    }

    private static func filter(at points: [MapPoint], _ receiver: ReceiverOffset) -> ParticleFilter {
        var filter = ParticleFilter(
            walls: [WallIndex(walls: [])], motion: MotionModel(), count: points.count, seed: 1)
        filter.receivers = [receiver]
        filter.particles.place(points, receiver)
        for index in points.indices { filter.particles.weight[index] = 1 / Float(points.count) }
        return filter
    }

    private static func hear(
        _ evidence: Evidence, _ particles: inout ParticleFilter.Particles, _ field: SignalField = Stage.packetField
    ) {
        var sums = [Float](repeating: 0, count: particles.count)
        hear(evidence, &particles, field, &sums)
    }

    private static func hear(
        _ evidence: Evidence, _ particles: inout ParticleFilter.Particles, _ field: SignalField, _ sums: inout [Float]
    ) {
        let grid = field.maps[0].grid
        let cells = (0..<particles.count).map { index in
            let point = MapPoint(x: Double(particles.x[index]), y: Double(particles.y[index]))
            return grid.cell(at: point).map { Int32($0 + 1) } ?? 0
        }
        Stage.likelihood(field, evidence, receiver: receiver).hear(
            &particles, 0..<particles.count, mapIndex: 0, cells: cells, sums: &sums)
    }

    private static func offset(
        _ particles: inout ParticleFilter.Particles, _ index: Int
    ) throws -> (mean: Double, variance: Double) {
        let ones = [Float](repeating: 1, count: particles.count)
        return try XCTUnwrap(particles.receivers.offset(of: index..<index + 1, weights: ones))
    }

    /// Mean of offset and body, and their covariance's six numbers.
    private static func fields(_ particles: inout ParticleFilter.Particles, _ index: Int) -> [Double] {
        var fields: [Double] = []
        particles.receivers.withPointers { all in
            fields = [
                all.offset, all.body_x, all.body_y, all.c00, all.c01, all.c02, all.c11, all.c12, all.c22,
            ].map { Double($0[index]) }
        }
        return fields
    }
}
