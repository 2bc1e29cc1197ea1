import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import XCTest
@testable import IndoorPositioning
@testable import LocalizationSession

final class AreaMachineTests: XCTestCase {
    private let inside = MapPoint(x: 5, y: 5)
    private let outside = MapPoint(x: 50, y: 5)

    private func machine(dwell: Duration = .seconds(2), holdOff: Duration = .zero) -> AreaMachine {
        AreaMachine(
            watched: [7, 8].map {
                AreaMachine.Watched(
                    id: $0, mapID: 1, area: .circle(center: inside, radius: $0 == 7 ? 2 : 20), holdOff: holdOff)
            }, dwell: dwell)
    }

    private func go(_ machine: inout AreaMachine, _ point: MapPoint, _ seconds: Double, map: MapID = 1)
        -> [AreaMachine.Change]
    {
        machine.observe(point, on: map, at: Instant(seconds: seconds))
    }

    func testAnAreaIsEnteredAfterTheDwell() {
        var machine = machine()
        XCTAssertEqual(go(&machine, inside, 0), [])
        XCTAssertEqual(go(&machine, inside, 1.999), [])
        XCTAssertEqual(go(&machine, inside, 2), [.enter(7), .enter(8)])
        XCTAssertEqual(go(&machine, inside, 3), [])
    }

    func testAnAreaIsLeftAfterTheDwell() {
        var machine = machine()
        for second in [0.0, 2] { _ = go(&machine, inside, second) }
        XCTAssertEqual(go(&machine, outside, 3), [])
        XCTAssertEqual(go(&machine, outside, 5), [.exit(7), .exit(8)])
    }

    func testADwellRunsInMonitoredTimeAndAHoldOffInElapsedTime() {
        var machine = machine(holdOff: .seconds(10))
        func go(_ point: MapPoint, _ seconds: Double, watched: Double) -> [AreaMachine.Change] {
            machine.observe(
                point, on: 1, at: Instant(seconds: seconds), watched: Instant(seconds: watched))
        }
        XCTAssertEqual(go(inside, 0, watched: 0), [])
        XCTAssertEqual(go(inside, 90, watched: 1), [])
        XCTAssertEqual(go(inside, 91, watched: 2), [.enter(7), .enter(8)])
        XCTAssertEqual(go(outside, 92, watched: 3), [])
        XCTAssertEqual(go(outside, 93, watched: 5), [.exit(7), .exit(8)])
        XCTAssertEqual(go(inside, 100, watched: 6), [])
        XCTAssertEqual(go(inside, 104, watched: 8), [.enter(7), .enter(8)], "11 s behind the exit")
    }

    func testAStepBackRestartsTheDwell() {
        var machine = machine()
        _ = go(&machine, inside, 0)
        _ = go(&machine, outside, 1)
        XCTAssertEqual(go(&machine, inside, 2), [])
        XCTAssertEqual(go(&machine, inside, 3.9), [])
        XCTAssertEqual(go(&machine, inside, 4), [.enter(7), .enter(8)])
    }

    func testWithoutADwellEachChangeIsReportedAtOnce() {
        var machine = machine(dwell: .zero)
        XCTAssertEqual(go(&machine, inside, 0), [.enter(7), .enter(8)])
        XCTAssertEqual(go(&machine, MapPoint(x: 15, y: 5), 0), [.exit(7)])
        XCTAssertEqual(go(&machine, outside, 0), [.exit(8)])
    }

    func testExitsComeBeforeEntries() {
        var machine = AreaMachine(
            watched: [
                AreaMachine.Watched(id: 1, mapID: 1, area: .circle(center: outside, radius: 1)),
                AreaMachine.Watched(id: 2, mapID: 1, area: .circle(center: inside, radius: 1)),
            ], dwell: .zero)
        XCTAssertEqual(go(&machine, inside, 0), [.enter(2)])
        XCTAssertEqual(go(&machine, outside, 1), [.exit(2), .enter(1)])
    }

    func testTheSamePointOnAnotherMapIsOutside() {
        var machine = machine(dwell: .zero)
        _ = go(&machine, inside, 0)
        XCTAssertEqual(go(&machine, inside, 1, map: 2), [.exit(7), .exit(8)])
    }

