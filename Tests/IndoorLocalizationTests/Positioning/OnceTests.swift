import XCTest

import IndoorLocalization

final class OnceTests: XCTestCase {
    private final class Count: Sendable {
        private let state = Guarded(0)
        var value: Int { state.withLock { $0 } }
        func next() -> Int {
            state.withLock {
                $0 += 1
                return $0
            }
        }
    }

    func testOnceMakesItsValueOnFirstUse() {
        let count = Count()
        let once = Once { count.next() }
        XCTAssertEqual(count.value, 0)
        XCTAssertEqual([once.value, once.value], [1, 1])
    }

    func testConcurrentReadersGetTheSameValue() async {
        let count = Count()
        let once = Once { count.next() }
        let values = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<50 { group.addTask { once.value } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        XCTAssertEqual(values, Array(repeating: 1, count: 50))
    }
}
