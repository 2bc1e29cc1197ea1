import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import VenuePackets
import XCTest
@testable import indoorloc

final class VenueCommandTests: XCTestCase {
    func testInfoOfTheOffice() throws {
        let result = try Tool.run(["venue", "info", "Fixtures/office"])
        XCTAssertEqual(result.status, 0)
        XCTAssertEqual(result.errors, "")
        try assertSnapshot(result.output)
    }

    func testCheckOfAFlawlessPacket() throws {
        let result = try Tool.run(["venue", "check", "Fixtures/office"])
        XCTAssertEqual(result.status, 0)
        XCTAssertEqual(result.lines.last, "Fixtures/office: no problems")
        let beacon = "C4:7C:8D:00:01:01 is 6C1D5B0E-3A47-4F0B-9C7E-0D5A1E2B3C4F/1/1"
        let known = "Fixtures/office: beacons also known by their address: 4 of 32: \(beacon), "
        XCTAssertEqual(result.lines.first, "Fixtures/office: 32 beacons: 32 by UUID")
        XCTAssertTrue(result.lines.dropFirst().first?.hasPrefix(known) ?? false, result.output)
        XCTAssertEqual(result.lines.count, 3)
    }

    func testCheckPrintsTheKindsOfNamesOfBeacons() throws {
        let hall = "Fixtures/identities"
        let kinds = "24 beacons: 6 by UUID, 6 by Eddystone-UID, 6 by AltBeacon id, 6 by address alone"
        XCTAssertEqual(try Tool.run(["venue", "check", hall]).lines, ["\(hall): \(kinds)", "\(hall): no problems"])
        XCTAssertTrue(try Tool.run(["venue", "info", hall]).lines.contains { $0 == kinds })
    }

