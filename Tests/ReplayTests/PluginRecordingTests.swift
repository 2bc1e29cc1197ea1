import Foundation
import GeofenceLogging
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import VenuePackets
import XCTest

/// Yields to other tasks, in a wait for a state that cannot be awaited; throws once the task is cancelled.
private func pause() async throws {
    try Task.checkCancellation()
    await Task.yield()
}

/// The built-in plugins with a session that replays a walk through the office of the fixtures.
final class PluginRecordingTests: XCTestCase {
    /// A plugin that stores everything it receives.
    private actor Listener: LocalizationPlugin {
        private(set) var positions: [Position] = []
        private(set) var data: [PluginData] = []
        private(set) var shared: [SharedPosition] = []

        func initialize(host: PluginHost, arguments: Void) async -> Bool {
            await host.subscribe(self, to: .all)
            return true
        }

        func receive(position: Position) { positions.append(position) }
        func receive(pluginData: PluginData) { data.append(pluginData) }
        func receive(networkPosition: SharedPosition) { shared.append(networkPosition) }
    }

    /// Another device in the same room, which receives the shared positions.
    ///
    /// It shares each of them again as its own position.
    private final class Echo: PositionSharing {
        let shared = WatchedState<[Position]>([])
        private let broadcast = Broadcast<SharingEvent>(.unbounded)
        private let device: DeviceID

        init(_ name: String) throws { device = try DeviceID(name) }

        var events: AsyncStream<SharingEvent> { broadcast.subscribe() }
        func connect() async { broadcast.send(.connected) }
        func disconnect() async {}
        func join(_ room: String) async {}
        func leave(_ room: String) async {}
        func send(_ text: String, tag: String, to room: String) async {}
        func share(_ position: Position) async {
            shared.update { $0.append(position) }
            broadcast.send(.position(SharedPosition(position, of: device, in: "office", sentAt: 0)))
        }
    }

    private var settings: LocalizationSettings {
        var settings = LocalizationSettings()
        settings.positioning.particleCount = 200
        return settings
    }

    private func office() throws -> Venue { try VenuePacketReader().read(FixtureFolder("office").path).venue }

    private func recorded() throws -> Localizer {
        Localizer(
            source: RecordingSource(path: try RecordedWalk.path("one-floor")), venues: VenueLibrary([try office()]),
            settings: settings, seed: 7)
    }

    /// Plays the recording to its end, and returns once the plugin has received all positions.
    private func play(_ host: PluginHost, _ listener: Listener) async throws -> [Position] {
        let (states, positions) = (host.localizer.states, host.localizer.positions)
        try await host.startServices()
        try await Bounded.wait(for: "the end of the walk") {
            for await state in states.dropFirst() where state == .idle { return }
        }
        let count = await listener.positions.count
        let reported = try await Bounded.elements(of: positions, until: "the last position") {
            $0.instant >= Instant(seconds: 29.5)
        }
        XCTAssertGreaterThan(reported.count, 30)
        try await Bounded.wait(for: "\(reported.count) positions, \(count) so far") {
            while await listener.positions.count < reported.count { try await pause() }
        }
        return reported
    }

    func testThePluginReceivesAllPositionsInOrder() async throws {
        let host = PluginHost(localizer: try recorded(), queueCapacity: nil, clock: ManualClock())
        let listener = Listener()
        await host.add(listener)
        let reported = try await play(host, listener)
        // The end of the walk adds one more.
        let received = await listener.positions
        XCTAssertTrue(Array(received.prefix(reported.count)) == reported, "the positions or their order differ")
        let dropped = await host.droppedElements(of: listener)
        XCTAssertEqual(dropped, 0)
    }

