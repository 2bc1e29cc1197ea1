import Foundation
import IndoorLocalizationTesting
import IndoorVocabulary
import XCTest
@testable import LiveMap

/// The paths of the server.
final class LiveMapServerTests: XCTestCase {
    private let content = StagedContent(frames: 6)

    private func server(
        _ address: String = "127.0.0.1:0", token: String? = nil, metrics: (@Sendable () async -> String)? = nil
    ) throws -> LiveMapServer {
        let server = try LiveMapServer(
            content: content, address: try LiveMapAddress(address), token: token, metrics: metrics)
        addTeardownBlock { server.stop() }
        return server
    }

    private func decode<Value: Decodable>(_ type: Value.Type, _ reply: RawClient.Reply) throws -> Value {
        XCTAssertEqual(reply.status, 200, reply.text)
        XCTAssertEqual(reply.headers["content-type"], "application/json")
        XCTAssertEqual(reply.headers["cache-control"], "no-store")
        return try JSONDecoder().decode(type, from: Data(reply.body))
    }

    /// Whether libmicrohttpd refused a request before the server saw it.
    private func isOfTheLibrary(_ reply: RawClient.Reply) -> Bool {
        reply.status == 400 && reply.text.hasPrefix("<html>")
    }

    private func error(_ reply: RawClient.Reply) throws -> String {
        XCTAssertEqual(reply.headers["content-type"], "application/json", reply.text)
        return try XCTUnwrap(JSONDecoder().decode([String: String].self, from: Data(reply.body))["error"])
    }

    func testTheServerSendsThePageWithSecurityHeaders() throws {
        let port = try server().address.port
        let reply = try RawClient.get("/", port: port)
        XCTAssertEqual(reply.status, 200)
        XCTAssertEqual(reply.headers["content-type"], "text/html; charset=utf-8")
        XCTAssertTrue(reply.text.lowercased().contains("<!doctype html>"), reply.text)
        let policy = try XCTUnwrap(reply.headers["content-security-policy"])
        for rule in [
            "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data: blob:",
            "connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
        ] {
            XCTAssertTrue(policy.split(separator: ";").contains { $0.drop { $0 == " " } == rule }, rule)
        }
        XCTAssertEqual(reply.headers["x-content-type-options"], "nosniff")
        XCTAssertEqual(reply.headers["referrer-policy"], "no-referrer")
        XCTAssertNil(reply.headers["access-control-allow-origin"])
        XCTAssertEqual(try RawClient.get("/index.html", port: port).body, reply.body)
        XCTAssertEqual(try RawClient.get("/missing.js", port: port).status, 404)
    }

    func testAnUnchangedFileIsNotSentAgain() throws {
        let port = try server().address.port
        for target in ["/", "/api/v1/plan?venue=7&map=1", "/api/v1/openapi.json"] {
            let first = try RawClient.get(target, port: port)
            let tag = try XCTUnwrap(first.headers["etag"], target)
            let second = try RawClient.get(target, port: port, headers: ["If-None-Match: \(tag)"])
            XCTAssertEqual(second.status, 304, target)
            XCTAssertEqual(second.body, [], target)
            let other = try RawClient.get(target, port: port, headers: ["If-None-Match: \"0\""])
            XCTAssertEqual(other.body, first.body, target)
        }
    }

    func testTheServerSendsTheContentAsJSON() async throws {
        let port = try server().address.port
        content.emit(.event(StagedContent.event(7)))
        let overview = try decode(LiveMapOverview.self, RawClient.get("/api/v1/venue", port: port))
        let expected = await content.overview()
        XCTAssertEqual(overview, expected)
        struct Events: Decodable { let events: [LiveMapEvent] }
        let events = try decode(Events.self, RawClient.get("/api/v1/events", port: port))
        XCTAssertEqual(events.events, [StagedContent.event(7)])
        let radioMap = try decode(LiveMapRadioMap.self, RawClient.get("/api/v1/radio-map", port: port))
        let expectedMap = await content.radioMap()
        XCTAssertEqual(radioMap, expectedMap)
        struct Health: Decodable { let status, mode: String }
        XCTAssertEqual(try decode(Health.self, RawClient.get("/api/v1/health", port: port)).status, "ok")
    }

