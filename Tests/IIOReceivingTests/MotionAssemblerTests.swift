import IndoorLocalization
import XCTest

@testable import IIOReceiving

final class MotionAssemblerTests: XCTestCase {
    private func vector(_ x: Double) -> Vector3 { Vector3(x: x, y: 0, z: 0) }
    private func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

    func testTheAccelerometerLeadsAndTheRotationRateIsAveraged() throws {
        var assembler = MotionAssembler([.acceleration, .rotation, .magnetism])
        XCTAssertNil(assembler.add(.rotation, vector(1), at: at(0)))
        XCTAssertNil(assembler.add(.rotation, vector(3), at: at(5)))
        XCTAssertNil(assembler.add(.magnetism, vector(50), at: at(5)))
        let first = assembler.add(.acceleration, vector(9), at: at(10))
        XCTAssertEqual(
            first,
            .motion(
                MotionSample(
                    instant: at(10), acceleration: vector(9), rotationRate: vector(2), magneticField: vector(50))),
            "the mean rotation rate since the last sample")
        let second = assembler.add(.acceleration, vector(8), at: at(20))
        XCTAssertEqual(
            second, .motion(MotionSample(instant: at(20), acceleration: vector(8), rotationRate: vector(3))),
            "the latest rate if there is no newer one, and each field only once")
        let late = assembler.add(.acceleration, vector(8), at: at(206))
        XCTAssertEqual(late, .motion(MotionSample(instant: at(206), acceleration: vector(8))), "the rate is too old")
    }

    func testTheNextSensorLeadsWithoutAnAccelerometer() {
        var gyroscope = MotionAssembler([.rotation, .magnetism])
        XCTAssertNil(gyroscope.add(.magnetism, vector(5), at: at(0)))
        XCTAssertEqual(
            gyroscope.add(.rotation, vector(1), at: at(1)),
            .motion(MotionSample(instant: at(1), rotationRate: vector(1), magneticField: vector(5))))
        var compass = MotionAssembler([.magnetism, .pressure])
        XCTAssertEqual(
            compass.add(.magnetism, vector(5), at: at(1)),
            .motion(MotionSample(instant: at(1), magneticField: vector(5))))
    }

    func testPressureIsASeparateReadingAndInstantsNeverRunBackwards() {
        var assembler = MotionAssembler([.acceleration, .pressure])
        _ = assembler.add(.acceleration, vector(1), at: at(20))
        XCTAssertEqual(
            assembler.add(.pressure, vector(1013), at: at(15)),
            .pressure(PressureSample(instant: at(20), hectopascals: 1013)))
        XCTAssertEqual(assembler.add(.acceleration, vector(2), at: at(18))?.instant, at(20))
    }

    func testNonFiniteValuesAreIgnored() {
        var assembler = MotionAssembler([.acceleration])
        XCTAssertNil(assembler.add(.acceleration, Vector3(x: .nan, y: 0, z: 0), at: at(1)))
        XCTAssertNil(assembler.add(.pressure, vector(.infinity), at: at(1)))
    }
}
