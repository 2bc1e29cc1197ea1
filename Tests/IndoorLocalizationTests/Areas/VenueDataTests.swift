import IndoorLocalization
import XCTest

final class VenueDataTests: XCTestCase {
    private func node(_ id: Int, _ map: MapID, _ x: Double, _ y: Double = 0) -> PathGraph.Node {
        PathGraph.Node(id: id, mapID: map, point: MapPoint(x: x, y: y))
    }

    private func poi(_ id: Int, _ map: MapID, _ x: Double, _ y: Double = 0) -> PointOfInterest {
        PointOfInterest(id: id, name: "poi \(id)", mapID: map, point: MapPoint(x: x, y: y))
    }

    /// Two floors: nodes 1–2 on map 1 are joined to 3 on map 2; one can go from 2 to 4, not back; far off, 5–6 are alone.
    private var venue: Venue {
        let graph = PathGraph(
            nodes: [node(1, 1, 0), node(2, 1, 10), node(3, 2, 10), node(4, 1, 20), node(5, 1, 100), node(6, 1, 110)],
            edges: [
                PathGraph.Edge(from: 1, to: 2), PathGraph.Edge(from: 3, to: 2, kind: .stairs),
                PathGraph.Edge(from: 2, to: 4, isOneWay: true), PathGraph.Edge(from: 4, to: 99),
                PathGraph.Edge(from: 5, to: 6),
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
            pointsOfInterest: [poi(1, 1, 1, 3), poi(2, 2, 9), poi(3, 1, 21), poi(4, 1, 101), poi(5, 3, 10)],
            fences: [Fence(id: 7, name: "f", mapID: 2, area: .circle(center: MapPoint(x: 0, y: 0), radius: 1))],
            paths: graph)
    }

    func testFeaturesAreFoundByTheirMap() {
        XCTAssertEqual(venue.rooms(on: 1).map(\.id), [1])
        XCTAssertEqual(venue.fences(on: 2).map(\.id), [7])
        XCTAssertEqual(venue.fences(on: 1), [])
        XCTAssertEqual(venue.beacons(on: 1), venue.beacons)
        XCTAssertEqual(venue.pointsOfInterest(on: 1).map(\.id), [1, 3, 4])
        XCTAssertEqual(venue.pathNodes(on: 1).map(\.id), [1, 2, 4, 5, 6])
        XCTAssertEqual(venue.controlPoints(on: 1).count, 1)
        XCTAssertEqual(venue.controlPoints(on: 2), [], "it is fixed by its centre")
        XCTAssertEqual(venue.controlPoints(on: 3), [])
    }

    func testAnUnknownMapHasNoContent() {
        XCTAssertEqual(venue.rooms(on: 9), [])
        XCTAssertEqual(venue.fences(on: 9), [])
        XCTAssertEqual(venue.beacons(on: 9), [])
        XCTAssertEqual(venue.pointsOfInterest(on: 9), [])
        XCTAssertEqual(venue.pathNodes(on: 9), [])
        XCTAssertEqual(venue.controlPoints(on: 9), [])
        XCTAssertEqual(venue.reachablePointsOfInterest(from: 9), [])
        XCTAssertEqual(venue.reachablePointsOfInterest(from: MapPoint(x: 0, y: 0), on: 9), [])
    }

    func testAPlaceIsReachableIfARouteEndsThere() {
        func reachable(_ x: Double, _ map: MapID, _ options: RouteOptions = RouteOptions()) -> [Int] {
            venue.reachablePointsOfInterest(from: MapPoint(x: x, y: 1), on: map, options).map(\.id)
        }
        XCTAssertEqual(reachable(2, 1), [1, 2, 3], "both floors, and along the one-way")
        XCTAssertEqual(reachable(2, 1, .accessible), [1, 3], "no stairs")
        XCTAssertEqual(reachable(30, 2), [1, 2, 3], "from the other floor")
        XCTAssertEqual(reachable(19, 1), [3], "not back along the one-way")
        XCTAssertEqual(reachable(102, 1), [4], "the part that is alone")
        XCTAssertEqual(reachable(60, 1), [], "too far from all ways")
        XCTAssertEqual(reachable(10, 3), [], "a map without ways")
    }

    func testAPlaceIsReachableFromAMapIfARouteCanBeginAnywhereOnIt() {
        XCTAssertEqual(venue.reachablePointsOfInterest(from: 1).map(\.id), [1, 2, 3, 4])
        XCTAssertEqual(venue.reachablePointsOfInterest(from: 1, .accessible).map(\.id), [1, 3, 4])
        XCTAssertEqual(venue.reachablePointsOfInterest(from: 2).map(\.id), [1, 2, 3])
        XCTAssertEqual(venue.reachablePointsOfInterest(from: 2, .accessible), [], "it has stairs only")
        XCTAssertEqual(venue.reachablePointsOfInterest(from: 3), [])
    }

    func testWithoutAGraphNothingIsReachable() {
        var venue = venue
        venue.paths = nil
        XCTAssertEqual(venue.reachablePointsOfInterest(from: 1), [])
        XCTAssertEqual(venue.reachablePointsOfInterest(from: MapPoint(x: 0, y: 0), on: 1), [])
        XCTAssertEqual(venue.pathNodes(on: 1), [])
    }

    func testAPlaceIsReachableIfThePlannerFindsARoute() {
        let excluded: [RouteOptions] = [RouteOptions(), .accessible]
        for seed in UInt64(1)...8 {
            print("seed \(seed)")
            var random = RandomAreas(seed: seed)
            let venue = scattered(&random)
            var planner = RoutePlanner(venue: venue)
            var (found, missed) = (0, 0)
            for turn in 0..<20 {
                let start = RoutePoint(
                    mapID: turn % 2 == 0 ? 1 : 2,
                    point: MapPoint(x: random.number(-10...110), y: random.number(-10...110)))
                let options = excluded[turn % 3 == 0 ? 1 : 0]
                let reachable = venue.reachablePointsOfInterest(from: start.point, on: start.mapID, options)
                let routed = venue.pointsOfInterest.filter {
                    (try? planner.route(from: start, to: RoutePoint($0), options)) != nil
                }
                XCTAssertEqual(reachable, routed, "from \(start), seed \(seed)")
                found += routed.count
                missed += venue.pointsOfInterest.count - routed.count
            }
            XCTAssertGreaterThan(min(found, missed), 10, "seed \(seed)")
        }
    }

    /// Short ways of all kinds, many in one direction only, in parts that hang together loosely.
    private func scattered(_ random: inout RandomAreas) -> Venue {
        var nodes: [PathGraph.Node] = []
        for id in 0..<120 {
            nodes.append(node(id, id % 2 == 0 ? 1 : 2, random.number(0...100), random.number(0...100)))
        }
        let edges = (0..<110).map { _ in
            PathGraph.Edge(
                from: Int.random(in: 0..<120, using: &random.generator),
                to: Int.random(in: 0..<120, using: &random.generator),
                kind: PathGraph.Edge.Kind.allCases.randomElement(using: &random.generator) ?? .walk,
                isOneWay: Bool.random(using: &random.generator))
        }
        return Venue(
            id: 1, name: "field",
            maps: [1, 2].map { VenueMap(id: $0, name: "a", level: $0.rawValue, width: 100, height: 100) },
            pointsOfInterest: (0..<25).map {
                poi($0, $0 % 2 == 0 ? 1 : 2, random.number(0...100), random.number(0...100))
            },
            paths: PathGraph(nodes: nodes, edges: edges))
    }
}