    func testTheServerSendsPlansAndTiles() throws {
        let port = try server().address.port
        for target in ["/api/v1/plan?venue=7&map=1", "/api/v1/tile?venue=7&map=1&level=8&column=1&row=0"] {
            let reply = try RawClient.get(target, port: port)
            XCTAssertEqual(reply.body, content.image.bytes, target)
            XCTAssertEqual(reply.headers["content-type"], "image/png", target)
        }
        for target in ["/api/v1/plan?venue=7&map=2", "/api/v1/tile?venue=7&map=1&level=8&column=2&row=0"] {
            XCTAssertEqual(try RawClient.get(target, port: port).status, 404, target)
        }
    }

    func testFramesAreSentInPages() throws {
        struct Page: Decodable {
            let frames: [LiveMapFrame]
            let next: Double?
        }
        let port = try server().address.port
        var (numbers, from) = ([Int](), 0.0)
        var pages = 0
        while true {
            let page = try decode(
                Page.self, RawClient.get("/api/v1/frames?from=\(from)&to=2.5&limit=2", port: port))
            numbers += page.frames.map(\.id)
            pages += 1
            guard let next = page.next else { break }
            from = next
        }
        XCTAssertEqual(numbers, [1, 2, 3, 4, 5])
        XCTAssertEqual(pages, 3)
        let all = try decode(Page.self, RawClient.get("/api/v1/frames", port: port))
        XCTAssertEqual(all.frames.map(\.id), [1, 2, 3, 4, 5, 6])
        XCTAssertEqual(all.frames[0], StagedContent.frame(1))
    }

