import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import MQTTSharing
import RecordUpload
import ScanRecording
import TagTracking
import XCTest
@testable import indoorloc

/// `scan` with a scripted source; guest tests cover the radio.
final class ScanCommandTests: XCTestCase {
    private let beacon = BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 4)

    /// Readings with an arbitrary first instant, as of a machine with a long uptime.
    private func readings() throws -> [SensorReading] {
        let at = { (seconds: Double) in Instant(seconds: 5000 + seconds) }
        let frame = BeaconFrame(format: .iBeacon, beacon: beacon, measuredPower: -59)
        let advertisement = Advertisement(
            instant: at(1.5), address: DeviceAddress(rawValue: 7), rssi: -60, data: try frame.advertisingData())
        return [
            .radio(RadioEvent(instant: at(0), status: .scanning, adapter: "hci0")), .advertisement(advertisement),
            .sighting(try XCTUnwrap(try advertisement.sighting())),
            .advertisement(
                Advertisement(instant: at(2), address: DeviceAddress(rawValue: 8), rssi: -90, data: [2, 1, 6])),
        ]
    }

    private func record(_ name: String, _ source: ScriptedSource) async throws -> String {
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString)-\(name)").path
        addTeardownBlock { try? FileManager.default.removeItem(atPath: path) }
        let arguments = try ParsedArguments(["--record", path], syntax: ScanCommand.syntax)
        try await ScanCommand(arguments).listen(to: source)
        return path
    }

    func testARecordedScanReplaysFromZero() async throws {
        for name in ["walk.jsonl", "walk.jsonl.gz"] {
            let path = try await record(name, ScriptedSource(try readings(), pace: .live))
            var reader = try RecordingReader(path: path)
            var recorded: [SensorReading] = []
            while let entry = try reader.next() {
                if case .measurement(let reading) = entry { recorded.append(reading) }
            }
            var expected = try readings()
            for index in expected.indices { expected[index].instant.nanoseconds -= 5_000_000_000_000 }
            XCTAssertEqual(recorded, expected, name)
            XCTAssertNotNil(reader.header?.startedAt)
        }
    }

    func testAKilledScanLosesAtMostTwoSecondsOfItsRecording() throws {
        let folder = try temporaryFolder()
        let replay = Array(try ServiceProcess.endlessWalk("one-floor").dropFirst(2))
        let names = ["a.jsonl", "b.jsonl.gz", "c.btsnoop"]
        let scans = try names.map { name in
            try ServiceProcess(replay + ["--record", folder + "/" + name], command: "scan")
        }
        for (name, scan) in zip(names, scans) {
            try scan.wait(for: "\"t\":3.")
            let begun = ContinuousClock.now
            try scan.wait(for: "\"t\":5.")
            // On a busy machine, the readings of two seconds may come at once.
            try scan.wait(forLines: "\"t\":") { begun.duration(to: .now) >= .seconds(2) }
            try scan.wait(for: "\"t\":", from: scan.told.count)
            scan.send(SIGKILL)
            XCTAssertEqual(try scan.end(), 128 + SIGKILL)
            var last = 0.0
            if name.hasSuffix("btsnoop") {
                var reader = try BTSnoopReader(path: folder + "/" + name)
                while let reading = try reader.next() { last = reading.instant.seconds }
            } else {
                var reader = try RecordingReader(path: folder + "/" + name, strictness: .lenient)
                while let entry = try reader.next() { last = entry.instant?.seconds ?? last }
            }
            XCTAssertGreaterThan(last, 3, name)
        }
    }

    func testARecordingBeginsByTheSourcesWallClockAtItsFirstReading() async throws {
        let source = ScriptedSource(try readings(), pace: .live)
        source.wallClock = WallClock(timeOfZero: .milliseconds(1_741_064_767_250) - .seconds(5000))
        let path = try await record("walk.jsonl", source)
        var reader = try RecordingReader(path: path)
        while let entry = try reader.next(), case .header = entry {}
        XCTAssertEqual(reader.header?.startedAt, "2025-03-04T05:06:07.250Z")
        XCTAssertEqual(reader.header?.wallClock?.unixTime(at: .zero).milliseconds, 1_741_064_767_250)
    }

    func testACaptureHoldsTheAdvertisements() async throws {
        let path = try await record("walk.btsnoop", ScriptedSource(try readings(), pace: .live))
        var reader = try BTSnoopReader(path: path)
        var rssis: [Double] = []
        while let reading = try reader.next() {
            if case .advertisement(let advertisement) = reading { rssis.append(advertisement.rssi) }
        }
        XCTAssertEqual(rssis, [-60, -90])
    }

    func testTheRecordingHasTheReadingsBeforeAnError() async throws {
        struct Unplugged: Error {}
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).jsonl").path
        addTeardownBlock { try? FileManager.default.removeItem(atPath: path) }
        let arguments = try ParsedArguments(["--record", path], syntax: ScanCommand.syntax)
        let source = ScriptedSource(try readings(), pace: .live, failure: Unplugged())
        do {
            try await ScanCommand(arguments).listen(to: source)
            XCTFail("it should have thrown")
        } catch { XCTAssertTrue(error is Unplugged, "\(error)") }
        var reader = try RecordingReader(path: path)
        var count = 0
        while try reader.next() != nil { count += 1 }
        XCTAssertEqual(count, 1 + (try readings().count))
    }

    func testReadingsAreInTheUploadQueueBeforeTheEnd() async throws {
        let folder = try temporaryFolder()
        let queue = folder + "/new/uploads.db"
        let arguments = try ParsedArguments(
            ["--record", folder + "/walk.jsonl", "--upload-url", "http://127.0.0.1:1", "--upload-queue", queue],
            syntax: ScanCommand.syntax)
        try await ScanCommand(arguments).listen(to: ScriptedSource(try readings(), pace: .live))
        let batch = try await UploadQueue(path: queue).nextBatch(size: 10, device: "a")
        XCTAssertEqual(batch?.count, 1)
        XCTAssertTrue(String(decoding: try XCTUnwrap(batch).body, as: UTF8.self).contains("\"major\":3,"))
    }

    private func scan(_ path: String, _ options: String..., source: ScriptedSource) async throws {
        try await ScanCommand(ParsedArguments(["--record", path] + options, syntax: ScanCommand.syntax)).listen(
            to: source)
    }

    func testARadioThatCannotBeUsedLeavesTheExistingFile() async throws {
        struct NoRadio: Error {}
        let path = try temporaryFolder() + "/walk.jsonl"
        try await scan(path, source: ScriptedSource(try readings(), pace: .live))
        let before = try bytes(path)
        // The radio reports its status but no reading.
        let events = Array(try readings().prefix(1))
        for readings in [[], events] {
            do {
                try await scan(
                    path, "--overwrite", source: ScriptedSource(readings, pace: .live, failure: NoRadio()))
                XCTFail("it should have thrown")
            } catch { XCTAssertTrue(error is NoRadio, "\(error)") }
            XCTAssertEqual(try bytes(path), before)
        }
    }

    func testAnExistingRecordingIsRefusedReplacedOrContinued() async throws {
        for name in ["walk.jsonl", "walk.jsonl.gz"] {
            let path = try temporaryFolder() + "/" + name
            let source = ScriptedSource(try readings(), pace: .live)
            try await scan(path, source: source)
            let before = try bytes(path)
            do {
                try await scan(path, source: source)
                XCTFail("it should have thrown")
            } catch {
                XCTAssertEqual(
                    "\(error)",
                    "\(path) already exists: use --append to continue it, or --overwrite to replace it")
            }
            XCTAssertEqual(try bytes(path), before)
            try await scan(path, "--append", source: source)
            var reader = try RecordingReader(path: path)
            let entries = try reader.readAll()
            XCTAssertEqual(entries.count, 1 + 2 * (try readings().count), name)
            XCTAssertEqual(entries.compactMap(\.instant), entries.compactMap(\.instant).sorted(), name)
            XCTAssertTrue(try bytes(path).starts(with: before), "what was there has changed")
            try await scan(path, "--overwrite", source: source)
            var replaced = try RecordingReader(path: path)
            XCTAssertEqual(try replaced.readAll().count, 1 + (try readings().count), name)
        }
    }

    func testAnIncompleteLastLineIsNotContinued() async throws {
        let path = try temporaryFolder() + "/walk.jsonl"
        let source = ScriptedSource(try readings(), pace: .live)
        try await scan(path, source: source)
        try bytes(path).dropLast().write(to: URL(filePath: path))
        try await scan(path, "--append", source: source)
        var reader = try RecordingReader(path: path)
        XCTAssertEqual(try reader.readAll().count, 1 + 2 * (try readings().count))
    }

    func testBeaconLinesHaveSmoothedRSSIDistanceAndProximity() throws {
        var lines = ScanLines()
        let sighting = Sighting(instant: Instant(seconds: 1.5), beacon: beacon, rssi: -59, measuredPower: -59)
        XCTAssertEqual(
            try lines.line(of: .sighting(sighting)),
            """
            {"t":1.5,"type":"beacon","uuid":"00000000-0000-0001-0000-000000000002","major":3,"minor":4,"rssi":-59,\
            "measuredPower":-59,"smoothed":-59.0,"distance":1.00,"proximity":"near"}
            """)
    }

    func testInvalidOptionsAreRefused() throws {
        for (words, message) in [
            (["--adapter", "foo"], "--adapter must be a name such as hci0 or an address, not 'foo'"),
            (["--adapter", "hci"], "--adapter must be a name such as hci0 or an address, not 'hci'"),
            (["--route", "usb"], "--route must be hci or dbus, not 'usb'"),
            (
                ["--record", "walk.txt"],
                "--record 'walk.txt' must end in .jsonl, .jsonl.gz, .btsnoop, .snoop, .log or .cfa"
            ),
            (["--seconds", "0"], "--seconds must be a whole number from 1 to 31536000, not '0'"),
            (["--append"], "--append requires --record"),
            (
                ["--record", "a.jsonl", "--append", "--overwrite"], "--append and --overwrite can't be combined"
            ),
            (
                ["--record", "a.snoop", "--append"],
                "--append requires a recording, .jsonl or .jsonl.gz; a capture can't be continued"
            ),
            (["extra"], "unexpected operand 'extra'"),
        ] {
            let result = try Tool.run(["scan"] + words)
            XCTAssertEqual(result.status, 2)
            XCTAssertEqual(result.errors, "indoorloc scan: \(message)\nTry 'indoorloc scan --help'.\n")
        }
    }
}

