import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

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

    /// Behaviour §2.1B, row wayfinding.
    func testPositionsGiveRoutesToTheGoal() async throws {
        let stage = LocalizerStage()
        let goal = RoutePoint(mapID: 10, point: MapPoint(x: 0, y: 0))
        // The device stands within what counts as arrived, wherever the few particles see it.
        var settings = RouteMonitorSettings()
        settings.arrivalRadius = 1000
        let updates = try stage.localizer.routes(to: goal, with: planner(), options: options(), settings: settings)
        let positions = stage.localizer.positions
        try await stage.run()
        let seen = try await Bounded.all(updates)
        let first = try await Bounded.first(1, of: positions)[0]
        guard case .planned(let route) = seen.first else { return XCTFail("\(seen)") }
        XCTAssertEqual(route.vertices.first, RoutePoint(first))
        XCTAssertEqual(route.goal.place, goal)
        XCTAssertEqual(seen.last, .arrived)
    }

    func testTheStreamEndsWithTheLocalizer() async throws {
        var stage: LocalizerStage? = LocalizerStage()
        let updates = try XCTUnwrap(stage).localizer.routes(
            to: RoutePoint(mapID: 10, point: MapPoint(x: 0, y: 0)), with: planner(), options: options())
        stage = nil
        let seen = try await Bounded.all(updates)
        XCTAssertEqual(seen, [])
    }

    func testAGoalThatNobodyCanReachIsRefused() throws {
        let stage = LocalizerStage()
        let goal = RoutePoint(mapID: 99, point: MapPoint(x: 0, y: 0))
        XCTAssertThrowsError(try stage.localizer.routes(to: goal, with: planner())) {
            XCTAssertEqual($0 as? RouteError, .unknownMap(99, .goal, known: [10, 11]))
        }
    }
}
