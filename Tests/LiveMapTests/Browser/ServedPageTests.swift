import Foundation
import IndoorLocalizationTesting
import LiveMap
import LoopbackServers
import XCTest

extension ShownMap {
    /// Notes what the page says of its connection from now on, in each state.
    ///
    /// Some seconds after a loss, the page says that the server is gone. On a busy machine, a test could look only then.
    fileprivate func noteConnections() throws {
        try page.run(
            """
            window.connections = [];
            const badge = document.getElementById("connection");
            new MutationObserver(() => connections.push(`${liveMap.state().connection}: ${badge.innerText}`))
                .observe(badge, { childList: true, characterData: true, subtree: true });
            """)
    }

    /// Waits until the page has said that it has lost the server and connects again.
    fileprivate func waitForLoss() throws {
        try page.wait(until: "connections.includes('reconnecting: Reconnecting…')")
    }
}

extension ShownMapCase {
    /// The address of a server that the test starts again: its port stays free meanwhile.
    fileprivate func keptAddress() throws -> LiveMapAddress { try LiveMapAddress("127.0.0.1:\(TestPort.free())") }
}

/// The page from a server.
final class ServedPageTests: ShownMapCase {
    private func server(
        _ content: any LiveMapContent, at address: LiveMapAddress? = nil, token: String? = nil
    ) throws -> LiveMapServer {
        let server = try LiveMapServer(
            content: content, address: try address ?? LiveMapAddress("127.0.0.1:0"), token: token)
        addTeardownBlock { server.stop() }
        return server
    }

    private func map(at url: String) throws -> ShownMap {
        let page = try page()
        try page.setViewport(width: 1440, height: 900)
        try page.open(url)
        let map = ShownMap(page: page)
        try map.waitUntilReady()
        return map
    }

    func testARecordingLoadsWithoutProblemsAndSeeks() throws {
        let map = try map(at: try server(SampleContent(isLive: false)).url)
        try map.wait(until: "state.frames === 41")
        for t in [101.0, 118, 139] {
            try map.seek(to: t)
            XCTAssertEqual(try map.state.frameId, Int(t) - 100)
        }
        XCTAssertEqual(try map.facts.first, ["Position", "14.0 m, 6.3 m"])
        XCTAssertEqual(map.page.problems, [])
    }

    func testARunningSessionShowsEachNewFrame() throws {
        let content = SampleContent(isLive: true)
        content.emit(0...3)
        let map = try map(at: try server(content).url)
        try map.wait(until: "state.connection === 'connected' && state.frameId === 3")
        try map.waitForDrawing()
        XCTAssertTrue(try map.text(of: "#diagnosis").contains(SampleSession.diagnosis))
        content.emit(4...20)
        try map.wait(until: "state.frameId === 20")
        // A drawing follows the frame.
        try map.page.wait(until: "document.getElementById('facts-list').innerText.includes('23.0')")
        XCTAssertEqual(try map.text(of: "#diagnosis"), "")
        // The dot glides to the new place, and then stays there.
        try map.wait(until: "state.estimate?.x === 23")
        content.emit(21...21)
        try map.wait(until: "state.estimate?.x === 24")
        XCTAssertEqual(map.page.problems, [])
    }

    func testThePageGoesOnWithTheSessionAfterTheServerIsRestarted() throws {
        let content = SampleContent(isLive: true)
        content.emit(0...10)
        let first = try server(content, at: try keptAddress())
        let map = try map(at: first.url)
        try map.wait(until: "state.connection === 'connected' && state.frameId === 10")
        try map.noteConnections()
        first.stop()
        try map.waitForLoss()
        content.emit(11...15)
        XCTAssertEqual(try map.state.frameId, 10)
        let second = try server(content, at: first.address)
        XCTAssertEqual(second.url, first.url)
        // The stream resumes with the frames that the page has missed.
        try map.wait(until: "state.connection === 'connected' && state.frameId === 15 && state.frames === 16")
        content.emit(16...17)
        try map.wait(until: "state.frameId === 17 && state.frames === 18")
        XCTAssertEqual(try map.text(of: "#connection"), "Connected")
    }