    func testWithinTheHoldOffEntryAndExitAreSilent() {
        var machine = machine(dwell: .zero, holdOff: .seconds(10))
        _ = go(&machine, inside, 0)
        XCTAssertEqual(go(&machine, outside, 5), [.exit(7), .exit(8)])
        XCTAssertEqual(go(&machine, inside, 14.999), [])
        XCTAssertEqual(go(&machine, outside, 14.9995), [])
        XCTAssertEqual(go(&machine, inside, 15), [.enter(7), .enter(8)])
    }

    func testSilentExitsDoNotProlongTheHoldOff() {
        var machine = machine(dwell: .zero, holdOff: .seconds(10))
        _ = go(&machine, inside, 0)
        _ = go(&machine, outside, 0)
        for second in stride(from: 1.0, to: 10, by: 1) {
            XCTAssertEqual(go(&machine, inside, second), [], "\(second) s")
            XCTAssertEqual(go(&machine, outside, second), [], "\(second) s")
        }
        XCTAssertEqual(go(&machine, inside, 10), [.enter(7), .enter(8)])
    }

    func testLeaveAllLeavesEveryAreaAtOnce() {
        var machine = machine()
        for second in [0.0, 2] { _ = go(&machine, inside, second) }
        XCTAssertEqual(machine.leaveAll(at: Instant(seconds: 2.1)), [.exit(7), .exit(8)])
        XCTAssertEqual(machine.leaveAll(at: Instant(seconds: 2.2)), [])
    }

    func testLeaveAllLeavesOnlyEnteredAreasAndForgetsPendingDwells() {
        var machine = machine()
        _ = go(&machine, inside, 0)
        XCTAssertEqual(machine.leaveAll(at: Instant(seconds: 1)), [])
        XCTAssertEqual(go(&machine, inside, 2), [], "the dwell begins anew")
        XCTAssertEqual(go(&machine, inside, 4), [.enter(7), .enter(8)])
    }

    func testLeaveAllEmitsNoExitsOfSilentEntries() {
        var machine = machine(dwell: .zero, holdOff: .seconds(10))
        _ = go(&machine, inside, 0)
        _ = go(&machine, outside, 1)
        _ = go(&machine, inside, 2)
        XCTAssertEqual(machine.leaveAll(at: Instant(seconds: 3)), [])
    }
}

/// Rooms change by readings. While nothing is received, the point of a position moves toward the middle of the plan.
final class RoomsWithoutEvidenceTests: XCTestCase {
    private static let beacons = [(2.0, 2.0), (10, 2), (18, 2), (2, 10), (10, 10), (18, 10)].enumerated().map {
        index, place in
        VenueBeacon(
            identity: BeaconIdentity(uuid: BeaconUUID(high: 3, low: 4), major: 1, minor: UInt16(index)), mapID: 1,
            point: MapPoint(x: place.0, y: place.1), measuredPower: -59)
    }
    /// A hall of 20 × 12 m with the rooms West, Mid and East, and no walls.
    private static let hall = Venue(
        id: 1, name: "hall", maps: [VenueMap(id: 1, name: "hall", level: 0, width: 20, height: 12)], beacons: beacons,
        rooms: ["West", "Mid", "East"].enumerated().map { index, name in
            let (left, right) = (Double(index) * 20 / 3, Double(index + 1) * 20 / 3)
            let corners = [(left, 0.0), (right, 0), (right, 12), (left, 12)].map { MapPoint(x: $0.0, y: $0.1) }
            return Room(id: index + 1, name: name, mapID: 1, area: .polygon(corners))
        })

    /// Returns the sightings of each beacon at a period, as a carrier in West receives them until an instant in seconds.
    private static func sightings(at place: MapPoint, every period: Double, until end: Double, seed: UInt64)
        -> [Sighting]
    {
        var generator = SeededGenerator(seed: seed)
        return beacons.enumerated().flatMap { index, beacon in
            stride(from: period * Double(index) / 6, to: end, by: period).map { time in
                let distance = max(beacon.point.distance(to: place), 0.5)
                let rssi = -59 - 24 * log10(distance) + 4 * generator.normal()
                return Sighting(instant: Instant(seconds: time), beacon: beacon.identity, rssi: rssi)
            }
        }.sorted { $0.instant < $1.instant }
    }

