import Foundation
import IndoorLocalization
import XCTest

/// Legs: what is walked on, how long, where to, and which turn leads there.
final class RouteLegTests: XCTestCase {
    private typealias Stage = RouteStage

    func testARouteUpstairsHasLegsForWalkingAndStairs() throws {
        var planner = RoutePlanner(venue: Stage.twoFloors)
        let route = try planner.route(from: Stage.at(1, 0, 10), to: Stage.at(2, 40, 10))
        XCTAssertEqual(route.legs.map(\.kind), [.walk, .walk, .stairs, .walk, .walk])
        XCTAssertEqual(route.legs.map(\.length), [10, 5, 4, 5, 30])
        XCTAssertEqual(route.legs.map(\.effort), [10, 5, 12, 5, 30])
        XCTAssertEqual(route.legs.map(\.course), [90, 0, nil, 180, 90])
        XCTAssertEqual(route.legs.map(\.turn), [nil, .left, .up(toLevel: 1), nil, .left])
        XCTAssertEqual(route.length, 54)
        XCTAssertEqual(route.effort, 62)
        XCTAssertEqual(route.duration.seconds, 62 / 1.34, accuracy: 1e-6)
    }

    func testAnElevatorLegHasNoWalkingDistance() throws {
        var planner = RoutePlanner(venue: Stage.twoFloors)
        let route = try planner.route(from: Stage.at(2, 30, 5), to: Stage.at(1, 30, 5), .accessible)
        XCTAssertEqual(route.legs.map(\.kind), [.elevator])
        XCTAssertEqual(route.legs.map(\.turn), [.down(toLevel: 0)])
        XCTAssertEqual(route.length, 0)
        XCTAssertEqual(route.cost, 30)
        XCTAssertEqual(route.vertices, [Stage.at(2, 30, 5), Stage.at(1, 30, 5)])
    }

    func testARideOverSeveralFloorsIsOneLegWithEachOfItsMaps() throws {
        let venue = Stage.venue(
            maps: 4, nodes: [1: (1, 0, 0), 2: (2, 0, 0), 3: (3, 0, 0), 4: (4, 0, 0), 5: (4, 9, 0)],
            [
                Stage.edge(1, 2, 10, .elevator), Stage.edge(2, 3, 10, .elevator), Stage.edge(3, 4, 10, .stairs),
                Stage.edge(4, 5),
            ])
        var planner = RoutePlanner(venue: venue)
        let route = try planner.route(from: Stage.at(1, 0, 0), to: Stage.at(4, 9, 0))
        XCTAssertEqual(route.legs.map(\.kind), [.elevator, .stairs, .walk])
        XCTAssertEqual(route.legs.map(\.turn), [.up(toLevel: 2), .up(toLevel: 3), nil])
        XCTAssertEqual(route.vertices.map(\.mapID), [1, 2, 3, 4, 4])
        XCTAssertEqual(route.legs[0].vertices, 0...2)
    }

    func testStraightPiecesFormOneLeg() throws {
        let venue = Stage.venue(
            nodes: [1: (1, 0, 0), 2: (1, 10, 0), 3: (1, 20, 0), 4: (1, 30, 0), 5: (1, 30, 10)],
            [
                Stage.edge(1, 2), Stage.edge(2, 3), Stage.edge(3, 4, nil, .escalator),
                Stage.edge(4, 5, nil, .escalator),
            ])
        var planner = RoutePlanner(venue: venue)
        let route = try planner.route(from: Stage.at(1, 3, 0), to: Stage.at(1, 30, 10))
        XCTAssertEqual(
            route.vertices, [Stage.at(1, 3, 0), Stage.at(1, 20, 0), Stage.at(1, 30, 0), Stage.at(1, 30, 10)])
        XCTAssertEqual(route.legs.map(\.kind), [.walk, .escalator, .escalator])
        XCTAssertEqual(route.legs.map(\.turn), [nil, .straight, .right])
    }

