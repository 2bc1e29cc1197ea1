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
            in: try map.pixels(decoder: decoder), color: try color("--estimate", of: map), scale: scale)
        XCTAssertEqual(disc.x / scale, point.x, accuracy: 0.6, message)
        XCTAssertEqual(disc.y / scale, point.y, accuracy: 0.6, message)
    }

    func testTheDotIsWhereThePlansMetresAndTheMetreBarPlaceIt() throws {
        let decoder = try page()
        for (width, height, t) in [(1440, 900, 118.0), (1440, 900, 130), (820, 1180, 110)] {
            let map = try savedPage(width: width, height: height)
            try map.seek(to: t)
            try hideTruth(of: map)
            let pixels = try map.pixels(decoder: decoder)
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
        let light = try map.pixels(decoder: decoder)
        try checkDisc(of: map, at: 118, decoder: decoder, "light")
        try map.page.setPreferences(.init(isDark: true))
        // The state has the preference at once, but the page applies it frames later.
        try map.page.wait(until: "document.documentElement.dataset.theme === 'dark'")
        let dark = try map.pixels(decoder: decoder)
        try checkDisc(of: map, at: 118, decoder: decoder, "dark")
        // A corner of the header, and one of the stage.
        for (x, y) in [(700, 20), (30, 400)] {
            let colors = (try light[x, y], try dark[x, y])
            XCTAssertGreaterThan(colors.0.distance(to: colors.1), 150, "\(colors)")
        }
        // The user's choice outweighs the system's.
        try map.click("#theme")
        try map.page.wait(until: "document.documentElement.dataset.theme === 'light'")
        XCTAssertEqual(try map.pixels(decoder: decoder)[700, 20], try light[700, 20])
    }
}

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
            colors.insert(try map.pixels(decoder: decoder)[Int(point.x), Int(point.y)])
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
            let lines = try map.pixels(decoder: decoder).shapes(of: hatching, tolerance: 24)
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

/// The work for drawing 10,000 particles at 30 frames a second.
///
/// `.ci/tools/drawing-speed` prints the figures for a browser on one core.
final class DrawingSpeedTests: ShownMapCase {
    private static let particleCount = 10_000

    /// What the page has measured, in milliseconds.
    private struct Timing: Decodable {
        /// The time in the callback of each refresh of the screen that drew.
        var durations: [Double]
        /// The number of calls of canvas functions in each of them.
        var calls: [Double]
        /// The time from the first to the last refresh.
        var span: Double
        /// The time to draw as many squares with a call each.
        var baseline: [Double]

        static func quantile(_ values: [Double], _ fraction: Double) -> Double {
            let sorted = values.sorted()
            return sorted.isEmpty ? .nan : sorted[Int(fraction * Double(sorted.count - 1))]
        }
    }

    /// Measures each callback of `requestAnimationFrame`, and counts the calls of canvas functions in it.
    private static let script = """
        window.timing = { durations: [], calls: [], starts: [] };
        let calls = 0;
        for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(CanvasRenderingContext2D.prototype))) {
            if (typeof property.value !== "function") continue;
            CanvasRenderingContext2D.prototype[name] = function (...rest) {
                calls++;
                return property.value.apply(this, rest);
            };
        }
        const request = window.requestAnimationFrame;
        window.requestAnimationFrame = (callback) => request.call(window, (now) => {
            const callsBefore = calls;
            const start = performance.now();
            callback(now);
            if (calls === callsBefore) return;
            timing.durations.push(performance.now() - start);
            timing.calls.push(calls - callsBefore);
            timing.starts.push(now);
        });
        """

    /// Returns a session of 5 s with positions.
    private func document() -> LiveMapDocument {
        var document = SampleSession(particleCount: 0, framesPerSecond: 30).document
        // A few clouds in turn, so that each frame has a new one.
        let clouds = (0..<6).map { seed in
            SampleSession(particleCount: Self.particleCount).particles(
                around: .init(mapId: 1, x: 12, y: 12.5), seed: UInt64(seed), spread: 14)
        }
        document.frames = document.frames.filter { $0.t >= 106 && $0.t <= 111 }
        for index in document.frames.indices {
            document.frames[index].particles = [.init(mapId: 1, points: clouds[index % clouds.count])]
        }
        document.overview.start = 106
        document.overview.end = 111
        return document
    }

