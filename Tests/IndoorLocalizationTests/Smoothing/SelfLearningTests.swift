import IndoorLocalization
import XCTest
@testable import IndoorPositioning

final class SelfLearningTests: XCTestCase {
    /// What is learned where the packet's powers are wrong by 6 dB, and the receivers hear farther than presumed.
    private static let wrongPowers = Result {
        try UnlabelledHall.learning(in: UnlabelledHall.venue(wrongBy: 6)).outcomeOfAllJobs()
    }

    func testWrongPowersAndAWrongSensitivityAreLearned() throws {
        let outcome = try Self.wrongPowers.get()
        let calibration = try XCTUnwrap(outcome.calibration)
        XCTAssertEqual(calibration.recordings, UnlabelledHall.walkCount)
        XCTAssertEqual(calibration.powers.count, UnlabelledHall.points.count)
        var squares = 0.0
        for (index, power) in calibration.powers.enumerated() {
            let error = power.value - UnlabelledHall.power
            squares += error * error
            XCTAssertEqual(power.beacon, UnlabelledHall.identity(index))
            XCTAssertLessThan(abs(error), 4, "beacon \(index)")
            XCTAssertLessThan(abs(error), 3.5 * power.standardError, "beacon \(index)")
            XCTAssertGreaterThan(power.readings, 100)
            XCTAssertGreaterThan(power.recordings, 5)
            XCTAssertLessThan(power.effectiveReadings, Double(power.readings))
        }
        let deviation = (squares / Double(calibration.powers.count)).squareRoot()
        XCTAssertLessThan(deviation, 2)
        XCTAssertEqual(calibration.sensitivity, UnlabelledHall.sensitivity, accuracy: 5)
    }

    func testAVenueWithWrongPowersAdoptsTheLearnedOnesAndIsLocatedBetter() throws {
        let outcome = try Self.wrongPowers.get()
        let calibration = try XCTUnwrap(outcome.calibration)
        XCTAssertNil(outcome.verdict.refusal)
        XCTAssertGreaterThan(outcome.verdict.judged, 9)
        let wrong = UnlabelledHall.venue(wrongBy: 6)
        let before = UnlabelledHall.error(in: wrong, UnlabelledHall.settings)
        let after = UnlabelledHall.error(
            in: calibration.applied(to: wrong), calibration.applied(to: UnlabelledHall.settings))
        // The right values are the limit of what can be learned.
        var right = UnlabelledHall.settings
        right.signal.sensitivity = UnlabelledHall.sensitivity
        let least = UnlabelledHall.error(in: UnlabelledHall.venue(wrongBy: 0), right)
        XCTAssertLessThan(least, before)
        XCTAssertLessThan(
            after, before - 0.6 * (before - least), "\(before) m before, \(after) m after, \(least) m at best")
    }

    func testTheResultDoesNotDependOnTheOrderOfTheJobs() throws {
        let venue = UnlabelledHall.venue(wrongBy: 6)
        let usual = try UnlabelledHall.learning(in: venue, walks: 10, seconds: 6).outcomeOfAllJobs()
        var learning = UnlabelledHall.learning(in: venue, walks: 10, seconds: 6)
        while let jobs = learning.jobs() { learning.finish(try jobs.reversed().map { try $0.run() }.reversed()) }
        XCTAssertNotNil(usual.calibration)
        XCTAssertEqual(learning.outcome, usual)
    }