final class BeaconTableTests: XCTestCase {
    private func heard(_ minor: UInt16, _ rssi: Double, at seconds: Double, power: Double? = -59) -> SensorReading {
        let beacon = BeaconIdentity(
            uuid: BeaconUUID(high: 0x7C2F_0A10_0000_4000, low: 0x8000_0000_0000_0003), major: 1, minor: minor)
        return .sighting(
            Sighting(instant: Instant(seconds: seconds), beacon: beacon, rssi: rssi, measuredPower: power))
    }

    private func advertisement(_ address: UInt64, at seconds: Double) -> SensorReading {
        .advertisement(
            Advertisement(
                instant: Instant(seconds: seconds), address: DeviceAddress(rawValue: address), rssi: -80,
                data: [2, 1, 6]))
    }

    private func table(_ readings: [SensorReading]) -> BeaconTable {
        var table = BeaconTable()
        for reading in readings { table.observe(reading) }
        return table
    }

    func testTheTableShowsThreeBeaconsAndCountsTwoOtherDevices() throws {
        let event = RadioEvent(instant: .zero, status: .scanning, adapter: "hci0", detail: "raw HCI")
        var readings: [SensorReading] = [.radio(event)]
        for tenth in 0..<60 {
            let seconds = Double(tenth) / 10
            readings.append(heard(1, -58, at: seconds))
            if tenth % 5 == 0 { readings.append(heard(2, -83, at: seconds)) }
            if tenth == 40 { readings.append(heard(3, -70, at: seconds, power: nil)) }
            readings.append(advertisement(UInt64(tenth % 2), at: seconds))
        }
        var table = table(readings)
        try assertSnapshot(
            table.lines(at: Instant(seconds: 6), width: 100, height: 24).joined(separator: "\n") + "\n")
    }

