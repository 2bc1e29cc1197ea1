import Dispatch
import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

final class SubscriptionTests: XCTestCase {
    /// What a watch was called with.
    private final class Calls: Sendable {
        private let numbers = Guarded<[Int]>([])
        func add(_ number: Int) { numbers.withLock { $0.append(number) } }
        var all: [Int] { numbers.withLock { $0 } }
    }

    /// Keeps an observation where its own call finds it.
    private final class Kept: Sendable {
        private let observation = Guarded<Subscription?>(nil)
        func keep(_ observation: Subscription) { self.observation.withLock { $0 = observation } }
        func close() { observation.withLock { $0 }?.close() }
    }

    /// A watch that alone holds its stream, so that the stream is given up when the watch has ended.
    private func watch(
        _ body: @escaping @Sendable (Int) -> Void
    ) -> (Subscription, AsyncStream<Int>.Continuation, ended: AsyncStream<Void>) {
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        let (ended, teller) = AsyncStream.makeStream(of: Void.self)
        continuation.onTermination = { _ in teller.yield() }
        return (Subscription(stream, body), continuation, ended)
    }

    private func first<Element: Sendable>(_ awaited: String, _ stream: AsyncStream<Element>) async throws {
        _ = try await Bounded.elements(of: stream, until: awaited) { _ in true }
    }

    func testASubscriptionIsCalledWithEachElement() async throws {
        let (seen, teller) = AsyncStream.makeStream(of: Int.self)
        let (observation, continuation, _) = watch { teller.yield($0) }
        for number in 1...5 { continuation.yield(number) }
        let elements = try await Bounded.elements(of: seen, until: "the fifth call") { $0 == 5 }
        XCTAssertEqual(elements, [1, 2, 3, 4, 5])
        observation.close()
    }

    func testAClosedSubscriptionIsNotCalled() async throws {
        for round in 0..<200 {
            let calls = Calls()
            let (observation, continuation, ended) = watch { calls.add($0) }
            for number in 0..<20 { continuation.yield(number) }
            observation.close()
            let known = calls.all
            for number in 20..<40 { continuation.yield(number) }
            try await first("the end of the watch", ended)
            XCTAssertEqual(calls.all, known, "round \(round)")
        }
    }

    func testCloseWaitsForTheRunningCall() async throws {
        for round in 0..<50 {
            let calls = Calls()
            let kept = Kept()
            let (seen, teller) = AsyncStream.makeStream(of: [Int].self)
            // The closing thread is none of those that tasks run on: these must not be blocked.
            let (observation, continuation, _) = watch { _ in
                DispatchQueue.global().async {
                    kept.close()
                    teller.yield(calls.all)
                }
                for number in 0..<1000 { calls.add(number) }
            }
            kept.keep(observation)
            continuation.yield(7)
            let atClose = try await Bounded.first(1, of: seen)[0]
            XCTAssertEqual(atClose.count, 1000, "round \(round): the call had ended when close() returned")
        }
    }

    func testASubscriptionCanBeClosedFromWithinItsCall() async throws {
        let calls = Calls()
        let kept = Kept()
        let (observation, continuation, ended) = watch { number in
            calls.add(number)
            kept.close()
        }
        kept.keep(observation)
        for number in 1...5 { continuation.yield(number) }
        try await first("the end of the watch", ended)
        XCTAssertEqual(calls.all, [1])
    }

    func testAReleasedSubscriptionEnds() async throws {
        let calls = Calls()
        let (continuation, ended) = { () -> (AsyncStream<Int>.Continuation, AsyncStream<Void>) in
            let (_, continuation, ended) = watch { calls.add($0) }
            return (continuation, ended)
        }()
        continuation.yield(1)
        try await first("the end of the watch", ended)
        XCTAssertEqual(calls.all, [])
    }

    func testASubscriptionEndsWithItsStream() async throws {
        let (seen, teller) = AsyncStream.makeStream(of: Int.self)
        let (observation, continuation, ended) = watch { teller.yield($0) }
        continuation.yield(1)
        continuation.finish()
        let elements = try await Bounded.elements(of: seen, until: "the call") { $0 == 1 }
        XCTAssertEqual(elements, [1])
        try await first("the end of the watch", ended)
        observation.close()
        observation.close()
    }
}
