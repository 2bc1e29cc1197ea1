import GPSDReceiving
import IndoorLocalization
import IndoorLocalizationTesting
import NMEASending
import Synchronization
import VenuePackets
import XCTest

@testable import indoorloc

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
            // The radio ends the session after all positions.
            if count == 3 { radio.finish() }
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
