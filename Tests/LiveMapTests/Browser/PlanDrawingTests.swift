import Foundation
import LiveMap
import XCTest

/// The pixels of the plan.
final class PlanDrawingTests: ShownMapCase {
    /// Returns the disc of the estimate: the only round shape of its colour and size.
    private func disc(in pixels: ScreenPixels, color: ScreenPixels.Color, scale: Double) throws -> ScreenPixels.Shape {
        let shapes = try pixels.shapes(of: color)
        let discs = shapes.filter { shape in
            // The disc has a radius of 7 CSS pixels; its edge is a mixture with the white ring. A circle covers 0.79 of
            // its square, the arrow of the course 0.5.
            let share = Double(shape.count) / Double(shape.width * shape.height)
            return abs(shape.width - shape.height) <= 1 && abs(Double(shape.width) - 14 * scale) <= 3 * scale
                && (0.62...0.9).contains(share)
        }
        XCTAssertEqual(discs.count, 1, "\(discs) of \(shapes.prefix(6))")
        return try XCTUnwrap(discs.first)
    }

    /// Hides the ground truth, whose line to the estimate covers a part of the disc.
    private func hideTruth(of map: ShownMap) throws {
        try map.page.run("document.querySelector('[data-layer=truth]').click()")
        try map.waitForDrawing()
    }

    private func color(_ name: String, of map: ShownMap) throws -> ScreenPixels.Color {
        let text = try map.page.rootProperty(name)
        return try XCTUnwrap(ScreenPixels.Color(hex: text), "\(name): \(text)")
    }

    /// Compares the disc in a screenshot with the point that the page reports.
    private func checkDisc(
        of map: ShownMap, at t: Double, scale: Double = 1, decoder: BrowserPage, _ message: String
    ) throws {
        let place = try XCTUnwrap(SampleSession.place(at: t))
        let point = try map.screenPoint(place)
        let disc = try disc(
            in: try map.page.pixels(decoder: decoder), color: try color("--estimate", of: map), scale: scale)
        XCTAssertEqual(disc.x / scale, point.x, accuracy: 0.6, message)
        XCTAssertEqual(disc.y / scale, point.y, accuracy: 0.6, message)
    }

    func testTheDotIsWhereThePlansMetresAndTheMetreBarPlaceIt() throws {
        let decoder = try page()
        for (width, height, t) in [(1440, 900, 118.0), (1440, 900, 130), (820, 1180, 110)] {
            let map = try savedPage(width: width, height: height)
            try map.seek(to: t)
            try hideTruth(of: map)
            let pixels = try map.page.pixels(decoder: decoder)
            // The outer wall is the largest shape of its colour. Its middle is that of the map.
            let wall = try XCTUnwrap(try pixels.shapes(of: try color("--wall", of: map), tolerance: 40).first)
            let bar = try map.box(of: "#scale-bar")
            let text = try map.text(of: "#scale-text")
            let metres = try XCTUnwrap(text.split(separator: " ").first.flatMap { Double($0) }, text)
            let pixelsPerMetre = bar.width / metres
            XCTAssertEqual(Double(wall.width), SampleSession.width * pixelsPerMetre, accuracy: 4)
            XCTAssertEqual(Double(wall.height), SampleSession.height * pixelsPerMetre, accuracy: 4)
            let place = try XCTUnwrap(SampleSession.place(at: t))
            let x = Double(wall.left + wall.right) / 2 + (place.x - SampleSession.width / 2) * pixelsPerMetre
            let y = Double(wall.top + wall.bottom) / 2 + (place.y - SampleSession.height / 2) * pixelsPerMetre
            let disc = try disc(in: pixels, color: try color("--estimate", of: map), scale: 1)
            XCTAssertEqual(disc.x, x, accuracy: 1.1, "\(width) × \(height)")
            XCTAssertEqual(disc.y, y, accuracy: 1.1, "\(width) × \(height)")
        }
    }

