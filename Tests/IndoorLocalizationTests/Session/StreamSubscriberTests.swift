import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

@testable import BeaconScanning
@testable import LocalizationPlugins
@testable import LocalizationSession

/// Subscribers of every stream of a session and of a scanner: absent ones, attentive ones and cancelled ones.
final class StreamSubscriberTests: XCTestCase {
    /// A stream of a live object.
    private struct Row {
        let name: String
        let check: () async throws -> Void

        /// - Parameters:
        ///   - limit: the number of elements that the stream stores for a subscriber that doesn't read.
        ///   - initial: the number of elements that a subscription begins with.
        ///   - dropped: the counter that includes the stream.
        init<Element: Sendable>(
            _ name: String, limit: Int, initial: Int = 0, dropped: @escaping () -> Int,
            _ subscribe: @escaping () -> AsyncStream<Element>, _ broadcast: Broadcast<Element>,
            _ element: @escaping () throws -> Element
        ) {
            self.name = name
            check = {
                let element = try element()
                let before = dropped()
                let absent = subscribe()
                let attentive = subscribe()
                // A subscriber that was cancelled loses nothing, as it is no subscriber.
                let cancelled = subscribe()
                let reader = Task { for await _ in cancelled {} }
                reader.cancel()
                await reader.value
                if initial > 0 { _ = try await Bounded.first(initial, of: attentive) }
                // In portions, so that the attentive subscriber is never behind by more than the limit.
                let portion = min(limit, 16)
                let sent = (limit / portion + 4) * portion
                for _ in 0..<sent / portion {
                    for _ in 0..<portion { broadcast.send(element) }
                    let seen = try await Bounded.first(portion, of: attentive)
                    XCTAssertEqual(seen.count, portion, name)
                }
                XCTAssertEqual(dropped() - before, sent + initial - limit, "\(name): only the absent one lost elements")
                broadcast.finish()
                let stored = try await Bounded.all(absent)
                XCTAssertEqual(stored.count, limit, "\(name): the newest elements are stored")
                let rest = try await Bounded.all(attentive)
                XCTAssertEqual(rest.count, 0, name)
            }
        }
    }

    private static let position = Position(
        instant: .zero, venueID: 1, mapID: 10, point: MapPoint(x: 1, y: 2), radius: 1)

    func testEveryStreamOfASessionHasABoundAndCountsItsLosses() async throws {
        let localizer = LocalizerStage().localizer
        let dropped = { localizer.droppedElements }
        let rows = [
            Row("outputs", limit: 1024, dropped: dropped, { localizer.outputs }, localizer.outputBroadcast) {
                SessionOutput(instant: .zero, content: .position(Self.position))
            },
            Row("states", limit: 1024, initial: 1, dropped: dropped, { localizer.states }, localizer.stateBroadcast) {
                .started
            },
            Row(
                "evaluations", limit: 1024, initial: 1, dropped: dropped, { localizer.evaluations },
                localizer.evaluationBroadcast
            ) { VenueEvaluation(state: .started) },
            Row(
                "serviceStatuses", limit: 1024, initial: 1, dropped: dropped, { localizer.serviceStatuses },
                localizer.statusBroadcast
            ) { .available },
            Row(
                "diagnoses", limit: 256, initial: 1, dropped: dropped, { localizer.diagnoses },
                localizer.diagnosisBroadcast
            ) { SessionDiagnosis(state: .idle, reason: .notRunning) },
            Row("positions", limit: 1024, dropped: dropped, { localizer.positions }, localizer.positionBroadcast) {
                Self.position
            },
            Row(
                "outdoorPositions", limit: 1024, dropped: dropped, { localizer.outdoorPositions },
                localizer.outdoorBroadcast
            ) {
                OutdoorPosition(instant: .zero, coordinate: Coordinate(latitude: 52, longitude: 13), radius: 5)
            },
            Row(
                "downloadedVenues", limit: 16, dropped: dropped, { localizer.downloadedVenues },
                localizer.venueBroadcast
            ) { SessionStage.shop },
            Row("events", limit: 1024, dropped: dropped, { localizer.events }, localizer.eventBroadcast) {
                LocalizationEvent(instant: .zero, venueID: 1, kind: .enterRoom(SessionStage.office.rooms[0]))
            },
            Row("errors", limit: 256, dropped: dropped, { localizer.errors }, localizer.errorBroadcast) {
                SessionStage.network
            },
            Row("motion", limit: 1024, dropped: dropped, { localizer.motion }, localizer.motionBroadcast.motion) {
                MotionEstimate(instant: .zero)
            },
            Row("headings", limit: 1024, dropped: dropped, { localizer.headings }, localizer.motionBroadcast.headings) {
                Heading(instant: .zero, course: 90, accuracy: 1, reference: .start)
            },
            Row(
                "attitudes", limit: 1024, dropped: dropped, { localizer.attitudes }, localizer.motionBroadcast.attitudes
            ) { Attitude(instant: .zero, rotation: Quaternion(w: 1, x: 0, y: 0, z: 0)) },
        ]
        for row in rows { try await row.check() }
    }

