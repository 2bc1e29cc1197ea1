import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import MQTTSharing
import XCTest

/// Processes that share through a real broker and end in different ways.
final class SharingProcessTests: XCTestCase {
    func testTwoProcessesSeeEachOther() throws {
        let broker = try broker()
        let cart = try DeviceProcess("cart", in: "hall", broker)
        _ = try cart.line("joined hall")
        let fork = try DeviceProcess("fork", in: "hall", broker)
        _ = try fork.line("joined hall")
        try cart.share(x: 1.5)
        XCTAssertEqual(try fork.line("position "), "cart 1.5")
        try fork.share(x: 2.5)
        XCTAssertEqual(try cart.line("position "), "fork 2.5")
        XCTAssertEqual(try fork.end(), 0)
        XCTAssertEqual(try cart.end(), 0)
    }

    func testTheLastWillRemovesAKilledProcessFromTheRoom() async throws {
        let broker = try broker()
        let (_, hears) = try await device("guard", in: "hall", broker)
        let cart = try DeviceProcess("cart", in: "hall", broker)
        _ = try cart.line("joined hall")
        try await hears.hears(.occupancy(room: "hall", devices: 2))
        cart.kill()
        try await hears.hears(.occupancy(room: "hall", devices: 1))
        // The broker retains no message of the process.
        let reader = try await PlainClient(port: broker.port, filter: "indoorloc/v1/devices/#")
        reader.publish("indoorloc/v1/devices/end", "")
        let first = try await reader.message("indoorloc/v1/devices/guard/presence")
        XCTAssertTrue(first.isRetained)
        reader.publish("indoorloc/v1/devices/cart/presence", "")
        let next = try await reader.message("indoorloc/v1/devices/cart/presence")
        XCTAssertFalse(next.isRetained, "the first message is the one published now")
        reader.close()
    }

    func testAProcessIsPresentAgainAfterAKillAndARestart() async throws {
        let broker = try broker()
        let (_, hears) = try await device("guard", in: "hall", broker)
        for _ in 0..<2 {
            let cart = try DeviceProcess("cart", in: "hall", broker)
            _ = try cart.line("joined hall")
            try await hears.hears(.occupancy(room: "hall", devices: 2))
            cart.kill()
            try await hears.hears(.occupancy(room: "hall", devices: 1))
        }
    }
}

/// A client that attacks the devices of a broker without an access list: sharing heals itself.
final class HostilePeerTests: XCTestCase {
    private static let presence = "indoorloc/v1/devices/cart/presence"

    /// Waits until the broker retains a presence of a device, in these rooms.
    private func presence(
        of device: String, in rooms: [String], seenBy client: PlainClient
    ) async throws -> SharingPayload.Presence {
        let id = try DeviceID(device)
        while true {
            let message = try await client.message("indoorloc/v1/devices/\(device)/presence")
            guard let presence = try? SharingPayload.presence(message.payload, of: id) else { continue }
            if presence.rooms == rooms { return presence }
        }
    }

    private func forged(_ device: String, _ rooms: [String]) throws -> [UInt8] {
        SharingPayload.bytes(
            SharingPayload.Presence(device: device, name: nil, session: "forged", rooms: rooms, sentAt: 1))
    }

    func testADeviceRestatesAPresenceThatAnotherClientReplaces() async throws {
        let broker = try broker()
        let (cart, _) = try await device("cart", in: "hall", broker)
        let (_, forkHears) = try await device("fork", in: "hall", broker)
        let attacker = try await PlainClient(port: broker.port, filter: Self.presence)
        let original = try await presence(of: "cart", in: ["hall"], seenBy: attacker)
        for attack in [try forged("cart", []), Array("{".utf8), []] {
            attacker.publish(Self.presence, attack, isRetained: true)
            let restated = try await presence(of: "cart", in: ["hall"], seenBy: attacker)
            XCTAssertEqual(restated.session, original.session)
        }
        let isConnected = await cart.isConnected
        XCTAssertTrue(isConnected)
        try await cart.share(.at(x: 7))
        _ = try await forkHears.hearsPosition(of: "cart", x: 7)
        attacker.close()
    }

    func testThirtyThousandPresencesDoNotKeepANewcomerOut() async throws {
        let broker = try broker()
        let attacker = try await PlainClient(port: broker.port, filter: "end")
        for number in 0..<30_000 {
            attacker.publish(
                "indoorloc/v1/devices/junk-\(number)/presence", try forged("junk-\(number)", ["junk"]),
                isRetained: true, quality: number % 2 == 0 ? .atMostOnce : .atLeastOnce)
        }
        attacker.publish("end", "")
        _ = try await attacker.message("end")
        let (cart, cartHears) = try await device("cart", in: "hall", broker)
        try await cartHears.hears(.occupancy(room: "hall", devices: 1))
        let (fork, _) = try await device("fork", in: "hall", broker)
        try await cartHears.hears(.occupancy(room: "hall", devices: 2))
        try await fork.share(.at(x: 3))
        _ = try await cartHears.hearsPosition(of: "fork", x: 3)
        let isConnected = await cart.isConnected
        XCTAssertTrue(isConnected)
        attacker.close()
    }

