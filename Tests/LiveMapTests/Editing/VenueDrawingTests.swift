import Foundation
import IndoorLocalizationTesting
import IndoorVocabulary
import VenueModel
import VenuePackets
import XCTest

/// Beacons, rooms and walls that a pointer sets on the plan.
final class VenueDrawingTests: VenueEditorCase {
    private func corners(of room: Room) -> [MapPoint] {
        if case .polygon(let corners) = room.area { corners } else { [] }
    }

    private func assert(
        _ points: [MapPoint], are expected: [(Double, Double)], within accuracy: Double = 0.05, line: UInt = #line
    ) {
        XCTAssertEqual(points.count, expected.count, "\(points)", line: line)
        for (point, place) in zip(points, expected) {
            XCTAssertEqual(point.x, place.0, accuracy: accuracy, line: line)
            XCTAssertEqual(point.y, place.1, accuracy: accuracy, line: line)
        }
    }

    func testAPointerSetsABeaconDrawsARoomAndAWallAndThePacketHasThem() throws {
        let editor = try editor()
        let before = try editor.venue
        let original = try editor.text
        try editor.choose("beacon")
        try editor.click((20, 10))
        try editor.choose("room")
        try editor.click((14, 13), (19, 13), (19, 17), (14, 17), (14, 13))
        try editor.choose("wall")
        try editor.click((3, 13), (3, 16), (7, 16))
        try editor.page.press(.enter)
        XCTAssertTrue(try editor.state.isChanged)
        XCTAssertEqual(try editor.text, original, "nothing is written before")
        try editor.save()
        let venue = try editor.venue
        XCTAssertEqual(venue.beacons.count, before.beacons.count + 1)
        let beacon = try XCTUnwrap(venue.beacons.last)
        XCTAssertEqual(beacon.mapID, 1)
        assert([beacon.point], are: [(20, 10)])
        XCTAssertEqual(beacon.identity.major, 1)
        XCTAssertEqual(beacon.identity.minor, 19, "the next minor of the floor")
        XCTAssertEqual(beacon.identity.uuid, before.beacons.first?.identity.uuid)
        XCTAssertEqual(beacon.z, 2.6, "the height of all beacons of the floor")
        let room = try XCTUnwrap(venue.rooms.last)
        XCTAssertEqual(room.id, 32)
        assert(corners(of: room), are: [(14, 13), (19, 13), (19, 17), (14, 17)])
        let walls = try XCTUnwrap(venue.maps.first).walls
        XCTAssertEqual(walls.count, before.maps[0].walls.count + 1)
        assert(try XCTUnwrap(walls.last), are: [(3, 13), (3, 16), (7, 16)])
        XCTAssertEqual(editor.page.problems, [])
    }

    func testABeaconIsMovedByDraggingItAndTheMoveIsUndoneAndDoneAgain() throws {
        let editor = try editor()
        try editor.drag(from: (16, 7.5), to: (12, 4))
        XCTAssertEqual(try editor.state.selected, "beacon 5")
        XCTAssertEqual(try editor.state.steps, 1, "a drag is one step")
        try editor.save()
        assert([try editor.venue.beacons[5].point], are: [(12, 4)])
        try editor.page.press(.character("z"), holding: .control)
        try editor.save()
        assert([try editor.venue.beacons[5].point], are: [(16, 7.5)], within: 0)
        try editor.page.press(.character("Z"), holding: [.control, .shift])
        try editor.save()
        assert([try editor.venue.beacons[5].point], are: [(12, 4)])
        XCTAssertEqual(editor.page.problems, [])
    }

    func testACornerIsMovedAddedAndDeletedAlone() throws {
        let editor = try editor()
        // The cafe, whose corner at the right top is that of the wall as well.
        try editor.click((7, 14))
        XCTAssertEqual(try editor.state.selected, "room 8")
        try editor.drag(from: (13, 19), to: (12, 17))
        try editor.save()
        assert(corners(of: try editor.venue.rooms[8]), are: [(1, 11.5), (13, 11.5), (12, 17), (1, 19)])
        // The middle of the upper edge becomes a corner.
        try editor.drag(from: (7, 11.5), to: (7, 10))
        try editor.save()
        assert(corners(of: try editor.venue.rooms[8]), are: [(1, 11.5), (7, 10), (13, 11.5), (12, 17), (1, 19)])
        try editor.click((7, 10))
        try editor.page.press(.delete)
        try editor.save()
        assert(corners(of: try editor.venue.rooms[8]), are: [(1, 11.5), (13, 11.5), (12, 17), (1, 19)])
    }

    func testACornerSnapsToTheCornersOfOtherShapesAndKeepsToTheAxisWithShift() throws {
        let editor = try editor()
        try editor.choose("wall")
        // 0.15 m are less than the ten pixels of the pointer's reach.
        try editor.click((13.12, 18.9))
        try editor.click((16, 18.6), holding: .shift)
        try editor.page.press(.enter)
        try editor.save()
        let wall = try XCTUnwrap(try editor.venue.maps[0].walls.last)
        XCTAssertEqual(wall.first, MapPoint(x: 13, y: 19), "the corner of the office")
        XCTAssertEqual(wall.last?.y, 19)
        XCTAssertEqual(wall.last?.x ?? 0, 16, accuracy: 0.05)
        try editor.page.run("document.getElementById('snap').click()")
        try editor.choose("wall")
        try editor.click((13.12, 18.9), (16, 16))
        try editor.page.press(.enter)
        try editor.save()
        XCTAssertEqual(try editor.venue.maps[0].walls.last?.first?.x ?? 0, 13.12, accuracy: 0.05)
    }