    func testTheServerStoresAMark() throws {
        let port = try server().address.port
        let place = #"{"mapId": 1, "x": 2.5, "y": 4}"#
        let json = ["Content-Type: application/json"]
        let own = json + ["Origin: http://127.0.0.1:\(port)"]
        XCTAssertEqual(
            try RawClient.request("POST", "/api/v1/marks", port: port, headers: own, body: place).status, 204)
        XCTAssertEqual(content.marks.map(\.x), [2.5])
        for (headers, body, status) in [
            ([], place, 415), (["Content-Type: text/plain"], place, 415),
            (["Content-Type: application/x-www-form-urlencoded"], place, 415),
            (json + ["Origin: http://example.org"], place, 403), (json + ["Origin: null"], place, 403),
            (json, "{}", 400), (json, "no json", 400), (json, #"{"mapId": 1, "x": NaN, "y": 4}"#, 400),
            (json, #"{"mapId": 1, "x": 1e999, "y": 4}"#, 400), (json, "", 400),
            (json, String(repeating: " ", count: 5_000) + place, 413),
        ] {
            let reply = try RawClient.request("POST", "/api/v1/marks", port: port, headers: headers, body: body)
            XCTAssertEqual(reply.status, status, "\(headers) \(body.prefix(40))")
            XCTAssertFalse(try error(reply).isEmpty)
        }
        content.refuse("The session has no recording.")
        let refused = try RawClient.request("POST", "/api/v1/marks", port: port, headers: json, body: place)
        XCTAssertEqual(refused.status, 409)
        XCTAssertEqual(try error(refused), "The session has no recording.")
        XCTAssertEqual(content.marks.count, 1)
    }

    /// Without a known length, a body can be endless, and a chunk extension longer than any buffer.
    func testABodyWithoutACertainLengthIsRefused() throws {
        let port = try server().address.port
        let head = "POST /api/v1/marks HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nContent-Type: application/json\r\n"
        let extensions = "1;" + String(repeating: "x", count: 100_000) + "\r\n{\r\n0\r\n\r\n"
        for (fields, body, message) in [
            ("Transfer-Encoding: chunked", "", "A body needs a Content-Length: chunks aren't accepted."),
            ("Transfer-Encoding: chunked", extensions, "A body needs a Content-Length: chunks aren't accepted."),
            (
                "Content-Length: 2\r\nTransfer-Encoding: chunked", "",
                "A request must not have both Content-Length and Transfer-Encoding."
            ),
            (
                "Content-Length: 2\r\nContent-Length: 2", "{}",
                "A request must have one Content-Length, a number of bytes."
            ),
            (
                "Content-Length: 2\r\nContent-Length: 40", "{}",
                "A request must have one Content-Length, a number of bytes."
            ),
        ] {
            let client = try RawClient(port: port)
            client.send(head + fields + "\r\n\r\n")
            try client.receive { $0.contains("}") || $0.contains("</html>") }
            let reply = try client.reply()
            XCTAssertEqual(reply.status, 400, fields)
            XCTAssertEqual(reply.headers["connection"]?.lowercased(), "close")
            // libmicrohttpd 1.0.10 refuses a second length itself.
            guard !isOfTheLibrary(reply) || !fields.hasPrefix("Content-Length") else { continue }
            XCTAssertEqual(try error(reply), message)
            client.send(body)
            try client.receiveAll()
        }
        XCTAssertEqual(content.marks.count, 0)
    }

    func testAServerThatDoesNotStartFreesTheAddress() throws {
        // The address has two sockets, if the system has IPv6, and each of their daemons opens two descriptors.
        for room in 0...4 {
            let listener = try LiveMapListener(try LiveMapAddress("localhost" + ":0"))
            let address = listener.address
            var failure: LiveMapError?
            try withFreeDescriptors(room) {
                do throws(LiveMapError) {
                    try LiveMapServer(content: content, listener: listener).stop()
                } catch { failure = error }
            }
            if room < 2 {
                guard case .system = failure else { return XCTFail("\(room): \(String(describing: failure))") }
            }
            if room == 4 { XCTAssertNil(failure) }
            XCTAssertNoThrow(try LiveMapListener(address), "\(room)")
        }
    }

    /// Performs an action while this process can open only some more descriptors.
    private func withFreeDescriptors(_ count: Int, _ action: () throws -> Void) throws {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let used = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }
        let last = try XCTUnwrap(used.max())
        var fillers: [Int32] = []
        while fillers.last ?? 0 < last { fillers.append(open("/dev/null", O_RDONLY | O_CLOEXEC)) }
        defer { for filler in fillers { close(filler) } }
        var lower = limit
        lower.rlim_cur = rlim_t(try XCTUnwrap(fillers.last)) + 1 + rlim_t(count)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &lower)
        defer { setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) }
        try action()
    }

    func testLimitsBelowTheirRangeBecomeTheLowestOnes() throws {
        var limits = LiveMapServer.Limits()
        XCTAssertEqual(limits.clamped, limits)
        (limits.connections, limits.silence, limits.keepAlive) = (-5, .milliseconds(900), .zero)
        let server = try LiveMapServer(content: content, address: try LiveMapAddress("127.0.0.1:0"), limits: limits)
        addTeardownBlock { server.stop() }
        XCTAssertEqual(try RawClient.patientStatus("/api/v1/health", port: server.address.port), 200)
        XCTAssertEqual(limits.clamped.connections, 1)
        XCTAssertEqual(limits.clamped.silence, .seconds(1))
        XCTAssertEqual(limits.clamped.keepAlive, .milliseconds(10))
        (limits.connections, limits.silence) = (.max, .seconds(Int64.max))
        XCTAssertEqual(limits.clamped.connections, 65_536)
        XCTAssertEqual(limits.clamped.silence, .seconds(86_400))
    }

    func testMetricsHaveTheMediaTypeOfOpenMetrics() throws {
        let port = try server { "# EOF\n" }.address.port
        let reply = try RawClient.get("/metrics", port: port)
        XCTAssertEqual(reply.text, "# EOF\n")
        XCTAssertEqual(
            reply.headers["content-type"], "application/openmetrics-text; version=1.0.0; charset=utf-8")
        XCTAssertEqual(try RawClient.get("/metrics", port: try server().address.port).status, 404)
    }

    private func server(_ metrics: @escaping @Sendable () async -> String) throws -> LiveMapServer {
        try server(metrics: metrics)
    }

    func testOnlyTheDocumentedMethodsAreAccepted() throws {
        let port = try server().address.port
        for (method, target) in [
            ("POST", "/"), ("PUT", "/api/v1/venue"), ("DELETE", "/metrics"), ("OPTIONS", "/"), ("TRACE", "/"),
            ("GET", "/api/v1/marks"), ("BREW", "/api/v1/frames"),
        ] {
            let reply = try RawClient.request(method, target, port: port)
            XCTAssertEqual(reply.status, 405, "\(method) \(target)")
            XCTAssertEqual(reply.headers["allow"], target.hasSuffix("marks") ? "POST" : "GET, HEAD")
        }
        for target in ["/", "/api/v1/venue", "/api/v1/stream", "/api/v1/frames?limit=2"] {
            let reply = try RawClient.request("HEAD", target, port: port)
            XCTAssertEqual(reply.status, 200, target)
            XCTAssertEqual(reply.body, [], target)
        }
        XCTAssertEqual(content.readers, 0)
    }

    func testAnInvalidRequestGetsItsReason() throws {
        let port = try server().address.port
        for (target, status, reason) in [
            ("/%", 400, "percent-encoding"), ("/%zz", 400, "percent-encoding"), ("/%4", 400, "percent-encoding"),
            ("/a%00b", 400, "control"), ("/%0d%0aSet-Cookie:%20a=b", 400, "control"), ("/%ff", 400, "UTF-8"),
            ("/../../etc/passwd", 400, ".."), ("/../%CC%81", 400, ".."), ("/a%5C%CC%81", 400, "backslash"),
            ("/%2e%2e/%2e%2e/etc/passwd", 400, ".."),
            ("/..%5c..%5cwindows", 400, ".."), ("/page/../index.html", 400, ".."), ("//etc/passwd", 404, "passwd"),
            ("http://example.org/", 400, "begins with /"), ("/" + String(repeating: "a", count: 3_000), 414, "longer"),
            ("/api/v1/frames?from=-1", 400, "'from'"), ("/api/v1/frames?from=nan", 400, "'from'"),
            ("/api/v1/frames?from=inf", 400, "'from'"), ("/api/v1/frames?to=1e999", 400, "'to'"),
            ("/api/v1/frames?from=5&to=4", 400, "'from'"), ("/api/v1/frames?from=", 400, "'from'"),
            ("/api/v1/frames?limit=0", 400, "'limit'"), ("/api/v1/frames?limit=99999999999999999999", 400, "'limit'"),
            ("/api/v1/frames?limit=1001", 400, "1...1000"), ("/api/v1/frames?form=1", 400, "'form' is unknown"),
            ("/api/v1/frames?from=1&from=2", 400, "twice"), ("/api/v1/plan?venue=7", 400, "'map' is missing"),
            ("/api/v1/plan?venue=a&map=1", 400, "'venue'"),
            ("/api/v1/plan?venue=9223372036854775808&map=1", 400, "'venue'"),
            ("/api/v1/tile?venue=7&map=1&level=-1&column=0&row=0", 400, "'level'"),
            ("/api/v1/tile?venue=7&map=1&level=32&column=0&row=0", 400, "'level'"),
            ("/api/v1/unknown", 404, "/api/v1/unknown"), ("/api/v2/venue", 404, "/api/v2/venue"),
        ] {
            let reply = try RawClient.get(target, port: port)
            XCTAssertEqual(reply.status, status, target)
            XCTAssertNil(reply.headers["set-cookie"])
            // libmicrohttpd 1.0.10 refuses a wrong encoding and a zero itself.
            if isOfTheLibrary(reply), reason == "percent-encoding" || target.contains("%00") { continue }
            let text = try error(reply)
            XCTAssertTrue(text.contains(reason), "\(target.prefix(60)): \(text)")
        }
        let resumed = try RawClient.get("/api/v1/stream", port: port, headers: ["Last-Event-ID: x"])
        XCTAssertEqual(resumed.status, 400)
        XCTAssertTrue(try error(resumed).contains("Last-Event-ID"))
    }

    func testTheServerSurvivesBytesThatAreNoRequest() throws {
        // A request that never becomes complete ends by its silence.
        var limits = LiveMapServer.Limits()
        limits.silence = .seconds(1)
        let server = try LiveMapServer(content: content, address: try LiveMapAddress("127.0.0.1:0"), limits: limits)
        addTeardownBlock { server.stop() }
        let port = server.address.port
        for text in [
            "\r\n\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\r\n\r\n",
            "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost:\r\n\r\n", "GET / HTTP/1.1\r\n: x\r\nHost: a\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nX: " + String(repeating: "y", count: 100_000) + "\r\n\r\n",
            "GET /" + String(repeating: "a", count: 100_000) + " HTTP/1.1\r\nHost: a\r\n\r\n",
            "POST /api/v1/marks HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nContent-Length: -5\r\n\r\n",
            "POST /api/v1/marks HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nContent-Length: 99999999999999999999\r\n\r\n",
        ] {
            for _ in 0..<3 {
                let client = try RawClient(port: port)
                client.send(text)
                // A client that sends nothing more.
                shutdown(client.descriptor, Int32(SHUT_WR))
                try client.receiveAll()
                if !client.received.isEmpty {
                    XCTAssertTrue([400, 403, 413, 414, 431, 501, 505].contains(try client.reply().status), client.text)
                }
            }
        }
        XCTAssertEqual(try RawClient.patientStatus("/api/v1/health", port: port), 200)
        // The polling thread ends an exchange after the client has its response.
        try RawClient.wait(for: "the end of all requests") { server.requestCount == 0 }
    }

    func testTheSystemClientReceivesTheContent() async throws {
        let port = try server().address.port
        let url = try XCTUnwrap(URL(string: "http://localhost:\(port)/api/v1/venue"))
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["curl", "-sS", "--fail", "--max-time", "180", url.absoluteString]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        XCTAssertEqual(process.terminationStatus, 0)
        let expected = await content.overview()
        XCTAssertEqual(try JSONDecoder().decode(LiveMapOverview.self, from: data), expected)
    }

    /// Routes whose response waits until its task is cancelled.
    private final class PatientRoutes: HTTPRoutes {
        let begun = DispatchSemaphore(value: 0)
        let cancelled = DispatchSemaphore(value: 0)
        private let end = AsyncStream.makeStream(of: Never.self)

        func checkMethod(_ method: String, _ target: HTTPTarget) throws(HTTPProblem) {}
        func largestBody(of target: HTTPTarget) -> Int { 0 }
        func endsWithClient(_ target: HTTPTarget) -> Bool { true }

        func response(to request: HTTPRequest) async -> HTTPResponse {
            begun.signal()
            for await _ in end.stream {}
            cancelled.signal()
            return HTTPResponse(200)
        }
    }

    func testTheTaskOfAResponseEndsWhenItsClientLeavesIfTheRoutesWantThat() throws {
        let routes = PatientRoutes()
        let server = try LiveMapServer(routes: routes, listener: LiveMapListener(try LiveMapAddress("127.0.0.1:0")))
        defer { server.stop() }
        var client: RawClient? = try RawClient(port: server.address.port)
        client?.send("GET /slow HTTP/1.1\r\nHost: 127.0.0.1:\(server.address.port)\r\n\r\n")
        XCTAssertEqual(routes.begun.wait(timeout: .now() + Bounded.longest.seconds), .success)
        client = nil
        XCTAssertEqual(routes.cancelled.wait(timeout: .now() + Bounded.longest.seconds), .success)
    }
}

