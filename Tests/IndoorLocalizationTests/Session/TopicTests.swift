import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// What a localizer tells to those who want calls, topic by topic.
final class TopicTests: XCTestCase {
    /// The office, all of it one room and one fence.
    private static var house: Venue {
        var venue = SessionStage.office
        let area = Area.circle(center: MapPoint(x: 20, y: 15), radius: 200)
        venue.rooms = [Room(id: 1, name: "hall", mapID: 10, area: area)]
        venue.fences = [Fence(id: 2, name: "grounds", mapID: 10, area: area)]
        return venue
    }

    func testRoomsAndFencesAreToldBySideAndKind() async throws {
        var settings = LocalizerStage.settings
        settings.areaDwell = .zero
        let stage = LocalizerStage(venues: [Self.house], settings)
        let (calls, told) = AsyncStream.makeStream(of: String.self)
        let localizer = stage.localizer
        let subscriptions = [
            localizer.on(.roomsEntered) { told.yield("into \($0.name)") },
            localizer.on(.roomsLeft) { told.yield("out of \($0.name)") },
            localizer.on(.fencesEntered) { told.yield("into \($0.name)") },
            localizer.on(.fencesLeft) { told.yield("out of \($0.name)") },
        ]
        defer { subscriptions.forEach { $0.close() } }
        try await stage.run()
        let entries = try await Bounded.first(2, of: calls)
        XCTAssertEqual(Set(entries), ["into hall", "into grounds"])
        await localizer.stop()
        let exits = try await Bounded.first(2, of: calls)
        XCTAssertEqual(Set(exits), ["out of hall", "out of grounds"])
    }

    func testStatesAndPositionsAndEventsAreToldWhole() async throws {
        var settings = LocalizerStage.settings
        settings.areaDwell = .zero
        let stage = LocalizerStage(venues: [Self.house], settings)
        let (states, state) = AsyncStream.makeStream(of: String.self)
        let (positions, position) = AsyncStream.makeStream(of: MapID.self)
        let (events, event) = AsyncStream.makeStream(of: Bool.self)
        let subscriptions = [
            stage.localizer.on(.states) { state.yield($0.name) },
            stage.localizer.on(.positions) { position.yield($0.mapID) },
            stage.localizer.on(.events) { event.yield($0.isEntry) },
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

    func testErrorsAreTold() async throws {
        let stage = LocalizerStage()
        stage.venues.change { $0.catalogueFailures = [SessionStage.network] }
        let (errors, error) = AsyncStream.makeStream(of: LocalizationError.Code.self)
        let subscription = stage.localizer.on(.errors) { error.yield($0.code) }
        defer { subscription.close() }
        await stage.localizer.start()
        let told = try await Bounded.first(1, of: errors)
        XCTAssertEqual(told, [.network])
    }
}
