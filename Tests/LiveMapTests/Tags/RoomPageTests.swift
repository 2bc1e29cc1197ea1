import Foundation
import LiveMap
import TagTracking
import TagTrackingService
import VenuePackets
import XCTest

/// The page of trained rooms in a browser, with an engine that hears a tag.
final class RoomPageTests: BrowserTestCase {
    private struct Shown {
        let page: BrowserPage
        let rooms: StagedRooms
        let board: TagBoard

        /// Lets the gateways hear the tag, and passes the outputs to the page.
        func step(in room: String, seconds: Int) { board.put(rooms.step(in: room, seconds: seconds)) }

        /// The names of the tags in each room.
        func content() throws -> [String: [String]] {
            try page.evaluate(
                """
                Object.fromEntries([...document.querySelectorAll("#room-list > li")].map((card) => [card.dataset.room,
                    [...card.querySelectorAll("button.tag .name")].map((one) => one.textContent)]))
                """)
        }
    }

    private func shown(_ rooms: StagedRooms, width: Int = 390, height: Int = 844) throws -> Shown {
        let board = TagBoard(run: "r")
        board.put(rooms.start)
        let server = try tagServer(board, hearings: rooms.engine, rooms: rooms.desk)
        let page = try page()
        try page.setViewport(width: width, height: height, isTouch: width < 500)
        try page.open(server.url)
        try page.wait(until: "window.roomMap?.state().connection === 'connected'")
        try page.wait(until: "document.querySelectorAll('button.tag').length > 0")
        return Shown(page: page, rooms: rooms, board: board)
    }

    private func press(_ selector: String, _ page: BrowserPage) throws {
        try page.run("document.querySelector('\(selector)').click()")
    }

    func testATagIsInItsRoomAndMovesToAnotherOne() throws {
        let shown = try shown(try StagedRooms())
        XCTAssertEqual(try shown.content(), ["Kitchen": [StagedRooms.tag], "Cellar": []])
        shown.step(in: "Cellar", seconds: 15)
        try shown.page.wait(until: "document.querySelector('[data-room=Cellar] button.tag') !== null")
        try press("button.tag", shown.page)
        try shown.page.wait(until: "document.querySelectorAll('#chances li').length === 3")
        try shown.page.wait(until: "document.querySelectorAll('#hearing-list li').length === 2")
        XCTAssertEqual(
            try shown.page.evaluate("document.querySelector('#tag-place').textContent") as String, "Cellar")
        // Nothing is wider than the screen of a telephone.
        XCTAssertLessThanOrEqual(try shown.page.evaluate("document.documentElement.scrollWidth") as Int, 390)
        XCTAssertEqual(shown.page.problems, [])
    }

    func testARoomIsTrainedCorrectedAndRemovedOnThePage() throws {
        let shown = try shown(try StagedRooms(rooms: []))
        let page = shown.page
        XCTAssertEqual(try page.evaluate("document.querySelector('#empty').hidden") as Bool, false)
        for room in ["Kitchen", "Cellar"] {
            try press("button.tag", page)
            try page.run("document.querySelector('#training-room').value = '\(room)'")
            try press("#start", page)
            try page.wait(until: "!document.querySelector('#running').hidden")
            shown.step(in: room, seconds: 40)
            try page.wait(
                until: "document.querySelector('#training-state').textContent.startsWith('\(room): 40 samples')")
            try press("#finish", page)
            try page.wait(until: "document.querySelector('[data-room=\(room)]') !== null")
        }
        XCTAssertEqual(try RoomTrainingFile.read(shown.rooms.path).rooms.count, 2)
        shown.step(in: "Cellar", seconds: 5)
        try page.wait(until: "document.querySelector('[data-room=Cellar] button.tag') !== null")
        try page.run("document.querySelector('#correction-room').value = 'Kitchen'")
        try press("#correct", page)
        try page.wait(until: "window.roomMap.state().samples === 110")
        shown.step(in: "Cellar", seconds: 1)
        try page.wait(until: "document.querySelector('[data-room=Kitchen] button.tag') !== null")
        XCTAssertEqual(try RoomTrainingFile.read(shown.rooms.path).rooms["Kitchen"]?.samples.count, 70)
        try page.run("window.confirm = () => true")
        try press("[data-room=Cellar] .remove", page)
        try page.wait(until: "document.querySelector('[data-room=Cellar]') === null")
        XCTAssertEqual(page.problems, [])
    }
}
