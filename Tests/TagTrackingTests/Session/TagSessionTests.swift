import IndoorLocalization
import IndoorLocalizationTesting
import TagTracking
import XCTest

final class TagSessionTests: XCTestCase {
    private typealias Stage = TagStage

    func testAStandingTagIsFoundInItsRoom() throws {
        var session = TagSession(model: Stage.model(), power: nil, seed: 1)
        var (workspace, noise) = (TagWorkspace(), SeededGenerator(seed: 2))
        let place = MapPoint(x: 22, y: 8)
        XCTAssertNil(session.update(to: .zero, &workspace).position, "no receiver has received the tag")
        var (events, last) = ([LocalizationEvent](), Position?.none)
        for second in 1...20 {
            Stage.observe(&session, at: place, Double(second), noise: &noise)
            let update = session.update(to: Instant(seconds: Double(second)), &workspace)
            events += update.events
            last = update.position
        }
        let position = try XCTUnwrap(last)
        XCTAssertLessThan(position.point.distance(to: place), 4)
        XCTAssertEqual(position.label, "East")
        XCTAssertEqual(position.rooms.first?.id, Stage.east.id)
        XCTAssertEqual(position.floorCertainty, 1)
        XCTAssertNotNil(position.speed)
        XCTAssertEqual(events.map(\.description), ["enterRoom East"])
        XCTAssertEqual(session.end(at: Instant(seconds: 21)).map(\.description), ["exitRoom East"])
        XCTAssertEqual(session.end(at: Instant(seconds: 22)), [])
    }

    func testATagHoldsAtMost200KilobytesAndALightOneAtMost30() {
        for (tagClass, limit) in [(FleetSettings.TagClass.standard, 200_000), (.light, 30_000)] {
            var (workspace, noise) = (TagWorkspace(), SeededGenerator(seed: 3))
            let model = Stage.model(tagClass)
            var sessions = (0..<4).map { TagSession(model: model, power: nil, seed: UInt64($0)) }
            for second in 1...20 {
                for index in sessions.indices {
                    Stage.observe(&sessions[index], at: Stage.walk(Double(second)), Double(second), noise: &noise)
                    _ = sessions[index].update(to: Instant(seconds: Double(second)), &workspace)
                }
            }
            for session in sessions {
                XCTAssertLessThan(session.byteCount, limit)
                XCTAssertGreaterThan(session.byteCount, 60 * tagClass.particleCount)
            }
            XCTAssertGreaterThan(workspace.byteCount, 60 * tagClass.particleCount)
        }
    }

    /// Sessions that share a workspace must not see each other's numbers.
    func testASharedWorkspaceAffectsNoPosition() {
        let models = [Stage.model(), Stage.model(.light)]
        func positions(sharing: Bool) -> [Position?] {
            var noise = SeededGenerator(seed: 4)
            var workspaces = (0..<4).map { _ in TagWorkspace() }
            var sessions = (0..<4).map { TagSession(model: models[$0 % 2], power: nil, seed: UInt64($0)) }
            return (1...15).flatMap { second in
                sessions.indices.map { index in
                    let place = Stage.walk(Double(second + 9 * index))
                    Stage.observe(&sessions[index], at: place, Double(second), noise: &noise)
                    let workspace = sharing ? 0 : index
                    return sessions[index].update(to: Instant(seconds: Double(second)), &workspaces[workspace]).position
                }
            }
        }
        let shared = positions(sharing: true)
        XCTAssertEqual(shared.count { $0 == nil }, 0)
        XCTAssertEqual(shared, positions(sharing: false))
    }

