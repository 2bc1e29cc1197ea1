import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import MQTTSharing
import ScanRecording
import TagTracking
import XCTest

@testable import indoorloc

/// `scan --publish` through a real broker.
final class ScanPublishTests: XCTestCase {
    private let topic = "site/gateways/hall-3/advertisements"
    private let presence = "site/gateways/hall-3/presence"

    /// A subscriber, once the broker has granted its subscription.
    private func subscriber(_ port: UInt16) async throws -> (link: MQTTLink, events: AsyncStream<MQTTLinkEvent>) {
        let (link, events) = MQTTLink.open(
            MQTTBroker(host: "127.0.0.1", port: port), clientID: "subscriber", will: nil, keepAliveSeconds: 60)
        link.ask(.subscribe("site/#", .atMostOnce))
        try await Bounded.wait(for: "the subscription") {
            for await event in events { if case .subscribed(_, true) = event { return } }
            throw Bounded.Expired(awaited: "the subscription")
        }
        return (link, events)
    }

    /// The messages up to the first one that satisfies a condition.
    private func messages(
        of events: AsyncStream<MQTTLinkEvent>, until awaited: String,
        _ condition: @escaping @Sendable (MQTTMessage) -> Bool
    ) async throws -> [MQTTMessage] {
        try await Bounded.elements(of: events, until: awaited) { event in
            if case .received(let message) = event { condition(message) } else { false }
        }.compactMap { event in if case .received(let message) = event { message } else { nil } }
    }

    private func published(_ messages: [MQTTMessage]) throws -> [SensorReading] {
        try messages.filter { $0.topic == topic }.flatMap { message in
            XCTAssertEqual(message.quality, .atMostOnce, "the subscription limits the quality")
            XCTAssertFalse(message.isRetained)
            return try IndoorlocPayload(decoding: message.payload).readings
        }
    }

