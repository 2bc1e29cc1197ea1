import IndoorLocalization
import XCTest
@testable import IndoorPositioning

final class FloorFilterTests: XCTestCase {
    func testAllLevelsAreEquallyProbableWithoutEvidence() {
        let filter = FloorFilter(elevations: [0, 4, 8, 12])
        XCTAssertEqual(filter.probabilities, [0.25, 0.25, 0.25, 0.25])
        XCTAssertTrue(filter.isEmpty)
    }

    func testTheFirstEvidenceIsWeightedByItsLikelihood() {
        var filter = FloorFilter(elevations: [0, 4])
        filter.observe(evidence: [log(3), 0], height: nil, after: 0)
        XCTAssertEqual(filter.probabilities[0], 0.75, accuracy: 1e-9)
        XCTAssertFalse(filter.isEmpty)
    }

    /// Climbing between floors where nothing fits, the barometer still decides.
    func testImpossibleEvidenceKeepsTheHeightAndTheTime() {
        var filter = settled(height: 100)
        let nowhere = filter.probabilities.map { _ in -Double.infinity }
        for second in 1...4 { filter.observe(evidence: nowhere, height: 100 + Double(second), after: 1) }
        for _ in 0..<6 { filter.observe(evidence: nowhere, height: 104, after: 1) }
        XCTAssertGreaterThan(filter.probabilities[1], 0.8, "\(filter.probabilities)")
    }

    func testTimeWithoutAPossibleFloorCountsForTheNextUpdate() {
        func confidence(_ evidence: [Double]) -> Double {
            var filter = FloorFilter(elevations: [0, 4])
            filter.observe(evidence: [0, -5], height: nil, after: 0)
            for _ in 0..<60 { filter.observe(evidence: evidence, height: nil, after: 1) }
            return filter.probabilities[0]
        }
        XCTAssertEqual(confidence([-.infinity, -.infinity]), confidence([0, 0]), accuracy: 1e-9)
        XCTAssertLessThan(confidence([-.infinity, -.infinity]), 0.9)
    }

    func testEvidenceOfWeightZeroChangesNoFloorEvenIfOneIsImpossible() {
        for evidence in [[-Double.infinity, 0], [0, -Double.infinity]] {
            var filter = FloorFilter(elevations: [0, 4])
            filter.observe(evidence: [log(3), 0], height: nil, after: 0)
            filter.observe(evidence: evidence, weight: 0, height: nil, after: 0)
            XCTAssertEqual(filter.probabilities[0], 0.75, accuracy: 1e-9, "\(evidence)")
        }
    }

    func testOneOutlierDoesNotExcludeALevel() {
        var filter = FloorFilter(elevations: [0, 4])
        filter.observe(evidence: [0, -1000], height: nil, after: 1)
        XCTAssertGreaterThan(filter.probabilities[1], 1e-3)
    }

    func testLastingEvidenceChangesTheLevel() {
        var filter = FloorFilter(elevations: [0, 4])
        for _ in 0..<10 { filter.observe(evidence: [0, -2], height: nil, after: 1) }
        for _ in 0..<10 { filter.observe(evidence: [-2, 0], height: nil, after: 1) }
        XCTAssertGreaterThan(filter.probabilities[1], 0.95)
    }

    func testProbabilitiesSumToOneAfterAnyEvidence() {
        for seed in UInt64(1)...20 {
            var generator = SeededGenerator(seed: seed)
            var filter = FloorFilter(elevations: (0..<Int(1 + seed % 5)).map { Double($0) * 4 })
            for _ in 0..<50 {
                let evidence = filter.probabilities.map { _ in generator.normal() * 30 }
                let height = generator.uniform() < 0.6 ? 100 + 8 * generator.normal() : nil
                filter.observe(evidence: evidence, height: height, after: generator.uniform() * 3)
                XCTAssertEqual(filter.probabilities.reduce(0, +), 1, accuracy: 1e-9, "seed \(seed)")
            }
        }
    }

    func testAfterAGapOfAnyLengthProbabilitiesAreBetweenZeroAndOne() {
        for seconds in [10, 30, 60, 600, 100_000] as [Double] {
            for height in [nil, 100] as [Double?] {
                var filter = FloorFilter(elevations: [0, 4, 8])
                filter.observe(evidence: [0, -5, -5], height: height, after: 0)
                filter.observe(evidence: [0, -1, -2], height: height, after: seconds)
                for probability in filter.probabilities {
                    XCTAssertTrue((0...1).contains(probability), "\(filter.probabilities) after \(seconds) s")
                }
            }
        }
    }