    /// Returns the room events of a session, with their instants in seconds.
    private static func events(_ sightings: [Sighting], until end: Double, seed: UInt64) -> [(at: Double, text: String)]
    {
        var settings = LocalizationSettings()
        settings.positioning.particleCount = 300
        var replay = SessionReplay(venues: [hall], settings: settings, seed: seed)
        var outputs = replay.start()
        for sighting in sightings { outputs += replay.handle(.sighting(sighting)) }
        outputs += replay.advance(to: Instant(seconds: end))
        return outputs.compactMap { output in
            guard case .event(let event) = output.content else { return nil }
            return (output.instant.seconds, event.kind.description)
        }
    }

    func testNoRoomIsEnteredAfterTheBeaconsFellSilent() {
        for seed in UInt64(1)...3 {
            let sightings = Self.sightings(at: MapPoint(x: 4.7, y: 6), every: 0.5, until: 20, seed: seed)
            let late = Self.events(sightings, until: 70, seed: seed).filter { $0.at > 23 }
            XCTAssertEqual(late.map(\.text), ["exitRoom West"], "seed \(seed): \(late)")
            XCTAssertGreaterThan(late.first?.at ?? 0, 40, "the exit comes when the venue is lost")
        }
    }

    func testBeaconsThatAreRarelyHeardCauseFewRoomEvents() {
        for seed in UInt64(1)...3 {
            let sightings = Self.sightings(at: MapPoint(x: 4.7, y: 6), every: 10, until: 100, seed: seed)
            let events = Self.events(sightings, until: 99, seed: seed)
            XCTAssertLessThanOrEqual(events.count, 7, "seed \(seed): \(events)")
            XCTAssertEqual(events.last?.text, "enterRoom West", "seed \(seed): \(events)")
        }
    }

    func testACarrierAtABorderStaysInOneRoom() {
        for seed in UInt64(1)...3 {
            let sightings = Self.sightings(at: MapPoint(x: 6.4, y: 6), every: 0.5, until: 90, seed: seed)
            let events = Self.events(sightings, until: 89, seed: seed)
            XCTAssertLessThanOrEqual(events.count { $0.text.hasPrefix("enterRoom") }, 3, "seed \(seed): \(events)")
        }
    }

    func testAWalkerEntersTheRoomsOnTheWay() {
        var sightings: [Sighting] = []
        for second in 0..<40 {
            let place = MapPoint(x: min(17, 3 + max(0, Double(second) - 10) * 0.7), y: 6)
            sightings += Self.sightings(at: place, every: 0.5, until: 1, seed: UInt64(second)).map { sighting in
                var later = sighting
                later.instant = sighting.instant.advanced(by: .seconds(second))
                return later
            }
        }
        let events = Self.events(sightings, until: 40, seed: 1).map(\.text)
        XCTAssertEqual(
            events.filter { $0.hasPrefix("enterRoom") }, ["enterRoom West", "enterRoom Mid", "enterRoom East"],
            "\(events)")
    }

    // MARK: - The machines alone

    func testAChangeBeginsOnlyWithANewReading() {
        let areas = [1, 2].map { id in
            let (left, right) = (Double(id - 1) * 5, Double(id) * 5)
            let corners = [(left, 0.0), (right, 0), (right, 5), (left, 5)].map { MapPoint(x: $0.0, y: $0.1) }
            return AreaMachine.Watched(id: id, mapID: 1, area: .polygon(corners))
        }
        var machine = AreaMachine(watched: areas, dwell: .seconds(2))
        let (one, two) = (MapPoint(x: 2, y: 2), MapPoint(x: 7, y: 2))
        func observe(_ point: MapPoint, _ isNew: Bool, _ second: Int) -> [AreaMachine.Change] {
            machine.observe(point, on: 1, isNew: isNew, at: Instant(seconds: Double(second)))
        }
        XCTAssertEqual(observe(one, true, 0), [])
        // A change that began with a reading ends without one.
        XCTAssertEqual(observe(one, false, 2), [.enter(1)])
        for second in 3...60 { XCTAssertEqual(observe(two, false, second), [], "second \(second)") }
        XCTAssertEqual(observe(two, true, 61), [])
        XCTAssertEqual(observe(two, true, 63), [.exit(1), .enter(2)])
    }

