import XCTest

@testable import IndoorPositioning
import IndoorLocalization

final class TableCacheTests: XCTestCase {
    /// A table of 1,000 bytes and some more.
    private static func table(_ value: Float) -> SignalField.Table {
        let cells = [Float](repeating: value, count: 125)
        return SignalField.Table(columns: 0..<125, rows: 0..<1, mean: cells, variance: cells, logRate: [])
    }

    /// The keys whose tables have to be made.
    private func made(_ cache: TableCache, _ keys: some Sequence<Int>) -> [Int] {
        var made: [Int] = []
        for key in keys {
            let found = cache.table(key) {
                made.append(key)
                return Self.table(Float(key))
            }
            XCTAssertEqual(found?.mean.first, Float(key))
        }
        return made
    }

    func testTheCacheMakesATableOnce() {
        let cache = TableCache(capacity: 100_000)
        XCTAssertEqual(made(cache, [1, 2, 1, 2, 1]), [1, 2])
    }

    func testTheCacheStoresTheAbsenceOfATable() {
        let cache = TableCache(capacity: 100_000)
        var count = 0
        for _ in 0..<3 {
            XCTAssertNil(
                cache.table(7) {
                    count += 1
                    return nil
                })
        }
        XCTAssertEqual(count, 1)
    }

    func testTheCacheEvictsTheLeastRecentlyUsedTables() {
        let cache = TableCache(capacity: 12_500)
        XCTAssertEqual(made(cache, 0..<10), Array(0..<10))
        // All but 3 and 4 are used once more; one more table is too much.
        XCTAssertEqual(made(cache, [0, 1, 2, 5, 6, 7, 8, 9]), [])
        XCTAssertEqual(made(cache, [10]), [10])
        XCTAssertEqual(made(cache, [0, 1, 2, 5, 6, 7, 8, 9, 10].suffix(6)), [])
        XCTAssertEqual(made(cache, [3]), [3])
    }

    func testTheTablesStayWithinTheCapacity() {
        let cache = TableCache(capacity: 50_000)
        for key in 0..<1_000 {
            _ = made(cache, [key])
            XCTAssertLessThanOrEqual(cache.bytes, 50_000)
        }
        XCTAssertGreaterThan(cache.bytes, 30_000)
    }

    func testTheCacheReturnsATableLargerThanItsCapacity() {
        let cache = TableCache(capacity: 10)
        XCTAssertEqual(made(cache, [1, 2, 1]), [1, 2, 1])
    }

    func testConcurrentSessionsGetTheirTables() async {
        let cache = TableCache(capacity: 20_000)
        let wrong = await withTaskGroup(of: Int.self) { group in
            for task in 0..<8 {
                group.addTask {
                    (0..<2_000).count { turn in
                        let key = (turn * (task + 1)) % 40
                        return cache.table(key) { Self.table(Float(key)) }?.mean.first != Float(key)
                    }
                }
            }
            return await group.reduce(0, +)
        }
        XCTAssertEqual(wrong, 0)
    }
}
