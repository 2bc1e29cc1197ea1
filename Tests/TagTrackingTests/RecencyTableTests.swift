import IndoorVocabulary
import XCTest

@testable import TagTracking

final class RecencyTableTests: XCTestCase {
    func testTheTableHasTheLatestValuesForAnyUse() {
        var generator = SeededGenerator(seed: 3)
        for limit in 1...8 {
            var table = RecencyTable<Int, Int>(limit: limit)
            var model: [(key: Int, value: Int)] = []
            for step in 0..<3000 {
                let key = Int(generator.next() % 12)
                if generator.next() % 3 == 0 {
                    XCTAssertEqual(table.peek(key), model.first { $0.key == key }?.value)
                    continue
                }
                table.set(step, for: key)
                model.removeAll { $0.key == key }
                model.append((key, step))
                if model.count > limit { model.removeFirst() }
                XCTAssertEqual(table.keys, model.map(\.key), "limit \(limit), step \(step)")
                XCTAssertEqual(table.count, model.count)
            }
        }
    }
}
