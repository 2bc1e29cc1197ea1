import CSQLite
import GeofenceLogging
import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// The plugin with a real session, whose events come from a geofence around the position that a test provides.
final class GeofenceLoggerTests: XCTestCase {
    private let clock = ManualClock()
    private let source = ScriptedSource()
    private let beacon = BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 4)

    private var venue: Venue {
        Venue(
            id: 1, name: "hall", maps: [VenueMap(id: 10, name: "ground", level: 0, width: 40, height: 30)],
            beacons: [VenueBeacon(identity: beacon, mapID: 10, point: MapPoint(x: 5, y: 5))],
            rooms: [Room(id: 3, name: "hall", mapID: 10, area: .circle(center: MapPoint(x: 5, y: 5), radius: 100))],
            fences: [Fence(id: 7, name: "door", mapID: 10, area: .circle(center: MapPoint(x: 5, y: 5), radius: 100))])
    }

    private func localizer() -> Localizer {
        var settings = LocalizationSettings()
        settings.positioning.particleCount = 100
        settings.areaDwell = .zero
        return Localizer(
            source: source, venues: ScriptedVenueSource([venue]), settings: settings, clock: clock, seed: 1)
    }

    /// Starts a session, sends readings of the beacon, and waits for the first event of the geofence.
    private func enter(_ localizer: Localizer) async throws {
        let (states, events) = (localizer.states, localizer.events)
        await localizer.start()
        try await Bounded.wait(for: "the scan") { [source] in try await source.waitForScans(1) }
        _ = try await Bounded.elements(of: states, until: "the search") { $0 == .searchVenue }
        for tick in 0..<80 {
            source.send(
                .sighting(Sighting(instant: Instant(seconds: Double(tick) / 10), beacon: beacon, rssi: -60)))
        }
        _ = try await Bounded.elements(of: events, until: "the entry of the fence") { $0.fence != nil }
    }

    func testAllEventsBeforeStopAreInTheLog() async throws {
        let path = try temporaryLog()
        let localizer = localizer()
        let host = PluginHost(localizer: localizer)
        let logger = await host.add(GeofenceLogger(), arguments: .init(path: path) { 1_700_000_000 })
        XCTAssertNotNil(logger)
        try await enter(localizer)
        await localizer.stop()  // leaves the room and the fence
        let isStopped = await host.stopAll()
        XCTAssertTrue(isStopped)
        let read = try await GeofenceLog(path: path).records()
        let reported = await localizer.eventHistory.events
        XCTAssertEqual(reported.count, 4)
        XCTAssertEqual(read.map(\.instant), reported.map(\.instant))
        XCTAssertEqual(read.map(\.name), ["hall", "door", "hall", "door"])
        XCTAssertEqual(read.map(\.kind), [.room, .fence, .room, .fence])
        XCTAssertEqual(read.map(\.areaID), ["3", "7", "3", "7"])
        XCTAssertEqual(read.map(\.isEntry), [true, true, false, false])
        XCTAssertEqual(Set(read.map(\.time)), [1_700_000_000])
    }

    func testTheLoggerWritesOnlyTheRequestedKinds() async throws {
        let path = try temporaryLog()
        let localizer = localizer()
        let host = PluginHost(localizer: localizer)
        await host.add(GeofenceLogger(), arguments: .init(path: path, kinds: [.fence]))
        try await enter(localizer)
        await localizer.stop()
        await host.stopAll()
        let read = try await GeofenceLog(path: path).records()
        XCTAssertEqual(read.map(\.name), ["door", "door"])
        XCTAssertGreaterThan(try XCTUnwrap(read.first).time, 1_700_000_000, "the time is that of the device's clock")
    }

    func testAPluginWhoseLogCannotBeOpenedIsNotAdded() async throws {
        let path = try temporaryLog() + "/nowhere/log.db"
        let host = PluginHost(localizer: localizer())
        let failures = host.failures
        let logger = await host.add(GeofenceLogger(), arguments: .init(path: path))
        XCTAssertNil(logger)
        let failure = try await Bounded.first(1, of: failures)[0]
        XCTAssertEqual(failure.occasion, .initializing)
        XCTAssertTrue(failure.cause.contains("unable to open database file"), failure.cause)
    }

    func testTheLoggerWritesRecordsAfterAFailureLater() async throws {
        let path = try temporaryLog()
        let localizer = localizer()
        let host = PluginHost(localizer: localizer)
        var settings = GeofenceLogSettings()
        settings.busyTimeout = .milliseconds(1)
        let failures = host.failures
        let added = await host.add(GeofenceLogger(), arguments: .init(path: path, settings: settings))
        let logger = try XCTUnwrap(added)
        // Another program that keeps the log locked.
        var other: OpaquePointer?
        XCTAssertEqual(sqlite3_open(path, &other), SQLITE_OK)
        defer { sqlite3_close(other) }
        XCTAssertEqual(sqlite3_exec(other, "BEGIN IMMEDIATE", nil, nil, nil), SQLITE_OK)
        try await enter(localizer)
        for failure in try await Bounded.first(2, of: failures) {
            XCTAssertEqual(failure.occasion, .working)
            XCTAssertTrue(failure.cause.contains("locked"), failure.cause)
        }
        let pending = await logger.pendingRecords
        XCTAssertEqual(pending, 2)
        XCTAssertEqual(sqlite3_exec(other, "COMMIT", nil, nil, nil), SQLITE_OK)
        await localizer.stop()
        await host.stopAll()
        let read = try await GeofenceLog(path: path).records().map(\.name)
        XCTAssertEqual(read, ["hall", "door", "hall", "door"])
        let lost = await logger.lostRecords
        XCTAssertEqual(lost, 0)
    }
}
