import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
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

/// Where along a route a distance or a position is.
final class RouteProgressTests: XCTestCase {
    private typealias Stage = RouteStage

    private func upstairs() throws -> Route {
        var planner = RoutePlanner(venue: Stage.twoFloors)
        return try planner.route(from: Stage.at(1, 0, 10), to: Stage.at(2, 40, 10))
    }

    func testARouteHasAPointAtEachDistance() throws {
        let route = try upstairs()
        for (distance, place) in [
            (-1, Stage.at(1, 0, 10)), (0, Stage.at(1, 0, 10)), (4, Stage.at(1, 4, 10)), (12, Stage.at(1, 10, 8)),
            (16, Stage.at(1, 10, 5)), (18, Stage.at(2, 10, 5)), (22, Stage.at(2, 10, 8)), (34, Stage.at(2, 20, 10)),
            (54, Stage.at(2, 40, 10)), (99, Stage.at(2, 40, 10)), (.nan, Stage.at(1, 0, 10)),
        ] {
            XCTAssertEqual(route.point(at: distance), place, "\(distance)")
        }
    }

    func testAPositionBesideTheRouteHasProgress() throws {
        let progress = try XCTUnwrap(try upstairs().progress(of: Stage.at(2, 25, 12)))
        XCTAssertEqual(progress.place, Stage.at(2, 25, 10))
        XCTAssertEqual(progress.distanceDone, 39)
        XCTAssertEqual(progress.distanceRemaining, 15)
        XCTAssertEqual(progress.distanceOff, 2)
        XCTAssertEqual(progress.legIndex, 4)
        XCTAssertEqual(progress.distanceToLegEnd, 15)
    }

    func testPositionsAtBothEndsHaveProgress() throws {
        let route = try upstairs()
        let start = try XCTUnwrap(route.progress(of: Stage.at(1, -5, 10)))
        XCTAssertEqual([start.distanceDone, start.distanceRemaining, start.distanceOff], [0, 54, 5])
        XCTAssertEqual(start.legIndex, 0)
        let goal = try XCTUnwrap(route.progress(of: Stage.at(2, 43, 10)))
        XCTAssertEqual([goal.distanceDone, goal.distanceRemaining, goal.distanceOff], [54, 0, 3])
        XCTAssertEqual(goal.legIndex, 4)
    }

    func testAMapThatTheRouteDoesNotTouchHasNoProgress() throws {
        let route = try upstairs()
        XCTAssertNil(route.progress(of: Stage.at(3, 0, 10)))
        XCTAssertNil(route.progress(of: Stage.at(1, .nan, 10)))
    }

    func testProgressUsesThePassNearestToTheDistanceDone() throws {
        // There and back through the same corridor, as the goal lies beside its beginning.
        let venue = Stage.venue(
            nodes: [1: (1, 0, 0), 2: (1, 40, 0), 3: (1, 40, 1), 4: (1, 0, 1)],
            [Stage.edge(1, 2), Stage.edge(2, 3), Stage.edge(3, 4)])
        var planner = RoutePlanner(venue: venue)
        let route = try planner.route(from: Stage.at(1, 0, 0), to: Stage.at(1, 0, 1))
        let early = route.progress(of: Stage.at(1, 10, 0.6), after: 9, tolerance: 1)
        XCTAssertEqual(try XCTUnwrap(early).distanceDone, 10, accuracy: 1e-9)
        let late = route.progress(of: Stage.at(1, 10, 0.4), after: 70, tolerance: 1)
        XCTAssertEqual(try XCTUnwrap(late).distanceDone, 71, accuracy: 1e-9)
        let nearest = route.progress(of: Stage.at(1, 10, 0.6), after: 9)
        XCTAssertEqual(try XCTUnwrap(nearest).distanceDone, 71, accuracy: 1e-9)
    }

    func testARouteWithoutLegsHasProgress() throws {
        var planner = RoutePlanner(venue: Stage.twoFloors)
        let route = try planner.route(from: Stage.at(1, 5, 10), to: Stage.at(1, 5, 10))
        let progress = try XCTUnwrap(route.progress(of: Stage.at(1, 5, 12)))
        XCTAssertEqual(progress.distanceOff, 2)
        XCTAssertNil(progress.legIndex)
        XCTAssertEqual(route.point(at: 3), Stage.at(1, 5, 10))
    }
}

