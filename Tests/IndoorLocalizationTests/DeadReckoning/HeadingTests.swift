import IndoorLocalization
import XCTest

final class HeadingTests: XCTestCase {
    private func heading(_ reckoner: DeadReckoner) throws -> Heading { try XCTUnwrap(reckoner.heading) }

    func testTheDevicesOwnAttitudeIsUsedUnchanged() throws {
        var (device, reckoner) = (CarriedDevice(heading: 130), DeadReckoner())
        reckoner.observe(device.samples(1))
        let heading = try heading(reckoner)
        XCTAssertEqual(heading.course, 130, accuracy: 0.01)
        XCTAssertEqual(heading.reference, .device)
        XCTAssertNil(heading.trueNorth, "nobody has said where north is")
        XCTAssertEqual(try XCTUnwrap(reckoner.attitude).rotation.angle(to: device.attitude), 0, accuracy: 1e-6)
    }

    func testTheCompassGivesMagneticAndTrueNorth() throws {
        var settings = DeadReckoningSettings()
        settings.magneticDeclination = 4
        var device = CarriedDevice([.acceleration, .rotationRate, .magneticField], heading: 200)
        var reckoner = DeadReckoner(settings: settings)
        reckoner.observe(device.samples(3))
        let heading = try heading(reckoner)
        XCTAssertEqual(heading.course, 200, accuracy: 3, "y is magnetic north")
        XCTAssertEqual(try XCTUnwrap(heading.magneticNorth), 200, accuracy: 3)
        XCTAssertEqual(try XCTUnwrap(heading.trueNorth), 204, accuracy: 3)
        XCTAssertEqual(heading.reference, .magneticNorth)
        XCTAssertEqual(heading.accuracy, 10, accuracy: 1)
    }

    func testTheCompassIsRelativeToATurnedPlan() throws {
        var settings = DeadReckoningSettings()
        settings.magneticDeclination = 4
        var device = CarriedDevice([.acceleration, .rotationRate, .magneticField], heading: 200)
        var reckoner = DeadReckoner(settings: settings)
        reckoner.setFrameBearing(30)
        reckoner.observe(device.samples(3))
        let heading = try heading(reckoner)
        XCTAssertEqual(heading.course, 174, accuracy: 3, "200° magnetic are 204° true, 174° from the plan's top")
        XCTAssertEqual(try XCTUnwrap(heading.trueNorth), 204, accuracy: 3)
        XCTAssertEqual(try XCTUnwrap(heading.magneticNorth), 200, accuracy: 3)
    }

    func testTheErrorGrowsWithoutACompass() throws {
        var (device, reckoner) = (CarriedDevice([.acceleration, .rotationRate]), DeadReckoner())
        reckoner.observe(device.samples(2))
        XCTAssertEqual(try heading(reckoner).reference, .start)
        let before = try heading(reckoner).accuracy
        reckoner.observe(device.samples(100))
        XCTAssertGreaterThan(try heading(reckoner).accuracy, before + 4, "0.7° in a second, 7° in a hundred")
    }

    func testADisturbedCompassIsReportedAndTheErrorGrows() throws {
        var device = CarriedDevice([.acceleration, .rotationRate, .magneticField])
        var reckoner = DeadReckoner()
        reckoner.observe(device.samples(5))
        XCTAssertFalse(try heading(reckoner).isMagneticallyDisturbed)
        device.iron = Vector3(x: 60, y: 0, z: 0)
        reckoner.observe(device.samples(10))
        XCTAssertTrue(try heading(reckoner).isMagneticallyDisturbed)
        XCTAssertGreaterThan(try heading(reckoner).accuracy, 10.1)
    }

    func testASetterReplacesTheHeadingAndAnOffsetAdds() throws {
        var (device, reckoner) = (CarriedDevice(heading: 50), DeadReckoner())
        reckoner.observe(device.samples(1))
        try reckoner.setHeading(10)
        XCTAssertEqual(try heading(reckoner).course, 10, accuracy: 0.01)
        try reckoner.offsetHeading(by: 20)
        XCTAssertEqual(try heading(reckoner).course, 30, accuracy: 0.01)
        reckoner.observe(device.samples(1, turn: 15))
        XCTAssertEqual(try heading(reckoner).course, 45, accuracy: 0.01)
    }

    func testAHeadingSetBeforeAnySensorAppliesToTheFirstReading() throws {
        var (device, reckoner) = (CarriedDevice(heading: 300), DeadReckoner())
        try reckoner.setHeading(90)
        reckoner.observe(device.samples(1))
        XCTAssertEqual(try heading(reckoner).course, 90, accuracy: 0.01)
    }

    /// The local heading is counter-clockwise within 180 degrees.
    func testTheMathematicalHeadingIsCounterClockwise() {
        for (course, expected) in [(0.0, 0.0), (90, -90), (180, 180), (270, 90), (359, 1)] {
            let heading = Heading(instant: .zero, course: course, accuracy: 1, reference: .start)
            XCTAssertEqual(heading.counterClockwise, expected, "\(course)")
        }
    }

    func testTheHeadingContinuesWhenTheDeviceStopsReportingAttitudes() throws {
        var (device, reckoner) = (CarriedDevice(heading: 100), DeadReckoner())
        reckoner.observe(device.samples(2))
        device.sensors = [.acceleration, .rotationRate]
        reckoner.observe(device.samples(8))
        XCTAssertEqual(try heading(reckoner).course, 100, accuracy: 2)
        XCTAssertEqual(try heading(reckoner).reference, .start)
        reckoner.observe(device.samples(1, turn: 30))
        XCTAssertEqual(try heading(reckoner).course, 130, accuracy: 3)
    }

    /// An invalid floor has its own error.
    func testInvalidNumbersAreRejected() {
        var reckoner = DeadReckoner()
        XCTAssertThrowsError(try reckoner.setHeading(.nan)) {
            XCTAssertEqual($0 as? DeadReckoningError, .invalidPlace)
        }
        XCTAssertThrowsError(try reckoner.setHeading(90, accuracy: -1)) {
            XCTAssertEqual($0 as? DeadReckoningError, .invalidAccuracy(-1))
            XCTAssertEqual("\($0)", "the heading accuracy -1.0° is invalid; give 0° or more")
        }
        XCTAssertThrowsError(try reckoner.setPosition(x: 0, y: 0, radius: -1)) {
            XCTAssertEqual($0 as? DeadReckoningError, .invalidRadius(-1))
        }
        XCTAssertThrowsError(try reckoner.setGlobalPosition(Coordinate(latitude: 91, longitude: 0))) {
            XCTAssertEqual($0 as? DeadReckoningError, .invalidPlace)
        }
        XCTAssertThrowsError(try reckoner.correct(Coordinate(latitude: 50, longitude: 8), radius: 3)) {
            XCTAssertEqual($0 as? DeadReckoningError, .notOnEarth)
        }
        XCTAssertThrowsError(try reckoner.addFloor(0, height: 0)) {
            XCTAssertEqual($0 as? DeadReckoningError, .invalidFloorHeight(0))
        }
    }
}
