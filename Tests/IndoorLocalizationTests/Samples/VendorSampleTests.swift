import IndoorLocalization
import IndoorLocalizationTesting
import Synchronization
import XCTest

/// The samples of IndoorAtlas' document *Positioning*, with the calls that its users replace them by.
///
/// `FloorPlanLocalizerTests` has the sample *Switching floor plans*.
final class IndoorAtlasSampleTests: XCTestCase {
    /// The office with a coordinate of its ground floor.
    private var office: Venue {
        var office = SessionStage.office
        office.maps[0].georeference = .center(Coordinate(latitude: 52, longitude: 13), bearing: 0)
        return office
    }

    /// *Instancing positioner*.
    func testTheSampleOfInstancingFetchesAFloorPlan() async throws {
        let venues = ScriptedVenueSource([office])
        let plan = try await venues.fetchFloorPlan(10, of: 1).value
        let positioner = FloorPlanLocalizer(on: plan, source: ScriptedSource(), venues: venues)
        XCTAssertEqual(positioner.floorPlan.name, "ground")
        do {
            _ = try await venues.fetchFloorPlan(99, of: 1).value
            XCTFail("there is no such floor plan")
        } catch {
            XCTAssertEqual(error, .unknownMap(99, 1))
        }
    }

    /// *Starting positioner* and *State changes*.
    func testTheSampleOfStartingTellsEachState() async throws {
        let stage = FloorPlanLocalizerStage()
        let positioner = stage.positioner
        let names = WatchedState<[String]>([])
        let watch = positioner.watch(\.states) { state in names.update { $0.append(state.name) } }
        func reach(_ name: String) async throws {
            try await Bounded.wait(for: name) { try await names.wait { $0.last == name } }
        }
        await positioner.connect()
        try await reach("connected")
        await positioner.prepare(FloorPlanLocalizerParameters(motionMode: .shoppingCart))
        try await reach("ready")
        // These parameters have no effect, because the positioner is prepared.
        await positioner.start(FloorPlanLocalizerParameters(motionMode: .walking))
        try await reach("waitingForFix")
        await positioner.stop()
        try await reach("stopped")
        watch.close()
        XCTAssertEqual(
            names.value, ["stopped", "connecting", "connected", "loading", "ready", "waitingForFix", "stopped"])
    }

    /// *Explicit position*: metres before the start, pixels after it.
    func testTheSampleOfExplicitPositionsStartsThereAndConverges() async throws {
        let stage = FloorPlanLocalizerStage(venue: office)
        let (positioner, positions) = (stage.positioner, stage.positioner.positions)
        await positioner.connect()
        try await stage.reach("connected")
        try await positioner.submit(.point(MapPoint(x: 7.5, y: 14.6)), radius: 3)
        await positioner.start()
        let first = try await Bounded.first(1, of: positions)[0]
        XCTAssertLessThan(first.point.distance(to: MapPoint(x: 7.5, y: 14.6)), 3)
        let outcome = try await positioner.submit(.pixel(PixelPoint(x: 320, y: 120)), radius: 25)
        guard case .taken = outcome else { return XCTFail("\(outcome)") }
        let alarms = Task { [clock = stage.clock] in
            while true { clock.advance(to: try await clock.waitForSleeper()) }
        }
        defer { alarms.cancel() }
        _ = try await Bounded.elements(of: positions, until: "a position at the second place") {
            $0.point.distance(to: MapPoint(x: 32, y: 12)) < 2.5
        }
    }

    /// *Position updates*.
    func testTheSampleOfPositionUpdatesReadsEachField() async throws {
        let stage = FloorPlanLocalizerStage(venue: office)
        let positions = stage.positioner.positions
        try await stage.run()
        let latency = await stage.positioner.latency
        XCTAssertGreaterThanOrEqual(latency, .zero)
        let position = try await Bounded.first(1, of: positions)[0]
        let pixel = try XCTUnwrap(position.pixel)
        XCTAssertEqual(pixel.x, position.x * 10, accuracy: 1e-9)
        XCTAssertEqual(pixel.y, position.y * 10, accuracy: 1e-9)
        let coordinate = try XCTUnwrap(position.coordinate)
        XCTAssertEqual(coordinate.latitude, 52, accuracy: 0.0002)
        XCTAssertEqual(coordinate.longitude, 13, accuracy: 0.0004)
        XCTAssertGreaterThan(position.radius, 0)
        XCTAssertTrue(position.course.map { (0..<360).contains($0) } ?? true)
    }
}

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
        let host = PluginHost(localizer: stage.localizer, sharing: sharing, clock: ManualClock())
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
        let host = PluginHost(localizer: stage.localizer, clock: ManualClock())
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
        let host = PluginHost(localizer: stage.localizer, clock: ManualClock())
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
        let host = PluginHost(localizer: stage.localizer, clock: ManualClock())
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

/// The samples of Nextome's document *Basic Features*, with the calls that its users replace them by.
final class NextomeSampleTests: XCTestCase {
    private static let beginning = LocalizerStage.beginning

    /// The office, with what the samples draw.
    private var office: Venue {
        var office = SessionStage.office
        office.maps[0].tilesPath = "tiles/ground.zip"
        office.pointsOfInterest = [
            PointOfInterest(id: 1, name: "desk", mapID: 10, point: MapPoint(x: 5, y: 5)),
            PointOfInterest(id: 2, name: "roof", mapID: 11, point: MapPoint(x: 5, y: 5)),
        ]
        return office
    }