    func testARecordingOfAdvertisementsIsLocatedAndSurveyedWithoutIBeacons() throws {
        let (hall, walk) = ("Fixtures/identities", "Fixtures/identities/walk.jsonl.gz")
        let replay = try Tool.run(["replay", "--venue", hall, walk])
        XCTAssertEqual(replay.status, 0, replay.errors)
        XCTAssertGreaterThan(replay.lines.count { $0.contains(#""type":"position""#) }, 20)
        let map = try temporaryFolder() + "/map.json"
        let survey = try Tool.run(["survey", "--venue", hall, "--output", map, walk])
        XCTAssertEqual(survey.errors, "")
        XCTAssertTrue(survey.output.contains(" 24 beacons, "), survey.output)
        for name in ["C0:00:00:00:04:01", "edd1ebeac04e5defa017/000000000001", "1/2"] {
            let plot = try Tool.run(["plot", "range", "--venue", hall, "--beacon", name, walk])
            XCTAssertEqual(plot.status, 0, plot.errors)
            XCTAssertTrue(plot.output.contains(name.uppercased() + ": "), name)
        }
        let unknown = try Tool.run(["plot", "range", "--venue", hall, "--beacon", "0/0", walk])
        XCTAssertEqual(unknown.status, 2)
        let examples = "such as 1/1, EDD1EBEAC04E5DEFA017/000000000001, A17BEAC000000000000000000000000100070001"
        XCTAssertTrue(unknown.errors.contains("'0/0' is not a beacon of the venue, \(examples)"), unknown.errors)
    }

    func testCheckOfAnAcceptedPacketWithAWarning() throws {
        let result = try Tool.run(["venue", "check", "Fixtures/packets/accepted/beacon-outside-its-map"])
        XCTAssertEqual(result.status, 0)
        try assertSnapshot(result.output)
    }

    func testCheckNotesAnExpertSetting() throws {
        let packet = "Fixtures/packets/accepted/every-field"
        let result = try Tool.run(["venue", "check", packet])
        XCTAssertEqual(result.status, 0)
        XCTAssertTrue(
            result.lines.contains(
                #"note: $.settings["floor.patience"]: floor.patience is an expert key, which may change or go in any release"#
            ),
            result.output)
        XCTAssertEqual(result.lines.last, "\(packet): 0 errors, 0 warnings, 1 note")
    }

    func testCheckOfARejectedPacket() throws {
        let result = try Tool.run(["venue", "check", "Fixtures/packets/rejected/unknown-map"])
        XCTAssertEqual(result.status, 1)
        XCTAssertEqual(result.errors, "")
        try assertSnapshot(result.output)
    }

    func testCheckListsAllProblemsInOnePass() throws {
        for name in ["unknown-map", "polygon-with-two-corners"] {
            let folder = try FixtureFolder("packets/rejected/\(name)")
            let expected = try String(contentsOf: URL(filePath: folder.file("expected.txt")), encoding: .utf8)
            let problems = expected.split(separator: "\n").map { $0.replacing(" ", with: ": ", maxReplacements: 1) }
            XCTAssertGreaterThan(problems.count, 1, name)
            let result = try Tool.run(["venue", "check", folder.path])
            XCTAssertEqual(result.lines.count, problems.count + 1, name)
            for (line, problem) in zip(result.lines, problems) {
                XCTAssertTrue(line.hasPrefix(problem + ": "), "\(name): \(line)")
            }
        }
    }

    func testOtherCommandsRefuseAPacketWithAllItsProblems() throws {
        let path = "Fixtures/packets/rejected/unknown-map"
        let result = try Tool.run(["venue", "info", path])
        XCTAssertEqual(result.status, 1)
        XCTAssertEqual(result.output, "")
        XCTAssertTrue(result.errors.hasPrefix("indoorloc: \(path) is not a usable venue packet:\n"), result.errors)
        XCTAssertTrue(result.errors.contains("$.paths.nodes[0].mapId: "), result.errors)
    }
}

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

    func testAPlanThatIsAlreadyInItsPlaceStays() throws {
        let packet = try temporary("office")
        let image = packet + "/plans/level0.png"
        let files = FileManager.default
        try files.createDirectory(atPath: packet + "/plans", withIntermediateDirectories: true)
        try Data(contentsOf: URL(filePath: Self.plan)).write(to: URL(filePath: image))
        let words = ["--plan", image, "--scale", Self.scale, "-o", packet]
        func number() -> ino_t? {
            var status = stat()
            return stat(image, &status) == 0 ? status.st_ino : nil
        }
        let before = try XCTUnwrap(number())
        for more in [["--name", "First"], ["--name", "Second", "--overwrite"]] {
            let result = try new(words + more)
            XCTAssertEqual(result.status, 0, result.errors)
            XCTAssertEqual(try VenuePacketReader().read(packet).venue.name, more[1])
            XCTAssertEqual(number(), before)
        }
        // A link to the plan isn't a file of the packet.
        let outside = try temporary("outside.png")
        try files.moveItem(atPath: image, toPath: outside)
        try files.createSymbolicLink(atPath: image, withDestinationPath: outside)
        let refused = try new(words + ["--overwrite"])
        XCTAssertEqual(refused.status, 1)
        XCTAssertTrue(refused.errors.contains("\(image) is also an input of this command"), refused.errors)
        XCTAssertEqual(
            try Data(contentsOf: URL(filePath: outside)), try Data(contentsOf: URL(filePath: Self.plan)))
    }

    func testInvalidOptionsAreRefusedWithTheirForm() throws {
        let packet = try temporary("office")
        let cases: [([String], String)] = [
            (["--scale", Self.scale], "--plan is missing; to choose images on a page"),
            (["--name", "Library"], "run 'indoorloc venue new' without --name"),
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

    func testAPointOutsideTheImageIsRefused() throws {
        let packet = try temporary("library")
        let pixels = "is outside the image of 1080 × 600 pixels"
        let georeference = ["--georeference", "30,30=50.1110342,8.68193039", "--georeference"]
        for (words, message) in [
            (["--scale", "30,30,105000,30=34"], "--scale: the point 105000, 30 \(pixels), \(Self.plan)"),
            (["--scale=-1,30,1050,30=34"], "--scale: the point -1, 30 \(pixels)"),
            (["--scale", "30,600.5,1050,30=34"], "--scale: the point 30, 600.5 \(pixels)"),
            (
                ["--scale", Self.scale] + georeference + ["1050,5700=50.1107658,8.68226961"],
                "--georeference: the point 1050, 5700 \(pixels)"
            ),
        ] {
            let result = try new(["--plan", Self.plan, "-o", packet] + words)
            XCTAssertEqual(result.status, 1, "\(words)")
            XCTAssertTrue(result.errors.contains(message), result.errors)
            XCTAssertFalse(FileManager.default.fileExists(atPath: packet))
        }
        let edge = try new(["--plan", Self.plan, "-o", packet, "--scale", "0,0,1080,600=40"])
        XCTAssertEqual(edge.status, 0, edge.errors)
    }

    /// The scale of a large plan also applies to a small one.
    func testThePointsOfOneScaleAreOnOneOfThePlans() throws {
        let packet = try temporary("tower")
        let small = try temporary("small.gif")
        try XCTUnwrap(Self.picture).write(to: URL(filePath: small))
        let plans = ["--plan", small, "--plan", Self.plan, "-o", packet]
        let refused = try new(plans + ["--scale", Self.scale, "--scale", "0,0,5,5=1"])
        XCTAssertEqual(refused.status, 1)
        XCTAssertTrue(refused.errors.contains("is outside the image of 7 × 5 pixels, \(small)"), refused.errors)
        let shared = try new(plans + ["--scale", Self.scale])
        XCTAssertEqual(shared.status, 0, shared.errors)
    }

    /// An image of 7 × 5 pixels.
    private static let picture = Data(base64Encoded: "R0lGODlhBwAFAPAAAP///wAAACH5BAAAAAAALAAAAAAHAAUAAAIFhI+puwUAOw==")

    func testAGeoreferenceIsRefusedForPlansOfDifferentSizes() throws {
        let packet = try temporary("tower")
        let small = try temporary("small.gif")
        try XCTUnwrap(Self.picture).write(to: URL(filePath: small))
        let result = try new([
            "--plan", Self.plan, "--plan", small, "--scale", Self.scale, "-o", packet, "--georeference",
            "30,30=50.1110342,8.68193039", "--georeference", "1050,570=50.1107658,8.68226961",
        ])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("\(small) has another size or scale than \(Self.plan)"), result.errors)
        XCTAssertFalse(FileManager.default.fileExists(atPath: packet))
    }
}

/// Routes through the office, whose paths can be checked on its plans.
final class VenueRouteCommandTests: XCTestCase {
    private func route(_ arguments: String...) throws -> Tool.Result {
        try Tool.run(["venue", "route", "Fixtures/office"] + arguments)
    }

    private func assertPrints(_ arguments: String..., test: String = #function, line: UInt = #line) throws {
        let result = try Tool.run(["venue", "route", "Fixtures/office"] + arguments)
        XCTAssertEqual(result.status, 0, line: line)
        XCTAssertEqual(result.errors, "", line: line)
        try assertSnapshot(result.output, test: test, line: line)
    }

    func testRouteUpTheStairs() throws { try assertPrints("--from", "1,5,10", "--to-poi", "Books") }
    func testAccessibleRouteByElevator() throws {
        try assertPrints("--from", "1,5,10", "--to-poi", "Books", "--accessible")
    }
    func testRouteAsJSON() throws { try assertPrints("--from", "1,13,5", "--to", "1,30,10", "--json") }

    /// `findPath` through a packet: both maps' numbers in order from start to goal, by either algorithm.
    func testVerticesAsJSONLeadFromMapToMap() throws {
        var texts: [String] = []
        for algorithm in ["astar", "dijkstra"] {
            let result = try route("--from", "1,5,10", "--to", "2,5,5", "--algorithm", algorithm, "--json")
            XCTAssertEqual(result.status, 0, result.errors)
            let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
            let vertices = try XCTUnwrap((object as? [String: Any])?["vertices"] as? [[String: Any]])
            XCTAssertEqual(vertices.compactMap { $0["mapId"] as? Int }, [1, 1, 1, 2, 2, 2, 2])
            XCTAssertEqual([vertices[0], vertices[6]].map { $0["x"] as? Double }, [5, 5])
            XCTAssertEqual([vertices[0], vertices[6]].map { $0["y"] as? Double }, [10, 5])
            texts.append(result.output)
        }
        XCTAssertEqual(texts[0], texts[1])
    }

    func testEveryPointOfInterestOfTheOfficeIsReachedFromEveryOtherWithoutStairsOrWalls() throws {
        let venue = try VenuePacketReader().read(FixtureFolder("office").path).venue
        var planner = RoutePlanner(venue: venue)
        XCTAssertEqual(planner.ignoredEdges, [])
        for start in venue.pointsOfInterest {
            for goal in venue.pointsOfInterest {
                let route = try planner.route(from: RoutePoint(start), to: RoutePoint(goal), .accessible)
                XCTAssertFalse(route.start.crossesWall, start.name)
                XCTAssertFalse(route.legs.contains { $0.kind == .stairs }, "\(start.name) to \(goal.name)")
                XCTAssertEqual(route.legs.contains { $0.kind == .elevator }, start.mapID != goal.mapID)
                XCTAssertGreaterThanOrEqual(
                    route.cost, start.mapID == goal.mapID ? start.point.distance(to: goal.point) - 1e-9 : 30)
            }
        }
    }

    func testARouteLeadsToTheNearestPointOfInterestOfAName() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "route-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let office = try String(contentsOf: URL(filePath: FixtureFolder("office").file("venue.json")), encoding: .utf8)
        // Routes don't need the packet's images, which are missing beside the copy.
        var object = try XCTUnwrap(JSONSerialization.jsonObject(with: Data(office.utf8)) as? [String: Any])
        var maps = try XCTUnwrap(object["maps"] as? [[String: Any]])
        for index in maps.indices { ["image", "tiles"].forEach { maps[index][$0] = nil } }
        object["maps"] = maps
        object["pois"] = [(1, 1, 7, 15), (2, 1, 17, 15), (3, 2, 5, 5)].map { id, map, x, y in
            ["id": id, "name": "Printer", "mapId": map, "x": x, "y": y] as [String: Any]
        }
        try JSONSerialization.data(withJSONObject: object).write(to: folder.appending(path: "venue.json"))
        for (start, x) in [("1,7,10", 7.0), ("1,17,10", 17), ("2,5.5,15", 5)] {
            let result = try Tool.run(["venue", "route", folder.path, "--from", start, "--to-poi", "Printer", "--json"])
            XCTAssertEqual(result.status, 0, result.errors)
            let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
            XCTAssertEqual((object?["goal"] as? [String: Any])?["x"] as? Double, x, start)
        }
    }

    func testImpossibleRoutesAreReported() throws {
        for (arguments, part) in [
            (["--from", "1,5,10", "--to-poi", "Nix"], "has no point of interest 'Nix'; it has 'Books', "),
            (
                ["--from", "1,5,10", "--to", "9,0,0"],
                "the route's goal is on map 9, which the venue does not have; its maps are 1, 2"
            ),
            (["--from", "1,5,10", "--to", "2,500,0"], "is not within 30.0 m of a permitted path"),
        ] {
            let result = try Tool.run(["venue", "route", "Fixtures/office"] + arguments)
            XCTAssertEqual(result.status, 1)
            XCTAssertEqual(result.output, "")
            XCTAssertTrue(result.errors.contains(part), result.errors)
        }
    }

    func testInvalidRouteOptionsAreUsageErrors() throws {
        for (arguments, part) in [
            (["--to", "1,1,1"], "--from is missing"), (["--from", "1,1,1"], "--to or --to-poi is missing"),
            (["--from", "1,1,1", "--to", "1,1,1", "--to-poi", "Books"], "--to and --to-poi can't be combined"),
            (["--from", "1,1", "--to", "1,1,1"], "--from must be MAP,X,Y"),
            (["--from", "1,1,1", "--to", "1,nan,1"], "--to must be MAP,X,Y"),
            (["--from", "1,1,1", "--to", "1,1,1", "--algorithm", "x"], "--algorithm must be one of astar, dijkstra"),
        ] {
            let result = try Tool.run(["venue", "route", "Fixtures/office"] + arguments)
            XCTAssertEqual(result.status, 2, part)
            XCTAssertTrue(result.errors.contains(part), result.errors)
        }
    }

    func testTheRouteBenchmarkReachesTheTopFloor() throws {
        var bench = RouteBench(floors: 3, side: 40, algorithm: .aStar)
        var other = RouteBench(floors: 3, side: 40, algorithm: .dijkstra)
        XCTAssertEqual(bench.nodes, 4800)
        let (route, reference) = (try XCTUnwrap(bench.route()), try XCTUnwrap(other.route()))
        XCTAssertEqual(route.vertices.last?.mapID, 2)
        XCTAssertEqual(route.cost, reference.cost, accuracy: 1e-9 * reference.cost)
    }
}
