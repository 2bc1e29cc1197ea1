import XCTest

import IndoorLocalization
@testable import IndoorPositioning

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