    /// Recordings of devices that move together are side by side: they are in one half.
    func testConsecutiveHalvesAreSplitInTheMiddle() throws {
        let used = Guarded<[Int]>([])
        let walks = (0..<10).map { index -> SelfLearning.Walk in
            let walk = UnlabelledHall.walk(UnlabelledHall.readings(seconds: 6, seed: UInt64(index + 1)))
            return { observe in
                used.withLock { $0.append(index) }
                try walk(observe)
            }
        }
        var learning = SelfLearning(
            venue: UnlabelledHall.venue(wrongBy: 6), settings: UnlabelledHall.settings, walks: walks,
            halves: .consecutive)
        var usedByStage: [String: Set<Int>] = [:]
        while let jobs = learning.jobs() {
            used.withLock { $0 = [] }
            let stage = learning.stage
            learning.finish(try jobs.map { try $0.run() })
            usedByStage[stage] = used.withLock { Set($0) }
        }
        XCTAssertEqual(usedByStage["learning, round 1 of 2"], Set(0..<10))
        XCTAssertEqual(usedByStage["judging, half 1 of 2, learning, round 1 of 2"], Set(0..<5))
        XCTAssertEqual(usedByStage["judging, half 1 of 2"], Set(5..<10))
        XCTAssertEqual(usedByStage["judging, half 2 of 2, learning, round 2 of 2"], Set(5..<10))
        XCTAssertEqual(usedByStage["judging, half 2 of 2"], Set(0..<5))
    }

    func testRightValuesAreNotReplaced() throws {
        var settings = UnlabelledHall.settings
        settings.signal.sensitivity = UnlabelledHall.sensitivity
        let outcome = try UnlabelledHall.learning(in: UnlabelledHall.venue(wrongBy: 0), settings: settings)
            .outcomeOfAllJobs()
        XCTAssertNotNil(outcome.calibration)
        XCTAssertEqual(outcome.verdict.refusal, .noGainOfDetections)
    }

    func testPowersThatChangeFromRecordingToRecordingAreNotAdopted() throws {
        let walks = (0..<UnlabelledHall.walkCount).map { number -> SelfLearning.Walk in
            var generator = SeededGenerator(seed: UInt64(500 + number))
            let errors = UnlabelledHall.points.map { _ in 6 * generator.normal() }
            return UnlabelledHall.walk(
                UnlabelledHall.readings(seconds: 12, seed: UInt64(1 + number)).map { reading in
                    guard case .sighting(var sighting) = reading else { return reading }
                    sighting.rssi += errors[Int(sighting.beacon.minor)]
                    return .sighting(sighting)
                })
        }
        var settings = UnlabelledHall.settings
        settings.signal.sensitivity = UnlabelledHall.sensitivity
        let outcome = try SelfLearning(
            venue: UnlabelledHall.venue(wrongBy: 0), settings: settings, walks: walks
        ).outcomeOfAllJobs()
        XCTAssertEqual(outcome.verdict.refusal, .noGainOfDetections)
    }

    func testOneRecordingIsTooFew() throws {
        let outcome = try UnlabelledHall.learning(in: UnlabelledHall.venue(wrongBy: 6), walks: 1, seconds: 60)
            .outcomeOfAllJobs()
        XCTAssertNotNil(outcome.calibration)
        XCTAssertEqual(outcome.verdict.refusal, .tooFewRecordings(1))
        XCTAssertNil(outcome.verdict.density)
    }

    func testWithoutReadingsOfTheVenueNothingIsLearned() throws {
        let venue = UnlabelledHall.venue(wrongBy: 0)
        let foreign = (0..<40).map { turn in
            SensorReading.sighting(
                Sighting(
                    instant: Instant(seconds: Double(turn) / 4), beacon: UnlabelledHall.identity(200 + turn % 5),
                    rssi: -60))
        }
        for readings in [[], foreign] {
            let walks = Array(repeating: UnlabelledHall.walk(readings), count: 12)
            let outcome = try SelfLearning(venue: venue, settings: UnlabelledHall.settings, walks: walks)
                .outcomeOfAllJobs()
            XCTAssertNil(outcome.calibration)
            XCTAssertEqual(outcome.verdict.refusal, .nothingHeard)
        }
        let none = try SelfLearning(venue: venue, settings: UnlabelledHall.settings, walks: []).outcomeOfAllJobs()
        XCTAssertEqual(none.verdict.refusal, .nothingHeard)
    }

