import IndoorLocalization
import IndoorLocalizationTesting
import XCTest
@testable import LocalizationSession

/// All outputs of a session as one stream.
final class SessionOutputTests: XCTestCase {
    /// The office, all of it one room.
    private static var house: Venue {
        var venue = SessionStage.office
        let area = Area.circle(center: MapPoint(x: 20, y: 15), radius: 200)
        venue.rooms = [Room(id: 1, name: "hall", mapID: 10, area: area)]
        return venue
    }

    private static func name(_ output: SessionOutput) -> String {
        switch output.content {
        case .state(let state): state.name
        case .position: "position"
        case .outdoorPosition: "outdoorPosition"
        case .motion: "motion"
        case .event(let event): event.isEntry ? "entry" : "exit"
        case .interaction: "interaction"
        case .downloadedVenue: "downloadedVenue"
        case .error(let error): "error \(error.message)"
        case .diagnosis(let diagnosis): "diagnosis \(diagnosis.reason)"
        }
    }

    func testTheOutputsOfARecordingAreThoseOfItsReplayInTheSameOrder() async throws {
        var settings = LocalizerStage.settings
        settings.areaDwell = .zero
        let readings =
            LocalizerStage.walk(from: 3, for: 20) + (0..<10).map { SessionStage.motion(at: 23 + Double($0) / 10) }
            + [60.0, 61].map { SessionStage.gnss(52.002, at: $0) } + LocalizerStage.walk(from: 62, for: 10, venue: 2)
        let venues = [Self.house, SessionStage.shop]
        let stage = LocalizerStage(ScriptedSource(readings), venues: venues, settings)
        let outputs = stage.localizer.outputs
        await stage.localizer.start()

        var replay = SessionReplay(venues: venues, settings: settings, seed: 1, tellsMotion: true)
        var expected = replay.start()
        for reading in readings { expected += replay.handle(reading) }
        expected += replay.finish()

        // The stream is read once the recording is over: all its outputs wait.
        try await stage.reach("idle")
        let seen = try await Bounded.first(expected.count, of: outputs)
        XCTAssertEqual(seen.map(Self.name), expected.map(Self.name))
        XCTAssertEqual(seen, expected)
        let kinds = Set(seen.map(Self.name))
        for kind in [
            "localizationRunning", "position", "outdoorPosition", "motion", "entry", "exit", "diagnosis silentBeacons",
            "diagnosis outdoors", "idle",
        ] {
            XCTAssertTrue(kinds.contains(kind), kind)
        }
    }

    /// A venue source that emits updates.
    private struct UpdatedVenues: VenueSource {
        let updates: AsyncStream<VenueUpdate>

        func catalogue() async throws -> [VenueSummary] { SessionStage.summaries }
        func packet(for id: VenueID, progress: @escaping @Sendable (Double) -> Void) async throws -> Venue {
            SessionStage.office
        }
    }

    func testASlowReaderOfALiveSessionLosesTheOldestOutputs() async throws {
        let (updates, update) = AsyncStream.makeStream(of: VenueUpdate.self)
        let localizer = Localizer(
            source: ScriptedSource(), venues: UpdatedVenues(updates: updates), clock: ManualClock())
        let (slow, states, errors) = (localizer.outputs, localizer.states, localizer.errors)
        await localizer.start()
        _ = try await Bounded.elements(of: states, until: "searchVenue") { $0 == .searchVenue }
        for number in 1...1100 {
            update.yield(.failure(LocalizationError(code: .generic, message: "\(number)")))
        }
        _ = try await Bounded.elements(of: errors, until: "the last error") { $0.message == "1100" }
        await localizer.stop()
        localizer.finishStreams()
        let seen = try await Bounded.all(slow).map(Self.name)
        XCTAssertEqual(seen.count, 1024)
        XCTAssertEqual(seen.first, "error 78")
        XCTAssertEqual(seen.suffix(2), ["error 1100", "idle"])
        XCTAssertEqual(localizer.outputBroadcast.dropped, 2 + 1100 + 1 - 1024)
    }

    func testTheOutputsContinueAfterARestartAndEndWithTheStreams() async throws {
        let stage = LocalizerStage()
        let outputs = stage.localizer.outputs
        for _ in 0..<2 {
            await stage.localizer.start()
            try await stage.reach("searchVenue")
            await stage.localizer.stop()
        }
        stage.localizer.finishStreams()
        let seen = try await Bounded.all(outputs).map(Self.name)
        XCTAssertEqual(seen, ["started", "searchVenue", "idle", "started", "searchVenue", "idle"])
    }

