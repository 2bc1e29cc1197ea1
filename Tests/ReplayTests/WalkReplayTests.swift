import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import VenuePackets
import XCTest

/// A walk whose beacons advertise only their address.
final class AddressedWalkTests: XCTestCase {
    /// Returns the office, whose beacons all have an address.
    private func office() throws -> Venue {
        var office = try VenuePacketReader().read(FixtureFolder("office").path).venue
        for index in office.beacons.indices {
            office.beacons[index].address = DeviceAddress(rawValue: 0xC000_0000_0000 + UInt64(index), kind: nil)
        }
        return office
    }

    private func positions(of readings: [SensorReading], in venue: Venue) -> [Position] {
        var replay = SessionReplay(venues: [venue], seed: 1)
        var outputs = replay.start()
        for reading in readings { outputs += replay.handle(reading) }
        outputs += replay.finish()
        return outputs.compactMap { if case .position(let position) = $0.content { position } else { nil } }
    }

    func testAddressesGiveTheSamePositionsAsIdentities() throws {
        let venue = try office()
        let addresses = Dictionary(uniqueKeysWithValues: venue.beacons.map { ($0.identity, $0.address) })
        var reader = try RecordingReader(path: FixtureFolder("recordings/one-floor").file("scan.jsonl.gz"))
        var (identified, addressed): ([SensorReading], [SensorReading]) = ([], [])
        while let entry = try reader.next() {
            guard case .measurement(let reading) = entry else { continue }
            guard case .sighting(var sighting) = reading, let address = addresses[sighting.beacon] ?? nil else {
                identified.append(reading)
                addressed.append(reading)
                continue
            }
            sighting.measuredPower = nil
            sighting.address = address
            identified.append(.sighting(sighting))
            addressed.append(
                .advertisement(
                    Advertisement(instant: sighting.instant, address: address, rssi: sighting.rssi, data: [2, 1, 6])))
        }
        let expected = positions(of: identified, in: venue)
        XCTAssertGreaterThan(expected.count, 20)
        XCTAssertEqual(positions(of: addressed, in: venue), expected)
        // Without addresses in the venue packet, such a recording contains no beacon.
        var unaddressed = venue
        for index in unaddressed.beacons.indices { unaddressed.beacons[index].address = nil }
        XCTAssertEqual(positions(of: addressed, in: unaddressed), [])
    }

    func testAVenueThatKnowsItsBeaconsByAddressAloneLocatesAsWellAsWithIdentities() throws {
        let venue = try office()
        var nameless = venue
        nameless.beacons = try venue.beacons.map { beacon in
            VenueBeacon(
                address: try XCTUnwrap(beacon.address), mapID: beacon.mapID, point: beacon.point, z: beacon.z,
                measuredPower: beacon.measuredPower, pathLossExponent: beacon.pathLossExponent)
        }
        let addresses = Dictionary(uniqueKeysWithValues: venue.beacons.map { ($0.identity, $0.address) })
        var reader = try RecordingReader(path: FixtureFolder("recordings/one-floor").file("scan.jsonl.gz"))
        let entries = try reader.readAll()
        let truths = entries.compactMap { if case .truth(let truth) = $0 { truth } else { nil } }
        let identified = entries.compactMap { if case .measurement(let reading) = $0 { reading } else { nil } }
        let addressed = identified.map { reading -> SensorReading in
            guard case .sighting(let sighting) = reading, let address = addresses[sighting.beacon] ?? nil else {
                return reading
            }
            return .advertisement(
                Advertisement(instant: sighting.instant, address: address, rssi: sighting.rssi, data: [2, 1, 6]))
        }
        let end = try XCTUnwrap(entries.compactMap(\.instant).max())
        let errors = try [(identified, venue), (addressed, nameless)].map { readings, venue in
            var scorer = TrackScorer(venue: venue)
            scorer.add(truths: truths, end: end, positions: positions(of: readings, in: venue))
            return try XCTUnwrap(scorer.score.mean)
        }
        print("mean error \(errors[0]) m with identities, \(errors[1]) m with addresses alone")
        XCTAssertLessThan(errors[1], 1.1 * errors[0])
    }
}

