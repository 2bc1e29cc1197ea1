import IndoorLocalization
import XCTest
@testable import IndoorPositioning

final class BeaconIntegrityTests: XCTestCase {
    /// The settings without the test of the beacons.
    private static let trusting: PositioningSettings = {
        var settings = PositioningSettings()
        settings.testedBeacons = .none
        return settings
    }()

    /// Adds a clone of a beacon: ten strong readings a second.
    private static func clone(of clones: Set<Int>) -> IntegrityWalk.Disturbance {
        { beacon, rssi, _, _ in
            guard clones.contains(beacon) else { return [(beacon, rssi)] }
            return [(beacon, rssi)] + Array(repeating: (beacon, -50), count: 10)
        }
    }

    func testNoFaultOnACleanWalk() {
        for seed in 0..<3 {
            var walk = IntegrityWalk(seed: UInt64(seed))
            walk.walk(120)
            XCTAssertEqual(walk.named, [], "seed \(seed)")
            XCTAssertFalse(walk.engine.isContradictory)
        }
    }

    func testACloneIsNamedAndLosesItsInfluence() throws {
        var (clean, tested, trusting) = (
            IntegrityWalk(), IntegrityWalk(), IntegrityWalk(settings: Self.trusting)
        )
        clean.walk(90)
        for seconds in [30, 60] as [Double] {
            tested.walk(seconds, disturbance: Self.clone(of: seconds == 30 ? [] : [2]))
            trusting.walk(seconds, disturbance: Self.clone(of: seconds == 30 ? [] : [2]))
        }
        XCTAssertEqual(tested.named, [PositioningStage.identity(2)])
        XCTAssertNotNil(tested.kind(of: 2))
        XCTAssertLessThan(tested.meanError, 1.3 * clean.meanError + 0.2)
        XCTAssertGreaterThan(trusting.meanError, tested.meanError, "the clone must matter without the test")
    }

    /// A receiver that is known to be the survey's has no offset, and no variance of it to divide by.
    func testACloneIsNamedIfTheReceiverIsTheSurveys() {
        var settings = IntegrityWalk.testing
        settings.signal.receiverOffsetDeviation = 0
        var walk = IntegrityWalk(settings: settings)
        walk.walk(30)
        walk.walk(60, disturbance: Self.clone(of: [2]))
        XCTAssertEqual(walk.named, [PositioningStage.identity(2)])
    }

    /// The likelihood ratios of many beacons exceed the range of a number if they are multiplied.
    func testAFaultAmongManyBeaconsStandsOut() {
        var venue = PositioningStage.venue
        venue.beacons = (0..<120).map { index in
            let point = MapPoint(x: 1 + Double(index % 12) * 1.6, y: 1 + Double(index / 12) * 2)
            return VenueBeacon(
                identity: PositioningStage.identity(index), mapID: PositioningStage.hall, point: point,
                measuredPower: PositioningStage.power, pathLossExponent: PositioningStage.exponent)
        }
        let (field, place) = (SignalField(venue: venue), MapPoint(x: 8, y: 9))
        for count in [8, 31, 32, 33, 75, 90, 120] {
            var evidence = Evidence(
                duration: 4,
                heard: (0..<count).map { beacon in
                    let rssi = PositioningStage.rssi(from: venue.beacons[beacon].point, to: place)
                    return Evidence.Heard(
                        beacon: beacon, rssi: Float(beacon == 3 ? rssi + 30 : rssi), variance: 1, share: 1, draws: 1)
                })
            evidence.order()
            var consensus = BeaconConsensus()
            let likelihood = PositioningStage.likelihood(field, evidence)
            consensus.place(likelihood, count: 0) { _ in (0, place) }
            consensus.weigh(
                likelihood, faults: evidence.heard.map { _ in 0.0067 }, receiver: (value: 0, variance: 9), scale: 0.8)
            XCTAssertEqual(consensus.tests.count, count)
            let accused = consensus.tests.filter { $0.logRatio > 2 }.map(\.beacon)
            XCTAssertEqual(accused, [3], "\(count) beacons")
        }
    }

