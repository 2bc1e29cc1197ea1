import LiveMap
import XCTest

/// The page with two venues, whose maps have the same numbers, and with frames that lack details.
final class SeveralVenuesTests: ShownMapCase {
    /// The sample, with a second venue that the session never visits.
    private var document: LiveMapDocument {
        var document = SampleSession().document
        var other = document.overview.venues[0]
        (other.id, other.name, other.beacons) = (8, "Other building", [])
        for index in other.maps.indices { other.maps[index].name = "Other \(index)" }
        document.overview.venues.append(other)
        return document
    }

    private func choose(venue: Int, in map: ShownMap) throws {
        try map.page.run(
            """
            const choice = document.getElementById("venue");
            choice.value = "\(venue)";
            choice.dispatchEvent(new Event("change", { bubbles: true }));
            """)
        try map.waitForDrawing()
    }

    /// Returns the number of pixels that the session's canvas has.
    private func sessionPixels(of map: ShownMap) throws -> Int {
        try map.page.evaluate(
            """
            (() => {
                const canvas = document.getElementById("canvas-session");
                const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
                let count = 0;
                for (let place = 3; place < data.length; place += 4) { if (data[place] > 0) { count++; } }
                return count;
            })()
            """)
    }

    func testASessionIsDrawnOnlyOnThePlanOfItsVenue() throws {
        let map = try savedPage(document)
        try map.seek(to: 118)
        XCTAssertEqual(try map.state.particles, 200)
        XCTAssertGreaterThan(try sessionPixels(of: map), 0)
        try choose(venue: 8, in: map)
        XCTAssertEqual(try map.text(of: "#floors"), "Other 1\nOther 0")
        XCTAssertEqual(try map.state.mapId, 1)
        XCTAssertEqual(try map.state.particles, 0)
        XCTAssertEqual(try sessionPixels(of: map), 0)
        XCTAssertEqual(try map.facts.first { $0[0] == "Floor" }, ["Floor", "Ground floor (75 %)"])
        try choose(venue: 7, in: map)
        XCTAssertEqual(try map.state.particles, 200)
        XCTAssertGreaterThan(try sessionPixels(of: map), 0)
    }

    func testTheTimeLineNamesTheFloorsOfTheSessionsVenue() throws {
        let map = try savedPage(
            document,
            script: """
                window.drawn = [];
                const fillText = CanvasRenderingContext2D.prototype.fillText;
                CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
                    drawn.push(text);
                    return fillText.call(this, text, ...rest);
                };
                """)
        try map.seek(to: 118)
        XCTAssertTrue(try map.page.evaluate("drawn.includes('Ground floor') && drawn.includes('Upper floor')"))
        XCTAssertFalse(try map.page.evaluate("drawn.some((text) => String(text).startsWith('Other'))"))
    }

    func testTheBeaconTableOfAReducedFrameShowsThatItsBeaconsAreNotStored() throws {
        let map = try savedPage(
            document,
            script: """
                const parse = JSON.parse;
                JSON.parse = (text) => {
                    const value = parse(text);
                    for (const frame of value?.frames ?? []) {
                        if (frame.id < 20) { frame.beacons = frame.particles = frame.levels = null; }
                    }
                    return value;
                };
                """)
        try map.seek(to: 118)
        XCTAssertEqual(try map.text(of: "#beacons .note"), "The beacons of this instant are not stored.")
        XCTAssertEqual(try map.state.frameId, 18)
        XCTAssertEqual(try map.state.particles, 0)
        XCTAssertNil(try map.facts.first { $0[0] == "Strongest beacons" })
        try map.seek(to: 122)
        XCTAssertEqual(try map.text(of: "#beacons .note"), "4 received")
        XCTAssertEqual(try map.state.particles, 200)
        XCTAssertEqual(map.page.problems, [])
    }
}