/// A watched route: what is told as the device walks, strays, changes floors and arrives.
final class RouteMonitorTests: XCTestCase {
    private typealias Stage = RouteStage

    /// To the far end of the upper floor.
    private func monitor(_ change: (inout RouteMonitorSettings) -> Void = { _ in }) throws -> RouteMonitor {
        var settings = RouteMonitorSettings()
        change(&settings)
        return try RouteMonitor(
            planner: RoutePlanner(venue: Stage.twoFloors), goal: Stage.at(2, 40, 10), settings: settings)
    }

    /// The names of updates, in order.
    private func names(_ updates: [RouteUpdate]) -> [String] {
        updates.map { update in
            switch update {
            case .planned: "planned"
            case .progressed(let progress): "\(progress.distanceDone)"
            case .renewed: "renewed"
            case .arrived: "arrived"
            case .lost: "lost"
            }
        }
    }

    func testTheMonitorPlansARouteFromTheFirstPosition() throws {
        var monitor = try monitor()
        XCTAssertEqual(monitor.state, .waiting)
        let updates = monitor.handle(Stage.position(1, 0, 11, at: 100))
        XCTAssertEqual(names(updates), ["planned", "0.0"])
        guard case .planned(let route) = updates[0] else { return XCTFail("\(updates)") }
        XCTAssertEqual(route.vertices.first, Stage.at(1, 0, 11))
        guard case .following(route, _, offSince: nil) = monitor.state else { return XCTFail("\(monitor.state)") }
    }

    func testTheMonitorReportsProgressAlongTheRouteUntilArrival() throws {
        var monitor = try monitor()
        let walk: [(Int, Double, Double)] = [
            (1, 0, 10), (1, 8, 10), (1, 10, 6), (2, 10, 6), (2, 15, 12), (2, 30, 9), (2, 36, 10), (2, 38, 10),
        ]
        var told: [String] = []
        for (second, place) in walk.enumerated() {
            told += names(monitor.handle(Stage.position(place.0, place.1, place.2, at: Double(second) * 5)))
        }
        XCTAssertEqual(
            told, ["planned", "0.0", "8.0", "14.0", "20.0", "29.0", "44.0", "50.0", "52.0", "arrived"])
        XCTAssertEqual(monitor.state, .arrived)
        XCTAssertTrue(monitor.isOver)
        XCTAssertEqual(monitor.handle(Stage.position(1, 0, 10, at: 99)), [])
        XCTAssertEqual(monitor.state, .arrived)
    }

    func testOneOutlierDoesNotRenewTheRoute() throws {
        var monitor = try monitor()
        _ = monitor.handle(Stage.position(1, 0, 10, at: 0))
        for second in 1...9 {
            let updates = monitor.handle(Stage.position(1, 2, second % 3 == 0 ? 10 : 20, at: Double(second)))
            XCTAssertEqual(names(updates), ["2.0"], "second \(second)")
        }
    }

    func testTheMonitorRenewsTheRouteAfterPositionsOffItForLong() throws {
        var monitor = try monitor()
        _ = monitor.handle(Stage.position(1, 0, 10, at: 0))
        // Past the stairs, on towards the elevator.
        var told: [String] = []
        for (second, x) in [(1, 8.0), (2, 14.0), (3, 16.0), (4, 18.0), (5, 20.0), (6, 22.0)] {
            told += names(monitor.handle(Stage.position(1, x, 10, at: Double(second))))
        }
        XCTAssertEqual(told, ["8.0", "10.0", "10.0", "10.0", "10.0", "renewed", "0.0"])
        guard case .following(let route, _, offSince: nil) = monitor.state else { return XCTFail("\(monitor.state)") }
        XCTAssertEqual(route.vertices.first, Stage.at(1, 22, 10))
    }

    func testAnUncertainPositionIsNotOffTheRoute() throws {
        for (radius, isRenewed) in [(1.0, true), (6.0, false), (.nan, true)] {
            var monitor = try monitor()
            _ = monitor.handle(Stage.position(1, 0, 10, at: 0))
            var told: [String] = []
            for second in 1...20 {
                told += names(monitor.handle(Stage.position(1, 5, 19, at: Double(second), radius: radius)))
            }
            XCTAssertEqual(told.contains("renewed"), isRenewed, "radius \(radius)")
        }
    }

