import FoundationEssentials
import IndoorLocalization
import IndoorLocalizationTesting
import TemporaryFiles
import TextFormats
import VenueExchange
import VenuePackets
import XCTest

/// The import of the museum, an archive with a feature of every type.
final class IMDFImportTests: XCTestCase {
    /// The museum's corner, and the turn of its front from east, as in `make-museum.py`.
    private static let plane = LocalTangentPlane(origin: Coordinate(latitude: 45.0712, longitude: 7.6852))
    private static let turn = 20.0

    private func museum(language: String? = nil) throws -> IMDFImport {
        try IMDFImporter(language: language).read(FixtureFolder("imdf/museum").path)
    }

    private func plan(_ name: String, of venue: Venue) throws -> ImportedPlan {
        let map = try XCTUnwrap(venue.maps.first { $0.name == name }, name)
        return try ImportedPlan(map, plane: Self.plane, turnDegrees: Self.turn)
    }

    /// The ids that the archive's files hold, by type.
    private func featureIDs() throws -> [String: [String]] {
        var ids: [String: [String]] = [:]
        for file in try FixtureFolder("imdf/museum").files(ending: ".geojson") {
            let tree = try JSONTree([UInt8](Data(contentsOf: URL(filePath: file))))
            for feature in tree["features"].values {
                ids[feature["feature_type"].text, default: []].append(feature["id"].text.lowercased())
            }
        }
        return ids
    }

    // MARK: Report

    func testASpaceThatNoPathReachesIsReported() throws {
        let imported = try museum()
        // The office is walled all around, and the garden is alone on its level.
        let (office, garden) = ("3ef5ff50", "6aebc806")
        XCTAssertFalse(imported.report.identities.contains { $0.kind == "node" && $0.id.hasPrefix(garden) })
        XCTAssertEqual(
            imported.report.remarks.filter { $0.reason.hasPrefix("no path of the path graph leads to it") }
                .map { String($0.id.prefix(8)) }, [office, garden])
    }

    func testTheReportUsesSingularOrPlural() {
        var report = IMDFReport()
        for (type, id) in [("level", "a"), ("level", "b"), ("amenity", "c"), ("amenity", "d"), ("unit", "e")] {
            report.remarks.append(.init(featureType: type, id: id, outcome: .changed, reason: "it has no name"))
        }
        report.remarks.append(.init(featureType: "archive", id: "f", outcome: .leftOut, reason: "unknown"))
        XCTAssertEqual(
            report.description.split(separator: "\n"),
            [
                "changed: 2 levels, each: it has no name (a, b)", "changed: 2 amenities, each: it has no name (c, d)",
                "changed: 1 unit: it has no name (e)", "left out: 1 file: unknown (f)",
            ])
    }

    // MARK: Maps

    func testLevelsBecomeMapsFromTheLowestUp() throws {
        let maps = try museum().venue.maps
        XCTAssertEqual(maps.map(\.name), ["Grounds", "Ground floor", "Upper floor"])
        XCTAssertEqual(maps.map(\.level), [0, 0, 1])
    }

    func testTheFloorsOfABuildingAreAligned() throws {
        let venue = try museum().venue
        let (ground, upper) = (try plan("Ground floor", of: venue), try plan("Upper floor", of: venue))
        XCTAssertEqual(ground.map.georeference, upper.map.georeference)
        XCTAssertEqual([ground.map.width, ground.map.height], [upper.map.width, upper.map.height])
        XCTAssertNotEqual(ground.map.georeference, try plan("Grounds", of: venue).map.georeference)
    }

    func testAPlanContainsItsLevelWithAMargin() throws {
        let plan = try plan("Ground floor", of: museum().venue)
        let corners = [plan.point(0, 0), plan.point(40, 0), plan.point(40, 24), plan.point(0, 24)]
        XCTAssertEqual(try XCTUnwrap(corners.map(\.x).min()), 5, accuracy: 0.1)
        XCTAssertEqual(try XCTUnwrap(corners.map(\.y).min()), 5, accuracy: 0.1)
        XCTAssertEqual(try XCTUnwrap(corners.map(\.x).max()), plan.map.width - 5, accuracy: 0.1)
        XCTAssertEqual(try XCTUnwrap(corners.map(\.y).max()), plan.map.height - 5, accuracy: 0.1)
        XCTAssertEqual(corners[0].distance(to: corners[1]), 40, accuracy: 0.01)
    }

