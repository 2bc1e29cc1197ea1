import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// Tests of the items that a map view receives.
final class MapFeedTests: XCTestCase {
    private let stage = LocalizerStage()

    private static let office: Venue = {
        var office = SessionStage.office
        office.pointsOfInterest = [
            PointOfInterest(id: 7, name: "Café", mapID: 11, point: MapPoint(x: 3, y: 4))
        ]
        return office
    }()

    private func position(_ x: Double, _ y: Double = 5, map: MapID = 10, at seconds: Double = 1) -> Position {
        Position(
            instant: Instant(seconds: seconds), venueID: 1, mapID: map, point: MapPoint(x: x, y: y), radius: 2)
    }

    private func place(_ x: Double, _ y: Double = 5, map: MapID = 10, radius: Double? = 2) -> MapItem.Place {
        MapItem.Place(mapID: map, point: MapPoint(x: x, y: y), radius: radius)
    }

    // MARK: - What there is to draw

    func testTheFirstPositionEmitsThePlanWithPointsAndBeacons() {
        var contents = MapContents(trailLength: 10, trailStep: 1)
        let news = contents.receive(position(1), in: Self.office)
        guard case .plan(let plan) = news.first else { return XCTFail("\(news)") }
        XCTAssertEqual([plan.name, "\(plan.level)", "\(plan.width)"], ["ground", "0", "40.0"])
        let beacons = Self.office.beacons.map { beacon in
            MapItem.Label(
                id: "\(beacon.identity)", name: "1_\(beacon.identity.minor)",
                place: place(5, radius: nil))
        }
        XCTAssertEqual(
            Array(news.dropFirst()),
            [
                .points([MapItem.Label(id: "7", name: "Café", place: place(3, 4, map: 11, radius: nil))]),
                .beacons(beacons), .trail([place(1)]), .position(place(1)),
            ])
        XCTAssertEqual(
            contents.receive(position(1.2), in: Self.office), [.position(place(1.2))], "nothing that is there already")
    }

    func testATrailIsLimitedToItsStepLengthAndFloor() {
        var contents = MapContents(trailLength: 3, trailStep: 1)
        for x in [1, 1.5, 2, 3, 4.0] { _ = contents.receive(position(x), in: Self.office) }
        XCTAssertTrue(contents.items.contains(.trail([place(2), place(3), place(4)])), "\(contents.items)")
        let upstairs = contents.receive(position(4, map: 11), in: Self.office)
        guard case .plan(let plan) = upstairs.first else { return XCTFail("\(upstairs)") }
        XCTAssertEqual(plan.name, "first")
        XCTAssertEqual(Array(upstairs.dropFirst()), [.trail([place(4, map: 11)]), .position(place(4, map: 11))])
    }

    func testATrailOfLengthZeroIsNotEmitted() {
        var contents = MapContents(trailLength: 0, trailStep: 1)
        let news = contents.receive(position(1), in: nil)
        XCTAssertEqual(news, [.position(place(1))], "and without the venue no plan")
    }

    func testAChangedHeadingIsEmittedInWholeDegrees() {
        var contents = MapContents(trailLength: 0, trailStep: 1)
        func estimate(_ course: Double?) -> MotionEstimate {
            var estimate = MotionEstimate(instant: .zero)
            estimate.heading = course.map {
                Heading(instant: .zero, course: $0, accuracy: 5, reference: .start)
            }
            return estimate
        }
        XCTAssertEqual(contents.receive(estimate(nil)), [])
        XCTAssertEqual(contents.receive(estimate(89.6)), [.heading(90)])
        XCTAssertEqual(contents.receive(estimate(90.4)), [])
        XCTAssertEqual(contents.receive(estimate(359.9)), [.heading(0)], "never 360")
    }

