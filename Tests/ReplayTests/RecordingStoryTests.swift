import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import VenuePackets
import XCTest

/// The required sequence of states for each recording, independent of its figures.
final class RecordingStoryTests: XCTestCase {
    /// The names of the states until the first position.
    private static let start = ["started", "searchVenue", "getPacket", "getPacket", "findFloor", "localizationRunning"]

    func testPositionsAreReportedOnlyWhileRunningAndOnTheMapOfTheState() async throws {
        for name in RecordedWalk.names {
            var mapID: MapID?
            var positions = 0
            for output in try await RecordedWalk.replayed(name).outputs {
                switch output.content {
                case .state(.localizationRunning(let running)): mapID = running.mapID
                case .state: mapID = nil
                case .position(let position):
                    positions += 1
                    XCTAssertEqual(position.mapID, mapID, "\(name) at \(output.instant)")
                case .outdoorPosition, .motion, .event, .interaction, .downloadedVenue, .error, .diagnosis: break
                }
            }
            XCTAssertGreaterThan(positions, 20, name)
        }
    }

    func testOutputsAreInOrderOfTimeAndWithoutErrors() async throws {
        for name in RecordedWalk.names {
            let outputs = try await RecordedWalk.replayed(name).outputs
            XCTAssertGreaterThan(outputs.count, 20, name)
            for (earlier, later) in zip(outputs, outputs.dropFirst()) {
                XCTAssertLessThanOrEqual(earlier.instant, later.instant, name)
            }
            for output in outputs {
                guard case .error(let error) = output.content else { continue }
                if case .beaconFault(let fault) = error.reason, name == "half-silent" {
                    XCTAssertEqual(fault.kind, .silent, "\(name): \(error)")
                } else {
                    XCTFail("\(name): \(error)")
                }
            }
        }
    }

    func testTheOneFloorRecordingNeverLeavesTheFloor() async throws {
        let walk = try await RecordedWalk.replayed("one-floor")
        XCTAssertEqual(walk.states.map(\.what.name), Self.start + ["idle"])
        XCTAssertEqual(walk.runningMaps, [1])
    }

    func testTheStairsRecordingChangesTheFloorExactlyOnce() async throws {
        let walk = try await RecordedWalk.replayed("stairs")
        XCTAssertEqual(walk.states.map(\.what.name), Self.start + ["findFloor", "localizationRunning", "idle"])
        XCTAssertEqual(walk.runningMaps, [1, 2])
    }

    func testTheStairsRecordingChangesTheFloorSoonAfterTheClimb() async throws {
        let walk = try await RecordedWalk.replayed("stairs")
        // The map changes half way up the stairs; heights are compared at the end of the climb, at (27.6, 3).
        let halfWay = try XCTUnwrap(walk.truths.first { $0.mapID == 2 }).instant
        let top = try XCTUnwrap(walk.truths.first { $0.mapID == 2 && $0.point == MapPoint(x: 27.6, y: 3) }).instant
        let changed = try XCTUnwrap(walk.states.last { $0.what.name == "localizationRunning" }).instant
        XCTAssertGreaterThanOrEqual(changed, halfWay)
        XCTAssertLessThanOrEqual(changed.seconds, top.seconds + 5)
    }

    func testTheOutdoorRecordingLosesTheVenueOnceAndFindsItAgain() async throws {
        let walk = try await RecordedWalk.replayed("outdoors")
        // Satellites find the venue again, so that its packet is there at the first beacon.
        XCTAssertEqual(
            walk.states.map(\.what.name),
            Self.start + ["searchVenue", "getPacket", "findFloor", "localizationRunning", "idle"])
        XCTAssertEqual(walk.runningMaps, [1, 1])
    }

    func testTheOutdoorRecordingHasPositionsFromTheDoorOn() async throws {
        let walk = try await RecordedWalk.replayed("outdoors")
        let back = try XCTUnwrap(walk.truths.last { $0.room == "outdoors" }).instant
        let positions = walk.positions.filter { $0.instant > back }
        XCTAssertEqual(try XCTUnwrap(positions.first).instant.seconds, back.seconds, accuracy: 1)
        XCTAssertGreaterThan(positions.count, 10)
    }

    func testTheOutdoorRecordingHasNoPositionWithoutBeacons() async throws {
        let walk = try await RecordedWalk.replayed("outdoors")
        let silence = try XCTUnwrap(
            zip(walk.sightings, walk.sightings.dropFirst()).max { $0.0.duration(to: $0.1) < $1.0.duration(to: $1.1) })
        XCTAssertGreaterThan(silence.1.seconds - silence.0.seconds, 30)
        // The last readings may be used for ten seconds.
        let heard = walk.positions.filter { $0.instant.seconds > silence.0.seconds + 10 && $0.instant < silence.1 }
        XCTAssertEqual(heard, [])
    }