    func testAFloorIsReplacedOnlyWithANewReading() {
        var machine = FloorMachine(settings: FloorSettings())
        machine.observe([1: 0.9, 2: 0.1], at: .zero)
        for second in 1...60 {
            machine.observe([1: 0.1, 2: 0.9], isNew: false, at: Instant(seconds: Double(second)))
        }
        XCTAssertEqual(machine.map, 1)
        machine.observe([1: 0.1, 2: 0.9], isNew: true, at: Instant(seconds: 61))
        machine.observe([1: 0.1, 2: 0.9], isNew: false, at: Instant(seconds: 63))
        XCTAssertEqual(machine.map, 2)
    }
}

final class InteractionTests: XCTestCase {
    /// Beacons without a place in the office's packet.
    private static let guide = BeaconRegion(uuid: SessionStage.beacon(7, 1).uuid, major: 7)

    private func office(_ interactions: [Interaction]) -> Venue {
        var venue = SessionStage.office
        venue.pointsOfInterest = [
            PointOfInterest(id: 5, name: "fountain", mapID: 10, point: MapPoint(x: 22, y: 20)),
            PointOfInterest(id: 6, name: "statue", mapID: 11, point: MapPoint(x: 20, y: 20)),
        ]
        venue.interactions = interactions
        return venue
    }

    /// A session that looks for the floor in the office since second 10, where its beacon is heard.
    private func machine(_ interactions: [Interaction], _ settings: SettingsStack? = nil) -> Machine {
        var localization = LocalizationSettings()
        localization.areaDwell = .zero
        var machine = Machine(settings: settings ?? SettingsStack(localization: localization), seed: 1) { _, _ in
            FixBelief()
        }
        let venue = office(interactions)
        for event: Machine.Event in [
            .start, .catalogue([VenueSummary(of: venue)]), .reading(SessionStage.heard(1, at: 10)), .packet(1, venue),
        ] { _ = machine.handle(event, at: 10) }
        return machine
    }

    /// Returns the events until a second; the device receives the office's beacon all the time, and others as given.
    private func tell(
        _ machine: inout Machine, to end: Double, resting: Range<Double> = 0..<0,
        _ heard: (Double) -> [SensorReading] = { _ in [] }
    ) -> [String] {
        var told: [String] = []
        let begin = (machine.nextWake ?? .zero).seconds.rounded(.up)
        for second in stride(from: begin, through: end, by: 1) {
            var directives = machine.pass(to: second)
            let usual = resting.contains(second) ? [] : [SessionStage.heard(1, at: second)]
            for reading in usual + heard(second) {
                directives += machine.handle(.reading(reading), at: second)
            }
            told += names(directives)
        }
        return told
    }

    private func names(_ directives: [Machine.Directive]) -> [String] {
        directives.compactMap { directive in
            guard case .emitInteraction(let event) = directive else { return nil }
            return "\(event.isEntry ? "enter" : "exit") \(event.interaction.id) at \(event.instant.seconds)"
        }
    }

    // MARK: - Beacons

    func testOverlappingBeaconsOfARegionGiveOneEntryAndNoExitUntilAllAreLost() {
        var machine = machine([Interaction(id: 1, name: "guide", target: .beacon(Self.guide))])
        let told = tell(&machine, to: 100) { second in
            // The first one is heard from 20 to 29, the second one from 25 to 49.
            (20..<30 ~= second ? [SessionStage.heard(7, 1, at: second)] : [])
                + (25..<50 ~= second ? [SessionStage.heard(7, 2, at: second)] : [])
        }
        XCTAssertEqual(told, ["enter 1 at 20.5", "exit 1 at 79.0"], "30 s after 49")
    }

