import Foundation
import LiveMap
import XCTest

/// Playback by keyboard, and motion.
final class PlaybackTests: ShownMapCase {
    func testKeysPlayPauseAndChangeTheSpeed() throws {
        let map = try savedPage()
        try map.seek(to: 110)
        XCTAssertFalse(try map.state.playing)
        try map.page.press(.space)
        try map.wait(until: "state.playing && state.t > 111.2")
        XCTAssertEqual(try map.text(of: "#play"), "Pause")
        try map.page.press(.space)
        try map.wait(until: "!state.playing")
        XCTAssertEqual(try map.text(of: "#play"), "Play")
        let paused = try map.state.t
        try map.waitForDrawing()
        XCTAssertEqual(try map.state.t, paused)
        for (key, speed) in [(">", 2.0), (">", 4), ("<", 2)] {
            try map.page.press(.character(Character(key)))
            XCTAssertEqual(try map.state.speed, speed)
            let chosen = try map.page.evaluate("document.getElementById('speed').value", as: String.self)
            XCTAssertEqual(chosen, "\(Int(speed))")
        }
    }

    func testPlaybackIsAsFastAsItsSpeed() throws {
        // The page's own clock is compared with that of the browser: no duration of the test matters.
        let rate = """
            new Promise((done) => {
                let first = null;
                const step = (now) => {
                    const t = window.liveMap.state().t;
                    first ??= { now, t };
                    if (now - first.now > 1000) { done(1000 * (t - first.t) / (now - first.now)); }
                    else { requestAnimationFrame(step); }
                };
                requestAnimationFrame(step);
            })
            """
        let map = try savedPage()
        try map.seek(to: 101)
        for _ in 0..<3 { try map.page.press(.character(">")) }
        try map.page.press(.space)
        try map.wait(until: "state.t > 101.5")
        // A pause of the whole machine of more than half a second makes the page slower, never faster.
        let measured = try map.page.evaluate(rate, as: Double.self)
        XCTAssertLessThan(measured, 8.8)
        XCTAssertGreaterThan(measured, 0.5)
    }

    func testKeysMoveThroughTheSession() throws {
        let map = try savedPage()
        try map.seek(to: 118)
        let steps: [(BrowserPage.Key, Int)] = [
            (.right, 23), (.left, 18), (.character("."), 19), (.character(","), 18), (.character("]"), 25),
            (.character("["), 5), (.end, 40), (.home, 0),
        ]
        for (key, frame) in steps {
            try map.page.press(key)
            try map.waitForDrawing()
            XCTAssertEqual(try map.state.frameId, frame, key.name)
        }
        XCTAssertEqual(map.page.problems, [])
    }

    func testPlaybackEndsAtTheEndAndBeginsAnew() throws {
        let map = try savedPage()
        try map.seek(to: 139)
        try map.page.press(.space)
        try map.wait(until: "!state.playing")
        XCTAssertEqual(try map.state.t, 140)
        try map.page.press(.space)
        try map.wait(until: "state.playing && state.t < 110")
    }

    /// Returns the drawn places of the estimate, as x in metres, until the session has reached the next three frames.
    private func places(of map: ShownMap) throws -> [Double] {
        try map.seek(to: 110)
        for _ in 0..<2 { try map.page.press(.character(">")) }
        try map.page.press(.space)
        return try map.page.evaluate(
            """
            new Promise((done) => {
                const places = [];
                const step = () => {
                    const { estimate, frameId } = window.liveMap.state();
                    places.push(estimate.x);
                    if (frameId >= 13) { done(places); } else { requestAnimationFrame(step); }
                };
                requestAnimationFrame(step);
            })
            """)
    }

    func testTheDotMovesBetweenFrames() throws {
        let places = try places(of: try savedPage())
        XCTAssertTrue(places.contains { $0 != $0.rounded() }, "\(places)")
        XCTAssertEqual(places, places.sorted())
    }

    func testTheDotJumpsFromFrameToFrameForAUserWhoPrefersReducedMotion() throws {
        let map = try savedPage(preferences: .init(reducesMotion: true))
        let places = try places(of: map)
        XCTAssertEqual(places.filter { $0 != $0.rounded() }, [])
        XCTAssertGreaterThan(Set(places).count, 1)
        let animations = try map.page.evaluate(
            """
            [...document.querySelectorAll("*")].map((one) => getComputedStyle(one)).filter((style) =>
                parseFloat(style.transitionDuration) > 0 || style.animationName !== "none").length
            """, as: Int.self)
        XCTAssertEqual(animations, 0)
    }

    func testAFocusedButtonKeepsTheSpaceKey() throws {
        let map = try savedPage()
        try map.page.run("document.getElementById('follow').focus()")
        try map.page.press(.space)
        XCTAssertFalse(try map.state.following)
        XCTAssertFalse(try map.state.playing)
    }
}
