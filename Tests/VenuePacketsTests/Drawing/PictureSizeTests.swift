import Foundation
import XCTest

@testable import VenuePackets

/// The sizes of pictures; each picture is white, 7 pixels wide and 5 pixels high, and was written by ImageMagick or cwebp.
final class PictureSizeTests: XCTestCase {
    private static let pictures: KeyValuePairs = [
        "JPEG": "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABALDA4MChAODQ4SERATGCgaGBYWGDEjJR0oOjM9PDkzODdASFxOQERXRTc4UG1RV19i"
            + "Z2hnPk1xeXBkeFxlZ2P/wAALCAAFAAcBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAB//EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAI"
            + "AQEAAD8AQH//2Q==",
        "GIF": "R0lGODlhBwAFAPAAAP///wAAACH5BAAAAAAALAAAAAAHAAUAAAIFhI+puwUAOw==",
        "WebP, lossy": "UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoHAAUAAgA0JaQAA3AA/vuUAAA=",
        "WebP, lossless": "UklGRh4AAABXRUJQVlA4TBEAAAAvBgABAAfQ//73v/+BiOh/AAA=",
        "WebP, extended":
            "UklGRmAAAABXRUJQVlA4WAoAAAAQAAAABgAABAAAQUxQSAoAAAABB1DAiAhERP8DVlA4IDAAAADQAQCdASoHAAUAAgA0JaACdLoB"
            + "+AADsAD+8MQL/yC5YXXI1/8gP+QH/ID/+PIAAAA=",
    ]

    /// A JPEG with orientation 6 in its Exif data, which exiftool wrote.
    private static let turned =
        "/9j/4AAQSkZJRgABAQAAAQABAAD/4QBiRXhpZgAATU0AKgAAAAgABQESAAMAAAABAAYAAAEaAAUAAAABAAAASgEbAAUAAAABAAAA"
        + "UgEoAAMAAAABAAEAAAITAAMAAAABAAEAAAAAAAAAAAABAAAAAQAAAAEAAAAB/9sAQwAQCwwODAoQDg0OEhEQExgoGhgWFhgxIyUd"
        + "KDozPTw5Mzg3QEhcTkBEV0U3OFBtUVdfYmdoZz5NcXlwZHhcZWdj/8AACwgABQAHAQERAP/EABQAAQAAAAAAAAAAAAAAAAAAAAf/"
        + "xAAUEAEAAAAAAAAAAAAAAAAAAAAA/9oACAEBAAA/AEB//9k="

    private func bytes(_ text: String) throws -> [UInt8] { try Array(XCTUnwrap(Data(base64Encoded: text))) }

    func testEachFormatGivesTheSizeOfThePicture() throws {
        for (format, text) in Self.pictures {
            XCTAssertEqual(PictureSize(of: try bytes(text)), PictureSize(width: 7, height: 5), format)
        }
    }

    func testTheHeaderOfAPNGIsEnough() {
        let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]
        let header = signature + Array("IHDR".utf8) + [0, 0, 0, 7, 0, 0, 0, 5]
        XCTAssertEqual(PictureSize(of: header), PictureSize(width: 7, height: 5))
        XCTAssertNil(PictureSize(of: Array(header.dropLast())))
    }

    func testAPhotographThatABrowserTurnsHasTheSizeOnTheScreen() throws {
        var photograph = try bytes(Self.turned)
        XCTAssertEqual(PictureSize(of: photograph), PictureSize(width: 5, height: 7))
        // The first 6 is the orientation: 3 is upside down, so width and height stay.
        let place = try XCTUnwrap(photograph.firstIndex(of: 6))
        photograph[place] = 3
        XCTAssertEqual(PictureSize(of: photograph), PictureSize(width: 7, height: 5))
    }

    func testTheOrientationIsFoundBehindOtherExifFields() {
        // A JPEG of an Exif block with two fields of one value each, and a frame header.
        func field(_ tag: UInt8, _ value: UInt8) -> [UInt8] { [tag, 0x01, 3, 0, 1, 0, 0, 0, value, 0, 0, 0] }
        for (orientation, size) in [(6, PictureSize(width: 5, height: 7)), (1, PictureSize(width: 7, height: 5))] {
            let directory =
                [2, 0] + field(0x0F, UInt8(7 - orientation)) + field(0x12, UInt8(orientation)) + [0, 0, 0, 0]
            let exif = Array("Exif".utf8) + [0, 0] + Array("II".utf8) + [42, 0, 8, 0, 0, 0] + directory
            let frame: [UInt8] = [0xFF, 0xC0, 0, 11, 8, 0, 5, 0, 7, 1, 1, 0x11, 0]
            let picture = [0xFF, 0xD8, 0xFF, 0xE1, 0, UInt8(exif.count + 2)] + exif + frame
            XCTAssertEqual(PictureSize(of: picture), size, "orientation \(orientation)")
        }
    }

    func testTheFileNameOfAFormatHasItsUsualEnding() throws {
        let endings = try Self.pictures.map { PictureFormat(of: try bytes($0.value))?.ending }
        XCTAssertEqual(endings, ["jpg", "gif", "webp", "webp", "webp"])
    }

    func testATruncatedHeaderHasNoSize() throws {
        for text in Self.pictures.map(\.value) + [Self.turned] {
            let whole = try bytes(text)
            for length in 0..<whole.count {
                guard let size = PictureSize(of: Array(whole.prefix(length))) else { continue }
                XCTAssertEqual(size, PictureSize(of: whole), "\(length) bytes")
            }
            XCTAssertNil(PictureSize(of: Array(whole.prefix(8))))
        }
        XCTAssertNil(PictureSize(of: Array("%PDF-1.7".utf8)))
    }
}
