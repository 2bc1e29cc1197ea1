import Dispatch
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
            try await Bounded.poll(for: "the visits of round \(round)") {
                localizer.derivedElements.sent >= round * 4
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

final class SubscriptionTests: XCTestCase {
    /// What a watch was called with.
    private final class Calls: Sendable {
        private let numbers = Guarded<[Int]>([])
        func add(_ number: Int) { numbers.withLock { $0.append(number) } }
        var all: [Int] { numbers.withLock { $0 } }
    }

    /// Keeps an observation where its own call finds it.
    private final class Kept: Sendable {
        private let observation = Guarded<Subscription?>(nil)
        func keep(_ observation: Subscription) { self.observation.withLock { $0 = observation } }
        func close() { observation.withLock { $0 }?.close() }
    }

    /// A watch that alone holds its stream, so that the stream is given up when the watch has ended.
    private func watch(
        _ body: @escaping @Sendable (Int) -> Void
    ) -> (Subscription, AsyncStream<Int>.Continuation, ended: AsyncStream<Void>) {
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        let (ended, teller) = AsyncStream.makeStream(of: Void.self)
        continuation.onTermination = { _ in teller.yield() }
        return (Subscription(stream, body), continuation, ended)
    }

    private func first<Element: Sendable>(_ awaited: String, _ stream: AsyncStream<Element>) async throws {
        _ = try await Bounded.elements(of: stream, until: awaited) { _ in true }
    }

    func testASubscriptionIsCalledWithEachElement() async throws {
        let (seen, teller) = AsyncStream.makeStream(of: Int.self)
        let (observation, continuation, _) = watch { teller.yield($0) }
        for number in 1...5 { continuation.yield(number) }
        let elements = try await Bounded.elements(of: seen, until: "the fifth call") { $0 == 5 }
        XCTAssertEqual(elements, [1, 2, 3, 4, 5])
        observation.close()
    }

    func testAClosedSubscriptionIsNotCalled() async throws {
        for round in 0..<200 {
            let calls = Calls()
            let (observation, continuation, ended) = watch { calls.add($0) }
            for number in 0..<20 { continuation.yield(number) }
            observation.close()
            let known = calls.all
            for number in 20..<40 { continuation.yield(number) }
            try await first("the end of the watch", ended)
            XCTAssertEqual(calls.all, known, "round \(round)")
        }
    }

    func testCloseWaitsForTheRunningCall() async throws {
        for round in 0..<50 {
            let calls = Calls()
            let kept = Kept()
            let (seen, teller) = AsyncStream.makeStream(of: [Int].self)
            // The closing thread is none of those that tasks run on: these must not be blocked.
            let (observation, continuation, _) = watch { _ in
                DispatchQueue.global().async {
                    kept.close()
                    teller.yield(calls.all)
                }
                for number in 0..<1000 { calls.add(number) }
            }
            kept.keep(observation)
            continuation.yield(7)
            let atClose = try await Bounded.first(1, of: seen)[0]
            XCTAssertEqual(atClose.count, 1000, "round \(round): the call had ended when close() returned")
        }
    }

    func testASubscriptionCanBeClosedFromWithinItsCall() async throws {
        let calls = Calls()
        let kept = Kept()
        let (observation, continuation, ended) = watch { number in
            calls.add(number)
            kept.close()
        }
        kept.keep(observation)
        for number in 1...5 { continuation.yield(number) }
        try await first("the end of the watch", ended)
        XCTAssertEqual(calls.all, [1])
    }

    func testAReleasedSubscriptionEnds() async throws {
        let calls = Calls()
        let (continuation, ended) = { () -> (AsyncStream<Int>.Continuation, AsyncStream<Void>) in
            let (_, continuation, ended) = watch { calls.add($0) }
            return (continuation, ended)
        }()
        continuation.yield(1)
        try await first("the end of the watch", ended)
        XCTAssertEqual(calls.all, [])
    }

    func testASubscriptionEndsWithItsStream() async throws {
        let (seen, teller) = AsyncStream.makeStream(of: Int.self)
        let (observation, continuation, ended) = watch { teller.yield($0) }
        continuation.yield(1)
        continuation.finish()
        let elements = try await Bounded.elements(of: seen, until: "the call") { $0 == 1 }
        XCTAssertEqual(elements, [1])
        try await first("the end of the watch", ended)
        observation.close()
        observation.close()
    }
}

/// Calls with the elements of a localizer's streams.
final class WatchTests: XCTestCase {
    /// The office, all of it one room and one fence.
    private static var house: Venue {
        var venue = SessionStage.office
        let area = Area.circle(center: MapPoint(x: 20, y: 15), radius: 200)
        venue.rooms = [Room(id: 1, name: "hall", mapID: 10, area: area)]
        venue.fences = [Fence(id: 2, name: "grounds", mapID: 10, area: area)]
        return venue
    }

    func testTwoEventSubscriptionsAreCalledWithRoomsAndWithFences() async throws {
        var settings = LocalizerStage.settings
        settings.areaDwell = .zero
        let stage = LocalizerStage(venues: [Self.house], settings)
        let (calls, told) = AsyncStream.makeStream(of: String.self)
        let localizer = stage.localizer
        let subscriptions = [
            localizer.watch(\.events) { event in
                if let room = event.room { told.yield("\(event.isEntry ? "into" : "out of") \(room.name)") }
            },
            localizer.watch(\.events) { event in
                if let fence = event.fence { told.yield("\(event.isEntry ? "into" : "out of") \(fence.name)") }
            },
        ]
        defer { subscriptions.forEach { $0.close() } }
        try await stage.run()
        let entries = try await Bounded.first(2, of: calls)
        XCTAssertEqual(Set(entries), ["into hall", "into grounds"])
        await localizer.stop()
        let exits = try await Bounded.first(2, of: calls)
        XCTAssertEqual(Set(exits), ["out of hall", "out of grounds"])
    }

    func testSubscriptionsOfStatesPositionsAndEventsAreCalled() async throws {
        var settings = LocalizerStage.settings
        settings.areaDwell = .zero
        let stage = LocalizerStage(venues: [Self.house], settings)
        let (states, state) = AsyncStream.makeStream(of: String.self)
        let (positions, position) = AsyncStream.makeStream(of: MapID.self)
        let (events, event) = AsyncStream.makeStream(of: Bool.self)
        let subscriptions = [
            stage.localizer.watch(\.states) { state.yield($0.name) },
            stage.localizer.watch(\.positions) { position.yield($0.mapID) },
            stage.localizer.watch(\.events) { event.yield($0.isEntry) },
        ]
        defer { subscriptions.forEach { $0.close() } }
        try await stage.run()
        let seen = try await Bounded.first(3, of: states)
        XCTAssertEqual(seen, ["idle", "started", "searchVenue"], "the present one first")
        // However late the packet came, there is one.
        let maps = try await Bounded.first(1, of: positions)
        XCTAssertEqual(maps, [10])
        let entries = try await Bounded.first(2, of: events)
        XCTAssertEqual(entries, [true, true])
    }

    func testAnErrorSubscriptionIsCalled() async throws {
        let stage = LocalizerStage()
        stage.venues.change { $0.catalogueFailures = [SessionStage.network] }
        let (errors, error) = AsyncStream.makeStream(of: LocalizationError.Code.self)
        let subscription = stage.localizer.watch(\.errors) { error.yield($0.code) }
        defer { subscription.close() }
        await stage.localizer.start()
        let told = try await Bounded.first(1, of: errors)
        XCTAssertEqual(told, [.network])
    }
}

final class BroadcastTests: XCTestCase {
    func testEverySubscriberGetsEveryElement() async throws {
        var broadcast: Broadcast<Int>? = Broadcast(.unbounded)
        let streams = (0..<5).compactMap { _ in broadcast?.subscribe() }
        for number in 0..<100 { broadcast?.send(number) }
        broadcast = nil
        XCTAssertEqual(streams.count, 5)
        for stream in streams {
            let elements = try await Bounded.all(stream)
            XCTAssertEqual(elements, Array(0..<100))
        }
    }

    func testConcurrentSubscribersHaveIndependentStreams() async throws {
        let broadcast = Broadcast<Int>(.unbounded)
        let streams = (0..<4).map { _ in broadcast.subscribe() }
        let sums = try await Bounded.wait(for: "all subscribers") {
            await withTaskGroup(of: Int.self) { group in
                for stream in streams {
                    group.addTask {
                        var sum = 0
                        for await number in stream {
                            sum += number
                            if number == 1000 { break }
                        }
                        return sum
                    }
                }
                for number in 1...1000 { broadcast.send(number) }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
        XCTAssertEqual(sums, [500_500, 500_500, 500_500, 500_500])
    }

    func testALateSubscriberOfStatesGetsTheLatestFirst() async throws {
        var broadcast: Broadcast<Int>? = Broadcast(.unbounded, replaysLatest: true)
        for number in 1...3 { broadcast?.send(number) }
        let stream = try XCTUnwrap(broadcast?.subscribe())
        broadcast?.send(4)
        broadcast = nil
        let elements = try await Bounded.all(stream)
        XCTAssertEqual(elements, [3, 4])
    }

    func testALateSubscriberOfEventsGetsNoOldOnes() async throws {
        var broadcast: Broadcast<Int>? = Broadcast(.unbounded)
        broadcast?.send(1)
        let stream = try XCTUnwrap(broadcast?.subscribe())
        broadcast?.send(2)
        broadcast = nil
        let elements = try await Bounded.all(stream)
        XCTAssertEqual(elements, [2])
    }

    func testABoundedBufferKeepsTheNewestAndCountsWhatItDrops() async throws {
        var broadcast: Broadcast<Int>? = Broadcast(.bufferingNewest(10))
        let streams = (0..<2).compactMap { _ in broadcast?.subscribe() }
        for number in 0..<25 { broadcast?.send(number) }
        XCTAssertEqual(broadcast?.dropped, 2 * 15)
        broadcast = nil
        for stream in streams {
            let elements = try await Bounded.all(stream)
            XCTAssertEqual(elements, Array(15..<25))
        }
    }

    func testTheBroadcastReleasesACancelledSubscriber() async throws {
        let broadcast = Broadcast<Int>(.bufferingNewest(1))
        let stream = broadcast.subscribe()
        let task = Task { for await _ in stream {} }
        task.cancel()
        try await Bounded.wait(for: "the end of the subscriber") { await task.value }
        for number in 0..<10 { broadcast.send(number) }
        XCTAssertEqual(broadcast.dropped, 0, "nobody is there to lose anything")
    }

    /// Each would wait for the other's lock, if whoever leaves took the broadcast's at once.
    func testASubscriberThatIsCancelledDuringASendDoesNotBlockTheOthers() async throws {
        for round in 0..<4000 {
            let broadcast = Broadcast<Int>(.bufferingNewest(60))
            let (stream, other) = (broadcast.subscribe(), broadcast.subscribe())
            let subscriber = Task { for await _ in stream {} }
            let sender = Task {
                for number in 0..<60 {
                    broadcast.send(number)
                    if number % 2 == 0 { await Task.yield() }
                }
            }
            for _ in 0..<round % 40 { await Task.yield() }
            subscriber.cancel()
            try await Bounded.wait(for: "the end of round \(round)") {
                await sender.value
                await subscriber.value
            }
            let elements = try await Bounded.first(60, of: other)
            XCTAssertEqual(elements, Array(0..<60), "round \(round)")
        }
    }

    func testTheEndOfTheBroadcastEndsItsStreams() async throws {
        var broadcast: Broadcast<Int>? = Broadcast(.unbounded)
        let stream = try XCTUnwrap(broadcast?.subscribe())
        broadcast = nil
        let elements = try await Bounded.all(stream)
        XCTAssertEqual(elements, [])
    }

    /// A cancel ends the stream while it holds a lock of its task; a send resumes that task, which wants the same lock.
    func testClosingDuringASendDoesNotBlock() async throws {
        let broadcast = Broadcast<Int>(.unbounded)
        for round in 0..<1000 {
            let stream = broadcast.subscribe()
            let reader = Task { for await _ in stream {} }
            let sender = Task.detached { for _ in 0..<5 { broadcast.send(round) } }
            reader.cancel()
            await sender.value
            await reader.value
        }
        let late = broadcast.subscribe()
        broadcast.send(-1)
        let seen = try await Bounded.first(1, of: late)
        XCTAssertEqual(seen, [-1])
    }
}