    func testEvidenceForAnotherNumberOfLevelsIsIgnored() {
        var filter = FloorFilter(elevations: [0, 4])
        filter.observe(evidence: [0, -5, -5], height: nil, after: 1)
        XCTAssertTrue(filter.isEmpty)
    }

    func testALevelWithoutLikelihoodIsNotSelected() {
        var filter = FloorFilter(elevations: [0, 4])
        filter.observe(evidence: [-3, -.infinity], height: nil, after: 1)
        XCTAssertGreaterThan(filter.probabilities[0], 0.99)
    }

    func testAClimbOfFourMetresEndsAtTheLevelAbove() {
        var filter = settled(height: 100)
        climb(&filter, from: 100, by: 4)
        XCTAssertGreaterThan(filter.probabilities[1], 0.8, "\(filter.probabilities)")
    }

    func testAClimbOfEightMetresEndsTwoLevelsUp() {
        var filter = settled(height: 100)
        climb(&filter, from: 100, by: 8)
        XCTAssertGreaterThan(filter.probabilities[2], 0.8, "\(filter.probabilities)")
    }

    /// Flats have storeys of 2.4 m and more, which a packet may not contain.
    func testAClimbOfALowStoreyIsDetectedWithoutAMeasuredHeight() {
        for metres in [2.4, 2.9, 5] {
            var filter = FloorFilter(floors: [(-1, nil), (0, nil), (1, nil)])
            for _ in 0..<5 { filter.observe(evidence: [-3, 0, -3], height: 100, after: 1) }
            climb(&filter, from: 100, by: metres)
            XCTAssertGreaterThan(filter.probabilities[2], 0.8, "\(metres) m: \(filter.probabilities)")
        }
    }

    /// After 5.6 m of climb it is one high storey or two low ones: the radio decides sooner without measured heights.
    func testTheRadioDecidesTheNumberOfClimbedStoreysWithoutMeasuredHeights() {
        let probabilities = [nil, 3.5].map { storey in
            var filter = FloorFilter(floors: [(0, storey.map { _ in 0 }), (1, storey), (2, storey.map { 2 * $0 })])
            for _ in 0..<5 { filter.observe(evidence: [0, -3, -3], height: 100, after: 1) }
            climb(&filter, from: 100, by: 5.6)
            for _ in 0..<3 { filter.observe(evidence: [-2, 0, -1.2], height: 105.6, after: 1) }
            return filter.probabilities[1]
        }
        XCTAssertGreaterThan(probabilities[0], probabilities[1] + 0.15, "\(probabilities)")
    }

    func testAHalfLandingIsNoStoreyWithMeasuredHeights() {
        var filter = settled(height: 100)
        climb(&filter, from: 100, by: 1.2)
        XCTAssertGreaterThan(filter.probabilities[0], filter.probabilities[1], "\(filter.probabilities)")
    }

    /// Elevations above the sea beside a floor that has none.
    func testAFloorWithoutElevationLiesAStoreyFromItsNeighbour() {
        var filter = FloorFilter(floors: [(0, 412), (1, 416), (2, nil)])
        for _ in 0..<5 { filter.observe(evidence: [-3, 0, -3], height: 100, after: 1) }
        climb(&filter, from: 100, by: 3)
        XCTAssertGreaterThan(filter.probabilities[2], 0.8, "\(filter.probabilities)")
    }

    func testADescentOfFourMetresEndsAtTheLevelBelow() {
        var filter = FloorFilter(elevations: [0, 4, 8])
        for _ in 0..<5 { filter.observe(evidence: [-3, -3, 0], height: 100, after: 1) }
        climb(&filter, from: 100, by: -4)
        XCTAssertGreaterThan(filter.probabilities[1], 0.8, "\(filter.probabilities)")
    }

