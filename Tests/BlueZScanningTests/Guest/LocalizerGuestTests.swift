import BlueZScanning
import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import VenuePackets
import XCTest

/// From bytes on the air to positions: a walk through the office, in real time.
final class LocalizerGuestTests: GuestTestCase {
    func testTheLocalizerFollowsAWalkOverTheRawRoute() async throws {
        let walk = try OfficeWalk("one-floor", seed: 101)
        let controller = try await pluggedIn()
        let capture = try await capturing(to: "walk-legacy.btsnoop")
        let outcome = try await localize(walk, over: HCIScanSource(), playing: controller)
        try assertGood(outcome, walk)
        XCTAssertEqual(controller.tally.reported, walk.schedule.count)
        try await assertComplete(capture, walk)
    }

    func testTheLocalizerFollowsAWalkThroughBluetoothd() async throws {
        let walk = try OfficeWalk("one-floor", seed: 101)
        let controller = try await pluggedIn()
        let services = try await services()
        try await services.waitForPower(true, of: controller)
        let outcome = try await localize(walk, over: BlueZScanSource(), playing: controller)
        try assertGood(outcome, walk)
    }
}

/// The same with the extended advertisements of Bluetooth 5, including long ones.
final class ExtendedLocalizerGuestTests: GuestTestCase {
    func testTheLocalizerFollowsAWalkAmongExtendedAdvertisers() async throws {
        let walk = try OfficeWalk("one-floor", seed: 101, isExtended: true)
        let controller = try await pluggedIn(.bluetooth5)
        let capture = try await capturing(to: "walk-extended.btsnoop")
        let outcome = try await localize(walk, over: HCIScanSource(content: .everything), playing: controller)
        try assertGood(outcome, walk)
        XCTAssertEqual(controller.tally.reported, walk.schedule.count)
        try await assertComplete(capture, walk)
    }
}

/// A scanner with a real radio: the duty cycle, and region entries and exits.
final class BeaconScannerGuestTests: GuestTestCase {
    func testTheRadioRestsBetweenPassesAndUsesTheTimingOfThePowerMode() async throws {
        let controller = try await pluggedIn()
        var settings = ScannerSettings(powerMode: .aggressive)
        settings.dutyCycle = DutyCycle(scanDuration: .seconds(1), interval: .seconds(1))
        let scanner = BeaconScanner(source: HCIScanSource(), settings: settings)
        await scanner.start()
        for pass in 1...2 {
            try await controller.waitForScan()
            XCTAssertEqual(controller.scan.window, 48, "30 ms, in pass \(pass)")
            XCTAssertEqual(controller.scan.interval, 96, "60 ms, in pass \(pass)")
            try await controller.waitForScan(false)
        }
        await scanner.stop()
        let isScanning = await scanner.isScanning
        XCTAssertFalse(isScanning)
    }

    func testARegionIsEnteredAndLeftAndItsBeaconsAreRanged() async throws {
        let controller = try await pluggedIn()
        var settings = ScannerSettings(dutyCycle: .continuous)
        settings.regions.exitTimeout = .seconds(2)
        let scanner = BeaconScanner(source: HCIScanSource(), settings: settings)
        let kinds = WatchedState<[RegionEvent.Kind]>([])
        let ranged = WatchedState<[RegionRanging]>([])
        let observations = [
            scanner.watch(\.regionEvents) { event in kinds.update { $0.append(event.kind) } },
            scanner.watch(\.rangings) { ranging in ranged.update { $0.append(ranging) } },
        ]
        await scanner.track(BeaconRegion(uuid: BeaconSeries.uuid), id: "series")
        await scanner.start()
        try await controller.waitForScan()
        controller.hear([BeaconSeries.transmission(0), BeaconSeries.transmission(1)])
        try await Bounded.waitInGuest(for: "entry and exit") { try await kinds.wait { $0.count >= 2 } }
        await scanner.stop()
        XCTAssertEqual(kinds.value, [.enter, .exit])
        let first = try XCTUnwrap(ranged.value.first)
        XCTAssertEqual(first.regionID, "series")
        withExtendedLifetime(observations) {}
    }
}

