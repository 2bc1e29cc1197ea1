import Foundation
import IndoorLocalization
import XCTest

final class VenueAreaTests: XCTestCase {
    func testSimplePolygonsHaveNoDefect() {
        let polygons: [String: [MapPoint]] = [
            "triangle": points((0, 0), (1, 0), (0, 1)),
            "square, other way round": points((0, 0), (0, 1), (1, 1), (1, 0)),
            "first corner repeated": points((0, 0), (1, 0), (0, 1), (0, 0)),
            "corner given twice": points((0, 0), (1, 0), (1, 0), (0, 1)),
            "corner on a straight edge": points((0, 0), (1, 0), (2, 0), (2, 2), (0, 2)),
            "letter U": points((0, 0), (3, 0), (3, 3), (2, 3), (2, 1), (1, 1), (1, 3), (0, 3)),
            "far away": points((1e6, 1e6), (1e6 + 1, 1e6), (1e6, 1e6 + 1)),
        ]
        for (name, polygon) in polygons { XCTAssertNil(PolygonDefect(in: polygon), name) }
    }

    func testADefectivePolygonReportsItsDefect() {
        let cases: [(String, [MapPoint], PolygonDefect)] = [
            ("nothing", [], .tooFewCorners),
            ("one corner", points((1, 1)), .tooFewCorners),
            ("two corners, three times", points((0, 0), (1, 0), (0, 0), (1, 0), (0, 0), (1, 0)), .tooFewCorners),
            ("a line", points((0.1, 0.1), (0.2, 0.2), (0.3, 0.3)), .noArea),
            ("half a millimetre", points((0, 0), (10, 0.0005), (20, 0)), .noArea),
            ("bow tie", points((0, 0), (4, 4), (4, 0), (0, 4)), .edgesMeet(0, 2)),
            ("crossing through a corner", points((0, 0), (2, 2), (4, 4), (4, 0), (2, 2), (0, 4)), .edgesMeet(0, 3)),
            ("corner on an edge", points((0, 0), (6, 0), (6, 2), (3, 0), (0, 2)), .edgesMeet(0, 2)),
            ("spike", points((0, 0), (4, 0), (4, 4), (4, 8), (4, 4), (0, 4)), .edgesMeet(2, 3)),
            ("spike at the end", points((0, 0), (4, 0), (4, 4), (1, 0)), .edgesMeet(0, 3)),
        ]
        for (name, polygon, expected) in cases {
            let defect = PolygonDefect(in: polygon)
            if case .edgesMeet = expected {
                guard case .edgesMeet = defect else { return XCTFail("\(name): \(String(describing: defect))") }
            } else {
                XCTAssertEqual(defect, expected, name)
            }
        }
        XCTAssertEqual(PolygonDefect(in: points((0, 0), (4, 4), (4, 0), (0, 4))), .edgesMeet(0, 2))
    }

    func testACrossingIsFoundWhereverTheRingBegins() {
        let bowTie = points((0, 0), (4, 4), (4, 0), (0, 4), (-1, 2))
        for start in bowTie.indices {
            let turned = Array(bowTie[start...] + bowTie[..<start])
            for (corners, way) in [(turned, "forwards"), (turned.reversed(), "backwards")] {
                guard case .edgesMeet(let first, let second) = PolygonDefect(in: corners) else {
                    XCTFail("from corner \(start), \(way)")
                    continue
                }
                let edges = Set([first, second].map { Set([corners[$0], corners[($0 + 1) % corners.count]]) })
                XCTAssertEqual(edges.count, 2, "from corner \(start), \(way): \(edges)")
            }
        }
    }

    func testSwappingTwoCornersOfAConvexPolygonMakesItCross() {
        let seed: UInt64 = 12
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        for count in 4...40 {
            // Corners on a parabola and back along its chord are convex.
            var polygon = (0..<count).map { MapPoint(x: Double($0), y: Double($0 * $0)) }
            XCTAssertNil(PolygonDefect(in: polygon), "\(count) corners")
            let first = Int.random(in: 0..<count - 2, using: &random)
            polygon.swapAt(first, first + 1)
            XCTAssertNotNil(PolygonDefect(in: polygon), "\(count) corners, \(first) swapped with the next")
        }
    }