    func testThePageReportsALostNetworkAndGoesOn() throws {
        let content = SampleContent(isLive: true)
        content.emit(0...10)
        let map = try map(at: try server(content).url)
        try map.wait(until: "state.connection === 'connected'")
        try map.noteConnections()
        try map.page.setOffline(true)
        try map.waitForLoss()
        try map.page.setOffline(false)
        try map.wait(until: "state.connection === 'connected'")
        content.emit(11...12)
        try map.wait(until: "state.frameId === 12")
    }

    func testAPageWithATokenHasAccessAndKeepsItOutOfTheAddress() throws {
        let content = SampleContent(isLive: true)
        content.emit(0...7)
        let server = try server(content, token: "0123456789abcdef")
        let map = try map(at: server.url + "?token=0123456789abcdef")
        try map.wait(until: "state.connection === 'connected' && state.frameId === 7")
        XCTAssertEqual(map.page.problems, [])
        XCTAssertFalse(try map.page.evaluate("location.href.includes('token')"), "the token is in the address")
        XCTAssertEqual(try map.page.evaluate("document.cookie", as: String.self), "")
        let other = try page()
        try other.open(server.url + "api/v1/venue")
        XCTAssertTrue(try other.evaluate("document.body.innerText.includes('token')"))
    }

    func testAMarkOfTheGroundTruthHasThePlaceInMetres() throws {
        let content = SampleContent(isLive: true)
        content.emit(0...20)
        let map = try map(at: try server(content).url)
        try map.wait(until: "state.connection === 'connected' && state.frameId === 20")
        try map.click("#mark")
        let place = LiveMapFrame.Place(mapId: 1, x: 12, y: 16)
        let point = try map.screenPoint(place)
        try map.page.click(x: point.x, y: point.y)
        try map.page.wait(until: "document.getElementById('notice').textContent.startsWith('Marked')")
        let mark = try XCTUnwrap(content.marks.first)
        XCTAssertEqual(content.marks.count, 1)
        XCTAssertEqual(mark.mapId, 1)
        // A pointer has whole pixels.
        let pixel = 1 / (try map.state.transform.scale)
        XCTAssertEqual(mark.x, place.x, accuracy: pixel)
        XCTAssertEqual(mark.y, place.y, accuracy: pixel)
        XCTAssertEqual(map.page.problems, [])
    }

    func testNamesAreShownAsTextAndNeverRun() throws {
        let attack = "</script><img src=x onerror='window.wasRun = 1'><script>window.wasRun = 1</script>"
        var document = SampleSession().document
        document.overview.title = attack
        document.overview.venues[0].maps[0].name = attack
        document.overview.venues[0].rooms[0].name = attack
        for index in document.frames.indices {
            document.frames[index].text = attack
            document.frames[index].estimate?.label = attack
            document.frames[index].diagnosis?.text = attack
            document.frames[index].diagnosis?.beacons = [attack]
            document.frames[index].beacons = document.frames[index].beacons?.map { beacon in
                var beacon = beacon
                beacon.id = attack
                return beacon
            }
        }
        for index in document.events.indices { document.events[index].text = attack }
        let pages = [
            try savedPage(document), try map(at: try server(SampleContent(isLive: false, document)).url),
        ]
        for map in pages {
            for t in [101.0, 118] {
                try map.wait(until: "state.frames === 41")
                try map.seek(to: t)
                XCTAssertEqual(try map.text(of: "#title"), attack)
                XCTAssertEqual(try map.text(of: "#state-text"), attack)
            }
            XCTAssertFalse(try map.page.evaluate("'wasRun' in window"))
            XCTAssertEqual(map.page.problems, [])
        }
    }
}

/// What the page requests from a server, and what it does with a refusal, a failure and a restart.
final class RequestsOfThePageTests: ShownMapCase {
    private static let refusal = "Not authorized: open the page with the token"

    private func server(
        _ content: any LiveMapContent, at address: LiveMapAddress? = nil, token: String? = nil
    ) throws -> LiveMapServer {
        let server = try LiveMapServer(
            content: content, address: try address ?? LiveMapAddress("127.0.0.1:0"), token: token)
        addTeardownBlock { server.stop() }
        return server
    }