    func testAFloorThatIsWrongForAMomentChangesNothing() throws {
        var monitor = try monitor()
        _ = monitor.handle(Stage.position(1, 30, 10, at: 0))
        let wrong = monitor.handle(Stage.position(2, 2, 10, at: 1))
        XCTAssertFalse(names(wrong).contains("renewed"))
        XCTAssertEqual(names(monitor.handle(Stage.position(1, 30, 9, at: 2))), ["1.0"])
    }

    func testTheMonitorRenewsTheRouteOnAnotherFloor() throws {
        var monitor = try RouteMonitor(planner: RoutePlanner(venue: Stage.twoFloors), goal: Stage.at(1, 40, 10))
        _ = monitor.handle(Stage.position(1, 20, 10, at: 0))
        XCTAssertEqual(monitor.handle(Stage.position(2, 20, 10, at: 1)), [], "a map that the route does not touch")
        XCTAssertEqual(monitor.handle(Stage.position(2, 20, 10, at: 2)), [])
        let updates = monitor.handle(Stage.position(2, 20, 10, at: 4))
        XCTAssertEqual(names(updates), ["renewed", "0.0"])
    }

    func testTheMonitorReportsALostRouteOnceAndFindsItAgain() throws {
        var monitor = try monitor { $0.retryInterval = .seconds(5) }
        XCTAssertEqual(names(monitor.handle(Stage.position(1, 0, 90, at: 0))), ["lost"])
        guard case .lost(.tooFarFromPaths, since: .zero) = monitor.state else { return XCTFail("\(monitor.state)") }
        XCTAssertEqual(names(monitor.handle(Stage.position(1, 0, 80, at: 4))), [], "too soon")
        XCTAssertEqual(names(monitor.handle(Stage.position(1, 0, 70, at: 5))), [], "for the same reason")
        XCTAssertEqual(names(monitor.handle(Stage.position(1, 0, 12, at: 9))), [], "too soon after the second look")
        XCTAssertEqual(names(monitor.handle(Stage.position(1, 0, 12, at: 10))), ["renewed", "0.0"])
    }

    func testADeviceAtTheGoalArrivesImmediately() throws {
        var monitor = try monitor()
        XCTAssertEqual(names(monitor.handle(Stage.position(2, 39, 11, at: 0))).last, "arrived")
        XCTAssertTrue(monitor.isOver)
    }

    func testTheGoalOnAnotherFloorIsNotReachedBelowIt() throws {
        var monitor = try RouteMonitor(
            planner: RoutePlanner(venue: Stage.twoFloors), goal: Stage.at(2, 30, 5), options: .accessible)
        XCTAssertEqual(names(monitor.handle(Stage.position(1, 30, 5, at: 0))), ["planned", "0.0"])
        XCTAssertEqual(names(monitor.handle(Stage.position(2, 30, 5, at: 9))), ["0.0", "arrived"])
    }

    func testTheMonitorIgnoresPositionsInAnotherVenue() throws {
        var monitor = try monitor()
        var elsewhere = Stage.position(1, 0, 10, at: 0)
        elsewhere.venueID = 2
        XCTAssertEqual(monitor.handle(elsewhere), [])
        XCTAssertEqual(monitor.state, .waiting)
    }

    func testTheMonitorContinuesWhenInstantsStartOver() throws {
        var monitor = try monitor()
        XCTAssertEqual(names(monitor.handle(Stage.position(1, 0, 90, at: 1000))), ["lost"])
        XCTAssertEqual(names(monitor.handle(Stage.position(1, 0, 10, at: 1))), ["renewed", "0.0"])
        XCTAssertEqual(names(monitor.handle(Stage.position(1, 30, 10, at: 500))), ["10.0"])
        XCTAssertEqual(names(monitor.handle(Stage.position(1, 30, 10, at: 0))), ["10.0"])
        XCTAssertEqual(names(monitor.handle(Stage.position(1, 30, 10, at: 3))), ["renewed", "0.0"])
    }