    func testTheSizeOfAnAreaIsCorrect() {
        XCTAssertEqual(Area.circle(center: MapPoint(x: 1, y: 1), radius: 2).squareMeters, 4 * .pi, accuracy: 1e-12)
        let room = points((1e6, 1e6), (1e6 + 4, 1e6), (1e6 + 4, 1e6 + 3), (1e6, 1e6 + 3))
        XCTAssertEqual(Area.polygon(room).squareMeters, 12, accuracy: 1e-6)
        XCTAssertEqual(Area.polygon(room.reversed()).squareMeters, 12, accuracy: 1e-6)
        XCTAssertEqual(Area.polygon([]).squareMeters, 0)
    }

    func testTheMiddleOfAnAreaIsItsCentreIfThatIsInside() throws {
        let center = MapPoint(x: 1, y: 2)
        XCTAssertEqual(Area.circle(center: center, radius: 2).middle, center)
        let room = points((1e6, 1e6), (1e6 + 4, 1e6), (1e6 + 4, 1e6 + 3), (1e6, 1e6 + 3))
        for corners in [room, room.reversed()] {
            let middle = try XCTUnwrap(Area.polygon(corners).middle)
            XCTAssertEqual(middle.distance(to: MapPoint(x: 1e6 + 2, y: 1e6 + 1.5)), 0, accuracy: 1e-6)
        }
        // The letter L has its centre of mass towards the corner.
        let bent = points((10, 20), (14, 20), (14, 22), (12, 22), (12, 24), (10, 24))
        for corners in [bent, bent.reversed()] {
            let middle = try XCTUnwrap(Area.polygon(corners).middle)
            XCTAssertEqual(middle.distance(to: MapPoint(x: 10 + 5.0 / 3, y: 20 + 5.0 / 3)), 0, accuracy: 1e-9)
        }
    }

    func testTheMiddleOfABentAreaIsInsideAndFarFromTheWalls() throws {
        let seed: UInt64 = 7
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            // A horseshoe, open in any direction.
            let (inner, outer) = (4.0, 4.0 + Double.random(in: 0.5...3, using: &random))
            let first = Double.random(in: 0...360, using: &random)
            let sweep = Double.random(in: 200...340, using: &random)
            let count = Int.random(in: 12...40, using: &random)
            func arc(_ radius: Double) -> [MapPoint] {
                (0...count).map { step in
                    let angle = (first + sweep * Double(step) / Double(count)) * .pi / 180
                    return MapPoint(x: 20 + radius * cos(angle), y: 20 + radius * sin(angle))
                }
            }
            let area = Area.polygon(arc(outer) + arc(inner).reversed())
            let middle = try XCTUnwrap(area.middle)
            XCTAssertTrue(area.contains(middle))
            let distance = middle.distance(to: MapPoint(x: 20, y: 20))
            let margin = 0.2 * (outer - inner)
            XCTAssertTrue((inner + margin...outer - margin).contains(distance), "\(distance) of \(inner)...\(outer)")
        }
    }

    func testAnAreaWithoutASizeHasNoMiddle() {
        let broken = [
            [], points((1, 1)), points((0, 0), (2, 2), (4, 4)), points((0, 0), (.infinity, 0), (4, 4)),
            points((0, 0), (.nan, 1), (1, 0)),
        ]
        for corners in broken { XCTAssertNil(Area.polygon(corners).middle, "\(corners)") }
        XCTAssertNil(Area.circle(center: MapPoint(x: 1, y: 1), radius: 0).middle)
    }

    func testAPointIsWithinACircleAndItsEdge() {
        let circle = Area.circle(center: MapPoint(x: 1, y: 1), radius: 2)
        XCTAssertTrue(circle.contains(MapPoint(x: 3, y: 1)))
        XCTAssertFalse(circle.contains(MapPoint(x: 3.001, y: 1)))
    }

    func testAPointIsWithinTheArmsOfAPolygonButNotBetweenThem() {
        let letterU = Area.polygon(points((0, 0), (3, 0), (3, 3), (2, 3), (2, 1), (1, 1), (1, 3), (0, 3)))
        XCTAssertTrue(letterU.contains(MapPoint(x: 0.5, y: 2)))
        XCTAssertTrue(letterU.contains(MapPoint(x: 2.5, y: 2)))
        XCTAssertFalse(letterU.contains(MapPoint(x: 1.5, y: 2)))
        XCTAssertFalse(Area.polygon([]).contains(MapPoint(x: 0, y: 0)))
    }

    private func points(_ pairs: (Double, Double)...) -> [MapPoint] { pairs.map { MapPoint(x: $0.0, y: $0.1) } }
}

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