    func testAnErrorThatEndsTheSessionFollowsItsState() async throws {
        let stage = LocalizerStage()
        let outputs = stage.localizer.outputs
        await stage.localizer.start()
        try await stage.reach("searchVenue")
        stage.source.fail(SessionStage.credential)
        let seen = try await Bounded.first(4, of: outputs).map(\.content)
        XCTAssertEqual(seen.suffix(2), [.state(.error(SessionStage.credential)), .error(SessionStage.credential)])
    }
}

/// The knowledge of a session at one instant.
final class SessionSnapshotTests: XCTestCase {
    private static let seed: UInt64 = 3
    /// Two floors, and six beacons on the lower one.
    private static let hall = Venue(
        id: 4, name: "hall",
        maps: [
            VenueMap(id: 40, name: "ground", level: 0, width: 40, height: 20),
            VenueMap(id: 41, name: "first", level: 1, width: 40, height: 20),
        ],
        beacons: (0..<6).map(beacon))

    private static func beacon(_ index: Int) -> VenueBeacon {
        let point = MapPoint(x: Double(5 + 15 * (index % 3)), y: Double(5 + 10 * (index / 3)))
        return VenueBeacon(identity: SessionStage.beacon(4, UInt16(index)), mapID: 40, point: point)
    }

    /// Readings without noise of all beacons, four times a second, along the middle of the ground floor at 1 m/s.
    private static func idealWalk(for seconds: Double, offset: Double = 0) -> [SensorReading] {
        let field = SignalField(venue: hall)
        return (0..<Int(seconds * 4)).flatMap { tick -> [SensorReading] in
            let time = Double(tick) / 4
            return hall.beacons.enumerated().compactMap { index, beacon in
                guard let known = field.indexes[beacon.identity],
                    let expected = field.expectation(of: known, at: place(at: time), on: 40)
                else { return nil }
                let instant = Instant(seconds: time + 0.01 * Double(index))
                return .sighting(
                    Sighting(instant: instant, beacon: beacon.identity, rssi: expected.rssi + offset))
            }
        }
    }

    private static func place(at seconds: Double) -> MapPoint { MapPoint(x: 5 + seconds, y: 10) }

    private func session(
        _ readings: [SensorReading], _ settings: LocalizationSettings = LocalizationSettings()
    ) -> SessionReplay {
        var replay = SessionReplay(
            venues: [Self.hall, SessionStage.office], settings: settings, seed: Self.seed)
        _ = replay.start()
        for reading in readings { _ = replay.handle(reading) }
        return replay
    }

    func testASnapshotContainsStatePositionAndParticlesOfTheVenue() throws {
        let snapshot = session(Self.idealWalk(for: 20)).snapshot()
        XCTAssertEqual(snapshot.instant.seconds, 19.8, accuracy: 0.01, "the latest reading")
        XCTAssertEqual(snapshot.state.name, "localizationRunning")
        let position = try XCTUnwrap(snapshot.position)
        XCTAssertEqual(position.mapID, 40)
        XCTAssertLessThan(position.point.distance(to: Self.place(at: position.instant.seconds)), 4)
        XCTAssertEqual(snapshot.particles.count, 1000)
        for particle in snapshot.particles {
            // Motion moves some particles a little off the plan.
            XCTAssertTrue((-2...42).contains(particle.point.x) && (-2...22).contains(particle.point.y), "\(particle)")
        }
        let near = snapshot.particles.count { $0.point.distance(to: position.point) < 8 && $0.mapID == 40 }
        XCTAssertGreaterThan(near, 500)
    }

    func testTheMapProbabilitiesSumToOneInTheVenuesOrder() {
        let snapshot = session(Self.idealWalk(for: 20)).snapshot(particles: 0)
        XCTAssertEqual(snapshot.maps.map(\.mapID), [40, 41])
        XCTAssertEqual(snapshot.maps.reduce(0) { $0 + $1.probability }, 1, accuracy: 1e-9)
        XCTAssertEqual(snapshot.particles, [])
    }

