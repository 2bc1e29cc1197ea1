import Foundation
import GPSDReceiving
import IIOReceiving
import IndoorLocalization
import IndoorLocalizationTesting
import NMEASending
import Synchronization
import VenuePackets
import XCTest
@testable import indoorloc

/// Motion output, and walks without beacons.
final class MotionCommandTests: XCTestCase {
    private static let recording = "Fixtures/recordings/without-beacons/scan.jsonl.gz"
    private static let call = ["replay", "--venue", "Fixtures/office", "--fix", "1,13,5,1"]
    private static let replayed = Swift.Result { try Tool.run(call + ["--motion", recording]) }

    private func objects(_ type: String) throws -> [[String: Any]] {
        try Self.replayed.get().lines.compactMap { line in
            let value = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return value?["type"] as? String == type ? value : nil
        }
    }

    func testAReplayWithAFixNeedsNoBeacons() throws {
        XCTAssertEqual(try Self.replayed.get().status, 0)
        XCTAssertEqual(try Self.replayed.get().errors, "")
        let first = try XCTUnwrap(objects("position").first)
        XCTAssertEqual(first["mapId"] as? Int, 1)
        XCTAssertEqual(try XCTUnwrap(first["x"] as? Double), 13, accuracy: 0.5)
        XCTAssertEqual(try XCTUnwrap(first["y"] as? Double), 5, accuracy: 0.5)
    }

    func testMotionLinesHaveTheDocumentedMembers() throws {
        let lines = try objects("motion")
        XCTAssertGreaterThan(lines.count, 500, "ten a second")
        let fields: Set<String> = [
            "t", "type", "kind", "stepFrequency", "vertical", "direction", "climbRate", "floor", "heading",
            "trueHeading",
            "magneticHeading", "headingAccuracy", "headingReference", "disturbed", "attitude", "x", "y", "z", "radius",
            "altitude", "alignment", "steps", "distance", "ascent", "descent", "stationary", "fidgeting", "walking",
            "latitude", "longitude",
        ]
        for line in lines { XCTAssertTrue(Set(line.keys).isSubset(of: fields), "\(line.keys)") }
        XCTAssertEqual(Set(lines.compactMap { $0["kind"] as? String }), ["stationary", "fidgeting", "walking"])
        XCTAssertTrue(
            lines.contains { $0["vertical"] as? String == "elevator" && $0["direction"] as? String == "down" })
        let guide = try String(
            contentsOf: Checkout.root().appending(
                path: "Sources/IndoorLocalization/IndoorLocalization.docc/FileFormats.md"), encoding: .utf8)
        for field in fields { XCTAssertTrue(guide.contains("`\(field)`"), "\(field) is not documented") }
    }