    /// `nodeIndex` and `edgeIndex` are nil off the graph.
    func testLegsHaveTheNodesAndEdgesOfTheGraph() throws {
        var planner = RoutePlanner(venue: Stage.twoFloors)
        let graph = try XCTUnwrap(Stage.twoFloors.paths)
        func id(_ index: Int?) -> Int? { index.map { graph.nodes[$0].id } }
        func ends(_ edges: [Int]) -> [[Int]] { edges.map { [graph.edges[$0].from, graph.edges[$0].to] } }
        // From between 1 and 2, over 2, 5 and the stairs to 15, 12, 13 and on to 14.
        let route = try planner.route(from: Stage.at(1, 3, 10), to: Stage.at(2, 40, 10))
        XCTAssertEqual(route.legs.map { id($0.beginNodeIndex) }, [nil, 2, 5, 15, 12])
        XCTAssertEqual(route.legs.map { id($0.endNodeIndex) }, [2, 5, 15, 12, 14])
        XCTAssertEqual(
            route.legs.map { ends(route.edgeIndexes(of: $0)) },
            [[[1, 2]], [[2, 5]], [[5, 15]], [[12, 15]], [[12, 13], [13, 14]]])
        // Against the direction of the edges, and from a node to a node.
        let back = try planner.route(from: Stage.at(1, 40, 10), to: Stage.at(1, 0, 10))
        XCTAssertEqual(back.legs.count, 1)
        XCTAssertEqual(back.legs.map { [id($0.beginNodeIndex), id($0.endNodeIndex)] }, [[4, 1]])
        XCTAssertEqual(ends(back.edgeIndexes(of: back.legs[0])), [[3, 4], [2, 3], [1, 2]])
    }

    func testALegOffTheGraphHasNoIndexes() throws {
        var planner = RoutePlanner(venue: Stage.twoFloors)
        // 2 m beside the corridor at both ends, which are on one edge.
        let route = try planner.route(from: Stage.at(1, 13, 12), to: Stage.at(1, 20, 12))
        XCTAssertEqual(route.legs.map(\.course), [0, 90, 180])
        XCTAssertEqual(route.legs.map(\.beginNodeIndex), [nil, nil, nil])
        XCTAssertEqual(route.legs.map(\.endNodeIndex), [nil, nil, nil])
        XCTAssertEqual(route.legs.map { route.edgeIndexes(of: $0).count }, [0, 1, 0])
        // Beside a node: the way to it is off the graph and ends there.
        let begin = try planner.route(from: Stage.at(1, 0, 12), to: Stage.at(1, 10, 10))
        XCTAssertEqual(begin.legs.map(\.beginNodeIndex), [nil, 0])
        XCTAssertEqual(begin.legs.map(\.endNodeIndex), [0, 1])
    }

    func testIndexesReferToTheGraphIfThePlannerIgnoresEdges() throws {
        var venue = Stage.venue(
            nodes: [1: (1, 0, 0), 2: (1, 10, 0), 3: (1, 10, 10)],
            [Stage.edge(1, 1), Stage.edge(1, 2), Stage.edge(2, 3)])
        venue.paths?.nodes.insert(PathGraph.Node(id: 9, mapID: 99, point: MapPoint(x: 0, y: 0)), at: 0)
        var planner = RoutePlanner(venue: venue)
        let route = try planner.route(from: Stage.at(1, 0, 0), to: Stage.at(1, 10, 10))
        XCTAssertEqual(route.legs.map(\.beginNodeIndex), [1, 2])
        XCTAssertEqual(route.legs.map { route.edgeIndexes(of: $0) }, [[1], [2]])
    }

    func testARouteKeepsEffortWithoutLength() throws {
        let venue = Stage.venue(
            nodes: [1: (1, 0, 0), 2: (1, 10, 0), 3: (1, 10, 0), 4: (1, 20, 0)],
            [Stage.edge(1, 2), Stage.edge(2, 3, 7), Stage.edge(3, 4)])
        var planner = RoutePlanner(venue: venue)
        let route = try planner.route(from: Stage.at(1, 0, 0), to: Stage.at(1, 20, 0))
        XCTAssertEqual(route.effort, 27)
        XCTAssertEqual(route.length, 20)
        XCTAssertEqual(route.legs.map(\.effort), [27])
    }

