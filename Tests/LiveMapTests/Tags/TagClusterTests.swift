import Foundation
import LiveMap
import TagTracking
import TagTrackingService
import XCTest

/// Groups of tags on the page of tags, in a browser: 80 tags in the hall, in ten rows of eight, 20 cm apart.
final class TagClusterTests: BrowserTestCase {
    private struct Cluster: Decodable {
        var x: Double
        var y: Double
        var radius: Double
        var count: Int
    }

    private func shown(width: Int = 1440, height: Int = 900, isTouch: Bool = false) throws -> ShownMap {
        let board = TagBoard(run: "r")
        board.put(
            try (0..<80).map { number in
                let (column, row) = (Double(number % 8), Double(number / 8))
                return try TagStage.output(
                    "tag \(number)", 1, TagStage.position(4 + 0.2 * column, 4 + 0.2 * row, label: "Hall"))
            } + [
                try TagStage.output("alone", 1, TagStage.position(16)),
                try TagStage.output("beside", 1, TagStage.position(17, 5)),
            ])
        let server = try tagServer(board)
        let page = try tagPage(of: server, width: width, height: height, isTouch: isTouch)
        let map = ShownMap(page: page)
        try page.wait(until: "window.tagMap.state().drawn === 82 && window.tagMap.state().clusters.length > 0")
        try map.waitForDrawing()
        return map
    }

    private func clusters(_ map: ShownMap) throws -> [Cluster] {
        try map.page.evaluate("window.tagMap.state().clusters")
    }

    private func rows(_ map: ShownMap) throws -> [String] {
        try map.page.evaluate("[...document.querySelectorAll('#cluster-list button')].map((one) => one.textContent)")
    }

    /// Checks that no group covers another one, and that most tags are in groups.
    private func check(_ clusters: [Cluster], _ place: String) {
        XCTAssertTrue((70...80).contains(clusters.reduce(0) { $0 + $1.count }), place)
        for (index, one) in clusters.enumerated() {
            for other in clusters[..<index] {
                let distance = ((one.x - other.x) * (one.x - other.x) + (one.y - other.y) * (one.y - other.y))
                    .squareRoot()
                XCTAssertGreaterThanOrEqual(distance, one.radius + other.radius, place)
            }
        }
    }

    func testDotsThatWouldCoverEachOtherFormGroupsThatDoNot() throws {
        let map = try shown()
        let wide = try clusters(map)
        check(wide, "wide")
        XCTAssertLessThan(wide.count, 20)
        try map.page.setViewport(width: 390, height: 844, isTouch: true)
        try map.page.wait(until: "window.tagMap.state().clusters.length < \(wide.count)")
        let narrow = try clusters(map)
        check(narrow, "narrow")
        // Of 20 cm, a telephone shows 4 pixels.
        XCTAssertLessThanOrEqual(narrow.count, 3)
        XCTAssertEqual(map.page.problems, [])
    }

    func testATapOpensAGroupAndARowSelectsItsTag() throws {
        for isTouch in [false, true] {
            let map = try shown(width: isTouch ? 390 : 1440, isTouch: isTouch)
            let largest = try XCTUnwrap(clusters(map).max { $0.count < $1.count })
            try map.page.click(x: largest.x, y: largest.y)
            try map.page.wait(until: "!document.getElementById('cluster').hidden")
            XCTAssertEqual(try map.text(of: "#cluster-title"), "\(largest.count) tags in Hall")
            let rows = try rows(map)
            XCTAssertEqual(rows.count, largest.count)
            XCTAssertEqual(rows, rows.sorted())
            let chosen = try XCTUnwrap(rows.first)
            try map.click("#cluster-list li")
            try map.page.wait(until: "window.tagMap.state().selected === '\(chosen)'")
            XCTAssertTrue(try map.page.evaluate("document.getElementById('cluster').hidden"))
            XCTAssertEqual(map.page.problems, [])
        }
    }

    func testTheKeyboardOpensAGroupAndZoomsIntoIt() throws {
        let map = try shown(width: 390, height: 844)
        let before = try clusters(map)
        try map.page.run("document.querySelector('#clusters button').focus()")
        let name: String = try map.page.evaluate("document.activeElement.ariaLabel")
        let largest = try XCTUnwrap(before.map(\.count).max())
        XCTAssertEqual(name, "\(largest) tags in Hall: open")
        try map.page.press(.enter)
        try map.page.wait(until: "document.activeElement.dataset.tag !== undefined")
        let first: String = try map.page.evaluate("document.activeElement.dataset.tag")
        try map.page.press(.down)
        XCTAssertNotEqual(try map.page.evaluate("document.activeElement.dataset.tag"), first)
        try map.page.press(.escape)
        XCTAssertTrue(try map.page.evaluate("document.getElementById('cluster').hidden"))
        XCTAssertEqual(try map.page.evaluate("document.activeElement.id"), "plan")
        try map.page.run(
            """
            document.querySelector("#clusters button").click();
            document.getElementById("cluster-zoom").click();
            """)
        // At 20 cm between them, each tag has its own place now.
        try map.page.wait(until: "window.tagMap.state().clusters.length === 0")
        XCTAssertEqual(map.page.problems, [])
    }

    func testNamesCoverNeitherDotsNorRoomsNorEachOther() throws {
        let map = try shown(width: 1440)
        // The page writes each name once, so that its places can be read where it draws.
        let boxes: [[Double]] = try map.page.evaluate(
            """
            (() => {
                const boxes = [];
                const canvas = document.getElementById("canvas-tags").getContext("2d");
                const fill = CanvasRenderingContext2D.prototype.fillText;
                canvas.fillText = function (text, x, y) {
                    const half = this.measureText(text).width / 2;
                    if (!/^[0-9]+$/.test(text)) boxes.push([x - half, y - 6, x + half, y + 6]);
                    fill.call(this, text, x, y);
                };
                window.tagMap.redraw();
                delete canvas.fillText;
                return boxes;
            })()
            """)
        XCTAssertGreaterThanOrEqual(boxes.count, 2)
        for (index, one) in boxes.enumerated() {
            for other in boxes[..<index] {
                XCTAssertFalse(
                    one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3], "\(one) \(other)")
            }
        }
    }

    func testTheOpenedGroupFitsEachScreen() throws {
        let map = try shown(isTouch: true)
        try map.assertLegible(
            at: [(320, 568), (390, 844), (1024, 600), (1440, 900)], grounds: "#plan, #panels *, #clusters *",
            open: { try map.page.run("document.querySelector('#clusters button').click()") },
            close: { try map.click("#cluster-close") })
    }
}
