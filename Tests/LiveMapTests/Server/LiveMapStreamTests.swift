import Foundation
import LiveMap
import XCTest

/// The stream of updates, and many connections.
final class LiveMapStreamTests: XCTestCase {
    private let content = StagedContent(frames: 3)

    private func server(_ change: (inout LiveMapServer.Limits) -> Void = { _ in }) throws -> LiveMapServer {
        var limits = LiveMapServer.Limits()
        change(&limits)
        let server = try LiveMapServer(content: content, address: try LiveMapAddress("127.0.0.1:0"), limits: limits)
        addTeardownBlock { server.stop() }
        return server
    }

    func testAStreamHasTheFormOfServerSentEvents() throws {
        // A test that waits for long would get comments as well.
        let client = try RawClient.stream(port: try server { $0.keepAlive = .seconds(3600) }.address.port)
        try client.receive { $0.contains("id: 3\n") && $0.hasSuffix("\n\n") }
        content.emit(.event(StagedContent.event(4)))
        content.emit(.overview(id: 5))
        try client.receive { $0.contains("id: 5\n") && $0.hasSuffix("\n\n") }
        let reply = try client.reply()
        XCTAssertEqual(reply.headers["content-type"], "text/event-stream")
        XCTAssertEqual(reply.headers["cache-control"], "no-store")
        XCTAssertEqual(reply.headers["x-accel-buffering"], "no")
        let events = reply.text.components(separatedBy: "\n\n").dropLast().map { $0.components(separatedBy: "\n") }
        XCTAssertEqual(events.map { $0[0] }, ["retry: 2000", "id: 3", "id: 4", "id: 5"])
        XCTAssertEqual(events.dropFirst().map { $0[1] }, ["event: frame", "event: event", "event: overview"])
        let data = events.dropFirst().map { Data($0[2].dropFirst("data: ".count).utf8) }
        XCTAssertEqual(try JSONDecoder().decode(LiveMapFrame.self, from: data[0]), StagedContent.frame(3))
        XCTAssertEqual(try JSONDecoder().decode(LiveMapEvent.self, from: data[1]), StagedContent.event(4))
    }

    func testAReaderThatConnectsAgainLosesAndRepeatsNothing() throws {
        let port = try server().address.port
        var numbers: [Int] = []
        var next = 4
        for round in 0..<20 {
            let client = try RawClient.stream(port: port, after: numbers.last ?? 0)
            for _ in 0..<3 {
                content.emit(next % 2 == 0 ? .event(StagedContent.event(next)) : .frame(StagedContent.frame(next)))
                next += 1
            }
            let last = next - 1
            // The connection breaks at any time.
            try client.receive {
                $0.contains("id: \((numbers.last ?? 0) + 1 + round % (last - (numbers.last ?? 0)))\n")
            }
            numbers += client.eventNumbers
            // Updates while nothing is connected.
            content.emit(.frame(StagedContent.frame(next)))
            next += 1
        }
        XCTAssertEqual(numbers, Array(1...(numbers.last ?? 0)))
        XCTAssertGreaterThan(numbers.count, 15)
    }

    func testAHundredReadersReceiveEachUpdate() throws {
        let port = try server().address.port
        let clients = try (0..<100).map { _ in try RawClient.stream(port: port) }
        for client in clients { try client.receive { $0.contains("id: 3\n") } }
        for id in 4..<104 { content.emit(.frame(StagedContent.frame(id))) }
        for client in clients {
            try client.receive { $0.contains("id: 103\n") && $0.hasSuffix("\n\n") }
            XCTAssertEqual(client.eventNumbers, Array(3...103))
        }
    }

    func testAReaderThatNeverReadsDelaysNeitherOthersNorTheSession() throws {
        let server = try server {
            $0.waitingBytes = 65_536
            // Only the end of the test may end the stream of the reader that doesn't read.
            $0.silence = .seconds(3600)
        }
        let port = server.address.port
        let stuck = try RawClient.stream(port: port, receiveBuffer: 4_096)
        let client = try RawClient.stream(port: port)
        try client.receive { $0.contains("id: 3\n") }
        try RawClient.wait(for: "both streams") { content.readers == 2 }
        let particles = String(repeating: "A", count: 20_000)
        for id in 4..<104 {
            let isEvent = id % 10 == 0
            content.emit(
                isEvent ? .event(StagedContent.event(id)) : .frame(StagedContent.frame(id, particles: particles)))
            // The other reader has each update before the next one.
            try client.receive { $0.suffix(25_000).contains("id: \(id)\n") && $0.hasSuffix("\n\n") }
        }
        XCTAssertEqual(client.eventNumbers, Array(3...103))
        // As soon as the slow reader reads, it receives all events and the newest frame, but not each frame.
        try stuck.receive { $0.contains("id: 103\n") && $0.hasSuffix("\n\n") }
        let numbers = stuck.eventNumbers
        XCTAssertEqual(numbers.filter { $0 % 10 == 0 }, Array(stride(from: 10, to: 104, by: 10)))
        XCTAssertEqual(numbers, numbers.sorted())
        XCTAssertLessThan(numbers.count, 60)
    }

