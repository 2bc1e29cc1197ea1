import IndoorLocalization
import XCTest
@testable import IndoorPositioning

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

final class ReceiverOffsetTests: XCTestCase {
    func testAnOffsetBeginsAtZeroWithTheGivenDeviation() {
        let offset = ReceiverOffset(deviation: 3, bodyDeviation: 2)
        XCTAssertEqual(offset.value, 0)
        XCTAssertEqual(offset.variance, 9, accuracy: 1e-12)
        XCTAssertEqual(offset.bodyVariance, 4, accuracy: 1e-12)
    }

    func testAnOffsetWithoutABodyHasNoBodyVariance() {
        XCTAssertEqual(ReceiverOffset(deviation: 3).bodyVariance, 0)
    }

    func testALearnedValueReplacesTheOffsetAndKeepsTheBodyVariance() {
        var offset = ReceiverOffset(deviation: 9, bodyDeviation: 2)
        offset.begin(value: -7, deviation: 1.5)
        XCTAssertEqual(offset.value, -7)
        XCTAssertEqual(offset.variance, 2.25, accuracy: 1e-12)
        XCTAssertEqual(offset.bodyVariance, 4, accuracy: 1e-12)
    }

    func testAnOffsetWithoutVarianceStaysZero() {
        var offset = ReceiverOffset(deviation: 0)
        offset.begin(value: -7, deviation: 1.5)
        XCTAssertEqual(offset.value, 0)
        XCTAssertEqual(offset.variance, 0)
    }
}

final class DeviceOffsetsTests: XCTestCase {
    private typealias Stage = PositioningStage

    func testASurveyDeterminesTheOffsetOfEachDevice() throws {
        var (weak, strong) = (Stage.survey(noise: 2, seed: 21), Stage.survey(noise: 2, seed: 22))
        (weak.device, strong.device) = ("weak phone", "strong phone")
        for index in strong.sightings.indices { strong.sightings[index].rssi += 9 }
        let devices = try XCTUnwrap(Self.learn([weak, strong])).fit.devices
        XCTAssertEqual(devices.keys.sorted(), ["strong phone", "weak phone"])
        let (first, second) = (try XCTUnwrap(devices["weak phone"]), try XCTUnwrap(devices["strong phone"]))
        XCTAssertEqual(second.offset - first.offset, 9, accuracy: 1)
        XCTAssertEqual(second.offset + first.offset, 0, accuracy: 1)
    }

    func testTheOnlyDeviceOfASurveyHasOffsetZero() throws {
        var recording = Stage.survey(noise: 2, seed: 21)
        recording.device = "phone"
        let device = try XCTUnwrap(Self.learn([recording])?.fit.devices["phone"])
        XCTAssertEqual(device.offset, 0)
        XCTAssertGreaterThanOrEqual(device.deviation, 3, "the next pocket is another one")
    }

    func testRecordingsWithoutADeviceGiveNoOffsets() throws {
        XCTAssertEqual(try XCTUnwrap(Self.learn([Stage.survey(noise: 2, seed: 21)])).fit.devices, [:])
    }

    func testUndeterminedOffsetsGiveNoneOfSeveralDevicesAnOffset() {
        XCTAssertEqual(DeviceOffsets(["a", "b"], offsets: [0, 0], areDetermined: false).receivers, [:])
        XCTAssertEqual(DeviceOffsets(["a", nil], offsets: [0, 0], areDetermined: false).receivers, [:])
    }

    func testTheOffsetOfADeviceIsTheMeanOfItsRecordings() throws {
        let receivers = DeviceOffsets(["a", "b", "a", nil], offsets: [4, -3, 6, 50], areDetermined: true).receivers
        XCTAssertEqual(receivers.keys.sorted(), ["a", "b"])
        XCTAssertEqual(try XCTUnwrap(receivers["a"]).offset, 5, accuracy: 1e-12)
        XCTAssertEqual(try XCTUnwrap(receivers["b"]).offset, -3, accuracy: 1e-12)
    }

    func testTheDeviationGrowsWithTheSpreadOfTheRecordings() throws {
        func deviation(_ offsets: [Double]) throws -> Double {
            let devices = [String?](repeating: "a", count: offsets.count)
            return try XCTUnwrap(DeviceOffsets(devices, offsets: offsets, areDetermined: true).receivers["a"]).deviation
        }
        XCTAssertGreaterThan(try deviation([-6, 6, -5, 5]), 4)
        XCTAssertLessThan(try deviation([-4, 4, -4, 4]), try deviation([-6, 6, -5, 5]))
        XCTAssertEqual(try deviation([Double](repeating: 0, count: 100)), 3, "nobody knows a receiver better")
    }