    func testUnknownBeaconsAmongKnownOnesChangeNothing() throws {
        let venue = UnlabelledHall.venue(wrongBy: 6)
        func learned(_ change: ([SensorReading]) -> [SensorReading]) throws -> RadioCalibration? {
            let walks = (0..<6).map { UnlabelledHall.walk(change(UnlabelledHall.readings(seconds: 10, seed: 40 + $0))) }
            return try SelfLearning(venue: venue, settings: UnlabelledHall.settings, walks: walks).outcomeOfAllJobs()
                .calibration
        }
        let usual = try learned { $0 }
        let mixed = try learned { readings in
            readings.flatMap { reading in
                [
                    reading,
                    .sighting(Sighting(instant: reading.instant, beacon: UnlabelledHall.identity(77), rssi: -50)),
                ]
            }
        }
        XCTAssertNotNil(usual)
        XCTAssertEqual(usual, mixed)
    }

    func testAnErrorOfARecordingIsThrown() throws {
        struct Unreadable: Error {}
        let learning = SelfLearning(venue: UnlabelledHall.venue(wrongBy: 0), walks: [{ _ in throw Unreadable() }])
        do {
            _ = try learning.outcomeOfAllJobs()
            XCTFail("no error")
        } catch { XCTAssertTrue(error is Unreadable) }
    }

    func testOfVeryManyRecordingsASampleIsUsed() {
        let walks = Array(repeating: UnlabelledHall.walk([]), count: 1000)
        XCTAssertEqual(SelfLearning(venue: UnlabelledHall.venue(wrongBy: 0), walks: walks).walkCount, 200)
    }

    func testARecordingIsReadForAnHourAtMost() throws {
        let last = Guarded(0.0)
        let venue = UnlabelledHall.venue(wrongBy: 0)
        let walk: SelfLearning.Walk = { observe in
            for hour in 0..<10 {
                let instant = Instant(seconds: Double(hour) * 1800)
                last.withLock { $0 = instant.seconds }
                guard observe(.sighting(Sighting(instant: instant, beacon: UnlabelledHall.identity(0), rssi: -60)))
                else {
                    return
                }
            }
        }
        _ = try SelfLearning(venue: venue, settings: UnlabelledHall.settings, walks: [walk]).outcomeOfAllJobs()
        XCTAssertEqual(last.withLock { $0 }, 5400)
    }
}

final class SelfLearningVerdictTests: XCTestCase {
    private static func scores(_ densities: [Double], _ shares: [Double]) -> [PredictionScore] {
        zip(densities, shares).map { PredictionScore(density: $0, share: $1) }
    }

    /// Numbers with a mean, that deviate by 0.1.
    private static func values(_ mean: Double) -> [Double] { (0..<20).map { mean + ($0 % 2 == 0 ? 0.1 : -0.1) } }

    func testTheGainOfTheReceivedBeaconsMustBeLargeWithCertainty() {
        // The standard error of twenty values is 0.1 / √19 = 0.0229: the mean must be 0.07 + 2 · 0.0229 = 0.1159.
        let better = Self.values(0.2)
        XCTAssertNil(SelfLearningVerdict(gains: Self.scores(better, Self.values(0.117))).refusal)
        for share in [0.114, 0, -0.2] {
            XCTAssertEqual(
                SelfLearningVerdict(gains: Self.scores(better, Self.values(share))).refusal, .noGainOfDetections)
        }
        // A gain that is certain, but small.
        let small = Array(repeating: 0.06, count: 20)
        XCTAssertEqual(SelfLearningVerdict(gains: Self.scores(better, small)).refusal, .noGainOfDetections)
        let unknown = Array(repeating: Double.nan, count: 20)
        XCTAssertEqual(SelfLearningVerdict(gains: Self.scores(better, unknown)).refusal, .noGainOfDetections)
    }

    func testTheLevelsMayNotBePredictedWorse() {
        let shares = Self.values(0.2)
        for level in [0.2, 0, -0.022] {
            XCTAssertNil(SelfLearningVerdict(gains: Self.scores(Self.values(level), shares)).refusal)
        }
        for level in [-0.024, -0.2] {
            XCTAssertEqual(SelfLearningVerdict(gains: Self.scores(Self.values(level), shares)).refusal, .lossOfLevels)
        }
    }