    func testWithoutTheOptionNoMotionIsPrinted() throws {
        let plain = try Tool.run(Self.call + [Self.recording])
        XCTAssertFalse(plain.output.contains(#""type":"motion""#))
        let positions = try Self.replayed.get().lines.filter { $0.contains(#""type":"position""#) }
        XCTAssertEqual(plain.lines.filter { $0.contains(#""type":"position""#) }, positions, "telling changes nothing")
    }

    func testAnInvalidFixIsRefused() throws {
        for fix in ["1,2,3", "1,2,3,0", "a,2,3,1", "1,2,3,4,5", "1,nan,3,1", ""] {
            let result = try Tool.run(["replay", "--venue", "Fixtures/office", "--fix", fix, Self.recording])
            XCTAssertEqual(result.status, 2, fix)
            XCTAssertTrue(
                result.errors.contains(
                    "--fix must be MAP,X,Y,RADIUS with a radius above 0, such as 1,3.5,7,1, not '\(fix)'"),
                result.errors)
        }
    }

    func testAFixOnAnUnknownMapIsRefused() throws {
        let result = try Tool.run(["replay", "--venue", "Fixtures/office", "--fix", "9,2,3,1", Self.recording])
        XCTAssertEqual(result.status, 2)
        XCTAssertTrue(result.errors.contains("--fix: 'Office' has no map 9"), result.errors)
    }

    func testAFixFarOffThePlanIsRefused() throws {
        let result = try Tool.run(["replay", "--venue", "Fixtures/office", "--fix", "1,500,10,1", Self.recording])
        XCTAssertEqual(result.status, 2)
        XCTAssertTrue(
            result.errors.contains("--fix: the place is 464 m off the plan of map 1; give one on it"), result.errors)
        XCTAssertEqual(result.output, "")
    }

    func testReplayWithoutBeaconsSuggestsAFix() throws {
        let result = try Tool.run(["replay", "--venue", "Fixtures/office", Self.recording])
        XCTAssertEqual(result.status, 0)
        XCTAssertTrue(
            result.errors.hasSuffix(
                "no position, as no beacon of 'Office' was received; "
                    + "use --fix MAP,X,Y,RADIUS to follow it by motion alone\n"), result.errors)
    }

    func testEvaluateScoresMotionAlone() throws {
        let result = try Tool.run(["evaluate", "Fixtures/office", "--motion"])
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertEqual(result.lines.count, 3, result.output)
        XCTAssertTrue(result.lines.first?.hasPrefix("office: walked ") ?? false, result.output)
        // The only track with steps has neither heading nor air pressure.
        XCTAssertTrue(
            result.lines.first?.hasSuffix("climbing detected 0.0% of the time  heading median -  P90 -") ?? false,
            result.output)
        let wrong = try Tool.run(["evaluate", "Fixtures/office", "--motion", "--json"])
        XCTAssertEqual(wrong.status, 2)
        XCTAssertTrue(wrong.errors.contains("--motion can't be combined with --json, --offline or --replays"))
    }
}

/// Inertial sensors on the command line.
final class IMUOptionTests: XCTestCase {
    func testTheOptionGivesTheSensorsAndTheirRate() throws {
        let named = ["iio": IIOSource(), "iio:100": IIOSource(rate: 100), "iio:1": IIOSource(rate: 1)]
        for (text, source) in named {
            XCTAssertEqual(IIOSource(argument: text), source, text)
            let arguments = try ParsedArguments(["--imu", text], syntax: LocateCommand.syntax)
            XCTAssertEqual(try arguments.imu(), source)
        }
        XCTAssertNil(try ParsedArguments([], syntax: LocateCommand.syntax).imu())
    }

    func testInvalidSensorsAreRefused() throws {
        for text in ["", "imu", "iio:", "iio:0", "iio:201", "iio:fast", "iio:5.5"] {
            let arguments = try ParsedArguments(["--imu", text], syntax: ScanCommand.syntax)
            XCTAssertThrowsError(try arguments.imu(), text) { error in
                XCTAssertEqual(
                    (error as? UsageError)?.message, "--imu must be iio or iio:HERTZ, from 1 to 200 Hz, not '\(text)'")
            }
        }
    }

    func testSensorsCannotBeCombinedWithARecording() throws {
        let result = try Tool.run(["serve", "--venue", "x", "--replay", "y", "--imu", "iio"])
        XCTAssertEqual(result.status, 2)
        XCTAssertTrue(
            result.errors.contains("--imu can't be combined with --replay"),
            result.errors)
    }

    /// The session uses and records sensor readings. An error of the sensors is reported, and the session continues.
    func testASessionWithoutItsSensorsContinuesAndReportsThem() async throws {
        let packet = try VenuePacketReader().read(try FixtureFolder("office").path)
        let radio = ScriptedSource()
        let nowhere = IIOSource(devices: try temporaryFolder() + "/nowhere")
        let session = LiveSession(
            venue: packet.venue, settings: SettingsStack(localization: LocalizationSettings()), seed: 0)
        let causes = WatchedState<[String?]>([])
        // The radio ends the session after the error.
        try await Bounded.wait(for: "the end of the session") { [causes] in
            try await session.run(radio.combined(with: nowhere), givesReadings: true) { news in
                guard case .output(let output) = news, case .error(let error) = output.content else { return }
                causes.update { $0.append(error.cause) }
                // The sensors may fail before the radio's scan begins.
                Task {
                    try await radio.waitForScans()
                    radio.finish()
                }
            }
        }
        XCTAssertEqual(causes.value.first ?? nil, "\(IIOError.noDevice(folder: nowhere.devices))")
    }

    // MARK: - Sharing from settings

    private func sharing(_ words: [String]) throws -> SharingOptions? {
        let arguments = try ParsedArguments(words, syntax: LocateCommand.syntax)
        return try SharingOptions(arguments, defaults: arguments.settings().resolved.sharing)
    }

    func testSettingsCanGiveTheBrokerAndTheRoom() throws {
        let words = ["--set", "sharing.host=mqtts://me@broker:99", "--set", "sharing.room=fork lifts/2"]
        // A room must not contain a slash; settings are checked like an address.
        XCTAssertThrowsError(try sharing(words))
        let options = try XCTUnwrap(
            try sharing(["--set", "sharing.host=mqtts://broker:99", "--set", "sharing.room=fork lifts"]))
        XCTAssertEqual(options.address.broker.host, "broker")
        XCTAssertEqual(options.address.room, "fork lifts")
        XCTAssertEqual(options.settings.interval, .seconds(1))
        let interval = ["--share", "mqtt://other/yard", "--set", "sharing.interval=2.5"]
        XCTAssertEqual(try sharing(interval)?.settings.interval, .seconds(2.5))
        XCTAssertEqual(try sharing(interval + ["--share-interval", "4"])?.settings.interval, .seconds(4))
        let told = try XCTUnwrap(try sharing(words + ["--share", "mqtt://other/yard"]))
        XCTAssertEqual(told.address.room, "yard", "the option counts more")
        XCTAssertNil(try sharing(["--set", "sharing.room=yard"]))
        XCTAssertThrowsError(try sharing(["--set", "sharing.host=mqtt://broker"])) { error in
            XCTAssertEqual(
                (error as? UsageError)?.message, "the setting sharing.host requires sharing.room, the room of devices")
        }
    }
}

/// Satellite positions on the command line.
final class SatelliteTests: XCTestCase {
    private func replayed(_ lines: [String]) throws -> [String] {
        var recording = try ShortRecording(lines: 0)
        recording.lines += lines
        let result = try Tool.run(["replay", "--venue", "Fixtures/office", try recording.write(to: temporaryFolder())])
        XCTAssertEqual(result.status, 0, result.errors)
        return result.lines.map(String.init)
    }

    func testReplayPrintsOutdoorPositions() throws {
        let lines = try replayed([
            #"{"t":1,"type":"gnss","latitude":10.5,"longitude":-20.25,"accuracy":4.5}"#,
            #"{"t":2.5,"type":"gnss","latitude":10.5,"longitude":-20.25,"accuracy":4,"altitude":-3,"speed":1.5,"course":90}"#,
            #"{"t":3,"type":"gnss","latitude":10.5,"longitude":-20.25,"accuracy":400}"#,
        ])
        XCTAssertEqual(
            lines.filter { $0.contains("outdoorPosition") },
            [
                #"{"t":1.000,"type":"outdoorPosition","latitude":10.50000000,"longitude":-20.25000000,"radius":4.500}"#,
                #"{"t":2.500,"type":"outdoorPosition","latitude":10.50000000,"longitude":-20.25000000,"radius":4.000,"altitude":-3.00,"speed":1.50,"course":90.0}"#,
            ])
    }

    func testASessionOutputsAndPassesOnTheReceiversPositions() async throws {
        let packet = try VenuePacketReader().read(try FixtureFolder("office").path)
        let radio = ScriptedSource()
        let fixes = (0..<3).map { second in
            GNSSFix(
                instant: Instant(seconds: 4000 + Double(second)), coordinate: Coordinate(latitude: 10, longitude: 20),
                accuracy: 5)
        }
        let satellites = ScriptedSource(fixes.map(SensorReading.gnss), pace: .live)
        let session = LiveSession(
            venue: packet.venue, settings: SettingsStack(localization: LocalizationSettings()), seed: 0,
            gnss: satellites)
        let news = Mutex<[LiveSession.Update]>([])
        try await session.run(radio, givesReadings: true) { item in
            let count = news.withLock { news in
                news.append(item)
                return news.count {
                    if case .output(let output) = $0, case .outdoorPosition = output.content { true } else { false }
                }
            }
            // The radio ends the session after all positions, which may come before its scan begins.
            guard count == 3 else { return }
            Task {
                try await radio.waitForScans()
                radio.finish()
            }
        }
        let all = news.withLock { $0 }
        let heard = all.compactMap { if case .reading(let reading) = $0 { reading } else { nil } }
        XCTAssertEqual(heard, fixes.map(SensorReading.gnss))
        let told = all.compactMap { item -> OutdoorPosition? in
            guard case .output(let output) = item, case .outdoorPosition(let position) = output.content else {
                return nil
            }
            return position
        }
        XCTAssertEqual(told.map(\.coordinate.latitude), [10, 10, 10])
    }

    func testTheOptionGivesTheReceiversHostAndPort() {
        let named: [String: GPSDSource] = [
            "gpsd": GPSDSource(), "gpsd:roof": GPSDSource(host: "roof"),
            "gpsd:192.168.1.7:3000": GPSDSource(host: "192.168.1.7", port: 3000),
            "gpsd:[fe80::1]": GPSDSource(host: "fe80::1"), "gpsd:[::1]:2948": GPSDSource(host: "::1", port: 2948),
        ]
        for (text, source) in named { XCTAssertEqual(GPSDSource(argument: text), source, text) }
    }

    func testPositionsOfTheSessionThatTheReceiverReturnsAreNotUsed() async throws {
        let own = (0..<4).map { Coordinate(latitude: 50 + Double($0) * 1e-5, longitude: 8) }
        let fixes = [Coordinate(latitude: 49, longitude: 8)] + own
        let satellites = ScriptedSource(
            fixes.enumerated().map { second, coordinate in
                SensorReading.gnss(
                    GNSSFix(instant: Instant(seconds: Double(second)), coordinate: coordinate, accuracy: 5))
            }, pace: .live)
        let sent = SentCoordinates()
        own.forEach(sent.send)
        var received: [Coordinate] = []
        do {
            for try await fix in EchoFreeSource(source: satellites, echo: sent).fixes() {
                received.append(fix.coordinate)
            }
            XCTFail("the stream ended without an error")
        } catch {
            XCTAssertEqual(error as? NMEAError, .echo)
            XCTAssertTrue("\(error)".contains("remove that device from gpsd"), "\(error)")
        }
        XCTAssertEqual(received, Array(fixes.prefix(1)))
    }
}