    /// *Start localization*, *Stop localization*, and the complete example of `getStateObservable()`.
    func testTheSampleOfTheStatesShowsEachState() async throws {
        let stage = LocalizerStage(venues: [office])
        let shown = WatchedState<[String]>([])
        let observer = stage.localizer.watch(\.states) { state in
            let text =
                switch state {
                case .idle: "Sdk is in Idle"
                case .started: "Sdk is Started"
                case .searchVenue: "Sdk is searching for a venue"
                case .getPacket(let venueID, _): "Downloading venue \(venueID)..."
                case .findFloor(let venue): "Finding current Floor on venue \(venue.id)..."
                case .localizationRunning(let running):
                    """
                    map \(running.mapID): \(running.tilesPath ?? "-"), \
                    \(running.mapHeight ?? 0) by \(running.mapWidth ?? 0), \
                    \(running.venue.pointsOfInterest(on: running.mapID).map(\.name)) \
                    of \(running.venue.pointsOfInterest.count)
                    """
                case .error(let error): "\(error.code)"
                }
            let isOutdoor = state.isOutdoor.map { $0 ? ", outdoor" : ", indoor" } ?? ""
            shown.update { $0.append(text + isOutdoor) }
        }
        try await stage.run()
        stage.source.fail(SessionStage.credential)
        try await stage.reach("error")
        try await Bounded.wait(for: "the error") { try await shown.wait { $0.last == "credential" } }
        observer.close()
        await stage.localizer.start()
        await stage.localizer.stop()
        XCTAssertEqual(
            shown.value,
            [
                "Sdk is in Idle", "Sdk is Started, outdoor", "Sdk is searching for a venue, outdoor",
                "Downloading venue 1..., indoor", "Downloading venue 1..., indoor",
                "Finding current Floor on venue 1..., indoor",
                #"map 10: tiles/ground.zip, 300 by 400, ["desk"] of 2, indoor"#, "credential",
            ])
    }

    /// *Observe the user position*.
    func testTheSampleOfThePositionsEndsWithItsObserver() async throws {
        let stage = LocalizerStage()
        let log = WatchedState<[String]>([])
        let observer = stage.localizer.watch(\.positions) { position in
            log.update {
                $0.append(
                    """
                    Got indoor position \(position.label ?? "-") (\(position.x), \(position.y)), \
                    on map \(position.mapID) in venue \(position.venueID)
                    """)
            }
        }
        try await stage.run()
        try await Bounded.wait(for: "a position") { try await log.wait { !$0.isEmpty } }
        let line = try XCTUnwrap(log.value.first)
        XCTAssertNotNil(
            line.wholeMatch(of: /Got indoor position (kitchen|-) \([\d.]+, [\d.]+\), on map 10 in venue 1/), line)
        observer.close()
        let count = log.value.count
        let positions = stage.localizer.positions
        for reading in LocalizerStage.walk(from: Self.beginning + 6, for: 2) { stage.source.send(reading) }
        _ = try await Bounded.first(1, of: positions)
        XCTAssertEqual(log.value.count, count)
    }

    /// *Observe the downloaded data*.
    func testTheSampleOfTheDownloadedDataIsOfTheVenueThatSatellitesFind() async throws {
        let satellites = ScriptedSource()
        let stage = LocalizerStage(venues: [office], gnss: satellites)
        let log = WatchedState<[String]>([])
        let observer = stage.localizer.watch(\.downloadedVenues) { venue in
            log.update { $0.append("Downloaded data is \(venue.name)") }
        }
        await stage.localizer.start()
        try await satellites.waitUntilScanning()
        try await stage.reach("searchVenue")
        for second in 0...1 { satellites.send(SessionStage.gnss(52, at: Self.beginning + Double(second))) }
        try await Bounded.wait(for: "the data") { try await log.wait { $0 == ["Downloaded data is office"] } }
        observer.close()
    }

    /// *Observe errors*.
    func testTheSampleOfTheErrorsDistinguishesTheirKinds() async throws {
        struct Broken: Error {}
        let stage = LocalizerStage()
        let log = WatchedState<[String]>([])
        let watcher = stage.localizer.watch(\.errors) { error in
            switch error.code {
            case .credential: log.update { $0.append("log in") }
            case .critical: log.update { $0.append("restart") }
            case .network, .generic: log.update { $0.append(error.message) }
            }
        }
        let failure = LocalizationError(code: .generic, message: "the adapter was reset")
        let failures: [(error: any Error, shown: String)] = [
            (failure, "the adapter was reset"), (SessionStage.credential, "log in"), (Broken(), "restart"),
        ]
        for (number, (error, shown)) in failures.enumerated() {
            await stage.localizer.start()
            try await stage.source.waitUntilScanning(number + 1)
            try await stage.reach("searchVenue")
            stage.source.fail(error)
            try await Bounded.wait(for: shown) { try await log.wait { $0.last == shown } }
            let isOver = await stage.localizer.state.isOver
            XCTAssertEqual(isOver, number > 0, "a generic error does not end the session")
            if number == 0 { await stage.localizer.stop() }
        }
        watcher.close()
        XCTAssertEqual(log.value, failures.map(\.shown))
    }
}
