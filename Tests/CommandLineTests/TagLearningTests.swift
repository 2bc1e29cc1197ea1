import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import TagTracking
import TagTrackingService
import VenuePackets
import XCTest

@testable import indoorloc

/// `survey --self --tags`: the powers of receivers from the recordings of `track`.
final class TagLearningTests: XCTestCase {
    /// What tags that walk through the office teach, from an empty folder to the edition.
    func testTheReceiversAreLearnedFromWhatTheyHearAndTagsAreLocatedBetter() async throws {
        let office = try SimulatedOffice(in: try temporaryFolder())
        try await office.record(tags: 10, seconds: 30)
        let files = try FileManager.default.contentsOfDirectory(atPath: office.recordings)
        XCTAssertEqual(files.count, 10, "each tag has moved")
        let result = try Tool.run([
            "survey", "--self", "--tags", "--venue", office.packet, "--output", office.learned, office.recordings,
        ])
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertTrue(result.output.contains("adopted: "), result.output)
        XCTAssertFalse(result.output.contains("not adopted"), result.output)
        XCTAssertTrue(result.output.contains("\ngateway-3: "), result.output)
        XCTAssertTrue(result.output.contains("receivers that hear the tag"), result.output)
        XCTAssertFalse(result.output.contains("beacon"), result.output)

        let base = try VenuePacketReader().read(office.packet)
        let edition = try XCTUnwrap(LearnedEdition(path: office.learned).edition(of: base)).venue
        XCTAssertEqual(edition.version, base.venue.version + 1)
        XCTAssertEqual(edition.beacons, base.venue.beacons, "the beacons stay")
        let squares = zip(edition.receivers, office.truth.receivers).map { learned, truth in
            let error = (learned.measuredPower ?? 0) - (truth.measuredPower ?? 0)
            return error * error
        }
        XCTAssertLessThan((squares.reduce(0, +) / Double(squares.count)).squareRoot(), 4, "of 8 dB")
        let json = try XCTUnwrap(
            JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: office.learned + "/self-learning.json")))
                as? [String: Any])
        XCTAssertEqual((json["receivers"] as? [Any])?.count, edition.receivers.count)
        XCTAssertNil(json["beacons"])

        let before = try await office.error(in: base.venue)
        let after = try await office.error(in: edition)
        let best = try await office.error(in: office.truth)
        XCTAssertLessThan(after, before - 0.5 * (before - best), "\(before) m before, \(best) m at best")
        XCTAssertLessThan(after, 0.8 * before)
    }

    func testAVenueWithoutReceiversIsRefused() throws {
        let walk = try ShortRecording(lines: 10).write(to: temporaryFolder())
        let result = try Tool.run([
            "survey", "--self", "--tags", "--venue", "Fixtures/office", "-o", temporaryFolder() + "/learned", walk,
        ])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(
            result.errors.contains(
                "Fixtures/office has no receivers; --self --tags requires the places of the receivers"), result.errors)
        let alone = try Tool.run([
            "survey", "--tags", "--venue", "Fixtures/office", "-o", temporaryFolder() + "/map.json", walk,
        ])
        XCTAssertEqual(alone.status, 2)
        XCTAssertTrue(alone.errors.contains("--tags requires --self"), alone.errors)
    }

    func testRecordingsOfDevicesTeachNothingAboutReceivers() throws {
        let folder = try temporaryFolder()
        let walk = try ShortRecording(lines: 100).write(to: folder)
        let words = [
            "survey", "--self", "--tags", "--venue", "Fixtures/tags/office", "-o", folder + "/learned", walk,
        ]
        let result = try Tool.run(words)
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertTrue(
            result.output.contains(
                "hardly any receiver of 'Office with gateways' has heard the tags; are the recordings of another"),
            result.output)
        // A recording that a kill or a running service leaves unreadable doesn't end a lenient learning.
        let empty = folder + "/empty.jsonl"
        try Data().write(to: URL(filePath: empty))
        XCTAssertEqual(try Tool.run(words + [empty]).status, 1)
        let lenient = try Tool.run(words + ["--lenient", empty])
        XCTAssertEqual(lenient.status, 0, lenient.errors)
        XCTAssertTrue(lenient.errors.contains("\(empty): "), lenient.errors)
        XCTAssertTrue(lenient.errors.contains("; the rest of the recording is not used"), lenient.errors)
    }
}