    /// However many beacons are faulty, the error of a position on a map isn't larger than the map.
    func testTheRadiusStaysMeaningfulAfterFaults() throws {
        var walk = IntegrityWalk()
        var largest = 0.0
        for _ in 0..<30 {
            walk.walk(1, disturbance: Self.clone(of: [2, 5]))
            let estimate = try XCTUnwrap(walk.engine.estimate(on: PositioningStage.hall))
            largest = max(largest, estimate.radius)
        }
        XCTAssertEqual(walk.named, [PositioningStage.identity(2), PositioningStage.identity(5)])
        // The uniform distribution over the hall of 20 × 20 m has a radius of 9 m around its centre, and 18 m around a
        // corner.
        XCTAssertLessThan(largest, 18)
        let estimate = try XCTUnwrap(walk.engine.estimate(on: PositioningStage.hall))
        // The belief was 15 m wrong until the second clone was named after 14 s; the consistency test averages over 30 s.
        XCTAssertLessThan(estimate.radius, 11)
        XCTAssertLessThan(estimate.point.distance(to: IntegrityWalk.place(at: walk.seconds)), estimate.radius)
    }

    func testATransmitterThatSendsAsOftenAsItsBeaconIsADuplicate() {
        var walk = IntegrityWalk()
        walk.walk(60) { beacon, rssi, _, _ in
            [(beacon, rssi)] + (beacon == 2 ? [(beacon, -45), (beacon, rssi), (beacon, -45)] : [])
        }
        XCTAssertEqual(walk.kind(of: 2), .duplicated)
    }

    func testTwoClonesDontOutweighTheOthers() {
        var walk = IntegrityWalk()
        walk.walk(30)
        walk.walk(60, disturbance: Self.clone(of: [2, 5]))
        XCTAssertEqual(walk.named, [PositioningStage.identity(2), PositioningStage.identity(5)])
        XCTAssertLessThan(walk.meanError, 2)
    }

    func testExchangedBeaconsAreNamed() {
        var walk = IntegrityWalk()
        walk.walk(30)
        walk.walk(90) { beacon, rssi, _, _ in [([0: 7, 7: 0][beacon] ?? beacon, rssi)] }
        XCTAssertTrue(walk.named.isSuperset(of: [PositioningStage.identity(0), PositioningStage.identity(7)]))
        XCTAssertLessThan(walk.named.count, 4, "most of the eight beacons are healthy")
        XCTAssertEqual(walk.kind(of: 0), .exchanged(with: PositioningStage.identity(7)))
        XCTAssertEqual(walk.kind(of: 7), .exchanged(with: PositioningStage.identity(0)))
    }

    func testAMovedBeaconGetsItsNewPlace() throws {
        let target = MapPoint(x: 18, y: 17)
        var walk = IntegrityWalk()
        var generator = SeededGenerator(seed: 5)
        walk.walk(90) { beacon, rssi, place, _ in
            guard beacon == 0 else { return [(beacon, rssi)] }
            return [(0, PositioningStage.rssi(from: target, to: place) + 2.5 * generator.normal())]
        }
        guard case .moved(let place, let distance) = try XCTUnwrap(walk.kind(of: 0)) else {
            return XCTFail("\(String(describing: walk.kind(of: 0)))")
        }
        XCTAssertLessThan(place.point.distance(to: target), 5)
        XCTAssertGreaterThan(try XCTUnwrap(distance), 10)
    }

    func testAStrongPowerIsAChangedPower() throws {
        var walk = IntegrityWalk()
        walk.walk(90) { beacon, rssi, _, _ in [(beacon, beacon == 4 ? rssi + 12 : rssi)] }
        guard case .powerChanged(let difference) = try XCTUnwrap(walk.kind(of: 4)) else {
            return XCTFail("\(String(describing: walk.kind(of: 4)))")
        }
        XCTAssertEqual(difference, 12, accuracy: 4)
    }