    func testTheExpectedRSSIIncludesTheOffsetOfTheTag() throws {
        for offset in [-10.0, 0, 10] {
            var session = TagSession(model: Stage.model(), power: nil, seed: 5)
            var (workspace, noise) = (TagWorkspace(), SeededGenerator(seed: 6))
            XCTAssertNil(session.expectedRSSI(of: 0))
            for second in 1...60 {
                let time = Double(second)
                Stage.observe(&session, at: Stage.walk(time), time, offset: offset, noise: &noise)
                _ = session.update(to: Instant(seconds: time), &workspace)
            }
            var differences = 0.0
            for receiver in Stage.points.indices {
                let expected = try XCTUnwrap(session.expectedRSSI(of: receiver))
                let actual = Stage.rssi(of: receiver, at: Stage.walk(60), offset: offset)
                // The error of the position weighs most near a receiver.
                XCTAssertEqual(expected.rssi, actual, accuracy: 6, "receiver \(receiver), offset \(offset) dB")
                differences += expected.rssi - actual
                XCTAssertGreaterThan(expected.variance, 9)
                XCTAssertLessThan(expected.variance, 100)
            }
            XCTAssertEqual(differences / Double(Stage.points.count), 0, accuracy: 3, "offset \(offset) dB")
        }
    }

    func testTheStatedPowerOfATagNarrowsItsOffsetBeforeTheFirstReading() throws {
        // One receiver receives a tag of -10 dB: without its power, the tag seems to be far from the receiver.
        func expected(power: Double?) throws -> Double {
            var session = TagSession(model: Stage.model(), power: power, seed: 7)
            var workspace = TagWorkspace()
            for second in 1...3 {
                let now = Instant(seconds: Double(second))
                session.observe(receiver: 1, rssi: -75, window: .zero, at: now)
                session.observe(receiver: 6, rssi: -95, window: .zero, at: now)
                _ = session.update(to: now, &workspace)
            }
            return try XCTUnwrap(session.expectedRSSI(of: 1)).variance
        }
        XCTAssertLessThan(try expected(power: Stage.power - 10), try expected(power: nil))
    }

    /// A tag with a small battery: the position goes on between its advertisements, and the radius grows.
    func testATagThatAdvertisesEveryTenSecondsKeepsItsPosition() throws {
        for tagClass in [FleetSettings.TagClass.standard, .light] {
            var session = TagSession(model: Stage.model(tagClass), power: nil, seed: 8)
            var (workspace, noise) = (TagWorkspace(), SeededGenerator(seed: 9))
            let place = MapPoint(x: 9, y: 13)
            var (fresh, old, errors) = ([Double](), [Double](), [Double]())
            for second in 0..<160 {
                if second % 10 == 0 { Stage.observe(&session, at: place, Double(second), noise: &noise) }
                let position = session.update(to: Instant(seconds: Double(second)), &workspace).position
                guard second >= 60 else { continue }
                let answer = try XCTUnwrap(position, "second \(second)")
                errors.append(answer.point.distance(to: place))
                if second % 10 == 0 { fresh.append(answer.radius) }
                if second % 10 == 9 { old.append(answer.radius) }
            }
            func mean(_ values: [Double]) -> Double { values.reduce(0, +) / Double(values.count) }
            XCTAssertLessThan(mean(errors), 3)
            XCTAssertLessThan(errors.max() ?? .infinity, 8)
            XCTAssertGreaterThan(mean(old), 1.5 * mean(fresh), "the radius grows between two advertisements")
        }
    }

    /// A gateway that sends the median of 15 s every 5 s.
    func testFilteredReadingsLocateATag() throws {
        var session = TagSession(model: Stage.model(), power: nil, seed: 10)
        var (workspace, noise) = (TagWorkspace(), SeededGenerator(seed: 11))
        let place = MapPoint(x: 20, y: 6)
        var last: Position?
        for second in 0...60 {
            for receiver in Stage.points.indices where (second + receiver) % 5 == 0 {
                session.observe(
                    receiver: receiver, rssi: Stage.rssi(of: receiver, at: place) + noise.normal(),
                    window: .seconds(15), at: Instant(seconds: Double(second)))
            }
            last = session.update(to: Instant(seconds: Double(second)), &workspace).position
        }
        let position = try XCTUnwrap(last)
        XCTAssertLessThan(position.point.distance(to: place), 3)
        XCTAssertLessThan(position.point.distance(to: place), 1.5 * position.radius)
    }
}