/// A walk past beacons of four kinds, of which a session receives the advertising data.
final class BeaconNamingReplayTests: XCTestCase {
    private func hall(of naming: BeaconNaming? = nil) throws -> Venue {
        var venue = try VenuePacketReader().read(FixtureFolder("identities").path).venue
        if let naming { venue.beacons.removeAll { $0.naming != naming } }
        return venue
    }

    private func walk() throws -> (readings: [SensorReading], truths: [Truth], end: Instant) {
        var reader = try RecordingReader(path: FixtureFolder("identities").file("walk.jsonl.gz"))
        let entries = try reader.readAll()
        let readings = entries.compactMap { if case .measurement(let reading) = $0 { reading } else { nil } }
        let truths = entries.compactMap { if case .truth(let truth) = $0 { truth } else { nil } }
        return (readings, truths, try XCTUnwrap(entries.compactMap(\.instant).max()))
    }

    private func score(in venue: Venue) throws -> TrackScore {
        let walk = try walk()
        XCTAssertTrue(walk.readings.allSatisfy { if case .advertisement = $0 { true } else { false } })
        var replay = SessionReplay(venues: [venue], seed: 1)
        var outputs = replay.start()
        for reading in walk.readings { outputs += replay.handle(reading) }
        outputs += replay.finish()
        let positions = outputs.compactMap { if case .position(let position) = $0.content { position } else { nil } }
        var scorer = TrackScorer(venue: venue)
        scorer.add(truths: walk.truths, end: walk.end, positions: positions)
        return scorer.score
    }

    func testEachKindOfBeaconLocatesTheWalkAsWellAsIBeacons() throws {
        let reference = try XCTUnwrap(try score(in: hall(of: .uuid)).mean)
        // The walk is past six posts, 10 m apart, with a deviation of 3 dB, and without motion sensors.
        XCTAssertLessThan(reference, 2.5, "metres")
        for naming in BeaconNaming.allCases {
            let venue = try hall(of: naming)
            XCTAssertEqual(venue.beacons.count, 6, "\(naming)")
            let score = try score(in: venue)
            print("\(naming): mean error \(score.mean ?? .nan) m, answered \(score.answered ?? .nan)")
            XCTAssertGreaterThan(try XCTUnwrap(score.answered), 0.9, "\(naming)")
            // The readings of a kind differ from those of another by some milliseconds only.
            XCTAssertLessThan(try XCTUnwrap(score.mean), 1.15 * reference, "\(naming)")
        }
    }

    func testAVenueOfBeaconsWithOtherNamesIsNotFound() throws {
        var venue = try hall()
        for index in venue.beacons.indices {
            venue.beacons[index].identity.uuid.high ^= 1
            venue.beacons[index].address = nil
        }
        XCTAssertNil(try score(in: venue).mean)
    }

    func testASurveyLearnsBeaconsOfEachKind() throws {
        let venue = try hall()
        let path = try FixtureFolder("identities").file("walk.jsonl.gz")
        var learner = RadioMapLearner(venue: venue, model: SignalModel())
        learner.add(try SurveyRecording(path: path, in: venue))
        let map = try XCTUnwrap(learner.finish())
        XCTAssertEqual(Set(map.beacons.map(\.identity)), Set(venue.beacons.map(\.identity)))
        // Without the venue, no advertisement of an unknown format is a sighting.
        let alone = Set(venue.beacons.filter { $0.naming == .address }.map(\.identity))
        XCTAssertEqual(alone.count, 6)
        XCTAssertTrue(alone.isDisjoint(with: try SurveyRecording(path: path).sightings.map(\.beacon)))
    }

