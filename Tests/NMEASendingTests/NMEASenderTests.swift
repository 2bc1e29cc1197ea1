import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import NMEASending
import XCTest

/// Senders with real readers on loopback.
final class NMEASenderTests: XCTestCase {
    /// A sentence with a number, to recognize it.
    private func sentence(_ number: Int) -> NMEASentence { NMEASentence("TXT", ["\(number)"]) }

    /// The time to send the rest, where the destination takes it: `finish()` then waits for that alone.
    private static let patience = Duration.seconds(3600)

    /// A sender, and the changes of its connection.
    private func sender(
        to destination: NMEADestination
    ) throws -> (sender: NMEASender, statuses: AsyncStream<NMEAStatus>) {
        let (statuses, continuation) = AsyncStream.makeStream(of: NMEAStatus.self)
        return (try NMEASender(destination) { continuation.yield($0) }, statuses)
    }

    private func folder() throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "nmea-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        addTeardownBlock { try? FileManager.default.removeItem(atPath: folder) }
        return folder
    }

    /// Sends sentences with growing numbers until the body returns.
    private func sending<Value: Sendable>(
        over sender: NMEASender, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let feed = Task {
            for number in 0... {
                sender.send([NMEASentence("TXT", ["\(number)"])])
                do { try await Task.sleep(for: .milliseconds(5)) } catch { return }
            }
        }
        let result: Result<Value, any Error>
        do {
            result = .success(try await Bounded.wait(for: "the end of the test") { try await body() })
        } catch { result = .failure(error) }
        // It sends nothing after this.
        feed.cancel()
        await feed.value
        return try result.get()
    }

    private static func first(
        of statuses: AsyncStream<NMEAStatus>, _ awaited: String,
        where isWanted: @escaping @Sendable (NMEAStatus) -> Bool
    ) async throws -> NMEAStatus {
        let seen = try await Bounded.elements(of: statuses, until: awaited, isWanted)
        return try XCTUnwrap(seen.last)
    }

    // MARK: Datagrams

    func testEachPositionIsOneDatagram() async throws {
        let receiver = try DatagramReceiver()
        let (sender, _) = try sender(to: .udp(host: "127.0.0.1", port: receiver.port))
        sender.send([sentence(1), sentence(2)])
        sender.send([])
        sender.send([sentence(3)])
        await sender.finish(within: Self.patience)
        XCTAssertEqual(try receiver.next(), "$GPTXT,1*52\r\n$GPTXT,2*51\r\n")
        XCTAssertEqual(try receiver.next(), "$GPTXT,3*50\r\n")
    }

    func testAPortWithoutReaderIsReportedOnceAndUsedAgainLater() async throws {
        let port = try TestPort.freeForDatagrams()
        let destination = NMEADestination.udp(host: "127.0.0.1", port: port)
        let (sender, statuses) = try sender(to: destination)
        let seen = try await sending(over: sender) {
            var seen: [NMEAStatus] = []
            var receiver: DatagramReceiver?
            for await status in statuses {
                seen.append(status)
                if receiver == nil { receiver = try DatagramReceiver(port: port) }
                if case .sending = status { break }
            }
            _ = try XCTUnwrap(receiver).next()
            return seen
        }
        XCTAssertEqual(seen.first, .failed(.unreachable(destination, number: ECONNREFUSED)))
        XCTAssertEqual(seen.count, 2, "\(seen)")
        await sender.finish()
    }

    func testAnUnknownHostIsReportedAndBlocksNothing() async throws {
        let destination = NMEADestination.udp(host: "no..host", port: 5000)
        let (sender, statuses) = try sender(to: destination)
        sender.send([sentence(1)])
        let status = try await Self.first(of: statuses, "a failure") { _ in true }
        guard case .failed(.unknownHost(destination, _)) = status else { return XCTFail("\(status)") }
        for number in 0..<1000 { sender.send([sentence(number)]) }
        await sender.finish()
    }

    // MARK: Connections

    func testAConnectionIsRestoredAndTheNewestPositionsFollow() async throws {
        // The port stays this test's while no server listens.
        let port = try TestPort.free()
        var server: StreamServer? = try StreamServer(port: port)
        let (sender, statuses) = try sender(to: .tcp(host: "127.0.0.1", port: port))
        sender.send([sentence(1)])
        var peer: StreamPeer? = try server?.accept()
        XCTAssertEqual(try peer?.line(), "$GPTXT,1*52")
        peer = nil
        server = nil
        let failure = try await sending(over: sender) {
            for await status in statuses { if case .failed(let error) = status { return error } }
            throw Bounded.Expired(awaited: "a failure")
        }
        guard case .unreachable(.tcp("127.0.0.1", port), _) = failure else { return XCTFail("\(failure)") }
        // More positions than the memory has room for.
        for number in 10_000..<11_000 { sender.send([sentence(number)]) }
        server = try StreamServer(port: port)
        let next = try XCTUnwrap(server?.accept())
        var last: String?
        repeat { last = try next.line() } while last != sentence(10_999).description
        await sender.finish(within: Self.patience)
        XCTAssertNil(try next.line(), "the connection is closed at the end")
    }

    func testAServerThatStartsLaterReceivesThePositions() async throws {
        let port = try TestPort.free()
        let destination = NMEADestination.tcp(host: "127.0.0.1", port: port)
        let (sender, statuses) = try sender(to: destination)
        let server = try await sending(over: sender) {
            for await status in statuses {
                // Later attempts fail too, until the server is there.
                XCTAssertEqual(status, .failed(.unreachable(destination, number: ECONNREFUSED)))
                return try StreamServer(port: port)
            }
            throw Bounded.Expired(awaited: "a failure")
        }
        let peer = try await sending(over: sender) { try server.accept() }
        XCTAssertNotNil(try peer.line())
        try await Bounded.wait(for: "the end") { await sender.finish(within: Self.patience) }
    }

    /// The names of a host with two addresses, at the first of which nobody reads.
    private static let names: @Sendable (String) -> [String] = { _ in ["127.0.0.2", "127.0.0.1"] }

    func testAProgramAtTheSecondAddressOfAHostReceivesThePositions() async throws {
        let server = try StreamServer()
        let destination = NMEADestination.tcp(host: "reader.example", port: server.port)
        let (statuses, continuation) = AsyncStream.makeStream(of: NMEAStatus.self)
        let sender = try NMEASender(destination, names: Self.names) { continuation.yield($0) }
        sender.send([sentence(1)])
        let peer = try server.accept()
        XCTAssertEqual(try peer.line(), "$GPTXT,1*52")
        let status = try await sending(over: sender) {
            for await status in statuses { return status }
            throw Bounded.Expired(awaited: "a status")
        }
        XCTAssertEqual(status, .sending(lost: 0), "the first address is no failure")
        await sender.finish(within: Self.patience)
    }

    func testDatagramsArriveAtTheSecondAddressOfAHost() async throws {
        let port = try TestPort.freeForDatagrams()
        let destination = NMEADestination.udp(host: "reader.example", port: port)
        let sender = try NMEASender(destination, names: Self.names) { _ in }
        let datagram = try await sending(over: sender) { try DatagramReceiver(port: port).next() }
        XCTAssertTrue(datagram.hasPrefix("$GPTXT,"), datagram)
        await sender.finish()
    }

    // MARK: Servers

    func testAServerSendsEachPositionToAllReaders() async throws {
        let (sender, _) = try sender(to: .tcpListener(host: "127.0.0.1", port: 0))
        guard case .tcpListener(_, let port) = sender.destination else { return XCTFail("\(sender.destination)") }
        let peers = [try StreamPeer(port: port), try StreamPeer(port: port)]
        // A reader is connected once it has received a line.
        _ = try await sending(over: sender) { for peer in peers { XCTAssertNotNil(try peer.line()) } }
        // Fewer than the memory has room for: however late the sender's thread is, none is left out.
        let last = (1...20).map { NMEASentence("TXT", ["last \($0)"]) }
        for sentence in last { sender.send([sentence]) }
        await sender.finish(within: Self.patience)
        for peer in peers {
            var lines: [String] = []
            while let line = try peer.line() { lines.append(line) }
            XCTAssertEqual(lines.suffix(last.count), last.map(\.description)[...])
            let numbers = lines.dropLast(last.count).compactMap { Int($0.dropFirst(7).prefix { $0 != "*" }) }
            XCTAssertEqual(numbers, numbers.sorted())
        }
    }

    func testTheSeventeenthReaderOfAServerIsDisconnected() async throws {
        let (sender, _) = try sender(to: .tcpListener(host: "127.0.0.1", port: 0))
        guard case .tcpListener(_, let port) = sender.destination else { return XCTFail("\(sender.destination)") }
        let (last, later) = try await sending(over: sender) {
            var peers: [StreamPeer] = []
            // Each of them is connected once it has received a line.
            for _ in 0..<16 {
                peers.append(try StreamPeer(port: port))
                XCTAssertNotNil(try peers.last?.line())
            }
            let last = try StreamPeer(port: port).line()
            return (last, try peers.map { try $0.line() })
        }
        XCTAssertNil(last)
        XCTAssertFalse(later.contains(nil), "the others stay connected")
        await sender.finish()
    }

    func testAReaderThatStopsNeitherBlocksTheOthersNorUsesMoreMemory() async throws {
        let (sender, statuses) = try sender(to: .tcpListener(host: "127.0.0.1", port: 0))
        guard case .tcpListener(_, let port) = sender.destination else { return XCTFail("\(sender.destination)") }
        let stopped = try StreamPeer(port: port, room: 4096)
        let reading = try StreamPeer(port: port)
        // More than the buffers of both sockets hold.
        let long = NMEASentence("TXT", [String(repeating: "x", count: 20_000)])
        let feed = Task {
            while !Task.isCancelled {
                sender.send([long])
                try? await Task.sleep(for: .milliseconds(1))
            }
        }
        async let slow = Self.first(of: statuses, "a slow reader") { $0 == .readerTooSlow }
        let reader = Task.detached { for _ in 0..<100 { _ = try reading.line() } }
        _ = try await slow
        try await Bounded.wait(for: "100 lines of the other reader") { try await reader.value }
        feed.cancel()
        withExtendedLifetime(stopped) {}
        await sender.finish()
    }

    func testAServerAtALocalSocketIsForItsGroupAndRemovedAtTheEnd() async throws {
        let path = try folder() + "/nmea.sock"
        let (sender, _) = try sender(to: .unixListener(path: path))
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        XCTAssertEqual(mode, 0o660)
        let peer = try StreamPeer(path: path)
        let line = try await sending(over: sender) { try peer.line() }
        XCTAssertTrue(line?.hasPrefix("$GPTXT,") == true, "\(line ?? "")")
        XCTAssertThrowsError(try NMEASender(.unixListener(path: path))) { error in
            XCTAssertEqual(error as? NMEAError, .addressInUse(.unixListener(path: path)))
        }
        await sender.finish(within: Self.patience)
        XCTAssertFalse(FileManager.default.fileExists(atPath: path))
    }

    func testTheEndOfAServerKeepsTheLocalSocketOfALaterOne() async throws {
        let path = try folder() + "/nmea.sock"
        let (first, _) = try sender(to: .unixListener(path: path))
        try FileManager.default.removeItem(atPath: path)
        let (second, _) = try sender(to: .unixListener(path: path))
        await first.finish(within: Self.patience)
        XCTAssertTrue(FileManager.default.fileExists(atPath: path))
        await second.finish(within: Self.patience)
        XCTAssertFalse(FileManager.default.fileExists(atPath: path))
    }

    func testTheSocketOfAKilledProcessIsReplacedButNoFile() async throws {
        let path = try folder() + "/nmea.sock"
        // A bound socket that nobody listens at.
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        XCTAssertTrue(isBound)
        close(descriptor)
        await (try NMEASender(.unixListener(path: path))).finish(within: Self.patience)
        try Data("content".utf8).write(to: URL(filePath: path))
        XCTAssertThrowsError(try NMEASender(.unixListener(path: path))) { error in
            XCTAssertEqual(error as? NMEAError, .addressInUse(.unixListener(path: path)))
        }
        XCTAssertEqual(try String(contentsOfFile: path, encoding: .utf8), "content")
    }

    func testAnAddressInUseIsAnError() throws {
        let server = try StreamServer()
        let destination = NMEADestination.tcpListener(host: "127.0.0.1", port: server.port)
        XCTAssertThrowsError(try NMEASender(destination)) { error in
            XCTAssertEqual(error as? NMEAError, .addressInUse(destination))
            XCTAssertTrue("\(error)".contains("another program listens"), "\(error)")
        }
    }

    // MARK: Files

    func testAFileIsExtendedAndPrivate() async throws {
        let path = try folder() + "/walk.nmea"
        for number in 1...2 {
            let (sender, _) = try sender(to: .file(path: path))
            sender.send([sentence(number)])
            await sender.finish(within: Self.patience)
        }
        XCTAssertEqual(try String(contentsOfFile: path, encoding: .utf8), "$GPTXT,1*52\r\n$GPTXT,2*51\r\n")
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        XCTAssertEqual(mode.map { $0 & 0o077 }, 0)
    }

    func testAFIFOIsOpenedOnceItHasAReader() async throws {
        let path = try folder() + "/fifo"
        XCTAssertEqual(mkfifo(path, 0o600), 0)
        let (sender, statuses) = try sender(to: .file(path: path))
        sender.send([sentence(1)])
        let status = try await Self.first(of: statuses, "a failure") { _ in true }
        XCTAssertEqual(status, .failed(.unreachable(.file(path: path), number: ENXIO)))
        let line = try await sending(over: sender) {
            let peer = try StreamPeer.opening(path)
            // Until the sender opens the FIFO, it is at its end.
            while true {
                if let line = try peer.line() { return line }
                try await Task.sleep(for: .milliseconds(5))
            }
        }
        XCTAssertTrue(line.hasPrefix("$GPTXT,"), line)
        // The reader is gone: the sender survives it.
        let lost = try await sending(over: sender) {
            for await status in statuses { if case .failed(let error) = status { return error } }
            throw Bounded.Expired(awaited: "a failure")
        }
        guard case .unreachable = lost else { return XCTFail("\(lost)") }
        await sender.finish()
    }

    func testAFullDiskIsReportedOnce() async throws {
        let (sender, statuses) = try sender(to: .file(path: "/dev/full"))
        let status = try await sending(over: sender) {
            for await status in statuses { return status }
            throw Bounded.Expired(awaited: "a failure")
        }
        XCTAssertEqual(status, .failed(.unreachable(.file(path: "/dev/full"), number: ENOSPC)))
        guard case .failed(let error) = status else { return }
        XCTAssertTrue("\(error)".contains("free some space"), "\(error)")
        await sender.finish()
    }
}