    /// Opens a page whose requests pass the JavaScript function body `answer`, with `url` and `forward()`.
    private func map(at url: String, answer: String = "return forward();") throws -> ShownMap {
        let page = try page()
        try page.setViewport(width: 1440, height: 900)
        let script = """
            window.requested = [];
            const original = window.fetch;
            window.fetch = async (address, options) => {
                const url = String(address);
                requested.push(url);
                const forward = (other = url) => original(other, options);
                \(answer)
            };
            """
        try page.send("Page.addScriptToEvaluateOnNewDocument", ["source": .string(script)])
        try page.open(url)
        let map = ShownMap(page: page)
        try map.page.wait(until: "window.liveMap !== undefined")
        return map
    }

    private func requests(of name: String, in map: ShownMap) throws -> Int {
        try map.page.evaluate("requested.filter((url) => url.includes('/api/v1/\(name)')).length")
    }

    func testTheHistoryHasTheFramesOfAllAnswers() throws {
        let content = SampleContent(isLive: true)
        content.emit(0...20)
        let map = try map(
            at: try server(content).url, answer: "return forward(url.replace('limit=1000', 'limit=5'));")
        try map.wait(until: "state.frames === 21")
        XCTAssertEqual(try requests(of: "frames", in: map), 5)
    }

    func testANewRunOfTheServerReplacesTheFramesAndTheImagesOfTheOldOne() throws {
        var document = SampleSession().document
        document.overview.venues[0].maps[0].hasImage = true
        let content = SampleContent(isLive: true, document)
        content.emit(0...20)
        let first = try server(content, at: try keptAddress())
        let map = try map(
            at: first.url,
            answer: """
                if (url.endsWith("/plan?venue=7&map=1")) { return new Response("<svg xmlns='http://www.w3.org/2000/svg'/>",
                    { headers: { "Content-Type": "image/svg+xml" } }); }
                const answer = await forward();
                if (!url.endsWith("/venue")) { return answer; }
                return Response.json({ ...await answer.json(), run: window.run ?? "first" });
                """)
        try map.wait(until: "state.frames === 21 && state.frameId === 20")
        XCTAssertEqual(try requests(of: "plan", in: map), 1)
        try map.noteConnections()
        first.stop()
        try map.waitForLoss()
        try map.page.run("window.run = 'second'")
        // The new session is later than the old one, so that only the run differs.
        let other = SampleContent(isLive: true, document)
        other.emit(22...24)
        _ = try server(other, at: first.address)
        try map.wait(until: "state.frames === 3 && state.frameId === 24 && state.connection === 'connected'")
        XCTAssertEqual(try requests(of: "plan", in: map), 2)
    }

    func testAFailedImageIsRequestedAgain() throws {
        var document = SampleSession().document
        for index in document.overview.venues[0].maps.indices {
            document.overview.venues[0].maps[index].hasImage = true
        }
        let map = try map(
            at: try server(SampleContent(isLive: false, document)).url,
            answer: """
                if (!url.includes("/plan?")) { return forward(); }
                if (!window.isRepaired) { return new Response("", { status: 503 }); }
                const image = "<svg xmlns='http://www.w3.org/2000/svg' width='40' height='20'>"
                    + "<rect width='40' height='20' fill='#f00'/></svg>";
                return new Response(image, { headers: { "Content-Type": "image/svg+xml" } });
                """)
        try map.page.wait(until: "requested.some((url) => url.includes('/plan?'))")
        try map.page.run("window.isRepaired = true")
        try map.page.wait(
            until: """
                (() => {
                    const canvas = document.getElementById("canvas-plan");
                    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
                    let red = 0;
                    for (let place = 0; place < data.length; place += 4) {
                        if (data[place] > 200 && data[place + 1] < 60 && data[place + 2] < 60) { red++; }
                    }
                    return red > 1000;
                })()
                """)
        XCTAssertGreaterThan(try requests(of: "plan", in: map), 1)
    }

