import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

final class MotionKindTests: XCTestCase {
    func testTheKindIsUnknownBeforeTheFirstReading() {
        let reckoner = DeadReckoner()
        XCTAssertNil(reckoner.estimate.kind)
        XCTAssertNil(reckoner.estimate.heading)
        XCTAssertEqual(reckoner.estimate.vertical, .level)
    }

    func testADeviceOnATableIsStationary() {
        var (device, reckoner) = (CarriedDevice(), DeadReckoner())
        reckoner.observe(device.samples(3))
        XCTAssertEqual(reckoner.estimate.kind, .stationary)
        XCTAssertEqual(reckoner.estimate.stepFrequency, 0)
    }

    func testAShakenDeviceIsFidgetingAndNotWalking() {
        var (device, reckoner) = (CarriedDevice(), DeadReckoner())
        reckoner.observe(device.samples(3))
        reckoner.observe(device.samples(3, shake: 0.5))
        XCTAssertEqual(reckoner.estimate.kind, .fidgeting)
        XCTAssertEqual(reckoner.estimate.statistics.steps, 0)
    }

    func testATurningDeviceIsFidgeting() {
        var (device, reckoner) = (CarriedDevice(), DeadReckoner())
        reckoner.observe(device.samples(3))
        reckoner.observe(device.samples(2, turn: 45))
        XCTAssertEqual(reckoner.estimate.kind, .fidgeting)
    }

    func testFidgetingEndsOnlyAfterAQuietTime() {
        var (device, reckoner) = (CarriedDevice(), DeadReckoner())
        reckoner.observe(device.samples(3, shake: 0.6))
        reckoner.observe(device.samples(0.8))
        XCTAssertEqual(reckoner.estimate.kind, .fidgeting)
        reckoner.observe(device.samples(4))
        XCTAssertEqual(reckoner.estimate.kind, .stationary)
    }

    func testConsecutiveStepsAreWalkingWithTheirFrequency() {
        for frequency in [1.5, 1.8, 2.2] {
            var (device, reckoner) = (CarriedDevice(), DeadReckoner())
            reckoner.observe(device.samples(10, steps: frequency))
            XCTAssertEqual(reckoner.estimate.kind, .walking, "\(frequency)")
            XCTAssertEqual(reckoner.estimate.stepFrequency, frequency, accuracy: 0.1, "of a swing in 50 Hz samples")
        }
    }

    func testTwoStepsAreNoWalkAndDoNotMoveThePosition() {
        var (device, reckoner) = (CarriedDevice(), DeadReckoner())
        reckoner.observe(device.samples(3))
        reckoner.observe(device.samples(1, steps: 2))
        reckoner.observe(device.samples(3))
        XCTAssertNotEqual(reckoner.estimate.kind, .walking)
        XCTAssertEqual(reckoner.estimate.statistics.steps, 0)
        XCTAssertEqual(reckoner.estimate.position.y, 0)
    }

    func testTheFirstStepsAreCountedOnceWalkingIsConfirmed() {
        var (device, reckoner) = (CarriedDevice(), DeadReckoner())
        reckoner.observe(device.samples(10, steps: 2))
        XCTAssertEqual(Double(reckoner.estimate.statistics.steps), 20, accuracy: 1)
    }

    func testWalkingEndsWhenTheNextStepIsMissing() {
        var (device, reckoner) = (CarriedDevice(), DeadReckoner())
        reckoner.observe(device.samples(6, steps: 2))
        reckoner.observe(device.samples(0.5))
        XCTAssertEqual(reckoner.estimate.kind, .walking, "a long step is no halt")
        reckoner.observe(device.samples(1.5))
        XCTAssertNotEqual(reckoner.estimate.kind, .walking)
        XCTAssertEqual(reckoner.estimate.stepFrequency, 0)
    }