    func testARecordingWithoutAPredictionDoesNotCount() {
        let gains = Self.scores(Self.values(0.2), Self.values(0.2))
        let silent = Array(repeating: PredictionScore(density: .nan, share: .nan), count: 5)
        let verdict = SelfLearningVerdict(gains: gains + silent)
        XCTAssertNil(verdict.refusal)
        XCTAssertEqual(verdict.judged, 20)
        XCTAssertEqual(SelfLearningVerdict(gains: silent + gains.prefix(9)).refusal, .tooFewRecordings(9))
    }
}

final class RadioCalibrationTests: XCTestCase {
    func testAnUncertainPowerIsNotUsed() {
        var calibration = RadioCalibration(
            powers: [], sensitivity: -80, sensitivityError: 1, sensitivityWidth: 2, readings: 10,
            effectiveDetections: 5,
            recordings: 3)
        for (index, error) in [1.0, 4.0].enumerated() {
            calibration.powers.append(
                RadioCalibration.Power(
                    beacon: UnlabelledHall.identity(index), value: -70, standardError: error, readings: 10,
                    recordings: 3,
                    effectiveReadings: 5))
        }
        let venue = calibration.applied(to: UnlabelledHall.venue(wrongBy: 0))
        XCTAssertEqual(venue.beacons.prefix(3).map(\.measuredPower), [-70, UnlabelledHall.power, UnlabelledHall.power])
        let settings = calibration.applied(to: PositioningSettings())
        XCTAssertEqual(settings.signal.sensitivity, -80)
        XCTAssertEqual(settings.signal.sensitivityWidth, 2)
    }

    /// Receivers on two floors also receive the other floor's beacons, through a loss that differs from the presumed one.
    func testTheLossThroughAFloorIsLearnedWithTheSensitivity() throws {
        let loss = 5.0
        var venue = UnlabelledHall.venue(wrongBy: 0)
        venue.maps.append(VenueMap(id: 2, name: "upper hall", level: 1, width: 24, height: 18))
        venue.beacons += venue.beacons.enumerated().map { index, beacon in
            var upper = beacon
            upper.identity = UnlabelledHall.identity(100 + index)
            upper.mapID = 2
            return upper
        }
        var generator = SeededGenerator(seed: 1)
        let recordings = (0..<10).map { recording in
            (0..<30).map { number in
                let map: MapID = number % 2 == 0 ? 1 : 2
                let point = MapPoint(x: 24 * generator.uniform(), y: 18 * generator.uniform())
                var readings: [BeaconIdentity: (sum: Double, count: Int)] = [:]
                for beacon in venue.beacons {
                    let planar = beacon.point.distance(to: point)
                    let level =
                        UnlabelledHall.power - 5 * SignalModel().pathLossExponent * log10(planar * planar + 0.25)
                    let mean = level - (beacon.mapID == map ? 0 : loss) + 3 * generator.normal()
                    let isReceived = generator.uniform() < 1 / (1 + exp((UnlabelledHall.sensitivity - mean) / 2))
                    if isReceived { readings[beacon.identity] = (2 * mean, 2) }
                }
                return FingerprintCutter.Piece(
                    mapID: map, point: point, duration: 2, readings: readings, deviation: 0.5)
            }
        }
        let calibration = try XCTUnwrap(CalibrationFit(venue: venue, model: SignalModel()).calibration(of: recordings))
        let floorLoss = try XCTUnwrap(calibration.floorLoss)
        XCTAssertEqual(floorLoss.value, loss, accuracy: 1)
        XCTAssertLessThan(floorLoss.standardError, 1.5)
        XCTAssertGreaterThan(floorLoss.readings, 500)
        XCTAssertEqual(calibration.sensitivity, UnlabelledHall.sensitivity, accuracy: 5)
        XCTAssertEqual(calibration.applied(to: PositioningSettings()).signal.floorLoss, floorLoss.value)
        XCTAssertEqual(calibration.settings.map(\.key).last, "positioning.signal.floorLoss")
    }