    func testAnImpossibleLevelIsTooStrong() throws {
        var walk = IntegrityWalk()
        walk.walk(40) { beacon, rssi, _, _ in [(beacon, beacon == 6 ? -20 : rssi)] }
        guard case .tooStrong(let excess) = try XCTUnwrap(walk.kind(of: 6)) else {
            return XCTFail("\(String(describing: walk.kind(of: 6)))")
        }
        XCTAssertGreaterThan(excess, 6)
    }

    func testABeaconIsForgiven() {
        var walk = IntegrityWalk()
        walk.walk(40, disturbance: Self.clone(of: [2]))
        XCTAssertNotNil(walk.kind(of: 2))
        walk.walk(90)
        XCTAssertNil(walk.kind(of: 2))
    }

    func testAMissingBeaconIsSilentAndComesBack() {
        var walk = IntegrityWalk()
        walk.walk(90) { beacon, rssi, _, _ in beacon == 3 ? [] : [(beacon, rssi)] }
        XCTAssertEqual(walk.kind(of: 3), .silent)
        walk.walk(5)
        XCTAssertNil(walk.kind(of: 3))
    }

    func testADeafDeviceAccusesNoBeacon() {
        var walk = IntegrityWalk()
        walk.walk(20)
        walk.walk(120, deaf: true)
        walk.walk(10)
        XCTAssertEqual(walk.named, [])
    }

    func testTwoBeaconsThatDisagreeAreContradictoryAndTheRadiusGrows() throws {
        func radius(strange: Bool) throws -> (radius: Double, isContradictory: Bool) {
            var walk = IntegrityWalk()
            // The engine learns the offset of the receiver, which could explain two strong levels otherwise.
            walk.walk(30)
            walk.walk(20) { beacon, rssi, _, _ in
                // Only two beacons are received; both seem to be near.
                guard beacon == 0 || beacon == 7 else { return [] }
                return [(beacon, strange ? -48 : rssi)]
            }
            let estimate = try XCTUnwrap(walk.engine.estimate(on: PositioningStage.hall))
            return (estimate.radius, walk.engine.isContradictory)
        }
        let (honest, strange) = (try radius(strange: false), try radius(strange: true))
        XCTAssertFalse(honest.isContradictory)
        XCTAssertTrue(strange.isContradictory)
        XCTAssertGreaterThan(strange.radius, honest.radius)
    }

    /// The radius is about the square root of the variance, so that a share of 1 puts the other solution within it.
    func testTheRadiusContainsASolutionWhoseProbabilityIsAboveThatOutsideOfIt() {
        for fault in [0, 0.05, 0.2] { XCTAssertEqual(IntegrityMonitor.share(ofFault: fault), fault) }
        for fault in [0.4, 0.5, 1] { XCTAssertEqual(IntegrityMonitor.share(ofFault: fault), 1) }
        let rising = stride(from: 0, through: 1, by: 0.01).map { IntegrityMonitor.share(ofFault: $0) }
        XCTAssertEqual(rising, rising.sorted())
    }

    func testTheSameSeedGivesTheSameOutput() throws {
        func run() throws -> (PositioningEngine.Estimate, [BeaconFault]) {
            var walk = IntegrityWalk(seed: 9)
            walk.walk(40, disturbance: Self.clone(of: [1]))
            return (try XCTUnwrap(walk.engine.estimate(on: PositioningStage.hall)), walk.engine.beaconFaults)
        }
        let (first, second) = (try run(), try run())
        XCTAssertEqual(first.0, second.0)
        XCTAssertEqual(first.1, second.1)
        XCTAssertFalse(first.1.isEmpty)
    }

