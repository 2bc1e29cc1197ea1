import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LiveSurvey
import ScanRecording
import VenueModel
import XCTest

/// The walks with the device that a session locates: what is recorded of its readings, and when.
final class SurveyedDeviceTests: XCTestCase {
    private static let start = Instant(seconds: 1_790_000_000)
    private static let known = BeaconIdentity(uuid: BeaconUUID(high: 1, low: 1), major: 1, minor: 1)
    private static let address = DeviceAddress(rawValue: 0xC47C_8D00_0101)

    private static let venue = Venue(
        id: 7, name: "House", maps: [VenueMap(id: 1, name: "Hall", level: 0, width: 30, height: 10)],
        beacons: [VenueBeacon(identity: known, address: address, mapID: 1, point: MapPoint(x: 5, y: 5))])

    /// A desk with a device, whose source counts from 500 s.
    private struct Stage {
        let clock = ManualClock()
        let device: SurveyedDevice
        let desk: SurveyDesk
        let folder: String

        init() throws {
            folder = FileManager.default.temporaryDirectory.appending(path: "device-\(UUID().uuidString)").path
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let device = SurveyedDevice(
                venue: SurveyedDeviceTests.venue, settings: SettingsStack(), start: SurveyedDeviceTests.start,
                clock: clock)
            desk = SurveyDesk(device, folder: folder, priority: .usual) { device.now }
            self.device = device
        }

        /// Passes a reading of an instant after a delay.
        func hear(_ second: Double, after delay: Double = 0, minor: UInt16 = 1) {
            var beacon = SurveyedDeviceTests.known
            beacon = BeaconIdentity(uuid: beacon.uuid, major: beacon.major, minor: minor)
            clock.advance(by: clock.now.duration(to: Instant(seconds: second + delay)))
            device.receive(.sighting(Sighting(instant: Instant(seconds: 500 + second), beacon: beacon, rssi: -60)))
        }

        /// Ends the walk and returns its recording.
        func recording(of count: Int) async throws -> SurveyRecording {
            // The readings reach the desk by a stream.
            let (device, desk) = (self.device, self.desk)
            let run = Task { await device.run(desk) { XCTFail($0) } }
            try await Bounded.poll(for: "\(count) readings") { await desk.status.first?.readings == count }
            run.cancel()
            await run.value
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            XCTAssertEqual(names.count, 1)
            return try SurveyRecording(path: folder + "/" + (names.first ?? ""), in: SurveyedDeviceTests.venue)
        }
    }

    private func stage() throws -> Stage {
        let stage = try Stage()
        addTeardownBlock { [folder = stage.folder] in try? FileManager.default.removeItem(atPath: folder) }
        return stage
    }

    private func refusal(
        _ operation: () async throws(SurveyDesk.Refusal) -> Void
    ) async -> SurveyDesk.Refusal? {
        do throws(SurveyDesk.Refusal) { try await operation() } catch { return error }
        return nil
    }

    func testAWalkBeginsOnlyAfterABeaconOfTheVenue() async throws {
        let stage = try stage()
        stage.hear(1, minor: 9)
        let early = await refusal { () async throws(SurveyDesk.Refusal) in try await stage.desk.start(with: .device) }
        XCTAssertEqual(early, .unheard(.device))
        XCTAssertEqual(
            early?.description, "This device has heard no beacon of the venue yet. Bring it nearer to one.")
        stage.hear(2)
        let later = await refusal { () async throws(SurveyDesk.Refusal) in try await stage.desk.start(with: .device) }
        XCTAssertNil(later)
    }

    func testOnlyBeaconsOfTheVenueDuringTheWalkAreRecorded() async throws {
        let stage = try stage()
        stage.hear(1)
        try await stage.desk.start(with: .device)
        stage.hear(2)
        stage.hear(3, minor: 9)
        // An advertisement without an identity, by its address.
        stage.device.receive(
            .advertisement(
                Advertisement(
                    instant: Instant(seconds: 503.5), address: Self.address, rssi: -70, data: [])))
        stage.hear(5)
        try await stage.desk.mark(.device, at: MapPoint(x: 2, y: 2), on: 1, delay: .zero)
        let recording = try await stage.recording(of: 3)
        XCTAssertEqual(recording.sightings.map(\.beacon), [Self.known, Self.known, Self.known])
        XCTAssertEqual(recording.sightings.map(\.rssi).sorted(), [-70, -60, -60])
        XCTAssertEqual(recording.waypoints.map(\.instant.seconds), [4])
        XCTAssertNil(recording.device)
    }

