import Foundation
import LiveMap
import XCTest

/// The page as a file without a server.
final class SavedPageTests: ShownMapCase {
    func testTheFileLoadsNothingAndReportsNoProblem() throws {
        let map = try savedPage()
        for t in [101.0, 118, 130, 139.9] { try map.seek(to: t) }
        for selector in ["#layers summary", "#theme", "#zoom-in", "#fit", "#follow", "#follow", "#play", "#play"] {
            try map.click(selector)
        }
        try map.page.press(.character("?"))
        try map.page.wait(until: "document.getElementById('help').open")
        try map.page.press(.escape)
        XCTAssertEqual(map.page.problems, [])
        XCTAssertEqual(try map.page.evaluate("performance.getEntriesByType('resource').length", as: Int.self), 0)
    }

    func testTheFileForbidsConnections() throws {
        let map = try savedPage()
        let outcome = "fetch('http://127.0.0.1:9/').then(() => 'connected', (error) => error.message)"
        XCTAssertEqual(try map.page.evaluate(outcome, as: String.self), "Failed to fetch")
        XCTAssertTrue(
            map.page.problems.contains { $0.contains("Content Security Policy") && $0.contains("connect-src") },
            "\(map.page.problems)")
    }

    func testTheDiagnosisIsShownWhileThereIsNoPosition() throws {
        let map = try savedPage()
        let text = try map.text(of: "#diagnosis")
        for part in [SampleSession.diagnosis, SampleSession.help, SampleSession.unknownBeacon] {
            XCTAssertTrue(text.contains(part), "\(part) in \(text)")
        }
        XCTAssertEqual(try map.facts.first, ["Position", "none"])
        XCTAssertNil(try map.state.estimate)
        try map.seek(to: 118)
        XCTAssertEqual(try map.text(of: "#diagnosis"), "")
        try map.seek(to: 104)
        XCTAssertTrue(try map.text(of: "#diagnosis").contains(SampleSession.diagnosis))
    }

    func testTheTimeLineSeeksFrameAndFacts() throws {
        let map = try savedPage()
        XCTAssertEqual(try map.state.frameId, 0)
        try map.seek(to: 118)
        XCTAssertEqual(try map.state.frameId, 18)
        XCTAssertEqual(
            try map.facts,
            [
                ["Position", "21.0 m, 12.5 m"], ["Floor", "Ground floor (75 %)"], ["Room", "—"],
                ["68 % radius", "2.5 m"], ["Course", "90° (right), 1.0 m/s"],
                ["Ground truth", "24.0 m, 16.5 m, Ground floor"], ["Error", "5.0 m"],
                ["Strongest beacons", "1/1 (−63 dBm), 1/2 (−66 dBm), 1/3 (−69 dBm)"], ["Time", "0:18"],
            ])
        XCTAssertEqual(try map.text(of: "#time"), "0:18 / 0:40")
        try map.seek(to: 139)
        XCTAssertEqual(try map.state.frameId, 39)
        XCTAssertEqual(
            try map.facts.prefix(3),
            [["Position", "14.0 m, 6.3 m"], ["Floor", "Upper floor (88 %)"], ["Room", "Library"]])
        XCTAssertEqual(try map.text(of: "#time"), "0:39 / 0:40")
    }

    func testAScreenReaderGetsTheFiguresOfTheShownFrame() throws {
        let map = try savedPage()
        for t in [101.0, 118, 130] {
            try map.seek(to: t)
            let spoken = try map.page.evaluate(
                "document.getElementById('facts-text').textContent.replaceAll('\\u00a0', ' ')", as: String.self)
            XCTAssertFalse(spoken.contains(".."), spoken)
            for fact in try map.facts.map({ "\($0[0]): \($0[1])" }) {
                XCTAssertTrue(spoken.contains(fact), "\(fact) of \(t) in \(spoken)")
            }
            let slider = try map.page.evaluate(
                "document.getElementById('timeline').getAttribute('aria-valuetext')", as: String.self)
            XCTAssertTrue(slider.hasPrefix("0:\(t < 110 ? "0" : "")\(Int(t) - 100) of 0:40"), slider)
        }
    }

    func testTheFloorSwitchShowsTheRoomsAndTheProbabilityOfEachFloor() throws {
        // Text on a canvas isn't part of the document: the test records what is drawn.
        let map = try savedPage(
            script: """
                window.drawn = new Set();
                const fillText = CanvasRenderingContext2D.prototype.fillText;
                CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
                    if (this.canvas.id === "canvas-plan") { window.drawn.add(text); }
                    return fillText.call(this, text, ...rest);
                };
                """)
        try map.seek(to: 118)
        let chances =
            "[...document.querySelectorAll('#floors button')].map((one) => one.innerText.replace(/\\s+/g, ' '))"
        XCTAssertEqual(try map.page.evaluate(chances, as: [String].self), ["Upper floor 25 %", "Ground floor 75 %"])
        XCTAssertEqual(try map.state.mapId, 1)
        XCTAssertTrue(try map.page.evaluate("drawn.has('Lobby') && drawn.has('Workshop') && !drawn.has('Library')"))
        try map.page.run("drawn.clear()")
        try map.click("#floors button[data-map='2']")
        try map.waitForDrawing()
        XCTAssertEqual(try map.state.mapId, 2)
        XCTAssertFalse(try map.state.following)
        XCTAssertTrue(try map.page.evaluate("drawn.has('Library') && drawn.has('Archive') && !drawn.has('Lobby')"))
        // Without Follow, the floor stays; with Follow, it changes with the session.
        try map.seek(to: 119)
        XCTAssertEqual(try map.state.mapId, 2)
        try map.click("#follow")
        try map.waitForDrawing()
        XCTAssertEqual(try map.state.mapId, 1)
        try map.seek(to: 130)
        XCTAssertEqual(try map.state.mapId, 2)
        XCTAssertEqual(try map.page.evaluate(chances, as: [String].self), ["Upper floor 88 %", "Ground floor 13 %"])
    }
}