    func testTheDotStaysAtItsPlaceInMetresWhileThePlanMoves() throws {
        let decoder = try page()
        let map = try savedPage()
        try map.seek(to: 118)
        try hideTruth(of: map)
        try checkDisc(of: map, at: 118, decoder: decoder, "fitted")
        let fitted = try map.state.transform
        try map.page.press(.character("+"))
        try map.waitForDrawing()
        XCTAssertEqual(try map.state.transform.scale, 1.5 * fitted.scale, accuracy: 1e-6)
        try checkDisc(of: map, at: 118, decoder: decoder, "zoomed by key")
        let stage = try map.box(of: "#plan").middle
        try map.page.drag(from: stage, to: (stage.x + 130, stage.y - 60))
        try map.waitForDrawing()
        XCTAssertFalse(try map.state.transform == fitted)
        try checkDisc(of: map, at: 118, decoder: decoder, "dragged")
        let before = try map.state.transform.scale
        try map.page.wheel(x: stage.x, y: stage.y, delta: 300)
        try map.wait(until: "state.transform.scale < \(before)")
        try map.waitForDrawing()
        try checkDisc(of: map, at: 118, decoder: decoder, "zoomed by wheel")
        try map.click("#fit")
        try map.waitForDrawing()
        XCTAssertEqual(try map.state.transform, fitted)
        try checkDisc(of: map, at: 118, decoder: decoder, "fitted again")
    }

    func testTheDotIsAtItsPlaceOnAScreenOfHighResolution() throws {
        let map = try savedPage(width: 390, height: 844, scale: 3, isTouch: true)
        try map.seek(to: 120)
        try hideTruth(of: map)
        try checkDisc(of: map, at: 120, scale: 3, decoder: try page(), "three device pixels a pixel")
    }

    func testTwoFingersZoomAndOneFingerMovesThePlan() throws {
        let map = try savedPage(width: 390, height: 844, isTouch: true)
        try map.seek(to: 118)
        try hideTruth(of: map)
        let fitted = try map.state.transform
        // The fingers begin at the dot, which then stays on the screen.
        let dot = try map.screenPoint(try XCTUnwrap(SampleSession.place(at: 118)))
        let (x, y) = (dot.x, dot.y)
        try map.page.touch([[(x - 20, y), (x + 20, y)], [(x - 50, y), (x + 50, y)], [(x - 80, y), (x + 80, y)]])
        try map.wait(until: "state.transform.scale > \(2 * fitted.scale)")
        try map.waitForDrawing()
        let zoomed = try map.state.transform
        try map.page.touch([[(x, y)], [(x + 20, y + 10)], [(x + 40, y + 20)]])
        try map.wait(until: "state.transform.x > \(zoomed.x + 20)")
        try map.waitForDrawing()
        XCTAssertEqual(try map.state.transform.scale, zoomed.scale)
        try checkDisc(of: map, at: 118, decoder: try page(), "after a pinch")
    }

    func testLightAndDarkDifferInColourButNotInPlace() throws {
        let decoder = try page()
        let map = try savedPage()
        try map.seek(to: 118)
        try hideTruth(of: map)
        let light = try map.page.pixels(decoder: decoder)
        try checkDisc(of: map, at: 118, decoder: decoder, "light")
        try map.page.setPreferences(.init(isDark: true))
        try map.wait(until: "state.theme === 'dark'")
        try map.waitForDrawing()
        // A loaded browser may still show a frame from before the change.
        var dark = try map.page.pixels(decoder: decoder)
        for _ in 0..<50 where try light[700, 20] == dark[700, 20] {
            try map.waitForDrawing()
            dark = try map.page.pixels(decoder: decoder)
        }
        try checkDisc(of: map, at: 118, decoder: decoder, "dark")
        // A corner of the header, and one of the stage.
        for (x, y) in [(700, 20), (30, 400)] {
            let colors = (try light[x, y], try dark[x, y])
            XCTAssertGreaterThan(colors.0.distance(to: colors.1), 150, "\(colors)")
        }
        // The user's choice outweighs the system's.
        try map.click("#theme")
        try map.wait(until: "state.theme === 'light'")
        try map.waitForDrawing()
        XCTAssertEqual(try map.page.pixels(decoder: decoder)[700, 20], try light[700, 20])
    }
}