    private static func learn(_ recordings: [SurveyRecording]) -> RadioMap? {
        var learner = RadioMapLearner(venue: Stage.venue)
        for recording in recordings { learner.add(recording) }
        return learner.finish()
    }
}

/// A session that knows its device begins with how that hears.
final class KnownDeviceTests: XCTestCase {
    private static let venue: Venue = {
        var venue = PositioningStage.surveyedVenue
        venue.radioMap?.fit.devices = [
            "weak phone": RadioMap.Receiver(offset: -12, deviation: 2),
            "odd phone": RadioMap.Receiver(offset: 0, deviation: 30),
        ]
        return venue
    }()

    func testTheEngineBeginsWithTheSurveysReceiverPriorOfTheDevice() {
        let receiver = Self.receiver(named: "weak phone", seed: 1)
        for offsets in [receiver.engine.device.offsets, receiver.engine.belief.filter.receivers] {
            XCTAssertEqual(offsets.map(\.value), [-12])
            XCTAssertEqual(offsets.map(\.variance), [4])
        }
    }

    func testTheEngineUsesTheGeneralPriorForAnUnknownDevice() {
        let receiver = Self.receiver(named: "another phone", seed: 1)
        let wide = receiver.engine.field.model.receiverOffsetDeviation
        XCTAssertEqual(receiver.engine.device.offsets.map(\.value), [0])
        XCTAssertEqual(receiver.engine.device.offsets.map(\.variance), [wide * wide])
    }

    func testADevicePriorIsNeverWiderThanTheGeneralPrior() {
        let receiver = Self.receiver(named: "odd phone", seed: 1)
        let wide = receiver.engine.field.model.receiverOffsetDeviation
        XCTAssertEqual(receiver.engine.device.offsets.map(\.variance), [wide * wide])
    }

    func testTheEngineLocatesAKnownDeviceBetterInTheFirstSecond() {
        func mean(_ name: String) -> Double {
            (UInt64(1)...30).reduce(0) { sum, seed in
                var receiver = Self.receiver(named: name, seed: seed, shift: -12)
                receiver.listen()
                return sum + receiver.error / 30
            }
        }
        let (known, unknown) = (mean("weak phone"), mean("another phone"))
        XCTAssertLessThan(known, unknown, "seeds 1...30")
    }

    /// The name is wrong, or the phone is another one of that name: 15 dB off what is expected to within 2 dB.
    func testTheEngineRecoversFromAWrongDeviceName() {
        func mean(_ name: String, _ shift: Double) -> Double {
            (UInt64(1)...12).reduce(0) { sum, seed in
                var receiver = Self.receiver(named: name, seed: seed, shift: shift)
                receiver.listen(seconds: 20)
                return sum + receiver.error / 12
            }
        }
        for shift in [-27.0, 3] {
            let (wrong, any) = (mean("weak phone", shift), mean("another phone", shift))
            XCTAssertLessThan(wrong, 1.5 * any, "\(shift) dB, seeds 1...12")
        }
    }

    func testTheEngineUsesACalibrationThatIsMoreCertainThanTheSurvey() {
        var receiver = Self.receiver(named: "weak phone", seed: 1)
        var calibration = Calibration()
        (calibration.rssiOffset, calibration.rssiDeviation) = (-9, 0.5)
        receiver.begin(with: calibration)
        XCTAssertEqual(receiver.engine.device.offsets.map(\.value), [-9])
    }

    func testTheEngineIgnoresACalibrationThatIsLessCertainThanTheSurvey() {
        var receiver = Self.receiver(named: "weak phone", seed: 1)
        var calibration = Calibration()
        calibration.stepScale = 1.25
        receiver.begin(with: calibration)
        XCTAssertEqual(receiver.engine.device.offsets.map(\.value), [-12])
        XCTAssertEqual(receiver.engine.belief.filter.stepMean, 1.25, "of steps the survey tells nothing")
    }

    private static func receiver(named name: String, seed: UInt64, shift: Double = 0) -> HallReceiver {
        var receiver = HallReceiver(at: MapPoint(x: 7, y: 12), seed: seed, venue: venue, shift: shift)
        receiver.begin(asDevice: name)
        return receiver
    }
}