final class VenueRoomIndexTests: XCTestCase {
    private let hall = Room(id: 1, name: "Hall", mapID: 1, area: square(from: 0, side: 10))
    private let booth = Room(id: 2, name: "Booth", mapID: 1, area: .circle(center: MapPoint(x: 5, y: 5), radius: 1))

    func testTheSmallestContainingRoomWins() {
        for rooms in [[hall, booth], [booth, hall]] {
            let index = RoomIndex(rooms: rooms)
            XCTAssertEqual(index.room(at: MapPoint(x: 5, y: 5.5), on: 1)?.name, "Booth")
            XCTAssertEqual(index.room(at: MapPoint(x: 1, y: 1), on: 1)?.name, "Hall")
        }
    }

    func testTheLowestNumberWinsAmongEqualRooms() {
        var twin = hall
        twin.id = 0
        XCTAssertEqual(RoomIndex(rooms: [hall, twin]).room(at: MapPoint(x: 1, y: 1), on: 1)?.id, 0)
        XCTAssertEqual(RoomIndex(rooms: [twin, hall]).room(at: MapPoint(x: 1, y: 1), on: 1)?.id, 0)
    }

    func testThereIsNoRoomOutsideOrOnAnotherMap() {
        let index = RoomIndex(rooms: [hall, booth])
        XCTAssertNil(index.room(at: MapPoint(x: 11, y: 1), on: 1))
        XCTAssertNil(index.room(at: MapPoint(x: 1, y: 1), on: 2))
        XCTAssertNil(RoomIndex(rooms: []).room(at: MapPoint(x: 1, y: 1), on: 1))
    }

    func testARoomWithoutAShapeContainsNothing() {
        let index = RoomIndex(rooms: [Room(id: 1, name: "Attic", mapID: 1)])
        XCTAssertNil(index.room(at: MapPoint(x: 0, y: 0), on: 1))
    }

    func testALibraryReturnsOnlyItsOwnVenues() async throws {
        let venue = Venue(id: 4, name: "a", maps: [])
        let library = VenueLibrary([venue, Venue(id: 4, name: "b", maps: [])])
        XCTAssertEqual(library.catalogue(), [VenueSummary(of: venue)])
        XCTAssertEqual(try library.packet(for: 4) { _ in }, venue)
        XCTAssertThrowsError(try library.packet(for: 5) { _ in }) { error in
            XCTAssertEqual((error as? LocalizationError)?.code, .generic)
        }
    }

    private static func square(from start: Double, side: Double) -> Area {
        let end = start + side
        return .polygon([
            MapPoint(x: start, y: start), MapPoint(x: end, y: start), MapPoint(x: end, y: end),
            MapPoint(x: start, y: end),
        ])
    }
}

final class AreaIndexTests: XCTestCase {
    private func found(_ index: AreaIndex, _ point: MapPoint, on map: MapID = 1) -> [Int] {
        var indexes: [Int] = []
        index.append(to: &indexes, containing: point, on: map)
        return indexes.sorted()
    }

    func testTheIndexFindsTheSameAreasAsALinearSearch() {
        let side = 100.0
        for (round, count) in [0, 1, 2, 7, 8, 9, 17, 100, 400].enumerated() {
            let seed = UInt64(700 + round)
            print("seed \(seed)")
            var random = RandomAreas(seed: seed)
            let places = (0..<count).map { _ -> (mapID: MapID, area: Area) in
                (Bool.random(using: &random.generator) ? 1 : 2, random.area(within: side))
            }
            let index = AreaIndex(places)
            for turn in 0..<300 {
                var point = random.point(within: side)
                // Where edges are, rounding matters most.
                if turn % 4 == 0, case .polygon(let corners) = places.randomElement(using: &random.generator)?.area,
                    let corner = corners.randomElement(using: &random.generator), corner.x.isFinite
                {
                    point = corner
                }
                let map: MapID = turn % 2 == 0 ? 1 : 2
                let expected = places.indices.filter { places[$0].mapID == map && places[$0].area.contains(point) }
                XCTAssertEqual(found(index, point, on: map), expected, "\(count) areas, \(point), seed \(seed)")
                XCTAssertEqual(index.lowest(containing: point, on: map), expected.first, "\(point), seed \(seed)")
            }
        }
    }

