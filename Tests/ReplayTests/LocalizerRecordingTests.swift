import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import VenuePackets
import XCTest

/// Recordings of the fixtures through a localizer and through a replay: tasks and streams change nothing.
final class LocalizerRecordingTests: XCTestCase {
    private struct Told: Equatable {
        var states: [LocalizationState] = []
        var positions: [Position] = []
        var outdoors: [OutdoorPosition] = []
        var events: [LocalizationEvent] = []
        var venues: [Venue] = []
        var errors: [LocalizationError] = []
        /// Positions, outdoor positions, events and errors, as they were counted.
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

    /// Few particles: how well the engine finds the place is not asked here.
    private var settings: LocalizationSettings {
        var settings = LocalizationSettings()
        settings.positioning.particleCount = 100
        return settings
    }

    private func told(by walk: RecordedWalk) -> Told {
        var told = Told()
        for output in walk.outputs {
            switch output.content {
            case .state(let state): told.states.append(state)
            case .position(let position): told.positions.append(position)
            case .outdoorPosition(let position): told.outdoors.append(position)
            case .motion: XCTFail("motion is told to nobody who did not ask")
            case .event(let event): told.events.append(event)
            case .interaction(let event): XCTFail("the venue has no interactions: \(event)")
            case .downloadedVenue(let venue): told.venues.append(venue)
            case .error(let error): told.errors.append(error)
            }
        }
        told.counts = [told.positions.count, told.outdoors.count, told.events.count, told.errors.count]
        return told
    }

    private func localized(_ path: String, _ venues: LocalVenueSource) async throws -> Told {
        let ended = expectation(description: "\(path) has ended")
        let streams = await play(path, venues, ended)
        await fulfillment(of: [ended], timeout: 120)
        // The localizer is gone, so the streams end.
        return await Told(
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
            // The localizer is kept until here.
            let counts = await localizer.activityCounts
            ended.fulfill()
            return [counts.positions, counts.outdoorPositions, counts.events, counts.errors]
        }
        return streams
    }

    /// Behaviour §4.1, row getMetric: a session counts what it tells.
    func testALocalizerTellsWhatTheReplayTells() async throws {
        let office = try FixtureFolder("office").path
        for name in ["one-floor", "outdoors"] {
            let path = try RecordedWalk.path(name)
            let venues = LocalVenueSource(paths: [office])
            let identifier = try await venues.catalogue().first?.id
            let venue = try await venues.packet(for: XCTUnwrap(identifier)) { _ in }
            let expected = told(by: try await RecordedWalk(name, in: venue, settings: settings, seed: 7))
            XCTAssertGreaterThan(expected.positions.count, 10, name)
            XCTAssertEqual(expected.outdoors.isEmpty, name != "outdoors", name)
            let told = try await localized(path, venues)
            XCTAssertEqual(told.states, expected.states, name)
            XCTAssertTrue(told == expected, "\(name): positions, outdoor positions, events, venues or errors differ")
        }
    }
}

extension AsyncStream where Element: Sendable {
    /// All elements until the end.
    fileprivate var collected: [Element] {
        get async { await reduce(into: []) { $0.append($1) } }
    }
}