    func testTheTestCanBeSwitchedOff() {
        var walk = IntegrityWalk(settings: Self.trusting)
        walk.walk(40, disturbance: Self.clone(of: [2]))
        XCTAssertEqual(walk.named, [])
    }
}

/// The default test of beacons whose level no survey measured: only levels that are far too strong accuse them.
final class UnsurveyedIntegrityTests: XCTestCase {
    private static func walk(_ tested: TestedBeacons? = nil, seed: UInt64 = 1) -> IntegrityWalk {
        var settings = PositioningSettings()
        if let tested { settings.testedBeacons = tested }
        return IntegrityWalk(venue: PositioningStage.venue, settings: settings, seed: seed)
    }

    /// Adds ten strong readings a second to those of a beacon.
    private static func clone(of clone: Int) -> IntegrityWalk.Disturbance {
        { beacon, rssi, _, _ in
            [(beacon, rssi)] + Array(repeating: (beacon, -50), count: beacon == clone ? 10 : 0)
        }
    }

    func testACloneIsNamedAndLosesItsInfluence() {
        var (clean, tested, trusting) = (Self.walk(), Self.walk(), Self.walk(TestedBeacons.none))
        clean.walk(90)
        tested.walk(30)
        tested.walk(60, disturbance: Self.clone(of: 2))
        trusting.walk(30)
        trusting.walk(60, disturbance: Self.clone(of: 2))
        XCTAssertEqual(clean.named, [])
        XCTAssertEqual(tested.named, [PositioningStage.identity(2)])
        XCTAssertGreaterThan(trusting.meanError, 2 * clean.meanError, "the clone must matter without the test")
        XCTAssertLessThan(tested.meanError, 0.6 * trusting.meanError)
    }

    func testNoWeakerLevelAccusesABeacon() {
        for difference in [-6, -12, -20] as [Double] {
            var (tested, thorough) = (Self.walk(), Self.walk(.all))
            let weaker: IntegrityWalk.Disturbance = { beacon, rssi, _, _ in
                [(beacon, beacon == 4 ? rssi + difference : rssi)]
            }
            tested.walk(90, disturbance: weaker)
            thorough.walk(90, disturbance: weaker)
            XCTAssertEqual(tested.named, [], "\(difference) dB")
            if difference == -20 { XCTAssertEqual(thorough.named, [PositioningStage.identity(4)]) }
        }
    }

    /// A device that never receives a beacon accuses none: without a survey, nobody knows where it can be received.
    func testAMissingBeaconIsntNamed() {
        var walk = Self.walk()
        walk.walk(120) { beacon, rssi, _, _ in beacon == 3 ? [] : [(beacon, rssi)] }
        XCTAssertEqual(walk.named, [])
    }
}

/// A transmitter that sends the identities of several beacons with one power, more often than the beacons.
final class ImitatedBeaconTests: XCTestCase {
    /// The beacons whose identities the transmitter sends.
    private static let imitated = [2, 4, 5, 6, 7]

    /// The settings without the test of the beacons.
    private static let trusting: PositioningSettings = {
        var settings = PositioningSettings()
        settings.testedBeacons = .none
        return settings
    }()

    /// Adds ten readings of each imitated beacon with one level to each second.
    private static func imitation(rssi: Double, seed: UInt64) -> IntegrityWalk.Disturbance {
        var generator = SeededGenerator(seed: seed)
        return { beacon, honest, _, _ in
            guard imitated.contains(beacon) else { return [(beacon, honest)] }
            return [(beacon, honest)] + (0..<10).map { _ in (beacon, rssi + 2 * generator.normal()) }
        }
    }

