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
