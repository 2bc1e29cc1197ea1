import IndoorLocalization
import IndoorLocalizationTesting
import TemporaryFiles
import VenuePackets
import XCTest

/// The samples of Crownstone's document *Bluenet Localization*, with the calls that its users replace them by.
final class CrownstoneSampleTests: XCTestCase {
    private static let uuid = "7C2F0A10-0000-4000-8000-000000000010"

    private static func beacon(_ minor: UInt16) -> BeaconIdentity {
        let uuid = BeaconUUID(high: 0x7C2F_0A10_0000_4000, low: 0x8000_0000_0000_0010)
        return BeaconIdentity(uuid: uuid, major: 1, minor: minor)
    }

    /// Three beacons, received half a second before a ranging: in the kitchen the first is the strongest, in the hall
    /// the last.
    private static func heard(in room: String, before second: Double) -> [SensorReading] {
        (1...UInt16(3)).map { minor in
            let isClose = minor == (room == "kitchen" ? 1 : 3)
            return .sighting(
                Sighting(
                    instant: Instant(seconds: second - 0.5), beacon: beacon(minor), rssi: isClose ? -50 : -80,
                    measuredPower: -59))
        }
    }

    /// *Getting Started*, and the example of `on("enterRegion")`.
    func testTheSampleOfSubscribingEndsWithItsClosure() async throws {
        let source = ScriptedSource()
        let localization = BeaconScanner(source: source, clock: ManualClock())
        let entered = WatchedState<[String]>([])
        let subscription = localization.watch(\.regionEvents) { event in
            if event.kind == .enter { entered.update { $0.append(event.regionID) } }
        }
        let isTracked = try await localization.track(uuid: Self.uuid, id: "home")
        XCTAssertTrue(isTracked)
        await localization.start()
        try await Bounded.wait(for: "the scan") { try await source.waitForScans() }
        Self.heard(in: "kitchen", before: 1).forEach(source.send)
        try await Bounded.wait(for: "the entry") { try await entered.wait { !$0.isEmpty } }
        // A while later.
        subscription.close()
        subscription.close()
        let events = localization.regionEvents
        await localization.forgetPresence()
        Self.heard(in: "kitchen", before: 2).forEach(source.send)
        _ = try await Bounded.elements(of: events, until: "the next entry") { $0.kind == .enter }
        XCTAssertEqual(entered.value, ["home"], "the callback was not invoked again")
        let wasTracked = await (
            localization.stopTracking(BeaconRegion(uuid: Self.beacon(1).uuid)), localization.stopTracking(Self.uuid)
        )
        XCTAssertEqual("\(wasTracked)", "(true, false)", "a UUID is not the name of a region")
    }

    /// The `TrainingHelper`, whose result is a string, and the topics of the trained rooms.
    func testTheSampleOfTrainingYieldsTheDocumentThatTheClassifierReads() async throws {
        var documents: [String: [UInt8]] = [:]
        for room in ["kitchen", "hall"] {
            let source = ScriptedSource((1...30).flatMap { Self.heard(in: room, before: Double($0)) })
            let localization = BeaconScanner(source: source)
            try await localization.track(uuid: Self.uuid, id: "home")
            await localization.train(room: room, in: "home") { $0.seconds }
            await localization.pauseTraining()
            await localization.resumeTraining()
            let passes = localization.scanEvents
            await localization.start()
            _ = try await Bounded.elements(of: passes, until: "the end") { $0.kind == .stopped }
            let finished = await localization.finishTraining()
            let bytes = TrainingDocument.bytes(of: try XCTUnwrap(finished))
            let text = String(decoding: bytes, as: UTF8.self)
            XCTAssertTrue(text.hasPrefix("[{\"devices\": {\"\(Self.uuid)_Maj:1_Min:1\": -"), text)
            documents[room] = bytes
            await localization.train(room: room, in: "home") { $0.seconds }
            await localization.abortTraining()
            let aborted = await localization.finishTraining()
            XCTAssertNil(aborted)
        }

        var training = RoomTrainingSet()
        for (room, bytes) in documents { training.add(try TrainingDocument.read(bytes, named: room), to: room) }
        let walk = (1...60).flatMap { Self.heard(in: $0 <= 30 ? "kitchen" : "hall", before: Double($0)) }
        let localization = BeaconScanner(source: ScriptedSource(walk))
        try await localization.track(uuid: Self.uuid, id: "home")
        await localization.insertClassifier(NearestNeighborClassifier(training), for: "home")
        await localization.startRooms()
        let topics = WatchedState<[String]>([])
        let subscription = localization.watch(\.roomEvents) { event in
            topics.update { $0.append("\(event.kind) \(event.regionID) \(event.room)") }
        }
        await localization.start()
        try await Bounded.wait(for: "the hall") { try await topics.wait { $0.contains("current home hall") } }
        subscription.close()
        let changes = topics.value.filter { !$0.hasPrefix("current") }
        XCTAssertEqual(changes.prefix(3), ["enter home kitchen", "exit home kitchen", "enter home hall"])
    }
}

