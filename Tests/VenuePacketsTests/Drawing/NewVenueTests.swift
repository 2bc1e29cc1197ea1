import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

@testable import VenuePackets

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
