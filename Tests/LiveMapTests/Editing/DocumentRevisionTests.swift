import VenueEditing
import XCTest

final class DocumentRevisionTests: XCTestCase {
    private let old = DocumentRevision(Array("{\"id\": 1}".utf8))
    private let new = DocumentRevision(Array("{\"id\": 2}".utf8))

    func testEqualDocumentsHaveEqualRevisionsAndOthersDiffer() {
        XCTAssertEqual(old, DocumentRevision(Array("{\"id\": 1}".utf8)))
        XCTAssertNotEqual(old.tag, new.tag)
        XCTAssertTrue(old.tag.hasPrefix("\"") && old.tag.hasSuffix("\""), old.tag)
    }

    func testARequestReplacesOnlyTheRevisionThatItNames() {
        XCTAssertNil(SaveCondition(header: old.tag).refusal(current: old))
        XCTAssertNil(SaveCondition(header: "\"x\" ,  \(old.tag)").refusal(current: old))
        XCTAssertEqual(SaveCondition(header: old.tag).refusal(current: new), .changed)
        XCTAssertEqual(SaveCondition(header: "").refusal(current: new), .changed)
        XCTAssertEqual(SaveCondition(header: old.tag).refusal(current: nil), .changed, "the file was removed")
    }

    func testARequestWithoutARevisionIsRefusedAndAStarMeansAnyRevision() {
        XCTAssertEqual(SaveCondition(header: nil).refusal(current: old), .unconditional)
        XCTAssertNil(SaveCondition(header: "*").refusal(current: new))
        XCTAssertEqual(SaveCondition(header: "*").refusal(current: nil), .changed)
    }
}