    func testAClimbOfAnySpeedEndsAtTheLevelAbove() {
        // From slow stairs to a fast elevator, looked at as often as a session does and half as often.
        for speed in [0.25, 0.35, 0.5, 0.7, 1, 2] {
            for interval in [0.5, 1] {
                let seed: UInt64 = 12
                var generator = SeededGenerator(seed: seed)
                var filter = FloorFilter(elevations: [0, 4, 8])
                var time = 0.0
                while time < 6 + 4 / speed + 6 {
                    let height = 100 + min(4, max(0, (time - 6) * speed)) + 0.1 * generator.normal()
                    let evidence = time < 6 ? [0, -2, -4] : [0.0, 0, 0]
                    filter.observe(evidence: evidence, height: height, after: interval)
                    time += interval
                }
                let note = "\(speed) m/s, every \(interval) s, seed \(seed): \(filter.probabilities)"
                XCTAssertGreaterThan(filter.probabilities[1], 0.8, note)
            }
        }
    }

    func testANoisyBarometerIsUsed() {
        var filter = settled(height: 100)
        for second in 1...90 {
            let height = second < 80 ? 100 + Double(second % 2) : 104
            filter.observe(evidence: [0, 0, 0], height: height, after: 1)
        }
        XCTAssertGreaterThan(filter.probabilities[1], 0.5, "\(filter.probabilities)")
    }

    func testALateReadingAfterAClimbDoesNotDisableTheBarometer() {
        var filter = settled(height: 100)
        for second in 1...8 { filter.observe(evidence: [0, 0, 0], height: 100 + Double(second) / 2, after: 1) }
        filter.observe(evidence: [0, 0, 0], height: nil, after: 1)
        for _ in 0..<6 { filter.observe(evidence: [0, 0, 0], height: 104, after: 1) }
        XCTAssertGreaterThan(filter.probabilities[1], 0.8, "\(filter.probabilities)")
    }

    func testTheFilterDoesNotMistakeWeatherDriftForAClimb() {
        var filter = settled(height: 100)
        for second in 1...300 {
            filter.observe(evidence: [0, -0.5, -0.5], height: 100 + 0.001 * Double(second), after: 1)
        }
        XCTAssertGreaterThan(filter.probabilities[0], 0.9, "\(filter.probabilities)")
    }

    func testTheFilterRecoversFromAWrongStartAtAConstantHeight() {
        var filter = FloorFilter(elevations: [0, 4, 8])
        for _ in 0..<3 { filter.observe(evidence: [-4, -4, 0], height: 100, after: 1) }
        for _ in 0..<30 { filter.observe(evidence: [0, -1, -2], height: 100, after: 1) }
        XCTAssertGreaterThan(filter.probabilities[0], 0.9, "\(filter.probabilities)")
    }

    func testTheFilterForgetsASilentBarometer() {
        var filter = settled(height: 100)
        for _ in 0..<10 { filter.observe(evidence: [0, -3, -3], height: nil, after: 1) }
        // Another height after the silence is the weather or another sensor, not a climb.
        for _ in 0..<3 { filter.observe(evidence: [0, 0, 0], height: 104, after: 1) }
        XCTAssertGreaterThan(filter.probabilities[0], 0.8, "\(filter.probabilities)")
    }

    func testEvidenceDecidesAfterTheBarometerHasFailed() {
        var filter = settled(height: 100)
        for _ in 0..<15 { filter.observe(evidence: [-2, 0, -2], height: nil, after: 1) }
        XCTAssertGreaterThan(filter.probabilities[1], 0.9, "\(filter.probabilities)")
    }

    func testTheLevelStaysBetweenTwoReadingsOfABarometer() {
        var filter = settled(height: 100)
        let before = filter.probabilities
        for _ in 0..<4 { filter.observe(evidence: [0, 0, 0], height: nil, after: 1) }
        for (old, new) in zip(before, filter.probabilities) { XCTAssertEqual(new, old, accuracy: 1e-9) }
    }

    func testAClimbDoesNotDistinguishTwoBuildings() {
        var filter = FloorFilter(elevations: [0, 4, 0, 4])
        for _ in 0..<5 { filter.observe(evidence: [0, -3, 0, -3], height: 100, after: 1) }
        climb(&filter, from: 100, by: 4)
        XCTAssertEqual(filter.probabilities[1], filter.probabilities[3], accuracy: 1e-9)
        XCTAssertGreaterThan(filter.probabilities[1] + filter.probabilities[3], 0.8)
    }