    func testTheVenueHasItsCoordinate() throws {
        let venue = try museum().venue
        let center = Self.plane.offset(of: try XCTUnwrap(venue.coordinate))
        // Its display point is 20 m along the front and 12 m behind it.
        XCTAssertEqual((center.east * center.east + center.north * center.north).squareRoot(), 23.3, accuracy: 0.1)
        // From there to the corner of the grounds that is farthest away.
        XCTAssertEqual(try XCTUnwrap(venue.radius), 40, accuracy: 1)
        XCTAssertEqual(venue.name, "Museum of Examples")
    }

    func testTheWalkableAreaIsTheFloorWithoutItsColumns() throws {
        let venue = try museum().venue
        // 40 m by 24 m without the core of 16 m² and the column of 1 m².
        let ground = try plan("Ground floor", of: venue)
        XCTAssertEqual(ground.walkableArea, 40 * 24 - 17, accuracy: 0.2)
        XCTAssertFalse(ground.isWalkable(20, 12), "in the core")
        XCTAssertFalse(ground.isWalkable(6.5, 11.5), "in the column")
        XCTAssertTrue(ground.isWalkable(7.5, 11.5))
        let upper = try plan("Upper floor", of: venue)
        XCTAssertFalse(upper.isWalkable(20, 12), "in the air")
        XCTAssertTrue(upper.isWalkable(20, 9))
    }

    // MARK: Walls

    func testPathsLeadThroughEachDoorAndNotBesideIt() throws {
        let ground = try plan("Ground floor", of: museum().venue)
        let doors: [(name: String, x: Double, y: Double, isAlongX: Bool)] = [
            ("main door", 0, 12, false), ("emergency exit", 40, 12.5, false), ("shop", 5.6, 8, true),
            ("café", 16.5, 8, true), ("stairs", 35.7, 8, true), ("exhibition", 8, 16, true),
            ("elevator", 27.5, 16, true), ("storage", 26, 21.5, false),
        ]
        for door in doors {
            for (offset, isBlocked) in [(0.0, false), (2.0, true), (-2.0, true)] {
                let (x, y) = (door.x + (door.isAlongX ? offset : 0), door.y + (door.isAlongX ? 0 : offset))
                let (dx, dy) = door.isAlongX ? (0, 0.5) : (0.5, 0)
                // The elevator is 3 m wide: 2 m beside its door there is none of its walls.
                if door.name == "elevator", offset != 0 { continue }
                XCTAssertEqual(
                    ground.blocks((x - dx, y - dy), (x + dx, y + dy)), isBlocked, "\(door.name), \(offset) m beside it")
            }
        }
    }

    func testWallsCloseTheStaffOfficeAndNotTheRestroom() throws {
        let ground = try plan("Ground floor", of: museum().venue)
        XCTAssertTrue(ground.blocks((28, 7), (28, 9)))
        XCTAssertFalse(ground.blocks((18, 15), (18, 17)))
        XCTAssertFalse(ground.blocks((34, 15), (34, 17)), "the cloakroom is a part of the hall")
        XCTAssertTrue(ground.blocks((7, 22), (9, 22)), "the partition")
    }

    // MARK: Rooms

    func testARoomIsNamedAfterItsUnitItsOccupantOrItsCategory() throws {
        let venue = try museum().venue
        let rooms = RoomIndex(rooms: venue.rooms)
        let ground = try plan("Ground floor", of: venue)
        for (x, y, name) in [
            (3.0, 12.0, "Hall"), (6, 4, "Museum shop"), (18, 4, "Caffè Terrazzo"), (18, 20, "restroom unisex"),
            (28, 4, "Office"), (27.5, 17.5, "Elevator"), (35, 20, "Cloakroom"), (22, 20, "nonpublic"),
        ] {
            XCTAssertEqual(rooms.room(at: ground.point(x, y), on: ground.map.id)?.name, name, "\(x), \(y)")
        }
    }

