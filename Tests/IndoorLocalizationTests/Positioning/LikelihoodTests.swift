import IndoorLocalization
import XCTest
@testable import IndoorPositioning

final class SignalModelTests: XCTestCase {
    private let model = SignalModel()

    func testPathLossAtOneMetreIsThePower() {
        let rssi = model.pathLoss(power: -59, exponent: 2, planar: 1, height: 0)
        XCTAssertEqual(rssi, -59, accuracy: 1e-12)
    }

    func testTenTimesTheDistanceLosesTenTimesTheExponent() {
        XCTAssertEqual(model.pathLoss(power: -59, exponent: 2.5, planar: 10, height: 0), -84, accuracy: 1e-9)
    }

    func testTheDistanceIncludesTheHeightDifference() {
        // 3 m in the plan and 4 m up are 5 m: -60 - 20·log₁₀ 5 = -73.9794.
        XCTAssertEqual(model.pathLoss(power: -60, exponent: 2, planar: 3, height: 4), -73.9794, accuracy: 1e-4)
    }

    func testShadowingIsFullyCorrelatedAtTheSamePlace() {
        XCTAssertEqual(model.shadowingCorrelation(distance: 0), 1, accuracy: 1e-12)
    }

    func testShadowingAtOneLengthFollowsMatérn() {
        // (1 + √3)·exp(-√3) = 0.48335.
        XCTAssertEqual(model.shadowingCorrelation(distance: model.shadowingLength), 0.48335, accuracy: 1e-4)
    }

    func testTheCorrelationOfShadowingFallsWithDistance() {
        let values = (0...60).map { model.shadowingCorrelation(distance: Double($0)) }
        for (near, far) in zip(values, values.dropFirst()) { XCTAssertGreaterThan(near, far) }
        XCTAssertLessThan(model.shadowingCorrelation(distance: 60), 1e-3)
    }

    func testOneSurveyReadingVariesByNoiseAndFading() {
        // 1.5² + 2.5² = 8.5.
        XCTAssertEqual(model.surveyVariance(count: 1), 8.5, accuracy: 1e-12)
    }

    func testFourSurveyReadingsFadeAFourthAsMuch() {
        XCTAssertEqual(model.surveyVariance(count: 4), 2.25 + 6.25 / 4, accuracy: 1e-12)
    }

    func testReadingsBeyondTheCapDoNotReduceTheVariance() {
        XCTAssertEqual(
            model.surveyVariance(count: model.readingCap), model.surveyVariance(count: 1000), accuracy: 1e-12)
    }

    func testEachSurveyParameterReplacesTheSetting() {
        let cases: [(tell: (inout RadioMap.Fit) -> Void, expect: (inout SignalModel) -> Void)] = [
            ({ $0.floorLoss = 7 }, { $0.floorLoss = 7 }), ({ $0.rateLength = 3.5 }, { $0.rateLength = 3.5 }),
            ({ $0.ratePriorDetections = 0.4 }, { $0.ratePriorDetections = 0.4 }),
            ({ $0.supportWidth = 0.75 }, { $0.supportWidth = 0.75 }),
            ({ $0.unsupportedShare = 0.3 }, { $0.unsupportedShare = 0.3 }),
            ({ $0.bodyDeviation = 3.5 }, { $0.bodyDeviation = 3.5 }),
            ({ $0.receiverDeviation = 12 }, { $0.receiverOffsetDeviation = 12 }),
        ]
        for (index, (tell, expect)) in cases.enumerated() {
            var fit = RadioMap.Fit()
            tell(&fit)
            var expected = model
            expect(&expected)
            XCTAssertNotEqual(expected, model, "case \(index)")
            expected.fastFading *= SignalModel.surveyedFading
            XCTAssertEqual(model.fitted(to: radioMap(fit)), expected, "case \(index)")
        }
    }

    func testParametersMissingFromTheSurveyKeepTheSetting() {
        var model = model
        (model.floorLoss, model.rateLength, model.supportWidth) = (11, 2.5, 1.25)
        model.ratePriorDetections = 0.2
        (model.unsupportedShare, model.bodyDeviation, model.receiverOffsetDeviation) = (0.03, 4, 2)
        let fitted = model.fitted(to: radioMap(RadioMap.Fit()))
        model.fastFading *= SignalModel.surveyedFading
        XCTAssertEqual(fitted, model)
    }