    /// Each map and each half of it has the same share of the thinned particles as of all particles.
    func testThinnedParticlesHaveTheDistributionOfAll() {
        // The beginning of a session, when the belief is wide.
        let replay = session(Self.idealWalk(for: 2))
        let (all, few) = (replay.snapshot(particles: 1_000_000), replay.snapshot(particles: 200))
        XCTAssertGreaterThan(all.particles.count, 500)
        XCTAssertEqual(few.particles.count, 200)
        XCTAssertEqual(few.particles, replay.snapshot(particles: 200).particles, "the rule is deterministic")
        func share(_ snapshot: SessionSnapshot, _ isIncluded: (SessionSnapshot.Particle) -> Bool) -> Double {
            Double(snapshot.particles.count(where: isIncluded)) / Double(snapshot.particles.count)
        }
        for map in few.maps {
            // Systematic sampling: the count differs by less than one from the exact share.
            XCTAssertEqual(share(few) { $0.mapID == map.mapID }, map.probability, accuracy: 1.01 / 200)
        }
        let middle = all.particles.map(\.point.x).sorted()[all.particles.count / 2]
        XCTAssertEqual(share(few) { $0.point.x < middle }, 0.5, accuracy: 0.1)
    }

    func testTheExpectedRSSIIsCloseToTheReadingsWithoutNoise() throws {
        let snapshot = session(Self.idealWalk(for: 25)).snapshot()
        XCTAssertEqual(snapshot.beacons.map(\.identity), Self.hall.beacons.map(\.identity))
        for beacon in snapshot.beacons {
            XCTAssertTrue(beacon.isKnown)
            XCTAssertEqual(beacon.rssi, try XCTUnwrap(beacon.expectedRSSI), accuracy: 4, "\(beacon.identity)")
            let deviation = try XCTUnwrap(beacon.deviation)
            XCTAssertTrue((3...12).contains(deviation), "\(deviation) dB")
            XCTAssertEqual(beacon.instant.seconds, 24.75, accuracy: 0.1)
        }
    }

    /// A receiver that measures 8 dB less than the venue's beacons promise.
    func testTheExpectedRSSIIncludesTheReceiverOffset() throws {
        let beacons = session(Self.idealWalk(for: 30, offset: -8)).snapshot().beacons
        let errors = try beacons.map { $0.rssi - (try XCTUnwrap($0.expectedRSSI)) }
        XCTAssertEqual(errors.reduce(0, +) / Double(errors.count), 0, accuracy: 3, "\(errors)")
    }

    func testABeaconIsKnownOnlyToItsOwnVenue() {
        let unknown = SessionStage.heard(9, at: 1)
        let elsewhere = SessionStage.heard(1, at: 20.5, rssi: -90)
        let before = session([unknown]).snapshot()
        XCTAssertEqual(before.state, .searchVenue)
        XCTAssertEqual(before.beacons.map(\.isKnown), [false])
        XCTAssertEqual([before.beacons[0].expectedRSSI, before.beacons[0].deviation], [nil, nil])
        XCTAssertNil(before.position)
        XCTAssertEqual(before.maps, [])

        let inside = session(Self.idealWalk(for: 20) + [elsewhere]).snapshot().beacons
        XCTAssertEqual(inside.map(\.isKnown), [false] + Array(repeating: true, count: 6))
        XCTAssertNil(inside[0].expectedRSSI)
    }

    func testABeaconBelowTheThresholdIsReceivedThoughNotUsed() {
        var settings = LocalizationSettings()
        settings.rssiThreshold = -80
        let snapshot = session([SessionStage.heard(4, at: 1, rssi: -90)], settings).snapshot()
        XCTAssertEqual(snapshot.state, .searchVenue)
        XCTAssertEqual(snapshot.beacons.map(\.rssi), [-90])
        XCTAssertEqual(snapshot.beacons.map(\.isKnown), [true], "the catalogue has it")
    }

    func testABeaconDisappearsThirtySecondsAfterItsLatestReading() {
        func identities(_ last: Double) -> [BeaconIdentity] {
            session([
                SessionStage.heard(8, at: 0), SessionStage.heard(9, at: 5), SessionStage.heard(9, 2, at: last),
            ]).snapshot().beacons.map(\.identity)
        }
        let late = SessionStage.beacon(9, 2)
        XCTAssertEqual(identities(30), [SessionStage.beacon(8, 1), SessionStage.beacon(9, 1), late])
        XCTAssertEqual(identities(30.1), [SessionStage.beacon(9, 1), late])
        XCTAssertEqual(identities(36), [late])
    }