/// The samples of Nodle's document *API and Configuration*, with the calls that its users replace them by.
///
/// `registerNodleBackgroundTask()` and `scheduleNodleBackgroundTask()` have no counterpart: Linux suspends no process.
final class NodleSampleTests: XCTestCase {
    private let beacon = BeaconIdentity(uuid: BeaconUUID(high: 0x7C2F, low: 0x10), major: 3, minor: 4)

    /// *start*, *isStarted*, *isScanning*, *stop* and *getVersion*.
    func testTheSampleOfStartingAndStopping() async throws {
        let (source, clock) = (ScriptedSource(), ManualClock())
        let nodle = BeaconScanner(source: source, settings: SettingsStack().resolved.scanner, clock: clock)
        let before = await (nodle.isStarted, nodle.isScanning)
        XCTAssertEqual("\(before)", "(false, false)")
        await nodle.start()
        let during = await (nodle.isStarted, nodle.isScanning)
        XCTAssertEqual("\(during)", "(true, true)")
        let passes = nodle.scanEvents
        let end = try await Bounded.wait(for: "an alarm") { try await clock.waitForSleeper() }
        clock.advance(to: end)
        _ = try await Bounded.first(1, of: passes)
        let resting = await (nodle.isStarted, nodle.isScanning)
        XCTAssertEqual("\(resting)", "(true, false)")
        await nodle.stop()
        let after = await (nodle.isStarted, nodle.isScanning)
        XCTAssertEqual("\(after)", "(false, false)")
        XCTAssertFalse(PackageVersion.current.isEmpty)
    }

    /// Both samples of *getEvents*: that of NodleSDK, and that of NodleSDKWCB.
    func testTheSamplesOfEventsTellPayloadsBetweenStartAndStop() async throws {
        let frame = BeaconFrame(format: .iBeacon, beacon: beacon, measuredPower: -59)
        let advertisement = Advertisement(
            instant: Instant(seconds: 1), address: DeviceAddress(rawValue: 0x1234), rssi: -60,
            data: try frame.advertisingData())
        let source = ScriptedSource([.advertisement(advertisement)])
        source.wallClock = WallClock(timeOfZero: .seconds(1_700_000_000))
        let nodle = BeaconScanner(source: source)
        let log = WatchedState<[String]>([])
        let events = nodle.watch(\.events) { event in
            let line =
                switch event.content {
                case .scan(let pass): pass.kind == .started ? "started searching" : "stopped searching"
                case .advertisement(let record):
                    "payload of \(record.address): \(record.rssi), \(record.data.count) bytes, "
                        + "\(record.manufacturerData.keys.sorted()), \(record.serviceUUIDs)"
                case .beacon(let record):
                    "iBeacon \(record.beacon.uuid) major: \(record.beacon.major) minor: \(record.beacon.minor) "
                        + "\(record.proximity?.rawValue ?? "unknown") at \(record.unixTime?.milliseconds ?? 0)"
                }
            log.update { $0.append(line) }
        }
        await nodle.start()
        try await Bounded.wait(for: "the end") { try await log.wait { $0.last == "stopped searching" } }
        events.close()
        XCTAssertEqual(
            log.value,
            [
                "started searching", "payload of \(advertisement.address): -60.0, 30 bytes, [76], []",
                "iBeacon \(beacon.uuid) major: 3 minor: 4 near at 1700000001000", "stopped searching",
            ])
    }

    /// *config* with the document's file and keys, and *clear*.
    func testTheSampleOfConfigurationReadsTheFileAndSetsKeys() throws {
        let folder = try temporaryFolder()
        let text = """
            {
              "ble": {
                "scan": {
                  "duration-msec": 10000,
                  "interval-msec": 90000,
                  "interval-x-factor": 1
                }
              },
              "dtn": {
                "use-cellular": false
              }
            }
            """
        try write(["config.json": text], to: folder)
        var settings = SettingsStack()
        let file = try SettingsFile(path: folder + "/config.json")
        XCTAssertEqual(file.problems + settings.load(file.entries, from: .file), [])
        try settings.override("dtn.use-cellular", false)
        try settings.override("cron.ios-bg-mode", 0)
        settings.apply()
        XCTAssertEqual(
            settings.resolved.scanner.dutyCycle, DutyCycle(scanDuration: .seconds(10), interval: .seconds(90)),
            "the keys of ble.scan take precedence over the mode")
        XCTAssertEqual(try settings.setting("dtn.use-cellular").value, false)
        settings.clear()
        settings.apply()
        XCTAssertEqual(settings.resolved, ResolvedSettings())
    }
}
