import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LiveMap
import VenuePackets
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

/// The pages that `indoorloc view --output` writes, of recordings of real sessions.
final class ViewedRecordingTests: ShownMapCase {
    private func view(_ recording: String, venue: String = "office") throws -> ShownMap {
        let path = FileManager.default.temporaryDirectory.path + "/view-\(UUID().uuidString).html"
        addTeardownBlock { try? FileManager.default.removeItem(atPath: path) }
        let tool = try ToolProcess([
            "view", "--venue", "Fixtures/" + venue, "--output", path, "Fixtures/" + recording,
        ])
        XCTAssertEqual(try tool.end(), 0)
        let page = try page()
        try page.setViewport(width: 1440, height: 900)
        try page.open("file://" + path)
        let map = ShownMap(page: page)
        try map.waitUntilReady()
        return map
    }

    /// Clicks the time line at a share of the session.
    private func seek(_ map: ShownMap, to share: Double) throws {
        let line = try map.box(of: "#timeline")
        try map.page.click(x: line.left + share * line.width, y: line.top + line.height / 2)
        try map.waitForDrawing()
    }

    func testAWalkShowsItsPositionsErrorsFloorsAndPlan() throws {
        let map = try view("recordings/stairs/scan.jsonl.gz")
        XCTAssertEqual(map.page.problems, [])
        var floors: Set<Int> = []
        var errors = 0
        for share in stride(from: 0.2, through: 0.95, by: 0.15) {
            try seek(map, to: share)
            let state = try map.state
            if let floor = state.estimate?.mapId { floors.insert(floor) }
            let facts = Dictionary(try map.facts.map { ($0[0], $0[1]) }, uniquingKeysWith: { first, _ in first })
            // There is no error between two floors.
            if let error = facts["Error"]?.split(separator: " ").first.flatMap({ Double($0) }) {
                XCTAssertLessThan(error, 12, "at \(share)")
                errors += 1
            }
            XCTAssertGreaterThan(state.particles, 50, "at \(share)")
        }
        XCTAssertEqual(floors, [1, 2])
        XCTAssertGreaterThan(errors, 3)
        XCTAssertTrue(try map.text(of: "#error-summary").contains("Median"))
        XCTAssertEqual(map.page.problems, [])
        // The plan's image covers the floor, so that its canvas has pixels where no room and no wall is drawn.
        for layer in ["walls", "rooms", "fences", "points", "beacons"] {
            try map.page.run("document.querySelector('[data-layer=\(layer)]').click()")
        }
        try map.waitForDrawing()
        try map.page.wait(
            until: """
                (() => {
                    const canvas = document.getElementById("canvas-plan");
                    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
                    const colors = new Set();
                    for (let place = 0; place < data.length; place += 4 * 97) colors.add(data.subarray(place, place + 4).join());
                    return colors.size > 8;
                })()
                """)
    }

    func testASessionThatHearsOnlyUnknownBeaconsShowsTheReason() throws {
        let map = try view("real/tetam/tracks/straight_01.jsonl.gz")
        try seek(map, to: 0.9)
        XCTAssertNil(try map.state.estimate)
        XCTAssertEqual(try map.facts.first, ["Position", "none"])
        let reason = try map.page.evaluate("document.getElementById('diagnosis').dataset.reason", as: String.self)
        XCTAssertEqual(reason, "unknownBeacons")
        let text = try map.text(of: "#diagnosis")
        XCTAssertTrue(text.contains("beacons"), text)
        // It names the beacons that it hears, which the table lists too.
        let listed = try map.page.evaluate(
            "[...document.querySelectorAll('#beacons tr.unknown')].map((row) => row.dataset.beacon)", as: [String].self)
        XCTAssertFalse(listed.isEmpty)
        XCTAssertTrue(listed.contains { text.contains($0) }, "\(listed) in \(text)")
        XCTAssertEqual(map.page.problems, [])
    }

    func testABeaconHasItsAddressOrItsInstanceAsNameIfItHasNoMajorAndMinor() throws {
        let map = try view("identities/walk.jsonl.gz", venue: "identities")
        try seek(map, to: 0.5)
        let names = try map.page.evaluate(
            "[...document.querySelectorAll('#beacons tbody tr')].map((row) => row.cells[0].textContent)",
            as: [String].self)
        let packet = try VenuePacketReader().read("Fixtures/identities").venue
        func known(_ naming: BeaconNaming, _ name: (BeaconIdentity) -> String?) -> Set<String> {
            Set(packet.beacons.filter { $0.naming == naming }.compactMap { name($0.identity) })
        }
        let kinds = [
            known(.address) { $0.derivedAddress?.description }, known(.eddystoneUID) { $0.eddystoneInstance },
            known(.uuid) { "\($0.major)/\($0.minor)" },
        ]
        for kind in kinds { XCTAssertFalse(kind.isDisjoint(with: names), "\(kind) in \(names)") }
    }
}

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
        // The page's own clock is compared with that of the browser: no duration of the test matters. The time that the page
        // shows can be that of the frame before, so the measurement begins and ends with frames that are about equally long.
        // On a busy machine, any frame can be as long as no other one, so it may begin with each of them.
        let rate = """
            window.rate = new Promise((done) => {
                const begun = [];
                let last = performance.now();
                const step = (now) => {
                    const { t } = window.liveMap.state(), frame = now - last;
                    last = now;
                    const first = begun.find((one) => (
                        now - one.now > 1000 && Math.abs(frame - one.frame) < 0.05 * (now - one.now)));
                    if (first) return done(1000 * (t - first.t) / (now - first.now));
                    if (t > 101.5 && t < 120) begun.push({ now, t, frame });
                    requestAnimationFrame(step);
                };
                requestAnimationFrame(step);
            })
            """
        let map = try savedPage()
        try map.seek(to: 101)
        for _ in 0..<3 { try map.page.press(.character(">")) }
        // The measurement waits for the playback, so that none of the session has passed when it begins.
        try map.page.run(rate)
        try map.page.press(.space)
        // A pause of the whole machine of more than half a second makes the page slower, never faster.
        let measured = try map.page.evaluate("window.rate", as: Double.self)
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
        // The page itself notes its time, as a test that looks later could see only the end of the next playback.
        try map.page.run(
            """
            window.beginning = new Promise((done) => {
                const step = () => {
                    const { playing, t } = window.liveMap.state();
                    if (playing) { done(t); } else { requestAnimationFrame(step); }
                };
                requestAnimationFrame(step);
            });
            """)
        try map.page.press(.space)
        XCTAssertLessThan(try map.page.evaluate("window.beginning", as: Double.self), 110)
    }

    /// Returns the drawn places of the estimate, as x in metres, until the session has reached the next three frames.
    private func places(of map: ShownMap) throws -> [Double] {
        try map.seek(to: 110)
        for _ in 0..<2 { try map.page.press(.character(">")) }
        // The playback needs 0.75 s for these frames. A sampler that began after the key might see only the last one.
        try map.page.run(
            """
            window.places = new Promise((done) => {
                const places = [];
                const step = () => {
                    const { estimate, frameId, playing } = window.liveMap.state();
                    if (playing) places.push(estimate.x);
                    if (frameId >= 13) { done(places); } else { requestAnimationFrame(step); }
                };
                requestAnimationFrame(step);
            });
            """)
        try map.page.press(.space)
        return try map.page.evaluate("window.places")
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