    func testADistanceLimitsTheEntryAndOneAndAHalfTimesItTheExit() {
        let near = Interaction(id: 1, name: "guide", target: .beacon(Self.guide), distance: 3)
        var machine = machine([near])
        // Without a measured power of its own, -62 dBm are 1 m: 7.9 m, 2 m, 4 m, 7.9 m.
        let told = tell(&machine, to: 200) { second in
            let rssi: Double = second < 50 ? -80 : second < 100 ? -68 : second < 150 ? -74 : -80
            return [SessionStage.heard(7, 1, at: second, rssi: rssi)]
        }
        XCTAssertEqual(told.map { String($0.prefix(7)) }, ["enter 1", "exit 1 "])
        let seconds = told.compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }
        XCTAssertTrue((50...60).contains(seconds.first ?? 0), "\(told)")
        XCTAssertTrue((150...160).contains(seconds.last ?? 0), "\(told)")
    }

    /// A trigger is enter, exit or both.
    func testATriggerSelectsTheReportedDirection() {
        for (trigger, expected) in [
            (Interaction.Trigger.enter, ["enter 1 at 20.5"]), (.exit, ["exit 1 at 50.0"]),
            (.both, ["enter 1 at 20.5", "exit 1 at 50.0"]),
        ] {
            var machine = machine([
                Interaction(id: 1, name: "guide", target: .beacon(Self.guide), trigger: trigger)
            ])
            let told = tell(&machine, to: 100) { $0 == 20 ? [SessionStage.heard(7, 1, at: 20)] : [] }
            XCTAssertEqual(told, expected)
        }
    }

    func testWhileTheRadioRestsBetweenPassesSilenceLastsLonger() throws {
        var machine = machine([Interaction(id: 1, name: "guide", target: .beacon(Self.guide))])
        let told = tell(&machine, to: 100, resting: 30..<60) { second in
            func radio(_ status: RadioEvent.Status) -> SensorReading {
                .radio(RadioEvent(instant: Instant(seconds: Double(second)), status: status))
            }
            return switch second {
            case 20: [SessionStage.heard(7, 1, at: 20)]
            case 30: [radio(.resting)]
            case 60: [radio(.scanning)]
            default: []
            }
        }
        XCTAssertEqual(told, ["enter 1 at 20.5", "exit 1 at 80.0"], "30 s of listening are 60 s")
    }

    // MARK: - Places

    func testAPointOfInterestIsEnteredWithinItsDistanceAndLeftFurtherAway() {
        var machine = machine([
            Interaction(id: 1, name: "near", target: .pointOfInterest(5)),
            Interaction(id: 2, name: "wide", target: .pointOfInterest(5), distance: 10),
            Interaction(id: 3, name: "upstairs", target: .pointOfInterest(6), distance: 10),
        ])
        // 2 m, 4 m, 5 m and 16 m from the fountain.
        let ways = [11.0: 20.0, 20: 18, 30: 17, 40: 6]
        let told = tell(&machine, to: 50) { second in
            ways[second].map { [SessionStage.fix(10, $0, 20, at: second)] } ?? []
        }
        XCTAssertEqual(told, ["enter 1 at 11.5", "enter 2 at 11.5", "exit 1 at 30.5", "exit 2 at 40.5"])
    }

    func testInteractionsOfARoomAndAFenceFollowTheirEvents() {
        var machine = machine([
            Interaction(id: 1, name: "tea", target: .room(1), trigger: .enter),
            Interaction(id: 2, name: "mind the step", target: .fence(2)),
        ])
        _ = machine.handle(.reading(SessionStage.fix(10, 5, 5, at: 10)), at: 10)
        let directives = machine.pass(to: 12)
        XCTAssertEqual(names(directives), ["enter 1 at 10.0", "enter 2 at 10.0"])
        let told = directives.compactMap { directive in
            switch directive {
            case .emitEvent: "event"
            case .emitInteraction: "interaction"
            default: nil
            }
        }
        XCTAssertEqual(told, ["event", "event", "interaction", "interaction"])
        _ = machine.pass(to: 13)
        _ = machine.handle(.reading(SessionStage.fix(10, 20, 20, at: 13)), at: 13)
        XCTAssertEqual(names(machine.pass(to: 14)), ["exit 2 at 13.5"])
    }

    func testTheDeviceLeavesAllTargetsWhenTheVenueIsLostOrTheSessionEnds() {
        for isStopped in [false, true] {
            var machine = machine([
                Interaction(id: 1, name: "guide", target: .beacon(Self.guide)),
                Interaction(id: 2, name: "fountain", target: .pointOfInterest(5)),
                Interaction(id: 3, name: "door", target: .fence(2)),
                Interaction(id: 4, name: "hello", target: .beacon(Self.guide), trigger: .enter),
            ])
            _ = tell(&machine, to: 20) { second in
                [SessionStage.heard(7, 1, at: second), SessionStage.fix(10, 20, 20, at: second)]
            }
            let directives = isStopped ? machine.handle(.stop, at: 21) : machine.pass(to: 60)
            XCTAssertEqual(
                names(directives).map { $0.prefix(6) }.sorted(), ["exit 1", "exit 2"], "stopped: \(isStopped)")
        }
    }

    // MARK: - What users hold

    func testALocalizerEmitsInteractionsWithContentsAndTheWallClock() async throws {
        var venue = EventHistoryTests.everywhere
        let content = Interaction.Content(id: 1, language: "en", text: "Welcome", link: "https://example.org")
        venue.interactions = [
            Interaction(id: 9, name: "welcome", target: .fence(2), trigger: .enter, contents: [content])
        ]
        var settings = LocalizerStage.settings
        settings.areaDwell = .zero
        let stage = LocalizerStage(venues: [venue], settings)
        stage.source.wallClock = WallClock(timeOfZero: .milliseconds(1_700_000_000_000))
        let told = stage.localizer.interactions
        let (calls, called) = AsyncStream.makeStream(of: String.self)
        let subscription = stage.localizer.watch(\.interactions) { called.yield($0.interaction.name) }
        try await stage.run()
        // However late the packet came, there is a position after it.
        stage.source.send(SessionStage.heard(1, at: LocalizerStage.beginning + 10))
        let event = try await Bounded.first(1, of: told)[0]
        XCTAssertEqual(event.interaction, venue.interactions[0])
        XCTAssertEqual(event.venueID, 1)
        XCTAssertTrue(event.isEntry)
        XCTAssertEqual(
            event.unixTime?.milliseconds, 1_700_000_000_000 + event.instant.nanoseconds / 1_000_000)
        let name = try await Bounded.first(1, of: calls)
        XCTAssertEqual(name, ["welcome"])
        subscription.close()
        await stage.localizer.stop()
    }

    func testTheContentWithTheClosestLanguageIsSelected() {
        let contents = ["de", "en-GB", nil, "en"].enumerated().map { index, language in
            Interaction.Content(id: index, language: language, text: language ?? "all")
        }
        var interaction = Interaction(id: 1, name: "", target: .room(1), contents: contents)
        for (language, text) in [("en", "en"), ("EN-gb", "en-GB"), ("en-US", "en-GB"), ("de-CH", "de"), ("fr", "all")] {
            XCTAssertEqual(interaction.content(in: language)?.text, text, language)
        }
        interaction.contents.remove(at: 2)
        XCTAssertNil(interaction.content(in: "fr"))
    }
}

