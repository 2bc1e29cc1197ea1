import IndoorLocalization
import VenuePackets
import XCTest

/// Rooms and points of interest that no path reaches are warned of.
final class UnreachedPlaceTests: XCTestCase {
    private static func box(_ x: Double, _ y: Double, _ width: Double, _ height: Double) -> Area {
        .polygon([
            MapPoint(x: x, y: y), MapPoint(x: x + width, y: y), MapPoint(x: x + width, y: y + height),
            MapPoint(x: x, y: y + height),
        ])
    }

    private static func node(_ id: Int, _ map: MapID, _ x: Double, _ y: Double) -> PathGraph.Node {
        PathGraph.Node(id: id, mapID: map, point: MapPoint(x: x, y: y))
    }

    /// A corridor on map 1 with a branch, joined to map 2 by stairs, and a way of its own in a corner; map 3 has no ways.
    private static let venue: Venue = {
        var ground = VenueMap(id: 1, name: "ground", level: 0, width: 40, height: 20)
        // The vault has no door.
        let corners = [(0.0, 0.0), (10, 0), (10, 10), (0, 10), (0, 0)]
        ground.walls = [corners.map { MapPoint(x: $0.0, y: $0.1) }]
        var venue = Venue(
            id: 1, name: "House", version: 1,
            maps: [
                ground, VenueMap(id: 2, name: "first", level: 1, width: 100, height: 100),
                VenueMap(id: 3, name: "second", level: 2, width: 40, height: 20),
            ])
        venue.paths = PathGraph(
            nodes: [
                node(1, 1, 5, 15), node(2, 1, 25, 15), node(3, 1, 25, 5), node(4, 1, 35, 15), node(10, 2, 1, 1),
                node(11, 2, 5, 1), node(20, 1, 33, 3), node(21, 1, 38, 3),
            ],
            edges: [(1, 2), (2, 3), (2, 4), (10, 11), (20, 21)].map { PathGraph.Edge(from: $0, to: $1) }
                + [PathGraph.Edge(from: 4, to: 10, kind: .stairs)])
        return venue
    }()

    private func problems(_ change: (inout Venue) -> Void) throws -> [String] {
        var venue = Self.venue
        change(&venue)
        let folder = try temporaryFolder()
        try VenuePacketWriter().write(venue, toFolder: folder + "/packet")
        return VenuePacketReader().check(folder + "/packet").filter { $0.path != "$.beacons" }.map(\.description)
    }

    private func problems(ofRoom area: Area?, on map: MapID = 1) throws -> [String] {
        try problems { $0.rooms = [Room(id: 1, name: "Room", mapID: map, area: area)] }
    }

    private func problems(ofPointAt x: Double, _ y: Double, on map: MapID = 1) throws -> [String] {
        try problems {
            $0.pointsOfInterest = [PointOfInterest(id: 1, name: "Desk", mapID: map, point: MapPoint(x: x, y: y))]
        }
    }

    func testAPathReachesARoomThatItEntersCrossesOrPassesInSight() throws {
        for area in [
            Self.box(22, 2, 6, 6), Self.box(10, 14, 2, 2), Self.box(12, 16, 4, 3),
            .circle(center: MapPoint(x: 30, y: 15.5), radius: 1),
        ] {
            XCTAssertEqual(try problems(ofRoom: area), [], "\(area)")
        }
    }

    func testARoomWithoutADoorIsReported() throws {
        XCTAssertEqual(
            try problems(ofRoom: Self.box(0.5, 0.5, 9, 9)),
            [
                "warning: $.rooms[0]: no path reaches Room: a wall is in between; add one through the door, or open "
                    + "the wall there"
            ])
        XCTAssertEqual(try problems(ofPointAt: 5, 5).count, 1)
    }

    func testARoomWhosePathsAreNotConnectedIsReported() throws {
        let told = try problems(ofRoom: Self.box(32, 1, 7, 4))
        XCTAssertEqual(
            told,
            [
                "warning: $.rooms[0]: no path reaches Room: the paths near it are not connected to the others; add an "
                    + "edge that connects them"
            ])
        XCTAssertEqual(try problems(ofPointAt: 36, 4).count, 1)
    }

    func testAPlaceFarFromAllPathsIsReported() throws {
        XCTAssertEqual(
            try problems(ofPointAt: 90, 90, on: 2),
            [
                "warning: $.pois[0]: no path reaches Desk: its map has none within 30 m; add one that leads "
                    + "there"
            ])
        XCTAssertEqual(try problems(ofRoom: Self.box(80, 80, 9, 9), on: 2).count, 1)
        XCTAssertEqual(try problems(ofPointAt: 20, 1, on: 2), [], "the stairs lead there")
    }

    func testAMapWithoutPathsAndARoomWithoutAShapeAreNotChecked() throws {
        XCTAssertEqual(try problems(ofPointAt: 5, 5, on: 3), [])
        XCTAssertEqual(try problems(ofRoom: nil), [])
        let told = try problems { venue in
            venue.paths = nil
            venue.rooms = [Room(id: 1, name: "Vault", mapID: 1, area: Self.box(0.5, 0.5, 9, 9))]
        }
        XCTAssertEqual(told, [])
    }
}
