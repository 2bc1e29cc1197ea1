import IndoorLocalization
import VenueModel
import XCTest

/// What counts as inside of a building, on plans with a garden around it.
final class MapInteriorTests: XCTestCase {
    private static func rectangle(_ x: ClosedRange<Double>, _ y: ClosedRange<Double>) -> [MapPoint] {
        [
            MapPoint(x: x.lowerBound, y: y.lowerBound), MapPoint(x: x.upperBound, y: y.lowerBound),
            MapPoint(x: x.upperBound, y: y.upperBound), MapPoint(x: x.lowerBound, y: y.upperBound),
        ]
    }

    /// The outer walls of a house at 8…22 × 6…14 m on a plan of 30 × 20 m, with a door of 1 m in the north and the south.
    private static let house: [[MapPoint]] = [
        [
            MapPoint(x: 14.5, y: 6), MapPoint(x: 8, y: 6), MapPoint(x: 8, y: 14), MapPoint(x: 14.5, y: 14),
        ],
        [
            MapPoint(x: 15.5, y: 6), MapPoint(x: 22, y: 6), MapPoint(x: 22, y: 14), MapPoint(x: 15.5, y: 14),
        ],
    ]
    private static let (inHouse, inGarden) = (
        [MapPoint(x: 9, y: 7), MapPoint(x: 15, y: 10), MapPoint(x: 21, y: 13), MapPoint(x: 15, y: 7)],
        [MapPoint(x: 3, y: 10), MapPoint(x: 15, y: 3), MapPoint(x: 15, y: 17), MapPoint(x: 28, y: 18)]
    )

    private func assert(
        _ venue: Venue, inside: [MapPoint], outside: [MapPoint], line: UInt = #line
    ) {
        let interior = MapInterior(of: venue.maps[0], in: venue)
        XCTAssertTrue(interior.isKnown, line: line)
        for point in inside { XCTAssertTrue(interior.contains(point), "\(point)", line: line) }
        for point in outside { XCTAssertFalse(interior.contains(point), "\(point)", line: line) }
    }

    func testWallsWithDoorsEncloseAHouse() {
        assert(CoverageHall.venue(beacons: [], walls: Self.house), inside: Self.inHouse, outside: Self.inGarden)
    }

    func testRoomsEncloseTheCorridorBetweenThem() {
        var venue = CoverageHall.venue(beacons: [])
        for (index, x) in [8...12.0, 13...17, 18...22].enumerated() {
            for (row, y) in [6...9.0, 11...14].enumerated() {
                venue.rooms.append(
                    Room(
                        id: 2 * index + row, name: "Room", mapID: CoverageHall.map,
                        area: .polygon(Self.rectangle(x, y))))
            }
        }
        let corridor = [MapPoint(x: 9.5, y: 10), MapPoint(x: 15, y: 10), MapPoint(x: 20.5, y: 10)]
        assert(venue, inside: corridor + [MapPoint(x: 10, y: 7)], outside: Self.inGarden)
    }

    /// The plan ends at the outer walls, which aren't described.
    func testAPlanWithoutMarginIsInsideUpToItsEdges() {
        let partitions = [
            [MapPoint(x: 10, y: 0), MapPoint(x: 10, y: 12)], [MapPoint(x: 20, y: 20), MapPoint(x: 20, y: 8)],
            [MapPoint(x: 0, y: 12), MapPoint(x: 8, y: 12)], [MapPoint(x: 30, y: 8), MapPoint(x: 22, y: 8)],
        ]
        assert(
            CoverageHall.venue(beacons: [], walls: partitions),
            inside: Self.inHouse + Self.inGarden + [MapPoint(x: 0.5, y: 0.5), MapPoint(x: 29.5, y: 19.5)], outside: [])
    }