/// Which connections of a server are closed.
final class ConnectionTableTests: XCTestCase {
    private let start = ContinuousClock.now
    private let local = ClientAddress([127, 0, 0, 1])

    private func table(_ connections: Int, perAddress: Int = 64) -> ConnectionTable {
        var limits = LiveMapServer.Limits()
        limits.connections = connections
        limits.connectionsPerAddress = perAddress
        return ConnectionTable(limits)
    }

    private func far(_ number: UInt8) -> ClientAddress { ClientAddress([192, 0, 2, number]) }

    func testTheClientThatHasBeenSilentForTheLongestTimeIsClosedFirst() {
        var table = table(2)
        XCTAssertEqual(table.open(1, of: far(1), at: start), .accepted)
        XCTAssertEqual(table.open(2, of: far(2), at: start + .seconds(1)), .accepted)
        XCTAssertEqual(table.open(3, of: far(3), at: start + .seconds(2)), .replacing(1))
        XCTAssertEqual(table.count, 3, "the first is about to be closed")
        table.close(1)
        XCTAssertEqual(table.count, 2)
        // A client that sent its request isn't closed.
        table.beginWork(for: 2)
        XCTAssertEqual(table.open(4, of: far(4), at: start + .seconds(3)), .replacing(3))
        table.close(3)
        table.beginWork(for: 4)
        XCTAssertEqual(table.open(5, of: far(5), at: start + .seconds(4)), .refused)
    }