    func testAUnitOfTwoPartsIsTwoRooms() throws {
        let venue = try museum().venue
        let galleries = venue.rooms.filter { $0.name == "Gallery" }
        XCTAssertEqual(galleries.count, 2)
        XCTAssertEqual(Set(galleries.map(\.id)).count, 2)
        let upper = try plan("Upper floor", of: venue)
        let rooms = RoomIndex(rooms: venue.rooms)
        XCTAssertEqual(rooms.room(at: upper.point(5, 20), on: upper.map.id)?.name, "Gallery")
        XCTAssertEqual(rooms.room(at: upper.point(20, 20), on: upper.map.id)?.name, "Gallery")
        XCTAssertNil(rooms.room(at: upper.point(15, 20), on: upper.map.id))
    }

    func testNamesAreInTheRequestedLanguageOrTheNearest() throws {
        let italian = try museum(language: "it")
        XCTAssertEqual(italian.venue.name, "Museo degli Esempi")
        XCTAssertEqual(italian.venue.maps.map(\.name), ["Grounds", "Piano terra", "Upper floor"])
        let report = italian.report.remarks.filter { $0.reason.contains("no name in the language it") }
        XCTAssertTrue(report.contains { $0.featureType == "level" })
        // "en" finds "en-GB", and "fr-CH" finds "fr".
        XCTAssertTrue(try museum(language: "en").venue.rooms.contains { $0.name == "Reading room" })
        XCTAssertTrue(try museum(language: "fr-CH").venue.rooms.contains { $0.name == "Salle de lecture" })
    }

    // MARK: Points and fences

    func testPointsOfInterestKeepTheirPositionAndProperties() throws {
        let venue = try museum().venue
        let ground = try plan("Ground floor", of: venue)
        let shop = try XCTUnwrap(venue.pointsOfInterest.first { $0.name == "Museum shop" })
        XCTAssertEqual(shop.mapID, ground.map.id)
        XCTAssertLessThan(shop.point.distance(to: ground.point(6, 4)), 0.01)
        let payload = JSONTree(try XCTUnwrap(shop.payload))
        XCTAssertEqual(payload["featureType"].text, "occupant")
        XCTAssertEqual(payload["properties"]["hours"].text, "Tu-Su 09:00-17:30")
        XCTAssertEqual(payload["properties"]["category"].text, "shopping")
        XCTAssertEqual(payload["address"]["unit"].text, "Shop")
    }

    func testEveryKindOfPointBecomesAPointOfInterest() throws {
        let venue = try museum().venue
        XCTAssertEqual(
            venue.pointsOfInterest.map(\.name).sorted(),
            [
                "Audio guides", "Caffè Terrazzo", "Exhibition", "Lift", "Lift", "Museum shop", "Postcards",
                "drinkingfountain", "restroom unisex",
            ])
        let lifts = venue.pointsOfInterest.filter { $0.name == "Lift" }
        XCTAssertEqual(Set(lifts.map(\.mapID)).count, 2, "one on each floor")
    }

    func testGeofencesAreFencesOfTheirLevels() throws {
        let venue = try museum().venue
        XCTAssertEqual(venue.fences.map(\.name).sorted(), ["Exhibition area", "Inside", "Inside"])
        let ground = try plan("Ground floor", of: venue)
        let area = try XCTUnwrap(venue.fences.first { $0.name == "Exhibition area" })
        XCTAssertEqual(area.mapID, ground.map.id)
        XCTAssertTrue(area.area.contains(ground.point(8, 20)))
        XCTAssertFalse(area.area.contains(ground.point(8, 12)))
    }

    // MARK: Numbers and account