    func testPointsOnTheEdgeOfACircleAreFound() {
        let seed: UInt64 = 31
        print("seed \(seed)")
        var random = RandomAreas(seed: seed)
        var edges = 0
        for _ in 0..<2_000 {
            let center = MapPoint(x: random.number(-1e6...1e6), y: random.number(-1e6...1e6))
            let area = Area.circle(center: center, radius: random.number(0...30))
            guard case .circle(_, let radius) = area else { continue }
            let point = MapPoint(x: center.x - radius, y: center.y)
            edges += area.contains(point) ? 1 : 0
            XCTAssertEqual(found(AreaIndex([(1, area)]), point), area.contains(point) ? [0] : [], "\(area)")
        }
        XCTAssertGreaterThan(edges, 500, "of 2000 points on the edge, rounding leaves many inside")
    }

    func testNothingIsFoundOnAMapWithoutAreas() {
        let index = AreaIndex([(1, .circle(center: MapPoint(x: 0, y: 0), radius: 5))])
        XCTAssertEqual(found(index, MapPoint(x: 0, y: 0), on: 2), [])
        XCTAssertNil(AreaIndex([]).lowest(containing: MapPoint(x: 0, y: 0), on: 1))
    }

    func testNoAreaContainsANaNPoint() {
        let index = AreaIndex([(1, .circle(center: MapPoint(x: 0, y: 0), radius: .infinity))])
        XCTAssertEqual(found(index, MapPoint(x: 1e300, y: 0)), [0])
        XCTAssertEqual(found(index, MapPoint(x: .nan, y: 0)), [])
    }

    func testAThousandAreasInTheSamePlaceAreAllFound() {
        let area = Area.circle(center: MapPoint(x: 3, y: 4), radius: 5)
        let index = AreaIndex(Array(repeating: (1, area), count: 1_000))
        XCTAssertEqual(found(index, MapPoint(x: 0, y: 0)), Array(0..<1_000))
        XCTAssertEqual(found(index, MapPoint(x: -3, y: 0)), [])
    }
}

/// The machine checks only the areas nearby, and emits the same events as with all areas.
final class AreaMachineIndexTests: XCTestCase {
    /// The same rules, asking every area at every point.
    private struct Plain {
        struct Presence {
            var isInside = false
            var isAnnounced = false
            var changingSince: Instant?
            var lastExit: Instant?
        }

        let watched: [AreaMachine.Watched]
        let dwell: Duration
        var presences: [Presence]

        init(_ watched: [AreaMachine.Watched], dwell: Duration) {
            self.watched = watched
            self.dwell = dwell
            presences = watched.map { _ in Presence() }
        }

        mutating func observe(_ point: MapPoint, on map: MapID, at now: Instant) -> [AreaMachine.Change] {
            var (exits, entries): ([AreaMachine.Change], [AreaMachine.Change]) = ([], [])
            for (index, area) in watched.enumerated() {
                let isIn = presences[index].isInside
                let margin = isIn ? area.exitMargin : 0
                let isInside = area.places.contains { place in
                    place.mapID == map
                        && (place.area.contains(point) || (margin > 0 && place.area.distance(to: point) <= margin))
                }
                guard isInside != isIn else {
                    presences[index].changingSince = nil
                    continue
                }
                let since = presences[index].changingSince ?? now
                presences[index].changingSince = since
                guard since.duration(to: now) >= (isInside ? dwell : area.exitDwell ?? dwell) else { continue }
                presences[index].changingSince = nil
                presences[index].isInside = isInside
                if isInside {
                    let isDue = presences[index].lastExit.map { $0.duration(to: now) >= area.holdOff } ?? true
                    presences[index].isAnnounced = isDue
                    if isDue { entries.append(.enter(area.id)) }
                } else if presences[index].isAnnounced {
                    presences[index].isAnnounced = false
                    presences[index].lastExit = now
                    exits.append(.exit(area.id))
                }
            }
            return exits + entries
        }
    }