    /// The advertisements of a scan, of beacons and of other devices, and a sighting without an advertisement.
    private func readings(_ seconds: ClosedRange<Double> = 0...0.9) throws -> [SensorReading] {
        let beacon = BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 4)
        let frame = BeaconFrame(format: .iBeacon, beacon: beacon, measuredPower: -59)
        return try stride(from: seconds.lowerBound, through: seconds.upperBound, by: 0.1).flatMap {
            second -> [SensorReading] in
            let instant = Instant(seconds: second)
            let advertisement = Advertisement(
                instant: instant, address: DeviceAddress(rawValue: 7, kind: .public),
                rssi: -60 - (second * 10).rounded().truncatingRemainder(dividingBy: 30),
                data: try frame.advertisingData())
            return [
                .advertisement(advertisement), .sighting(try XCTUnwrap(try advertisement.sighting())),
                .advertisement(
                    Advertisement(
                        instant: instant, address: DeviceAddress(rawValue: 8, kind: .random), rssi: -90,
                        data: [2, 1, 6])),
                .sighting(Sighting(instant: instant, beacon: beacon, rssi: -77)),
            ]
        }
    }

    /// The readings without those that repeat the advertisement before them.
    private func withoutRepetitions(_ readings: [SensorReading]) -> [SensorReading] {
        readings.enumerated().filter { $0.offset % 4 != 1 }.map(\.element)
    }

    private func command(_ port: UInt16, _ more: String...) throws -> ScanCommand {
        try ScanCommand(
            ParsedArguments(
                ["--publish", "mqtt://127.0.0.1:\(port)/site", "--name", "hall-3"] + more, syntax: ScanCommand.syntax))
    }

    func testARecordingIsPublishedWithItsTimes() async throws {
        let (port, folder) = (try broker().port, try temporaryFolder())
        let path = folder + "/walk.jsonl"
        var lines = try RecordEncoder.line(for: .header(RecordingHeader()))
        for reading in try readings() { lines += try RecordEncoder.line(for: .measurement(reading)) }
        try Data(lines).write(to: URL(filePath: path))
        let (link, events) = try await subscriber(port)
        let service = try ServiceProcess(
            ["--replay", path, "--publish", "mqtt://127.0.0.1:\(port)/site", "--name", "hall-3"], command: "scan")
        let offline = try await messages(of: events, until: "the end") { [presence] message in
            message.topic == presence && message.payload == Array("offline".utf8)
        }
        XCTAssertEqual(try service.end(), 0, "\(service.errors)")
        XCTAssertEqual(
            offline.first { $0.topic == presence },
            MQTTMessage(topic: presence, payload: Array("online".utf8), quality: .atMostOnce))
        let recording = try RecordedReadings(path: path, strictness: .strict)
        var recorded: [SensorReading] = []
        while let reading = try recording.next() { recorded.append(reading) }
        XCTAssertEqual(recorded.count, 40)
        XCTAssertEqual(try published(offline), withoutRepetitions(recorded))
        // A message contains the readings of about 100 ms, and the gateway's clock is that of the machine.
        for message in offline where message.topic == topic {
            let payload = try IndoorlocPayload(decoding: message.payload)
            let instants = payload.readings.map(\.instant)
            let span = try XCTUnwrap(instants.first).duration(to: try XCTUnwrap(instants.last))
            XCTAssertLessThan(span, .seconds(2), "a busy machine has longer pauses")
            let time = try XCTUnwrap(payload.wallClock).unixTime(at: try XCTUnwrap(instants.first)).seconds
            XCTAssertEqual(time, Date().timeIntervalSince1970, accuracy: 120)
        }
        link.abandon()
    }

    func testASecondGatewayOfTheSameNameEndsWithTheReason() async throws {
        let (port, folder) = (try broker().port, try temporaryFolder())
        let path = folder + "/walk.jsonl"
        var lines = try RecordEncoder.line(for: .header(RecordingHeader()))
        for reading in try readings(0...600) { lines += try RecordEncoder.line(for: .measurement(reading)) }
        try Data(lines).write(to: URL(filePath: path))
        let arguments = ["--replay", path, "--publish", "mqtt://127.0.0.1:\(port)/site", "--name", "hall-3"]
        let first = try ServiceProcess(arguments, command: "scan")
        try first.waitForError("publishing to")
        let second = try ServiceProcess(arguments, command: "scan")
        try second.waitForError(
            "another process is connected to the broker at 127.0.0.1 under 'site/gateways/hall-3': end that process, or "
                + "give this gateway another name (--name)")
        XCTAssertEqual(try second.end(), 1)
        let (link, events) = try await subscriber(port)
        let messages = try await messages(of: events, until: "the presence") { [presence] in $0.topic == presence }
        XCTAssertEqual(messages.last?.payload, Array("online".utf8))
        link.abandon()
        first.send(SIGTERM)
        XCTAssertEqual(try first.end(), 0)
    }

    func testAnAccessListThatDeniesTheReadingsIsReportedOnce() async throws {
        let port = try broker(
            accessList: "topic readwrite site/gateways/hall-3/process\ntopic readwrite site/gateways/hall-3/presence\n"
        ).port
        let path = try temporaryFolder() + "/walk.jsonl"
        var lines = try RecordEncoder.line(for: .header(RecordingHeader()))
        for reading in try readings(0...600) { lines += try RecordEncoder.line(for: .measurement(reading)) }
        try Data(lines).write(to: URL(filePath: path))
        let service = try ServiceProcess(
            ["--replay", path, "--publish", "mqtt://127.0.0.1:\(port)/site", "--name", "hall-3"], command: "scan")
        try service.waitForError(
            "publishing: the broker refused the message under '\(topic)', not authorized: allow this user to write the "
                + "topic in the broker's access list")
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0)
        XCTAssertEqual(service.errors.count { $0.contains("refused the message") }, 1, "\(service.errors)")
    }

    func testAShortSourceIsPublishedCompletely() async throws {
        let port = try broker().port
        let (link, events) = try await subscriber(port)
        try await command(port).listen(to: ScriptedSource(try readings(), pace: .live))
        let messages = try await messages(of: events, until: "the end") { $0.payload == Array("offline".utf8) }
        XCTAssertEqual(try published(messages), withoutRepetitions(try readings()))
        link.abandon()
    }

    func testPublishingContinuesWhenTheBrokerIsBack() async throws {
        let broker = try broker()
        let (port, radio) = (broker.port, ScriptedSource())
        let (first, events) = try await subscriber(port)
        let command = try command(port)
        let scanning = Task { try await command.listen(to: radio) }
        try await Bounded.wait(for: "the scan") { try await radio.waitForScans() }
        let early = try readings(0...0.2)
        for reading in early { radio.send(reading) }
        let count = withoutRepetitions(early).count
        let received = Guarded(0)
        _ = try await messages(of: events, until: "the readings") { message in
            let found = (try? IndoorlocPayload(decoding: message.payload))?.readings.count ?? 0
            return received.withLock {
                $0 += found; return $0
            } >= count
        }
        try broker.restart()
        first.abandon()
        let (second, later) = try await subscriber(port)
        _ = try await messages(of: later, until: "the presence") { $0.payload == Array("online".utf8) }
        for reading in try readings(3...3.2) { radio.send(reading) }
        radio.finish()
        try await Bounded.wait(for: "the end") { try await scanning.value }
        let messages = try await messages(of: later, until: "the end") { $0.payload == Array("offline".utf8) }
        XCTAssertEqual(try published(messages), withoutRepetitions(try readings(3...3.2)))
        second.abandon()
    }

    func testTheBrokerReportsAGatewayThatDisappears() async throws {
        let port = try broker().port
        let path = try FixtureFolder("recordings/one-floor").file("scan.jsonl.gz")
        let service = try ServiceProcess(
            ["--replay", path, "--publish", "mqtt://127.0.0.1:\(port)/site", "--name", "hall-3"], command: "scan")
        let (link, events) = try await subscriber(port)
        _ = try await messages(of: events, until: "the presence") { $0.payload == Array("online".utf8) }
        service.send(SIGKILL)
        _ = try await messages(of: events, until: "the will") { [presence] message in
            message.topic == presence && message.payload == Array("offline".utf8)
        }
        link.abandon()
    }

    func testAnUnreachableBrokerLeavesTheScanRunning() throws {
        let folder = try temporaryFolder()
        let path = folder + "/walk.jsonl"
        var lines = try RecordEncoder.line(for: .header(RecordingHeader()))
        for reading in try readings() { lines += try RecordEncoder.line(for: .measurement(reading)) }
        try Data(lines).write(to: URL(filePath: path))
        let result = try Tool.run([
            "scan", "--replay", path, "--publish", "mqtt://127.0.0.1:\(try TestPort.free())/site", "--name", "hall-3",
        ])
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertTrue(result.errors.contains("publishing: no broker is reachable"), result.errors)
        XCTAssertTrue(result.errors.contains("30 readings not published without a connection"), result.errors)
        XCTAssertEqual(result.lines.count, 1 + 40)
    }

    func testInvalidOptionsAreUsageErrors() throws {
        for (words, message) in [
            (["--name", "a"], "--name requires --publish"),
            (["--publish-ca", "a"], "--publish-ca requires --publish"),
            (["--publish", "site"], "--publish: 'site' is not a valid"),
            (["--publish", "mqtt://h/site", "--name", "a/b"], "--name: the name \"a/b\" contains \"/\""),
            (
                ["--publish", "mqtt://h/site", "--publish-ca", "x"],
                "--publish-ca requires an address that begins with mqtts"
            ),
            (
                ["--publish", "mqtt://h/site", "--publish-password-file", "x"],
                "--publish-password-file requires a user"
            ),
            (["--replay", "a.jsonl", "--adapter", "hci0"], "--adapter can't be combined with --replay"),
            (["--replay-from", "1"], "--replay-from requires --replay"),
        ] {
            let arguments = try ParsedArguments(words, syntax: ScanCommand.syntax)
            XCTAssertThrowsError(try ScanCommand(arguments), message) { error in
                let text = (error as? UsageError)?.message ?? "\(error)"
                XCTAssertTrue(text.hasPrefix(message), text)
            }
        }
    }
}