    func testWithoutASurveyTheModelUsesItsUnsurveyedParameters() {
        var model = model
        (model.unsurveyedBeaconLimit, model.unsurveyedRate, model.unsurveyedDetectionWeight) = (7, 0.3, 0.25)
        let fitted = model.fitted(to: nil)
        // Far beacons are not to outvote the near ones.
        XCTAssertEqual(fitted.beaconLimit, 7)
        XCTAssertEqual(fitted.unheardRate, 0.3)
        XCTAssertEqual(fitted.detectionWeight, 0.25)
        XCTAssertEqual(fitted.fitted(to: nil), fitted)
        (model.beaconLimit, model.unheardRate, model.detectionWeight) = (7, 0.3, 0.25)
        XCTAssertEqual(fitted, model)
    }

    func testAnOffsetDeviationOfZeroStaysZero() {
        var model = model
        model.receiverOffsetDeviation = 0
        var fit = RadioMap.Fit()
        fit.receiverDeviation = 6
        XCTAssertEqual(model.fitted(to: radioMap(fit)).receiverOffsetDeviation, 0)
    }

    func testTheSurveyDoesNotReduceTheOffsetDeviation() {
        var fit = RadioMap.Fit()
        fit.receiverDeviation = 1
        XCTAssertEqual(model.fitted(to: radioMap(fit)).receiverOffsetDeviation, model.receiverOffsetDeviation)
    }

    /// A phone in a pocket against one in a hand: most differ by less than 10 dB, some by 15.
    func testTheDefaultsCoverTypicalReceivers() {
        XCTAssertEqual(model.receiverOffsetDeviation, 9)
        XCTAssertEqual(model.bodyDeviation, 2)
        XCTAssertEqual(model.beaconLimit, 64)
    }

    func testAllBeaconsShareTheUnheardRate() {
        XCTAssertEqual(model.unheardRate(of: 1), model.unheardRate, accuracy: 1e-12)
        XCTAssertEqual(model.unheardRate(of: 600) * 600, model.unheardRate, accuracy: 1e-12)
        XCTAssertEqual(model.unheardRate(of: 0), model.unheardRate, accuracy: 1e-12)
    }

    private func radioMap(_ fit: RadioMap.Fit) -> RadioMap {
        var radioMap = RadioMap(beacons: [], fingerprints: [], pathLossExponent: 2)
        radioMap.fit = fit
        return radioMap
    }
}

final class LikelihoodTests: XCTestCase {
    private typealias Stage = PositioningStage
    private static let fields = [Stage.packetField, Stage.surveyedField]

    func testTheTruePlaceFitsBetterThanOneTenMetresAway() throws {
        for field in Self.fields {
            for place in [MapPoint(x: 5, y: 5), MapPoint(x: 10, y: 10), MapPoint(x: 15, y: 4)] {
                let away = MapPoint(x: place.x < 10 ? place.x + 10 : place.x - 10, y: place.y)
                let sums = Self.sums(field, Stage.evidence(at: place), [place, away])
                XCTAssertGreaterThan(sums[0], sums[1] + 1, "\(place), rates known: \(field.areRatesKnown)")
            }
        }
    }

    func testTheBestCellIsWithinTwoMetresOfTheTruePlace() throws {
        for field in Self.fields {
            let place = MapPoint(x: 13, y: 7)
            let sums = Self.grid(field, Stage.evidence(at: place))
            let best = try XCTUnwrap(sums.indices.max { sums[$0] < sums[$1] })
            XCTAssertLessThan(field.maps[0].grid.center(of: best).distance(to: place), 2)
        }
    }

    func testTheSumsOfSingleCellsAndOfTheWholeGridAreTheSame() {
        let receiver = Stage.offset(deviation: 9, bodyDeviation: 2)
        for field in Self.fields {
            for seed in UInt64(1)...5 {
                let evidence = Self.randomEvidence(seed: seed)
                let grid = Self.grid(field, evidence, receiver: receiver)
                let centers = grid.indices.map(field.maps[0].grid.center)
                let single = Self.sums(field, evidence, centers, receiver: receiver)
                for cell in grid.indices { XCTAssertEqual(single[cell], grid[cell], accuracy: 1e-3, "seed \(seed)") }
            }
        }
    }

    func testTheLikelihoodAddsToTheExistingSums() {
        let (field, place) = (Stage.surveyedField, MapPoint(x: 5, y: 5))
        let sums = Self.sums(field, Stage.evidence(at: place), [place, place], before: [100, 0])
        XCTAssertEqual(sums[0] - sums[1], 100, accuracy: 1e-3)
        XCTAssertNotEqual(sums[1], 0)
    }

