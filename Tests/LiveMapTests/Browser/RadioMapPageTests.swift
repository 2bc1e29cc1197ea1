import Foundation
import IndoorLocalizationTesting
import LiveMap
import XCTest

/// The page of a radio map that the tool learned from a survey of the ground floor's west.
final class RadioMapPageTests: ShownMapCase {
    private func radioMapPage() throws -> ShownMap {
        let base = FileManager.default.temporaryDirectory.path + "/radio-\(UUID().uuidString)"
        let (radioMap, path) = (base + ".json.gz", base + ".html")
        addTeardownBlock { for file in [radioMap, path] { try? FileManager.default.removeItem(atPath: file) } }
        for arguments in [
            ["survey", "--venue", "Fixtures/office", "-o", radioMap, "Fixtures/office/survey/ground-west.jsonl"],
            ["view", "--venue", "Fixtures/office", "--output", path, radioMap],
        ] {
            XCTAssertEqual(try ToolProcess(arguments).end(), 0, "\(arguments)")
        }
        let page = try page()
        try page.setViewport(width: 1440, height: 900)
        try page.open("file://" + path)
        let map = ShownMap(page: page)
        try map.waitUntilReady()
        return map
    }

    /// Sets a choice of the panel as a user does.
    private func choose(_ selector: String, _ index: Int, in map: ShownMap) throws {
        try map.page.run(
            """
            const choice = document.querySelector("\(selector)");
            choice.selectedIndex = \(index);
            choice.dispatchEvent(new Event("change"));
            """)
        try map.waitForDrawing()
    }

    private func setLayer(_ name: String, in map: ShownMap) throws {
        try map.page.run("document.querySelector('[data-layer=\(name)]').click()")
        try map.waitForDrawing()
    }

    func testTheHeatMapAndTheResidualsAreThoseOfTheChosenBeacon() throws {
        let map = try radioMapPage()
        let decoder = try page()
        // Only the heat map is left.
        for layer in ["image", "walls", "rooms", "names", "beacons", "survey", "residuals", "gaps"] {
            if layer != "names" { try setLayer(layer, in: map) }
        }
        let point = try map.screenPoint(.init(mapId: 1, x: 5, y: 9))
        var colors: Set<ScreenPixels.Color> = []
        var tables: Set<String> = []
        for beacon in [0, 5, 17] {
            try choose("#radio-beacon", beacon, in: map)
            XCTAssertEqual(try map.state.mapId, 1)
            colors.insert(try map.page.pixels(decoder: decoder)[Int(point.x), Int(point.y)])
            let rows: Int = try map.page.evaluate("document.querySelectorAll('#radio tbody tr').length")
            XCTAssertGreaterThan(rows, 10)
            XCTAssertTrue(try map.text(of: "#residual-summary").contains("\(rows) points"))
            tables.insert(try map.text(of: "#radio tbody"))
        }
        XCTAssertEqual(colors.count, 3, "\(colors)")
        XCTAssertEqual(tables.count, 3)
        try choose("#radio-quantity", 1, in: map)
        XCTAssertTrue(try map.text(of: "#legend").contains("Deviation (dB)"))
        XCTAssertEqual(map.page.problems, [])
    }

    func testThePageShowsWhatTheSurveyIsMissing() throws {
        let map = try radioMapPage()
        let decoder = try page()
        let hatching = try XCTUnwrap(
            ScreenPixels.Color(
                hex: try map.page.evaluate(
                    "getComputedStyle(document.getElementById('light-colors')).getPropertyValue('--bad').trim()")))
        /// Returns whether each square of 24 pixels around the places has the hatching.
        func isHatched(_ places: [LiveMapFrame.Place]) throws -> [Bool] {
            let lines = try map.page.pixels(decoder: decoder).shapes(of: hatching, tolerance: 24)
            return try places.map { place in
                let point = try map.screenPoint(place)
                return lines.contains { line in
                    Double(line.left) < point.x + 12 && Double(line.right) > point.x - 12
                        && Double(line.top) < point.y + 12 && Double(line.bottom) > point.y - 12
                }
            }
        }
        // The survey covers the west. No room of the west has a gap.
        let places = [LiveMapFrame.Place(mapId: 1, x: 30, y: 4), .init(mapId: 1, x: 6, y: 4)]
        XCTAssertEqual(try isHatched(places), [true, false])
        XCTAssertTrue(try map.text(of: "#legend").contains("No survey point nearby"))
        try setLayer("gaps", in: map)
        XCTAssertEqual(try isHatched(places), [false, false])

        let advice: [String] = try map.page.evaluate(
            "[...document.querySelectorAll('#advice li')].map((one) => one.textContent)")
        XCTAssertTrue(advice.contains { $0.hasPrefix("Walk") && $0.contains("have no survey point") }, "\(advice)")
        XCTAssertTrue(try map.text(of: "#radio").contains("What this survey is missing"))
        // A screen reader gets the number and the area of the gaps.
        let spoken: String = try map.page.evaluate("document.getElementById('facts-text').textContent")
        XCTAssertTrue(spoken.contains("Survey gaps: 2"), spoken)
        XCTAssertEqual(map.page.problems, [])
    }

    func testASuspiciousBeaconIsMarked() throws {
        var document = SampleSession().document
        document.overview.mode = .radioMap
        let ids = document.overview.venues[0].beacons.map(\.id)
        let finding = "Check the battery and the mounting of beacon \(ids[1])."
        document.radioMap = LiveMapRadioMap(
            beacons: [.init(id: ids[0]), .init(id: ids[1], findings: [finding])], surveyGaps: [], advice: [finding])
        let map = try savedPage(document)
        let names: [String] = try map.page.evaluate(
            "[...document.querySelectorAll('#radio-beacon option')].map((one) => one.textContent)")
        XCTAssertEqual(names, ["1/1", "! 1/2: suspicious"])
        XCTAssertEqual(try map.text(of: "#beacon-findings"), "")
        try choose("#radio-beacon", 1, in: map)
        XCTAssertEqual(try map.text(of: "#beacon-findings"), finding)
        XCTAssertEqual(try map.facts.last, ["Suspicious beacons", "1"])
        XCTAssertFalse(try map.text(of: "#legend").contains("No survey point nearby"))
        XCTAssertEqual(map.page.problems, [])
    }
}
