import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// The limits for a session with a recording, from the `limits.json` beside it.
struct RecordingLimits: Decodable {
    /// A limit with its reason and its date.
    struct Limit: Decodable {
        var limit: Double
        var reason: String
        var date: String
    }

    /// The maximum median error on the right floor, in metres.
    var median: Limit
    /// The maximum 90th percentile of the error, in metres.
    var p90: Limit
    /// The minimum share of answers on the right floor.
    var floor: Limit
    /// The maximum time in seconds until the first position.
    var startUp: Limit

    /// Reads the limits of a recording.
    init(of name: String) throws {
        try self.init(path: FixtureFolder("recordings/" + name).file("limits.json"))
    }

    /// Reads limits from a file.
    init(path: String) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: URL(filePath: path)))
    }

    /// Returns the limits that the walk violates, and those that are too loose to detect a regression.
    ///
    /// A limit is out of date if it is more than twice the error, a tenth below the share of right floors, or four
    /// times the time until the first position.
    func problems(of walk: RecordedWalk) -> [String] {
        problems(walk.score, start: walk.positions.first?.instant.seconds)
    }

    /// Returns the same for a score and the time of the first position.
    func problems(_ score: TrackScore, start: Double?) -> [String] {
        problem("median", score.median, atMost: median, isLoose: { $0 < median.limit / 2 })
            + problem("p90", score.p90, atMost: p90, isLoose: { $0 < p90.limit / 2 })
            + problem("startUp", start, atMost: startUp, isLoose: { $0 < startUp.limit / 4 })
            + problem("floor", score.floor.map(-), atMost: negated(floor), isLoose: { -$0 > floor.limit + 0.1 })
            + [median, p90, floor, startUp].filter { $0.reason.isEmpty || $0.date.isEmpty }.map {
                "the limit \($0.limit) has no reason or no date"
            }
    }

    private func negated(_ limit: Limit) -> Limit {
        Limit(limit: -limit.limit, reason: limit.reason, date: limit.date)
    }

    private func problem(
        _ name: String, _ value: Double?, atMost limit: Limit, isLoose: (Double) -> Bool
    ) -> [String] {
        guard let value else { return ["\(name) was not measured"] }
        if value > limit.limit {
            return ["\(name) is \(abs(value)); the limit is \(abs(limit.limit)): \(limit.reason)"]
        }
        if isLoose(value) { return ["\(name) is \(abs(value)): the limit \(abs(limit.limit)) is out of date"] }
        return []
    }
}

final class RecordingLimitsTests: XCTestCase {
    private func assertWithinLimits(_ name: String, line: UInt = #line) async throws {
        let walk = try await RecordedWalk.replayed(name)
        let score = walk.score
        print("\(name), seed 0: \(score), start \(walk.positions.first?.instant.seconds ?? .nan) s")
        XCTAssertGreaterThan(score.count, 15, name, line: line)
        XCTAssertEqual(try RecordingLimits(of: name).problems(of: walk), [], name, line: line)
    }

    func testOneFloorIsWithinItsLimits() async throws { try await assertWithinLimits("one-floor") }
    func testStairsAreWithinTheirLimits() async throws { try await assertWithinLimits("stairs") }
    func testOutdoorsIsWithinItsLimits() async throws { try await assertWithinLimits("outdoors") }
    func testHalfSilentIsWithinItsLimits() async throws { try await assertWithinLimits("half-silent") }

    func testEveryRecordingHasItsLimits() throws {
        let recordings = try FixtureFolder("recordings").files()
        let expected = try (RecordedWalk.names + ["without-beacons"]).flatMap { name in
            let folder = try FixtureFolder("recordings/" + name)
            return [try folder.file("limits.json"), try folder.file("scan.jsonl.gz")]
        }
        XCTAssertEqual(recordings, expected)
    }

    func testAViolatedOrOutdatedLimitIsReported() async throws {
        let walk = try await RecordedWalk.replayed("one-floor")
        let median = try XCTUnwrap(walk.score.median)
        var limits = try RecordingLimits(of: "one-floor")
        limits.median.limit = median * 0.99
        XCTAssertEqual(limits.problems(of: walk).map { $0.prefix(9) }, ["median is"])
        limits.median.limit = median * 2.01
        XCTAssertTrue(limits.problems(of: walk).first?.contains("out of date") ?? false)
        limits.median.limit = median * 1.5
        limits.floor.limit = 1.01
        XCTAssertEqual(limits.problems(of: walk).map { $0.prefix(8) }, ["floor is"])
        limits.floor.limit = 0.8
        XCTAssertTrue(limits.problems(of: walk).first?.contains("out of date") ?? false)
    }
}