/// The bytes that wait for one reader.
final class CycleQueueTests: XCTestCase {
    func testAFullQueueLosesTheOldestWholeCycleAndKeepsTheOneThatIsPartlyWritten() {
        var queue = CycleQueue()
        queue.append([100, 101, 102])
        XCTAssertEqual(Array(queue.next()), [100, 101, 102])
        queue.consume(1)
        for number in 0..<UInt8(CycleQueue.capacity + 2) { queue.append([number]) }
        XCTAssertEqual(queue.lost, 2)
        XCTAssertEqual(Array(queue.next()), [101, 102])
        queue.consume(2)
        var left: [UInt8] = []
        while !queue.isEmpty {
            left += queue.next()
            queue.consume(1)
        }
        XCTAssertEqual(left, Array(2..<UInt8(CycleQueue.capacity + 2)))
        XCTAssertEqual(queue.drainLosses(), 2)
        XCTAssertEqual(queue.lost, 0)
    }

    func testAnotherReaderDoesNotReceiveTheRestOfACycle() {
        var queue = CycleQueue()
        queue.append([1, 2])
        queue.append([3])
        _ = queue.next()
        queue.consume(1)
        queue.dropRest()
        queue.dropRest()
        XCTAssertEqual(queue.lost, 1)
        XCTAssertEqual(Array(queue.next()), [3])
    }
}

