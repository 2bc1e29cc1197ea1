import IndoorLocalization
import IndoorLocalizationTesting
import Synchronization
import XCTest

/// The samples of Navisens' document on plugins, and the rules that the page on moving from Navisens builds.
final class NavisensSampleTests: XCTestCase {
    /// The plugin of *Implementing NavisensPlugin*, with its seven methods.
    private actor SamplePlugin: LocalizationPlugin {
        nonisolated let calls = WatchedState<[String]>([])

        func initialize(host: PluginHost, arguments: [String]) async throws -> Bool {
            note("initialize \(arguments)")
            await host.subscribe(self, to: [.positions, .networkPositions, .networkData, .pluginData, .errors])
            try await host.request("motion.interval", 0.05)
            await host.applySettings()
            return true
        }

        func stop() -> Bool {
            note("stop")
            return true
        }

        func receive(position: Position) { note("position") }
        func receive(networkPosition: SharedPosition) { note("position of \(networkPosition.device)") }
        func receive(networkData: SharingEvent) { note("\(networkData)") }
        func receive(pluginData: PluginData) { note("\(pluginData.tag): \(pluginData.value(as: String.self) ?? "-")") }
        func receive(error: LocalizationError) { note(error.message) }

        private nonisolated func note(_ call: String) { calls.update { $0.append(call) } }

        nonisolated func wait(for call: String) async throws {
            try await Bounded.wait(for: call) { [calls] in try await calls.wait { $0.contains(call) } }
        }
    }

    private let stage = LocalizerStage()

    private func interval() async -> Duration {
        await stage.localizer.settings.resolved.localization.motion.interval
    }