    func testACapacityOfZeroLocksNobodyOut() async throws {
        let broker = try broker()
        let attacker = try await PlainClient(port: broker.port)
        attacker.publish("indoorloc/v1/limits", #"{"serverCapacity":0}"#, isRetained: true)
        _ = try await attacker.message("indoorloc/v1/limits")
        let (_, _) = try await device("cart", in: "hall", broker)
        attacker.close()
    }

    /// Publishes a large message to the room of a device in its own process, and returns the growth of the largest memory
    /// that the device has had, after it has received another position.
    private func growth(ofDeviceAt port: UInt16, _ broker: MosquittoBroker, rejoins: Bool) async throws -> Int {
        let cart = try DeviceProcess("cart", in: "hall", port: port)
        _ = try cart.line("joined hall")
        let before = try cart.peakMemory()
        let attacker = try await PlainClient(port: broker.port, filter: "end")
        attacker.publish(
            "indoorloc/v1/rooms/hall/devices/stranger/position", [UInt8](repeating: 0x20, count: Self.largeSize))
        attacker.publish("end", "")
        _ = try await attacker.message("end")
        if rejoins { _ = try cart.line("joined hall") }
        let (fork, _) = try await device("fork", in: "hall", broker)
        try await fork.share(.at(x: 3))
        XCTAssertEqual(try cart.line("position "), "fork 3.0")
        attacker.close()
        return try cart.peakMemory() - before
    }

    private static let largeSize = 32 << 20
    /// The limit of MQTT, which Mosquitto had by default before version 2.1.
    private static let anySize = MosquittoBroker.Configuration(
        listener: "allow_anonymous true\nmax_packet_size 268435455")

    func testTheBrokerDropsAMessageOf32Megabytes() async throws {
        let broker = try broker(Self.anySize)
        let growth = try await growth(ofDeviceAt: broker.port, broker, rejoins: false)
        XCTAssertLessThan(growth, 8 << 20)
    }

    func testWithABrokerOfVersion311TheConnectionEndsBeforeTheMessageIsRead() async throws {
        for refusal in [OldBrokerProxy.Refusal.returnCode, .end] {
            let broker = try broker(Self.anySize)
            let proxy = try OldBrokerProxy(broker: broker.port, refusal)
            addTeardownBlock { proxy.stop() }
            let growth = try await growth(ofDeviceAt: proxy.port, broker, rejoins: true)
            XCTAssertLessThan(growth, 20 << 20)
            XCTAssertGreaterThanOrEqual(proxy.refusedCount, 2)
        }
    }
}

/// A device in a separate process. Its executable is in the folder of the test executable.
final class DeviceProcess {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var rest = ""

    convenience init(_ name: String, in room: String, _ broker: MosquittoBroker) throws {
        try self.init(name, in: room, port: broker.port)
    }

    init(_ name: String, in room: String, port: UInt16) throws {
        let tests = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
        process.executableURL = tests.resolvingSymlinksInPath().deletingLastPathComponent().appending(
            path: "KilledProcess")
        process.arguments = ["sharing", "\(port)", name, room]
        process.standardInput = input
        process.standardOutput = output
        try ProcessSignals.withAll { try process.run() }
    }

    deinit { kill() }

    /// Waits for a line with a prefix within the time limit, and returns the rest of the line.
    func line(_ start: String) throws -> String {
        let deadline = ContinuousClock.now + Bounded.longest
        while true {
            while let end = rest.firstIndex(of: "\n") {
                let line = String(rest[..<end])
                rest = String(rest[rest.index(after: end)...])
                if line.hasPrefix(start) { return String(line.dropFirst(start.count)) }
            }
            var watched = pollfd(
                fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&watched, 1, 1000) > 0 || ContinuousClock.now < deadline else {
                throw StageError("no line '\(start)'")
            }
            if watched.revents == 0 { continue }
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { throw StageError("the process ended before a line '\(start)'") }
            rest += String(decoding: data, as: UTF8.self)
        }
    }

    func share(x: Double) throws { try input.fileHandleForWriting.write(contentsOf: Data("\(x)\n".utf8)) }

    /// Ends the process as a person would, and returns its exit status.
    func end() throws -> Int32 {
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
        return process.terminationStatus
    }

    func kill() {
        guard process.isRunning else { return }
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// The largest memory that the process has had so far, in bytes: `VmHWM` of proc(5).
    func peakMemory() throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        let kilobytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
        guard let kilobytes else { throw StageError("the process reports no peak of its memory") }
        return kilobytes << 10
    }
}
