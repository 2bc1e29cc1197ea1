import Foundation
import IndoorLocalizationTesting
import VenuePackets
import XCTest

/// The command `venue new`.
final class VenueNewTests: XCTestCase {
    private static let plan = "Fixtures/office/plans/ground.png"
    private static let scale = "30,30,1050,30=34"

    private func temporary(_ name: String) throws -> String { try temporaryFolder() + "/" + name }

    private func new(_ words: [String]) throws -> Tool.Result { try Tool.run(["venue", "new"] + words) }

    func testOneCommandBeginsAPacket() throws {
        let packet = try temporary("library")
        let result = try new(["--plan", Self.plan, "--scale", Self.scale, "-o", packet])
        XCTAssertEqual(result.status, 0, result.errors)
        let venue = try VenuePacketReader().read(packet).venue
        XCTAssertEqual(
            result.output.replacing(packet, with: "PACKET"),
            """
            PACKET: venue \(venue.id.rawValue): library, 1 map
            Ground floor (level 0): 1080 × 600 pixels, 36.00 × 20.00 m; one pixel is 33.3 mm
            next: indoorloc venue edit PACKET

            """)
        XCTAssertEqual(venue.maps.map(\.width), [36])
        let check = try Tool.run(["venue", "check", packet])
        XCTAssertEqual(check.status, 0, check.output)
    }

    func testSeveralFloorsGoIntoAZip() throws {
        let packet = try temporary("tower.zip")
        let result = try new([
            "--plan", Self.plan, "--plan", "Fixtures/office/plans/upper.png", "--scale", Self.scale, "--level", "1",
            "--level", "3", "--name", "Tower", "--id", "12", "-o", packet, "--georeference",
            "30,30=50.1110342,8.68193039", "--georeference", "1050,570=50.1107658,8.68226961",
        ])
        XCTAssertEqual(result.status, 0, result.errors)
        let venue = try VenuePacketReader().read(packet).venue
        XCTAssertEqual(venue.id, 12)
        XCTAssertEqual(venue.maps.map(\.level), [1, 3])
        XCTAssertEqual(venue.maps.map(\.name), ["Floor 1", "Floor 3"])
        XCTAssertEqual(venue.maps.compactMap(\.georeference).count, 2)
        let image = try PlanFiles(VenuePacketReader().read(packet)).image(of: venue.maps[1])
        XCTAssertEqual(image?.bytes, try Array(Data(contentsOf: URL(filePath: "Fixtures/office/plans/upper.png"))))
    }

    func testAnExistingPacketStays() throws {
        let packet = try temporary("office")
        XCTAssertEqual(try new(["--plan", Self.plan, "--scale", Self.scale, "-o", packet]).status, 0)
        let before = try Data(contentsOf: URL(filePath: packet + "/venue.json"))
        let again = try new(["--plan", Self.plan, "--scale", "0,0,10,0=1", "-o", packet])
        XCTAssertEqual(again.status, 1)
        XCTAssertTrue(again.errors.contains("use --overwrite to replace it with all its content"), again.errors)
        XCTAssertEqual(try Data(contentsOf: URL(filePath: packet + "/venue.json")), before)
        let replaced = try new(["--plan", Self.plan, "--scale", "0,0,10,0=1", "-o", packet, "--overwrite"])
        XCTAssertEqual(replaced.status, 0, replaced.errors)
        XCTAssertTrue(
            replaced.output.contains("warning: an error of one pixel in --scale changes all distances by 10.0 %"),
            replaced.output)
    }

    func testInvalidOptionsAreRefusedWithTheirForm() throws {
        let packet = try temporary("office")
        let cases: [([String], String)] = [
            (["--scale", Self.scale], "--plan is missing"),
            (["--plan", Self.plan], "--scale is missing"),
            (["--plan", Self.plan, "--scale", "30,30,1050=34"], "--scale must be X1,Y1,X2,Y2=METRES"),
            (["--plan", Self.plan, "--scale", "1,1,1,1=34"], "less than one pixel apart"),
            (
                ["--plan", Self.plan, "--scale", Self.scale, "--level", "1", "--level", "2"],
                "--level is given 2 times for 1 plan"
            ),
            (
                ["--plan", Self.plan, "--scale", Self.scale, "--georeference", "1,2=3,4"],
                "give two or more"
            ),
            (
                ["--plan", Self.plan, "--scale", Self.scale, "--georeference", "1,2=300,4"],
                "--georeference must be X,Y=LATITUDE,LONGITUDE"
            ),
        ]
        for (words, message) in cases {
            let result = try new(words + ["-o", packet])
            XCTAssertEqual(result.status, 2, "\(words)")
            XCTAssertTrue(result.errors.contains(message), "\(words): \(result.errors)")
        }
        XCTAssertFalse(FileManager.default.fileExists(atPath: packet))
    }

    func testAGeoreferenceIsRefusedForPlansOfDifferentSizes() throws {
        let packet = try temporary("tower")
        let small = try temporary("small.gif")
        let picture = try XCTUnwrap(
            Data(base64Encoded: "R0lGODlhBwAFAPAAAP///wAAACH5BAAAAAAALAAAAAAHAAUAAAIFhI+puwUAOw=="))
        try picture.write(to: URL(filePath: small))
        let result = try new([
            "--plan", Self.plan, "--plan", small, "--scale", Self.scale, "-o", packet, "--georeference",
            "30,30=50.1110342,8.68193039", "--georeference", "1050,570=50.1107658,8.68226961",
        ])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("\(small) has another size or scale than \(Self.plan)"), result.errors)
        XCTAssertFalse(FileManager.default.fileExists(atPath: packet))
    }
}