    func testNumbersStayWhenFeaturesAreAddedAndMoved() throws {
        var archive = ArchiveUnderTest()
        archive.unit("r", "room", ArchiveUnderTest.box(0, 0, 10, 10))
        let first = try importing(archive).venue
        archive = ArchiveUnderTest()
        archive.unit("q", "room", ArchiveUnderTest.box(10, 0, 20, 10))
        archive.unit("r", "room", ArchiveUnderTest.box(0, 0, 10, 10))
        let second = try importing(archive).venue
        XCTAssertEqual(first.id, second.id)
        XCTAssertEqual(first.maps.map(\.id), second.maps.map(\.id))
        XCTAssertEqual(first.rooms.map(\.id), Array(second.rooms.map(\.id).dropFirst()))
        XCTAssertTrue((1...Int(Int32.max)).contains(first.rooms[0].id))
    }

    func testTheVenueHasTheRequestedNumberAndVersion() throws {
        let importer = IMDFImporter(venueID: 77, version: 5)
        let venue = try importer.read(FixtureFolder("imdf/museum").path).venue
        XCTAssertEqual(venue.id, 77)
        XCTAssertEqual(venue.version, 5)
    }

    func testEveryFeatureIsInThePacketOrInTheReport() throws {
        let report = try museum().report
        // A feature with an object may be changed; a feature without one must be reported as left out.
        let told = Set(report.identities.map(\.id) + report.remarks.map(\.id))
        let ids = try featureIDs()
        XCTAssertEqual(ids.count, 16, "the museum has every type of feature")
        for (type, ids) in ids where type != "address" {
            for id in ids { XCTAssertTrue(told.contains(id), "\(type) \(id)") }
        }
        XCTAssertTrue(told.contains("notes.txt"))
    }

    func testEveryNumberOfThePacketIsInTheReport() throws {
        let (venue, report) = try { ($0.venue, $0.report) }(museum())
        let numbers = Dictionary(grouping: report.identities, by: \.kind).mapValues { Set($0.map(\.number)) }
        XCTAssertEqual(numbers["map"], Set(venue.maps.map(\.id.rawValue)))
        XCTAssertEqual(numbers["room"], Set(venue.rooms.map(\.id)))
        XCTAssertEqual(numbers["poi"], Set(venue.pointsOfInterest.map(\.id)))
        XCTAssertEqual(numbers["fence"], Set(venue.fences.map(\.id)))
    }

    func testTheReportIsJSON() throws {
        let report = try museum().report
        let tree = try JSONTree(report.document())
        XCTAssertEqual(tree["remarks"].values.count, report.remarks.count)
        XCTAssertEqual(tree["identities"].values.count, report.identities.count)
    }

    // MARK: Packets

    func testAnImportedPacketHasNoProblemExceptARoomWithoutADoor() throws {
        let venue = try museum().venue
        let folder = try temporaryFolder() + "/museum"
        try VenuePacketWriter().write(venue, toFolder: folder)
        let problems = VenuePacketReader().check(folder)
        XCTAssertEqual(problems.map(\.severity), [.warning, .warning], "\(problems)")
        // An archive has no beacons.
        XCTAssertEqual(problems.first?.path, "$.beacons")
        XCTAssertTrue(try XCTUnwrap(problems.last).message.hasPrefix("no path reaches Office: a wall is in between"))
        XCTAssertEqual(try VenuePacketReader().read(folder).venue, venue)
    }

    func testAZipIsImportedLikeItsFolder() throws {
        let museum = try FixtureFolder("imdf/museum")
        for prefix in ["", "Museum/"] {
            var entries = [("__MACOSX/._manifest.json", "x")]
            for file in try museum.files() {
                let text = String(decoding: try Data(contentsOf: URL(filePath: file)), as: UTF8.self)
                entries.append((prefix + file.dropFirst(museum.path.count + 1), text))
            }
            let zip = try makeZip(entries)
            XCTAssertEqual(try IMDFImporter().read(zip).venue, try self.museum().venue, prefix)
        }
    }
}

/// What was added to a packet and comes along into that of the archive's next edition.
final class IMDFOverridesTests: XCTestCase {
    private func archive(side: Double = 30) -> ArchiveUnderTest {
        var archive = ArchiveUnderTest(side: side)
        archive.unit("r", "room", ArchiveUnderTest.box(0, 0, 10, 10))
        return archive
    }

