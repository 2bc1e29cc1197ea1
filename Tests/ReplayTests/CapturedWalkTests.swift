import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import VenuePackets
import XCTest

/// Replays of captures that btmon recorded from the Bluetooth stack of a real kernel.
final class CapturedWalkTests: XCTestCase {
    private static let names = ["extended", "legacy"]

    func testTheCaptureContainsEachTransmittedSightingAtItsTime() throws {
        for name in Self.names {
            let walk = try CapturedWalk(name)
            XCTAssertEqual(walk.heard.map(\.beacon), walk.sent.map(\.beacon), name)
            // A controller reports whole decibels.
            XCTAssertEqual(walk.heard.map(\.rssi), walk.sent.map { $0.rssi.rounded() }, name)
            let delays = zip(walk.sent, walk.heard).map { $0.instant.duration(to: $1.instant).seconds }
            // The machine with the controller was emulated, and sometimes late.
            XCTAssertGreaterThan(try XCTUnwrap(delays.min()), -0.25, name)
            XCTAssertLessThan(try XCTUnwrap(delays.max()), 0.25, name)
            XCTAssertEqual(walk.tally.lostPackets, 0, name)
            XCTAssertEqual(walk.tally.unfinishedAdvertisements, 0, name)
            XCTAssertEqual(walk.tally.skippedRecords, 0, name)
        }
    }

    func testTheLongAdvertisementsOfTheExtendedCaptureAreComplete() throws {
        XCTAssertEqual(try CapturedWalk("legacy").others, [])
        let others = try CapturedWalk("extended").others
        XCTAssertGreaterThan(others.count, 20)
        for advertisement in others {
            XCTAssertEqual(advertisement.address.description, "C0:FF:EE:00:00:01")
            XCTAssertEqual(advertisement.data.count, 519)
        }
    }

    func testPositionsAreWithinTheLimitsOfEachCapture() throws {
        for name in Self.names {
            let walk = try CapturedWalk(name).replayed()
            let start = walk.positions.first?.instant.seconds
            print("captured \(name), seed 0: \(walk.score), start \(start ?? .nan) s")
            let limits = try RecordingLimits(path: FixtureFolder("captures/walks/" + name).file("limits.json"))
            XCTAssertGreaterThan(walk.score.count, 15, name)
            XCTAssertEqual(limits.problems(walk.score, start: start), [], name)
        }
    }

    func testACaptureAsASourceEmitsTheTransmittedSightings() async throws {
        for name in Self.names {
            let walk = try CapturedWalk(name)
            var sightings: [Sighting] = []
            for try await reading in BTSnoopSource(path: walk.path).readings() {
                if case .sighting(let sighting) = reading { sightings.append(sighting) }
            }
            XCTAssertEqual(sightings.map(\.beacon), walk.sent.map(\.beacon), name)
        }
    }

    func testEveryCaptureIsTested() throws {
        let files = try FixtureFolder("captures/walks").files()
        let expected = try Self.names.flatMap { name in
            let folder = try FixtureFolder("captures/walks/" + name)
            return [try folder.file("air.btsnoop"), try folder.file("limits.json")]
        }
        XCTAssertEqual(files, expected)
    }
}

/// A simulated walk that was transmitted over the air and captured by btmon.
struct CapturedWalk {
    /// The path of the capture.
    let path: String
    /// The transmitted sightings; their instants start with the walk.
    let sent: [Sighting]
    /// The sightings in the capture, on the same timeline.
    let heard: [Sighting]
    /// The advertisements without a beacon.
    let others: [Advertisement]
    /// The ground truth, on the same timeline.
    let truths: [Truth]
    /// The duration of the walk.
    let duration: Duration
    let office: Venue
    let tally: BTSnoopReader.Tally

    /// Reads a capture of `Fixtures/captures/walks`, which contains the same walk as the recording "one-floor".
    init(_ name: String) throws {
        path = try FixtureFolder("captures/walks/" + name).file("air.btsnoop")
        office = try VenuePacketReader().read(FixtureFolder("office").path).venue
        let document = try FixtureFolder("office/paths").file("one-floor.json")
        let script = try WalkScript(json: try Data(contentsOf: URL(filePath: document)))
        let simulator = try WalkSimulator(venue: office, script: script, seed: Self.seed)
        let entries = simulator.entries()
        duration = simulator.duration
        sent = entries.compactMap { if case .measurement(.sighting(let it)) = $0 { it } else { nil } }
        truths = entries.compactMap { if case .truth(let it) = $0 { it } else { nil } }

        var reader = try BTSnoopReader(path: path)
        var heard: [Sighting] = []
        var others: [Advertisement] = []
        for case .advertisement(let advertisement) in try reader.readAll() {
            if let sighting = try advertisement.sighting() {
                heard.append(sighting)
            } else {
                others.append(advertisement)
            }
        }
        tally = reader.tally
        // The capture began before the walk.
        let delay = (sent.first?.instant ?? .zero).duration(to: heard.first?.instant ?? .zero)
        self.heard = heard.map { sighting in
            var sighting = sighting
            sighting.instant = sighting.instant.advanced(by: .zero - delay)
            return sighting
        }
        self.others = others
    }