    func testAClientThatHasManyConnectionsLosesItsOldestSilentOne() {
        var table = table(100, perAddress: 3)
        XCTAssertEqual(table.open(1, of: far(1), at: start), .accepted)
        for id in UInt(2)...4 { XCTAssertEqual(table.open(id, of: far(9), at: start), .accepted) }
        XCTAssertEqual(table.open(5, of: far(9), at: start + .seconds(1)), .replacing(2))
        for id in UInt(3)...5 { table.beginWork(for: id) }
        XCTAssertEqual(table.open(6, of: far(9), at: start + .seconds(2)), .refused)
        table.close(6)
        // A reverse proxy on this machine has the connections of all its clients.
        for id in UInt(10)...19 { XCTAssertEqual(table.open(id, of: local, at: start), .accepted) }
    }

    func testTheClientWithTheMostConnectionsIsClosedFirst() {
        var table = table(4)
        XCTAssertEqual(table.open(1, of: far(1), at: start), .accepted)
        for id in UInt(2)...4 {
            XCTAssertEqual(table.open(id, of: far(2), at: start + .seconds(Int(id))), .accepted)
        }
        XCTAssertEqual(table.open(5, of: far(3), at: start + .seconds(9)), .replacing(2))
    }

    func testEachPartOfARequestHasADeadline() {
        var table = table(10)
        _ = table.open(1, of: local, at: start)
        XCTAssertEqual(table.nextDeadline, start + .seconds(10))
        XCTAssertEqual(table.overdue(at: start + .milliseconds(9_999)), [])
        table.receiveHead(of: 1, at: start + .seconds(9))
        XCTAssertEqual(table.nextDeadline, start + .seconds(39), "the body")
        table.beginWork(for: 1)
        XCTAssertNil(table.nextDeadline)
        XCTAssertEqual(table.overdue(at: start + .seconds(100)), [])
        table.endWork(for: 1, at: start + .seconds(100))
        XCTAssertEqual(table.overdue(at: start + .seconds(129)), [])
        XCTAssertEqual(table.overdue(at: start + .seconds(130)), [1], "the next request")
        XCTAssertEqual(table.overdue(at: start + .seconds(131)), [], "it is being closed")
        XCTAssertEqual(table.count, 1)
        table.close(1)
        XCTAssertEqual(table.count, 0)
    }

    func testAddressesOfOneCustomerAreOne() {
        let prefix: [UInt8] = [0x20, 1, 0xD, 0xB8, 0, 0, 0, 1]
        let one = ClientAddress(prefix + [0, 0, 0, 0, 0, 0, 0, 1])
        XCTAssertEqual(one, ClientAddress(prefix + [9, 9, 9, 9, 9, 9, 9, 9]))
        XCTAssertFalse(one.isLoopback)
        let mapped: [UInt8] = Array(repeating: 0, count: 10) + [0xFF, 0xFF, 127, 0, 0, 1]
        XCTAssertEqual(ClientAddress(mapped), local)
        XCTAssertTrue(local.isLoopback)
        XCTAssertTrue(ClientAddress(Array(repeating: 0, count: 15) + [1]).isLoopback)
    }
}