    func testOtherDevicesAreTagsUntilTheirRoomIsLeft() throws {
        var contents = MapContents(trailLength: 0, trailStep: 1)
        _ = contents.receive(position(1), in: Self.office)
        let cart = SharedPosition(
            device: try DeviceID("cart"), name: "Cart 4", room: "hall", venueID: 1, mapID: 10, x: 1, y: 5, radius: 2,
            sentAt: 4)
        let label = MapItem.Label(id: "cart", name: "Cart 4", place: place(1))
        XCTAssertEqual(contents.receive(cart), [.tag(label)])
        XCTAssertEqual(contents.items.last, .tag(label))
        XCTAssertEqual(contents.leave(room: "yard"), [])
        XCTAssertEqual(contents.leave(room: "hall"), [.tag(MapItem.Label(id: "cart", name: "Cart 4", place: nil))])
        var away = cart
        away.venueID = 2
        XCTAssertEqual(contents.receive(away), [], "its map is none of this venue's")
    }

    func testEveryItemIsUnchangedByEncodingAndDecoding() throws {
        let items: [MapItem] = [
            .plan(MapItem.Plan(Self.office.maps[0], of: 1)), .position(place(1)), .heading(90), .trail([place(1)]),
            .route([place(1, radius: nil)]), .points([MapItem.Label(id: "7", name: "Café", place: place(1))]),
            .beacons([]), .tag(MapItem.Label(id: "cart", name: "Cart", place: nil)),
        ]
        let data = try JSONEncoder().encode(items)
        XCTAssertEqual(try JSONDecoder().decode([MapItem].self, from: data), items)
        let heading = try JSONEncoder().encode(MapItem.heading(90))
        XCTAssertEqual(String(decoding: heading, as: UTF8.self), #"{"heading":{"_0":90}}"#)
    }

    // MARK: - The plugin

    private func elements(
        _ stream: AsyncStream<MapItem>, until what: String, _ isLast: @escaping @Sendable (MapItem) -> Bool
    ) async throws -> [MapItem] {
        try await Bounded.elements(of: stream, until: what, isLast)
    }

    /// Plan, position, trail and route are one stream, and a later view begins with them.
    func testEachViewReceivesTheSessionAndTheRoute() async throws {
        let host = PluginHost(localizer: stage.localizer)
        var office = SessionStage.office
        let ends = [MapPoint(x: 0, y: 0), MapPoint(x: 40, y: 30)]
        office.paths = PathGraph(
            nodes: ends.enumerated().map { PathGraph.Node(id: $0.offset, mapID: 10, point: $0.element) },
            edges: [PathGraph.Edge(from: 0, to: 1)])
        var options = RouteOptions()
        options.snappingDistance = 1000
        let guidance = await host.add(
            RouteGuidance(), arguments: .init(planner: RoutePlanner(venue: office), options: options))
        let kept = await host.add(MapFeed(), arguments: .init())
        let map = try XCTUnwrap(kept)
        let first = await map.items()
        try await guidance?.guide(to: RoutePoint(mapID: 10, point: MapPoint(x: 40, y: 30)))
        try await stage.run()
        let told = try await elements(first, until: "a route") { if case .route = $0 { true } else { false } }
        XCTAssertTrue(told.contains { if case .plan(let plan) = $0 { plan.name == "ground" } else { false } })
        XCTAssertTrue(told.contains { if case .position = $0 { true } else { false } })
        XCTAssertTrue(told.contains { if case .trail = $0 { true } else { false } })
        guard case .route(let way)? = told.last else { return XCTFail("no route") }
        XCTAssertEqual(way.last.map { [$0.x, $0.y] }, [40, 30])
        let second = await map.items()
        let snapshot = try await elements(second, until: "the position") {
            if case .position = $0 { true } else { false }
        }
        XCTAssertEqual(snapshot.map(\.kind), ["plan", "points", "beacons", "route", "trail", "position"])
        let isGone = await host.stop(map)
        XCTAssertTrue(isGone)
        for await _ in first {}
    }
}

extension MapItem {
    fileprivate var kind: String {
        switch self {
        case .plan: "plan"
        case .position: "position"
        case .heading: "heading"
        case .trail: "trail"
        case .route: "route"
        case .points: "points"
        case .beacons: "beacons"
        case .tag: "tag"
        }
    }
}
