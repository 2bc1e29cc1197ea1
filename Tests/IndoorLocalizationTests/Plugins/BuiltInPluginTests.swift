import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// The plugins that come with the package, beside a real session whose radio a test plays.
///
/// The clock of each host stands still, so that a plugin can take its time on a busy machine.
final class BuiltInPluginTests: XCTestCase {
    private let stage = LocalizerStage()
    private let away = PluginPlacement(mapID: 10, place: .point(MapPoint(x: 30, y: 20)), heading: 90, radius: 0.5)

    /// Waits for a position near a point.
    private func waitForPosition(
        near point: MapPoint, of positions: AsyncStream<Position>, within meters: Double = 3
    ) async throws {
        _ = try await Bounded.elements(of: positions, until: "a position near \(point)") {
            $0.point.distance(to: point) < meters
        }
    }

    /// Lets beacons be heard for a while after `run()`.
    private func goOn(from begin: Double, for seconds: Double) {
        for reading in LocalizerStage.walk(from: LocalizerStage.beginning + begin, for: seconds) {
            stage.source.send(reading)
        }
    }

    // MARK: - Named points

    func testANamedPointSetsThePositionAndKeepsItsHeading() async throws {
        let host = PluginHost(localizer: stage.localizer, clock: ManualClock())
        let kept = await host.add(NamedPoints(), arguments: ["lift": away])
        let points = try XCTUnwrap(kept)
        try await stage.run()
        let positions = stage.localizer.positions
        let outcome = try await points.setLocation("lift")
        guard case .taken = outcome else { return XCTFail("\(String(describing: outcome))") }
        goOn(from: 6, for: 1)
        try await waitForPosition(near: MapPoint(x: 30, y: 20), of: positions)
        let heading = await points.heading
        XCTAssertEqual(heading, 90)
    }

    func testANamedPointTurnsTheDeviceToItsHeading() async throws {
        let host = PluginHost(localizer: stage.localizer, clock: ManualClock())
        let kept = await host.add(NamedPoints(), arguments: ["lift": away])
        let points = try XCTUnwrap(kept)
        try await stage.run()
        let headings = stage.localizer.headings
        func lie(at seconds: Double) {
            stage.source.send(
                .motion(
                    MotionSample(
                        instant: Instant(seconds: LocalizerStage.beginning + seconds),
                        acceleration: Vector3(x: 0, y: 0, z: 9.81), rotationRate: Vector3(x: 0, y: 0, z: 0))))
        }
        for tick in 0..<50 { lie(at: 5.6 + Double(tick) / 50) }
        _ = try await Bounded.first(1, of: headings)
        // The stream emits changes only. The session may still have readings that bring the change at once.
        let turned = stage.localizer.headings
        try await points.setLocation("lift")
        for tick in 0..<50 { lie(at: 6.6 + Double(tick) / 50) }
        _ = try await Bounded.elements(of: turned, until: "a course of 90°") { abs($0.course - 90) < 1 }
        // A point without a heading leaves it.
        await points.add("stairs", PluginPlacement(mapID: 10, place: .point(MapPoint(x: 1, y: 1))))
        try await points.setLocation("stairs")
        let motion = stage.localizer.motion
        for tick in 0..<100 { lie(at: 7.6 + Double(tick) / 50) }
        let estimate = try await Bounded.first(1, of: motion).first
        XCTAssertEqual(try XCTUnwrap(estimate?.heading?.course), 90, accuracy: 1)
    }

    func testAPointWithoutAHeadingKeepsThePreviousOne() async throws {
        let host = PluginHost(localizer: stage.localizer, clock: ManualClock())
        let kept = await host.add(NamedPoints(), arguments: ["lift": away])
        let points = try XCTUnwrap(kept)
        await points.add("stairs", PluginPlacement(mapID: 11, place: .point(MapPoint(x: 1, y: 1))))
        try await points.setLocation("lift")
        try await points.setLocation("stairs")
        let heading = await points.heading
        XCTAssertEqual(heading, 90)
    }