    func testASessionWithTheRadioMapOfASurveyLocatesByAddressesAlone() throws {
        var venue = try hall(of: .address)
        let without = try XCTUnwrap(try score(in: venue).mean)
        var learner = RadioMapLearner(venue: venue, model: SignalModel())
        learner.add(try SurveyRecording(path: FixtureFolder("identities").file("walk.jsonl.gz"), in: venue))
        venue.radioMap = try XCTUnwrap(learner.finish())
        let with = try XCTUnwrap(try score(in: venue).mean)
        print("address alone: mean error \(without) m without a survey, \(with) m with it")
        // The survey is the same walk.
        XCTAssertLessThan(with, without)
    }
}

/// A recording of only motion and pressure, up the stairs and down by the elevator, which starts with a fix.
final class BeaconlessWalkTests: XCTestCase {
    private static let seeds: [UInt64] = [0, 1, 2]

    private func walk(seed: UInt64 = 0) async throws -> RecordedWalk {
        var settings = LocalizationSettings()
        settings.forcedVenue = 1
        let start = Fix(instant: .zero, mapID: 1, point: MapPoint(x: 13, y: 5), radius: 1)
        return try await RecordedWalk(
            "without-beacons", settings: settings, seed: seed, start: start, tellsMotion: true)
    }

    private func estimates(_ walk: RecordedWalk) -> [MotionEstimate] {
        walk.outputs.compactMap { if case .motion(let estimate) = $0.content { estimate } else { nil } }
    }

    func testTheRecordingContainsNoBeacon() async throws {
        let walk = try await walk()
        XCTAssertEqual(walk.sightings, [])
        XCTAssertFalse(walk.positions.isEmpty)
    }

    func testPositionsAreWithinTheLimits() async throws {
        let walk = try await walk()
        print("without-beacons, seed 0: \(walk.score)")
        XCTAssertEqual(try RecordingLimits(of: "without-beacons").problems(of: walk), [])
    }

    func testTheFloorFollowsTheBarometerUpAndDown() async throws {
        for seed in Self.seeds {
            let walk = try await walk(seed: seed)
            let maps = walk.positions.map(\.mapID)
            let changes = zip(maps, maps.dropFirst()).filter { $0 != $1 }.map(\.1)
            XCTAssertEqual(changes, [2, 1], "seed \(seed)")
        }
    }

    func testTheSessionKeepsTheVenueToTheEnd() async throws {
        let walk = try await walk()
        XCTAssertEqual(walk.states.filter { $0.what.name == "searchVenue" }.count, 1)
        XCTAssertEqual(try XCTUnwrap(walk.positions.last).instant.seconds, walk.end.seconds, accuracy: 1)
    }

    func testTheSessionDetectsStairsAndTheElevator() async throws {
        let reported = try await estimates(walk())
        var kinds: [VerticalMotion] = []
        for estimate in reported where kinds.last != estimate.vertical { kinds.append(estimate.vertical) }
        XCTAssertTrue(kinds.contains(.stairs(.up)), "\(kinds)")
        XCTAssertTrue(kinds.contains(.elevator(.down)), "\(kinds)")
        XCTAssertFalse(kinds.contains(.stairs(.down)), "\(kinds)")
        XCTAssertFalse(kinds.contains(.elevator(.up)), "\(kinds)")
        XCTAssertEqual(reported.last?.floor, 0)
        XCTAssertTrue(reported.contains { $0.floor == 1 })
    }

    func testTheDistanceEqualsTheLengthOfTheWalk() async throws {
        let last = try await estimates(walk()).last
        let statistics = try XCTUnwrap(last?.statistics)
        // 46 m on the floors and 21 stairs up.
        XCTAssertEqual(statistics.distance, 52, accuracy: 9)
        XCTAssertEqual(statistics.ascent, 3.6, accuracy: 1)
        XCTAssertEqual(statistics.descent, 3.6, accuracy: 1)
        XCTAssertGreaterThan(statistics.walking.seconds, 40)
        XCTAssertGreaterThan(statistics.dwelling.seconds, 15)
    }