/// The addresses of destinations.
final class NMEADestinationTests: XCTestCase {
    func testEveryKindOfAddressIsRead() throws {
        let known: [String: NMEADestination] = [
            "udp://127.0.0.1:5000": .udp(host: "127.0.0.1", port: 5000), "udp://[::1]:1": .udp(host: "::1", port: 1),
            "tcp://roof:65535": .tcp(host: "roof", port: 65535),
            "tcp-listen://0.0.0.0:0": .tcpListener(host: "0.0.0.0", port: 0),
            "unix-listen:///run/nmea.sock": .unixListener(path: "/run/nmea.sock"),
            "walk.nmea": .file(path: "walk.nmea"), "/dev/ttyS0": .file(path: "/dev/ttyS0"),
        ]
        for (text, destination) in known {
            XCTAssertEqual(try NMEADestination(text), destination, text)
            XCTAssertEqual(destination.description, text)
        }
    }

    func testAnInvalidAddressIsRefusedWithTheKindsOfAddresses() {
        for text in [
            "", "udp://", "udp://host", "udp://host:0", "udp://host:65536", "udp://host:+5", "udp://:5000",
            "udp://::1:5000", "udp://a b:5000", "udp://host:5000/", "tcp://host:", "http://host:80", "UDP://host:1",
            "unix-listen://", "unix-listen://" + String(repeating: "x", count: 108), "tcp://host:１",
        ] {
            XCTAssertThrowsError(try NMEADestination(text), text) { error in
                XCTAssertEqual(error as? NMEAError, .invalidAddress(text))
                XCTAssertTrue("\(error)".contains("udp://HOST:PORT"), "\(error)")
            }
        }
    }
}