    func testTheIdentitiesOfOneTransmitterAreNamedTogether() {
        for seed in 1...3 as ClosedRange<UInt64> {
            var (walk, trusting) = (IntegrityWalk(seed: seed), IntegrityWalk(settings: Self.trusting, seed: seed))
            walk.walk(30)
            walk.walk(60, disturbance: Self.imitation(rssi: -60, seed: seed))
            trusting.walk(30)
            trusting.walk(60, disturbance: Self.imitation(rssi: -60, seed: seed))
            XCTAssertEqual(walk.named, Set(Self.imitated.map(PositioningStage.identity)), "seed \(seed)")
            XCTAssertEqual(walk.kind(of: 5), .imitated(count: Self.imitated.count), "seed \(seed)")
            XCTAssertLessThan(walk.meanError, 0.7 * trusting.meanError, "seed \(seed)")
            XCTAssertGreaterThan(walk.isInside.count { $0 }, walk.isInside.count * 6 / 10, "seed \(seed)")
        }
    }

    func testTheIdentitiesAreNamedIfTheSessionBeginsWithThem() {
        var walk = IntegrityWalk()
        walk.walk(60, disturbance: Self.imitation(rssi: -60, seed: 1))
        XCTAssertEqual(walk.named, Set(Self.imitated.map(PositioningStage.identity)))
    }

    /// In the middle of four beacons that send ten times a second, they have one level and a rate that the others don't
    /// have. The other beacons agree with them, so none is accused.
    func testFrequentBeaconsAroundThePersonAreNotAccused() {
        let points = PositioningStage.beaconPoints
        let center = MapPoint(x: 10, y: 10)
        let corners = points.indices.sorted {
            abs(points[$0].distance(to: center) - 14) < abs(points[$1].distance(to: center) - 14)
        }.prefix(4)
        var engine = PositioningEngine(
            venue: PositioningStage.surveyedVenue, settings: IntegrityWalk.testing, seed: 1)
        var noise = SeededGenerator(seed: 4)
        for second in 1...120 {
            for (index, point) in points.enumerated() {
                for _ in 0..<(corners.contains(index) ? 10 : 1) {
                    engine.observe(
                        .sighting(
                            Sighting(
                                instant: Instant(seconds: Double(second)), beacon: PositioningStage.identity(index),
                                rssi: PositioningStage.rssi(from: point, to: center) + 2.5 * noise.normal())))
                }
            }
            engine.advance(to: Instant(seconds: Double(second)))
            XCTAssertEqual(engine.beaconFaults, [], "\(second) s")
        }
        XCTAssertLessThan(engine.estimate(on: PositioningStage.hall)?.point.distance(to: center) ?? .infinity, 1.5)
    }

    /// No other beacon can decide, but none is received so often in the survey.
    func testTheRatesOfTheSurveyShowThatAllBeaconsAreImitated() throws {
        var generator = SeededGenerator(seed: 3)
        var walk = IntegrityWalk()
        walk.walk(60) { beacon, _, _, _ in (0..<10).map { _ in (beacon, -60 + 2 * generator.normal()) } }
        XCTAssertEqual(walk.named.count, PositioningStage.beaconPoints.count)
        XCTAssertEqual(walk.kind(of: 0), .imitated(count: PositioningStage.beaconPoints.count))
        let radius = try XCTUnwrap(walk.engine.estimate(on: PositioningStage.hall)?.radius)
        XCTAssertGreaterThan(radius, 5, "nothing is known about the position")
    }