    func testTheRadioDistinguishesTwoBuildingsOfOneHeight() {
        var filter = FloorFilter(elevations: [0, 0])
        for _ in 0..<5 { filter.observe(evidence: [0, -1], height: 100, after: 1) }
        XCTAssertGreaterThan(filter.probabilities[0], 0.9)
    }

    private func settled(height: Double) -> FloorFilter {
        var filter = FloorFilter(elevations: [0, 4, 8])
        for _ in 0..<5 { filter.observe(evidence: [0, -3, -3], height: height, after: 1) }
        return filter
    }

    /// A metre a second, as in an elevator, without other evidence.
    private func climb(_ filter: inout FloorFilter, from start: Double, by metres: Double) {
        let none = filter.probabilities.map { _ in 0.0 }
        let duration = Int(abs(metres))
        for second in 1...duration {
            filter.observe(evidence: none, height: start + metres * Double(second) / Double(duration), after: 1)
        }
        for _ in 0..<6 { filter.observe(evidence: none, height: start + metres, after: 1) }
    }
}

final class FloorDistanceTests: XCTestCase {
    private typealias Stage = PositioningStage

    /// A cellar, a ground floor, one of another building beside it, and a tower.
    private let distance = FloorDistance([
        Stage.map(1, level: -1), Stage.map(2, level: 0), Stage.map(3, level: 0), Stage.map(4, level: 7),
    ])

    func testASignalWithinAMapPassesNoFloor() {
        for map in [1, 2, 3, 4] as [MapID] { XCTAssertEqual(distance.floors(from: map, to: map), 0, "\(map)") }
    }

    func testTheFloorsBetweenMapsAreTheDifferenceOfTheirLevels() {
        XCTAssertEqual(distance.floors(from: 1, to: 2), 1)
        XCTAssertEqual(distance.floors(from: 1, to: 4), 8)
        XCTAssertEqual(distance.floors(from: 4, to: 1), 8)
    }

    func testASignalBetweenMapsOfTheSameLevelPassesOneFloor() {
        XCTAssertEqual(distance.floors(from: 2, to: 3), 1)
    }

    func testASignalToAnUnknownMapPassesOneFloor() {
        XCTAssertEqual(distance.floors(from: 4, to: 99), 1)
        XCTAssertEqual(distance.floors(from: 99, to: 4), 1)
        XCTAssertEqual(distance.floors(from: 99, to: 99), 0)
    }

    func testTheFirstOfTwoMapsWithOneIdentityApplies() {
        let twice = FloorDistance([Stage.map(1, level: 0), Stage.map(1, level: 9), Stage.map(2, level: 3)])
        XCTAssertEqual(twice.floors(from: 1, to: 2), 3)
    }

    func testExtremeLevelsAreFarApart() {
        let wild = FloorDistance([Stage.map(1, level: .min), Stage.map(2, level: .max), Stage.map(3, level: 0)])
        XCTAssertEqual(wild.floors(from: 1, to: 2), .max)
        XCTAssertEqual(wild.floors(from: 2, to: 1), .max)
        XCTAssertEqual(wild.floors(from: 1, to: 3), .max)
    }
}

final class PressureMeanTests: XCTestCase {
    func testTheStandardPressureGivesSeaLevel() {
        expectClose(height(of: [1013.25]), 0, within: 1e-6)
    }

    func testTheStandardAtmosphereHas954HectopascalAt500Metres() {
        // ICAO Doc 7488: 954.61 hPa at 500 m.
        expectClose(height(of: [954.61]), 500, within: 0.5)
    }

    func testTheHeightIsThatOfTheMeanPressure() {
        expectClose(height(of: [1012, 1014.5]), 0, within: 1e-6)
    }

    func testReadingsThatAreNoPressureAreIgnored() {
        expectClose(height(of: [1013.25, .nan, 0, -5, 101_325, .infinity]), 0, within: 1e-6)
    }

    func testWithoutReadingsThereIsNoHeight() {
        XCTAssertNil(height(of: []))
    }

    func testAHeightIsReturnedOnce() {
        var mean = PressureMean()
        mean.add(1000)
        XCTAssertNotNil(mean.drainHeight())
        XCTAssertNil(mean.drainHeight())
    }

    private func height(of pressures: [Double]) -> Double? {
        var mean = PressureMean()
        for pressure in pressures { mean.add(pressure) }
        return mean.drainHeight()
    }
}