    func testTheMonitorRejectsAnUnreachableGoalAndInvalidSettings() throws {
        let planner = RoutePlanner(venue: Stage.twoFloors)
        var settings = RouteMonitorSettings()
        settings.arrivalRadius = -1
        for (goal, settings) in [
            (Stage.at(9, 0, 0), RouteMonitorSettings()), (Stage.at(1, 0, 99), RouteMonitorSettings()),
            (Stage.at(1, 0, 10), settings),
        ] {
            XCTAssertThrowsError(try RouteMonitor(planner: planner, goal: goal, settings: settings), "\(goal)") {
                XCTAssertTrue($0 is RouteError, "\($0)")
            }
        }
    }

    func testTheSamePositionsGiveTheSameUpdates() throws {
        var generator = SeededGenerator(seed: 11)
        let walk = (0..<300).map { tick in
            Stage.position(
                generator.uniform() < 0.5 ? 1 : 2, generator.uniform() * 40, generator.uniform() * 20,
                at: Double(tick))
        }
        var (one, two) = (try monitor(), try monitor())
        for position in walk { XCTAssertEqual(one.handle(position), two.handle(position)) }
        XCTAssertEqual(one.state, two.state)
    }
}

/// Routes over the positions of a session.
final class LocalizerRouteTests: XCTestCase {
    /// The session's office with a corridor through its first map.
    private func planner() throws -> RoutePlanner {
        var office = SessionStage.office
        let map = try XCTUnwrap(office.maps.first)
        let ends = [MapPoint(x: 0, y: 0), MapPoint(x: map.width, y: map.height)]
        office.paths = PathGraph(
            nodes: ends.enumerated().map { PathGraph.Node(id: $0.offset, mapID: map.id, point: $0.element) },
            edges: [PathGraph.Edge(from: 0, to: 1)])
        return RoutePlanner(venue: office)
    }

    private func options() -> RouteOptions {
        var options = RouteOptions()
        options.snappingDistance = 1000
        return options
    }

    func testALocalizerUpdatesTheRouteFromPositions() async throws {
        let stage = LocalizerStage()
        let goal = RoutePoint(mapID: 10, point: MapPoint(x: 36, y: 27))
        let updates = try stage.localizer.routes(to: goal, with: planner(), options: options())
        let positions = stage.localizer.positions
        try await stage.run()
        let first = try await Bounded.first(1, of: positions)[0]
        XCTAssertGreaterThan(first.point.distance(to: goal.point), 15, "far from the goal")
        // Somebody says, step by step, that the device is further along the corridor.
        var seen: [RouteUpdate] = []
        var seconds = LocalizerStage.beginning + 6
        for share in [0.3, 0.6, 0.9] {
            for _ in 0..<4 {
                let place = MapPoint(x: 40 * share, y: 30 * share)
                let fix = Fix(instant: Instant(seconds: seconds), mapID: 10, point: place, radius: 0.5)
                stage.source.send(.fix(fix))
                stage.source.send(SessionStage.heard(1, at: seconds + 0.5))
                seconds += 0.5
            }
        }
        seen = try await Bounded.elements(of: updates, until: "the goal") { $0 == .arrived }
        guard case .planned(let route) = seen.first else { return XCTFail("\(seen)") }
        XCTAssertEqual(route.vertices.first, RoutePoint(first))
        XCTAssertEqual(route.goal.place, goal)
        let left = seen.compactMap {
            if case .progressed(let progress) = $0 { progress.distanceRemaining } else { nil }
        }
        XCTAssertGreaterThan(left.count, 2)
        XCTAssertGreaterThan(try XCTUnwrap(left.first), try XCTUnwrap(left.last) + 10, "the way grows shorter")
    }

    func testTheStreamEndsWithTheLocalizer() async throws {
        var stage: LocalizerStage? = LocalizerStage()
        let updates = try XCTUnwrap(stage).localizer.routes(
            to: RoutePoint(mapID: 10, point: MapPoint(x: 0, y: 0)), with: planner(), options: options())
        stage = nil
        let seen = try await Bounded.all(updates)
        XCTAssertEqual(seen, [])
    }

    func testALocalizerRejectsAnUnreachableGoal() throws {
        let stage = LocalizerStage()
        let goal = RoutePoint(mapID: 99, point: MapPoint(x: 0, y: 0))
        XCTAssertThrowsError(try stage.localizer.routes(to: goal, with: planner())) {
            XCTAssertEqual($0 as? RouteError, .unknownMap(99, .goal, known: [10, 11]))
        }
    }
}
