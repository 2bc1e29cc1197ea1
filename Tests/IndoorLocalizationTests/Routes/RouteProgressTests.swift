import IndoorLocalization
import XCTest

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
