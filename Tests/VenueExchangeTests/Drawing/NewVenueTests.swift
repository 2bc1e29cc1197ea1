import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import TemporaryFiles
import VenuePackets
import XCTest
@testable import VenueExchange

/// A venue that begins with images of its plans.
final class NewVenueTests: XCTestCase {
    /// The plan of the office's ground floor: 1080 × 600 pixels, 36 × 20 m.
    private func image() throws -> String { try FixtureFolder("office").path + "/plans/ground.png" }

    private func scale(
        _ first: (Double, Double), _ second: (Double, Double), _ meters: Double
    ) throws -> PlanScale {
        try PlanScale(
            from: PixelPoint(x: first.0, y: first.1), to: PixelPoint(x: second.0, y: second.1), meters: meters)
    }

    func testTwoPointsAndTheirDistanceGiveTheSizeOfTheMap() throws {
        // 1020 pixels are 34 m; along a diagonal, 3-4-5 × 90 pixels are 15 m.
        for scale in [try scale((30, 30), (1050, 30), 34), try scale((600, 400), (330, 40), 15)] {
            let drawing = try PlanDrawing(readingImage: image(), scale: scale)
            let venue = try NewVenue(name: "Office", drawings: [drawing]).venue
            let map = try XCTUnwrap(venue.map(1))
            XCTAssertEqual([map.width, map.height], [36, 20])
            XCTAssertEqual([map.widthPixels, map.heightPixels], [1080, 600])
            XCTAssertEqual(map.name, "Ground floor")
        }
        XCTAssertEqual(try scale((0, 0), (50, 0), 2).errorPerPixel, 0.02)
    }

    func testAWrittenPacketHasTheImagesOfItsFloors() throws {
        let scale = try scale((30, 30), (1050, 30), 34)
        let drawings = try [(0, nil), (-1, nil), (2, "Roof")].map { level, name in
            try PlanDrawing(readingImage: image(), scale: scale, level: level, name: name)
        }
        let folder = try temporaryFolder() + "/office"
        try NewVenue(id: 7, name: "Office", drawings: drawings).write(toFolder: folder)
        let packet = try VenuePacketReader().read(folder)
        XCTAssertEqual(packet.venue.id, 7)
        XCTAssertEqual(packet.venue.maps.map(\.name), ["Ground floor", "Basement 1", "Roof"])
        XCTAssertEqual(packet.venue.maps.map(\.level), [0, -1, 2])
        let bytes = try Array(Data(contentsOf: URL(filePath: image())))
        for map in packet.venue.maps { XCTAssertEqual(try PlanFiles(packet).image(of: map)?.bytes, bytes, map.name) }
    }

    func testControlPointsGiveTheVenueItsPlaceOnEarth() throws {
        var drawing = try PlanDrawing(readingImage: image(), scale: scale((30, 30), (1050, 30), 34))
        // The corners of the hall as in the fixture's upper floor, of which each metre has 30 pixels.
        drawing.controlPoints = [
            PlanDrawing.ControlPoint(
                pixel: PixelPoint(x: 30, y: 30), coordinate: Coordinate(latitude: 50.1110342, longitude: 8.68193039)),
            PlanDrawing.ControlPoint(
                pixel: PixelPoint(x: 1050, y: 570), coordinate: Coordinate(latitude: 50.1107658, longitude: 8.68226961)),
        ]
        let venue = try NewVenue(name: "Office", drawings: [drawing]).venue
        let fixture = try XCTUnwrap(VenuePacketReader().read(FixtureFolder("office").path).venue.map(2))
        let wanted = try GeoTransform(XCTUnwrap(fixture.georeference), width: fixture.width, height: fixture.height)
        let map = try XCTUnwrap(venue.map(1))
        let transform = try GeoTransform(XCTUnwrap(map.georeference), width: map.width, height: map.height)
        for point in [MapPoint(x: 0, y: 0), MapPoint(x: 36, y: 20), MapPoint(x: 18, y: 10)] {
            XCTAssertLessThan(transform.coordinate(at: point).distance(to: wanted.coordinate(at: point)), 0.1)
        }
        let center = try XCTUnwrap(venue.coordinate)
        XCTAssertLessThan(center.distance(to: wanted.coordinate(at: MapPoint(x: 18, y: 10))), 0.1)
        // Half of the diagonal of 36 × 20 m is 20.6 m.
        XCTAssertEqual(try XCTUnwrap(venue.radius), 21, accuracy: 1)
    }

    func testContradictoryControlPointsAreReportedBeforeAnythingIsWritten() throws {
        var drawing = try PlanDrawing(readingImage: image(), scale: scale((30, 30), (1050, 30), 34))
        drawing.controlPoints = [(30, 8.68), (31, 8.68)].map { x, longitude in
            PlanDrawing.ControlPoint(
                pixel: PixelPoint(x: x, y: 30), coordinate: Coordinate(latitude: 50, longitude: longitude))
        }
        XCTAssertThrowsError(try NewVenue(name: "Office", drawings: [drawing])) {
            XCTAssertTrue("\($0)".contains("$.maps[0].georeference.controlPoints"), "\($0)")
        }
    }

    func testTheSameNameGivesTheSameNumber() throws {
        let drawing = try PlanDrawing(readingImage: image(), scale: scale((30, 30), (1050, 30), 34))
        let ids = try ["Office", "Office", "Library"].map { try NewVenue(name: $0, drawings: [drawing]).venue.id }
        XCTAssertEqual(ids[0], ids[1])
        XCTAssertNotEqual(ids[0], ids[2])
    }

    func testTwoPlansOfOneLevelAreRefused() throws {
        let drawing = try PlanDrawing(readingImage: image(), scale: scale((30, 30), (1050, 30), 34))
        XCTAssertThrowsError(try NewVenue(name: "Office", drawings: [drawing, drawing])) {
            XCTAssertEqual("\($0)", "two plans have level 0; each floor of a venue has one plan")
        }
    }

    func testAFileThatIsNoImageIsRefused() throws {
        let path = try FixtureFolder("office").path + "/venue.json"
        XCTAssertThrowsError(try PlanDrawing(readingImage: path, scale: scale((0, 0), (9, 0), 1))) {
            XCTAssertEqual(
                "\($0)",
                "\(path) is not a PNG, JPEG, GIF or WebP image, or its header is damaged; export the drawing as PNG")
        }
        XCTAssertThrowsError(try PlanDrawing(readingImage: "/missing.png", scale: scale((0, 0), (9, 0), 1))) {
            XCTAssertEqual("\($0)", "/missing.png cannot be read: No such file or directory")
        }
    }

    func testAScaleNeedsTwoPointsAndADistance() {
        XCTAssertThrowsError(try scale((5, 5), (5.5, 5), 3)) {
            XCTAssertEqual(
                "\($0)", "the two points of the scale are less than one pixel apart; give points far apart")
        }
        for meters in [0, -1, .infinity, .nan] { XCTAssertThrowsError(try scale((0, 0), (9, 0), meters)) }
    }
}

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