    func testTheSignatureNeedsOneLevelAndOneRate() {
        func found(
            _ counts: [Int], _ levels: [Double] = [-60, -61, -59, -60, -75, -80], surveyedRate: Double? = nil
        ) -> [Int]? {
            let heard = counts.enumerated().map { beacon, count in
                Evidence.Heard(
                    beacon: beacon, rssi: Float(levels[beacon]), variance: 1, share: 1, draws: 1, count: Float(count))
            }
            return SharedTransmitter(heard, seconds: 4) {
                levels[$0]
            } surveyedRate: { _ in
                surveyedRate
            }?.beacons
        }
        XCTAssertEqual(found([40, 41, 38, 40, 4, 5]), [0, 1, 2, 3])
        XCTAssertNil(found([40, 41, 38, 40, 4, 14]), "another beacon is as frequent")
        XCTAssertNil(found([40, 41, 38, 18, 4, 5]), "three of one rate")
        XCTAssertNil(found([40, 41, 38, 40, 4]), "one other beacon")
        XCTAssertEqual(found([40, 41, 38, 40, 4], surveyedRate: 3), [0, 1, 2, 3], "more often than in the survey")
        XCTAssertNil(found([40, 41, 38, 40, 4], surveyedRate: 3.5), "almost as often as in the survey")
        XCTAssertNil(found([40, 41, 38, 40, 4, 5], [-60, -66, -58, -62, -75, -80]), "different levels")
        XCTAssertNil(found([8, 8, 7, 8, 1, 1]), "few readings")
    }
}

/// Audits of the hall's beacons by four sessions of a minute each, made by devices with other receivers.
final class BeaconAuditTests: XCTestCase {
    /// Returns what a device receives in place of the advertisement of a beacon.
    private typealias Change =
        @Sendable (_ beacon: Int, _ rssi: Double, _ place: MapPoint) -> (beacon: Int, rssi: Double)?

    private static func session(_ number: Int, _ change: Change) -> [SensorReading] {
        var noise = SeededGenerator(seed: UInt64(number) &+ 500)
        let (phase, offset) = (Double(number) * 11, [0, -6, 4, 9][number % 4])
        var readings: [SensorReading] = []
        for second in 1...60 {
            // The walks differ in their radius.
            let round = IntegrityWalk.place(at: Double(second) + phase)
            let scale = 0.6 + 0.25 * Double(number % 3)
            let place = MapPoint(x: 10 + (round.x - 10) * scale, y: 10 + (round.y - 10) * scale)
            for (index, beacon) in PositioningStage.beaconPoints.enumerated() {
                let level = PositioningStage.rssi(from: beacon, to: place) + 2.5 * noise.normal() + Double(offset)
                guard let heard = change(index, level, place) else { continue }
                readings.append(
                    .sighting(
                        Sighting(
                            instant: Instant(seconds: Double(second)), beacon: PositioningStage.identity(heard.beacon),
                            rssi: heard.rssi)))
            }
        }
        return readings
    }

    private static func audit(
        sessions: Range<Int> = 0..<4, seed: UInt64 = 1, venue: Venue = PositioningStage.surveyedVenue,
        _ change: Change = { beacon, rssi, _ in (beacon, rssi) }
    ) -> BeaconAudit {
        var audit = BeaconAudit(venue: venue, seed: seed)
        for number in sessions { audit.add(session(number, change)) }
        return audit
    }

    /// A beacon that sends 8 dB more, in one audit of all sessions.
    private static let stronger: Change = { beacon, rssi, _ in (beacon, beacon == 4 ? rssi + 8 : rssi) }
    private static let strongerAudit = audit(stronger)

    func testHealthyBeaconsAreNotReported() {
        for seed in 1...3 as ClosedRange<UInt64> {
            let audit = Self.audit(seed: seed)
            XCTAssertEqual(audit.findings(), [], "seed \(seed)")
            XCTAssertEqual(audit.sessionCount, 4)
            XCTAssertEqual(audit.receivedCount, 8)
        }
        XCTAssertEqual(Self.audit(venue: PositioningStage.venue).findings(), [], "without a survey")
    }

