import LiveMap
import XCTest

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
        let first = try server(content)
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
        first.stop()
        try map.wait(until: "state.connection === 'reconnecting'")
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
        let first = try server(content, token: "0123456789abcdef")
        let map = try map(at: first.url + "?token=0123456789abcdef")
        try map.wait(until: "state.connection === 'connected' && state.frameId === 7")
        first.stop()
        try map.wait(until: "state.connection === 'reconnecting'")
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