    func testTheTableRemovesABeaconAfterFiveSecondsOfSilence() {
        var table = table([heard(1, -60, at: 0), heard(2, -60, at: 3), advertisement(9, at: 0)])
        let lines = table.lines(at: Instant(seconds: 5.1), width: 100, height: 24)
        XCTAssertEqual(lines.count, 5)
        XCTAssertTrue(lines[3].contains("    1     2 "), lines[3])
        XCTAssertTrue(lines[4].hasPrefix("1 beacon, 0 other devices"), lines[4])
    }

    func testALowTerminalShowsTheStrongestBeacons() {
        var table = table((1...20).map { heard($0, -50 - Double($0), at: 1) })
        let lines = table.lines(at: Instant(seconds: 1), width: 100, height: 10)
        XCTAssertEqual(lines.count, 10)
        XCTAssertTrue(lines[3].contains("    1     1 "), lines[3])
        XCTAssertTrue(lines[7].contains("    1     5 "), lines[7])
        XCTAssertEqual(lines[8], "and 15 weaker beacons")
    }

    func testNoLineIsWiderThanTheTerminal() {
        for width in [0, 1, 40, 80, 94, 200] {
            var table = table([heard(1, -60, at: 0)])
            let lines = table.lines(at: Instant(seconds: 1), width: width, height: 24)
            XCTAssertTrue(lines.allSatisfy { $0.count <= width }, "\(width)")
        }
        var narrow = table([heard(1, -60, at: 0)])
        XCTAssertTrue(narrow.lines(at: .zero, width: 80, height: 24)[3].contains("0.0 s"), "all columns fit into 80")
    }

