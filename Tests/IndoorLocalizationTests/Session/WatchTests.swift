import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

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