    func testTimeAloneEndsAWalkOfADeviceThatReportsOnlySteps() {
        var reckoner = DeadReckoner()
        for step in 0..<10 { reckoner.observe(.step(Step(instant: Instant(seconds: Double(step) * 0.5), heading: 0))) }
        XCTAssertEqual(reckoner.estimate.kind, .walking)
        reckoner.advance(to: Instant(seconds: 7))
        XCTAssertEqual(reckoner.estimate.kind, .stationary)
    }

    func testReportedStepsReplaceThoseOfTheAccelerometer() {
        var (device, reckoner) = (CarriedDevice(), DeadReckoner())
        let samples = device.samples(10, steps: 2)
        let steps = (0..<20).map { step in
            SensorReading.step(Step(instant: Instant(seconds: Double(step) * 0.5 + 0.01), length: 0.7, heading: 0))
        }
        reckoner.observe((samples + steps).sorted { $0.instant < $1.instant })
        XCTAssertEqual(Double(reckoner.estimate.statistics.steps), 20, accuracy: 1, "not forty")
    }

    /// The kinds are dwelling, walking and stationary.
    func testTimesAreCountedByKindAndCanBeReset() throws {
        var (device, reckoner) = (CarriedDevice(), DeadReckoner())
        reckoner.observe(device.samples(10))
        reckoner.observe(device.samples(20, steps: 2))
        reckoner.observe(device.samples(10))
        let statistics = reckoner.estimate.statistics
        XCTAssertEqual(
            statistics.walking.seconds, 20, accuracy: 2.5, "walking is known after three steps, its end after 1.2 s")
        XCTAssertEqual(statistics.dwelling.seconds, 20, accuracy: 2.5)
        XCTAssertEqual((statistics.walking + statistics.dwelling).seconds, 40, accuracy: 0.1)
        XCTAssertEqual(try XCTUnwrap(statistics.share(of: .walking)), 0.5, accuracy: 0.07)
        XCTAssertEqual(statistics.distance, 40 * 0.63, accuracy: 4, "40 steps of 5 m/s² swing")
        reckoner.resetStatistics()
        XCTAssertEqual(reckoner.estimate.statistics, MotionStatistics())
        XCTAssertNil(reckoner.estimate.statistics.share(of: .walking))
        XCTAssertGreaterThan(reckoner.estimate.position.y, 10, "the place stays")
    }

    func testTimesWithoutReadingsAreNotCounted() {
        var (device, reckoner) = (CarriedDevice(), DeadReckoner())
        let first = device.samples(5)
        _ = device.samples(600)
        reckoner.observe(first + device.samples(5))
        let statistics = reckoner.estimate.statistics
        XCTAssertEqual((statistics.walking + statistics.dwelling).seconds, 10, accuracy: 0.5)
    }

    func testNonFiniteReadingsChangeNothing() {
        var (device, reckoner) = (CarriedDevice(), DeadReckoner())
        reckoner.observe(device.samples(5, steps: 2))
        let before = reckoner.estimate.position
        let nothing = Vector3(x: .nan, y: .infinity, z: 0)
        let sample = MotionSample(
            instant: device.now, acceleration: nothing, rotationRate: nothing, magneticField: nothing,
            attitude: Quaternion(w: .nan, x: 0, y: 0, z: 0))
        reckoner.observe(.motion(sample))
        reckoner.observe(.step(Step(instant: device.now, length: .nan, heading: .nan)))
        reckoner.observe(.pressure(PressureSample(instant: device.now, hectopascals: .nan)))
        XCTAssertEqual(reckoner.estimate.position.y, before.y, accuracy: 1)
        XCTAssertTrue(reckoner.estimate.radius.isFinite)
        XCTAssertTrue(reckoner.estimate.position.x.isFinite)
    }

    func testTimeNeverRunsBackwards() {
        var (device, reckoner) = (CarriedDevice(), DeadReckoner())
        reckoner.observe(device.samples(5))
        reckoner.observe(.pressure(PressureSample(instant: .zero, hectopascals: 1000)))
        XCTAssertEqual(reckoner.estimate.instant, device.now)
    }
}

