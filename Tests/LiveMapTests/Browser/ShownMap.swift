import Foundation
import IndoorLocalizationTesting
import LiveMap
import XCTest

/// A live map in a browser, with what it shows and how a user controls it.
struct ShownMap {
    /// What `window.liveMap.state()` returns; see `inspection.js`.
    struct State: Decodable {
        struct Estimate: Decodable {
            var mapId: Int
            var x: Double
            var y: Double
        }
        struct Transform: Decodable, Equatable {
            var scale: Double
            var x: Double
            var y: Double
        }
        var t: Double
        var speed: Double
        var playing: Bool
        var following: Bool
        var connection: String
        var mapId: Int?
        var frameId: Int?
        var frames: Int
        var estimate: Estimate?
        var particles: Int
        var drawings: Int
        var theme: String
        var transform: Transform
    }

    struct Point: Decodable, Equatable {
        var x: Double
        var y: Double
    }

    struct Box: Decodable {
        var left: Double
        var top: Double
        var width: Double
        var height: Double

        var middle: (x: Double, y: Double) { (left + width / 2, top + height / 2) }
    }

    let page: BrowserPage

    /// Waits until the page shows its first frame.
    func waitUntilReady() throws {
        // The page replaces the object while it starts.
        try page.wait(until: "window.liveMap !== undefined")
        try page.run("await window.liveMap.ready")
    }

    var state: State {
        get throws { try page.evaluate("window.liveMap.state()") }
    }

    /// Waits until an expression with `state` is true.
    func wait(until condition: String) throws {
        try page.wait(until: "((state) => \(condition))(window.liveMap.state())")
    }

    /// Returns the point of the viewport, in CSS pixels, that the page reports for a place in metres.
    func screenPoint(_ place: LiveMapFrame.Place) throws -> Point {
        try page.evaluate("window.liveMap.screenPoint(\(place.mapId), \(place.x), \(place.y))")
    }

    /// Returns the rectangle of the element with an identifier.
    func box(of selector: String) throws -> Box {
        try page.evaluate(
            """
            (() => {
                const { left, top, width, height } = document.querySelector("\(selector)").getBoundingClientRect();
                return { left, top, width, height };
            })()
            """)
    }

    /// Returns the text of an element as a user reads it; empty if the element is hidden.
    func text(of selector: String) throws -> String {
        try page.evaluate("document.querySelector(\"\(selector)\").innerText.replaceAll('\\u00a0', ' ')")
    }

    /// Clicks the middle of an element.
    func click(_ selector: String) throws {
        let (x, y) = try box(of: selector).middle
        try page.click(x: x, y: y)
    }

    /// Clicks the time line at an instant of the sample, and waits until the page has drawn it.
    func seek(to t: Double) throws {
        let line = try box(of: "#timeline")
        let fraction = (t - SampleSession.start) / (SampleSession.end - SampleSession.start)
        // A pixel behind the instant, as a frame begins at its instant.
        try page.click(x: line.left + fraction * line.width + 1, y: line.top + line.height / 2)
        try waitForDrawing()
    }

    /// Waits until the page has drawn all changes.
    func waitForDrawing() throws {
        try page.run("await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    }

    /// Returns the pixels of the viewport with all changes so far.
    ///
    /// A loaded browser may take its screenshot of an earlier frame. Therefore the page gets a mark in its top left corner,
    /// of another colour each time, which it draws after all changes. The screenshot is repeated until it has the mark.
    ///
    /// - Parameter decoder: an empty page; the page itself may forbid images and scripts.
    func pixels(decoder: BrowserPage) throws -> ScreenPixels {
        try waitForDrawing()
        let color: ScreenPixels.Color = try page.evaluate(
            """
            (() => {
                window.hasOtherMark = !window.hasOtherMark;
                const color = { red: 255, green: window.hasOtherMark ? 96 : 0, blue: 255 };
                const mark = document.createElement("test-mark");
                Object.assign(mark.style, {
                    position: "fixed", left: "0px", top: "0px", width: "2px", height: "2px", zIndex: "2147483647",
                    pointerEvents: "none", background: `rgb(${color.red}, ${color.green}, ${color.blue})`,
                });
                document.documentElement.append(mark);
                return color;
            })()
            """)
        let end = ContinuousClock.now + Bounded.longest
        while true {
            let pixels = try page.pixels(decoder: decoder)
            if try pixels[0, 0].distance(to: color) <= 8 {
                try page.run("document.querySelector('test-mark').remove()")
                return pixels
            }
            try pixels.discard()
            guard ContinuousClock.now < end else {
                throw BrowserPage.Failure(description: "no screenshot shows the latest changes")
            }
        }
    }

    /// The names and values of the facts.
    var facts: [[String]] {
        get throws {
            try page.evaluate(
                """
                [...document.querySelectorAll("#facts-list dt")].map((name) =>
                    [name, name.nextElementSibling].map((one) => one.textContent.replaceAll("\\u00a0", " ")))
                """)
        }
    }
}

/// Tests of the page in a browser.
class ShownMapCase: BrowserTestCase {
    /// Opens the sample as a file without a server.
    ///
    /// - Parameters:
    ///   - width: the width of the viewport in CSS pixels.
    ///   - height: the height of the viewport in CSS pixels.
    ///   - script: JavaScript that runs before the page.
    func savedPage(
        _ document: LiveMapDocument = SampleSession().document, width: Int = 1440, height: Int = 900, scale: Double = 1,
        isTouch: Bool = false, preferences: BrowserPage.Preferences = .init(), script: String? = nil
    ) throws -> ShownMap {
        let path = FileManager.default.temporaryDirectory.path + "/live-map-\(UUID().uuidString).html"
        addTeardownBlock { try? FileManager.default.removeItem(atPath: path) }
        try Data(try LiveMapPage.document(document)).write(to: URL(filePath: path))
        let page = try page()
        try page.setViewport(width: width, height: height, scale: scale, isTouch: isTouch)
        try page.setPreferences(preferences)
        if let script { try page.send("Page.addScriptToEvaluateOnNewDocument", ["source": .string(script)]) }
        try page.open("file://" + path)
        let map = ShownMap(page: page)
        try map.waitUntilReady()
        return map
    }
}
