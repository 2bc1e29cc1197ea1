import IndoorLocalization
import XCTest

final class VenueSearchMachineTests: XCTestCase {
    private typealias Verdict = VenueSearchMachine.Verdict

    private func machine(forced: VenueID? = nil, _ settings: VenueSearchSettings = VenueSearchSettings())
        -> VenueSearchMachine
    {
        var machine = VenueSearchMachine(settings: settings, forced: forced)
        machine.learn(SessionStage.summaries)
        return machine
    }

    private func hear(
        _ machine: inout VenueSearchMachine, _ venue: UInt16, _ minor: UInt16 = 1, at seconds: Double,
        rssi: Double = -60, current: VenueID? = nil
    ) -> VenueSearchMachine.Verdict {
        machine.observe(
            Sighting(instant: Instant(seconds: seconds), beacon: SessionStage.beacon(venue, minor), rssi: rssi),
            current: current)
    }

    private func locate(
        _ machine: inout VenueSearchMachine, _ latitude: Double, at seconds: Double, accuracy: Double = 5,
        current: VenueID? = nil
    ) -> VenueSearchMachine.Verdict {
        machine.observe(
            GNSSFix(
                instant: Instant(seconds: seconds), coordinate: Coordinate(latitude: latitude, longitude: 13),
                accuracy: accuracy), current: current)
    }

    // MARK: - Beacons

    func testASingleVenueIsFoundAtItsFirstBeacon() {
        var machine = machine()
        XCTAssertEqual(hear(&machine, 2, at: 0, rssi: -95), .venue(2))
    }

    func testABeaconOfNoVenueIdentifiesNone() {
        var machine = machine()
        XCTAssertEqual(hear(&machine, 9, at: 0), .undecided)
    }

    func testBeforeTheCatalogueNoVenueIsKnown() {
        var machine = VenueSearchMachine(settings: VenueSearchSettings(), forced: nil)
        XCTAssertEqual(hear(&machine, 1, at: 0), .undecided)
    }

    func testOneOfSeveralVenuesMustLeadForItsTime() {
        var machine = machine()
        XCTAssertEqual(hear(&machine, 1, at: 0, rssi: -60), .venue(1), "the only one so far")
        XCTAssertEqual(hear(&machine, 2, at: 0.1, rssi: -61), .undecided, "not twice as strong")
        XCTAssertEqual(hear(&machine, 1, at: 1, rssi: -50), .undecided, "leads since 1 s")
        XCTAssertEqual(hear(&machine, 2, at: 2, rssi: -61), .undecided)
        XCTAssertEqual(hear(&machine, 1, at: 2.999, rssi: -50), .undecided)
        XCTAssertEqual(hear(&machine, 1, at: 3, rssi: -50), .venue(1))
    }

    func testTheSearchIgnoresOldSightings() {
        var machine = machine()
        _ = hear(&machine, 1, at: 0, rssi: -40)
        XCTAssertEqual(hear(&machine, 2, at: 3, rssi: -80), .venue(1), "heard 3 s ago")
        XCTAssertEqual(hear(&machine, 2, at: 3.001, rssi: -80), .venue(2))
    }

    func testRepeatedSightingsOfABeaconCountOnce() {
        var machine = machine()
        for tenth in 0..<20 { _ = hear(&machine, 1, at: Double(tenth) / 10, rssi: -70) }
        // The same strength from a venue that is heard once: neither leads.
        XCTAssertEqual(hear(&machine, 2, at: 2, rssi: -70), .undecided)
        XCTAssertEqual(hear(&machine, 2, at: 4.5, rssi: -70), .undecided)
    }

    func testBeaconsOfTheCurrentVenueChangeNothing() {
        var machine = machine()
        XCTAssertEqual(hear(&machine, 1, at: 0, current: 1), .undecided)
    }

    func testAnotherVenueMustLeadForItsTimeToTakeOver() {
        var machine = machine()
        _ = hear(&machine, 1, at: 0, rssi: -90, current: 1)
        for second in stride(from: 1.0, to: 6, by: 1) {
            XCTAssertEqual(hear(&machine, 2, at: second, rssi: -50, current: 1), .undecided, "\(second) s")
        }
        XCTAssertEqual(hear(&machine, 2, at: 6, rssi: -50, current: 1), .venue(2))
    }

    func testAnEquallyStrongBeaconOfTheCurrentVenuePreventsTheSwitch() {
        var machine = machine()
        for second in 0..<60 {
            XCTAssertEqual(hear(&machine, 2, at: Double(second), rssi: -60, current: 1), .undecided, "\(second) s")
            XCTAssertEqual(hear(&machine, 1, at: Double(second) + 0.5, rssi: -60, current: 1), .undecided)
        }
    }

