import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

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
