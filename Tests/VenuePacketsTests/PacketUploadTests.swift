import XCTest
@testable import VenuePackets

/// Files that a person adds to a packet.
final class PacketUploadTests: XCTestCase {
    private func path(_ text: String) -> String? {
        PacketUpload(Array(text.utf8), .planImage, named: "My plan.svg")?.path
    }

    func testADrawingIsRecognizedWhereverTheLimitCutsItsText() {
        let beginning = "<svg xmlns=\"http://www.w3.org/2000/svg\"><text>"
        for shift in 0..<3 {
            // Each character has three bytes, so that the limit is within one for two of the shifts.
            let text = beginning + String(repeating: "x", count: shift) + String(repeating: "階", count: 1 << 15)
            XCTAssertEqual(path(text + "</text></svg>")?.hasSuffix(".svg"), true, "\(shift)")
        }
    }

    func testADocumentTypeMayDeclareEntities() {
        let entities = "<!ENTITY ns_svg \"http://www.w3.org/2000/svg\">\n<!ENTITY range \"[0]\">"
        for end in ["]>", "\n] \n>"] {
            let type = "<!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\" \"svg11.dtd\" [\n\(entities)\(end)\n"
            let text = "<?xml version=\"1.0\"?>\n<!-- Generator: Adobe Illustrator -->\n\(type)"
            XCTAssertEqual(path(text + "<svg width=\"100\"/>")?.hasSuffix(".svg"), true, text)
            XCTAssertNil(path(text + "<html></html>"))
        }
        XCTAssertNotNil(path("<!DOCTYPE svg><svg><text>[</text></svg>"))
        XCTAssertNil(path("<!DOCTYPE svg [ <!ENTITY a \"b\"> <svg></svg>"))
    }

    func testTheNameOfAnUploadDiffersFromOtherNames() throws {
        let path = try XCTUnwrap(path("<svg></svg>"))
        let name = try XCTUnwrap(path.split(separator: "/").last.map(String.init))
        XCTAssertEqual(path, "plans/" + name)
        XCTAssertTrue(PacketUpload.isName(name, of: .planImage), name)
        XCTAssertTrue(PacketUpload.isName(name + ".123.unfinished", of: .planImage))
        XCTAssertTrue(PacketUpload.isName("radio-map-0123456789abcdef.json.gz", of: .radioMap))
        for other in [
            "ground.png", "plan-1.png", "plan-20261128.png", "0123456789abcdef.png", "plan-0123456789abcdef.txt",
            "plan-0123456789ABCDEF.png", "plan-0123456789abcdef.png.old", "plan-0123456789abcdeg.png", "",
        ] {
            XCTAssertFalse(PacketUpload.isName(other, of: .planImage), other)
        }
        XCTAssertFalse(PacketUpload.isName("plan-0123456789abcdef.json", of: .radioMap))
    }
}