    func testTenThousandParticlesNeedFewCallsAndLessTimeThanASquareEach() throws {
        let map = try savedPage(document(), script: Self.script)
        try map.wait(until: "state.particles === \(Self.particleCount)")
        try map.page.run("for (const list of Object.values(timing)) { list.length = 0; }")
        try map.page.press(.space)
        try map.wait(until: "!state.playing")
        let timing = try map.page.evaluate(
            """
            (() => {
                const result = { ...timing, span: timing.starts.at(-1) - timing.starts[0], baseline: [] };
                const { width, height } = document.getElementById("canvas-particles");
                const context = Object.assign(document.createElement("canvas"), { width, height })
                    .getContext("2d", { willReadFrequently: true });
                for (let turn = 0; turn < 15; turn++) {
                    const start = performance.now();
                    context.clearRect(0, 0, width, height);
                    for (let index = 0; index < \(Self.particleCount); index++) {
                        context.fillRect((index * 7919) % width, (index * 104729) % height, 2, 2);
                    }
                    // Reading a pixel waits for the drawing.
                    context.getImageData(0, 0, 1, 1);
                    result.baseline.push(performance.now() - start);
                }
                return result;
            })()
            """, as: Timing.self)
        let middle = Timing.quantile(timing.durations, 0.5)
        let baseline = Timing.quantile(timing.baseline, 0.5)
        let figures = [
            "median \(text(middle)) ms", "95 % within \(text(Timing.quantile(timing.durations, 0.95))) ms",
            "longest \(text(timing.durations.max() ?? .nan)) ms", "\(timing.durations.count) drawings",
            "\(text(1000 * Double(timing.durations.count - 1) / timing.span)) drawings a second",
            "\(Int(Timing.quantile(timing.calls, 0.5))) canvas calls a drawing",
            "\(text(baseline)) ms for a square each",
        ]
        print("drawing of \(Self.particleCount) particles: \(figures.joined(separator: ", "))")
        XCTAssertGreaterThan(timing.durations.count, 5)
        // A call for each particle would be 10,000 calls.
        XCTAssertLessThan(timing.calls.max() ?? .infinity, 1000)
        // Both were measured in the same run, so that the machine's speed cancels out. The limit is generous.
        XCTAssertLessThan(middle, 4 * baseline, "\(figures)")
        XCTAssertEqual(map.page.problems, [])
    }

    private func text(_ value: Double) -> String { String(format: "%.1f", value) }
}

/// The layout on screens of every size, and the legibility of the text.
final class LayoutTests: ShownMapCase {
    private static let sizes = [(320, 568), (360, 740), (820, 1180), (1024, 600), (1440, 900)]

    func testNoControlOverlapsAnotherAndNoPageScrollsSideways() throws {
        let map = try savedPage(isTouch: true)
        for (width, height) in Self.sizes {
            try map.page.setViewport(width: width, height: height, isTouch: width < 900)
            for t in [101.0, 118] {
                try map.page.run("scrollTo(0, 0)")
                try map.seek(to: t)
                for hasMenu in [false, true] {
                    try map.page.run("document.getElementById('layers').open = \(hasMenu)")
                    try map.waitForDrawing()
                    let place = "\(width) × \(height) at \(t), menu \(hasMenu)"
                    XCTAssertFalse(try map.page.scrollsSideways, place)
                    // The player sticks to the lower edge of a telephone's screen, over the panels that scroll below it.
                    let found = try map.page.misplacedControls(grounds: "#plan, #panels *")
                    XCTAssertEqual(found, [], place)
                    XCTAssertEqual(try map.page.misplacedControls(grounds: "#plan, #player *, #timeline"), [], place)
                }
            }
        }
    }

    func testTheHelpFitsOnATelephone() throws {
        let map = try savedPage(width: 360, height: 740, isTouch: true)
        try map.click("#help-open")
        try map.page.wait(until: "document.getElementById('help').open")
        let help = try map.box(of: "#help")
        XCTAssertGreaterThanOrEqual(help.left, 0)
        XCTAssertLessThanOrEqual(help.left + help.width, 360)
        XCTAssertLessThanOrEqual(help.height, 740)
        XCTAssertFalse(try map.page.scrollsSideways)
    }

    func testEachTextHasEnoughContrastInLightAndDark() throws {
        for isDark in [false, true] {
            let map = try savedPage(preferences: .init(isDark: isDark))
            for t in [101.0, 118] {
                try map.seek(to: t)
                try map.page.run("document.getElementById('layers').open = true")
                let found = try map.page.textsOfLowContrast(backdrop: try map.page.rootProperty("--plan"))
                XCTAssertEqual(found, [], "dark \(isDark) at \(t)")
            }
            // The texts on the canvases.
            let pairs = [
                ("room-text", "room"), ("room-text", "plan"), ("fence", "halo"), ("point", "halo"), ("heard", "halo"),
                ("truth", "halo"), ("text", "panel"), ("quiet", "panel"), ("truth", "panel"), ("text", "ground"),
            ]
            for (ink, ground) in pairs {
                let names = ("--" + ink, "--" + ground)
                let contrast = try map.page.contrast(
                    of: try map.page.rootProperty(names.0), on: try map.page.rootProperty(names.1))
                XCTAssertGreaterThanOrEqual(contrast, 4.5, "\(ink) on \(ground), dark \(isDark)")
            }
        }
    }

    func testEachControlHasANameForScreenReaders() throws {
        let map = try savedPage()
        try map.seek(to: 118)
        try map.page.run("document.getElementById('layers').open = true")
        let controls = try map.page.spokenControls()
        XCTAssertGreaterThan(controls.count, 20)
        for control in controls { XCTAssertNotEqual(control.name, "", control.role) }
    }
}