    func testAStepOfCentimetresIsNoLeg() throws {
        let venue = Stage.venue(
            maps: 2,
            nodes: [1: (1, 0, 0), 2: (1, 10, 0), 3: (1, 10, 0.03), 4: (1, 20, 0.03), 5: (1, 20, 0), 6: (2, 20, 0)],
            [
                Stage.edge(1, 2), Stage.edge(2, 3, 5), Stage.edge(3, 4), Stage.edge(4, 5),
                Stage.edge(5, 6, 1, .elevator),
            ])
        var planner = RoutePlanner(venue: venue)
        let route = try planner.route(from: Stage.at(1, 0, 0), to: Stage.at(2, 20, 0.02))
        XCTAssertEqual(route.legs.map(\.kind), [.walk, .elevator])
        XCTAssertEqual(route.legs.map(\.turn), [nil, .up(toLevel: 1)])
        XCTAssertEqual(route.vertices, [Stage.at(1, 0, 0), Stage.at(1, 20, 0), Stage.at(2, 20, 0.02)])
        XCTAssertEqual(route.length, 20.08, accuracy: 1e-9, "what is walked counts")
        XCTAssertEqual(route.legs.map(\.length).reduce(0, +), route.length, accuracy: 1e-9)
        XCTAssertEqual(route.legs.map(\.effort).reduce(0, +), route.effort, accuracy: 1e-9)
    }

    func testManyShortPiecesAreAsManyLegsAsTheirBendNeeds() throws {
        // A quarter of a circle with a radius of 2 m, in pieces of 1 cm.
        let count = 314
        let nodes = (0...count).map { index in
            let angle = Double(index) / Double(count) * .pi / 2
            return (index, (1, 2 * cos(angle), 2 * sin(angle)))
        }
        let venue = Stage.venue(
            nodes: Dictionary(uniqueKeysWithValues: nodes), (0..<count).map { Stage.edge($0, $0 + 1) })
        var planner = RoutePlanner(venue: venue)
        let route = try planner.route(from: Stage.at(1, 2, 0), to: Stage.at(1, 0, 2))
        XCTAssertEqual(route.length, .pi, accuracy: 1e-4)
        for vertex in route.vertices { XCTAssertEqual(hypot(vertex.x, vertex.y), 2, accuracy: 1e-6) }
        XCTAssertGreaterThan(route.legs.count, 30)
        for leg in route.legs { XCTAssertGreaterThanOrEqual(leg.length, 0.05) }
    }

    func testALegToAnotherMapOfTheSameLevelHasAnOverTurn() throws {
        var venue = Stage.venue(
            maps: 2, nodes: [1: (1, 0, 0), 2: (1, 10, 0), 3: (2, 10, 0), 4: (2, 20, 0)],
            [Stage.edge(1, 2), Stage.edge(2, 3, 1), Stage.edge(3, 4)])
        venue.maps[1].level = 0
        var planner = RoutePlanner(venue: venue)
        let route = try planner.route(from: Stage.at(1, 0, 0), to: Stage.at(2, 20, 0))
        XCTAssertEqual(route.legs.map(\.turn), [nil, .over(to: 2), nil])
    }

    func testTurnsAreSectorsOfACircle() {
        let turns: [(Double, Route.Turn)] = [
            (0, .straight), (22, .straight), (23, .slightRight), (67, .slightRight), (68, .right), (90, .right),
            (112, .right), (113, .sharpRight), (157, .sharpRight), (158, .around), (180, .around), (202, .around),
            (203, .sharpLeft), (247, .sharpLeft), (248, .left), (270, .left), (292, .left), (293, .slightLeft),
            (337, .slightLeft),
            (338, .straight),
        ]
        for before in [0.0, 10, 200, 359] {
            for (angle, turn) in turns {
                let after = (before + angle).truncatingRemainder(dividingBy: 360)
                XCTAssertEqual(Route.Turn(from: before, to: after), turn, "\(before) to \(after)")
            }
        }
    }
}
