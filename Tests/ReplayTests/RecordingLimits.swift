import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// How well a session must do on a recording: `limits.json` beside it.
struct RecordingLimits: Decodable {
    /// A limit, why it is that and since when.
    struct Limit: Decodable {
        var limit: Double
        var reason: String
        var date: String
    }

    /// Median error on the right floor, in metres: at most.
    var median: Limit
    /// Error that nine of ten do not exceed, in metres: at most.
    var p90: Limit
    /// Share of the answers on the right floor: at least.
    var floor: Limit
    /// Seconds until the first position: at most.
    var startUp: Limit

    /// Reads the limits of a recording.
    init(of name: String) throws {
        try self.init(path: FixtureFolder("recordings/" + name).file("limits.json"))
    }

    /// Reads limits from a file.
    init(path: String) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: URL(filePath: path)))
    }

    /// What of the walk breaks a limit, and which limits it is so far from that they watch nothing any more.
    ///
    /// Out of date is a limit on an error that is more than twice the error, one on the floor that is a tenth too low,
    /// and one on the start that is four times as long.
    func problems(of walk: RecordedWalk) -> [String] {
        problems(walk.score, start: walk.positions.first?.instant.seconds)
    }

    /// The same of a score, with the first position's second.
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
            return ["\(name) is \(abs(value)), the limit is \(abs(limit.limit)): \(limit.reason)"]
        }
        if isLoose(value) { return ["\(name) is \(abs(value)): the limit \(abs(limit.limit)) is out of date, move it"] }
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

    func testALimitThatIsBrokenOrOutOfDateIsFound() async throws {
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