    /// The first edition with a beacon, a radio map, a setting, a point and a fence that were added to it.
    private func furnished() throws -> Venue {
        var venue = try importing(archive()).venue
        let map = venue.maps[0].id
        let plan = try ImportedPlan(venue.maps[0])
        let identity = BeaconIdentity(
            uuid: try XCTUnwrap(BeaconUUID("0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0")), major: 1, minor: 2)
        venue.beacons = [VenueBeacon(identity: identity, mapID: map, point: plan.point(4, 6))]
        venue.radioMap = RadioMap(
            beacons: [.init(identity: identity, mapID: map, point: plan.point(4, 6), power: -60)],
            fingerprints: [
                .init(
                    mapID: map, point: plan.point(2, 3), duration: 5,
                    readings: [.init(beacon: 0, rssi: -70, count: 9, weight: 0.1)])
            ], pathLossExponent: 2)
        venue.settings = ["positionInterval": .number(1)]
        venue.pointsOfInterest.append(PointOfInterest(id: 5, name: "Own", mapID: map, point: plan.point(1, 1)))
        venue.fences.append(
            Fence(id: 6, name: "Own", mapID: map, area: .circle(center: plan.point(5, 5), radius: 2)))
        venue.interactions = [
            Interaction(id: 1, name: "Own", target: .fence(6)),
            Interaction(id: 2, name: "Guide", target: .beacon(BeaconRegion(identity))),
        ]
        venue.maps[0].elevation = 3.5
        return venue
    }

    func testManualAdditionsAreKept() throws {
        let old = try furnished()
        var imported = try importing(archive())
        let overrides = try imported.keepOverrides(of: old)
        XCTAssertEqual(imported.venue, old)
        XCTAssertEqual(
            overrides.kept,
            ["1 beacon", "the radio map", "1 setting", "1 point of interest", "1 fence", "2 interactions"])
        XCTAssertEqual(overrides.lost, [])
    }

    func testABeaconKeepsTheKindOfItsName() throws {
        var old = try furnished()
        let address = try XCTUnwrap(DeviceAddress("C4:7C:8D:00:01:01"))
        let point = old.beacons[0].point
        old.beacons[0].naming = .altBeacon
        old.beacons.append(VenueBeacon(address: address, mapID: old.maps[0].id, point: point))
        old.interactions.append(
            Interaction(id: 3, name: "Tag", target: .beacon(BeaconRegion(BeaconIdentity(address: address)))))
        var imported = try importing(archive())
        let overrides = try imported.keepOverrides(of: old)
        XCTAssertEqual(imported.venue.beacons, old.beacons)
        XCTAssertEqual(imported.venue.interactions, old.interactions)
        XCTAssertEqual(overrides.kept.first, "2 beacons")
        let folder = try temporaryFolder()
        try VenuePacketWriter().write(imported.venue, toFolder: folder)
        XCTAssertEqual(try VenuePacketReader().read(folder).venue.beacons.map(\.naming), [.altBeacon, .address])
    }

    func testManualAdditionsKeepTheirCoordinatesWhenThePlanGrows() throws {
        var imported = try importing(archive(side: 60))
        _ = try imported.keepOverrides(of: furnished())
        let plan = try ImportedPlan(imported.venue.maps[0])
        XCTAssertNotEqual(imported.venue.maps[0].width, try furnished().maps[0].width)
        let radioMap = try XCTUnwrap(imported.venue.radioMap)
        let point = try XCTUnwrap(imported.venue.pointsOfInterest.last)
        for (point, place) in [
            (imported.venue.beacons[0].point, plan.point(4, 6)), (radioMap.beacons[0].point, plan.point(4, 6)),
            (radioMap.fingerprints[0].point, plan.point(2, 3)), (point.point, plan.point(1, 1)),
        ] {
            XCTAssertEqual(point.distance(to: place), 0, accuracy: 0.005)
        }
        guard case .circle(let center, 2) = imported.venue.fences[0].area else { return XCTFail("no circle") }
        XCTAssertEqual(center.distance(to: plan.point(5, 5)), 0, accuracy: 0.005)
    }

