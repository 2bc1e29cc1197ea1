import XCTest
@testable import indoorloc

final class TextTableTests: XCTestCase {
    private let rows = [["name", "kind", "n"], ["hall", "a", "100"], ["b", "room", "2"]]

    func testColumnsAreAlignedLeftWithoutBlanksAtTheEnd() {
        XCTAssertEqual(TextTable.lines(rows), ["name  kind  n", "hall  a     100", "b     room  2"])
    }

    func testColumnsAfterTheLeadingOnesAreAlignedRight() {
        XCTAssertEqual(
            TextTable.lines(rows, leading: 2), ["name  kind    n", "hall  a     100", "b     room    2"])
    }

    func testATableWithoutRowsIsEmpty() { XCTAssertEqual(TextTable.lines([]), []) }
}