    func testOutsideTheMapIsWorseThanAtTheTruePlace() {
        for field in Self.fields {
            let place = MapPoint(x: 10, y: 10)
            let sums = Self.sums(field, Stage.evidence(at: place), [place, MapPoint(x: 500, y: 10)])
            XCTAssertGreaterThan(sums[0], sums[1] + 3)
        }
    }

    func testTheLikelihoodSubtractsTheReceiverOffset() {
        var receiver = Stage.offset(deviation: 6)
        receiver.begin(value: 8, deviation: 2)
        var loud = Stage.evidence(at: MapPoint(x: 5, y: 5))
        for index in loud.heard.indices { loud.heard[index].rssi += 8 }
        let places = [MapPoint(x: 5, y: 5), MapPoint(x: 15, y: 15), MapPoint(x: 500, y: 5)]
        for field in Self.fields {
            let with = Self.sums(field, loud, places, receiver: receiver)
            let same = Stage.evidence(at: MapPoint(x: 5, y: 5))
            let without = Self.sums(field, same, places, receiver: Stage.offset(deviation: 2))
            for (one, other) in zip(with, without) { XCTAssertEqual(one, other, accuracy: 1e-3) }
        }
    }

    /// A receiver of which nothing is known hears beacons of some RSSIs; only their differences tell the place.
    func testAnUncertainReceiverOffsetReducesTheWeightOfTheRSSI() {
        let places = [MapPoint(x: 5, y: 5), MapPoint(x: 15, y: 15)]
        let evidence = Stage.evidence(at: places[0], beacons: [0])
        let advantages = [0.0, 3, 9, 30].map { deviation in
            let sums = Self.sums(Stage.uncountedField, evidence, places, receiver: Stage.offset(deviation: deviation))
            return sums[0] - sums[1]
        }
        XCTAssertEqual(advantages, advantages.sorted(by: >))
        XCTAssertGreaterThan(advantages[0], 2)
        XCTAssertLessThan(advantages[3], 0.5)
    }

    func testBodyShadowingExplainsWeakBeaconsOnOneSide() {
        // Beacons to the left are weaker, those to the right stronger, by more than noise explains.
        let place = MapPoint(x: 10, y: 10)
        var evidence = Stage.evidence(at: place)
        for index in evidence.heard.indices {
            let beacon = Stage.beaconPoints[evidence.heard[index].beacon]
            evidence.heard[index].rssi += Float(20 * (beacon.x - place.x) / beacon.distance(to: place))
        }
        let without = Self.sums(Stage.packetField, evidence, [place], receiver: Stage.offset(deviation: 3))
        let with = Self.sums(
            Stage.packetField, evidence, [place], receiver: Stage.offset(deviation: 3, bodyDeviation: 15))
        XCTAssertGreaterThan(with[0], without[0] + 1)
    }

    func testTheStrongestBeaconIsWeighedFirst() {
        let likelihood = Stage.likelihood(Stage.packetField, Stage.evidence(at: MapPoint(x: 3, y: 17)))
        let heard = likelihood.evidence.heard
        XCTAssertEqual(heard.first?.beacon, 5)
        XCTAssertEqual(heard.map(\.rssi), heard.map(\.rssi).sorted(by: >))
        XCTAssertEqual(likelihood.place(of: heard[0]), Stage.beaconPoints[5])
    }

    func testTheTermsOfAReadingDoNotDependOnItsTable() throws {
        var evidence = Stage.evidence(at: MapPoint(x: 5, y: 5), beacons: [2])
        (evidence.heard[0].variance, evidence.heard[0].share, evidence.heard[0].draws) = (4, 0.5, 0.25)
        let likelihood = Stage.likelihood(
            Stage.surveyedField, evidence, receiver: Stage.offset(deviation: 3))
        let terms = likelihood.terms(evidence.heard[0], mapIndex: 0)
        let reading = pow(Stage.surveyedField.readingDeviation, 2)
        XCTAssertEqual(Double(terms.variance), reading + 4, accuracy: 1e-4)
        // Outside its table the beacon is expected at -103 dBm, give or take receiver, shadowing and noise.
        let freedom = likelihood.model.degreesOfFreedom
        let variance = reading + 4 + 9 + likelihood.model.shadowing * likelihood.model.shadowing
        let difference = Double(evidence.heard[0].rssi) + 103
        let density =
            -(freedom + 1) / 2 * log1p(difference * difference / (freedom * variance)) - log(variance) / 2
        XCTAssertEqual(Double(terms.outside), 0.5 * density, accuracy: 1e-3)
    }

