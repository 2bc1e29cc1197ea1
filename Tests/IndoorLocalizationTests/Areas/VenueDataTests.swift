import IndoorLocalization
import XCTest

final class VenueDataTests: XCTestCase {
    private func node(_ id: Int, _ map: MapID, _ x: Double, _ y: Double = 0) -> PathGraph.Node {
        PathGraph.Node(id: id, mapID: map, point: MapPoint(x: x, y: y))
    }

    private func poi(_ id: Int, _ map: MapID, _ x: Double, _ y: Double = 0) -> PointOfInterest {
        PointOfInterest(id: id, name: "poi \(id)", mapID: map, point: MapPoint(x: x, y: y))
    }

    /// Two floors: nodes 1–2 on map 1 are joined to 3 on map 2; one can go from 2 down to 4, not back; 5 is alone.
    private var venue: Venue {
        let graph = PathGraph(
            nodes: [node(1, 1, 0), node(2, 1, 10), node(3, 2, 10), node(4, 1, 20), node(5, 1, 40)],
            edges: [
                PathGraph.Edge(from: 1, to: 2), PathGraph.Edge(from: 3, to: 2, kind: .stairs),
                PathGraph.Edge(from: 2, to: 4, isOneWay: true), PathGraph.Edge(from: 4, to: 99),
            ])
        let point = Georeference.ControlPoint(
            point: MapPoint(x: 0, y: 0), coordinate: Coordinate(latitude: 1, longitude: 1))
        return Venue(
            id: 1, name: "house",
            maps: [
                VenueMap(id: 1, name: "0", level: 0, width: 50, height: 5, georeference: .controlPoints([point])),
                VenueMap(
                    id: 2, name: "1", level: 1, width: 50, height: 5,
                    georeference: .center(Coordinate(latitude: 1, longitude: 1), bearing: 0)),
                VenueMap(id: 3, name: "2", level: 2, width: 50, height: 5),
            ],
            beacons: [
                VenueBeacon(
                    identity: BeaconIdentity(uuid: BeaconUUID(high: 1, low: 1), major: 1, minor: 1), mapID: 1,
                    point: MapPoint(x: 1, y: 1))
            ],
            rooms: [Room(id: 1, name: "a", mapID: 1), Room(id: 2, name: "b", mapID: 2)],
            pointsOfInterest: [poi(1, 1, 1, 3), poi(2, 2, 9), poi(3, 1, 21), poi(4, 1, 41), poi(5, 3, 10)],
            fences: [Fence(id: 7, name: "f", mapID: 2, area: .circle(center: MapPoint(x: 0, y: 0), radius: 1))],
            paths: graph)
    }

    func testFeaturesAreFoundByTheirMap() {
        XCTAssertEqual(venue.rooms(on: 1).map(\.id), [1])
        XCTAssertEqual(venue.fences(on: 2).map(\.id), [7])
        XCTAssertEqual(venue.fences(on: 1), [])
        XCTAssertEqual(venue.beacons(on: 1), venue.beacons)
        XCTAssertEqual(venue.pointsOfInterest(on: 1).map(\.id), [1, 3, 4])
        XCTAssertEqual(venue.pathNodes(on: 1).map(\.id), [1, 2, 4, 5])
        XCTAssertEqual(venue.controlPoints(on: 1).count, 1)
        XCTAssertEqual(venue.controlPoints(on: 2), [], "it is fixed by its centre")
        XCTAssertEqual(venue.controlPoints(on: 3), [])
    }

    func testAnUnknownMapHoldsNothing() {
        XCTAssertEqual(venue.rooms(on: 9), [])
        XCTAssertEqual(venue.fences(on: 9), [])
        XCTAssertEqual(venue.beacons(on: 9), [])
        XCTAssertEqual(venue.pointsOfInterest(on: 9), [])
        XCTAssertEqual(venue.pathNodes(on: 9), [])
        XCTAssertEqual(venue.controlPoints(on: 9), [])
        XCTAssertEqual(venue.reachablePointsOfInterest(from: 9), [])
        XCTAssertEqual(venue.reachablePointsOfInterest(from: MapPoint(x: 0, y: 0), on: 9), [])
    }

    func testReachableIsWhatCanBeWalkedToFromTheNearestNode() {
        func reachable(_ x: Double, _ map: MapID) -> [Int] {
            venue.reachablePointsOfInterest(from: MapPoint(x: x, y: 1), on: map).map(\.id)
        }
        XCTAssertEqual(reachable(2, 1), [1, 2, 3], "both floors, and down the one-way")
        XCTAssertEqual(reachable(30, 2), [1, 2, 3], "from the other floor")
        XCTAssertEqual(reachable(19, 1), [3], "not back up the one-way")
        XCTAssertEqual(reachable(45, 1), [4], "the node that is alone")
        XCTAssertEqual(reachable(10, 3), [], "a map without nodes")
    }

    func testReachableFromAMapIsWhatCanBeWalkedToFromAnywhereOnIt() {
        XCTAssertEqual(venue.reachablePointsOfInterest(from: 1).map(\.id), [1, 2, 3, 4])
        XCTAssertEqual(venue.reachablePointsOfInterest(from: 2).map(\.id), [1, 2, 3])
        XCTAssertEqual(venue.reachablePointsOfInterest(from: 3), [])
    }

    func testWithoutAGraphNothingIsReachable() {
        var venue = venue
        venue.paths = nil
        XCTAssertEqual(venue.reachablePointsOfInterest(from: 1), [])
        XCTAssertEqual(venue.reachablePointsOfInterest(from: MapPoint(x: 0, y: 0), on: 1), [])
        XCTAssertEqual(venue.pathNodes(on: 1), [])
    }

    func testNodesBeyondAnEdgeWithoutAnEndAreNotMadeUp() {
        XCTAssertEqual(venue.paths?.nodes(reachableFrom: [4, 77]), [4])
        XCTAssertEqual(venue.paths?.nodes(reachableFrom: []), [])
    }

    func testTheNearestOfManyNodesCounts() {
        // Each node has a point of interest of its own at its place, and no edges: reachable is the nearest node's.
        let seed: UInt64 = 9
        print("seed \(seed)")
        var random = RandomAreas(seed: seed)
        let places = (0..<300).map { _ in
            MapPoint(x: random.number(0...50).rounded(), y: random.number(0...200))
        }
        let venue = Venue(
            id: 1, name: "field", maps: [],
            pointsOfInterest: places.enumerated().map { poi($0, 1, $1.x, $1.y) },
            paths: PathGraph(nodes: places.enumerated().map { node($0, 1, $1.x, $1.y) }, edges: []))
        for _ in 0..<100 {
            let point = MapPoint(x: random.number(-10...60), y: random.number(-10...210))
            let nearest = places.indices.min { places[$0].distance(to: point) < places[$1].distance(to: point) }
            XCTAssertEqual(
                venue.reachablePointsOfInterest(from: point, on: 1).map(\.id), nearest.map { [$0] },
                "\(point), seed \(seed)")
        }
    }
}
