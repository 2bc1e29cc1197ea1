import IndoorLocalizationTesting
import XCTest

final class BoundedTests: XCTestCase {
    func testAWaitReturnsTheValueOfAnEventWithinTheLimit() async throws {
        let value = try await Bounded.wait(for: "seven") { 7 }
        XCTAssertEqual(value, 7)
    }

    func testAWaitAtItsLimitIsCancelledAndNamesTheEvent() async throws {
        let state = WatchedState(false)
        do {
            try await Bounded.wait(for: "the impossible", within: .zero) {
                do { try await state.wait { $0 } } catch {
                    state.update { $0 = true }
                    throw error
                }
            }
            XCTFail("the wait returned")
        } catch let error as Bounded.Expired {
            XCTAssertTrue("\(error)".contains("the impossible"), "\(error)")
        }
        XCTAssertTrue(state.value, "the wait is cancelled before the error is thrown")
    }

    func testTheErrorOfAStreamThatEndsEarlyContainsItsElements() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        continuation.yield(4)
        continuation.finish()
        do {
            _ = try await Bounded.first(2, of: stream)
            XCTFail("the stream had two elements")
        } catch let error as Bounded.Expired {
            XCTAssertTrue("\(error)".contains("[4]"), "\(error)")
        }
    }
}