final class EventHistoryTests: XCTestCase {
    private func event(_ seconds: Double) -> LocalizationEvent {
        LocalizationEvent(
            instant: Instant(seconds: seconds), venueID: 1, kind: .enterRoom(Room(id: 1, name: "a", mapID: 1)))
    }

    private func seconds(_ events: [LocalizationEvent]) -> [Double] { events.map(\.instant.seconds) }

    func testTheDescriptionOfAnEventContainsNamesAndNoCorners() {
        let area = Area.circle(center: MapPoint(x: 1, y: 2), radius: 3)
        let fence = Fence(id: 1, name: "Gate", mapID: 1, area: area)
        let geofence = Geofence(id: "g", name: "Yard", shape: .area(area))
        let room = Room(id: 1, name: "Kitchen", mapID: 1, area: area)
        let kinds: [LocalizationEvent.Kind] = [
            .enterRoom(room), .exitRoom(room), .enterFence(fence), .exitFence(fence), .enterGeofence(geofence),
            .exitGeofence(geofence),
        ]
        XCTAssertEqual(
            kinds.map { "\(LocalizationEvent(instant: .zero, venueID: 1, kind: $0))" },
            [
                "enterRoom Kitchen", "exitRoom Kitchen", "enterFence Gate", "exitFence Gate", "enterGeofence Yard",
                "exitGeofence Yard",
            ])
    }

