import Foundation
import IndoorLocalization
import LoopbackServers
import MQTTSharing
import XCTest

/// Processes that share through a real broker and end in different ways.
final class SharingProcessTests: XCTestCase {
    /// A device in a separate process. Its executable is in the folder of the test executable.
    private final class Child {
        private let process = Process()
        private let input = Pipe()
        private let output = Pipe()
        private var rest = ""

        init(_ name: String, in room: String, _ broker: MosquittoBroker) throws {
            let tests = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
            process.executableURL = tests.resolvingSymlinksInPath().deletingLastPathComponent().appending(
                path: "SharingDevice")
            process.arguments = ["\(broker.port)", name, room]
            process.standardInput = input
            process.standardOutput = output
            try ProcessSignals.withAll { try process.run() }
        }

        deinit { kill() }

        /// Waits for a line with a prefix within the time limit, and returns the rest of the line.
        func line(_ start: String) throws -> String {
            let deadline = ContinuousClock.now + .seconds(60)
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
    }

    func testTwoProcessesSeeEachOther() throws {
        let broker = try broker()
        let cart = try Child("cart", in: "hall", broker)
        _ = try cart.line("joined hall")
        let fork = try Child("fork", in: "hall", broker)
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
        let cart = try Child("cart", in: "hall", broker)
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
            let cart = try Child("cart", in: "hall", broker)
            _ = try cart.line("joined hall")
            try await hears.hears(.occupancy(room: "hall", devices: 2))
            cart.kill()
            try await hears.hears(.occupancy(room: "hall", devices: 1))
        }
    }
}
