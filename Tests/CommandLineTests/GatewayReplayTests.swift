import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import MQTTSharing
import ScanRecording
import TagTracking
import TagTrackingService
import VenuePackets
import XCTest

@testable import indoorloc

/// Real recordings whose device is a tag, with a real broker between gateways and fleet.
final class GatewayReplayTests: XCTestCase {
    private struct DataSet {
        let name: String
        let venue: Venue
        let tracks: [String]

        init(_ name: String) throws {
            self.name = name
            venue = try VenuePacketReader().read(FixtureFolder("real/" + name).path).venue
            tracks = try FixtureFolder("real/\(name)/tracks").files(ending: ".jsonl.gz")
        }
    }

    private func truths(of track: String) throws -> (truths: [Truth], end: Instant) {
        var reader = try RecordingReader(path: track)
        var (truths, end): ([Truth], Instant) = ([], .zero)
        while let entry = try reader.next() {
            end = max(end, entry.instant ?? end)
            if case .truth(let truth) = entry { truths.append(truth) }
        }
        return (truths, end)
    }

    /// The positions of a session of the device, which receives the beacons.
    private func session(_ track: String, in venue: Venue) async throws -> [Position] {
        var replay = SessionReplay(venues: [venue], settings: LocalizationSettings(), seed: 0)
        var outputs = replay.start()
        for try await reading in RecordingSource(path: track).readings() { outputs += replay.handle(reading) }
        outputs += replay.finish()
        return outputs.compactMap { if case .position(let position) = $0.content { position } else { nil } }
    }

    /// Publishes messages at a real broker, and returns those that a fleet's input receives.
    ///
    /// A message under `clock/` is the time of arrival of the following ones. The publisher waits for it, as the broker
    /// discards messages for a slow subscriber.
    private func exchanged(_ messages: [GatewayMessage], filters: [String]) async throws -> [GatewayMessage] {
        let broker = try broker()
        let time = Guarded(Instant.zero)
        let (events, continuation) = AsyncStream.makeStream(of: FleetInput.Event.self)
        let received = Guarded<[GatewayMessage]>([])
        let input = FleetInput(
            MQTTBroker(host: "127.0.0.1", port: broker.port), filters: filters + ["clock/+"]
        ) { message in
            guard message.topic.hasPrefix("clock/") else { return time.withLock(\.self) }
            let now = Int64(message.topic.dropFirst("clock/".count)) ?? 0
            time.withLock { $0 = Instant(nanoseconds: now) }
            return Instant(nanoseconds: now)
        }
        let running = Task {
            await input.run { event in
                if case .message(let message) = event, !message.topic.hasPrefix("clock/") {
                    received.withLock { $0.append(message) }
                } else {
                    continuation.yield(event)
                }
            }
        }
        defer { running.cancel() }
        func awaitEvent() async throws {
            try await Bounded.wait(for: "event of the input") { for await _ in events { return } }
        }
        try await awaitEvent()  // connected
        let client = try await GatewayClient(port: broker.port)
        for message in messages {
            client.publish("clock/\(message.arrival.nanoseconds)", [])
            client.publish(message.topic, message.payload)
            try await awaitEvent()
        }
        client.publish("clock/0", [])
        try await awaitEvent()
        return received.withLock(\.self)
    }

    private func score(_ positions: [Position], _ track: String, _ venue: Venue) throws -> TrackScorer {
        let (truths, end) = try truths(of: track)
        var scorer = TrackScorer(venue: venue)
        scorer.add(truths: truths, end: end, positions: positions)
        return scorer
    }

    func testATagThroughABrokerIsLocatedAsWellAsADevice() async throws {
        for set in [try DataSet("tetam"), try DataSet("kolakowski")] {
            var device = TrackScorer(venue: set.venue)
            var tag = TrackScorer(venue: set.venue)
            var filtered = TrackScorer(venue: set.venue)
            for track in set.tracks {
                let end = try truths(of: track).end
                device.add(try score(try await session(track, in: set.venue), track, set.venue))
                let raw = GatewayReplay(
                    venue: set.venue, messages: .raw, particleCount: PositioningSettings().particleCount, seed: 0)
                let messages = try raw.messages(of: track)
                let received = try await exchanged(messages, filters: ["+/gateways/+/advertisements"])
                XCTAssertEqual(received, messages, "\(set.name): the broker and the input change nothing")
                tag.add(try score(raw.positions(from: received, until: end), track, set.venue))
                let median = GatewayReplay(
                    venue: set.venue, messages: .espresense, particleCount: PositioningSettings().particleCount,
                    seed: 0)
                let medians = try median.messages(of: track)
                let heard = try await exchanged(medians, filters: ["espresense/devices/+/+"])
                XCTAssertEqual(heard, medians, set.name)
                filtered.add(try score(median.positions(from: heard, until: end), track, set.venue))
            }
            let means = [device, tag, filtered].map { $0.score.mean ?? .infinity }
            print("\(set.name): device \(means[0]) m, tag raw \(means[1]) m, tag espresense \(means[2]) m")
            // A quarter more at most: the tag has positions every half second at other instants than the session.
            XCTAssertLessThan(means[1], means[0] * 1.25 + 0.1, set.name)
            XCTAssertEqual(try XCTUnwrap(tag.score.answered), try XCTUnwrap(device.score.answered), accuracy: 0.1)
            XCTAssertLessThan(means[2], 6, "\(set.name): filtered readings still locate the tag")
        }
    }
}