    func testASilentStreamSendsComments() throws {
        let client = try RawClient.stream(port: try server { $0.keepAlive = .milliseconds(20) }.address.port)
        try client.receive { $0.components(separatedBy: "\n:\n").count > 3 }
        XCTAssertEqual(client.eventNumbers, [3])
    }

    func testAClosedReaderIsForgotten() throws {
        let server = try server { $0.keepAlive = .milliseconds(20) }
        var client: RawClient? = try RawClient.stream(port: server.address.port)
        try client?.receive { $0.contains("id: 3\n") }
        XCTAssertEqual(content.readers, 1)
        client = nil
        try RawClient.wait(for: "the end of the stream") { content.readers == 0 && server.requestCount == 0 }
    }

    func testAConnectionBeyondTheLimitIsRefused() throws {
        let server = try server { $0.connections = 10 }
        let port = server.address.port
        var clients = try (0..<10).map { _ in try RawClient.stream(port: port) }
        for client in clients { try client.receive { $0.contains("id: 3\n") } }
        for _ in 0..<50 {
            let reply = try RawClient.get("/api/v1/health", port: port)
            XCTAssertEqual(reply.status, 503)
            XCTAssertEqual(reply.headers["connection"], "close")
            XCTAssertTrue(reply.text.contains("maximum of 10 connections"), reply.text)
        }
        clients.removeLast(5)
        // The closed connections are detected at the next update.
        var id = 4
        while try RawClient.get("/api/v1/health", port: port).status != 200 {
            content.emit(.frame(StagedContent.frame(id)))
            id += 1
        }
        for client in clients { try client.receive { $0.contains("id: 4\n") } }
    }

    /// Clients that never complete the head of a request, more than the server and the kernel hold.
    func testSlowClientsDoNotKeepOthersFromAnAnswer() throws {
        let server = try server { $0.connections = 20 }
        let port = server.address.port
        let reader = try RawClient.stream(port: port)
        try reader.receive { $0.contains("id: 3\n") }
        var slow: [RawClient] = []
        for index in 0..<300 {
            let client = try RawClient(port: port)
            client.send("GET /api/v1/he")
            slow.append(client)
            if index % 50 == 49 { XCTAssertEqual(try RawClient.get("/api/v1/health", port: port).status, 200) }
        }
        for client in slow.suffix(20) { client.send("a") }
        XCTAssertEqual(try RawClient.get("/api/v1/health", port: port).status, 200)
        XCTAssertLessThanOrEqual(server.connectionCount, 60)
        content.emit(.overview(id: 4))
        try reader.receive { $0.contains("id: 4\n") }
        slow = []
        XCTAssertEqual(try RawClient.get("/api/v1/health", port: port).status, 200)
    }

    /// One byte a moment is traffic, but no head of a request.
    func testAHeadHasADeadline() throws {
        let server = try server { $0.head = .milliseconds(200) }
        let client = try RawClient(port: server.address.port)
        while !client.isClosed {
            client.send("G")
            client.receive(waiting: 10)
        }
        XCTAssertEqual(client.received.count, 0)
        try RawClient.wait(for: "the end of the connection") { server.connectionCount == 0 }
    }

