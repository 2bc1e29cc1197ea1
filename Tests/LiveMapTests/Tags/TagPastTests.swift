import Foundation
import IndoorVocabulary
import LiveMap
import LocalizationSession
import TagTracking
import TagTrackingService
import VenueModel
import XCTest

/// The history on the page of tags, in a browser: the cart and three tags that walk through the hall for 50 s.
final class TagPastTests: BrowserTestCase {
    /// What `window.tagMap.state().past` returns; see `tags-main.js`.
    private struct Past: Decodable {
        var t: Double
        var start: Double
        var end: Double
        var speed: Double
        var playing: Bool
        var tags: Int
        var isLoaded: Bool
    }

    private struct Place: Decodable {
        var x: Double
        var y: Double
    }

    private let start = Double(TagStage.start.nanoseconds / 1_000_000_000)

    /// Opens the history of the page, from the start of the stage to 10 minutes later.
    private func shown(
        _ history: TagHistory? = nil, width: Int = 1440, height: Int = 900, isTouch: Bool = false
    ) throws -> ShownMap {
        let board = TagBoard(receivers: TagStage.venue.receivers, run: "r")
        board.put(try TagStage.outputs())
        let server = try tagServer(board, history: try history ?? stagedHistory(walks: 3))
        let map = ShownMap(page: try tagPage(of: server, width: width, height: height, isTouch: isTouch))
        try map.click("#past-open")
        try choose(map, seconds: 600)
        return map
    }

    /// Enters a time that begins with the stage.
    private func choose(_ map: ShownMap, seconds: Double) throws {
        try map.page.run(
            """
            const text = (t) => {
                const date = new Date(t * 1000);
                return new Date(t * 1000 - date.getTimezoneOffset() * 60000).toISOString().slice(0, 19);
            };
            document.getElementById("past-from").value = text(\(start));
            document.getElementById("past-to").value = text(\(start + seconds));
            document.getElementById("past-to").dispatchEvent(new Event("change"));
            """)
        try wait(map, until: "past.start === \(start) && past.end === \(start + seconds) && past.isLoaded")
        try map.page.wait(until: "!/Loading/.test(document.getElementById('past-note').textContent)")
    }

    private func wait(_ map: ShownMap, until condition: String) throws {
        try map.page.wait(until: "((past) => \(condition))(window.tagMap.state().past)")
        try map.waitForDrawing()
    }

    private func past(_ map: ShownMap) throws -> Past { try map.page.evaluate("window.tagMap.state().past") }

    private func place(_ map: ShownMap, _ tag: String) throws -> Place {
        try map.page.evaluate("window.tagMap.positionOf('\(tag)')")
    }

    /// Clicks the time line some seconds behind the start.
    private func seek(_ map: ShownMap, _ seconds: Double) throws {
        let (line, past) = (try map.box(of: "#timeline"), try past(map))
        try map.page.click(
            x: line.left + seconds / (past.end - past.start) * line.width, y: line.top + line.height / 2)
        try map.waitForDrawing()
    }

    private func rows(_ map: ShownMap, _ list: String) throws -> [[String]] {
        try map.page.evaluate(
            """
            [...document.querySelectorAll("\(list)")].map((row) =>
                [...row.querySelectorAll("span, td")].map((one) => one.textContent.replaceAll("\\u00a0", " ")))
            """)
    }

    func testAnInstantOfThePastShowsTheTagsWhereTheyWereThen() throws {
        let map = try shown()
        try seek(map, 27.5)
        let now = try past(map)
        XCTAssertEqual(now.tags, 4)
        // Between two positions, a tag is on the line between them.
        let walker = try place(map, "walker 1")
        XCTAssertEqual(walker.x, 1 + (now.t - start) / 5, accuracy: 0.01)
        XCTAssertEqual(walker.y, 4, accuracy: 0.001)
        let dots: Int = try map.page.evaluate("window.tagMap.state().drawn")
        XCTAssertEqual(dots, 4)
        // 90 s after its last position, a tag isn't shown.
        try seek(map, 145)
        XCTAssertEqual(try past(map).tags, 0)
        try map.click("#past-open")
        try map.page.wait(until: "window.tagMap.state().past === null && window.tagMap.state().drawn === 1")
        XCTAssertEqual(map.page.problems, [])
    }

    func testThePlaybackMovesTheTagsAndTheKeysOfTheTimeLineSeek() throws {
        let map = try shown()
        XCTAssertFalse(try past(map).playing)
        XCTAssertEqual(try past(map).speed, 5)
        try map.click("#play")
        try wait(map, until: "past.playing && past.t > \(start + 1)")
        let moving = try place(map, "walker 0")
        XCTAssertGreaterThan(moving.x, 1)
        try map.page.run("document.getElementById('timeline').focus()")
        try map.page.press(.space)
        try wait(map, until: "!past.playing")
        let before = try past(map).t
        try map.page.press(.right)
        XCTAssertEqual(try past(map).t, before + 3, accuracy: 0.01)
        try map.page.press(.end)
        XCTAssertEqual(try past(map).t, start + 600)
        try map.page.press(.home)
        try wait(map, until: "past.t === \(start) && past.isLoaded && past.tags === 3")
        let value: String = try map.page.evaluate("document.getElementById('timeline').ariaValueText")
        XCTAssertTrue(value.hasSuffix(", 3 tags"), value)
        try map.page.run(
            """
            document.getElementById("speed").value = "600";
            document.getElementById("speed").dispatchEvent(new Event("change"));
            """)
        XCTAssertEqual(try past(map).speed, 600)
        XCTAssertEqual(map.page.problems, [])
    }

