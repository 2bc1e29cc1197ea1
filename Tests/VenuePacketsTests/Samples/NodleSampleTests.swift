import IndoorLocalization
import IndoorLocalizationTesting
import VenuePackets
import XCTest

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