    func testDeadReckoningWithoutAVenueEndsNearTheTruePosition() async throws {
        var reckoner = DeadReckoner()
        try reckoner.setPosition(x: 13, y: -5, radius: 1)
        let path = try RecordedWalk.path("without-beacons")
        for try await reading in RecordingSource(path: path).readings() {
            reckoner.observe(reading)
        }
        let estimate = reckoner.estimate
        let error = MapPoint(x: estimate.position.x, y: -estimate.position.y).distance(to: MapPoint(x: 21, y: 5))
        XCTAssertLessThan(error, 11, "9 m after 50 m; half of it is due to the steps on the stairs")
        XCTAssertLessThan(error, 2 * estimate.radius)
    }
}

/// An hour of walking and standing in the office, with a radio that is off most of the time.
final class RestingWalkTests: XCTestCase {
    /// Returns a walk of an hour: rounds through the corridor with stays in the rooms beside it.
    private func hour(through venue: Venue) throws -> WalkSimulator {
        var points: [WalkPath.Point] = []
        for round in 0..<8 {
            for (x, y, pause) in [
                (5.0, 5.0, 100.0), (5.5, 10, 0), (16, 10, 0), (16, 15, 150), (16, 10, 0), (25, 10, 0), (25, 15, 60),
                (25, 10, 20), (30, 10, 0), (31.5, 15, Double(60 + 5 * round)), (30, 10, 0), (5.5, 10, 0),
            ] { points.append(WalkPath.Point(mapID: 2, point: MapPoint(x: x, y: y), pause: pause)) }
        }
        var settings = SimulationSettings()
        // An hour takes long in a debug build.
        settings.radio.advertisingInterval = 1
        return try WalkSimulator(venue: venue, path: WalkPath(points: points), settings: settings, seed: 1)
    }

    private func office() throws -> Venue { try VenuePacketReader().read(FixtureFolder("office").path).venue }

    /// Returns the outputs of a session for the walk, with the radio in that duty cycle.
    private func replay(_ walk: WalkSimulator, _ cycle: DutyCycle) async throws -> [SessionReplay.Output] {
        var settings = LocalizationSettings()
        settings.positioning.particleCount = 200
        settings.positionInterval = .seconds(2)
        // A global update takes long in a debug build. This is one in each scan of ten seconds, and some in each pause.
        settings.positioning.globalUpdateInterval = 10
        var replay = SessionReplay(venues: [walk.venue], settings: settings)
        var outputs = replay.start()
        let source: any ScanSource = walk.dutyCycled(cycle)
        for try await reading in source.readings() { outputs += replay.handle(reading) }
        return outputs + replay.finish()
    }

    func testTheDutyCycleOfThePackagedUnitKeepsTheVenueForAnHour() async throws {
        let walk = try hour(through: try office())
        XCTAssertGreaterThan(walk.duration, .seconds(3600))
        let cycle = PowerMode.eco.dutyCycle
        XCTAssertGreaterThan(
            cycle.interval, LocalizationSettings().venueLostTimeout, "the pause must be longer than the limit")
        let outputs = try await replay(walk, cycle)
        let states = outputs.compactMap { output -> String? in
            if case .state(let state) = output.content { state.name } else { nil }
        }
        XCTAssertEqual(states.count { $0 == "searchVenue" }, 1, "\(states)")
        XCTAssertEqual(Set(states.suffix(1)), ["idle"])
        for output in outputs {
            if case .position(let position) = output.content { XCTAssertEqual(position.mapID, 2) }
        }
        let end = try XCTUnwrap(outputs.last).instant
        for output in outputs where output.instant < end {
            guard case .event = output.content else { continue }
            let phase = output.instant.seconds.truncatingRemainder(dividingBy: 100)
            XCTAssertLessThanOrEqual(phase, 10.5, "the output at \(output.instant.seconds) s is not from a scan")
        }
        XCTAssertGreaterThan(outputs.count { if case .event = $0.content { true } else { false } }, 10)
        checkRadius(outputs, walk)
    }