    func testAnUnknownPointHasNoEffect() async throws {
        let host = PluginHost(localizer: stage.localizer, clock: ManualClock())
        let kept = await host.add(NamedPoints(), arguments: ["lift": away])
        let points = try XCTUnwrap(kept)
        let unknown = try await points.setLocation("stairs")
        XCTAssertNil(unknown)
        let isRemoved = await points.remove("lift")
        XCTAssertTrue(isRemoved)
        let isRemovedAgain = await points.remove("lift")
        XCTAssertFalse(isRemovedAgain)
        let removed = try await points.setLocation("lift")
        XCTAssertNil(removed)
        let heading = await points.heading
        XCTAssertNil(heading)
    }

    func testAPointWithoutAPositionInTheVenueIsAnError() async throws {
        let host = PluginHost(localizer: stage.localizer, clock: ManualClock())
        let kept = await host.add(
            NamedPoints(), arguments: ["here": PluginPlacement(place: .point(MapPoint(x: 1, y: 1)))])
        let points = try XCTUnwrap(kept)
        do {
            try await points.setLocation("here")
            XCTFail("nobody knows the map")
        } catch {
            XCTAssertEqual(error as? PluginPlacementError, .noMap)
        }
    }

    // MARK: - Beacon correction

    private struct CorrectionStage {
        let radio = ScriptedSource()
        let scanner: BeaconScanner
        let host: PluginHost
        let plugin: BeaconCorrection
        let witness = ProbePlugin(.pluginData)

        init(
            _ stage: LocalizerStage, _ beacons: [CorrectionBeacon],
            decide: (@Sendable (BeaconRecord, CorrectionBeacon) -> Bool)? = nil
        ) async throws {
            scanner = BeaconScanner(
                source: radio, settings: ScannerSettings(dutyCycle: .continuous), clock: stage.clock)
            host = PluginHost(localizer: stage.localizer, clock: ManualClock())
            await host.add(witness)
            let kept = await host.add(
                BeaconCorrection(), arguments: .init(scanner: scanner, beacons: beacons, decide: decide))
            plugin = try XCTUnwrap(kept)
            try await radio.waitUntilScanning()
        }

        /// Lets a beacon be heard from close by, 0.3 m, or from 2 m.
        func hear(_ minor: UInt16, isClose: Bool = true, at seconds: Double) {
            radio.send(
                .sighting(
                    Sighting(
                        instant: Instant(seconds: seconds), beacon: SessionStage.beacon(9, minor),
                        rssi: isClose ? -48.5 : -65, measuredPower: -59)))
        }

        /// So many corrections, as soon as they were broadcast.
        func corrections(_ count: Int) async throws -> [BeaconCorrection.Correction] {
            try await Bounded.wait(for: "\(count) corrections") { [witness] in
                try await witness.data.wait { $0.count >= count }
            }
            return witness.data.value.compactMap { $0.value(as: BeaconCorrection.Correction.self) }
        }
    }

    private func beacon(_ id: String, _ minor: UInt16, _ placement: PluginPlacement) -> CorrectionBeacon {
        CorrectionBeacon(id: id, region: BeaconRegion(SessionStage.beacon(9, minor)), placement: placement)
    }

    func testABeaconFromCloseBySetsThePositionOfTheSession() async throws {
        let correction = try await CorrectionStage(stage, [beacon("lift", 1, away)])
        try await stage.run()
        let positions = stage.localizer.positions
        correction.hear(1, at: 10)
        let made = try await correction.corrections(1)
        XCTAssertEqual(made.map(\.beacon.id), ["lift"])
        guard case .taken = made.first?.outcome else { return XCTFail("\(made)") }
        XCTAssertEqual(correction.witness.data.value.first?.tag, BeaconCorrection.tag)
        goOn(from: 6, for: 1)
        try await waitForPosition(near: MapPoint(x: 30, y: 20), of: positions)
    }