    func testEveryStreamOfAFloorPlanLocalizerHasABoundAndCountsItsLosses() async throws {
        let plan = try XCTUnwrap(SessionStage.office.floorPlan(10))
        let localizer = FloorPlanLocalizer(
            on: plan, source: ScriptedSource(), venues: VenueLibrary([SessionStage.office]), clock: ManualClock())
        let dropped = { localizer.droppedElements }
        let rows = [
            Row("states", limit: 1024, initial: 1, dropped: dropped, { localizer.states }, localizer.stateBroadcast) {
                .stopped(nil)
            },
            Row("progress", limit: 64, dropped: dropped, { localizer.loadingProgress }, localizer.progressBroadcast) {
                0.5
            },
            Row("positions", limit: 1024, dropped: dropped, { localizer.positions }, localizer.positionBroadcast) {
                Self.position
            },
            Row("events", limit: 1024, dropped: dropped, { localizer.events }, localizer.eventBroadcast) {
                LocalizationEvent(instant: .zero, venueID: 1, kind: .enterRoom(SessionStage.office.rooms[0]))
            },
            Row("errors", limit: 256, dropped: dropped, { localizer.errors }, localizer.errorBroadcast) {
                SessionStage.network
            },
        ]
        for row in rows { try await row.check() }
    }

    func testEveryStreamOfAScannerHasABoundAndCountsItsLosses() async throws {
        let scanner = ScannerStage().scanner
        let dropped = { scanner.droppedElements }
        let ranging = RegionRanging(instant: .zero, regionID: "hall", ranges: [])
        let rows = [
            Row("radioEvents", limit: 256, dropped: dropped, { scanner.radioEvents }, scanner.radioBroadcast) {
                RadioEvent(instant: .zero, status: .scanning, adapter: "hci0")
            },
            Row("errors", limit: 256, dropped: dropped, { scanner.errors }, scanner.errorBroadcast) {
                SessionStage.network
            },
            Row(
                "trackingStates", limit: 256, initial: 1, dropped: dropped, { scanner.trackingStates },
                scanner.trackingBroadcast
            ) { TrackingState(isMonitoring: true, isRanging: false, insideRegions: []) },
            Row(
                "advertisements", limit: 1024, dropped: dropped, { scanner.advertisements },
                scanner.advertisementBroadcast
            ) { try ScannerStage.advertisement(at: 1) },
            Row("rangings", limit: 1024, dropped: dropped, { scanner.rangings }, scanner.rangingBroadcast) { ranging },
            Row(
                "everyRanging", limit: 1024, dropped: dropped, { scanner.everyRanging }, scanner.everyRangingBroadcast
            ) { ranging },
        ]
        for row in rows { try await row.check() }
    }

    /// The streams that the localizer derives from others.
    func testASlowReaderOfVisitsIsCounted() async throws {
        let localizer = LocalizerStage().localizer
        let visits = localizer.visits
        let running = LocalizationState.localizationRunning(.init(venue: SessionStage.office, mapID: 10))
        // Each pair enters and leaves the venue and its floor plan.
        for round in 1...600 {
            for state in [running, .searchVenue] {
                localizer.datedStateBroadcast.send(DatedState(instant: .zero, state: state))
            }
            // The task that derives the visits must not fall behind.
            try await Bounded.wait(for: "the visits of round \(round)") {
                while localizer.derivedElements.sent < round * 4 {
                    try Task.checkCancellation()
                    await Task.yield()
                }
            }
        }
        localizer.finishStreams()
        let stored = try await Bounded.all(visits)
        XCTAssertEqual(stored.count, 1024)
        XCTAssertEqual(localizer.droppedElements, 600 * 4 - 1024)
    }

    /// An object, whose release a test can observe.
    private final class Token: Sendable {}

    func testACancelledSubscriberReleasesItsBuffer() async throws {
        let broadcast = Broadcast<Token>(.bufferingNewest(8))
        let (told, teller) = AsyncStream.makeStream(of: Void.self)
        let (never, holder) = AsyncStream.makeStream(of: Void.self)
        let reader = { () -> Task<Void, Never> in
            let stream = broadcast.subscribe()
            return Task {
                for await _ in stream {
                    teller.yield()
                    // It has read one element, and is busy until it is cancelled.
                    for await _ in never {}
                }
            }
        }()
        weak var last: Token?
        for _ in 0..<8 {
            let token = Token()
            last = token
            broadcast.send(token)
        }
        _ = try await Bounded.first(1, of: told)
        XCTAssertNotNil(last, "the buffer holds the element")
        reader.cancel()
        try await Bounded.wait(for: "the end of the reader") { await reader.value }
        broadcast.send(Token())
        XCTAssertNil(last)
        XCTAssertEqual(broadcast.dropped, 0)
        holder.finish()
    }
}
