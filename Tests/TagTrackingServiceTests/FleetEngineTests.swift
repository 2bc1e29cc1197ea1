import IndoorLocalizationTesting
import IndoorVocabulary
import TagTracking
import TagTrackingService
import VenueModel
import XCTest

/// Messages of gateways in, outputs of tags out, with one partition and with several.
final class FleetEngineTests: XCTestCase {
    private static let start = Instant(seconds: 1_700_000_000)

    private static let venue: Venue = {
        let receivers = (0..<6).map { index in
            let id = "gateway-\(index)"
            return VenueReceiver(
                id: id, identity: VenueReceiver.identity(for: id), mapID: 1,
                point: MapPoint(x: 5 + 10 * Double(index % 3), y: 5 + 10 * Double(index / 3)))
        }
        let map = VenueMap(id: 1, name: "Hall", level: 0, width: 30, height: 20)
        return Venue(id: 7, name: "Hall", maps: [map], receivers: receivers)
    }()

    /// The messages of gateways, as OpenMQTTGateway sends them, in the order of their arrival.
    private func messages(tags: Int, seconds: Int) -> [GatewayMessage] {
        var settings = SimulatedFleetSettings()
        settings.tagCount = tags
        var fleet = SimulatedFleet(venue: Self.venue, settings: settings, start: Self.start)
        return fleet.readings(until: Self.start.advanced(by: .seconds(seconds))).map { reading in
            let tag = "C0000000000" + String(reading.tag, radix: 16, uppercase: true)
            let payload = #"{"id":"\#(tag)","rssi":\#(Int(reading.rssi.rounded()))}"#
            return GatewayMessage(
                topic: "home/gateway-\(reading.receiver)/BTtoMQTT/\(tag)", payload: Array(payload.utf8),
                arrival: reading.instant)
        }
    }

    /// Returns the outputs of each tag.
    private func outputs(
        of messages: [GatewayMessage], seconds: Int, partitions: Int
    ) async throws -> [TagKey: [FleetOutput]] {
        var settings = FleetSettings()
        settings.classes["standard"] = .light
        let setup = FleetEngine.Setup(
            model: FleetModel(venue: Self.venue, settings: settings), seed: 3, partitionCount: partitions)
        let engine = try FleetEngine.start(setup, in: nil, at: Self.start).engine
        var (outputs, index) = ([FleetOutput](), 0)
        for step in 1...2 * seconds {
            let now = Self.start.advanced(by: .milliseconds(500 * step))
            let end = messages[index...].firstIndex { $0.arrival >= now } ?? messages.count
            outputs += await engine.step(Array(messages[index..<end]), to: now).outputs
            index = end
        }
        return Dictionary(grouping: outputs, by: \.tag)
    }

    func testTheActivityHasTheLatestMessagesAndTheSimilarNamesOfUnknownGateways() async throws {
        var settings = FleetSettings()
        settings.unknownTags = .none
        let setup = FleetEngine.Setup(
            model: FleetModel(venue: Self.venue, settings: settings), seed: 3, partitionCount: 2)
        let engine = try FleetEngine.start(setup, in: nil, at: Self.start).engine
        let messages = ["gateway-1", "Gateway_2", "gatewy-3", "porch", "AA:BB:CC:DD:EE:01"].map { name in
            GatewayMessage(
                topic: "home/\(name)/BTtoMQTT/C0", payload: Array(#"{"id":"C00000000001","rssi":-60}"#.utf8),
                arrival: Self.start)
        }
        let step = await engine.step(messages, to: Self.start.advanced(by: .seconds(1)))
        let activity = try XCTUnwrap(step.activity)
        // No tag is located, and the gateways send all the same.
        XCTAssertEqual(activity.latest, ["gateway-1": Self.start, "gateway-2": Self.start])
        XCTAssertEqual(
            activity.unknownGateways.map(\.text),
            [
                #"unknown gateway "AA:BB:CC:DD:EE:01""#, #"unknown gateway "gatewy-3": is it "gateway-3"?"#,
                #"unknown gateway "porch""#,
            ])
        let idle = await engine.step([], to: Self.start.advanced(by: .seconds(2)))
        XCTAssertNil(idle.activity)
    }

    func testSeveralPartitionsGiveTheOutputsOfOne() async throws {
        let messages = messages(tags: 12, seconds: 12)
        let one = try await outputs(of: messages, seconds: 13, partitions: 1)
        XCTAssertEqual(one.count, 12)
        XCTAssertTrue(one.values.allSatisfy { $0.count > 3 }, "\(one.mapValues(\.count))")
        for partitions in [2, 5] {
            let several = try await outputs(of: messages, seconds: 13, partitions: partitions)
            let used = Set(one.keys.map { Partitioning(partitions: partitions).partition(of: $0) })
            XCTAssertEqual(used.count, partitions, "each partition has a tag")
            for (tag, expected) in one { XCTAssertEqual(several[tag], expected, "\(tag), \(partitions) partitions") }
            XCTAssertEqual(several.count, one.count)
        }
    }
}
