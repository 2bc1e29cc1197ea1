import TagTracking
import XCTest

@testable import TagTrackingService

final class ChangeLogTests: XCTestCase {
    private func tags(_ log: ChangeLog, after start: UInt64 = 0) -> [TagKey] {
        log.tags(after: start, upTo: log.last, limit: 10) { _ in true }.tags
    }

    func testATagIsReportedOnceInTheOrderOfItsLastChange() {
        var log = ChangeLog()
        for name in ["a", "b", "a"] { log.add(.name(name)) }
        XCTAssertEqual(tags(log), [.name("b"), .name("a")])
        XCTAssertEqual(tags(log, after: 2), [.name("a")])
    }

    func testTheMemoryStaysBoundedWhileTagsAreDiscarded() {
        var log = ChangeLog()
        for number in 0..<20_000 {
            log.add(.name("\(number)"))
            if number.isMultiple(of: 100) { log.keep { $0 == .name("\(number)") } }
        }
        XCTAssertEqual(log.tagCount, 100)
        log.keep { $0 == .name("19999") }
        XCTAssertEqual(tags(log), [.name("19999")])
    }
}