    /// The scanner may receive the beacon before the session has handled the readings before it.
    func testACorrectionIsMadeAfterTheReadingsBeforeItsBeacon() async throws {
        let heard = WatchedState(false)
        let correction = try await CorrectionStage(stage, [beacon("lift", 1, away)]) { _, _ in
            heard.update { $0 = true }
            return true
        }
        try await stage.run()
        let positions = stage.localizer.positions
        correction.hear(1, at: LocalizerStage.beginning + 6.5)
        try await Bounded.wait(for: "the beacon") { try await heard.wait { $0 } }
        goOn(from: 5.6, for: 1)
        let made = try await correction.corrections(1)
        guard case .taken = made.first?.outcome else { return XCTFail("\(made)") }
        goOn(from: 6.6, for: 1)
        let seen = try await Bounded.elements(of: positions, until: "a position at the lift") {
            $0.point.distance(to: MapPoint(x: 30, y: 20)) < 3
        }
        XCTAssertGreaterThan(seen.count, 1)
        XCTAssertGreaterThanOrEqual(
            try XCTUnwrap(seen.last).instant, Instant(seconds: LocalizerStage.beginning + 6.5), "\(seen)")
    }

    func testTheHeadingIsKeptWhereABeaconHasNone() async throws {
        let plain = PluginPlacement(mapID: 10, place: .point(MapPoint(x: 1, y: 1)))
        let correction = try await CorrectionStage(stage, [beacon("lift", 1, away), beacon("door", 2, plain)])
        correction.hear(2, at: 10)
        correction.hear(1, at: 11)
        // Away from the door, and back: the filter of the distance needs some readings for each.
        for second in 12...23 { correction.hear(2, isClose: false, at: Double(second)) }
        for second in 24...60 { correction.hear(2, at: Double(second)) }
        let made = try await correction.corrections(3)
        XCTAssertEqual(made.prefix(3).map(\.beacon.id), ["door", "lift", "door"])
        XCTAssertEqual(made.prefix(3).map(\.heading), [nil, 90, 90])
    }

    func testABeaconWithAHeadingOnlySetsNoPosition() async throws {
        let correction = try await CorrectionStage(stage, [beacon("sign", 1, PluginPlacement(heading: 45))])
        correction.hear(1, at: 10)
        let made = try await correction.corrections(1)
        XCTAssertEqual(made.first?.heading, 45)
        XCTAssertEqual(made.first?.outcome, .none)
    }

    func testAProgramsOwnRuleReplacesTheDefaultRule() async throws {
        let correction = try await CorrectionStage(stage, [beacon("lift", 1, away)]) { record, beacon in
            record.rssi == -65 && beacon.id == "lift"
        }
        correction.hear(1, at: 10)
        correction.hear(1, isClose: false, at: 11)
        correction.hear(1, isClose: false, at: 11.1)
        let made = try await correction.corrections(2)
        XCTAssertEqual(made.map(\.instant.seconds), [11, 11.1])
    }

    func testAPlaceWithoutAPositionInTheVenueIsReported() async throws {
        let nowhere = PluginPlacement(place: .point(MapPoint(x: 1, y: 1)))
        let correction = try await CorrectionStage(stage, [beacon("lift", 1, nowhere)])
        let failures = correction.host.failures
        correction.hear(1, at: 10)
        let failure = try await Bounded.first(1, of: failures).first
        XCTAssertEqual(failure?.occasion, .working)
        XCTAssertEqual(failure?.cause, PluginPlacementError.noMap.description)
    }

    func testTheScannerIsPausedResumedAndStopped() async throws {
        let correction = try await CorrectionStage(stage, [])
        await correction.plugin.pauseScanning()
        try await Bounded.wait(for: "the pause") { try await correction.radio.waitUntilNothingRuns() }
        XCTAssertEqual(correction.radio.runningScanCount, 0, "paused")
        await correction.plugin.resumeScanning()
        try await correction.radio.waitUntilScanning(2)
        XCTAssertEqual(correction.radio.runningScanCount, 1, "resumed")
        let isGone = await correction.host.stop(correction.plugin)
        XCTAssertTrue(isGone)
        let isStarted = await correction.scanner.isStarted
        XCTAssertFalse(isStarted)
    }

