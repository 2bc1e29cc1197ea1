import IndoorLocalization
import XCTest

final class AttitudeFilterTests: XCTestCase {
    private static let raw: CarriedDevice.Sensors = [.acceleration, .rotationRate]
    private static let nineAxes: CarriedDevice.Sensors = [.acceleration, .rotationRate, .magneticField]

    private func run(_ filter: inout AttitudeFilter, _ readings: [SensorReading]) {
        for case .motion(let sample) in readings { filter.observe(sample) }
    }

    /// Degrees between what the filter believes and how the device is turned.
    private func error(_ filter: AttitudeFilter, _ device: CarriedDevice) throws -> Double {
        try XCTUnwrap(filter.rotation).angle(to: device.attitude) * 180 / .pi
    }

    func testGravityAndFieldGiveTheAttitudeAtOnce() throws {
        for heading in stride(from: 0.0, to: 360, by: 45) {
            for tilt in [0.0, 40, 80] {
                var device = CarriedDevice(Self.nineAxes, heading: heading)
                device.tilt = tilt
                var filter = AttitudeFilter()
                run(&filter, device.samples(0.04))
                XCTAssertLessThan(try error(filter, device), 3, "heading \(heading), tilt \(tilt)")
                XCTAssertTrue(filter.isNorthward)
            }
        }
    }

    func testTheGyroscopeTurnsTheAttitude() throws {
        var (device, filter) = (CarriedDevice(Self.nineAxes), AttitudeFilter())
        run(&filter, device.samples(2))
        run(&filter, device.samples(1, turn: 90))
        XCTAssertEqual(device.heading, 90, accuracy: 1e-9)
        XCTAssertLessThan(try error(filter, device), 3)
    }

    func testWithoutAMagnetometerTheHeadingBeginsStraightAhead() throws {
        var (device, filter) = (CarriedDevice(Self.raw, heading: 70), AttitudeFilter())
        run(&filter, device.samples(2))
        XCTAssertFalse(filter.isNorthward)
        device.heading = 0
        XCTAssertLessThan(try error(filter, device), 3)
        run(&filter, device.samples(1, turn: -60))
        XCTAssertLessThan(try error(filter, device), 3)
    }

    func testTheGyroscopesBiasIsLearned() throws {
        var (device, filter) = (CarriedDevice(Self.nineAxes), AttitudeFilter())
        device.bias = Vector3(x: 0.01, y: -0.015, z: 0.02)
        run(&filter, device.samples(180))
        XCTAssertLessThan(try error(filter, device), 3)
        // Without field it now turns by what is left of the bias: 69° a minute at first.
        device.sensors = Self.raw
        let before = try XCTUnwrap(filter.rotation)
        run(&filter, device.samples(30))
        XCTAssertLessThan(try XCTUnwrap(filter.rotation).angle(to: before) * 180 / .pi, 10)
    }

    func testStepsDoNotTiltTheAttitude() throws {
        var (device, filter) = (CarriedDevice(Self.nineAxes, heading: 120), AttitudeFilter())
        run(&filter, device.samples(20, steps: 2))
        XCTAssertLessThan(try error(filter, device), 4)
    }

    func testIronTurnsTheAttitudeByLittle() throws {
        var (device, filter) = (CarriedDevice(Self.nineAxes), AttitudeFilter())
        run(&filter, device.samples(10))
        device.iron = Vector3(x: 40, y: 0, z: 10)
        run(&filter, device.samples(5))
        XCTAssertTrue(filter.isDisturbed)
        XCTAssertLessThan(try error(filter, device), 5, "the field alone would have turned it by 63°")
        device.iron = Vector3(x: 0, y: 0, z: 0)
        run(&filter, device.samples(5))
        XCTAssertFalse(filter.isDisturbed)
    }

    func testAFieldOutsideTheRangeOfTheEarthIsIgnored() throws {
        var (device, filter) = (CarriedDevice(Self.nineAxes), AttitudeFilter())
        device.iron = Vector3(x: 200, y: 0, z: 0)
        run(&filter, device.samples(3))
        XCTAssertTrue(filter.isDisturbed)
        XCTAssertFalse(filter.isNorthward)
    }

    func testALastingFieldIsAcceptedInTheEnd() throws {
        var (device, filter) = (CarriedDevice(Self.nineAxes), AttitudeFilter())
        run(&filter, device.samples(5))
        device.iron = Vector3(x: 0, y: 10, z: 0)
        run(&filter, device.samples(120))
        XCTAssertFalse(filter.isDisturbed)
    }

    func testWithoutAGyroscopeGravityAndFieldAreEnough() throws {
        var (device, filter) = (CarriedDevice([.acceleration, .magneticField], heading: 10), AttitudeFilter())
        run(&filter, device.samples(2))
        device.heading = 80
        run(&filter, device.samples(3))
        XCTAssertLessThan(try error(filter, device), 5)
    }

    func testTheFilterStartsAgainAfterAGapWithTheEarlierHeading() throws {
        var (device, filter) = (CarriedDevice(Self.raw), AttitudeFilter())
        run(&filter, device.samples(1))
        run(&filter, device.samples(1, turn: 50))
        _ = device.samples(10)
        device.tilt = 60
        run(&filter, device.samples(0.5))
        XCTAssertLessThan(try error(filter, device), 4)
    }

    func testTheFilterHandlesADeviceUpsideDown() throws {
        var (device, filter) = (CarriedDevice(Self.raw), AttitudeFilter())
        device.tilt = 180
        run(&filter, device.samples(1, shake: 0))
        let up = try XCTUnwrap(filter.rotation).rotate(Vector3(x: 0, y: 0, z: 1))
        XCTAssertEqual(up.z, -1, accuracy: 0.01)
    }
}