    /// *Implementing NavisensPlugin* and *Using Navisens data and interplugin communication*.
    func testTheSamplePluginReceivesEachStream() async throws {
        let sharing = ScriptedSharing()
        let host = PluginHost(localizer: stage.localizer, sharing: sharing)
        let kept = await host.add(SamplePlugin(), arguments: ["fast"])
        let plugin = try XCTUnwrap(kept)
        let requested = await interval()
        XCTAssertEqual(requested, .milliseconds(50))
        try await host.startServices()
        try await stage.run()
        try await plugin.wait(for: "position")
        sharing.happen(
            .position(
                SharedPosition(
                    device: try DeviceID("forklift"), room: "hall", venueID: 1, mapID: 10, x: 1, y: 2, radius: 3,
                    sentAt: 4)))
        try await plugin.wait(for: "position of forklift")
        let occupancy = SharingEvent.occupancy(room: "hall", devices: 2)
        sharing.happen(occupancy)
        try await plugin.wait(for: "\(occupancy)")
        await host.broadcast("Example.Sample", "hello")
        try await plugin.wait(for: "Example.Sample: hello")
        stage.source.fail(LocalizationError(code: .generic, message: "the adapter was reset"))
        try await plugin.wait(for: "the adapter was reset")
        let isStopped = await host.stopAll()
        XCTAssertTrue(isStopped)
        XCTAssertEqual(plugin.calls.value.first, #"initialize ["fast"]"#)
        XCTAssertEqual(plugin.calls.value.filter { $0 == "stop" }.count, 1)
    }

    /// The samples of `subscribe` and `unsubscribe`.
    func testTheSamplesOfSubscribeCombineStreams() async {
        let host = PluginHost(localizer: stage.localizer)
        for (subscribed, unsubscribed, streams) in [
            (.positions | .networkPositions | .errors, .nothing, [.positions, .networkPositions, .errors]),
            (.nothing, .nothing, []),
            (.positions, .nothing, [.positions]),
            (.positions | .errors, .errors, [.positions]),
            (.all ^ .pluginData, .nothing, [.positions, .networkPositions, .networkData, .errors]),
        ] as [(PluginStreams, PluginStreams, PluginStreams)] {
            let plugin = ProbePlugin()
            await host.add(plugin)
            await host.subscribe(plugin, to: subscribed)
            await host.unsubscribe(plugin, from: unsubscribed)
            let result = await host.streams(of: plugin)
            XCTAssertEqual(result, streams)
        }
    }

    /// The samples of `core.settings`.
    func testTheSamplesOfSettingsKeepTheBetterRequestAndOverrideIt() async throws {
        let host = PluginHost(localizer: stage.localizer)
        try await host.request("motion.interval", 0.01)
        try await host.request("motion.interval", 0.05)
        let before = await interval()
        XCTAssertEqual(before, .milliseconds(100), "nothing is applied yet")
        await host.applySettings()
        let requested = await interval()
        XCTAssertEqual(requested, .milliseconds(10))
        try await host.override("motion.interval", 0.05)
        await host.applySettings()
        let overridden = await interval()
        XCTAssertEqual(overridden, .milliseconds(50))
    }

    func testEachPowerModeListensForItsShareOfTheTime() async throws {
        let host = PluginHost(localizer: stage.localizer)
        for (mode, share) in [("eco", 0.1), ("normal", 1.0 / 3), ("aggressive", 0.5), ("none", 1)] {
            try await host.request("scanner.powerMode", .string(mode))
            try await host.request("scanner.powerMode", "eco")
            await host.applySettings()
            let scanner = await stage.localizer.settings.resolved.scanner
            let listens = scanner.dutyCycle.share * (scanner.timing?.share ?? 1)
            XCTAssertEqual(listens, share, accuracy: 1e-9, "\(mode), the better one of the two requests")
        }
    }

    /// `setLocationLatitude` without a heading or a compass.
    func testACoordinateAloneGivesNoCoordinates() throws {
        var reckoner = DeadReckoner()
        try reckoner.setGlobalPosition(Coordinate(latitude: 52, longitude: 13))
        reckoner.observe(.step(Step(instant: Instant(seconds: 1), length: 0.7, heading: 0)))
        XCTAssertNil(reckoner.estimate.coordinate)
        try reckoner.setGlobalHeading(0)
        XCTAssertNotNil(reckoner.estimate.coordinate)
    }

    /// `recordObservation` of a landmark whose place is that of the first visit.
    func testALandmarkWithoutAPlaceCorrectsTheNextVisit() throws {
        var reckoner = DeadReckoner()
        var landmarks: [String: Vector3] = [:]
        func observe(_ id: String, uncertainty: Double) throws {
            if let place = landmarks[id] {
                try reckoner.correct(x: place.x, y: place.y, radius: uncertainty)
            } else {
                landmarks[id] = reckoner.estimate.position
            }
        }
        var second = 0.0
        func walk(heading: Double) {
            for _ in 0..<40 {
                second += 0.5
                reckoner.observe(.step(Step(instant: Instant(seconds: second), length: 0.7, heading: heading)))
            }
        }
        try observe("door", uncertainty: 1)
        walk(heading: 0)
        let away = reckoner.estimate
        // The way back is the same, but the device measures another direction.
        walk(heading: 160)
        let before = reckoner.estimate
        try observe("door", uncertainty: 1)
        let after = reckoner.estimate
        func distance(_ estimate: MotionEstimate) -> Double { estimate.position.length }
        XCTAssertGreaterThan(distance(away), 25)
        XCTAssertGreaterThan(distance(before), 5)
        XCTAssertLessThan(distance(after), distance(before) / 2)
        XCTAssertLessThan(after.radius, before.radius)
    }

    /// The rule of NaviBeacon on Android, as on the page.
    private func ruleOnAndroid() -> @Sendable (BeaconRecord, CorrectionBeacon) -> Bool {
        let used = Mutex<Set<String>>([])
        return { record, beacon in
            guard let meters = record.distance?.meters else { return false }
            return used.withLock { used in
                if meters > 0.5 { used.remove(beacon.id) }
                return meters < 0.25 && used.insert(beacon.id).inserted
            }
        }
    }

    func testABeaconSetsThePositionOnceUntilItWasFartherAway() throws {
        let rule = ruleOnAndroid()
        let identity = SessionStage.beacon(9, 1)
        func record(_ meters: Double?) -> BeaconRecord {
            let sighting = Sighting(instant: .zero, beacon: identity, rssi: -50)
            let distance = meters.map { meters in
                let model = PathLossModel(measuredPower: -59)
                return model.distance(rssi: model.rssi(at: meters), deviation: 1)
            }
            let range = RangeEstimate(
                beacon: identity, instant: .zero, rssi: -50, rssiDeviation: 1, distance: distance)
            return BeaconRecord(sighting: sighting, range: range)
        }
        let door = CorrectionBeacon(id: "door", region: BeaconRegion(identity), placement: PluginPlacement(heading: 0))
        let meters = [0.3, 0.2, 0.2, 0.4, 0.2, nil, 0.6, 0.3, 0.1]
        XCTAssertEqual(
            meters.map { rule(record($0), door) }, [false, true, false, false, false, false, false, false, true])
        let lift = CorrectionBeacon(id: "lift", region: BeaconRegion(identity), placement: PluginPlacement(heading: 0))
        XCTAssertTrue(rule(record(0.2), lift), "each beacon has its own state")
    }
}
