import IndoorLocalization
import TagTracking
import XCTest

final class TagSnapshotTests: XCTestCase {
    private typealias Stage = TagStage

    /// A session after some seconds of a walk.
    private func walked(_ seconds: Int, _ tagClass: FleetSettings.TagClass = .standard) -> TagSession {
        var session = TagSession(model: Stage.model(tagClass), power: nil, seed: 1)
        var (workspace, noise) = (TagWorkspace(), SeededGenerator(seed: 2))
        for second in 1...seconds {
            Stage.observe(&session, at: Stage.walk(Double(second)), Double(second), noise: &noise)
            _ = session.update(to: Instant(seconds: Double(second)), &workspace)
        }
        return session
    }

    private func bytes(of session: TagSession) -> [UInt8] {
        var writer = BinaryWriter()
        session.write(to: &writer)
        return writer.bytes
    }

    private func restored(
        _ bytes: [UInt8], _ tagClass: FleetSettings.TagClass = .standard, at seconds: Double
    ) throws -> TagSession {
        var reader = BinaryReader(bytes)
        var session = TagSession(model: Stage.model(tagClass), power: nil, seed: 3)
        try session.restore(from: &reader, at: Instant(seconds: seconds))
        XCTAssertTrue(reader.isAtEnd)
        return session
    }

    func testARestoredSessionContinuesWhereItWas() throws {
        for tagClass in [FleetSettings.TagClass.standard, .light] {
            var differences: [Double] = []
            for seconds in stride(from: 10, through: 40, by: 5) {
                var session = walked(seconds, tagClass)
                let bytes = bytes(of: session)
                XCTAssertLessThanOrEqual(bytes.count, 250)
                var later = try restored(bytes, tagClass, at: Double(seconds))
                var (workspace, noise) = (TagWorkspace(), SeededGenerator(seed: 4))
                for second in seconds + 1...seconds + 3 {
                    let now = Instant(seconds: Double(second))
                    // The first position after the restart has no reading yet.
                    if second > seconds + 1 {
                        var same = noise
                        Stage.observe(&session, at: Stage.walk(Double(second)), Double(second), noise: &noise)
                        Stage.observe(&later, at: Stage.walk(Double(second)), Double(second), noise: &same)
                    }
                    let position = try XCTUnwrap(session.update(to: now, &workspace).position)
                    let answer = try XCTUnwrap(later.update(to: now, &workspace).position)
                    XCTAssertEqual(answer.mapID, position.mapID)
                    differences.append(answer.point.distance(to: position.point))
                }
            }
            XCTAssertLessThan(differences.reduce(0, +) / Double(differences.count), 1)
        }
    }

    func testARestoredSessionIsInTheRoomsThatItHadEntered() throws {
        var session = walked(8)
        XCTAssertEqual(session.end(at: Instant(seconds: 9)).map(\.description), ["exitRoom West"])
        var later = try restored(bytes(of: walked(8)), at: 8)
        XCTAssertEqual(later.end(at: Instant(seconds: 9)).map(\.description), ["exitRoom West"])
    }

    func testASessionWithoutEvidenceIsRestoredAsOne() throws {
        let empty = TagSession(model: Stage.model(), power: nil, seed: 1)
        var later = try restored(bytes(of: empty), at: 0)
        var workspace = TagWorkspace()
        XCTAssertNil(later.update(to: Instant(seconds: 1), &workspace).position)
    }

    func testABeliefOlderThanTheAwayTimeoutIsNotUsed() throws {
        let bytes = bytes(of: walked(8))
        var workspace = TagWorkspace()
        var young = try restored(bytes, at: 60)
        XCTAssertNotNil(young.update(to: Instant(seconds: 60), &workspace).position)
        var old = try restored(bytes, at: 70)
        XCTAssertNil(old.update(to: Instant(seconds: 70), &workspace).position)
        XCTAssertEqual(old.end(at: Instant(seconds: 71)).map(\.description), ["exitRoom West"])
    }

    func testEachBeginningOfASnapshotIsRefused() {
        let bytes = bytes(of: walked(8))
        for count in bytes.indices {
            var reader = BinaryReader(Array(bytes.prefix(count)))
            var session = TagSession(model: Stage.model(), power: nil, seed: 3)
            XCTAssertThrowsError(try session.restore(from: &reader, at: Instant(seconds: 8)), "\(count) bytes")
        }
    }

    func testDamagedBytesAreRefusedOrGiveASessionThatWorks() {
        let bytes = bytes(of: walked(8, .light))
        var (generator, workspace) = (SeededGenerator(seed: 5), TagWorkspace())
        var (refused, located) = (0, 0)
        for _ in 0..<300 {
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                damaged[Int.random(in: damaged.indices, using: &generator)] = UInt8.random(
                    in: .min ... .max, using: &generator)
            }
            var reader = BinaryReader(damaged)
            var session = TagSession(model: Stage.model(.light), power: nil, seed: 3)
            do {
                try session.restore(from: &reader, at: Instant(seconds: 8))
            } catch {
                refused += 1
            }
            Stage.observe(&session, at: Stage.walk(9), 9, noise: &generator)
            let position = session.update(to: Instant(seconds: 9), &workspace).position
            guard let position else { continue }
            located += 1
            XCTAssertTrue(position.point.x.isFinite && position.point.y.isFinite, "\(position)")
            XCTAssertTrue(position.radius.isFinite && position.radius > 0, "\(position)")
        }
        XCTAssertGreaterThan(refused, 30)
        XCTAssertGreaterThan(located, 150)
    }
}