    func testARunningSessionThatRefusesThePageIsRequestedNoMore() throws {
        let content = SampleContent(isLive: true)
        content.emit(0...7)
        let first = try server(content, at: try keptAddress(), token: "0123456789abcdef")
        let map = try map(at: first.url + "?token=0123456789abcdef")
        try map.wait(until: "state.connection === 'connected' && state.frameId === 7")
        try map.noteConnections()
        first.stop()
        try map.waitForLoss()
        _ = try server(content, at: first.address, token: "fedcba9876543210")
        try map.page.wait(until: "document.getElementById('connection').innerText === '\(Self.refusal)'")
        let count = try map.page.evaluate("requested.length", as: Int.self)
        // A browser that is online again opens a lost stream.
        try map.page.run("window.dispatchEvent(new Event('online'))")
        XCTAssertEqual(try map.page.evaluate("requested.length", as: Int.self), count)
        XCTAssertEqual(try map.text(of: "#connection"), Self.refusal)
    }

    func testARecordingThatRefusesThePageIsRequestedNoMore() throws {
        let map = try map(
            at: try server(SampleContent(isLive: false)).url,
            answer: "return url.includes('/frames?') ? new Response('{}', { status: 401 }) : forward();")
        try map.page.wait(until: "document.getElementById('connection').innerText === '\(Self.refusal)'")
        try map.page.run("document.getElementById('play').click()")
        try map.waitForDrawing()
        XCTAssertEqual(try requests(of: "frames", in: map), 1)
    }

    func testTheStoreDropsTheBeaconsThatAreTheFurthestFromTheShownInstant() throws {
        let map = try map(at: try server(SampleContent(isLive: false)).url)
        let held = try map.page.evaluate(
            """
            import(location.origin + "/frame-store.js").then(({ FrameStore }) => {
                const store = new FrameStore({ detailBudget: 15000 });
                const beacons = Array.from({ length: 10 }, () => ({ id: "1/1/1", rssi: -60, age: 0, isKnown: true }));
                store.focus = 19;
                for (let id = 0; id < 20; id++) { store.add([{ id, t: id, particles: [], beacons }]); }
                return store.frames.filter((frame) => frame.beacons !== null).map((frame) => frame.id);
            })
            """, as: [Int].self)
        XCTAssertEqual(held.last, 19)
        XCTAssertLessThanOrEqual(held.count, 10)
        XCTAssertEqual(held, Array((20 - held.count)...19))
    }
}

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

/// The page of `indoorloc serve`, whose process ends without a warning and starts again.
final class RestartedToolTests: ShownMapCase {
    func testThePageGoesOnWithTheNextProcessAfterTheToolWasKilled() throws {
        let port = try TestPort.free()
        let folder = FileManager.default.temporaryDirectory.path + "/state-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        addTeardownBlock { try? FileManager.default.removeItem(atPath: folder) }
        let walk = folder + "/walk.jsonl"
        try EndlessRecording.write(FixtureFolder("recordings/one-floor").file("scan.jsonl.gz"), to: walk)
        func serve() throws -> ToolProcess {
            try ToolProcess([
                "serve", "--http", "127.0.0.1:\(port)", "--venue", "Fixtures/office", "--replay", walk,
                "--state-directory", folder, "-o", folder + "/positions.jsonl",
            ])
        }
        // The browser starts first: the next process shows a higher number of a frame only once it has run for as long.
        let page = try page()
        try page.setViewport(width: 1440, height: 900)
        let first = try serve()
        let deadline = ContinuousClock.now + .seconds(DevToolsPipe.bound)
        while (try? page.open("http://127.0.0.1:\(port)/")) == nil {
            guard ContinuousClock.now < deadline else { return XCTFail("the tool serves no page") }
            poll(nil, 0, 20)
        }
        let map = ShownMap(page: page)
        try map.waitUntilReady()
        try map.wait(until: "state.connection === 'connected' && state.estimate !== null")
        let shown = try XCTUnwrap(try map.state.frameId)
        try map.noteConnections()
        first.kill()
        try map.waitForLoss()
        // Frames may still have arrived before the end; the page may also be without one for a moment.
        let last = try map.state.frameId ?? shown

        let second = try serve()
        defer { second.kill() }
        try map.wait(until: "state.connection === 'connected' && state.frameId > \(last) && state.estimate !== null")
        let next = try map.state.frameId ?? last
        try map.wait(until: "state.frameId > \(next)")
        XCTAssertEqual(try map.text(of: "#connection"), "Connected")
        // The browser itself reports the refused connections.
        XCTAssertEqual(page.problems.filter { !$0.contains("net::ERR_") }, [])
    }
}