    /// Returns the positions that a session reports for the capture, and their score.
    func replayed(seed: UInt64 = 0) -> (positions: [Position], score: TrackScore) {
        var replay = SessionReplay(venues: [office], seed: seed)
        var outputs = replay.start()
        for sighting in heard { outputs += replay.handle(.sighting(sighting)) }
        outputs += replay.finish()
        let positions = outputs.compactMap { if case .position(let it) = $0.content { it } else { nil } }
        var scorer = TrackScorer(venue: office)
        scorer.add(truths: truths, end: Instant.zero.advanced(by: duration), positions: positions)
        return (positions, scorer.score)
    }

    /// The seed of the transmitted walk, which is that of the recording "one-floor".
    static let seed: UInt64 = 101
}

/// A small public data set of the fixtures: recordings from the real world with ground truth.
struct RealRecording {
    /// The limits for a session.
    ///
    /// They are the maximum mean error in metres, and the minimum shares of radii that contain the truth and of right
    /// floors.
    struct Limits: Decodable {
        var mean: RecordingLimits.Limit
        var inside: RecordingLimits.Limit
        var floor: RecordingLimits.Limit
    }

    static let names = ["kolakowski", "openhps", "tetam"]

    let folder: FixtureFolder
    let venue: Venue
    let tracks: [String]
    var limits: Limits

    init(_ name: String) throws {
        folder = try FixtureFolder("real/" + name)
        venue = try VenuePacketReader().read(folder.path).venue
        tracks = try FixtureFolder("real/\(name)/tracks").files(ending: ".jsonl.gz")
        limits = try JSONDecoder().decode(
            Limits.self, from: Data(contentsOf: URL(filePath: folder.file("limits.json"))))
    }

    /// Returns the score of all tracks, each replayed by a separate session.
    func score() async throws -> TrackScore {
        var scorer = TrackScorer(venue: venue)
        for track in tracks {
            var replay = SessionReplay(venues: [venue], settings: LocalizationSettings(), seed: 0)
            var outputs = replay.start()
            for try await reading in RecordingSource(path: track).readings() { outputs += replay.handle(reading) }
            outputs += replay.finish()
            var reader = try RecordingReader(path: track)
            var (truths, end): ([Truth], Instant) = ([], .zero)
            while let entry = try reader.next() {
                end = max(end, entry.instant ?? end)
                if case .truth(let truth) = entry { truths.append(truth) }
            }
            scorer.add(
                truths: truths, end: end,
                positions: outputs.compactMap { if case .position(let it) = $0.content { it } else { nil } })
        }
        return scorer.score
    }

    /// Returns the limits that a score violates, and those that are too loose to detect a regression.
    func problems(_ score: TrackScore) -> [String] {
        var problems: [String] = []
        if let mean = score.mean {
            if mean > limits.mean.limit { problems.append("mean is \(mean): \(limits.mean.reason)") }
            if mean < limits.mean.limit / 2 { problems.append("mean is \(mean): its limit is out of date") }
        } else {
            problems.append("mean was not measured")
        }
        for (name, share, limit) in [
            ("inside", score.insideRadius, limits.inside), ("floor", score.floor, limits.floor),
        ] {
            guard let share else {
                problems.append("\(name) was not measured")
                continue
            }
            if share < limit.limit { problems.append("\(name) is \(share): \(limit.reason)") }
            if share > limit.limit + 0.25 { problems.append("\(name) is \(share): its limit is out of date") }
        }
        return problems
    }
}

/// Sessions with readings of real radios in real buildings.
final class RealRecordingTests: XCTestCase {
    private func assertWithinLimits(_ name: String, count: Int, line: UInt = #line) async throws {
        let recording = try RealRecording(name)
        let score = try await recording.score()
        print("\(name), seed 0: \(score)")
        XCTAssertEqual(score.count, count, line: line)
        XCTAssertEqual(score.answered, 1, line: line)
        XCTAssertEqual(recording.problems(score), [], line: line)
        var strict = recording
        strict.limits.mean.limit = (score.mean ?? 0) * 0.99
        strict.limits.inside.limit = 1.01
        strict.limits.floor.limit = 1.01
        XCTAssertEqual(strict.problems(score).map { String($0.prefix(6)) }, ["mean i", "inside", "floor "], line: line)
    }

    func testASessionLocatesARobotInAFlatWithTheVenuePacketAlone() async throws {
        try await assertWithinLimits("kolakowski", count: 90)
    }

    func testASessionLocatesAStationaryPhoneInAUniversityWithASurvey() async throws {
        try await assertWithinLimits("openhps", count: 16)
    }

    func testASessionLocatesACarriedTagInAHallWithTheVenuePacketAlone() async throws {
        try await assertWithinLimits("tetam", count: 30)
    }

    func testEachDataSetHasItsLicenceAndAllOfThemAreSmall() throws {
        let files = try FixtureFolder("real").files()
        XCTAssertEqual(
            Set(files.map { $0.split(separator: "/").drop { $0 != "real" }.dropFirst().first.map(String.init) }),
            Set(RealRecording.names.map(Optional.some)))
        for name in RealRecording.names {
            let licence = try String(contentsOfFile: FixtureFolder("real/" + name).file("LICENSE"), encoding: .utf8)
            XCTAssertTrue(licence.contains("http"), name)
        }
        let bytes = try files.reduce(0) { sum, file in
            sum + (try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int ?? 0)
        }
        XCTAssertLessThan(bytes, 1_000_000)
    }
}