    func testTheHalfSilentRecordingHasPositionsToTheEnd() async throws {
        let walk = try await RecordedWalk.replayed("half-silent")
        XCTAssertEqual(walk.states.map(\.what.name), Self.start + ["idle"])
        XCTAssertEqual(walk.runningMaps, [2])
        let times = walk.positions.map(\.instant.seconds)
        XCTAssertGreaterThanOrEqual(try XCTUnwrap(times.last), walk.end.seconds - 1)
        for (earlier, later) in zip(times, times.dropFirst()) { XCTAssertLessThanOrEqual(later - earlier, 1.001) }
    }
}

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

/// Recordings of the fixtures with a localizer and with a replay: tasks and streams do not change the output.
final class LocalizerRecordingTests: XCTestCase {
    private struct ReportedOutputs: Equatable {
        var states: [LocalizationState] = []
        var positions: [Position] = []
        var outdoors: [OutdoorPosition] = []
        var events: [LocalizationEvent] = []
        var venues: [Venue] = []
        var errors: [LocalizationError] = []
        /// The counts of positions, outdoor positions, events and errors.
        var counts: [Int] = []
    }

    private struct Streams {
        var states: AsyncStream<LocalizationState>
        var positions: AsyncStream<Position>
        var outdoors: AsyncStream<OutdoorPosition>
        var events: AsyncStream<LocalizationEvent>
        var venues: AsyncStream<Venue>
        var errors: AsyncStream<LocalizationError>
        var counts: Task<[Int], Never>?
    }

    /// Settings with few particles, because these tests don't check the accuracy.
    private var settings: LocalizationSettings {
        var settings = LocalizationSettings()
        settings.positioning.particleCount = 100
        return settings
    }

    private func reported(by walk: RecordedWalk) -> ReportedOutputs {
        var reported = ReportedOutputs()
        for output in walk.outputs {
            switch output.content {
            case .state(let state): reported.states.append(state)
            case .position(let position): reported.positions.append(position)
            case .outdoorPosition(let position): reported.outdoors.append(position)
            case .motion: XCTFail("motion was reported without a request")
            case .event(let event): reported.events.append(event)
            case .interaction(let event): XCTFail("the venue has no interactions: \(event)")
            case .downloadedVenue(let venue): reported.venues.append(venue)
            case .error(let error): reported.errors.append(error)
            case .diagnosis: break  // the stream of diagnoses has more
            }
        }
        reported.counts = [
            reported.positions.count, reported.outdoors.count, reported.events.count, reported.errors.count,
        ]
        return reported
    }

    private func localized(_ path: String, _ venues: LocalVenueSource) async throws -> ReportedOutputs {
        let ended = expectation(description: "\(path) has ended")
        let streams = await play(path, venues, ended)
        await fulfillment(of: [ended], timeout: Bounded.longest.seconds)
        // The localizer is released here, so the streams end.
        return await ReportedOutputs(
            states: Array(streams.states.collected.dropFirst()), positions: streams.positions.collected,
            outdoors: streams.outdoors.collected, events: streams.events.collected, venues: streams.venues.collected,
            errors: streams.errors.collected, counts: streams.counts?.value ?? [])
    }

    private func play(_ path: String, _ venues: LocalVenueSource, _ ended: XCTestExpectation) async -> Streams {
        let localizer = Localizer(source: RecordingSource(path: path), venues: venues, settings: settings, seed: 7)
        var streams = Streams(
            states: localizer.states, positions: localizer.positions, outdoors: localizer.outdoorPositions,
            events: localizer.events,
            venues: localizer.downloadedVenues, errors: localizer.errors)
        let states = localizer.states
        await localizer.start()
        streams.counts = Task {
            for await state in states.dropFirst() where state == .idle { break }
            // This keeps the localizer alive until here.
            let counts = await localizer.activityCounts
            ended.fulfill()
            return [counts.positions, counts.outdoorPositions, counts.events, counts.errors]
        }
        return streams
    }

    /// A session counts its outputs.
    func testALocalizerReportsTheSameAsTheReplay() async throws {
        let office = try FixtureFolder("office").path
        for name in ["one-floor", "outdoors"] {
            let path = try RecordedWalk.path(name)
            let venues = LocalVenueSource(paths: [office])
            let identifier = try await venues.catalogue().first?.id
            let venue = try await venues.packet(for: XCTUnwrap(identifier)) { _ in }
            let expected = reported(by: try await RecordedWalk(name, in: venue, settings: settings, seed: 7))
            XCTAssertGreaterThan(expected.positions.count, 10, name)
            XCTAssertEqual(expected.outdoors.isEmpty, name != "outdoors", name)
            let reported = try await localized(path, venues)
            XCTAssertEqual(reported.states, expected.states, name)
            XCTAssertTrue(
                reported == expected, "\(name): positions, outdoor positions, events, venues or errors differ")
        }
    }
}

extension AsyncStream where Element: Sendable {
    /// Returns all elements until the end of the stream.
    fileprivate var collected: [Element] {
        get async { await reduce(into: []) { $0.append($1) } }
    }
}