    func testTheNotchOfAnAngledBuildingIsOutside() {
        let angle = [
            MapPoint(x: 4, y: 4), MapPoint(x: 26, y: 4), MapPoint(x: 26, y: 9), MapPoint(x: 11, y: 9),
            MapPoint(x: 11, y: 17), MapPoint(x: 4, y: 17), MapPoint(x: 4, y: 4),
        ]
        assert(
            CoverageHall.venue(beacons: [], walls: [angle]), inside: [MapPoint(x: 7, y: 15), MapPoint(x: 24, y: 6)],
            outside: [MapPoint(x: 20, y: 14), MapPoint(x: 13, y: 11)])
    }

    func testWalkableAreasAloneCountWhereTheyExist() {
        let garden = Self.rectangle(1...5, 8...12)
        assert(
            CoverageHall.venue(beacons: [], walls: Self.house, walkable: [garden]),
            inside: [MapPoint(x: 3, y: 10)], outside: [MapPoint(x: 15, y: 10)])
    }

    func testSurveyedPlacesAreInside() {
        let place = RadioMap.Fingerprint(
            mapID: CoverageHall.map, point: MapPoint(x: 25, y: 17), duration: 1, readings: [])
        let map = RadioMap(beacons: [], fingerprints: [place], pathLossExponent: 2)
        assert(
            CoverageHall.venue(beacons: [], walls: Self.house, radioMap: map),
            inside: Self.inHouse + [MapPoint(x: 26, y: 18)], outside: Array(Self.inGarden.prefix(3)))
    }

    /// One room of many is described, and the beacons are everywhere.
    func testTheWholePlanCountsIfManyBeaconsWouldBeOutside() {
        var venue = CoverageHall.venue(beacons: CoverageHall.lattice(columns: 3, rows: 2))
        venue.rooms = [
            Room(id: 1, name: "Store", mapID: CoverageHall.map, area: .polygon(Self.rectangle(1...4, 1...4)))
        ]
        XCTAssertFalse(MapInterior(of: venue.maps[0], in: venue).isKnown)
        XCTAssertTrue(MapInterior(of: venue.maps[0], in: venue).contains(MapPoint(x: 20, y: 10)))
    }

    func testNothingIsKnownOfAPlanWithoutRoomsAndWalls() {
        var venue = CoverageHall.venue(beacons: [])
        XCTAssertEqual(MapInterior.unknown(in: venue), [], "a map without an image has no margin")
        venue.maps[0].imagePath = "plan.png"
        XCTAssertEqual(MapInterior.unknown(in: venue).map(\.id), [CoverageHall.map])
        venue.maps[0].walls = Self.house
        XCTAssertEqual(MapInterior.unknown(in: venue), [])
    }

    func testBeaconsAreProposedInTheHouseOnly() {
        let venue = CoverageHall.venue(beacons: [MapPoint(x: 15, y: 10)], walls: Self.house)
        let analysis = CoverageAnalysis(venue: venue)
        let proposals = analysis.proposedBeacons(count: 6)
        XCTAssertEqual(proposals.count, 6)
        for proposal in proposals {
            XCTAssertTrue(
                (8...22).contains(proposal.point.x) && (6...14).contains(proposal.point.y), "\(proposal.point)")
        }
        let grid = analysis.expectedErrors(on: CoverageHall.map)
        XCTAssertNotNil(grid?.error(at: MapPoint(x: 9, y: 13)))
        XCTAssertNil(grid?.error(at: MapPoint(x: 3, y: 3)))
    }

    func testAGardenIsNoGapOfASurvey() {
        let venue = CoverageHall.venue(beacons: [], walls: Self.house)
        let gaps = venue.surveyGaps(around: [CoverageHall.map: [MapPoint(x: 10, y: 10)]])
        XCTAssertEqual(gaps.count, 1)
        XCTAssertGreaterThan(gaps.first?.point.x ?? 0, 15)
        XCTAssertLessThan(gaps.first?.area ?? 1000, 14 * 8)
    }
}