    func testWalksGiveTheSameEventsAsALinearSearch() {
        for seed in UInt64(1)...12 {
            print("seed \(seed)")
            var random = RandomAreas(seed: seed)
            let watched = (0..<120).map { id in
                AreaMachine.Watched(
                    id: 1000 - id, mapID: random.generator.uniform() < 0.7 ? 1 : 2, area: random.area(within: 60),
                    holdOff: id % 3 == 0 ? .seconds(random.number(0...20)) : .zero,
                    exitDwell: id % 4 == 0 ? .seconds(random.number(0...5)) : nil,
                    exitMargin: id % 5 == 0 ? random.number(0...4) : 0)
            }
            let dwell = Duration.seconds(seed % 3 == 0 ? 0 : random.number(0...3))
            var (machine, plain) = (AreaMachine(watched: watched, dwell: dwell), Plain(watched, dwell: dwell))
            var point = MapPoint(x: 30, y: 30)
            var map: MapID = 1
            var (now, told) = (0.0, 0)
            for step in 0..<600 {
                now += random.number(0...1.5)
                point = point + MapPoint(x: random.number(-4...4), y: random.number(-4...4))
                if random.generator.uniform() < 0.02 { point = random.point(within: 60) }
                if random.generator.uniform() < 0.02 { map = map == 1 ? 2 : 1 }
                let changes = machine.observe(point, on: map, at: Instant(seconds: now))
                told += changes.count
                XCTAssertEqual(
                    changes, plain.observe(point, on: map, at: Instant(seconds: now)), "step \(step), seed \(seed)")
            }
            XCTAssertGreaterThan(told, 100, "seed \(seed)")
        }
    }

    func testTwoMachinesWithTheSameInputAreEqual() {
        let watched = (0..<50).map { id in
            AreaMachine.Watched(id: id, mapID: 1, area: .circle(center: MapPoint(x: Double(id), y: 0), radius: 3))
        }
        var (first, second) = (
            AreaMachine(watched: watched, dwell: .zero), AreaMachine(watched: watched, dwell: .zero)
        )
        for x in [5.0, 20, 8] { _ = first.observe(MapPoint(x: x, y: 0), on: 1, at: Instant(seconds: 1)) }
        XCTAssertNotEqual(first, second)
        _ = second.observe(MapPoint(x: 8, y: 0), on: 1, at: Instant(seconds: 1))
        XCTAssertEqual(first, second)
    }
}

/// Areas of every kind that a packet may hold, and some that it may not, made from a seed.
struct RandomAreas {
    var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func number(_ range: ClosedRange<Double>) -> Double {
        range.lowerBound + (range.upperBound - range.lowerBound) * generator.uniform()
    }

    /// Small and huge, round and cornered, some on the edges of whole metres, some without a point inside.
    mutating func area(within side: Double) -> Area {
        let center = MapPoint(x: number(0...side), y: number(0...side))
        switch Int.random(in: 0..<20, using: &generator) {
        case 0: return .circle(center: center, radius: 0)
        case 1: return .circle(center: center, radius: side * 3)
        case 2: return .circle(center: center, radius: -1)
        case 3: return .polygon([])
        case 4: return .polygon([center])
        case 5: return .polygon([center, MapPoint(x: 0, y: 0)])
        case 6: return .polygon([center, center + MapPoint(x: 5, y: 5), center + MapPoint(x: 9, y: 9)])
        case 7: return polygon(around: center, corners: 3...40, radius: side)
        case 8: return .circle(center: MapPoint(x: 1e6, y: -1e6), radius: 10)
        case 9: return .polygon([MapPoint(x: .nan, y: 0), center, MapPoint(x: 0, y: 3)])
        case 10: return .circle(center: center, radius: .infinity)
        case 11...14: return square(at: MapPoint(x: center.x.rounded(), y: center.y.rounded()), side: 5)
        case 15...17: return polygon(around: center, corners: 3...12, radius: 8)
        default: return .circle(center: center, radius: number(0.5...8))
        }
    }

    private func square(at corner: MapPoint, side: Double) -> Area {
        .polygon([(0.0, 0.0), (side, 0), (side, side), (0, side)].map { corner + MapPoint(x: $0.0, y: $0.1) })
    }

    /// Corners anywhere: most of these cross themselves.
    private mutating func polygon(around center: MapPoint, corners: ClosedRange<Int>, radius: Double) -> Area {
        .polygon(
            (0..<Int.random(in: corners, using: &generator)).map { _ in
                center + MapPoint(x: number(-radius...radius), y: number(-radius...radius))
            })
    }

    /// Points on the plan and beyond it, many of them on whole metres, where edges and corners are.
    mutating func point(within side: Double) -> MapPoint {
        let point = MapPoint(x: number(-0.2 * side...1.2 * side), y: number(-0.2 * side...1.2 * side))
        return generator.uniform() < 0.3 ? MapPoint(x: point.x.rounded(), y: point.y.rounded()) : point
    }
}
