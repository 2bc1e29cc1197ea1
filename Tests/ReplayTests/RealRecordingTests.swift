import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import VenuePackets
import XCTest

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