/// The command line with a real radio: its output, its recordings, and the state of the adapter afterwards.
final class CommandLineGuestTests: GuestTestCase {
    private func tool(_ arguments: [String]) throws -> GuestProcess {
        let program = URL(filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        return try GuestProcess(program.deletingLastPathComponent().appending(path: "indoorloc").path, arguments)
    }

    private func file(_ name: String) throws -> String {
        try Guest.folder().appending(path: "\(UUID().uuidString)-\(name)").path
    }

    private func waitForScan(_ tool: GuestProcess) async throws {
        try await tool.wait(for: "a scan") { lines in
            lines.contains { $0.contains(#""status":"scanning""#) || $0.contains(#""status":"sharing""#) }
        }
    }

    /// Returns the numbers of the series in a recording, in order.
    private func numbers(in path: String) throws -> [Int?] {
        var numbers: [Int?] = []
        if BTSnoopReader.isCapture(path: path) {
            var reader = try BTSnoopReader(path: path)
            while let reading = try reader.next() {
                guard case .advertisement(let advertisement) = reading else { continue }
                numbers.append(try advertisement.sighting().flatMap(BeaconSeries.number))
            }
            return numbers
        }
        var reader = try RecordingReader(path: path)
        while let entry = try reader.next() {
            if case .measurement(.sighting(let sighting)) = entry { numbers.append(BeaconSeries.number(of: sighting)) }
        }
        return numbers
    }

    func testScanPrintsAndRecordsWhatWasSentAndRestoresTheAdapter() async throws {
        for (name, signal) in [("scan.jsonl.gz", SIGINT), ("scan.btsnoop", SIGTERM)] {
            let controller = try await pluggedIn(.bluetooth5)
            let path = try file(name)
            let tool = try tool(["scan", "--adapter", controller.name, "--record", path])
            try await waitForScan(tool)
            controller.hear((0..<100).map(BeaconSeries.transmission))
            try await tool.wait(for: "100 beacons") { lines in lines.count { $0.contains(#""type":"beacon""#) } >= 100 }
            try await tool.end(signal)
            XCTAssertEqual(tool.output.value.status, 0, "\(tool.output.value.lines.suffix(5))")
            XCTAssertTrue(tool.output.value.lines.contains { $0.hasPrefix("indoorloc: hci: ") })
            XCTAssertEqual(try numbers(in: path), Array(0..<100), name)
            try await controller.waitForScan(false)
            try await controller.unplug()
        }
    }

    func testScanUsesTheServiceOnRequest() async throws {
        let controller = try await pluggedIn()
        _ = try await services()
        let tool = try tool(["scan", "--route", "dbus"])
        try await waitForScan(tool)
        controller.hear([BeaconSeries.transmission(3)])
        try await tool.wait(for: "a beacon") { lines in lines.contains { $0.contains(#""minor":3"#) } }
        try await tool.end(SIGINT)
        XCTAssertEqual(tool.output.value.status, 0)
        try await controller.waitForScan(false)
    }

    func testRegionEntriesAndExitsAreReportedLive() async throws {
        let controller = try await pluggedIn()
        let tool = try tool([
            "regions", "watch", "--region", "series=\(BeaconSeries.uuid)", "--rangings", "--set",
            "scanner.regions.exitTimeout=2",
        ])
        try await tool.wait(for: "a scan") { lines in lines.contains { $0.contains("\(controller.name) scans") } }
        controller.hear([BeaconSeries.transmission(0), BeaconSeries.transmission(1)])
        try await tool.wait(for: "an exit") { lines in lines.contains { $0.contains(#""event":"exit""#) } }
        try await tool.end(SIGINT)
        XCTAssertEqual(tool.output.value.status, 0, "\(tool.output.value.lines.suffix(5))")
        let lines = tool.output.value.lines
        XCTAssertEqual(lines.count { $0.contains(#""event":"enter","region":"series""#) }, 1, "\(lines)")
        XCTAssertTrue(lines.contains { $0.contains(#""type":"ranging""#) }, "\(lines)")
        try await controller.waitForScan(false)
    }

    func testScanListsTheAdapters() async throws {
        let controller = try await pluggedIn()
        let tool = try tool(["scan", "--list"])
        let status = try await tool.waitForEnd()
        XCTAssertEqual(status, 0)
        let lines = tool.output.value.lines
        XCTAssertEqual(lines.count, 1, "\(lines)")
        XCTAssertTrue(lines.allSatisfy { $0.hasPrefix(controller.name + " ") }, "\(lines)")
    }

    func testLocatePrintsPositionsAndItsRecordingReplays() async throws {
        let walk = try OfficeWalk("one-floor", seed: 103)
        let controller = try await pluggedIn()
        let office = try FixtureFolder("office").path
        let path = try file("walk.jsonl")
        let tool = try tool(["locate", "--venue", office, "--route", "hci", "--record", path])
        try await controller.waitForScan()
        try await controller.play(walk.schedule.filter { $0.at < 10 })
        try await tool.wait(for: "five positions") { lines in
            lines.count { $0.contains(#""type":"position""#) } >= 5
        }
        try await tool.end(SIGINT)
        XCTAssertEqual(tool.output.value.status, 0, "\(tool.output.value.lines.suffix(5))")
        let replay = try self.tool(["replay", "--venue", office, path])
        try await replay.waitForEnd()
        let replayed = replay.output.value.lines.count { $0.contains(#""type":"position""#) }
        XCTAssertGreaterThanOrEqual(replayed, 5, "\(replay.output.value.lines.suffix(5))")
    }
}

/// The result of a walk over the air.
struct WalkOutcome {
    var positions: [Position]
    var errors: [LocalizationError]
    var score: TrackScore
}

extension GuestTestCase {
    /// Plays a walk over the air to a localizer and returns the result.
    func localize(
        _ walk: OfficeWalk, over source: some ScanSource, playing controller: VirtualController
    ) async throws -> WalkOutcome {
        let localizer = Localizer(source: source, venues: LocalVenueSource(paths: [try FixtureFolder("office").path]))
        let positions = WatchedState<[Position]>([])
        let errors = WatchedState<[LocalizationError]>([])
        let observations = [
            localizer.watch(\.positions) { position in positions.update { $0.append(position) } },
            localizer.watch(\.errors) { error in errors.update { $0.append(error) } },
        ]
        await localizer.start()
        try await controller.waitForScan()
        let start = Guest.present
        try await controller.play(walk.schedule)
        try await Bounded.waitInGuest(for: "a position at the walk's end") {
            let end = start.advanced(by: .seconds(walk.duration - 1))
            try await positions.wait { ($0.last?.instant ?? .zero) >= end }
        }
        await localizer.stop()
        withExtendedLifetime(observations) {}
        return WalkOutcome(
            positions: positions.value, errors: errors.value, score: walk.score(positions.value, start: start))
    }

    /// Fails unless the positions are about as good as those of a session that gets the same sightings directly.
    func assertGood(_ outcome: WalkOutcome, _ walk: OfficeWalk, line: UInt = #line) throws {
        let best = walk.replayedScore()
        let (score, median) = (outcome.score, try XCTUnwrap(outcome.score.median))
        let bestMedian = try XCTUnwrap(best.median)
        let meters: (Double?) -> String = { $0.map { "\(($0 * 100).rounded() / 100) m" } ?? "none" }
        print(
            "| \(name): median error \(meters(median)), p90 \(meters(score.p90)); "
                + "from direct sightings \(meters(bestMedian)), \(meters(best.p90))")
        XCTAssertGreaterThan(score.count, 15, line: line)
        XCTAssertGreaterThanOrEqual(try XCTUnwrap(score.answered), 0.95, line: line)
        XCTAssertGreaterThanOrEqual(try XCTUnwrap(score.floor), 0.95, line: line)
        // Half a metre for the transmission over the air: the clock ticks at other instants, which changes the random
        // numbers.
        XCTAssertLessThan(median, bestMedian + 0.5, "metres", line: line)
        XCTAssertLessThan(try XCTUnwrap(score.p90), 4, "metres", line: line)
        XCTAssertEqual(outcome.errors.map(\.message), [], line: line)
    }

    /// Starts a capture with btmon.
    func capturing(to name: String) async throws -> GuestServices {
        let services = try plainServices()
        try await services.startMonitor(capturingTo: name)
        return services
    }

    /// Ends a capture, and fails unless it contains what was sent.
    func assertComplete(_ services: GuestServices, _ walk: OfficeWalk, line: UInt = #line) async throws {
        let reports = walk.schedule.reduce(0) { count, sent in
            let fragments = (sent.transmission.data.count - 1) / AdvertisingPackets.longestFragment + 1
            return count + fragments
        }
        try await services.waitForMonitor("\(reports) reports") { lines in
            GuestServices.reportLines(of: lines).count { $0.contains("  RSSI: -") } >= reports
        }
        let path = try await services.endMonitor().path
        var reader = try BTSnoopReader(path: path)
        let captured = try reader.readAll().compactMap { reading -> Transmission? in
            guard case .advertisement(let heard) = reading else { return nil }
            return Transmission(address: heard.address, rssi: Int8(heard.rssi), data: heard.data)
        }
        let sent = walk.schedule.map {
            Transmission(address: $0.transmission.address, rssi: $0.transmission.rssi, data: $0.transmission.data)
        }
        XCTAssertEqual(captured.count, sent.count, line: line)
        XCTAssertTrue(captured == sent, "the capture differs from what was sent", line: line)
    }
}

/// A simulated walk through the office of the fixtures, as transmissions.
struct OfficeWalk {
    let venue: Venue
    /// The transmissions with their times, in seconds from the start of the walk.
    let schedule: [(at: Double, transmission: Transmission)]
    /// The same walk as readings of a source, with instants counted from the start of the walk.
    let sightings: [Sighting]
    /// The ground truth, with instants counted from the start of the walk.
    let truths: [Truth]
    /// The duration of the walk in seconds.
    let duration: Double

    /// Simulates a walk of `Fixtures/office/paths`.
    ///
    /// - Parameter isExtended: Whether all advertisements are extended, with an additional long one once a second.
    init(_ name: String, seed: UInt64, isExtended: Bool = false) throws {
        venue = try VenuePacketReader().read(FixtureFolder("office").path).venue
        let path = try FixtureFolder("office/paths").file(name + ".json")
        var script = try WalkScript(json: try Data(contentsOf: URL(filePath: path)))
        // Only beacons are sent over the air.
        try script.settings.set("sensors.motionRate", to: .number(0))
        let simulator = try WalkSimulator(venue: venue, script: script, seed: seed)
        duration = simulator.duration.seconds
        var sightings: [Sighting] = []
        var truths: [Truth] = []
        for entry in simulator.entries() {
            switch entry {
            case .truth(let truth): truths.append(truth)
            case .measurement(.sighting(let sighting)): sightings.append(sighting)
            default: break
            }
        }
        self.sightings = sightings
        self.truths = truths
        let beacons = sightings.map { sighting in
            var transmission = Transmission.iBeacon(
                sighting.beacon.uuid, major: sighting.beacon.major, minor: sighting.beacon.minor,
                rssi: Int8(sighting.rssi.rounded()))
            transmission.isExtended = isExtended
            return (at: sighting.instant.seconds, transmission: transmission)
        }
        let others = isExtended ? (0..<Int(duration)).map { (at: Double($0), transmission: Self.long) } : []
        schedule = (beacons + others).sorted { $0.at < $1.at }
    }

    /// An advertisement with three fragments, of an unassigned company.
    static let long = Transmission(
        address: DeviceAddress(rawValue: 0xC0FF_EE00_0001, kind: .random), rssi: -77,
        data: (0..<3).flatMap { [172, 0xFF, 0xFF, 0xFF, $0] + [UInt8](repeating: 0x55, count: 168) })

    /// Returns the score of positions against the ground truth.
    ///
    /// - Parameter start: The start of the walk on the timeline of the positions.
    func score(_ positions: [Position], start: Instant) -> TrackScore {
        var scorer = TrackScorer(venue: venue)
        let shifted = positions.map { position in
            var position = position
            position.instant = Instant.zero.advanced(by: start.duration(to: position.instant))
            return position
        }
        scorer.add(truths: truths, end: Instant(seconds: duration), positions: shifted)
        return scorer.score
    }

    /// Returns the score of a session that gets every sighting without delay: the best possible score.
    func replayedScore(seed: UInt64 = 0) -> TrackScore {
        var replay = SessionReplay(venues: [venue], seed: seed)
        var outputs = replay.start()
        for sighting in sightings { outputs += replay.handle(.sighting(sighting)) }
        outputs += replay.finish()
        let positions = outputs.compactMap { output -> Position? in
            if case .position(let position) = output.content { position } else { nil }
        }
        return score(positions, start: .zero)
    }
}
