import BlueZScanning
import Dispatch
import Foundation
import IndoorLocalizationTesting
import XCTest

final class ReadinessWatchTests: XCTestCase {
    private struct Seen: Sendable {
        var bytes: [UInt8] = []
        var isDone = false
    }

    private static let queue = DispatchQueue(label: "ReadinessWatchTests")

    private static func pipe() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        XCTAssertEqual(Glibc.pipe(&ends), 0)
        XCTAssertEqual(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0)
        return (ends[0], ends[1])
    }

    private static func watch(_ descriptor: Int32, _ seen: WatchedState<Seen>) -> ReadinessWatch {
        ReadinessWatch(descriptor, on: queue) {
            var byte: UInt8 = 0
            if read(descriptor, &byte, 1) == 1 { seen.update { $0.bytes.append(byte) } }
        } whenDone: {
            close(descriptor)
            seen.update { $0.isDone = true }
        }
    }

    private static func send(_ byte: UInt8, to descriptor: Int32) {
        var byte = byte
        XCTAssertEqual(write(descriptor, &byte, 1), 1)
    }

    func testTheWatchCallsBackUntilItEnds() async throws {
        let (reading, writing) = try Self.pipe()
        defer { close(writing) }
        let seen = WatchedState(Seen())
        let watch = Self.watch(reading, seen)
        for byte: UInt8 in 1...3 { Self.send(byte, to: writing) }
        try await Bounded.wait(for: "three bytes") { try await seen.wait { $0.bytes == [1, 2, 3] } }
        // After the watch has ended, it doesn't call back on the queue.
        Self.queue.sync {
            watch.cancel()
            Self.send(4, to: writing)
        }
        try await Bounded.wait(for: "the end") { try await seen.wait { $0.isDone } }
        XCTAssertEqual(seen.value.bytes, [1, 2, 3])
    }

    func testEndingTwiceHasTheEffectOfEndingOnce() async throws {
        let (reading, writing) = try Self.pipe()
        defer { close(writing) }
        let seen = WatchedState(Seen())
        let watch = Self.watch(reading, seen)
        watch.cancel()
        watch.cancel()
        try await Bounded.wait(for: "the end") { try await seen.wait { $0.isDone } }
    }

    func testAnInvalidDescriptorEndsTheWatch() async throws {
        let seen = WatchedState(Seen())
        let watch = ReadinessWatch(9_999, on: Self.queue, whenReady: {}, whenDone: { seen.update { $0.isDone = true } })
        try await Bounded.wait(for: "the end") { try await seen.wait { $0.isDone } }
        withExtendedLifetime(watch) {}
    }

    /// The dispatch library's own sources crash in this test (number 949 of swift-corelibs-libdispatch).
    func testWatchesMayComeAndGoOnManyThreads() async throws {
        let before = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for round in 0..<200 {
                        let (reading, writing) = try Self.pipe()
                        let seen = WatchedState(Seen())
                        let watch = Self.watch(reading, seen)
                        if round % 2 == 0 { Self.send(7, to: writing) }
                        if round % 3 == 0 {
                            close(writing)
                            watch.cancel()
                        } else {
                            watch.cancel()
                            close(writing)
                        }
                        try await Bounded.wait(for: "the end") { try await seen.wait { $0.isDone } }
                    }
                }
            }
            try await group.waitForAll()
        }
        // Alarms close with their watches, some of which the last threads may still retain.
        try await Bounded.poll(for: "the end of the watches") {
            (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? .max < before + 20
        }
    }
}
