import Foundation
import LiveMap
import XCTest

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
        let first = try server(content)
        let map = try map(at: first.url)
        try map.wait(until: "state.connection === 'connected' && state.frameId === 10")
        first.stop()
        try map.wait(until: "state.connection === 'reconnecting'")
        XCTAssertEqual(try map.text(of: "#connection"), "Reconnecting…")
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
        try map.page.setOffline(true)
        try map.wait(until: "state.connection === 'reconnecting'")
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
            for beacon in document.frames[index].beacons.indices { document.frames[index].beacons[beacon].id = attack }
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
