import XCTest

import IndoorLocalization
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
