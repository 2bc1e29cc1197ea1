import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import MQTTSharing
import XCTest

@testable import indoorloc

/// The prefix, interval and limits of sharing on the command line.
final class SharingOptionsTests: XCTestCase {
    private func options(_ words: [String]) throws -> SharingOptions {
        let arguments = try ParsedArguments(["--share", "mqtt://h/r"] + words, syntax: ServeCommand.syntax)
        // Outside the assertion, which would report an error as its own failure.
        let options = try SharingOptions(arguments)
        return try XCTUnwrap(options)
    }

    func testEachSettingComesFromItsOption() throws {
        XCTAssertEqual(try options([]).settings, MQTTSharingSettings())
        let words = [
            "--share-prefix", "plant/a", "--share-interval", "2.5", "--share-room-capacity", "40",
            "--share-server-capacity", "0", "--home-assistant",
        ]
        var settings = MQTTSharingSettings()
        (settings.prefix, settings.interval) = ("plant/a", .seconds(2.5))
        (settings.roomCapacity, settings.serverCapacity) = (40, 0)
        settings.homeAssistantPrefix = "homeassistant"
        XCTAssertEqual(try options(words).settings, settings)
    }

    func testAnInvalidValueIsReportedWithTheAllowedOnes() throws {
        for (option, value, message) in [
            ("--share-prefix", "a/+", "--share-prefix: 'a/+' is not a valid topic prefix: give names"),
            ("--share-prefix", "", "--share-prefix: '' is not a valid topic prefix: give names"),
            ("--share-interval", "-1", "--share-interval must be a number of seconds from 0 to 86400, not '-1'"),
            ("--share-interval", "nan", "--share-interval must be a number of seconds from 0 to 86400, not 'nan'"),
            (
                "--share-room-capacity", "-1",
                "--share-room-capacity must be a whole number from 0 to 1000000, not '-1'"
            ),
            (
                "--share-server-capacity", "2.5",
                "--share-server-capacity must be a whole number from 0 to 1000000, not '2.5'"
            ),
        ] {
            XCTAssertThrowsError(try options([option, value]), option) { error in
                let text = (error as? UsageError)?.message ?? "\(error)"
                XCTAssertTrue(text.hasPrefix(message), text)
            }
        }
    }

    func testAKeyFromKeygenSignsAndItsLineIsTrusted() throws {
        let folder = try temporaryFolder()
        let (key, list) = (folder + "/key", folder + "/trusted")
        let made = try Tool.run(["share", "keygen", "--share-name", "fork lift", key])
        XCTAssertEqual(made.status, 0, made.errors)
        XCTAssertTrue(made.output.hasSuffix(" fork lift\n"), made.output)
        let secret = try String(contentsOfFile: key, encoding: .utf8).split(separator: " ")[1].dropLast()
        XCTAssertFalse((made.output + made.errors).contains(secret))
        let again = try Tool.run(["share", "keygen", key])
        XCTAssertEqual(again.status, 1)
        XCTAssertTrue(again.errors.contains("the file exists"), again.errors)
        try Data(made.output.utf8).write(to: URL(filePath: list))
        let settings = try options([
            "--share-sign-key", key, "--share-trust", list, "--share-require-signatures", "--share-ignore-limits",
        ]).settings
        let own = try XCTUnwrap(settings.signingKey).publicKey
        XCTAssertEqual(settings.trust, SharingTrust([try DeviceID("fork lift"): own], policy: .require))
        XCTAssertFalse(settings.obeysBrokerLimits)
        XCTAssertThrowsError(try options(["--share-require-signatures"])) {
            XCTAssertEqual(($0 as? UsageError)?.message, "--share-require-signatures requires --share-trust")
        }
    }