    func testAMovedBeaconIsReportedWithItsPlaceAndItsDistance() throws {
        let target = MapPoint(x: 14, y: 12)
        let audit = Self.audit { beacon, rssi, place in
            let home = PositioningStage.rssi(from: PositioningStage.beaconPoints[0], to: place)
            return (beacon, beacon == 0 ? rssi - home + PositioningStage.rssi(from: target, to: place) : rssi)
        }
        let finding = try XCTUnwrap(audit.findings().first)
        XCTAssertEqual(audit.findings().map(\.fault.beacon), [PositioningStage.identity(0)])
        guard case .moved(let place, let distance) = finding.fault.kind else { return XCTFail("\(finding)") }
        XCTAssertLessThan(place.point.distance(to: target), 2.5)
        XCTAssertEqual(
            try XCTUnwrap(distance), target.distance(to: PositioningStage.beaconPoints[0]), accuracy: 2.5)
        XCTAssertEqual(finding.sessions, 4)
        XCTAssertGreaterThan(finding.places, 10)
    }

    func testAChangedPowerIsReportedWithItsDifference() throws {
        let findings = Self.strongerAudit.findings()
        XCTAssertEqual(findings.map(\.fault.beacon), [PositioningStage.identity(4)])
        guard case .powerChanged(let difference) = try XCTUnwrap(findings.first).fault.kind else {
            return XCTFail("\(findings)")
        }
        XCTAssertEqual(difference, 8, accuracy: 2.5)
    }

    func testExchangedBeaconsAreReportedWithEachOther() {
        let findings = Self.audit { beacon, rssi, _ in ([0: 7, 7: 0][beacon] ?? beacon, rssi) }.findings()
        XCTAssertEqual(findings.map(\.fault.beacon), [PositioningStage.identity(0), PositioningStage.identity(7)])
        XCTAssertEqual(
            findings.map(\.fault.kind),
            [.exchanged(with: PositioningStage.identity(7)), .exchanged(with: PositioningStage.identity(0))])
    }

    func testABeaconThatNoSessionReceivesIsSilent() {
        let findings = Self.audit { beacon, rssi, _ in beacon == 3 ? nil : (beacon, rssi) }.findings()
        XCTAssertEqual(findings.map(\.fault.beacon), [PositioningStage.identity(3)])
        XCTAssertEqual(findings.map(\.fault.kind), [.silent])
        XCTAssertEqual(findings.map(\.sessions), [0])
    }

    func testABeaconIsNotSilentIfOneSessionReceivesIt() {
        var audit = Self.audit(sessions: 0..<3) { beacon, rssi, _ in beacon == 3 ? nil : (beacon, rssi) }
        audit.add(Self.audit(sessions: 3..<4))
        XCTAssertEqual(audit.findings(), [])
    }

    func testJoinedAuditsGiveTheFindingsOfOne() {
        var joined = Self.audit(sessions: 0..<2, Self.stronger)
        joined.add(Self.audit(sessions: 2..<4, Self.stronger))
        let one = Self.strongerAudit
        XCTAssertEqual(joined.findings().map(\.fault.beacon), one.findings().map(\.fault.beacon))
        XCTAssertEqual(joined.findings().map(\.fault.kind.name), one.findings().map(\.fault.kind.name))
        XCTAssertEqual(joined.findings().map(\.places), one.findings().map(\.places))
        for (part, whole) in zip(joined.findings(), one.findings()) {
            XCTAssertEqual(part.evidence, whole.evidence, accuracy: 1e-3, "the sums round in another order")
        }
        XCTAssertFalse(one.findings().isEmpty)
        XCTAssertEqual(joined.sessionCount, 4)
        XCTAssertEqual(joined.seconds, one.seconds, accuracy: 1e-9)
    }

    func testASessionWithoutBeaconsOfTheVenueDoesNotCount() {
        var audit = BeaconAudit(venue: PositioningStage.surveyedVenue)
        audit.add([])
        audit.add([
            .sighting(
                Sighting(
                    instant: .zero, beacon: BeaconIdentity(uuid: BeaconUUID(high: 9, low: 9), major: 9, minor: 9),
                    rssi: -60))
        ])
        XCTAssertEqual(audit.sessionCount, 0)
        XCTAssertEqual(audit.findings(), [])
    }
}