    func testGuidanceReportsTheSameAsAMonitorOfTheSamePositions() async throws {
        let office = try office()
        let goal = try XCTUnwrap(office.pointsOfInterest(on: 1).last)
        let planner = RoutePlanner(venue: office)
        let host = PluginHost(localizer: try recorded(), queueCapacity: nil, clock: ManualClock())
        let listener = Listener()
        await host.add(listener)
        let added = await host.add(RouteGuidance(), arguments: .init(planner: planner))
        try await XCTUnwrap(added).guide(to: RoutePoint(goal))
        let reported = try await play(host, listener)
        var monitor = try RouteMonitor(planner: planner, goal: RoutePoint(goal))
        let expected = reported.flatMap { monitor.handle($0) }
        XCTAssertGreaterThan(expected.count, 10)
        try await Bounded.wait(for: "\(expected.count) updates") {
            // The greeting is an additional one.
            while await listener.data.count < expected.count + 1 { try await pause() }
        }
        // The end of the walk may add one more.
        let updates = await listener.data.compactMap { $0.value(as: RouteUpdate.self) }
        XCTAssertTrue(Array(updates.prefix(expected.count)) == expected, "the updates or their order differ")
    }

    func testTheLogContainsTheEventsOfTheWalk() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "plugins-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        addTeardownBlock { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "log.db").path
        let host = PluginHost(localizer: try recorded(), queueCapacity: nil, clock: ManualClock())
        let listener = Listener()
        await host.add(listener)
        await host.add(GeofenceLogger(), arguments: .init(path: path) { 1 })
        _ = try await play(host, listener)
        let isStopped = await host.stopAll()
        XCTAssertTrue(isStopped)
        let events = await host.localizer.eventHistory.events
        XCTAssertGreaterThan(events.count, 2)
        let read = try await GeofenceLog(path: path).records()
        var expected = events.map { GeofenceRecord($0, at: 1) }
        for index in expected.indices { expected[index].id = Int64(index + 1) }
        XCTAssertEqual(read, expected)
    }

    func testPositionsAreSharedAtTheConfiguredRate() async throws {
        let echo = try Echo("cart")
        let host = PluginHost(localizer: try recorded(), sharing: echo, queueCapacity: nil, clock: ManualClock())
        let listener = Listener()
        await host.add(listener)
        let localizer = host.localizer
        let (states, positions) = (localizer.states, localizer.positions)
        await host.add(PositionSharingPlugin(), arguments: .init(rooms: ["office"], interval: .seconds(2)))
        try await host.startServices()
        try await Bounded.wait(for: "the end of the walk") {
            for await state in states.dropFirst() where state == .idle { return }
        }
        let reported = try await Bounded.elements(of: positions, until: "the last position") {
            $0.instant >= Instant(seconds: 29.5)
        }
        try await Bounded.wait(for: "the echoes") {
            while await listener.shared.count < 12 { try await pause() }
        }
        let shared = echo.shared.value
        XCTAssertTrue(Set(shared).isSubset(of: reported))
        for (earlier, later) in zip(shared, shared.dropFirst()) {
            XCTAssertGreaterThanOrEqual(earlier.instant.duration(to: later.instant), .seconds(2))
        }
        let echoed = await listener.shared.map(\.point)
        XCTAssertEqual(echoed.prefix(12), shared.map(\.point).prefix(12))
    }

    // MARK: - A walk on a radio that a test controls

    private struct Radio {
        let source = ScriptedSource()
        let clock = ManualClock()
        let localizer: Localizer
        let scanner: BeaconScanner
        let office: Venue

        init(_ office: Venue, _ settings: LocalizationSettings) {
            self.office = office
            let shared = SharedScanSource(source)
            localizer = Localizer(
                source: shared, venues: VenueLibrary([office]), settings: settings, clock: clock, seed: 7)
            scanner = BeaconScanner(
                source: shared, settings: ScannerSettings(dutyCycle: .continuous), clock: clock)
        }

        /// Plays the recorded walk up to an instant, and returns the last position.
        func walk(to seconds: Double) async throws -> Position {
            let positions = localizer.positions
            let states = localizer.states
            await localizer.start()
            try await Bounded.wait(for: "the search") {
                for await state in states where state == .searchVenue { return }
            }
            // Readings before the scan would be lost.
            try await Bounded.wait(for: "the scan") { [source] in try await source.waitForScans() }
            for try await reading in RecordingSource(path: try RecordedWalk.path("one-floor")).readings() {
                if reading.instant > Instant(seconds: seconds) { break }
                source.send(reading)
            }
            let reported = try await Bounded.elements(of: positions, until: "\(seconds) s") {
                $0.instant.seconds >= seconds - 0.6
            }
            return try XCTUnwrap(reported.last)
        }

        /// Sends readings of an office beacon ten times a second, from a distance of 0.3 m.
        func stand(at beacon: VenueBeacon, from begin: Double, for duration: Double) {
            for tick in 0..<Int(duration * 10) {
                source.send(
                    .sighting(
                        Sighting(
                            instant: Instant(seconds: begin + Double(tick) / 10), beacon: beacon.identity, rssi: -48.5,
                            measuredPower: -59)))
            }
        }
    }

    func testANearbyBeaconCorrectsThePosition() async throws {
        let radio = Radio(try office(), settings)
        let host = PluginHost(localizer: radio.localizer, clock: ManualClock())
        let here = try await radio.walk(to: 20)
        // The farthest beacon on the same floor: without a correction, the session would not move there immediately.
        let beacon = try XCTUnwrap(
            radio.office.beacons(on: here.mapID).max {
                $0.point.distance(to: here.point) < $1.point.distance(to: here.point)
            })
        XCTAssertGreaterThan(beacon.point.distance(to: here.point), 10)
        let corner = CorrectionBeacon(
            id: "corner", region: BeaconRegion(beacon.identity),
            placement: PluginPlacement(mapID: beacon.mapID, place: .point(beacon.point), heading: 180))
        let listener = Listener()
        await host.add(listener)
        await host.add(BeaconCorrection(), arguments: .init(scanner: radio.scanner, beacons: [corner]))
        let positions = radio.localizer.positions
        radio.stand(at: beacon, from: 20.1, for: 0.1)
        try await Bounded.wait(for: "the correction") { while await listener.data.isEmpty { try await pause() } }
        let data = await listener.data
        let correction = try XCTUnwrap(data.first?.value(as: BeaconCorrection.Correction.self))
        XCTAssertEqual(correction.heading, 180)
        guard case .taken = correction.outcome else { return XCTFail("\(correction)") }
        // A position follows each half second after the correction, which occurred between two readings.
        radio.stand(at: beacon, from: 20.2, for: 2)
        let reported = try await Bounded.elements(of: positions, until: "21 s") { $0.instant.seconds >= 20.9 }
        let corrected = try XCTUnwrap(reported.last)
        XCTAssertEqual(corrected.mapID, beacon.mapID)
        XCTAssertLessThan(corrected.point.distance(to: beacon.point), 2)
    }

    func testANamedPointCorrectsThePosition() async throws {
        let radio = Radio(try office(), settings)
        let host = PluginHost(localizer: radio.localizer, clock: ManualClock())
        let here = try await radio.walk(to: 20)
        let place = try XCTUnwrap(
            radio.office.pointsOfInterest(on: here.mapID).max {
                $0.point.distance(to: here.point) < $1.point.distance(to: here.point)
            })
        // All readings of the walk precede the place.
        radio.source.send(.pressure(PressureSample(instant: Instant(seconds: 20.1), hectopascals: 1013)))
        await radio.localizer.waitForReadings(upTo: Instant(seconds: 20.1))
        let added = await host.add(
            NamedPoints(), arguments: [place.name: PluginPlacement(mapID: place.mapID, place: .point(place.point))])
        let outcome = try await XCTUnwrap(added).setLocation(place.name)
        guard case .taken = outcome else { return XCTFail("\(String(describing: outcome))") }
        let positions = radio.localizer.positions
        radio.source.send(.pressure(PressureSample(instant: Instant(seconds: 20.6), hectopascals: 1013)))
        let next = try await Bounded.first(1, of: positions).first
        XCTAssertLessThan(try XCTUnwrap(next).point.distance(to: place.point), 2)
    }
}
