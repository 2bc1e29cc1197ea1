import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

final class EventHistoryTests: XCTestCase {
    private func event(_ seconds: Double) -> LocalizationEvent {
        LocalizationEvent(
            instant: Instant(seconds: seconds), venueID: 1, kind: .enterRoom(Room(id: 1, name: "a", mapID: 1)))
    }

    private func seconds(_ events: [LocalizationEvent]) -> [Double] { events.map(\.instant.seconds) }

    func testTheDescriptionOfAnEventContainsNamesAndNoCorners() {
        let area = Area.circle(center: MapPoint(x: 1, y: 2), radius: 3)
        let fence = Fence(id: 1, name: "Gate", mapID: 1, area: area)
        let geofence = Geofence(id: "g", name: "Yard", shape: .area(area))
        let room = Room(id: 1, name: "Kitchen", mapID: 1, area: area)
        let kinds: [LocalizationEvent.Kind] = [
            .enterRoom(room), .exitRoom(room), .enterFence(fence), .exitFence(fence), .enterGeofence(geofence),
            .exitGeofence(geofence),
        ]
        XCTAssertEqual(
            kinds.map { "\(LocalizationEvent(instant: .zero, venueID: 1, kind: $0))" },
            [
                "enterRoom Kitchen", "exitRoom Kitchen", "enterFence Gate", "exitFence Gate", "enterGeofence Yard",
                "exitGeofence Yard",
            ])
    }

    func testEventsAfterAnInstantAreLaterThanIt() {
        var history = EventHistory()
        for second in [1.0, 2, 2, 3] { history.append(event(second)) }
        XCTAssertEqual(seconds(history.events(after: .zero)), [1, 2, 2, 3])
        XCTAssertEqual(seconds(history.events(after: Instant(seconds: 1.999))), [2, 2, 3])
        XCTAssertEqual(seconds(history.events(after: Instant(seconds: 2))), [3])
        XCTAssertEqual(history.events(after: Instant(seconds: 3)), [])
    }

    func testEventsAfterAWallClockTimeIncludeThoseWithoutOne() {
        var history = EventHistory()
        for (second, time) in [(1.0, 1000), (2, nil), (3, 500), (4, 1001)] as [(Double, Int64?)] {
            var event = event(second)
            event.unixTime = time.map(UnixTime.init(milliseconds:))
            history.append(event)
        }
        XCTAssertEqual(seconds(history.events(after: UnixTime(milliseconds: 0))), [1, 2, 3, 4])
        XCTAssertEqual(seconds(history.events(after: UnixTime(milliseconds: 999))), [1, 2, 4])
        XCTAssertEqual(seconds(history.events(after: UnixTime(milliseconds: 1000))), [2, 4])
        XCTAssertEqual(seconds(history.events(after: UnixTime(milliseconds: 5000))), [2])
    }

    func testBeyondItsCapacityAHistoryDropsAndCountsTheOldest() {
        for count in 0...9 {
            var history = EventHistory(capacity: 3)
            for second in 0..<count { history.append(event(Double(second))) }
            XCTAssertEqual(seconds(history.events), (0..<count).suffix(3).map(Double.init), "\(count) events")
            XCTAssertEqual(history.droppedCount, max(0, count - 3), "\(count) events")
        }
    }

    func testAHistoryWithoutCapacityStoresNothingAndCounts() {
        for capacity in [0, -5] {
            var history = EventHistory(capacity: capacity)
            history.append(event(1))
            XCTAssertEqual(history.events, [])
            XCTAssertEqual(history.droppedCount, 1)
        }
    }

    func testAHistoryStoresTenThousandEventsByDefault() {
        var history = EventHistory()
        for second in 0..<10_001 { history.append(event(Double(second))) }
        XCTAssertEqual(history.events.count, 10_000)
        XCTAssertEqual(history.events.first?.instant, Instant(seconds: 1))
    }

    func testAClearedHistoryEqualsANewOne() {
        var history = EventHistory(capacity: 2)
        for second in 0..<5 { history.append(event(Double(second))) }
        history.removeAll()
        XCTAssertEqual(history, EventHistory(capacity: 2))
    }

    func testALocalizerStoresItsEventsWithoutAnySubscriber() async throws {
        var settings = LocalizerStage.settings
        settings.areaDwell = .zero
        let stage = LocalizerStage(venues: [Self.everywhere], settings)
        try await stage.run()
        // However late the packet came: the session ends after the entry.
        let positions = stage.localizer.positions
        let end = LocalizerStage.beginning + 10
        stage.source.send(SessionStage.heard(1, at: end))
        _ = try await Bounded.elements(of: positions, until: "a later position") {
            $0.instant >= Instant(seconds: end - 1)
        }
        await stage.localizer.stop()
        let events = await stage.localizer.events(after: .zero)
        XCTAssertEqual(events.map(\.isEntry), [true, false])
        XCTAssertEqual(events.map(\.fence?.payload), [.string("hello"), .string("hello")])
        let entry = try XCTUnwrap(events.first)
        let later = await stage.localizer.events(after: entry.instant)
        XCTAssertEqual(later, Array(events.dropFirst()))
        await stage.localizer.forgetEvents()
        let history = await stage.localizer.eventHistory
        XCTAssertEqual(history, EventHistory())
    }

    /// The office with a fence around all of it.
    static var everywhere: Venue {
        var venue = SessionStage.office
        venue.rooms = []
        venue.fences = [
            Fence(
                id: 2, name: "house", mapID: 10, area: .circle(center: MapPoint(x: 20, y: 15), radius: 200),
                payload: .string("hello"))
        ]
        return venue
    }
}
