import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

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
