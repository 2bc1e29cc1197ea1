import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import VenuePackets
import XCTest

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
        await fulfillment(of: [ended], timeout: 120)
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
