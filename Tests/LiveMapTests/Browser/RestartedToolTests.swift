import Foundation
import IndoorLocalizationTesting
import LoopbackServers
import XCTest

/// The page of `indoorloc serve`, whose process ends without a warning and starts again.
final class RestartedToolTests: ShownMapCase {
    func testThePageGoesOnWithTheNextProcessAfterTheToolWasKilled() throws {
        let port = try TestPort.free()
        let folder = FileManager.default.temporaryDirectory.path + "/state-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        addTeardownBlock { try? FileManager.default.removeItem(atPath: folder) }
        func serve() throws -> ToolProcess {
            try ToolProcess([
                "serve", "--http", "127.0.0.1:\(port)", "--venue", "Fixtures/office", "--replay",
                "Fixtures/recordings/one-floor/scan.jsonl.gz", "--state-directory", folder, "-o",
                folder + "/positions.jsonl",
            ])
        }
        let first = try serve()
        let page = try page()
        try page.setViewport(width: 1440, height: 900)
        let deadline = ContinuousClock.now + .seconds(DevToolsPipe.bound)
        while (try? page.open("http://127.0.0.1:\(port)/")) == nil {
            guard ContinuousClock.now < deadline else { return XCTFail("the tool serves no page") }
            poll(nil, 0, 20)
        }
        let map = ShownMap(page: page)
        try map.waitUntilReady()
        try map.wait(until: "state.connection === 'connected' && state.estimate !== null")
        let shown = try XCTUnwrap(try map.state.frameId)
        first.kill()
        try map.wait(until: "state.connection === 'reconnecting'")
        XCTAssertEqual(try map.text(of: "#connection"), "Reconnecting…")
        // Frames may still have arrived before the end; the page may also be without one for a moment.
        let last = try map.state.frameId ?? shown

        let second = try serve()
        defer { second.kill() }
        try map.wait(until: "state.connection === 'connected' && state.frameId > \(last) && state.estimate !== null")
        let next = try XCTUnwrap(try map.state.frameId)
        try map.wait(until: "state.frameId > \(next)")
        XCTAssertEqual(try map.text(of: "#connection"), "Connected")
        // The browser itself reports the refused connections.
        XCTAssertEqual(page.problems.filter { !$0.contains("net::ERR_") }, [])
    }
}