    func testBeaconsAreAddedAndRemovedWhileThePluginRuns() async throws {
        let correction = try await CorrectionStage(stage, [beacon("lift", 1, away)])
        let isRemoved = await correction.plugin.remove("lift")
        XCTAssertTrue(isRemoved)
        await correction.plugin.add(beacon("door", 2, away))
        correction.hear(1, at: 10)
        correction.hear(2, at: 10)
        let made = try await correction.corrections(1)
        XCTAssertEqual(made.map(\.beacon.id), ["door"])
    }

    // MARK: - Route guidance

    private func planner() throws -> RoutePlanner {
        var office = SessionStage.office
        let ends = [MapPoint(x: 0, y: 0), MapPoint(x: 40, y: 30)]
        office.paths = PathGraph(
            nodes: ends.enumerated().map { PathGraph.Node(id: $0.offset, mapID: 10, point: $0.element) },
            edges: [PathGraph.Edge(from: 0, to: 1)])
        return RoutePlanner(venue: office)
    }

    private func guidance(_ host: PluginHost) async throws -> RouteGuidance {
        var options = RouteOptions()
        options.snappingDistance = 1000
        let kept = await host.add(RouteGuidance(), arguments: .init(planner: try planner(), options: options))
        return try XCTUnwrap(kept)
    }

    func testPresentPluginsReceiveTheRoute() async throws {
        let host = PluginHost(localizer: stage.localizer, clock: ManualClock())
        let witness = ProbePlugin(.pluginData)
        await host.add(witness)
        let guidance = try await guidance(host)
        try await guidance.guide(to: RoutePoint(mapID: 10, point: MapPoint(x: 40, y: 30)))
        try await stage.run()
        try await Bounded.wait(for: "progress") { try await witness.data.wait { $0.count >= 3 } }
        let updates = witness.data.value.compactMap { $0.value(as: RouteUpdate.self) }
        guard case .planned(let route) = updates.first, case .progressed = updates.dropFirst().first else {
            return XCTFail("\(updates)")
        }
        XCTAssertEqual(route.goal.place.point, MapPoint(x: 40, y: 30))
        XCTAssertEqual(witness.data.value.first?.operation, .initialize, "the greeting")
        XCTAssertEqual(Set(witness.data.value.map(\.tag)), [RouteGuidance.tag])
        await guidance.cancel()
        let none = await guidance.route
        XCTAssertNil(none)
    }

    func testALaterPluginReceivesAnAnswerAndTheRoute() async throws {
        let host = PluginHost(localizer: stage.localizer, clock: ManualClock())
        let guidance = try await guidance(host)
        try await guidance.guide(to: RoutePoint(mapID: 10, point: MapPoint(x: 40, y: 30)))
        try await stage.run()
        try await Bounded.wait(for: "the route") {
            while await guidance.route == nil { try await pause() }
        }
        let late = ProbePlugin(.pluginData)
        await host.add(late)
        let added = await host.id(of: late)
        let own = try XCTUnwrap(added)
        await host.broadcast(PluginHandshake(tag: RouteGuidance.tag, own: own).greeting)
        try await late.wait(for: "data \(RouteGuidance.tag) -1")
        try await Bounded.wait(for: "the route") {
            try await late.data.wait { data in
                data.contains { if case .renewed? = $0.value(as: RouteUpdate.self) { true } else { false } }
            }
        }
        let answer = late.data.value.first { $0.operation == .acknowledge }
        XCTAssertEqual(answer?.value(as: PluginID.self), own)
        let isGone = await host.stop(guidance)
        XCTAssertTrue(isGone)
        try await late.wait(for: "data \(RouteGuidance.tag) -2")
    }

    func testAnUnreachableGoalIsRejected() async throws {
        let guidance = try await guidance(PluginHost(localizer: stage.localizer, clock: ManualClock()))
        do {
            try await guidance.guide(to: RoutePoint(mapID: 99, point: MapPoint(x: 0, y: 0)))
            XCTFail("there is no such map")
        } catch {
            XCTAssertEqual(error as? RouteError, .unknownMap(99, .goal, known: [10, 11]))
        }
    }
}

final class BeaconCorrectionRuleTests: XCTestCase {
    private let door = "door"
    private let lift = "lift"