    /// The server already waits for the end of an idle connection's long silence when the slow client connects.
    func testAHeadHasItsDeadlineBesideAnIdleConnection() throws {
        let server = try server {
            $0.head = .milliseconds(200)
            $0.silence = .seconds(3600)
        }
        let port = server.address.port
        var answered: RawClient?
        // After a pause between the connection and the request, the server has closed the connection.
        try RawClient.wait(for: "an answer") {
            let client = try RawClient(port: port)
            client.send("GET /api/v1/health HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
            try? client.receive { $0.contains("200 OK") }
            answered = client
            return client.text.contains("200 OK")
        }
        let idle = try XCTUnwrap(answered)
        // After the first slow client is gone, the server waits for the end of the idle connection's silence only.
        for name in ["first", "second"] {
            let slow = try RawClient(port: port)
            slow.send("G")
            try RawClient.wait(for: "the end of the \(name) slow connection") {
                slow.receive(waiting: 10)
                return slow.isClosed
            }
        }
        XCTAssertFalse(idle.isClosed)
    }

    func testAThousandConnectionsLeaveNothingBehind() throws {
        // A connection that the client closes within its request line may be noticed only by its silence.
        let server = try server {
            $0.silence = .seconds(5)
            $0.connections = 2_000
        }
        let port = server.address.port
        func visit(_ count: Int) throws {
            for index in 0..<count {
                switch index % 4 {
                case 0: XCTAssertEqual(try RawClient.patientStatus("/api/v1/frames", port: port), 200)
                case 1:
                    try RawClient.wait(for: "a stream") {
                        let client = try RawClient.stream(port: port)
                        return (try? client.receive { $0.contains("id: ") }) != nil
                    }
                case 2: try RawClient(port: port).send("GET /api/v1/ven")
                default: XCTAssertEqual(try RawClient.patientStatus("/%zz", port: port), 400)
                }
                if index % 20 == 0 { content.emit(.overview(id: 3)) }
            }
            content.emit(.frame(StagedContent.frame(4)))
            try RawClient.wait(for: "the end of all requests") {
                content.emit(.overview(id: 4))
                return server.requestCount == 0 && server.connectionCount == 0
            }
        }
        try visit(200)
        // 1,000 leaked requests would need several times more, each time. On a busy machine, more connections are open at
        // once than before, for which the allocator then has memory. Idle threads of the runtime end before the first
        // measurement or after it.
        var (before, after) = (try Usage(), try Usage())
        var isSteady = false
        for _ in 0..<3 where !isSteady {
            before = try Usage()
            try visit(1_000)
            after = try Usage()
            XCTAssertEqual(content.readers, 0)
            isSteady =
                after.threads <= before.threads + 2 && after.files <= before.files + 4
                && after.kilobytes - before.kilobytes < 4_096
        }
        XCTAssertLessThanOrEqual(after.threads, before.threads + 2)
        XCTAssertLessThanOrEqual(after.files, before.files + 4)
        XCTAssertLessThan(after.kilobytes - before.kilobytes, 4_096)
    }

    /// The resources that this process uses.
    private struct Usage {
        let threads, kilobytes, files: Int

        init() throws {
            let text = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
            func number(_ name: String) -> Int {
                let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") } ?? ""
                return Int(line.filter(\.isNumber)) ?? 0
            }
            threads = number("Threads")
            kilobytes = number("RssAnon")
            files = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        }
    }
}

/// The updates that wait for a slow reader.
final class UpdateBufferTests: XCTestCase {
    private func take(_ buffer: inout UpdateBuffer, _ count: Int = 1_000) -> String {
        var bytes = [UInt8](repeating: 0, count: count)
        let taken = bytes.withUnsafeMutableBytes { buffer.take(into: $0) }
        return String(decoding: bytes.prefix(taken), as: UTF8.self)
    }

    private func append(_ text: String, isFrame: Bool, to buffer: inout UpdateBuffer) {
        buffer.append(Array(text.utf8), isFrame: isFrame)
    }

    func testUpdatesKeepTheirOrderInPiecesOfAnySize() {
        for size in 1...12 {
            var buffer = UpdateBuffer(limit: 1_000)
            for text in ["abc", "", "defg", "h"] { append(text, isFrame: true, to: &buffer) }
            var whole = ""
            while !buffer.isEmpty { whole += take(&buffer, size) }
            XCTAssertEqual(whole, "abcdefgh", "pieces of \(size)")
            XCTAssertEqual(take(&buffer, size), "")
        }
    }

    func testASlowReaderLosesTheOldestFramesBeforeEvents() {
        var buffer = UpdateBuffer(limit: 12)
        append("E111", isFrame: false, to: &buffer)
        append("F111", isFrame: true, to: &buffer)
        append("F222", isFrame: true, to: &buffer)
        append("F333", isFrame: true, to: &buffer)
        append("E222", isFrame: false, to: &buffer)
        XCTAssertEqual(buffer.lostFrames, 2)
        XCTAssertEqual(buffer.lostEvents, 0)
        XCTAssertEqual(take(&buffer), "E111F333E222")
    }

    func testEventsAreLostOnlyWithoutFrames() {
        var buffer = UpdateBuffer(limit: 8)
        for text in ["E111", "E222", "F111"] { append(text, isFrame: text.hasPrefix("F"), to: &buffer) }
        // The newest update is kept, so an older event is discarded.
        XCTAssertEqual(buffer.lostEvents, 1)
        XCTAssertEqual(take(&buffer), "E222F111")
    }

    func testTheNewestUpdateIsKeptEvenIfItIsLarge() {
        var buffer = UpdateBuffer(limit: 4)
        append("F1", isFrame: true, to: &buffer)
        append("F2222222", isFrame: true, to: &buffer)
        XCTAssertEqual(take(&buffer), "F2222222")
        XCTAssertTrue(buffer.isEmpty)
    }

    func testAnUpdateThatIsBeingSentIsNotCut() {
        var buffer = UpdateBuffer(limit: 4)
        append("F111", isFrame: true, to: &buffer)
        XCTAssertEqual(take(&buffer, 2), "F1")
        append("F222", isFrame: true, to: &buffer)
        append("F333", isFrame: true, to: &buffer)
        XCTAssertEqual(take(&buffer), "11F333")
    }
}
