import Foundation
import FoundationEssentials
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import TemporaryFiles
import VenuePackets
import XCTest

/// Settings in JSON, with the line of each.
final class SettingsFileTests: XCTestCase {
    private func read(_ text: String) throws -> SettingsFile {
        try SettingsFile(Array(text.utf8), name: "settings.json", source: .file)
    }

    func testDottedAndNestedKeysAreReadWithTheirLines() throws {
        let file = try read(
            """
            {
              "positioning": {
                "method": "fingerprint", "signal.beaconLimit": 3,
                "motion": { "walkingSpeed":
                  1.5 }
              },
              "ble.scan.interval-msec": 7500, "list": [{"a": 1}, "}"],

              "forcedVenue": null, "p\\u006f\\"int": "a\\nb"
            }
            """)
        XCTAssertEqual(
            file.entries,
            [
                SettingsEntry(key: "positioning.method", value: "fingerprint", place: "settings.json:3"),
                SettingsEntry(key: "positioning.signal.beaconLimit", value: 3, place: "settings.json:3"),
                SettingsEntry(key: "positioning.motion.walkingSpeed", value: 1.5, place: "settings.json:4"),
                SettingsEntry(key: "ble.scan.interval-msec", value: 7500, place: "settings.json:7"),
                SettingsEntry(key: "list", value: .array([.object(["a": 1]), "}"]), place: "settings.json:7"),
                SettingsEntry(key: "forcedVenue", value: .null, place: "settings.json:9"),
                SettingsEntry(key: "po\"int", value: "a\nb", place: "settings.json:9"),
            ])
        XCTAssertEqual(file.problems, [])
    }

    func testADuplicateSettingIsReportedWithItsSecondLine() throws {
        let file = try read(
            """
            {"areaDwell": 1,
             "scanner": {"dutyCycle": {"scanDuration": 3}},
             "areaDwell": 1,
             "ble": {"scan": {"duration-msec": 3000}}}
            """)
        XCTAssertEqual(
            file.problems.map(\.description),
            [
                "settings.json:3: areaDwell is set twice, for example dotted and nested, or by an alias; set it once",
                "settings.json:4: ble.scan.duration-msec is set twice, for example dotted and nested, or by an alias; "
                    + "set it once",
            ])
        XCTAssertEqual(file.entries.map(\.key), ["areaDwell", "scanner.dutyCycle.scanDuration"])
    }

    func testAllProblemsOfAFileAreReportedInOnePassWithFileAndLine() throws {
        let file = try read("{\n\"areaDwel\": 1,\n\"areaDwell\": -1,\n\"rssiThreshold\": 1e999\n,\"floor\": 3}")
        var settings = SettingsStack()
        XCTAssertEqual(
            settings.load(file.entries, from: .file).map(\.description),
            [
                "settings.json:2: there is no setting areaDwel; did you mean areaDwell?",
                "settings.json:3: areaDwell must be in [0, 86400] s, not -1",
                "settings.json:4: rssiThreshold must be in [-127, 0] dBm, not inf",
                "settings.json:5: there is no setting floor; 'indoorloc config keys' lists them all",
            ])
    }

    func testTheErrorOfAFileThatIsNotAJSONObjectNamesTheRemedy() {
        for (text, message) in [
            ("{\"a\": }", "settings.json: is not JSON at line 1, column 7; correct it there"),
            ("[1]", "settings.json: is an array; give an object with settings"),
            ("", "settings.json: is not JSON at line 1, column 1; correct it there"),
        ] {
            XCTAssertThrowsError(try read(text), text) { XCTAssertEqual("\($0)", message) }
        }
        XCTAssertThrowsError(try read(String(repeating: " ", count: 1_048_577))) {
            XCTAssertEqual("\($0)", "settings.json: is longer than 1 MiB; give a shorter file")
        }
        XCTAssertThrowsError(try SettingsFile(path: "/nowhere/settings.json")) {
            XCTAssertEqual("\($0)", "/nowhere/settings.json: cannot be read: No such file or directory")
        }
    }

    func testAnEmptyObjectHasNoSettings() throws {
        XCTAssertEqual(try read(" { } ").entries, [])
        XCTAssertEqual(try read("{\"floor\": {}, \"areaDwell\": 2}").entries.map(\.key), ["areaDwell"])
    }

    func testTheReferencesFileIsReadUnchanged() throws {
        let file = try read(
            """
            {
              "ble": {
                "scan": {
                  "duration-msec": 10000,
                  "interval-msec": 90000,
                  "interval-x-factor": 2
                }
              },
              "dtn": {
                "use-cellular": false
              }
            }
            """)
        var settings = SettingsStack()
        XCTAssertEqual(settings.load(file.entries, from: .file), [])
        settings.apply()
        XCTAssertEqual(
            settings.resolved.scanner.dutyCycle,
            DutyCycle(scanDuration: .seconds(10), interval: .seconds(90), intervalFactor: 2))
        XCTAssertEqual(try settings.setting("dtn.use-cellular").value, false)
        XCTAssertEqual(try settings.setting("dtn.use-cellular").place, "settings.json:10")
    }

