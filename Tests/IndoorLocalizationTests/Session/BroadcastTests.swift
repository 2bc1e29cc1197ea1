import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

final class BroadcastTests: XCTestCase {
    func testEverySubscriberGetsEveryElement() async throws {
        var broadcast: Broadcast<Int>? = Broadcast(.unbounded)
        let streams = (0..<5).compactMap { _ in broadcast?.subscribe() }
        for number in 0..<100 { broadcast?.send(number) }
        broadcast = nil
        XCTAssertEqual(streams.count, 5)
        for stream in streams {
            let elements = try await Bounded.all(stream)
            XCTAssertEqual(elements, Array(0..<100))
        }
    }

    func testConcurrentSubscribersHaveIndependentStreams() async throws {
        let broadcast = Broadcast<Int>(.unbounded)
        let streams = (0..<4).map { _ in broadcast.subscribe() }
        let sums = try await Bounded.wait(for: "all subscribers") {
            await withTaskGroup(of: Int.self) { group in
                for stream in streams {
                    group.addTask {
                        var sum = 0
                        for await number in stream {
                            sum += number
                            if number == 1000 { break }
                        }
                        return sum
                    }
                }
                for number in 1...1000 { broadcast.send(number) }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
        XCTAssertEqual(sums, [500_500, 500_500, 500_500, 500_500])
    }

    func testALateSubscriberOfStatesGetsTheLatestFirst() async throws {
        var broadcast: Broadcast<Int>? = Broadcast(.unbounded, replaysLatest: true)
        for number in 1...3 { broadcast?.send(number) }
        let stream = try XCTUnwrap(broadcast?.subscribe())
        broadcast?.send(4)
        broadcast = nil
        let elements = try await Bounded.all(stream)
        XCTAssertEqual(elements, [3, 4])
    }

    func testALateSubscriberOfEventsGetsNoOldOnes() async throws {
        var broadcast: Broadcast<Int>? = Broadcast(.unbounded)
        broadcast?.send(1)
        let stream = try XCTUnwrap(broadcast?.subscribe())
        broadcast?.send(2)
        broadcast = nil
        let elements = try await Bounded.all(stream)
        XCTAssertEqual(elements, [2])
    }

    func testABoundedBufferKeepsTheNewestAndCountsWhatItDrops() async throws {
        var broadcast: Broadcast<Int>? = Broadcast(.bufferingNewest(10))
        let streams = (0..<2).compactMap { _ in broadcast?.subscribe() }
        for number in 0..<25 { broadcast?.send(number) }
        XCTAssertEqual(broadcast?.dropped, 2 * 15)
        broadcast = nil
        for stream in streams {
            let elements = try await Bounded.all(stream)
            XCTAssertEqual(elements, Array(15..<25))
        }
    }

    func testTheBroadcastReleasesACancelledSubscriber() async throws {
        let broadcast = Broadcast<Int>(.bufferingNewest(1))
        let stream = broadcast.subscribe()
        let task = Task { for await _ in stream {} }
        task.cancel()
        try await Bounded.wait(for: "the end of the subscriber") { await task.value }
        for number in 0..<10 { broadcast.send(number) }
        XCTAssertEqual(broadcast.dropped, 0, "nobody is there to lose anything")
    }

    /// Each would wait for the other's lock, if whoever leaves took the broadcast's at once.
    func testASubscriberThatIsCancelledDuringASendDoesNotBlockTheOthers() async throws {
        for round in 0..<4000 {
            let broadcast = Broadcast<Int>(.bufferingNewest(60))
            let (stream, other) = (broadcast.subscribe(), broadcast.subscribe())
            let subscriber = Task { for await _ in stream {} }
            let sender = Task {
                for number in 0..<60 {
                    broadcast.send(number)
                    if number % 2 == 0 { await Task.yield() }
                }
            }
            for _ in 0..<round % 40 { await Task.yield() }
            subscriber.cancel()
            try await Bounded.wait(for: "the end of round \(round)") {
                await sender.value
                await subscriber.value
            }
            let elements = try await Bounded.first(60, of: other)
            XCTAssertEqual(elements, Array(0..<60), "round \(round)")
        }
    }

    func testTheEndOfTheBroadcastEndsItsStreams() async throws {
        var broadcast: Broadcast<Int>? = Broadcast(.unbounded)
        let stream = try XCTUnwrap(broadcast?.subscribe())
        broadcast = nil
        let elements = try await Bounded.all(stream)
        XCTAssertEqual(elements, [])
    }

    /// A cancel ends the stream while it holds a lock of its task; a send resumes that task, which wants the same lock.
    func testClosingDuringASendDoesNotBlock() async throws {
        let broadcast = Broadcast<Int>(.unbounded)
        for round in 0..<1000 {
            let stream = broadcast.subscribe()
            let reader = Task { for await _ in stream {} }
            let sender = Task.detached { for _ in 0..<5 { broadcast.send(round) } }
            reader.cancel()
            await sender.value
            await reader.value
        }
        let late = broadcast.subscribe()
        broadcast.send(-1)
        let seen = try await Bounded.first(1, of: late)
        XCTAssertEqual(seen, [-1])
    }
}