    func testAReadingOfWeightZeroCarriesNoInformationAboutDistance() {
        var evidence = Stage.evidence(at: MapPoint(x: 5, y: 5), beacons: [0])
        evidence.heard[0].share = 0
        let sums = Self.grid(Stage.uncountedField, evidence)
        XCTAssertEqual(Set(sums), [0])
    }

    func testAReadingOfHalfTheWeightCarriesHalfTheInformation() {
        let places = [MapPoint(x: 5, y: 5), MapPoint(x: 15, y: 15)]
        let receiver = Stage.offset(deviation: 0)
        var evidence = Stage.evidence(at: places[0], beacons: [0, 1, 2])
        let whole = Self.sums(Stage.surveyedField, evidence, places, receiver: receiver)
        for index in evidence.heard.indices {
            evidence.heard[index].share = 0.5
            evidence.heard[index].draws = 0.5
        }
        let half = Self.sums(Stage.surveyedField, evidence, places, receiver: receiver)
        XCTAssertEqual(half[0] - half[1], (whole[0] - whole[1]) / 2, accuracy: 0.01)
    }

    func testAReceiverThatDetectsHalfOfAllAdvertisementsWeighsPlacesEqually() throws {
        let places = [MapPoint(x: 5, y: 5), MapPoint(x: 15, y: 15)]
        func ratio(every interval: Double) throws -> Float {
            var collector = EvidenceCollector(field: Stage.surveyedField)
            for turn in 0..<Int(2 / interval) {
                for (index, beacon) in Stage.beaconPoints.enumerated() {
                    let instant = Instant(seconds: Double(turn) * interval)
                    collector.add(beacon: index, rssi: Stage.rssi(from: beacon, to: places[0]), at: instant)
                }
            }
            let evidence = try XCTUnwrap(collector.drain(at: Instant(seconds: 2)))
            let sums = Self.sums(Stage.surveyedField, evidence, places)
            return sums[0] - sums[1]
        }
        XCTAssertEqual(try ratio(every: 0.05), try ratio(every: 0.1), accuracy: 0.01)
    }

    func testADetectionWhereTheSurveyHadNoneMakesAPlaceLessProbable() throws {
        var venue = Stage.surveyedVenue
        var map = try XCTUnwrap(venue.radioMap)
        for index in map.fingerprints.indices where map.fingerprints[index].point.x > 10 {
            map.fingerprints[index].readings.removeAll { $0.beacon == 0 }
        }
        venue.radioMap = map
        let field = SignalField(venue: venue)
        var evidence = Stage.evidence(at: MapPoint(x: 5, y: 10), beacons: [0])
        evidence.heard[0].share = 0
        let sums = Self.sums(field, evidence, [MapPoint(x: 4, y: 10), MapPoint(x: 16, y: 10)])
        XCTAssertGreaterThan(sums[0], sums[1] + 2)
    }

    /// Rates and readings at every cell.
    private static func grid(
        _ field: SignalField, _ evidence: Evidence, receiver: ReceiverOffset = Stage.offset()
    ) -> [Float] {
        let count = field.maps[0].grid.count
        let likelihood = Stage.likelihood(field, evidence, receiver: receiver)
        var sums = [Float](repeating: 0, count: count)
        likelihood.addRates(toGrid: &sums, mapIndex: 0)
        var scratch = Likelihood.GridScratch()
        likelihood.hear(grid: &sums, mapIndex: 0, scratch: &scratch)
        return sums
    }

    /// Rates and readings at some places, each of a particle of its own.
    private static func sums(
        _ field: SignalField, _ evidence: Evidence, _ places: [MapPoint], receiver: ReceiverOffset = Stage.offset(),
        before: [Float]? = nil
    ) -> [Float] {
        let likelihood = Stage.likelihood(field, evidence, receiver: receiver)
        var sums = before ?? [Float](repeating: 0, count: places.count)
        let cells = places.map { field.maps[0].grid.cell(at: $0).map(Int32.init) ?? -1 }
        likelihood.addRates(to: &sums, mapIndex: 0, cells: cells)
        var particles = ParticleFilter.Particles()
        particles.place(places, receiver)
        likelihood.hear(&particles, 0..<places.count, mapIndex: 0, cells: cells.map { $0 + 1 }, sums: &sums)
        return sums
    }