    func testATerminalOfOneLineShowsSomething() {
        var table = table([heard(1, -60, at: 0)])
        let lines = table.lines(at: .zero, width: 80, height: 1)
        XCTAssertEqual(lines.first, "waiting for the radio")
        XCTAssertEqual(lines.last?.hasPrefix("1 beacon, 0 other devices"), true, "\(lines)")
    }

    func testTheAdvertisementOfABeaconDoesNotCountAsAnotherDevice() throws {
        let frame = BeaconFrame(
            format: .iBeacon,
            beacon: BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 4), measuredPower: -59)
        let advertisement = Advertisement(
            instant: .zero, address: DeviceAddress(rawValue: 7), rssi: -60, data: try frame.advertisingData())
        var table = table([.advertisement(advertisement), .sighting(try XCTUnwrap(advertisement.sighting()))])
        XCTAssertTrue(table.lines(at: .zero, width: 80, height: 24)[4].hasPrefix("1 beacon, 0 other devices"))
    }
}

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
        let (first, second) = try rivals {
            let first = try ServiceProcess(arguments, command: "scan")
            try first.waitForError("publishing to")
            return first
        } _: {
            try ServiceProcess(arguments, command: "scan")
        }
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
        let replay = Array(try ServiceProcess.endlessWalk("one-floor").dropFirst(2))
        let service = try ServiceProcess(
            replay + ["--publish", "mqtt://127.0.0.1:\(port)/site", "--name", "hall-3"], command: "scan")
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

/// Beacons of a vendor's layout on the command line.
final class BeaconLayoutOptionTests: XCTestCase {
    private static let layout = "m:2-3=cafe,i:4-19,i:20-21,i:22-23,p:24-24"

    /// The lines of a walk, with each sighting as an advertisement of the layout.
    private func recording() throws -> String {
        let layout = try BeaconLayout(Self.layout)
        var recording = try ShortRecording(lines: 400)
        recording.lines = try recording.lines.map { line in
            guard line.contains(#""type":"beacon""#),
                let fields = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                let uuid = BeaconUUID(try XCTUnwrap(fields["uuid"] as? String)), let major = fields["major"] as? Int,
                let minor = fields["minor"] as? Int, let rssi = fields["rssi"] as? Double,
                let time = fields["t"] as? Double
            else { return line }
            func bytes(_ number: UInt64) -> [UInt8] {
                (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * $0)) }
            }
            func bytes(_ number: Int) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 0xFF)] }
            let identifiers = [bytes(uuid.high) + bytes(uuid.low), bytes(major), bytes(minor)]
            let data = try layout.advertisingData(of: LayoutFrame(identifiers: identifiers, measuredPower: -59))
            let hex = data.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            return #"{"t":\#(time),"type":"advertisement","address":"00:00:00:00:\#(hex.suffix(4).prefix(2)):01","#
                + #""rssi":\#(rssi),"data":"\#(hex)"}"#
        }
        return try recording.write(to: temporaryFolder())
    }

    /// The given layouts are used beside the known ones.
    func testReplayDecodesBeaconsOfTheGivenLayout() throws {
        let recording = try recording()
        let call = ["replay", "--venue", "Fixtures/office", recording]
        let without = try Tool.run(call)
        XCTAssertFalse(without.output.contains(#""type":"position""#))
        let with = try Tool.run(call + ["--beacon-layout", Self.layout])
        XCTAssertEqual(with.status, 0, with.errors)
        XCTAssertGreaterThan(with.lines.count { $0.contains(#""type":"position""#) }, 3)
    }

    func testAnInvalidLayoutIsAUsageError() throws {
        let result = try Tool.run([
            "replay", "--venue", "Fixtures/office", "--beacon-layout", "m:2-3=cafe",
            "Fixtures/recordings/one-floor/scan.jsonl.gz",
        ])
        XCTAssertEqual(result.status, 2)
        XCTAssertTrue(result.errors.contains("--beacon-layout: ") && result.errors.contains("'i:'"), result.errors)
    }
}
