import IndoorLocalizationTesting
import XCTest

@testable import LocalizationSession
import IndoorLocalization

/// What scanners and sessions count, and when a heartbeat is due.
final class HeartbeatTests: XCTestCase {
    func testAScannerCountsPassesReadingsBeaconsAndErrors() async throws {
        struct Broken: Error {}
        let stage = ScannerStage()
        let (beacons, errors) = (stage.scanner.beacons, stage.scanner.errors)
        try await stage.start()
        stage.source.send(.advertisement(try ScannerStage.advertisement(at: ScannerStage.beginning)))
        stage.source.send(ScannerStage.sighting(at: ScannerStage.beginning + 1, rssi: 127))
        stage.source.send(ScannerStage.sighting(at: ScannerStage.beginning + 2))
        _ = try await Bounded.first(2, of: beacons)
        var counts = await stage.scanner.activityCounts
        XCTAssertEqual(counts.passes, 1)
        XCTAssertEqual(counts.readings, 3)
        XCTAssertEqual(counts.sightings, 2)
        XCTAssertEqual(counts.errors, 0)
        stage.source.fail(Broken())
        _ = try await Bounded.first(1, of: errors)
        counts = await stage.scanner.activityCounts
        XCTAssertEqual(counts.errors, 1)
        XCTAssertEqual(counts.positions, 0)
        await stage.scanner.stop()
    }

    func testASessionCountsEachScanPositionAndErrorOnce() {
        let position = Position(
            instant: .zero, venueID: 1, mapID: 10, point: MapPoint(x: 5, y: 5), radius: 1, floorCertainty: 1)
        let outdoors = OutdoorPosition(instant: .zero, coordinate: Coordinate(latitude: 52, longitude: 13), radius: 5)
        let directives: [LocalizationMachine<PositioningEngine>.Directive] = [
            .startScanning, .publish(.started), .fetchCatalogue, .emit(position), .emitOutdoor(outdoors),
            .report(SessionStage.network), .stopScanning,
        ]
        var counts = ActivityCounts()
        for directive in directives { counts.note(directive) }
        XCTAssertEqual(
            [counts.passes, counts.positions, counts.outdoorPositions, counts.errors, counts.events], [1, 1, 1, 1, 0])
    }

    private func beat(_ seconds: Double) -> Heartbeat {
        Heartbeat(uptime: .seconds(seconds), activity: ActivityCounts())
    }

    func testAHeartbeatIsDueEachIntervalAndTheLatestAreKeptTheLatestFirst() {
        var settings = HeartbeatSettings()
        XCTAssertEqual(settings.interval, .seconds(60))
        XCTAssertEqual(settings.history, 100)
        settings.history = 2
        var history = HeartbeatHistory(settings)
        XCTAssertFalse(history.isDue(at: .seconds(59.9)))
        XCTAssertTrue(history.isDue(at: .seconds(60)))
        history.append(beat(61))
        XCTAssertFalse(history.isDue(at: .seconds(120)))
        XCTAssertTrue(history.isDue(at: .seconds(121)))
        history.append(beat(125))
        history.append(beat(190))
        XCTAssertEqual(history.heartbeats.map(\.uptime), [.seconds(190), .seconds(125)])
        history.settings.history = 1
        XCTAssertEqual(history.heartbeats.map(\.uptime), [.seconds(190)])
        history.settings.interval = .zero
        XCTAssertFalse(history.isDue(at: .seconds(1e6)), "none is wanted")
    }
}