    func testVisitsAndTheTimeInRoomsAreThoseOfTheTimeTheRoomAndTheTag() throws {
        let map = try shown()
        XCTAssertEqual(try map.text(of: "#past-note"), "34 positions")
        let visits = try rows(map, "#visit-list li")
        XCTAssertEqual(visits.map { $0[0] }, ["Cart", "walker 0", "walker 1", "walker 2"])
        XCTAssertEqual(visits.map { $0[1] }, ["20 s", "50 s", "50 s", "50 s"])
        XCTAssertEqual(try rows(map, "#dwell-rows tr"), [["Hall", "4", "3 min"]])
        try choose(map, seconds: 10)
        XCTAssertEqual(try rows(map, "#dwell-rows tr"), [["Hall", "4", "40 s"]])
        // Who was in the hall, each with their time.
        try map.page.run(
            """
            const room = document.getElementById("past-room");
            room.value = "Hall";
            room.dispatchEvent(new Event("change"));
            """)
        try map.page.wait(until: "document.querySelectorAll('#dwell-rows tr').length === 4")
        XCTAssertEqual(try map.text(of: "#dwell-name"), "Tag")
        // A visit selects its tag at its beginning, and the files have the same choice.
        try map.click("#visit-list [data-tag='walker 2']")
        try map.page.wait(until: "document.querySelectorAll('#visit-list li').length === 1")
        try map.page.wait(until: "window.tagMap.state().selected === 'walker 2'")
        XCTAssertEqual(try past(map).tags, 1)
        let link: String = try map.page.evaluate("new URL(document.getElementById('past-csv').href).search")
        XCTAssertTrue(link.contains("room=Hall&tag=walker%202&from=2026-11-22T09%3A00%3A00.000Z"), link)
        let table: String = try map.page.evaluate(
            "fetch(document.getElementById('past-csv').href).then((answer) => answer.text())")
        XCTAssertEqual(table.split(separator: "\n").count, 1 + 2)
        try map.click("#past-all")
        try map.page.wait(until: "document.querySelectorAll('#visit-list li').length === 4")
        XCTAssertEqual(map.page.problems, [])
    }

    func testThePageLoadsVisitsOfSeveralPages() throws {
        let history = try stagedHistory()
        let hall = TagStage.venue.rooms[0]
        let outputs = try (0..<10_020).flatMap { number in
            try [LocalizationEvent.Kind.enterRoom(hall), .exitRoom(hall)].enumerated().map { step, kind in
                let seconds = 30 + Double(step) + Double(number) / 100
                let event = LocalizationEvent(
                    instant: TagStage.start.advanced(by: .seconds(seconds)), venueID: VenueID(rawValue: 7), kind: kind)
                return try TagStage.output("guest \(number)", UInt64(step + 1), .event(event), at: seconds)
            }
        }
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            await history.write(outputs)
            await history.flush()
            done.signal()
        }
        done.wait()
        let map = try shown(history)
        XCTAssertEqual(try map.text(of: "#visit-more"), "9921 more: choose a room, a tag or a shorter time.")
        XCTAssertEqual(try rows(map, "#dwell-rows tr").map { $0[1] }, ["10021"])
        XCTAssertEqual(map.page.problems, [])
    }

    func testATapOnADotReplaysThatTagWithItsTrail() throws {
        let map = try shown()
        try seek(map, 50)
        let walker = try place(map, "walker 1")
        let point: ShownMap.Point = try map.page.evaluate("window.tagMap.screenPoint(1, \(walker.x), \(walker.y))")
        try map.page.click(x: point.x, y: point.y)
        try map.page.wait(
            until: "window.tagMap.state().selected === 'walker 1' && window.tagMap.state().trail >= 11")
        XCTAssertEqual(try past(map).tags, 1)
        try map.page.run("document.getElementById('plan').focus()")
        try map.page.press(.escape)
        try wait(map, until: "past.tags === 4")
        XCTAssertEqual(map.page.problems, [])
    }

    func testTheNoteReportsAWrongTimeAndAnEmptyOne() throws {
        let map = try shown()
        try map.page.run(
            """
            document.getElementById("past-to").value = "2020-01-01T00:00:00";
            document.getElementById("past-to").dispatchEvent(new Event("change"));
            """)
        XCTAssertEqual(try map.text(of: "#past-note"), "The end must be after the beginning.")
        try map.page.run(
            """
            document.getElementById("past-from").value = "2019-12-31T00:00:00";
            document.getElementById("past-from").dispatchEvent(new Event("change"));
            """)
        try map.page.wait(
            until: "document.getElementById('past-note').textContent === 'No tag was located during this time.'")
        XCTAssertEqual(try map.text(of: "#visit-more"), "No visits to a room.")
        XCTAssertTrue(try map.page.evaluate("document.getElementById('past-export').hidden"))
        XCTAssertEqual(map.page.problems, [])
    }

    func testThePageFitsEachScreenAndItsTextsAreLegible() throws {
        let map = try shown(isTouch: true)
        try map.click("#visit-list [data-tag='walker 2']")
        try map.page.wait(until: "document.querySelectorAll('#visit-list li').length === 1")
        try map.assertLegible(at: [(320, 568), (390, 844), (820, 1180), (1440, 900)])
    }
}