    /// What the rule says to one reading a second.
    private func decisions(
        _ readings: [(String, Proximity?)], _ settings: BeaconCorrectionRule.Settings = .init()
    ) -> [Bool] {
        var rule = BeaconCorrectionRule(settings: settings)
        return readings.enumerated().map { index, reading in
            rule.handle(reading.0, reading.1, at: Instant(seconds: Double(index)))
        }
    }

    func testOnlyAReadingFromCloseBySetsThePosition() {
        XCTAssertEqual(
            decisions([(door, .far), (door, nil), (door, .near), (door, .immediate)]), [false, false, false, true])
    }

    func testASecondReadingFromCloseByIsIgnoredUntilFiveNearOnes() {
        let away = Array(repeating: (door, Proximity?.some(.near)), count: 5)
        let decisions = decisions(
            [(door, .immediate), (door, .immediate)] + away.prefix(4) + [(door, .immediate)] + away.prefix(1)
                + [(door, .immediate), (door, .immediate)])
        XCTAssertEqual(
            decisions, [true, false, false, false, false, false, false, false, true, false])
    }

    func testReadingsFromFarAwayAndWithoutADistanceHaveNoEffect() {
        let away: [(String, Proximity?)] = (0..<10).map { (door, $0 % 2 == 0 ? .far : nil) }
        let near: [(String, Proximity?)] = (0..<4).map { _ in (door, .near) }
        let decisions = decisions([(door, .immediate)] + away + near + [(door, .immediate)])
        XCTAssertEqual(decisions.filter { $0 }.count, 1)
    }

    func testEachBeaconHasItsOwnCooldown() {
        XCTAssertEqual(decisions([(door, .immediate), (lift, .immediate)]), [true, true])
    }

    func testAllBeaconsShareOneCounterOnRequest() {
        var settings = BeaconCorrectionRule.Settings()
        settings.sharesCooldown = true
        let near = (0..<5).map { _ in (door, Proximity?.some(.near)) }
        XCTAssertEqual(
            decisions([(door, .immediate), (lift, .immediate)] + near + [(lift, .immediate)], settings),
            [true, false, false, false, false, false, false, true])
    }

    func testAdvertisementsWithinASecondAreOneReading() {
        var rule = BeaconCorrectionRule()
        XCTAssertTrue(rule.handle(door, .immediate, at: Instant(seconds: 100)))
        for tick in 1...30 { XCTAssertFalse(rule.handle(door, .near, at: Instant(seconds: 100 + Double(tick) / 10))) }
        XCTAssertEqual(rule.cooldown(of: door), 2, "three seconds are three readings")
    }

    func testAnEarlierInstantOfANewSessionDoesNotSilenceABeacon() {
        var rule = BeaconCorrectionRule()
        XCTAssertFalse(rule.handle(door, .near, at: Instant(seconds: 1000)))
        XCTAssertTrue(rule.handle(door, .immediate, at: Instant(seconds: 0)))
    }

    func testWithoutACooldownEveryReadingFromCloseBySetsThePosition() {
        var settings = BeaconCorrectionRule.Settings()
        for cooldown in [0, -3] {
            settings.cooldown = cooldown
            XCTAssertEqual(decisions([(door, .immediate), (door, .immediate)], settings), [true, true], "\(cooldown)")
        }
    }
}

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

    func testAPositionBringsThePlanOfItsVenueAfterTheSession() async throws {
        let host = PluginHost(localizer: stage.localizer, clock: ManualClock())
        let kept = await host.add(MapFeed(), arguments: .init())
        let map = try XCTUnwrap(kept)
        await map.receive(position: position(1), in: Self.office)
        let items = try await elements(await map.items(), until: "the position") {
            if case .position = $0 { true } else { false }
        }
        XCTAssertEqual(items.map(\.kind), ["plan", "points", "beacons", "trail", "position"])
    }

    /// Plan, position, trail and route are one stream, and a later view begins with them.
    func testEachViewReceivesTheSessionAndTheRoute() async throws {
        let host = PluginHost(localizer: stage.localizer, clock: ManualClock())
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
