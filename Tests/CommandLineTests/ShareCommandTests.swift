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
        while let entry = try reader.next(), readings.count < 2000 {
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
        let walk = try walk()
        for reading in walk.prefix(1500) { radio.send(reading) }
        // The tool may connect to the broker only after it has handled these. The radio stays on until then.
        _ = try watcher.line(#"{"type":"occupancy","room":"office","devices":2}"#)
        for reading in walk.dropFirst(1500) { radio.send(reading) }
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
            ServiceProcess.endlessWalk("one-floor") + [
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
            ServiceProcess.endlessWalk("one-floor") + [
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
        let start = "indoorloc: no broker is reachable at 127.0.0.1:\(port) "
        // libmosquitto 2.1 doesn't pass the reason on.
        XCTAssertTrue(
            ["(Connection refused)", "(the system reported no reason)"].contains {
                result.errors.hasPrefix(start + $0)
            },
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
            XCTAssertThrowsError(try SharingOptions(arguments, defaults: SharingSettings()), message) { error in
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
        let arguments = try ParsedArguments(words, syntax: LocateCommand.syntax)
        let options = try XCTUnwrap(try SharingOptions(arguments, defaults: SharingSettings()))
        XCTAssertEqual(options.address.broker.credentials, MQTTCredentials(user: "cart", password: "s3cret"))
        XCTAssertEqual(options.address.broker.security?.authorityFile, "authority.pem")
        let none = try ParsedArguments([], syntax: LocateCommand.syntax)
        XCTAssertNil(try SharingOptions(none, defaults: SharingSettings()))
    }
}

/// The prefix, interval and limits of sharing on the command line.
final class SharingOptionsTests: XCTestCase {
    private func options(_ words: [String]) throws -> SharingOptions {
        let arguments = try ParsedArguments(["--share", "mqtt://h/r"] + words, syntax: ServeCommand.syntax)
        // Outside the assertion, which would report an error as its own failure.
        let options = try SharingOptions(arguments, defaults: SharingSettings())
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
            XCTAssertThrowsError(try SharingOptions(arguments, defaults: SharingSettings()), option.name) { error in
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
            ServiceProcess.endlessWalk("one-floor") + prefix + [
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
            ServiceProcess.endlessWalk("one-floor") + [
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

/// A process of `indoorloc share watch` whose lines are read while it runs.
final class Watcher {
    private let process = Process()
    private let output = Pipe()
    private var rest = ""
    /// Lines that were read but not returned yet.
    private var lines: [String] = []

    init(_ words: [String]) throws {
        process.executableURL = URL(filePath: try Tool.path())
        process.arguments = ["share", "watch"] + words
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        try ProcessSignals.withAll { try process.run() }
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    /// Waits for a new line with this prefix, up to a time limit.
    func line(_ start: String) throws -> String {
        let deadline = ContinuousClock.now + Bounded.longest
        while ContinuousClock.now < deadline {
            if let index = lines.firstIndex(where: { $0.hasPrefix(start) }) { return lines.remove(at: index) }
            var watched = pollfd(fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&watched, 1, 1000) > 0 else { continue }
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { throw Bounded.Expired(awaited: "\(start) (it has ended)") }
            rest += String(decoding: data, as: UTF8.self)
            while let end = rest.firstIndex(of: "\n") {
                lines.append(String(rest[..<end]))
                rest = String(rest[rest.index(after: end)...])
            }
        }
        throw Bounded.Expired(awaited: start)
    }

    /// All lines that were not returned yet, after the process has ended.
    func remainingLines() throws -> [String] {
        rest += String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        return lines + rest.split(separator: "\n").map(String.init)
    }

    /// Sends SIGINT and returns the exit status.
    func interrupt() throws -> Int32 {
        process.interrupt()
        process.waitUntilExit()
        return process.terminationStatus
    }
}
