import IndoorLocalization
import XCTest

/// Tests of the rules that confirm a change of room.
final class RoomChangeFilterTests: XCTestCase {
    /// Returns the confirmed room after each estimate, as letters; a dash is none of the rooms.
    private func believed(_ told: String, _ rule: RoomChangeRule, _ count: Int = 3) -> String {
        var filter = RoomChangeFilter(RoomSettings(changeRule: rule, changeCount: count))
        return told.map { filter.observe($0 == "-" ? nil : String($0)) ?? "-" }.joined()
    }

    func testTheImmediateRuleAcceptsEachRoom() {
        XCTAssertEqual(believed("aabab-b", .immediate), "aabab-b")
    }

    func testThreeInARowChangeTheRoom() {
        XCTAssertEqual(believed("abbabbba", .inARow), "aaaaaabb")
        XCTAssertEqual(believed("abcbcbcb", .inARow), "aaaaaaaa", "they must be the same")
    }

    func testTwoInARowChangeTheRoom() {
        XCTAssertEqual(believed("ababb", .inARow, 2), "aaaab")
    }

    func testBestOfFiveChangesTheRoom() {
        // Of the last five, the present room stays as long as no other one is more frequent.
        XCTAssertEqual(believed("aaabbb", .bestOf, 5), "aaaaab")
        XCTAssertEqual(believed("aaaaabbcb", .bestOf, 5), "aaaaaaaab")
    }

    func testTheFirstRoomIsNeverDelayed() {
        for rule in RoomChangeRule.allCases { XCTAssertEqual(believed("a", rule, 10), "a", rule.rawValue) }
    }

    func testNoneOfTheRoomsIsAcceptedByTheSameRule() {
        XCTAssertEqual(believed("a--a---", .inARow), "aaaaaa-")
        XCTAssertEqual(believed("-aaa", .inARow), "---a")
    }

    func testOneInARowIsImmediate() { XCTAssertEqual(believed("abca", .inARow, 1), "abca") }

    func testACountOutOfRangeIsAProblem() {
        XCTAssertEqual(RoomSettings().problems, [])
        for count in [0, 101] {
            let problems = RoomSettings(changeRule: .bestOf, changeCount: count).problems
            XCTAssertEqual(problems, ["rooms.changeCount must be in [1, 100], not \(count)"])
        }
    }
}
