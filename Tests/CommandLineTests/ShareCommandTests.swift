import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import MQTTSharing
import ScanRecording
import VenuePackets
import XCTest

@testable import indoorloc

/// Sharing through a real broker.
final class ShareCommandTests: XCTestCase {
    /// The first seconds of a walk.
    private func walk() throws -> [SensorReading] {
        var reader = try RecordingReader(path: try FixtureFolder("recordings/one-floor").file("scan.jsonl.gz"))
        var readings: [SensorReading] = []
        while let entry = try reader.next(), readings.count < 1500 {
            if case .measurement(let reading) = entry { readings.append(reading) }
        }
        return readings
    }

    func testShareWatchPrintsThePositionsOfLocate() async throws {
        let broker = try broker()
        let address = "mqtt://127.0.0.1:\(broker.port)/office"
        let watcher = try Watcher([address, "--share-name", "watcher"])
        XCTAssertEqual(try watcher.line(#"{"type":"joined""#), #"{"type":"joined","room":"office"}"#)
        _ = try watcher.line(#"{"type":"occupancy","room":"office","devices":1}"#)
        let words = ["--venue", "unused", "--share", address, "--share-name", "walker", "--home-assistant"]
        let locate = try LocateCommand(ParsedArguments(words, syntax: LocateCommand.syntax))
        let (venue, radio) = (try VenuePacketReader().read(try FixtureFolder("office").path).venue, ScriptedSource())
        let locating = Task { try await locate.locate(in: venue, radio) }
        try await Bounded.wait(for: "the scan") { try await radio.waitForScans() }
        for reading in try walk() { radio.send(reading) }
        // The radio stays on until the tool has connected to the broker.
        _ = try watcher.line(#"{"type":"occupancy","room":"office","devices":2}"#)
        let line = try watcher.line(#"{"type":"position""#)
        radio.finish()
        try await Bounded.wait(for: "the end") { try await locating.value }
        let object = try XCTUnwrap(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        XCTAssertEqual(object["device"] as? String, "walker")
        XCTAssertEqual(object["room"] as? String, "office")
        XCTAssertNotNil(object["level"], "the command knows the venue")
        XCTAssertNotNil(object["x"] as? Double)
        _ = try watcher.line(#"{"type":"occupancy","room":"office","devices":1}"#)
        XCTAssertEqual(try watcher.interrupt(), 0)
        let removal = ["share", "forget", "--share-name", "walker", address]
        let forget = try Tool.run(removal)
        XCTAssertEqual(forget.status, 0, forget.errors)
        XCTAssertEqual(
            forget.output,
            """
            removed homeassistant/device_tracker/indoorloc_walker_position/config
            removed homeassistant/sensor/indoorloc_walker_room/config
            removed indoorloc/v1/devices/walker/location

            """)
        XCTAssertEqual(forget.errors, "")
        let again = try Tool.run(removal)
        XCTAssertEqual(again.status, 0, again.errors)
        XCTAssertEqual(again.output, "")
        XCTAssertEqual(again.errors, "indoorloc: the broker retains no message of 'walker'\n")
    }

    func testAServiceWhoseNameIsTakenReportsItAndKeepsSharing() throws {
        let address = "mqtt://127.0.0.1:\(try broker().port)/office"
        let service = try ServiceProcess(
            ServiceProcess.walk("one-floor") + [
                "--state-directory", temporaryFolder(), "--share", address, "--share-name", "walker",
            ])
        try service.waitForError("sharing with")
        let thief = try Watcher([address, "--share-name", "walker"])
        try service.waitForError("indoorloc: sharing: another client keeps replacing the presence of 'walker'")
        XCTAssertFalse(service.errors.contains("sharing has ended"), "\(service.errors)")
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0, "\(service.errors)")
        XCTAssertEqual(try thief.interrupt(), 0)
    }

    func testShareWatchUsesANameOtherThanTheHosts() throws {
        let arguments = try ParsedArguments(["mqtt://h/r"], syntax: ShareWatchCommand.syntax)
        let host = try SharingOptions(address: "mqtt://h/r", what: "ADDRESS", arguments).device.rawValue
        let suffix = "-watch-4194304"
        let watcher = try SharingOptions(address: "mqtt://h/r", what: "ADDRESS", arguments, suffix: suffix)
        XCTAssertTrue(watcher.device.rawValue.hasSuffix(suffix), watcher.device.rawValue)
        XCTAssertTrue(watcher.device.rawValue.hasPrefix(String(host.prefix(40))), watcher.device.rawValue)
    }

    func testAServiceSharesAsSoonAsTheBrokerStarts() throws {
        let broker = try broker()
        let address = "mqtt://127.0.0.1:\(broker.port)/office"
        broker.kill()
        let service = try ServiceProcess(
            ServiceProcess.walk("one-floor") + [
                "--state-directory", temporaryFolder(), "--share", address, "--share-name", "walker",
            ])
        try service.waitForError("no broker is reachable")
        try service.wait(for: "\"type\":\"position\"")
        try broker.restart()
        try service.waitForError("sharing with")
        let watcher = try Watcher([address, "--share-name", "watcher"])
        _ = try watcher.line(#"{"type":"occupancy","room":"office","devices":2}"#)
        XCTAssertTrue(try watcher.line(#"{"type":"position""#).contains(#""device":"walker""#))
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0, "\(service.errors)")
        _ = try watcher.line(#"{"type":"occupancy","room":"office","devices":1}"#)
        XCTAssertEqual(try watcher.interrupt(), 0)
    }

    func testAnUnreachableBrokerEndsTheCommandWithTheReason() throws {
        let port = try TestPort.free()
        let result = try Tool.run(["share", "watch", "mqtt://127.0.0.1:\(port)/hall", "--share-name", "watcher"])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(
            result.errors.hasPrefix("indoorloc: no broker is reachable at 127.0.0.1:\(port) (Connection refused)"),
            result.errors)
    }

    func testInvalidSharingOptionsAreUsageErrors() throws {
        let file = try temporaryFolder() + "/password"
        for (words, message) in [
            (["--share", "hall"], "--share: 'hall' is not a valid address"),
            (["--share-name", "x"], "--share-name requires --share"),
            (["--home-assistant"], "--home-assistant requires --share"),
            (["--share", "mqtt://h/r", "--share-name", "a/b"], "--share-name: the name \"a/b\" contains \"/\""),
            (["--share", "mqtt://h/r", "--share-ca", "x"], "--share-ca requires an address that begins with mqtts"),
            (["--share", "mqtt://h/r", "--share-password-file", "x"], "--share-password-file requires a user"),
            (
                ["--share", "mqtt://u@h/r", "--share-password-file", file],
                "--share-password-file \(file): No such file"
            ),
        ] {
            let arguments = try ParsedArguments(words, syntax: LocateCommand.syntax)
            XCTAssertThrowsError(try SharingOptions(arguments), message) { error in
                let text = (error as? UsageError)?.message ?? "\(error)"
                XCTAssertTrue(text.hasPrefix(message), text)
            }
        }
    }

    func testAnUnencryptedPasswordIsRefusedUnlessAllowed() throws {
        let file = try temporaryFolder() + "/password"
        try SecretText.write("s3cret\n", to: file)
        let words = ["share", "watch", "mqtt://cart@broker.invalid/hall", "--share-password-file", file]
        let refused = try Tool.run(words)
        XCTAssertEqual(refused.status, 2)
        XCTAssertTrue(refused.errors.contains("sent to broker.invalid unencrypted"), refused.errors)
        XCTAssertTrue(refused.errors.contains("--share-plain-password"), refused.errors)
        let asked = try Tool.run(words + ["--share-plain-password"])
        XCTAssertEqual(asked.status, 1)
        XCTAssertTrue(
            asked.errors.hasPrefix("indoorloc: warning: the password is sent to broker.invalid unencrypted"),
            asked.errors)
        XCTAssertTrue(asked.errors.contains("the host 'broker.invalid' is unknown"), asked.errors)
    }

    func testThePasswordComesFromAFileAndTheAuthorityFromAnOption() throws {
        let file = try temporaryFolder() + "/password"
        try SecretText.write("s3cret\n", to: file)
        let words = ["--share", "mqtts://cart@h/r", "--share-password-file", file, "--share-ca", "authority.pem"]
        let options = try XCTUnwrap(try SharingOptions(try ParsedArguments(words, syntax: LocateCommand.syntax)))
        XCTAssertEqual(options.address.broker.credentials, MQTTCredentials(user: "cart", password: "s3cret"))
        XCTAssertEqual(options.address.broker.security?.authorityFile, "authority.pem")
        XCTAssertNil(try SharingOptions(try ParsedArguments([], syntax: LocateCommand.syntax)))
    }
}