final class MotionStreamTests: XCTestCase {
    private func machine(_ settings: LocalizationSettings = LocalizationSettings()) -> Machine {
        var machine = Machine(settings: settings, seed: 1, reportsMotion: true) { _ in FixBelief() }
        _ = machine.handle(.start, at: .zero)
        return machine
    }

    /// Returns the motion updates of a machine after these readings.
    private func news(_ readings: [SensorReading], _ settings: LocalizationSettings = LocalizationSettings())
        -> [MotionUpdate]
    {
        var machine = machine(settings)
        return readings.flatMap { machine.handle(.reading($0), at: $0.instant) }.compactMap {
            if case .emitMotion(let news) = $0 { news } else { nil }
        }
    }

    private func headings(_ news: [MotionUpdate]) -> [Heading] {
        news.compactMap { if case .heading(let heading) = $0 { heading } else { nil } }
    }

    private func attitudes(_ news: [MotionUpdate]) -> [Attitude] {
        news.compactMap { if case .attitude(let attitude) = $0 { attitude } else { nil } }
    }

    private func estimates(_ news: [MotionUpdate]) -> [MotionEstimate] {
        news.compactMap { if case .motion(let estimate) = $0 { estimate } else { nil } }
    }

    func testAHeadingIsEmittedWhenItHasChangedByADegree() {
        var device = CarriedDevice()
        let told = headings(news(device.samples(10, turn: 9)))
        XCTAssertEqual(told.count, 90, accuracy: 10, "90 degrees in steps of one and a little more")
        for (first, second) in zip(told, told.dropFirst()) {
            XCTAssertGreaterThanOrEqual(second.course - first.course, 1 - 1e-9)
        }
    }

    func testAnUnchangedHeadingIsEmittedOnce() {
        var device = CarriedDevice()
        XCTAssertEqual(headings(news(device.samples(5))).count, 1)
    }

    func testTheHeadingFilterIsASettingAndZeroEmitsAll() {
        var (device, settings) = (CarriedDevice(), LocalizationSettings())
        settings.motion.headingFilter = 30
        XCTAssertEqual(headings(news(device.samples(10, turn: 9), settings)).count, 3, accuracy: 1)
        settings.motion.headingFilter = 0
        XCTAssertEqual(headings(news(device.samples(2), settings)).count, 100)
    }

    /// The attitude is a quaternion; its filter is 1°.
    func testAnAttitudeIsEmittedWhenTheDeviceTurnsAroundAnyAxis() {
        var device = CarriedDevice()
        XCTAssertEqual(attitudes(news(device.samples(5))).count, 1)
        var readings: [SensorReading] = []
        for tilt in stride(from: 30.0, to: 60, by: 0.25) {
            device.tilt = tilt
            readings += device.samples(0.02)
        }
        let told = attitudes(news(readings))
        XCTAssertEqual(told.count, 27, accuracy: 4, "raised by 30 degrees while the heading stays")
        XCTAssertEqual(headings(news(readings)).count, 1)
    }

    /// An interval of 0 emits as fast as possible.
    func testEstimatesAreEmittedTenTimesASecondByDefault() {
        var (device, settings) = (CarriedDevice(), LocalizationSettings())
        XCTAssertEqual(estimates(news(device.samples(10))).count, 100, accuracy: 5)
        settings.motion.interval = .zero
        XCTAssertEqual(estimates(news(device.samples(10), settings)).count, 500, "every reading's")
        settings.motion.interval = .seconds(2)
        XCTAssertEqual(estimates(news(device.samples(10), settings)).count, 5, accuracy: 1)
    }

    func testASessionWithoutMotionSensorsEmitsNoMotion() {
        XCTAssertEqual(news((1..<20).map { SessionStage.heard(1, at: Double($0)) }), [])
    }

