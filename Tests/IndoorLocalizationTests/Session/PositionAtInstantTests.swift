import IndoorLocalization
import XCTest

/// Where a session says that the device is at any instant.
final class PositionAtInstantTests: XCTestCase {
    /// A session that has taken in readings, and the positions that it told.
    private func session(_ readings: [SensorReading], seed: UInt64 = 3) -> (replay: SessionReplay, told: [Position]) {
        var replay = SessionReplay(venues: [SessionStage.office], settings: LocalizerStage.settings, seed: seed)
        var outputs = replay.start()
        for reading in readings { outputs += replay.handle(reading) }
        return (replay, outputs.compactMap(Self.position))
    }

    private static func position(_ output: SessionReplay.Output) -> Position? {
        if case .position(let position) = output.content { position } else { nil }
    }

    func testThePositionBetweenTwoPositionsLiesOnTheLine() throws {
        let (replay, told) = session(LocalizerStage.walk(from: 0, for: 10))
        XCTAssertGreaterThan(told.count, 10)
        for (first, last) in zip(told, told.dropFirst()) {
            let share = 0.25
            let instant = first.instant.advanced(by: first.instant.duration(to: last.instant) * share)
            let between = try XCTUnwrap(replay.position(at: instant))
            XCTAssertEqual(between.instant, instant)
            XCTAssertEqual(between.x, first.x + share * (last.x - first.x), accuracy: 1e-9)
            XCTAssertEqual(between.y, first.y + share * (last.y - first.y), accuracy: 1e-9)
            XCTAssertEqual(between.radius, first.radius + share * (last.radius - first.radius), accuracy: 1e-9)
            let pixels = try [between, first, last].map { try XCTUnwrap($0.pixel).x }
            XCTAssertEqual(pixels[0], pixels[1] + share * (pixels[2] - pixels[1]), accuracy: 1e-6)
            XCTAssertEqual(replay.position(at: first.instant)?.point, first.point)
        }
    }

    /// The belief is carried on as the session will carry it on.
    func testThePositionAfterTheLatestEqualsTheNextPosition() throws {
        let (replay, told) = session(LocalizerStage.walk(from: 0, for: 10))
        let latest = try XCTUnwrap(told.last)
        var later = replay
        let next = try XCTUnwrap(
            later.handle(SessionStage.heard(1, at: latest.instant.seconds + 0.9)).compactMap(Self.position).first)
        let asked = try XCTUnwrap(replay.position(at: next.instant))
        XCTAssertEqual(asked, next)
        XCTAssertNotEqual(asked.point, latest.point)
    }

    func testAPositionQueryDoesNotChangeTheSession() {
        let readings = LocalizerStage.walk(from: 0, for: 10)
        var replay = SessionReplay(venues: [SessionStage.office], settings: LocalizerStage.settings, seed: 3)
        var outputs = replay.start()
        for reading in readings {
            outputs += replay.handle(reading)
            _ = replay.position(at: reading.instant.advanced(by: .seconds(2)))
        }
        XCTAssertEqual(outputs.compactMap(Self.position), session(readings).told)
    }

    func testThePositionIsLessCertainWithoutNewReadings() throws {
        let (replay, told) = session(LocalizerStage.walk(from: 0, for: 10))
        let latest = try XCTUnwrap(told.last)
        let later = try XCTUnwrap(replay.position(at: latest.instant.advanced(by: .seconds(8))))
        XCTAssertGreaterThan(later.radius, latest.radius)
    }

    func testThereIsNoPositionBeforeTheFirstAndLongAfterTheLatest() throws {
        let (replay, told) = session(LocalizerStage.walk(from: 0, for: 10))
        let (first, latest) = (try XCTUnwrap(told.first?.instant), try XCTUnwrap(told.last?.instant))
        XCTAssertNil(replay.position(at: first.advanced(by: .milliseconds(-1))))
        XCTAssertNotNil(replay.position(at: latest.advanced(by: .seconds(10))))
        XCTAssertNil(replay.position(at: latest.advanced(by: .milliseconds(10_001))))
        XCTAssertNil(SessionReplay(venues: [SessionStage.office]).position(at: .zero))
    }

    /// Half a minute is kept, however long the session.
    func testALongSessionKeepsPositionsOfTheLastHalfMinute() throws {
        let (replay, told) = session(LocalizerStage.walk(from: 0, for: 150))
        let latest = try XCTUnwrap(told.last?.instant)
        XCTAssertNotNil(replay.position(at: latest.advanced(by: .seconds(-30))))
        XCTAssertNil(replay.position(at: latest.advanced(by: .seconds(-90))))
    }

    func testALocalizerReturnsThePositionAtAnInstant() async throws {
        let stage = LocalizerStage()
        try await stage.run()
        let position = await stage.localizer.position(at: Instant(seconds: LocalizerStage.beginning + 6.5))
        XCTAssertEqual(position?.venueID, SessionStage.office.id)
        XCTAssertEqual(position?.instant, Instant(seconds: LocalizerStage.beginning + 6.5))
        await stage.localizer.stop()
        let after = await stage.localizer.position(at: Instant(seconds: LocalizerStage.beginning + 6.5))
        XCTAssertNil(after)
    }
}
