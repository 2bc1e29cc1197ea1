import IndoorLocalization
import XCTest

final class VerticalMotionTests: XCTestCase {
    /// Returns the vertical motions during a climb of the barometer, with or without steps.
    private func vertical(rate: Double, seconds: Double, isWalking: Bool) -> [VerticalMotion] {
        var (reckoner, barometer) = (DeadReckoner(), CarriedBarometer())
        reckoner.observe(barometer.readings(10))
        var told: [VerticalMotion] = []
        for reading in barometer.readings(seconds, rate: rate) {
            if isWalking {
                for part in [-0.49, -0.01] {
                    reckoner.observe(
                        .step(Step(instant: reading.instant.advanced(by: .seconds(part)), length: 0.5, heading: 0)))
                }
            }
            reckoner.observe(reading)
            told.append(reckoner.estimate.vertical)
        }
        return told
    }

    func testNoiseOnALevelFloorIsNoClimb() {
        for seed in 0..<10 {
            var (reckoner, barometer) = (DeadReckoner(), CarriedBarometer(seed: UInt64(seed)))
            for reading in barometer.readings(120) {
                reckoner.observe(reading)
                XCTAssertEqual(reckoner.estimate.vertical, .level, "seed \(seed) at \(reading.instant.seconds) s")
            }
            XCTAssertEqual(reckoner.estimate.climbRate, 0)
        }
    }

    func testAClimbWithStepsIsReportedAsStairs() {
        XCTAssertEqual(vertical(rate: 0.3, seconds: 12, isWalking: true).last, .stairs(.up))
        XCTAssertEqual(vertical(rate: -0.3, seconds: 12, isWalking: true).last, .stairs(.down))
    }

    func testAFastClimbWithoutStepsIsReportedAsAnElevator() {
        XCTAssertEqual(vertical(rate: 1, seconds: 8, isWalking: false).last, .elevator(.up))
        XCTAssertEqual(vertical(rate: -1.5, seconds: 8, isWalking: false).last, .elevator(.down))
    }

    func testASlowClimbWithoutStepsIsReportedAsAnEscalator() {
        XCTAssertEqual(vertical(rate: 0.25, seconds: 14, isWalking: false).last, .escalator(.up))
        XCTAssertEqual(vertical(rate: -0.25, seconds: 14, isWalking: false).last, .escalator(.down))
    }

    func testAClimbAndItsEndAreDetectedWithinFiveSeconds() {
        var (reckoner, barometer) = (DeadReckoner(), CarriedBarometer())
        reckoner.observe(barometer.readings(10))
        reckoner.observe(barometer.readings(5, rate: 0.5))
        XCTAssertNotEqual(reckoner.estimate.vertical, .level)
        XCTAssertEqual(reckoner.estimate.climbRate, 0.5, accuracy: 0.2)
        reckoner.observe(barometer.readings(5))
        XCTAssertEqual(reckoner.estimate.vertical, .level)
    }

    func testAscentAndDescentAreCounted() {
        var (reckoner, barometer) = (DeadReckoner(), CarriedBarometer())
        reckoner.observe(barometer.readings(10))
        reckoner.observe(barometer.readings(20, rate: 0.5))
        reckoner.observe(barometer.readings(10))
        reckoner.observe(barometer.readings(10, rate: -0.5))
        reckoner.observe(barometer.readings(10))
        let statistics = reckoner.estimate.statistics
        XCTAssertEqual(statistics.ascent, 10, accuracy: 1.2, "the climb is known after some seconds")
        XCTAssertEqual(statistics.descent, 5, accuracy: 1.2)
        XCTAssertEqual(reckoner.estimate.position.z, 5, accuracy: 0.5)
    }

    func testTheHeightCanBeSet() throws {
        var (reckoner, barometer) = (DeadReckoner(), CarriedBarometer())
        reckoner.observe(barometer.readings(10))
        try reckoner.setPosition(x: 1, y: 2, z: 30)
        XCTAssertEqual(reckoner.estimate.position.z, 30, accuracy: 1e-9)
        try reckoner.offsetPosition(x: 0, y: 0, z: 5)
        XCTAssertEqual(reckoner.estimate.position.z, 35, accuracy: 1e-9)
        reckoner.observe(barometer.readings(20, rate: 0.5))
        XCTAssertEqual(reckoner.estimate.position.z, 45, accuracy: 0.5)
    }