    func testANewSessionStartsWithNewMotion() {
        var (device, machine) = (CarriedDevice(), machine())
        for reading in device.samples(20, steps: 2) { _ = machine.handle(.reading(reading), at: reading.instant) }
        _ = machine.handle(.stop, at: device.now)
        _ = machine.handle(.start, at: device.now)
        let told = device.samples(0.5).flatMap { machine.handle(.reading($0), at: $0.instant) }.compactMap {
            if case .emitMotion(.motion(let estimate)) = $0 { estimate } else { nil }
        }
        XCTAssertEqual(told.last?.statistics.steps, 0)
        XCTAssertEqual(told.last?.position, Vector3(x: 0, y: 0, z: 0))
    }

    func testSettingsChangedDuringASessionApplyAtOnce() throws {
        var (device, machine) = (CarriedDevice(), machine())
        for reading in device.samples(1) { _ = machine.handle(.reading(reading), at: reading.instant) }
        var stack = SettingsStack()
        try stack.override("motion.interval", 0)
        stack.apply()
        _ = machine.handle(.settings(stack), at: device.now)
        let told = device.samples(1).flatMap { machine.handle(.reading($0), at: $0.instant) }
        XCTAssertEqual(told.filter { if case .emitMotion(.motion) = $0 { true } else { false } }.count, 50)
    }

    func testALocalizerEmitsAllThreeStreamsToSubscribers() async {
        var device = CarriedDevice()
        let source = ScriptedSource(device.samples(3) + device.samples(3, turn: 30), pace: .recorded)
        let localizer = Localizer(source: source, venues: VenueLibrary([]))
        let (motion, headings, attitudes) = (localizer.motion, localizer.headings, localizer.attitudes)
        let states = localizer.states
        await localizer.start()
        for await state in states.dropFirst() where state == .idle { break }
        var (estimateCount, lastCourse, attitudeCount) = (0, 0.0, 0)
        for await estimate in motion {
            estimateCount += 1
            if estimate.instant.seconds > 5.85 { break }
        }
        for await heading in headings {
            lastCourse = heading.course
            if lastCourse > 88 { break }
        }
        for await _ in attitudes {
            attitudeCount += 1
            if attitudeCount == 60 { break }
        }
        XCTAssertEqual(estimateCount, 60, accuracy: 3)
        XCTAssertEqual(lastCourse, 89, accuracy: 1.1)
    }
}

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

    /// Not those of a building beside it, and not those of an earlier venue.
    func testTheFloorHeightsAreThoseOfTheVenue() {
        func venue(_ maps: (level: Int, elevation: Double?)...) -> Venue {
            Venue(
                id: 1, name: "hall",
                maps: maps.enumerated().map { index, map in
                    VenueMap(
                        id: MapID(rawValue: index + 1), name: "", level: map.level, width: 50, height: 20,
                        elevation: map.elevation)
                })
        }
        func floor(after climb: Double, in venues: Venue...) -> Int {
            var reporter = MotionReporter(DeadReckoningSettings(), model: MotionModel(), calibration: nil)
            var barometer = CarriedBarometer()
            for reading in barometer.readings(20) { reporter.observe(reading) }
            for venue in venues { reporter.enter(1, of: venue, bearing: nil) }
            for reading in barometer.readings(climb / 0.5, rate: 0.5) { reporter.observe(reading) }
            for reading in barometer.readings(20) { reporter.observe(reading) }
            return reporter.reckoner.estimate.floor
        }
        let (high, unknown) = (venue((0, 0), (1, 8)), venue((0, nil), (1, nil)))
        XCTAssertEqual(floor(after: 8, in: high), 1, "8 m would be two floors of 4.5 m")
        XCTAssertEqual(floor(after: 4, in: high), 0)
        XCTAssertEqual(floor(after: 4, in: unknown), 1)
        XCTAssertEqual(floor(after: 4, in: high, unknown), 1)
        let buildings = venue((0, 12), (1, 16), (0, 0), (1, 4))
        XCTAssertEqual(floor(after: 4, in: buildings), 1, "no floor is 16 m high")
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