    private static func randomEvidence(seed: UInt64) -> Evidence {
        var generator = SeededGenerator(seed: seed)
        var evidence = Stage.evidence(at: MapPoint(x: 20 * generator.uniform(), y: 20 * generator.uniform()))
        for index in evidence.heard.indices {
            evidence.heard[index].rssi += Float(6 * generator.normal())
            evidence.heard[index].variance = Float(6 * generator.uniform())
            evidence.heard[index].share = Float(generator.uniform())
            evidence.heard[index].draws = Float(generator.uniform())
        }
        evidence.order()
        return evidence
    }
}

final class ConsistencyTestTests: XCTestCase {
    func testBeforeAnyComparisonTheRatioIsZero() {
        XCTAssertEqual(ConsistencyTest().ratio, 0)
    }

    func testTheRatioComparesADifferenceWithTheDifferenceOfTheVariances() {
        // Of 10 m² the belief explains 4: 6 m² are expected.
        let check = Self.check(differences: [3], latest: 10, belief: 4)
        XCTAssertEqual(check.ratio, 9.0 / 6, accuracy: 1e-12)
    }

    func testTheExpectedVarianceIsAtLeastHalfThatOfTheLatestEvidence() {
        for belief in [6.0, 10, 50] {
            XCTAssertEqual(Self.check(differences: [3], latest: 10, belief: belief).ratio, 9.0 / 5, accuracy: 1e-12)
        }
    }

    func testTheRatioIsTheMeanOfSeveralComparisons() {
        let check = Self.check(differences: [0, 3, 0, 3], latest: 10, belief: 1, pause: 0)
        XCTAssertEqual(check.ratio, 0.5, accuracy: 1e-12)
    }

    func testTheTestForgetsADisagreementAfterTwoMinutesOfAgreement() {
        let lost = [Double](repeating: 20, count: 15)
        XCTAssertEqual(Self.check(differences: lost, latest: 10, belief: 1).ratio, 400.0 / 9, accuracy: 1e-9)
        let found = Self.check(differences: lost + [Double](repeating: 1, count: 60), latest: 10, belief: 1)
        XCTAssertLessThan(found.ratio, 1)
    }

    func testTheTestIgnoresInvalidNumbers() {
        var check = Self.check(differences: [3], latest: 10, belief: 1)
        let before = check
        check.observe(difference: .nan, latest: 10, belief: 1, after: 2)
        check.observe(difference: 3, latest: 0, belief: 0, after: 2)
        check.observe(difference: 3, latest: .infinity, belief: 1, after: 2)
        XCTAssertEqual(check, before)
    }

    func testARestingReceiverHardlyInflatesTheRadius() {
        let doubted = (UInt64(1)...20).filter { seed in
            Self.radius(doubt: 2, seed: seed, places: [MapPoint(x: 8, y: 11)])
                != Self.radius(doubt: 0, seed: seed, places: [MapPoint(x: 8, y: 11)])
        }
        XCTAssertLessThanOrEqual(doubted.count, 2, "seeds \(doubted) of 1...20")
    }

    func testContradictoryEvidenceInflatesTheRadius() throws {
        // Heard in two corners in turns: no model explains that.
        let corners = [MapPoint(x: 3, y: 4), MapPoint(x: 16, y: 15)]
        for seed in UInt64(1)...5 {
            let doubting = try XCTUnwrap(Self.radius(doubt: 2, seed: seed, places: corners))
            let plain = try XCTUnwrap(Self.radius(doubt: 0, seed: seed, places: corners))
            XCTAssertGreaterThan(doubting, 1.3 * plain, "seed \(seed)")
        }
    }

    /// Looks every few seconds with these differences in metres.
    private static func check(
        differences: [Double], latest: Double, belief: Double, pause: Double = 2
    ) -> ConsistencyTest {
        var check = ConsistencyTest()
        for difference in differences {
            check.observe(difference: difference, latest: latest, belief: belief, after: pause)
        }
        return check
    }

    /// The radius of a receiver that was at each place in turns, for six seconds each and half a minute in all.
    private static func radius(doubt: Double, seed: UInt64, places: [MapPoint]) -> Double? {
        var receiver = HallReceiver(at: places[0], seed: seed) { $0.radiusInflation = doubt }
        for turn in 0..<5 {
            receiver.place = places[turn % places.count]
            receiver.listen(seconds: 6)
        }
        return receiver.estimate?.radius
    }
}