    func testALostInteractionIsReported() throws {
        var old = try furnished()
        old.interactions.append(Interaction(id: 3, name: "Lost", target: .room(987_654)))
        var imported = try importing(archive())
        let overrides = try imported.keepOverrides(of: old)
        XCTAssertEqual(imported.venue.interactions.map(\.id), [1, 2])
        XCTAssertTrue(overrides.lost.contains("1 interaction whose place was removed"), "\(overrides.lost)")
    }

    func testAPlanThatHasNotMovedKeepsItsImage() throws {
        var old = try furnished()
        old.maps[0].imagePath = "plan.png"
        old.maps[0].widthPixels = 400
        old.maps[0].heightPixels = 400
        var same = try importing(archive())
        XCTAssertTrue(try same.keepOverrides(of: old).kept.contains("1 plan image"))
        XCTAssertEqual(same.venue.maps[0].imagePath, "plan.png")
        var larger = try importing(archive(side: 60))
        let overrides = try larger.keepOverrides(of: old)
        XCTAssertNil(larger.venue.maps[0].imagePath)
        XCTAssertTrue(overrides.lost.contains { $0.contains("the image of map") }, "\(overrides.lost)")
    }

    func testLostObjectsOfARemovedLevelAreReported() throws {
        var old = try furnished()
        var cellar = old.maps[0]
        cellar.id = 77
        old.maps.append(cellar)
        var beacon = old.beacons[0]
        beacon.mapID = 77
        old.beacons.append(beacon)
        old.rooms.append(Room(id: 9, name: "Cellar", mapID: 77))
        var imported = try importing(archive())
        let overrides = try imported.keepOverrides(of: old)
        XCTAssertEqual(imported.venue.beacons.count, 1)
        XCTAssertEqual(
            overrides.lost,
            [
                "1 beacon on maps that the archive no longer has",
                "room 9 (Cellar), which the archive does not have",
            ])
    }

    func testPointsOfAnArchiveAreNotKept() throws {
        var first = archive()
        first.add("amenity", "a", "Point", ArchiveUnderTest.position((2, 2)), #""category": "exit", "unit_ids": ["r"]"#)
        let old = try importing(first).venue
        XCTAssertEqual(old.pointsOfInterest.count, 1)
        var imported = try importing(archive())
        XCTAssertEqual(try imported.keepOverrides(of: old).kept, [])
        XCTAssertEqual(imported.venue.pointsOfInterest, [])
    }

    func testAPacketOfAnotherVenueIsRefused() throws {
        var imported = try importing(archive())
        let office = try VenuePacketReader().read(FixtureFolder("office").path).venue
        XCTAssertThrowsError(try imported.keepOverrides(of: office)) { error in
            XCTAssertEqual(error as? IMDFOverridesError, .noCommonMap(office.id))
            let text = "\(error)"
            XCTAssertTrue(text.contains("venue \(office.id) ") && text.contains("an earlier edition"), text)
        }
    }

    func testAMapWithAWrongGeoreferenceIsRefused() throws {
        var old = try furnished()
        old.maps[0].georeference = .center(Coordinate(latitude: 95, longitude: 0), bearing: 0)
        var imported = try importing(archive())
        XCTAssertThrowsError(try imported.keepOverrides(of: old)) { error in
            XCTAssertEqual(error as? IMDFOverridesError, .noPlace(old.maps[0].id))
        }
    }

    func testAMapWithoutAGeoreferenceIsRefused() throws {
        var old = try furnished()
        old.maps[0].georeference = nil
        var imported = try importing(archive())
        XCTAssertThrowsError(try imported.keepOverrides(of: old)) { error in
            XCTAssertEqual(error as? IMDFOverridesError, .noPlace(old.maps[0].id))
            let text = "\(error)"
            XCTAssertTrue(text.contains("map \(old.maps[0].id) ") && text.contains("venue.json"), text)
        }
    }
}