    func testARegionOfWholeUUIDsAndMajorsOwnsItsBeaconsUnlessOneIsNamed() {
        let uuid = SessionStage.beacon(1, 1).uuid
        var machine = VenueSearchMachine(settings: VenueSearchSettings(), forced: nil)
        machine.learn([
            VenueSummary(id: 1, name: "", version: 1, regions: [BeaconRegion(uuid: uuid)]),
            VenueSummary(id: 2, name: "", version: 1, regions: [BeaconRegion(uuid: uuid, major: 5)]),
            VenueSummary(id: 3, name: "", version: 1, regions: [BeaconRegion(SessionStage.beacon(5, 5))]),
        ])
        XCTAssertEqual(machine.owner(of: SessionStage.beacon(4, 4)), 1)
        XCTAssertEqual(machine.owner(of: SessionStage.beacon(5, 4)), 2)
        XCTAssertEqual(machine.owner(of: SessionStage.beacon(5, 5)), 3)
    }

    func testTheLowerNumberedOfTwoVenuesOwnsABeaconThatBothClaim() {
        var machine = VenueSearchMachine(settings: VenueSearchSettings(), forced: nil)
        let region = BeaconRegion(SessionStage.beacon(1, 1))
        machine.learn([4, 3].map { VenueSummary(id: $0, name: "", version: 1, regions: [region]) })
        XCTAssertEqual(machine.owner(of: SessionStage.beacon(1, 1)), 3)
    }

    func testALateSightingDoesNotMakeTheLastOneOlder() {
        var machine = machine()
        _ = hear(&machine, 1, at: 5)
        _ = hear(&machine, 1, 2, at: 4)
        XCTAssertEqual(machine.lastHeard(of: 1), Instant(seconds: 5))
        XCTAssertNil(machine.lastHeard(of: 2))
    }

    // MARK: - Satellites

    func testOneSatellitePositionIsNotEnough() {
        var machine = machine()
        XCTAssertEqual(locate(&machine, 52, at: 0), .undecided)
        XCTAssertEqual(locate(&machine, 52, at: 1), .venueByGNSS(1))
        XCTAssertEqual(machine.lastEvidence(of: 1), Instant(seconds: 1))
    }

    func testConsecutiveSatellitePositionsMustAgree() {
        for other in [52.01, 52.005] {
            var machine = machine()
            for second in stride(from: 0.0, to: 20, by: 2) {
                XCTAssertEqual(locate(&machine, 52, at: second), .undecided, "\(other)")
                XCTAssertEqual(locate(&machine, other, at: second + 1), .undecided, "\(other)")
            }
        }
    }

    func testTheSearchIgnoresInaccurateAndImpossibleSatellitePositions() {
        for (latitude, accuracy) in [(52, 15.1), (52, .nan), (52, -1), (.nan, 5), (520, 5)] as [(Double, Double)] {
            var machine = machine()
            for second in 0..<5 {
                XCTAssertEqual(
                    locate(&machine, latitude, at: Double(second), accuracy: accuracy), .undecided,
                    "\(latitude)° ± \(accuracy) m")
            }
        }
    }

    func testAVenueIsFoundAlsoWithinTheSearchRadiusAroundIt() {
        // The office's radius is 50 m: 51.9952° is 484 m outside of it, 51.9949° is 517 m.
        for (latitude, radius, expected) in [
            (51.9952, 500.0, Verdict.venueByGNSS(1)), (51.9949, 500, .undecided), (51.9949, 600, .venueByGNSS(1)),
            (51.9952, 0, .undecided), (52.0004, 0, .venueByGNSS(1)),
        ] {
            var settings = VenueSearchSettings()
            settings.gnssSearchRadius = radius
            var machine = machine(settings)
            _ = locate(&machine, latitude, at: 0)
            XCTAssertEqual(locate(&machine, latitude, at: 1), expected, "\(latitude)° within \(radius) m")
        }
    }

    func testTheSearchFindsTheVenueWithTheNearestEdgeAndTreatsOneWithoutARadiusAsAPoint() {
        func nearest(_ radius: Double?) -> Verdict {
            var machine = VenueSearchMachine(settings: VenueSearchSettings(), forced: nil)
            // 52.003° is 334 m away, 52.001° is 111 m away.
            machine.learn([
                VenueSummary(
                    id: 1, name: "", version: 1, coordinate: Coordinate(latitude: 52.003, longitude: 13),
                    radius: radius, regions: []),
                VenueSummary(
                    id: 2, name: "", version: 1, coordinate: Coordinate(latitude: 51.999, longitude: 13), radius: 5,
                    regions: []),
            ])
            _ = locate(&machine, 52, at: 0)
            return locate(&machine, 52, at: 1)
        }
        XCTAssertEqual(nearest(300), .venueByGNSS(1))
        XCTAssertEqual(nearest(100), .venueByGNSS(2))
        XCTAssertEqual(nearest(nil), .venueByGNSS(2))
    }