/// Readings that are medians over a window.
final class FilteredReadingTests: XCTestCase {
    private typealias Stage = PositioningStage
    private var collector = EvidenceCollector(field: Stage.packetField)

    override func setUp() { collector = EvidenceCollector(field: Stage.packetField) }

    private func hear(_ beacon: Int, _ rssi: Double, at seconds: Double, window: Double) {
        collector.add(beacon: beacon, rssi: rssi, at: Instant(seconds: seconds), window: .seconds(window))
    }

    private func drained(at seconds: Double) throws -> Evidence {
        try XCTUnwrap(collector.drain(at: Instant(seconds: seconds)))
    }

    func testAFilteredReadingHasLessFadingThanARawOne() throws {
        hear(0, -60, at: 1, window: 0)
        hear(1, -60, at: 1, window: 15)
        hear(2, -60, at: 1, window: 0.1)
        let heard = try drained(at: 1).heard
        XCTAssertEqual(heard[0].variance, 6.25, accuracy: 1e-4)
        // A median of 15 readings is as certain as a mean of 15 · 2/π.
        XCTAssertEqual(heard[1].variance, 6.25 / (15 * 2 / .pi), accuracy: 1e-4)
        XCTAssertEqual(heard[2].variance, 6.25, accuracy: 1e-4, "a short window has at least one reading")
    }

    func testAFilteredReadingIsHalfOfItsWindowOld() throws {
        hear(0, -60, at: 0, window: 0)
        _ = try drained(at: 0)
        hear(0, -60, at: 4, window: 6)
        XCTAssertEqual(try drained(at: 5).age, 1 + 3, accuracy: 1e-9)
    }

    func testAFilteredReadingHasTheWeightOfItsNewPart() throws {
        hear(0, -60, at: 0, window: 16)
        XCTAssertEqual(try drained(at: 0).heard.first?.share, 1, "the first one is new")
        hear(0, -60, at: 4, window: 16)
        let heard = try XCTUnwrap(try drained(at: 4).heard.first)
        // √(4 / 16), and 1 - exp(-4 / 1) as for raw readings.
        XCTAssertEqual(heard.share, 0.5, accuracy: 1e-6)
        XCTAssertEqual(heard.fresh, 0.98168, accuracy: 1e-4)
        XCTAssertEqual(heard.draws, heard.share * heard.fresh, accuracy: 1e-6)
        hear(0, -60, at: 60, window: 16)
        XCTAssertEqual(try XCTUnwrap(try drained(at: 60).heard.first).share, 1, accuracy: 1e-4)
    }

    func testTheNewestFilteredReadingReplacesTheOlderOnes() throws {
        hear(0, -60, at: 1, window: 15)
        hear(0, -70, at: 2, window: 15)
        XCTAssertEqual(try drained(at: 2).heard.map(\.rssi), [-70])
        XCTAssertEqual(collector.snapshot(at: Instant(seconds: 2))?.heard.map(\.rssi), [-70])
        hear(0, -50, at: 3, window: 0)
        XCTAssertEqual(try drained(at: 3).heard.map(\.rssi), [-50], "the gateway sends raw readings now")
    }

    func testAFilteredReadingStaysInTheSnapshotForHalfOfItsWindowLonger() throws {
        hear(0, -60, at: 0, window: 10)
        hear(1, -60, at: 0, window: 0)
        for (seconds, expected) in [(4.0, [0, 1]), (5, [0]), (9, [0]), (9.5, [])] {
            _ = try drained(at: seconds)
            let heard = collector.snapshot(at: Instant(seconds: seconds))?.heard.map(\.beacon) ?? []
            XCTAssertEqual(heard, expected, "\(seconds) s")
        }
    }

    /// A venue has thousands of beacons, a tag's collector the few that were received lately.
    func testACollectorForgetsABeaconWhenItsNextReadingIsAsGoodAsAFirstOne() throws {
        for second in 0..<200 {
            hear(second % 8, -60, at: Double(second) * 10, window: 0)
            let heard = try XCTUnwrap(try drained(at: Double(second) * 10).heard.first)
            XCTAssertEqual(heard.share, 1)
        }
        XCTAssertLessThan(collector.byteCount, 1500)
    }
}