    func testALateReadingDoesNotReplaceTheLatest() {
        let snapshot = session([
            SessionStage.heard(9, at: 5, rssi: -70), SessionStage.heard(9, at: 4, rssi: -50),
        ]).snapshot()
        XCTAssertEqual(snapshot.beacons.map(\.rssi), [-70])
        XCTAssertEqual(snapshot.beacons.map(\.instant), [Instant(seconds: 5)])
    }

    func testAMeasurementThatIsUnavailableIsNoReading() {
        XCTAssertEqual(session([SessionStage.heard(9, at: 5, rssi: 127)]).snapshot().beacons, [])
    }

    func testASnapshotHasTheLatest256Beacons() {
        // The first one is received again, so that the second one is the oldest.
        let readings =
            (0..<256).map { SessionStage.heard(9, UInt16($0), at: Double($0) / 100) }
            + [SessionStage.heard(9, 0, at: 3), SessionStage.heard(9, 500, at: 4)]
        let minors = session(readings).snapshot().beacons.map(\.identity.minor)
        XCTAssertEqual(minors, [0] + Array(2..<256) + [500])
    }

    func testASnapshotDoesNotChangeTheSession() {
        let readings = Self.idealWalk(for: 10)
        var (silent, asked) = (session([]), session([]))
        for reading in readings {
            let outputs = asked.handle(reading)
            _ = asked.snapshot(particles: 50)
            XCTAssertEqual(outputs, silent.handle(reading))
        }
    }

    func testANewSessionBeginsWithoutBeacons() {
        var replay = session([SessionStage.heard(9, at: 1)])
        _ = replay.finish()
        XCTAssertEqual(replay.snapshot().beacons.count, 1)
        _ = replay.start(at: Instant(seconds: 1))
        XCTAssertEqual(replay.snapshot().beacons, [])
    }

    func testALocalizerGivesTheSnapshotOfTheReplay() async throws {
        let stage = LocalizerStage(ScriptedSource(pace: .recorded), venues: [Self.hall], LocalizerStage.settings)
        let positions = stage.localizer.positions
        await stage.localizer.start()
        try await stage.source.waitUntilScanning()
        try await stage.reach("searchVenue")
        // The last reading comes late, so that a position before it shows that all earlier readings have arrived.
        let readings = Self.idealWalk(for: 6) + [SessionStage.heard(4, 0, at: 8)]
        for reading in readings { stage.source.send(reading) }
        _ = try await Bounded.elements(of: positions, until: "the last position") {
            $0.instant > Instant(seconds: 7.4)
        }
        let snapshot = await stage.localizer.snapshot(particles: 80)

        var replay = SessionReplay(venues: [Self.hall], settings: LocalizerStage.settings, seed: 1)
        _ = replay.start()
        for reading in readings { _ = replay.handle(reading) }
        XCTAssertEqual(snapshot, replay.snapshot(particles: 80))
        XCTAssertEqual(snapshot.particles.count, 80)
    }
}

final class SessionReplayTests: XCTestCase {
    private func outputs(
        _ readings: [SensorReading], venues: [Venue] = [SessionStage.office, SessionStage.shop],
        _ settings: LocalizationSettings = LocalizerStage.settings, seed: UInt64 = 0, end: Instant? = nil
    ) -> [SessionReplay.Output] {
        var replay = SessionReplay(venues: venues, settings: settings, seed: seed)
        var outputs = replay.start()
        for reading in readings { outputs += replay.handle(reading) }
        outputs += replay.finish(at: end)
        XCTAssertTrue(replay.state == .idle || replay.state.name == "error")
        return outputs
    }

    private func states(_ outputs: [SessionReplay.Output]) -> [String] {
        outputs.compactMap { if case .state(let state) = $0.content { state.name } else { nil } }
    }

    func testAWalkGoesThroughAllStates() {
        let seen = outputs(LocalizerStage.walk(from: 0, for: 5))
        XCTAssertEqual(
            states(seen),
            [
                "started", "searchVenue", "getPacket", "getPacket", "findFloor", "localizationRunning", "idle",
            ])
        XCTAssertEqual(seen.map(\.instant), seen.map(\.instant).sorted())
    }