    func testTheSearchLeavesANearbyVenueOutsideTheSearchRadius() {
        func look(_ machine: inout VenueSearchMachine, _ latitude: Double, at seconds: Double) -> Verdict {
            machine.observe(
                GNSSFix(
                    instant: Instant(seconds: seconds), coordinate: Coordinate(latitude: latitude, longitude: 13),
                    accuracy: 5), current: 1, isNearby: true)
        }
        var machine = machine()
        for second in 0..<10 { XCTAssertEqual(look(&machine, 51.9952, at: Double(second)), .undecided) }
        XCTAssertEqual(machine.lastEvidence(of: 1), Instant(seconds: 9), "it is still near")
        // 51.99503° is 502.6 m outside, which the accuracy may account for.
        for second in 10..<20 { XCTAssertEqual(look(&machine, 51.99503, at: Double(second)), .undecided) }
        XCTAssertEqual(look(&machine, 51.9949, at: 20), .undecided)
        XCTAssertEqual(look(&machine, 51.9949, at: 21), .outdoors)
    }

    func testTheSearchFindsTheNearestVenue() {
        var machine = VenueSearchMachine(settings: VenueSearchSettings(), forced: nil)
        machine.learn(
            [52.001, 52.0].enumerated().map { index, latitude in
                VenueSummary(
                    id: VenueID(rawValue: index + 1), name: "", version: 1,
                    coordinate: Coordinate(latitude: latitude, longitude: 13), radius: 500, regions: [])
            })
        _ = locate(&machine, 52.0004, at: 0)
        XCTAssertEqual(locate(&machine, 52.0004, at: 1), .venueByGNSS(2))
    }

    func testOutdoorsNeedsSilentBeaconsAndTwoPositionsClearlyOutside() {
        // 0.0005° are 55.6 m: outside of 50 m, but not by more than the accuracy.
        for (latitude, heardAt, expected) in [
            (52.002, 4.0, Verdict.outdoors), (52.002, 5.5, .undecided), (52.0005, 4.0, .undecided),
        ] {
            var machine = machine()
            _ = hear(&machine, 1, at: heardAt, current: 1)
            XCTAssertEqual(locate(&machine, latitude, at: 9, accuracy: 10, current: 1), .undecided)
            XCTAssertEqual(
                locate(&machine, latitude, at: 10, accuracy: 10, current: 1), expected, "\(latitude)°, \(heardAt) s")
        }
    }

    func testAPositionInsideEndsARunOfPositionsOutside() {
        var machine = machine()
        for second in stride(from: 10.0, to: 30, by: 2) {
            XCTAssertEqual(locate(&machine, 52.002, at: second, current: 1), .undecided)
            XCTAssertEqual(locate(&machine, 52, at: second + 1, current: 1), .undecided)
        }
    }

    func testAVenueWithoutCoordinateIsNeverLeftBySatellites() {
        var machine = VenueSearchMachine(settings: VenueSearchSettings(), forced: nil)
        machine.learn([VenueSummary(id: 1, name: "", version: 1, regions: [])])
        for second in 0..<5 {
            XCTAssertEqual(locate(&machine, 10, at: Double(second), current: 1), .undecided)
            XCTAssertEqual(locate(&machine, 10, at: Double(second)), .undecided)
        }
    }

    func testANewSearchDiscardsSightingsAndKeepsTheKnownVenues() {
        var machine = machine()
        _ = hear(&machine, 1, at: 0, rssi: -40)
        _ = locate(&machine, 52, at: 0)
        machine.restart()
        XCTAssertEqual(locate(&machine, 52, at: 1), .undecided)
        XCTAssertEqual(hear(&machine, 2, at: 6, rssi: -70), .venue(2), "5 s after satellites saw it far away")
    }

    func testFaintBeaconsAcrossTheStreetDoNotOutweighSatellites() {
        var machine = machine()
        XCTAssertEqual(hear(&machine, 1, at: 0, rssi: -60), .venue(1))
        _ = hear(&machine, 1, at: 6, rssi: -76)
        XCTAssertEqual(locate(&machine, 52.002, at: 6, current: 1), .undecided)
        _ = hear(&machine, 1, at: 7, rssi: -76)
        XCTAssertEqual(locate(&machine, 52.002, at: 7, current: 1), .outdoors)
        XCTAssertEqual(hear(&machine, 1, at: 7.5, rssi: -76), .undecided)
        XCTAssertEqual(hear(&machine, 1, at: 8, rssi: -75), .venue(1), "exactly at the limit is heard well")
    }

    func testOldSatellitePositionsDoNotPreventTheDetectionOfAVenue() {
        var machine = machine()
        _ = locate(&machine, 52.002, at: 0)
        XCTAssertEqual(hear(&machine, 1, at: 4.9, rssi: -90), .undecided)
        XCTAssertEqual(hear(&machine, 1, at: 5, rssi: -90), .venue(1))
    }
}