    func testAStepOnStairsIsNoLongerThanATread() {
        var (reckoner, barometer) = (DeadReckoner(), CarriedBarometer())
        reckoner.observe(barometer.readings(10))
        for reading in barometer.readings(20, rate: 0.3) {
            reckoner.observe(.step(Step(instant: reading.instant, length: 0.7, heading: 0)))
            reckoner.observe(reading)
        }
        XCTAssertEqual(
            reckoner.estimate.position.y, 40 * 0.3, accuracy: 5, "not 28 m: only the first seconds count in full")
    }
}

final class FloorCounterTests: XCTestCase {
    func testWithoutABarometerTheFloorIsZero() {
        var (device, reckoner) = (CarriedDevice(), DeadReckoner())
        reckoner.observe(device.samples(60, steps: 2))
        XCTAssertEqual(reckoner.estimate.floor, 0)
        XCTAssertNil(reckoner.estimate.altitude)
    }

    /// Returns the floors after climbs of these heights in metres, with 20 s on each floor.
    private func floors(_ climbs: [Double], _ prepare: (inout DeadReckoner) throws -> Void = { _ in }) throws -> [Int] {
        var (reckoner, barometer) = (DeadReckoner(), CarriedBarometer())
        try prepare(&reckoner)
        reckoner.observe(barometer.readings(20))
        return climbs.map { climb in
            reckoner.observe(barometer.readings(abs(climb) / 0.5, rate: climb > 0 ? 0.5 : -0.5))
            reckoner.observe(barometer.readings(20))
            return reckoner.estimate.floor
        }
    }

    /// The usual height is 4.5 m.
    func testFloorsOfTheUsualHeightAreCounted() throws {
        XCTAssertEqual(try floors([4.5, 9, -4.5, -13.5]), [1, 3, 2, -1])
    }

    func testLowerFloorsAreCounted() throws {
        XCTAssertEqual(try floors([3.2, 3.2, 3.2, -3.2, -3.2, -3.2]), [1, 2, 3, 2, 1, 0])
    }

    func testHalfAFloorDoesNotChangeTheFloor() throws {
        XCTAssertEqual(try floors([2]), [0])
    }

    func testGivenFloorHeightsAreUsed() throws {
        let floors = try floors([8, 3, -3, -8]) { reckoner in
            try reckoner.addFloor(0, height: 8)
            try reckoner.addFloor(1, height: 3)
        }
        XCTAssertEqual(floors, [1, 2, 1, 0], "8 m would be two floors of 4.5 m")
    }

    func testTheDefaultFloorHeightIsASetting() throws {
        let floors = try floors([9, -9]) { $0.settings.floorHeight = 9 }
        XCTAssertEqual(floors, [1, 0])
    }

    func testASettingOutOfItsRangeHasNoEffect() throws {
        let floors = try floors([9, -9]) { reckoner in
            reckoner.settings.floorHeight = 9
            for height in [-4, 0, .nan, 101] {
                reckoner.settings.floorHeight = height
                XCTAssertEqual(reckoner.settings.floorHeight, 9)
            }
        }
        XCTAssertEqual(floors, [1, 0])
        var settings = DeadReckoningSettings()
        settings.floorHeight = -4
        settings.stepsToWalk = 5
        settings.longestStep = .zero
        let reckoner = DeadReckoner(settings: settings)
        XCTAssertEqual(reckoner.settings.floorHeight, 4.5)
        XCTAssertEqual(reckoner.settings.longestStep, .milliseconds(1200))
        XCTAssertEqual(reckoner.settings.stepsToWalk, 5)
    }

    func testTheBarometerCountsFromAFloorThatWasSet() {
        var (reckoner, barometer) = (DeadReckoner(), CarriedBarometer())
        reckoner.observe(barometer.readings(10))
        reckoner.setFloor(7)
        XCTAssertEqual(reckoner.estimate.floor, 7)
        reckoner.observe(barometer.readings(9, rate: -0.5))
        reckoner.observe(barometer.readings(10))
        XCTAssertEqual(reckoner.estimate.floor, 6)
    }

    func testTheWeatherDoesNotChangeTheFloor() {
        var (reckoner, barometer) = (DeadReckoner(), CarriedBarometer())
        // 3 hPa an hour, a storm: 25 m of height.
        reckoner.observe(barometer.readings(3600, weather: -3.0 / 3600))
        XCTAssertEqual(reckoner.estimate.floor, 0)
    }
}