    func testAReadingThatArrivesLateHasItsOwnTime() async throws {
        let stage = try stage()
        stage.hear(1)
        try await stage.desk.start(with: .device)
        stage.hear(2)
        stage.hear(4, after: 3)
        stage.hear(9)
        let recording = try await stage.recording(of: 3)
        for (sighting, seconds) in zip(recording.sightings, [1.0, 3, 8]) {
            // The clocks may drift.
            XCTAssertEqual(sighting.instant.seconds, seconds, accuracy: 0.01)
        }
    }

    func testAnotherTimelineOfTheSourceBeginsAtItsArrival() async throws {
        let stage = try stage()
        stage.hear(1)
        try await stage.desk.start(with: .device)
        stage.hear(2)
        stage.clock.advance(by: .seconds(100))
        stage.device.receive(.sighting(Sighting(instant: Instant(seconds: 0), beacon: Self.known, rssi: -60)))
        let recording = try await stage.recording(of: 2)
        XCTAssertEqual(recording.sightings.map(\.instant.seconds), [1, 101])
    }

    func testTheSessionGetsTheLatestEdition() async throws {
        let stage = try stage()
        var next = Self.venue
        next.version += 1
        XCTAssertEqual(stage.device.catalogue().map(\.version), [Self.venue.version])
        try await stage.device.use(next, preparedAt: .usual)
        XCTAssertEqual(stage.device.catalogue().map(\.version), [next.version])
        XCTAssertEqual(try stage.device.packet(for: 7) { _ in }, next)
        XCTAssertEqual(stage.device.venue, Self.venue)
    }

    func testTheNextEditionIsInUseAfterwards() async throws {
        let stage = try stage()
        let localizer = try await locating(with: stage)
        var next = Self.venue
        next.version += 1
        try await stage.device.use(next, preparedAt: .usual)
        let used = await localizer.state.venue?.version
        XCTAssertEqual(used, next.version)
    }

    func testAnEditionThatTheSessionCannotPrepareIsRefusedWithTheReason() async throws {
        let stage = try stage()
        let localizer = try await locating(with: stage)
        var next = Self.venue
        next.version += 1
        // Larger tables than an engine has memory for.
        next.beacons += (2..<60_000).map { number in
            let identity = BeaconIdentity(uuid: BeaconUUID(high: 1, low: 1), major: 1, minor: UInt16(number))
            return VenueBeacon(identity: identity, mapID: 1, point: MapPoint(x: 5, y: 5))
        }
        do throws(SurveyedSystemError) {
            try await stage.device.use(next, preparedAt: .usual)
            XCTFail("the session uses it")
        } catch {
            XCTAssertEqual(
                error.description,
                "The packet was written, but the session still uses edition 1. Its log says why.")
        }
        let used = await localizer.state.venue?.version
        XCTAssertEqual(used, Self.venue.version)
    }

    func testWalksAreComparedWithTheSettingsOfTheSession() async throws {
        let stage = try stage()
        let localizer = try await locating(with: stage)
        let walk = SurveyRecording(
            waypoints: [],
            sightings: (1...40).map {
                Sighting(instant: Instant(seconds: Double($0) / 4), beacon: Self.known, rssi: -50)
            })
        let few = await stage.device.locating()(Self.venue)(walk).count
        var settings = LocalizationSettings()
        settings.positionInterval = .milliseconds(250)
        await localizer.setSettings(SettingsStack(localization: settings))
        let many = await stage.device.locating()(Self.venue)(walk).count
        XCTAssertGreaterThan(few, 2)
        XCTAssertGreaterThan(Double(many), 1.5 * Double(few))
    }

    /// A session of the device that locates it.
    private func locating(with stage: Stage) async throws -> Localizer {
        let source = ScriptedSource()
        // By a clock that goes on, the session could lose its beacon before the test is over.
        let localizer = Localizer(source: source, venues: VenueLibrary([Self.venue]), clock: ManualClock())
        addTeardownBlock { await localizer.stop() }
        let (search, states) = (localizer.states, localizer.states)
        await localizer.start()
        try await Bounded.wait(for: "the scan") { try await source.waitForScans(1) }
        // A session that doesn't know its venues yet searches for none.
        _ = try await Bounded.elements(of: search, until: "searchVenue") { $0 == .searchVenue }
        for second in 1...8 {
            source.send(
                .sighting(Sighting(instant: Instant(seconds: Double(second)), beacon: Self.known, rssi: -50)))
        }
        _ = try await Bounded.elements(of: states, until: "a position") { $0.name == "localizationRunning" }
        stage.device.begin(localizer)
        return localizer
    }
}