    func testEachOptionRequiresShare() throws {
        for option in SharingOptions.options where option.name != "share" {
            let words = ["--" + option.name] + (option.argument == nil ? [] : ["1"])
            let arguments = try ParsedArguments(words, syntax: LocateCommand.syntax)
            XCTAssertThrowsError(try SharingOptions(arguments), option.name) { error in
                XCTAssertEqual((error as? UsageError)?.message, "--\(option.name) requires --share")
            }
        }
    }

    func testDevicesWithOnePrefixReceiveEachOthersPositions() throws {
        let address = "mqtt://127.0.0.1:\(try broker().port)/office"
        let prefix = ["--share-prefix", "plant/a"]
        let stranger = try Watcher([address, "--share-name", "stranger"])
        _ = try stranger.line(#"{"type":"occupancy","room":"office","devices":1}"#)
        let service = try ServiceProcess(
            ServiceProcess.walk("one-floor") + prefix + [
                "--state-directory", temporaryFolder(), "--share", address, "--share-name", "walker",
                "--home-assistant", "--share-interval", "0",
            ])
        let watcher = try Watcher([address, "--share-name", "watcher"] + prefix)
        _ = try watcher.line(#"{"type":"occupancy","room":"office","devices":2}"#)
        XCTAssertTrue(try watcher.line(#"{"type":"position""#).contains(#""device":"walker""#))
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0, "\(service.errors)")
        let forget = try Tool.run(["share", "forget", "--share-name", "walker", address] + prefix)
        XCTAssertTrue(
            forget.output.contains("removed plant/a/devices/walker/location\n"), forget.output + forget.errors)
        XCTAssertEqual(try watcher.interrupt(), 0)
        XCTAssertEqual(try stranger.interrupt(), 0)
        let heard = try stranger.remainingLines()
        XCTAssertFalse(heard.contains { $0.contains("walker") || $0.contains(#""devices":2"#) }, "\(heard)")
    }

    func testJoiningAFullRoomReportsTheLimit() throws {
        let address = "mqtt://127.0.0.1:\(try broker().port)/office"
        let first = try Watcher([address, "--share-name", "first"])
        _ = try first.line(#"{"type":"joined""#)
        for (option, what) in [
            ("--share-room-capacity", "the room 'office'"), ("--share-server-capacity", "the server"),
        ] {
            let second = ["share", "watch", address, "--share-name", "second", option]
            let full = try Tool.run(second + ["1"])
            XCTAssertEqual(full.status, 1)
            XCTAssertTrue(full.errors.hasPrefix("indoorloc: \(what) is limited to 1 device: wait"), full.errors)
            XCTAssertTrue(full.errors.contains("(\(option))"), full.errors)
            let free = try Tool.run(second + ["2", "--seconds", "1"])
            XCTAssertEqual(free.status, 0, free.errors)
        }
        XCTAssertEqual(try first.interrupt(), 0)
    }

    func testAServiceJoinsARoomAsSoonAsAPlaceIsFree() async throws {
        let port = try broker().port
        let address = "mqtt://127.0.0.1:\(port)/office"
        let first = try Watcher([address, "--share-name", "first"])
        _ = try first.line(#"{"type":"joined""#)
        let service = try ServiceProcess(
            ServiceProcess.walk("one-floor") + [
                "--state-directory", temporaryFolder(), "--share", address, "--share-name", "walker",
                "--share-room-capacity", "1",
            ])
        try service.waitForError("is limited to 1 device")
        XCTAssertEqual(try first.interrupt(), 0)
        // Observes without joining, so that the place stays free.
        let tracker = try MQTTPositionSharing(MQTTBroker(host: "127.0.0.1", port: port), device: DeviceID("tracker"))
        let events = tracker.events
        try await tracker.connect()
        try await tracker.track("office")
        try await Bounded.wait(for: "the service in the room") {
            for await event in events where event == .occupancy(room: "office", devices: 1) { return }
            throw Bounded.Expired(awaited: "the service in the room")
        }
        await tracker.disconnect()
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0, "\(service.errors)")
    }
}