    func testADoubleClickEndsAWallAndEscapeGivesUpAShape() throws {
        let editor = try editor()
        try editor.choose("wall")
        try editor.click((3, 13), (7, 13), (7, 13))
        XCTAssertEqual(try editor.state.draft, 0)
        XCTAssertEqual(try editor.state.steps, 1)
        try editor.choose("room")
        try editor.click((14, 13), (19, 13))
        XCTAssertEqual(try editor.state.draft, 2)
        try editor.page.press(.enter)
        XCTAssertEqual(try editor.state.draft, 2, "a room needs three corners")
        try editor.page.press(.escape)
        XCTAssertEqual(try editor.state.draft, 0)
        XCTAssertEqual(try editor.state.steps, 1)
    }

    func testTheToolAndTheKeyDeleteObjects() throws {
        let editor = try editor()
        let before = try editor.venue
        try editor.choose("delete")
        try editor.click((2, 18))
        try editor.choose("select")
        try editor.click((24, 15))
        try editor.page.press(.delete)
        try editor.save()
        let venue = try editor.venue
        XCTAssertEqual(venue.beacons.count, before.beacons.count - 1)
        XCTAssertFalse(venue.beacons.contains { $0.identity == before.beacons[13].identity })
        XCTAssertEqual(venue.rooms.map(\.id), before.rooms.map(\.id).filter { $0 != 11 })
    }

    func testTheKeyboardSetsABeaconAndMovesIt() throws {
        let editor = try editor()
        try editor.page.run("document.getElementById('plan').focus()")
        try editor.page.press(.character("b"))
        for _ in 0..<4 { try editor.page.press(.right) }
        try editor.page.press(.space)
        XCTAssertEqual(try editor.state.selected, "beacon 32")
        try editor.page.press(.escape)
        try editor.save()
        let set = try XCTUnwrap(try editor.venue.beacons.last).point
        try editor.page.press(.down)
        try editor.page.press(.down, holding: .shift)
        XCTAssertEqual(try editor.state.steps, 2, "steps in a row are one")
        try editor.save()
        let moved = try XCTUnwrap(try editor.venue.beacons.last).point
        XCTAssertEqual(moved.x, set.x)
        XCTAssertEqual(moved.y, set.y + 1.1, accuracy: 1e-9)
    }

    func testAFingerSetsABeaconAndTwoFingersZoom() throws {
        let editor = try editor(width: 820, height: 1100, isTouch: true)
        try editor.choose("beacon")
        let place = try editor.point(20, 10)
        try editor.page.touch([[place]])
        try editor.page.wait(until: "window.venueEditor.state().steps === 1")
        let far = try editor.point(30, 10)
        let pinch = (1...5).map { step in
            [(x: place.x - Double(step) * 12, y: place.y), (x: place.x + Double(step) * 12, y: place.y)]
        }
        try editor.page.touch(pinch)
        try editor.map.waitForDrawing()
        XCTAssertGreaterThan(try editor.point(30, 10).x - editor.point(20, 10).x, 1.5 * (far.x - place.x))
        XCTAssertEqual(try editor.state.steps, 1, "a pinch sets nothing")
    }

    func testTheOtherFloorIsEditedAfterItsChoice() throws {
        let editor = try editor()
        try editor.map.click("#floors [data-map='2']")
        try editor.page.wait(until: "window.venueEditor.state().mapId === 2")
        try editor.choose("beacon")
        try editor.click((15, 15))
        try editor.save()
        let beacon = try XCTUnwrap(try editor.venue.beacons.last)
        XCTAssertEqual(beacon.mapID, 2)
        XCTAssertEqual(beacon.identity.major, 2)
        XCTAssertEqual(beacon.identity.minor, 15)
    }

    func testThePacketThatVenueNewBeganGetsItsFirstBeaconAndRoom() throws {
        let folder = FileManager.default.temporaryDirectory.path + "/new-\(UUID().uuidString)"
        addTeardownBlock { try? FileManager.default.removeItem(atPath: folder) }
        let tool = try ToolProcess([
            "venue", "new", "--plan", FixtureFolder("office").path + "/plans/ground.png", "--scale", "30,30,1050,30=34",
            "--output", folder,
        ])
        XCTAssertEqual(try tool.end(), 0)
        let editor = try editor(at: folder)
        try editor.choose("beacon")
        try editor.click((20, 10), (4, 10))
        try editor.choose("room")
        try editor.click((1, 1), (9, 1), (9, 6), (1, 6), (1, 1))
        try editor.save()
        let venue = try editor.venue
        assert(venue.beacons.map(\.point), are: [(20, 10), (4, 10)])
        XCTAssertEqual(venue.beacons.map(\.identity.minor), [1, 2])
        assert(corners(of: try XCTUnwrap(venue.rooms.first)), are: [(1, 1), (9, 1), (9, 6), (1, 6)])
        XCTAssertEqual(editor.page.problems, [])
    }
}