/// An office of 24 × 18 m with twelve gateways, whose powers are wrong in its packet, and simulated tags in it.
private struct SimulatedOffice {
    static let start = Instant(seconds: 1_795_917_600)

    let packet: String
    let recordings: String
    let learned: String
    /// The office with the true powers: alternately 8 dB above and below those that the packet presumes.
    let truth: Venue

    private var venue: Venue

    init(in folder: String) throws {
        (packet, recordings, learned) = (folder + "/office", folder + "/recordings", folder + "/learned")
        let receivers = (0..<12).map { index in
            let id = "gateway-\(index)"
            return VenueReceiver(
                id: id, identity: VenueReceiver.identity(for: id), mapID: 1,
                point: MapPoint(x: 3 + 6 * Double(index % 4), y: 3 + 6 * Double(index / 4)))
        }
        let beacon = VenueBeacon(
            identity: BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 4), mapID: 1,
            point: MapPoint(x: 1, y: 1), measuredPower: -59)
        venue = Venue(
            id: 7, name: "Office", maps: [VenueMap(id: 1, name: "Office", level: 0, width: 24, height: 18)],
            beacons: [beacon], receivers: receivers)
        venue.settings["positioning.particleCount"] = .number(100)
        var truth = venue
        for index in receivers.indices {
            truth.receivers[index].measuredPower = -62 + ((index + index / 4) % 2 == 0 ? 8 : -8)
        }
        self.truth = truth
        for path in [packet, recordings] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        }
        try VenuePacketWriter().write(venue, toFolder: packet)
    }

    private func fleet(_ tags: Int, seed: UInt64) -> SimulatedFleet {
        var settings = SimulatedFleetSettings()
        (settings.tagCount, settings.seed, settings.pause, settings.speed) = (tags, seed, 0, 1.2)
        (settings.advertisingInterval, settings.lossShare, settings.shadowing) = (0.5, 0, 2)
        return SimulatedFleet(venue: truth, settings: settings, start: Self.start)
    }

    private func engine(_ venue: Venue, particles: Int) throws -> FleetEngine {
        var settings = FleetSettings()
        settings.classes["standard"] = FleetSettings.TagClass(particleCount: particles, cellScale: 2)
        settings.knowsReceiverPowers = false
        return try FleetEngine.start(
            FleetEngine.Setup(model: FleetModel(venue: venue, settings: settings), seed: 1), in: nil, at: Self.start
        ).engine
    }

    /// Returns the messages of the gateways until an instant.
    private static func messages(of fleet: inout SimulatedFleet, until end: Instant) -> [GatewayMessage] {
        fleet.readings(until: end).map { reading in
            let tag = "C0000000000" + String(reading.tag, radix: 16, uppercase: true)
            return GatewayMessage(
                topic: "home/gateway-\(reading.receiver)/BTtoMQTT/\(tag)",
                payload: Array(#"{"id":"\#(tag)","rssi":\#(Int(reading.rssi.rounded()))}"#.utf8),
                arrival: reading.instant)
        }
    }

    /// Tracks tags with the office's packet, and records them.
    func record(tags: Int, seconds: Int) async throws {
        let engine = try engine(venue, particles: 100)
        let recorder = TagRecorder(engine)
        let folder = RecordingFolder(path: recordings, limit: 1_000_000_000, namesTags: true)
        var fleet = fleet(tags, seed: 1)
        for second in 1...seconds {
            let now = Self.start.advanced(by: .seconds(second))
            let step = await engine.step(Self.messages(of: &fleet, until: now), to: now)
            await recorder.write(step.outputs)
            await recorder.write(step.readings)
        }
        recorder.close()
        await recorder.run { TagRecordings(folder: folder) }
    }

    /// Returns the mean error in metres of two tags, of which nothing was learned.
    func error(in venue: Venue) async throws -> Double {
        let engine = try engine(venue, particles: 250)
        var fleet = fleet(2, seed: 99)
        var (sum, count) = (0.0, 0.0)
        for second in 1...40 {
            let now = Self.start.advanced(by: .seconds(second))
            let step = await engine.step(Self.messages(of: &fleet, until: now), to: now)
            guard second > 5 else { continue }
            for output in step.outputs {
                guard case .position(let position) = output.content, case .address(let address) = output.tag else {
                    continue
                }
                sum += position.point.distance(to: fleet.place(of: Int(address.rawValue & 0xF)).point)
                count += 1
            }
        }
        return sum / count
    }
}
