import IndoorLocalization
import XCTest

final class VenueRoomIndexTests: XCTestCase {
    private let hall = Room(id: 1, name: "Hall", mapID: 1, area: square(from: 0, side: 10))
    private let booth = Room(id: 2, name: "Booth", mapID: 1, area: .circle(center: MapPoint(x: 5, y: 5), radius: 1))

    func testTheSmallestContainingRoomWins() {
        for rooms in [[hall, booth], [booth, hall]] {
            let index = RoomIndex(rooms: rooms)
            XCTAssertEqual(index.room(at: MapPoint(x: 5, y: 5.5), on: 1)?.name, "Booth")
            XCTAssertEqual(index.room(at: MapPoint(x: 1, y: 1), on: 1)?.name, "Hall")
        }
    }

    func testOfEqualRoomsTheLowestNumberWins() {
        var twin = hall
        twin.id = 0
        XCTAssertEqual(RoomIndex(rooms: [hall, twin]).room(at: MapPoint(x: 1, y: 1), on: 1)?.id, 0)
        XCTAssertEqual(RoomIndex(rooms: [twin, hall]).room(at: MapPoint(x: 1, y: 1), on: 1)?.id, 0)
    }

    func testThereIsNoRoomOutsideOrOnAnotherMap() {
        let index = RoomIndex(rooms: [hall, booth])
        XCTAssertNil(index.room(at: MapPoint(x: 11, y: 1), on: 1))
        XCTAssertNil(index.room(at: MapPoint(x: 1, y: 1), on: 2))
        XCTAssertNil(RoomIndex(rooms: []).room(at: MapPoint(x: 1, y: 1), on: 1))
    }

    func testARoomWithoutAShapeContainsNothing() {
        let index = RoomIndex(rooms: [Room(id: 1, name: "Attic", mapID: 1)])
        XCTAssertNil(index.room(at: MapPoint(x: 0, y: 0), on: 1))
    }

    func testALibraryReturnsOnlyItsOwnVenues() async throws {
        let venue = Venue(id: 4, name: "a", maps: [])
        let library = VenueLibrary([venue, Venue(id: 4, name: "b", maps: [])])
        XCTAssertEqual(library.catalogue(), [VenueSummary(of: venue)])
        XCTAssertEqual(try library.packet(for: 4) { _ in }, venue)
        XCTAssertThrowsError(try library.packet(for: 5) { _ in }) { error in
            XCTAssertEqual((error as? LocalizationError)?.code, .generic)
        }
    }

    private static func square(from start: Double, side: Double) -> Area {
        let end = start + side
        return .polygon([
            MapPoint(x: start, y: start), MapPoint(x: end, y: start), MapPoint(x: end, y: end),
            MapPoint(x: start, y: end),
        ])
    }
}
