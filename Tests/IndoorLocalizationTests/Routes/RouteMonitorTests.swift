import IndoorLocalization
import XCTest

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