    func testSettingsOutOfRangeAreACriticalErrorAndNothingElse() {
        var settings = LocalizationSettings()
        settings.rssiThreshold = 5
        let seen = outputs(LocalizerStage.walk(from: 0, for: 5), settings)
        guard seen.count == 2, case .state(.error(let error)) = seen[0].content else { return XCTFail("\(seen)") }
        XCTAssertEqual(error.code, .critical)
        XCTAssertTrue(error.message.contains("rssiThreshold must be in [-127, 0] dBm, not 5"), error.message)
        XCTAssertEqual(seen[1].content, .error(error))
    }

    func testAReplayEmitsAVenueFoundBySatellites() {
        let seen = outputs([SessionStage.gnss(52, at: 1), SessionStage.gnss(52, at: 2)])
        XCTAssertTrue(seen.contains { $0.content == .downloadedVenue(SessionStage.office) })
        XCTAssertEqual(states(seen), ["started", "searchVenue", "idle"], "no beacon has been received")
    }

    func testAReplayEmitsEventsOfRoomsAndFences() {
        let seen = outputs(LocalizerStage.walk(from: 0, for: 15))
        let kinds = seen.compactMap { if case .event(let event) = $0.content { event.kind } else { nil } }
        // The beacons hang in the middle of both; whoever hears them this well is there.
        XCTAssertEqual(kinds.count % 2, 0, "whatever is entered is left in the end: \(kinds)")
        XCTAssertFalse(kinds.isEmpty)
    }

    func testAVenueThatIsNotInTheListIsReported() {
        var settings = LocalizerStage.settings
        settings.forcedVenue = 9
        let seen = outputs([], settings)
        let errors = seen.compactMap { if case .error(let error) = $0.content { error.code } else { nil } }
        XCTAssertEqual(errors, [.generic])
    }

    func testTheEndOfAReplayMayBeAfterItsLastReading() {
        let seen = outputs(LocalizerStage.walk(from: 0, for: 5), end: Instant(seconds: 100))
        let lost = seen.first { $0.content == .state(.searchVenue) && $0.instant > Instant(seconds: 5) }
        XCTAssertEqual(lost?.instant.seconds ?? 0, 35, accuracy: 1, "30 s after the last beacon")
        XCTAssertEqual(seen.last?.instant, Instant(seconds: 100))
    }

    func testAReplayEmitsNoTwoPositionsAtOneInstant() {
        // The first position and the interval tell when the later ones are due; a walk ends right then.
        func positions(_ end: Instant?) -> [Instant] {
            outputs(LocalizerStage.walk(from: 0, for: 5), end: end).compactMap {
                if case .position = $0.content { $0.instant } else { nil }
            }
        }
        let ordinary = positions(nil)
        let due = ordinary[ordinary.count - 2].advanced(by: LocalizerStage.settings.positionInterval * 3)
        for end in [due, due.advanced(by: .milliseconds(1))] {
            let told = positions(end)
            XCTAssertEqual(told.last, end)
            XCTAssertEqual(Set(told).count, told.count, "\(told.suffix(3))")
        }
    }

    func testReadingsOutOfOrderDoNotTurnTimeBack() {
        var readings = LocalizerStage.walk(from: 0, for: 10)
        readings.insert(SessionStage.heard(1, at: 1), at: 70)
        readings.insert(SessionStage.heard(2, at: 0.5), at: 80)
        let seen = outputs(readings)
        XCTAssertEqual(seen.map(\.instant), seen.map(\.instant).sorted())
    }

    func testEqualSeedsGiveEqualOutputs() {
        let readings = LocalizerStage.walk(from: 0, for: 10)
        XCTAssertEqual(outputs(readings, seed: 5), outputs(readings, seed: 5))
        XCTAssertNotEqual(outputs(readings, seed: 5), outputs(readings, seed: 6), "the seed is used")
    }

    func testAReplayUsesTheFirstOfTwoVenuesWithOneNumber() {
        var double = SessionStage.shop
        double.id = 1
        let seen = outputs([SessionStage.heard(2, at: 0)], venues: [SessionStage.office, double])
        XCTAssertEqual(states(seen), ["started", "searchVenue", "idle"], "the beacon of the second is unknown")
    }
}
