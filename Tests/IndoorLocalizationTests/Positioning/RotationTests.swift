import IndoorLocalization
import XCTest

final class RotationTests: XCTestCase {
    func testTheLengthFollowsPythagoras() {
        XCTAssertEqual(Vector3(x: 2, y: 3, z: 6).length, 7, accuracy: 1e-12)
    }

    func testAQuarterTurnAboutZTurnsXToY() {
        let turned = Self.turn(degrees: 90, about: Vector3(x: 0, y: 0, z: 1)).rotate(Vector3(x: 1, y: 0, z: 0))
        expect(turned, Vector3(x: 0, y: 1, z: 0))
    }

    func testAQuarterTurnAboutXTurnsYToZ() {
        let turned = Self.turn(degrees: 90, about: Vector3(x: 1, y: 0, z: 0)).rotate(Vector3(x: 0, y: 1, z: 0))
        expect(turned, Vector3(x: 0, y: 0, z: 1))
    }

    func testAQuarterTurnAboutYTurnsZToX() {
        let turned = Self.turn(degrees: 90, about: Vector3(x: 0, y: 1, z: 0)).rotate(Vector3(x: 0, y: 0, z: 1))
        expect(turned, Vector3(x: 1, y: 0, z: 0))
    }

    func testANonUnitQuaternionTurnsLikeAUnitQuaternion() {
        var long = Self.turn(degrees: 90, about: Vector3(x: 0, y: 0, z: 1))
        (long.w, long.z) = (long.w * 7, long.z * 7)
        expect(long.rotate(Vector3(x: 1, y: 2, z: 3)), Vector3(x: -2, y: 1, z: 3))
    }

    func testAZeroQuaternionTurnsNothing() {
        let vector = Vector3(x: 1, y: 2, z: 3)
        XCTAssertEqual(Quaternion(w: 0, x: 0, y: 0, z: 0).rotate(vector), vector)
    }

    func testRotationsKeepLengthsAndConjugatesReverseThem() {
        let seed: UInt64 = 5
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            let (w, x) = generator.normalPair()
            let (y, z) = generator.normalPair()
            let vector = Vector3(x: generator.normal(), y: generator.normal(), z: generator.normal())
            let turned = Quaternion(w: w, x: x, y: y, z: z).rotate(vector)
            XCTAssertEqual(turned.length, vector.length, accuracy: 1e-9, "seed \(seed)")
            expect(Quaternion(w: w, x: -x, y: -y, z: -z).rotate(turned), vector)
        }
    }

    private func expect(_ vector: Vector3, _ expected: Vector3, file: StaticString = #filePath, line: UInt = #line) {
        let error = Vector3(x: vector.x - expected.x, y: vector.y - expected.y, z: vector.z - expected.z).length
        XCTAssertEqual(error, 0, accuracy: 1e-9, "\(vector) instead of \(expected)", file: file, line: line)
    }

    static func turn(degrees: Double, about axis: Vector3) -> Quaternion {
        let half = degrees * .pi / 360
        return Quaternion(w: cos(half), x: axis.x * sin(half), y: axis.y * sin(half), z: axis.z * sin(half))
    }
}
