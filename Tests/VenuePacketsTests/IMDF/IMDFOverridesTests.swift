import FoundationEssentials
import IndoorLocalization
import IndoorLocalizationTesting
import VenuePackets
import XCTest

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