    func testTheReferencesTreeOfTwoScannersIsReadUnchanged() throws {
        let file = try read(
            """
            {"ble": {"enable": true, "scan": {
               "background": 2, "duration-ios-cl-msec": 3000, "interval-ios-cl-msec": 4000, "interval-ios-cl-x-factor": 5,
               "duration-msec": 20000, "interval-msec": 90000}, "stat": {"report-interval-msec": 86400000}},
             "cell": {"scan": {"interval-msec": 50000}}, "core": {"heartbeat": {"history": 50}},
             "cron": {"check-network-interval-msec": 30000, "check-heartbeat-interval-msec": 30000, "ios-bg-mode": 0,
               "ios-bt-refresh-sec": 300, "pull-config-interval-msec": 300000},
             "heartbeat": {"resolution-h3": 7}, "id": {"expire-sec": -1},
             "location": {"min-interval-msec": 30000, "fix-timeout-msec": 15000}}
            """)
        var settings = SettingsStack()
        XCTAssertEqual(file.problems, [])
        XCTAssertEqual(settings.load(file.entries, from: .file), [])
        settings.apply()
        // Keys of only the other scanner take effect as well.
        XCTAssertEqual(
            settings.resolved.scanner.dutyCycle,
            DutyCycle(scanDuration: .seconds(20), interval: .seconds(90), intervalFactor: 5))
        XCTAssertEqual(settings.resolved.heartbeat.interval, .seconds(30))
        XCTAssertEqual(settings.resolved.heartbeat.history, 50)
    }
}

/// Settings pulled from a real nginx.
final class RemoteSettingsTests: XCTestCase {
    private func write(_ text: String, to root: String) throws {
        // Renamed into place with a time of its own, so that nginx gives it a tag of its own.
        try Data(text.utf8).write(to: URL(filePath: root + "/settings.json"), options: .atomic)
    }

    /// Lets the next alarm of the clock ring.
    private func ring(_ clock: ManualClock) async throws {
        clock.advance(to: try await Bounded.wait(for: "the alarm") { try await clock.waitForSleeper() })
    }

    /// The next update of the server's settings.
    private func next(_ updates: AsyncStream<RemoteSettings.Update>) async throws -> RemoteSettings.Update {
        try await Bounded.first(1, of: updates)[0]
    }

    func testSettingsAreFetchedWhenTheyChangeAndABrokenDocumentRemovesNone() async throws {
        let root = try temporaryFolder()
        try write("{\"areaDwell\": 4}", to: root)
        let server = try nginx(serving: root)
        let clock = ManualClock()
        let remote = RemoteSettings(try awaitedServer(server.url()), clock: clock, seed: 1)
        let updates = remote.updates()
        let place = server.url() + "/settings.json:1"
        let first = try await next(updates)
        XCTAssertEqual(first, .settings([SettingsEntry(key: "areaDwell", value: 4, place: place)]))
        try await ring(clock)
        // Unchanged: nothing is emitted, but the next alarm is set.
        _ = try await Bounded.wait(for: "the alarm") { try await clock.waitForSleeper() }
        try write("{\"areaDwell\": ", to: root)
        try await ring(clock)
        guard case .failure(let error) = try await next(updates) else { return XCTFail("a broken document counts") }
        XCTAssertEqual(error.code, .generic)
        XCTAssertTrue(error.message.hasPrefix("\(server.url())/settings.json: is not JSON at line 1"), "\(error)")
        try write("{\"areaDwell\": 55}", to: root)
        try await ring(clock)
        let second = try await next(updates)
        XCTAssertEqual(second, .settings([SettingsEntry(key: "areaDwell", value: 55, place: place)]))
        var settings = SettingsStack()
        guard case .settings(let entries) = second else { return }
        XCTAssertEqual(settings.load(entries, from: .remote), [])
        settings.apply()
        XCTAssertEqual(try settings.setting("areaDwell").source, .remote)
        XCTAssertEqual(settings.resolved.localization.areaDwell, .seconds(55))
        let requests = try server.stopAndTellRequests()
        XCTAssertEqual(requests.map(\.status), [200, 304, 200, 200])
        XCTAssertEqual(requests.first?.unless, "")
        XCTAssertTrue(requests.dropFirst().allSatisfy { !$0.unless.isEmpty })
    }

    func testAnUnreachableServerIsANetworkErrorAndARefusalACredentialError() async throws {
        let refusing = try nginx(
            serving: try temporaryFolder(), NginxServer.Configuration(server: "", location: "return 401;"))
        let updates = RemoteSettings(try awaitedServer(refusing.url()), clock: ManualClock()).updates()
        guard case .failure(let refusal) = try await next(updates) else { return XCTFail("no refusal") }
        XCTAssertEqual(refusal.code, .credential)
        refusing.stop()
        let later = RemoteSettings(try awaitedServer(refusing.url()), clock: ManualClock()).updates()
        guard case .failure(let away) = try await next(later) else { return XCTFail("no failure") }
        XCTAssertEqual(away.code, .network)
    }
}
