import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// The samples of IndoorAtlas' document *Positioning*, with the calls that its users replace them by.
///
/// `FloorPlanLocalizerTests` has the sample *Switching floor plans*.
final class IndoorAtlasSampleTests: XCTestCase {
    /// The office with a coordinate of its ground floor.
    private var office: Venue {
        var office = SessionStage.office
        office.maps[0].georeference = .center(Coordinate(latitude: 52, longitude: 13), bearing: 0)
        return office
    }

    /// *Instancing positioner*.
    func testTheSampleOfInstancingFetchesAFloorPlan() async throws {
        let venues = ScriptedVenueSource([office])
        let plan = try await venues.fetchFloorPlan(10, of: 1).value
        let positioner = FloorPlanLocalizer(on: plan, source: ScriptedSource(), venues: venues)
        XCTAssertEqual(positioner.floorPlan.name, "ground")
        do {
            _ = try await venues.fetchFloorPlan(99, of: 1).value
            XCTFail("there is no such floor plan")
        } catch {
            XCTAssertEqual(error, .unknownMap(99, 1))
        }
    }

    /// *Starting positioner* and *State changes*.
    func testTheSampleOfStartingTellsEachState() async throws {
        let stage = FloorPlanLocalizerStage()
        let positioner = stage.positioner
        let names = WatchedState<[String]>([])
        let watch = positioner.watch(\.states) { state in names.update { $0.append(state.name) } }
        func reach(_ name: String) async throws {
            try await Bounded.wait(for: name) { try await names.wait { $0.last == name } }
        }
        await positioner.connect()
        try await reach("connected")
        await positioner.prepare(FloorPlanLocalizerParameters(motionMode: .shoppingCart))
        try await reach("ready")
        // These parameters have no effect, because the positioner is prepared.
        await positioner.start(FloorPlanLocalizerParameters(motionMode: .walking))
        try await reach("waitingForFix")
        await positioner.stop()
        try await reach("stopped")
        watch.close()
        XCTAssertEqual(
            names.value, ["stopped", "connecting", "connected", "loading", "ready", "waitingForFix", "stopped"])
    }

    /// *Explicit position*: metres before the start, pixels after it.
    func testTheSampleOfExplicitPositionsStartsThereAndConverges() async throws {
        let stage = FloorPlanLocalizerStage(venue: office)
        let (positioner, positions) = (stage.positioner, stage.positioner.positions)
        await positioner.connect()
        try await stage.reach("connected")
        try await positioner.submit(.point(MapPoint(x: 7.5, y: 14.6)), radius: 3)
        await positioner.start()
        let first = try await Bounded.first(1, of: positions)[0]
        XCTAssertLessThan(first.point.distance(to: MapPoint(x: 7.5, y: 14.6)), 3)
        let outcome = try await positioner.submit(.pixel(PixelPoint(x: 320, y: 120)), radius: 25)
        guard case .taken = outcome else { return XCTFail("\(outcome)") }
        let alarms = Task { [clock = stage.clock] in
            while true { clock.advance(to: try await clock.waitForSleeper()) }
        }
        defer { alarms.cancel() }
        _ = try await Bounded.elements(of: positions, until: "a position at the second place") {
            $0.point.distance(to: MapPoint(x: 32, y: 12)) < 2.5
        }
    }

    /// *Position updates*.
    func testTheSampleOfPositionUpdatesReadsEachField() async throws {
        let stage = FloorPlanLocalizerStage(venue: office)
        let positions = stage.positioner.positions
        try await stage.run()
        let latency = await stage.positioner.latency
        XCTAssertGreaterThanOrEqual(latency, .zero)
        let position = try await Bounded.first(1, of: positions)[0]
        let pixel = try XCTUnwrap(position.pixel)
        XCTAssertEqual(pixel.x, position.x * 10, accuracy: 1e-9)
        XCTAssertEqual(pixel.y, position.y * 10, accuracy: 1e-9)
        let coordinate = try XCTUnwrap(position.coordinate)
        XCTAssertEqual(coordinate.latitude, 52, accuracy: 0.0002)
        XCTAssertEqual(coordinate.longitude, 13, accuracy: 0.0004)
        XCTAssertGreaterThan(position.radius, 0)
        XCTAssertTrue(position.course.map { (0..<360).contains($0) } ?? true)
    }
}