    func testEventsAfterAnInstantAreLaterThanIt() {
        var history = EventHistory()
        for second in [1.0, 2, 2, 3] { history.append(event(second)) }
        XCTAssertEqual(seconds(history.events(after: .zero)), [1, 2, 2, 3])
        XCTAssertEqual(seconds(history.events(after: Instant(seconds: 1.999))), [2, 2, 3])
        XCTAssertEqual(seconds(history.events(after: Instant(seconds: 2))), [3])
        XCTAssertEqual(history.events(after: Instant(seconds: 3)), [])
    }

    func testEventsAfterAWallClockTimeIncludeThoseWithoutOne() {
        var history = EventHistory()
        for (second, time) in [(1.0, 1000), (2, nil), (3, 500), (4, 1001)] as [(Double, Int64?)] {
            var event = event(second)
            event.unixTime = time.map(UnixTime.init(milliseconds:))
            history.append(event)
        }
        XCTAssertEqual(seconds(history.events(after: UnixTime(milliseconds: 0))), [1, 2, 3, 4])
        XCTAssertEqual(seconds(history.events(after: UnixTime(milliseconds: 999))), [1, 2, 4])
        XCTAssertEqual(seconds(history.events(after: UnixTime(milliseconds: 1000))), [2, 4])
        XCTAssertEqual(seconds(history.events(after: UnixTime(milliseconds: 5000))), [2])
    }

    func testBeyondItsCapacityAHistoryDropsAndCountsTheOldest() {
        for count in 0...9 {
            var history = EventHistory(capacity: 3)
            for second in 0..<count { history.append(event(Double(second))) }
            XCTAssertEqual(seconds(history.events), (0..<count).suffix(3).map(Double.init), "\(count) events")
            XCTAssertEqual(history.droppedCount, max(0, count - 3), "\(count) events")
        }
    }

    func testAHistoryWithoutCapacityStoresNothingAndCounts() {
        for capacity in [0, -5] {
            var history = EventHistory(capacity: capacity)
            history.append(event(1))
            XCTAssertEqual(history.events, [])
            XCTAssertEqual(history.droppedCount, 1)
        }
    }

    func testAHistoryStoresTenThousandEventsByDefault() {
        var history = EventHistory()
        for second in 0..<10_001 { history.append(event(Double(second))) }
        XCTAssertEqual(history.events.count, 10_000)
        XCTAssertEqual(history.events.first?.instant, Instant(seconds: 1))
    }

    func testAClearedHistoryEqualsANewOne() {
        var history = EventHistory(capacity: 2)
        for second in 0..<5 { history.append(event(Double(second))) }
        history.removeAll()
        XCTAssertEqual(history, EventHistory(capacity: 2))
    }

    func testALocalizerStoresItsEventsWithoutAnySubscriber() async throws {
        var settings = LocalizerStage.settings
        settings.areaDwell = .zero
        let stage = LocalizerStage(venues: [Self.everywhere], settings)
        try await stage.run()
        // However late the packet came: the session ends after the entry.
        let positions = stage.localizer.positions
        let end = LocalizerStage.beginning + 10
        stage.source.send(SessionStage.heard(1, at: end))
        _ = try await Bounded.elements(of: positions, until: "a later position") {
            $0.instant >= Instant(seconds: end - 1)
        }
        await stage.localizer.stop()
        let events = await stage.localizer.events(after: .zero)
        XCTAssertEqual(events.map(\.isEntry), [true, false])
        XCTAssertEqual(events.map(\.fence?.payload), [.string("hello"), .string("hello")])
        let entry = try XCTUnwrap(events.first)
        let later = await stage.localizer.events(after: entry.instant)
        XCTAssertEqual(later, Array(events.dropFirst()))
        await stage.localizer.forgetEvents()
        let history = await stage.localizer.eventHistory
        XCTAssertEqual(history, EventHistory())
    }

    /// The office with a fence around all of it.
    static var everywhere: Venue {
        var venue = SessionStage.office
        venue.rooms = []
        venue.fences = [
            Fence(
                id: 2, name: "house", mapID: 10, area: .circle(center: MapPoint(x: 20, y: 15), radius: 200),
                payload: .string("hello"))
        ]
        return venue
    }
}