/// One end of a stream socket, or of a FIFO, that a test reads. Its waits have a time limit.
///
/// Unchecked, as only one task of a test reads it at a time.
final class StreamPeer: @unchecked Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The time limit of a wait in milliseconds.
    static let patience = Int32(Bounded.longest.seconds * 1000)

    private let descriptor: Int32
    private var rest: [UInt8] = []

    init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Connects to a port on loopback.
    ///
    /// - Parameter room: the bytes that the kernel stores for this reader; nil for its standard.
    convenience init(port: UInt16, room: Int32? = nil) throws {
        self.init(descriptor: try TestPort.connect(to: port, room: room))
    }

    /// Connects to a local socket.
    convenience init(path: String) throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0 else { throw Failure(description: "no connection to \(path): error \(errno)") }
        self.init(descriptor: descriptor)
    }

    /// Returns the next line without its end; nil at the end of the stream.
    func line() throws -> String? {
        while true {
            if let end = rest.firstIndex(of: 10) {
                let line = String(decoding: rest[..<end].filter { $0 != 13 }, as: UTF8.self)
                rest.removeFirst(end + 1)
                return line
            }
            var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&watched, 1, Self.patience) == 1 else { throw Failure(description: "no line arrives") }
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = read(descriptor, &bytes, bytes.count)
            guard count > 0 else { return nil }
            rest += bytes.prefix(count)
        }
    }

    /// The content of a FIFO or a file that another test process writes.
    static func opening(_ path: String) throws -> StreamPeer {
        let descriptor = open(path, O_RDONLY | O_NONBLOCK)
        guard descriptor >= 0 else { throw Failure(description: "\(path): error \(errno)") }
        return StreamPeer(descriptor: descriptor)
    }
}

/// A TCP server on loopback that accepts one connection at a time.
final class StreamServer: Sendable {
    let port: UInt16
    private let descriptor: Int32

    /// - Parameter port: the port; 0 for any free one.
    init(port: UInt16 = 0) throws {
        (descriptor, self.port) = try TestPort.listen(port: port, backlog: 8, isReusable: true)
    }

    deinit { close(descriptor) }

    func accept() throws -> StreamPeer {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&watched, 1, StreamPeer.patience) == 1 else {
            throw StreamPeer.Failure(description: "no client connects")
        }
        return StreamPeer(descriptor: Glibc.accept(descriptor, nil, nil))
    }
}