    func testWithoutReadingsThroughAFloorItsLossStaysThePresumedOne() throws {
        let calibration = try XCTUnwrap(
            UnlabelledHall.learning(in: UnlabelledHall.venue(wrongBy: 0), walks: 1, seconds: 20).outcomeOfAllJobs()
                .calibration)
        XCTAssertNil(calibration.floorLoss)
        XCTAssertEqual(
            calibration.applied(to: PositioningSettings()).signal.floorLoss, PositioningSettings().signal.floorLoss)
    }

    func testPositionsOfAStandingDeviceAreOnePiece() {
        func look(_ seconds: Double, _ x: Double) -> SmoothedTrack.Look {
            SmoothedTrack.Look(
                instant: Instant(seconds: seconds), mapID: 1, probability: 1,
                estimate: PositioningEngine.Estimate(at: MapPoint(x: x, y: 5), radius: 1.51))
        }
        // The device stands for 6 s, then walks on.
        let track = SmoothedTrack(looks: [look(0, 5), look(6, 5), look(8, 7), look(10, 9)])
        let sightings = (0..<10).map {
            Sighting(
                instant: Instant(seconds: Double($0) + 0.5), beacon: UnlabelledHall.identity(0), rssi: -60 - Double($0))
        }
        var cutter = FingerprintCutter()
        let recording = SurveyRecording(waypoints: [], sightings: sightings)
        XCTAssertEqual(cutter.pieces(of: recording, along: track, doubt: 1, atMost: 8).count, 5)
        cutter.mergedWithin = 0.75
        let pieces = cutter.pieces(of: recording, along: track, doubt: 1, atMost: 8)
        XCTAssertEqual(pieces.map(\.duration), [6, 2, 2])
        XCTAssertEqual(pieces[0].readings[UnlabelledHall.identity(0)]?.count, 6)
        XCTAssertEqual(pieces[0].readings[UnlabelledHall.identity(0)]?.sum, -375)
        expectClose(pieces[0].point.x, 5, within: 1e-9)
        expectClose(pieces[0].deviation, 1, within: 1e-9)
    }

    func testThePathLossIsTheMeanOverThePosition() {
        let model = SignalModel()
        let exact = PieceLoss(of: piece(deviation: 0), to: MapPoint(x: 0, y: 0), model: model)
        // −5 log₁₀ (8² + 0.5²)
        expectClose(exact.mean, -9.0394, within: 0.001)
        expectClose(exact.variance, 0, within: 1e-9)
        // By integration over a grid of 0.05 m, for a deviation of 2 m.
        var (sum, squares, weights) = (0.0, 0.0, 0.0)
        for x in stride(from: -10.0, through: 10, by: 0.05) {
            for y in stride(from: -10.0, through: 10, by: 0.05) {
                let weight = exp(-(x * x + y * y) / 8)
                let loss = -5 * log10((8 + x) * (8 + x) + y * y + 0.25)
                weights += weight
                sum += weight * loss
                squares += weight * loss * loss
            }
        }
        let mean = sum / weights
        let uncertain = PieceLoss(of: piece(deviation: 2), to: MapPoint(x: 0, y: 0), model: model)
        expectClose(uncertain.mean, mean, within: 0.05)
        expectClose(uncertain.variance, squares / weights - mean * mean, within: 0.3)
    }

    private func piece(deviation: Double) -> FingerprintCutter.Piece {
        FingerprintCutter.Piece(
            mapID: 1, point: MapPoint(x: 8, y: 0), duration: 2, readings: [:], deviation: deviation)
    }
}

/// A hall of 24 × 18 m with twelve beacons of equal power, and walks through it that nobody labelled.
private enum UnlabelledHall {
    static let power = -62.0
    static let exponent = 2.4
    static let sensitivity = -92.5
    static let width = 2.0
    static let walkCount = 10
    static let points = (0..<12).map { index in
        MapPoint(x: 3 + 6 * Double(index % 4), y: 3 + 6 * Double(index / 4))
    }

    static func identity(_ index: Int) -> BeaconIdentity {
        BeaconIdentity(uuid: BeaconUUID(high: 0xC, low: 0xD), major: 2, minor: UInt16(index))
    }

