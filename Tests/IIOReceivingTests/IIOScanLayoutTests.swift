import XCTest

@testable import IIOReceiving

/// The decoding of a buffer's bytes.
final class IIOScanLayoutTests: XCTestCase {
    private func value(_ type: String, _ bytes: [UInt8]) throws -> Int64 {
        try XCTUnwrap(IIOScanElement(channel: "c", index: 0, type: type), type).value(of: bytes[...])
    }

    func testElementsOfAllKindsAreDecoded() throws {
        XCTAssertEqual(try value("le:s16/16>>0", [0xFE, 0xFF]), -2)
        XCTAssertEqual(try value("be:s16/16>>0", [0xFF, 0xFE]), -2)
        XCTAssertEqual(try value("le:u16/16>>0", [0xFE, 0xFF]), 65534)
        XCTAssertEqual(try value("be:s12/16>>4", [0x80, 0x0F]), -2048, "the shifted bits don't belong to the value")
        XCTAssertEqual(try value("be:u12/16>>4", [0x80, 0x0F]), 2048)
        XCTAssertEqual(try value("le:s24/32>>8", [0xAA, 0xFF, 0xFF, 0xFF]), -1)
        XCTAssertEqual(try value("le:s64/64>>0", [1, 0, 0, 0, 0, 0, 0, 0x80]), .min + 1)
        XCTAssertEqual(try value("le:u8/8X1>>0", [200]), 200)
    }

    func testInvalidTypesAreRefused() {
        for type in ["", "le:s16/16", "xx:s16/16>>0", "le:s16/12>>0", "le:s17/16>>0", "le:s16/16>>1", "le:s16/16X3>>0"]
        {
            XCTAssertNil(IIOScanElement(channel: "c", index: 0, type: type), type)
        }
    }

    func testElementsAreAlignedToTheirSizeInTheOrderOfTheirIndexes() throws {
        let time = try XCTUnwrap(IIOScanElement(channel: "t", index: 3, type: "le:s64/64>>0"))
        let short = try XCTUnwrap(IIOScanElement(channel: "x", index: 0, type: "le:s16/16>>0"))
        let long = try XCTUnwrap(IIOScanElement(channel: "y", index: 1, type: "le:s32/32>>0"))
        let layout = IIOScanLayout([time, short, long])
        XCTAssertEqual(layout.size, 16)
        let scan: [UInt8] = [9, 1, 0, 0xEE, 0xEE, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]
        XCTAssertEqual(layout.values(of: scan[1...]), ["x": 1, "y": 2, "t": 3], "also in a slice")
        let first = try XCTUnwrap(IIOScanElement(channel: "z", index: 0, type: "le:s32/32>>0"))
        let second = try XCTUnwrap(IIOScanElement(channel: "x", index: 1, type: "le:s16/16>>0"))
        XCTAssertEqual(
            IIOScanLayout([first, second]).size, 8, "the size of a scan is a multiple of its longest element")
    }
}