    /// Checks that the radius grows during the pauses, so that it contains the true position there too.
    private func checkRadius(_ outputs: [SessionReplay.Output], _ walk: WalkSimulator) {
        let truths = walk.entries().compactMap { if case .truth(let truth) = $0 { truth } else { nil } }
        var (inside, all) = (0, 0)
        for output in outputs {
            guard case .position(let position) = output.content,
                let next = truths.firstIndex(where: { $0.instant > output.instant }), next > 0,
                let before = truths[next - 1].point, let after = truths[next].point
            else { continue }
            let span = max(truths[next - 1].instant.duration(to: truths[next].instant).seconds, 1e-9)
            let share = truths[next - 1].instant.duration(to: output.instant).seconds / span
            let truth = before + (after - before) * share
            all += 1
            if truth.distance(to: position.point) <= position.radius { inside += 1 }
        }
        XCTAssertGreaterThan(all, 1500)
        XCTAssertGreaterThan(Double(inside) / Double(max(1, all)), 0.6, "\(inside) of \(all)")
    }
}

/// A replay of only the steps of a track in the office: 61 m through doors, near a gap in the outer walls.
final class SteppedTrackTests: XCTestCase {
    private static let seeds: [UInt64] = [0, 1, 2]

    private func track() throws -> (steps: [SensorReading], truths: [Truth]) {
        var reader = try RecordingReader(path: FixtureFolder("office/tracks").file("ground.jsonl"))
        var steps: [SensorReading] = []
        var truths: [Truth] = []
        while let entry = try reader.next() {
            if case .truth(let truth) = entry { truths.append(truth) }
            if case .measurement(let reading) = entry, case .step = reading { steps.append(reading) }
        }
        return (steps, truths)
    }

    private func positions(of steps: [SensorReading], seed: UInt64) throws -> [Position] {
        let venue = try VenuePacketReader().read(FixtureFolder("office").path).venue
        var settings = LocalizationSettings()
        settings.forcedVenue = venue.id
        var replay = SessionReplay(venues: [venue], settings: settings, seed: seed)
        var outputs = replay.start()
        outputs += replay.handle(.fix(Fix(instant: .zero, mapID: 1, point: MapPoint(x: 3, y: 10), radius: 1)))
        for step in steps { outputs += replay.handle(step) }
        outputs += replay.finish()
        return outputs.compactMap { if case .position(let position) = $0.content { position } else { nil } }
    }

    func testStepsAloneKeepThePositionInTheBuilding() throws {
        let (steps, truths) = try track()
        XCTAssertEqual(steps.count, 86)
        for seed in Self.seeds {
            let reported = try positions(of: steps, seed: seed)
            var errors: [Double] = []
            var inside = 0
            for truth in truths {
                guard let point = truth.point, let latest = reported.last(where: { $0.instant <= truth.instant }) else {
                    continue
                }
                errors.append(latest.point.distance(to: point))
                if latest.point.distance(to: point) <= latest.radius { inside += 1 }
            }
            XCTAssertGreaterThan(errors.count, 60, "seed \(seed)")
            XCTAssertLessThan(errors.reduce(0, +) / Double(errors.count), 1, "m on average, seed \(seed)")
            XCTAssertLessThan(errors.max() ?? .infinity, 3, "m at most, seed \(seed)")
            XCTAssertGreaterThan(Double(inside) / Double(errors.count), 0.68, "seed \(seed)")
            let end = try XCTUnwrap(reported.last)
            XCTAssertLessThan(end.point.distance(to: MapPoint(x: 31.5, y: 16)), 2, "seed \(seed)")
        }
    }

    func testTheCourseEqualsThatOfTheStepsAndIsNilBeforeThem() throws {
        var (steps, _) = try track()
        let rest = SensorReading.motion(
            MotionSample(instant: .zero, acceleration: Vector3(x: 0, y: 0, z: 9.81)))
        XCTAssertNil(try XCTUnwrap(positions(of: [rest], seed: 0).first).course)
        // East along the lobby, initially.
        steps = Array(steps.prefix(4))
        let last = try XCTUnwrap(positions(of: steps, seed: 0).last?.course)
        XCTAssertEqual(last, 90, accuracy: 25)
    }
}