    /// The hall with a packet that states the powers, alternately too high and too low.
    static func venue(wrongBy error: Double) -> Venue {
        Venue(
            id: 7, name: "hall", maps: [VenueMap(id: 1, name: "hall", level: 0, width: 24, height: 18)],
            beacons: points.enumerated().map { index, point in
                let sign = (index + index / 4) % 2 == 0 ? 1.0 : -1
                return VenueBeacon(
                    identity: identity(index), mapID: 1, point: point, measuredPower: power + sign * error)
            })
    }

    static let settings: PositioningSettings = {
        var settings = PositioningSettings()
        settings.particleCount = 100
        return settings
    }()

    static func walk(_ readings: [SensorReading]) -> SelfLearning.Walk {
        { observe in
            for reading in readings { guard observe(reading) else { return } }
        }
    }

    static func learning(
        in venue: Venue, settings: PositioningSettings = settings, walks: Int = walkCount, seconds: Int = 14
    ) -> SelfLearning {
        SelfLearning(
            venue: venue, settings: settings,
            walks: (0..<walks).map { walk(readings(seconds: seconds, seed: UInt64($0 + 1))) })
    }

    /// The place at a time on the walk of a seed: straight at 1.2 m/s between random points.
    static func place(at seconds: Double, seed: UInt64) -> MapPoint {
        var generator = SeededGenerator(seed: seed &* 7919)
        func point() -> MapPoint { MapPoint(x: 1 + 22 * generator.uniform(), y: 1 + 16 * generator.uniform()) }
        var (from, to, rest) = (point(), point(), seconds * 1.2)
        while rest > from.distance(to: to) {
            rest -= from.distance(to: to)
            (from, to) = (to, point())
        }
        return from + (to - from) * (rest / max(from.distance(to: to), 0.001))
    }

    /// What a device receives: each beacon sends twice a second; shadowing lasts for 2 s, fading for one reading.
    static func readings(seconds: Int, seed: UInt64) -> [SensorReading] {
        var generator = SeededGenerator(seed: seed)
        let offset = 2 * generator.normal()
        var shadows = points.map { _ in 0.0 }
        var readings: [SensorReading] = []
        for half in 0..<2 * seconds {
            let time = Double(half) / 2 + 0.25
            let place = place(at: time, seed: seed)
            if half % 4 == 0 { shadows = points.map { _ in 3 * generator.normal() } }
            for (index, beacon) in points.enumerated() {
                let planar = beacon.distance(to: place)
                let mean = power - 5 * exponent * log10(planar * planar + 0.25) + shadows[index]
                let isReceived = generator.uniform() < 1 / (1 + exp((sensitivity - mean) / width))
                let rssi = mean + offset + 2.5 * generator.normal()
                guard isReceived else { continue }
                readings.append(
                    .sighting(Sighting(instant: Instant(seconds: time), beacon: identity(index), rssi: rssi)))
            }
        }
        return readings
    }

    /// The mean error in metres of a session's track on walks that nothing was learned from.
    static func error(in venue: Venue, _ settings: PositioningSettings) -> Double {
        let field = SignalField(venue: venue, model: settings.signal)
        var (sum, count) = (0.0, 0.0)
        for seed in UInt64(901)...940 {
            var engine = PositioningEngine(venue: venue, field: field, settings: settings, seed: seed)
            var next = 4.0
            for reading in readings(seconds: 16, seed: seed) {
                if reading.instant.seconds > next {
                    engine.advance(to: Instant(seconds: next))
                    if let estimate = engine.estimate(on: 1) {
                        sum += estimate.point.distance(to: place(at: next, seed: seed))
                        count += 1
                    }
                    next += 1
                }
                engine.observe(reading)
            }
        }
        return sum / count
    }
}

extension SelfLearning {
    /// Runs all jobs, one after the other.
    fileprivate func outcomeOfAllJobs() throws -> Outcome {
        var learning = self
        while let jobs = learning.jobs() { learning.finish(try jobs.map { try $0.run() }) }
        return try XCTUnwrap(learning.outcome)
    }
}
