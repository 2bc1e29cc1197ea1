import IndoorLocalization
import IndoorLocalizationTesting
import LiveMap
import XCTest

/// A live map of a real localizer, on a virtual clock.
final class LiveMapLocalizerTests: XCTestCase {
    /// The hall with four beacons on the ground floor.
    private static let hall: Venue = {
        var hall = LiveMapStage.hall
        hall.beacons = [(5, 6), (35, 6), (5, 14), (35, 14)].enumerated().map { index, place in
            VenueBeacon(
                identity: LiveMapStage.beacon(UInt16(index + 1)), mapID: 40, point: MapPoint(x: place.0, y: place.1))
        }
        return hall
    }()

    /// The instant of the first reading.
    private static let beginning = 5000.0

    private struct Stage {
        let clock = ManualClock(now: Instant(seconds: 777))
        let source = ScriptedSource()
        let localizer: Localizer
        let content: LiveMapSession
        private let run: Task<Void, Never>

        init() {
            localizer = Localizer(
                source: source, venues: ScriptedVenueSource([LiveMapLocalizerTests.hall]),
                settings: LocalizationSettings(), clock: clock, seed: 1)
            content = LiveMapSession(localizer, title: "stage", clock: clock)
            run = Task { [content] in await content.run() }
        }

        /// Starts the session, and sends readings until it has emitted positions; returns those.
        func locate() async throws -> [Position] {
            let (states, first, all) = (localizer.states, localizer.positions, localizer.positions)
            await localizer.start()
            try await Bounded.wait(for: "the scan") { try await source.waitForScans(1) }
            _ = try await Bounded.elements(of: states, until: "searchVenue") { $0 == .searchVenue }
            for tick in 0..<50 { source.send(LiveMapLocalizerTests.reading(tick)) }
            _ = try await Bounded.first(1, of: first)
            // The session has now prepared the venue, and emits a position for each half second.
            for tick in 50..<80 { source.send(LiveMapLocalizerTests.reading(tick)) }
            try await Bounded.wait(for: "the last reading") {
                while await localizer.activityCounts.readings < 80 { await Task.yield() }
            }
            return try await Bounded.first(Int(await localizer.activityCounts.positions), of: all)
        }

        /// Returns the first frame for a new reader.
        func frame() async throws -> LiveMapFrame {
            let updates = await content.updates(after: nil)
            let seen = try await Bounded.elements(of: updates, until: "a frame") {
                if case .frame = $0 { true } else { false }
            }
            guard case .frame(let frame)? = seen.last else { throw Bounded.Expired(awaited: "a frame") }
            return frame
        }

        /// Returns the first event with a text.
        func event(_ text: String) async throws -> LiveMapEvent {
            try await Bounded.wait(for: "the event \(text)") {
                while true {
                    let events = await content.events()
                    if let event = events.first(where: { $0.text.hasPrefix(text) }) { return event }
                    await Task.yield()
                }
            }
        }

        func end() async {
            await localizer.stop()
            localizer.finishStreams()
            await run.value
        }
    }

    /// Returns a reading of one of the beacons in turn; there are ten a second.
    private static func reading(_ tick: Int) -> SensorReading {
        let minor = UInt16(tick % 4 + 1)
        return .sighting(
            Sighting(
                instant: Instant(seconds: beginning + Double(tick) / 10), beacon: LiveMapStage.beacon(minor),
                rssi: minor == 1 ? -60 : -80))
    }

    func testWithoutReadersTheTrailHasThePositionsAndNoSnapshots() async throws {
        let stage = Stage()
        let positions = try await stage.locate()
        try await Bounded.wait(for: "the trail") {
            while await stage.content.frames(from: 0, to: 1, limit: 100).count < positions.count { await Task.yield() }
        }
        let frames = await stage.content.frames(from: 0, to: 1, limit: 100)
        XCTAssertGreaterThan(positions.count, 3)
        XCTAssertEqual(frames.map { $0.estimate?.x ?? -1 }, positions.map { ($0.x * 100).rounded() / 100 })
        XCTAssertEqual(Set(frames.map(\.mapId)), [40])
        // A snapshot always has the beacons and the particles.
        XCTAssertTrue(frames.allSatisfy { $0.particles == nil && $0.beacons == nil && $0.levels == nil })
        await stage.end()
    }

    func testAFrameHasTheSnapshotOfTheSession() async throws {
        let stage = Stage()
        let positions = try await stage.locate()
        let last = try XCTUnwrap(positions.last)
        let frame = try await stage.frame()
        XCTAssertEqual([frame.venueId, frame.mapId], [4, 40])
        XCTAssertEqual(frame.state, "localizationRunning")
        XCTAssertEqual(frame.text, "In Hall, Ground")
        let estimate = try XCTUnwrap(frame.estimate)
        XCTAssertEqual(estimate.x, last.x, accuracy: 0.01)
        XCTAssertEqual(estimate.y, last.y, accuracy: 0.01)
        XCTAssertEqual(estimate.radius, last.radius, accuracy: 0.01)
        let levels = try XCTUnwrap(frame.levels)
        XCTAssertEqual(levels.map(\.mapId), [40, 41])
        XCTAssertEqual(levels.reduce(0) { $0 + $1.probability }, 1, accuracy: 0.001)
        let points = try XCTUnwrap(frame.particles).filter { $0.mapId == 40 }.flatMap(LiveMapStage.points)
        XCTAssertGreaterThan(points.count, 500)
        let mean = points.reduce(0) { $0 + $1[0] * 40 } / Double(points.count)
        XCTAssertEqual(mean, last.x, accuracy: 3, "the particles are around the estimate")
        let beacons = try XCTUnwrap(frame.beacons)
        XCTAssertEqual(beacons.map(\.id), Self.hall.beacons.map { "\($0.identity)" })
        XCTAssertEqual(beacons.map(\.rssi).max(), -60)
        XCTAssertTrue(beacons.allSatisfy { $0.isKnown && $0.expected != nil && ($0.deviation ?? 0) > 1 })
        let strongest = try XCTUnwrap(beacons.max { ($0.expected ?? -200) < ($1.expected ?? -200) })
        XCTAssertEqual(strongest.id, "\(LiveMapStage.beacon(1))", "the nearest one")
        XCTAssertNil(frame.diagnosis)
        // Time stands still, so that the session's own snapshot has the same content.
        let snapshot = await stage.localizer.snapshot(particles: 1000)
        XCTAssertEqual(frame, LiveMapFrame(snapshot, id: frame.id, t: frame.t))
        let events = await stage.content.events()
        XCTAssertEqual(events.filter { $0.kind == .state }.last?.text, "In Hall, Ground")
        await stage.end()
    }

    func testSilenceIsAnEventAndTheDiagnosisOfTheNextFrames() async throws {
        let stage = Stage()
        let before = try await stage.locate()
        stage.clock.advance(by: .seconds(7))
        let diagnosis = try await stage.event("No beacon of 'Hall' was received for ")
        XCTAssertEqual(diagnosis.kind, .diagnosis)
        XCTAssertEqual(diagnosis.t, 7)
        let frame = try await stage.frame()
        XCTAssertEqual(frame.diagnosis?.reason, "silentBeacons")
        XCTAssertEqual(frame.t, 7)
        XCTAssertNotNil(frame.diagnosis?.help)
        XCTAssertFalse(before.isEmpty)
        await stage.end()
    }
}
