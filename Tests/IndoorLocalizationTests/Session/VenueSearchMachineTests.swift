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

    // MARK: - Beacons that several venues have

    /// The shop is a kilometre north of the office, and was set up with the office's beacons.
    private var twins: VenueSearchMachine {
        var machine = VenueSearchMachine(settings: VenueSearchSettings(), forced: nil)
        var summaries = SessionStage.summaries
        summaries[1].regions = summaries[0].regions
        machine.learn(summaries)
        return machine
    }

    func testABeaconOfTwoVenuesIndicatesTheCurrentOne() {
        var machine = twins
        for second in 0..<60 {
            XCTAssertEqual(hear(&machine, 1, at: Double(second), rssi: -40, current: 2), .undecided)
        }
        XCTAssertEqual(machine.lastHeard(of: 2), Instant(seconds: 59))
        XCTAssertNil(machine.lastHeard(of: 1))
        XCTAssertTrue(machine.isBeacon(SessionStage.beacon(1, 1), of: 2))
        XCTAssertFalse(machine.isBeacon(SessionStage.beacon(2, 1), of: 2))
    }

    func testABeaconOfTwoVenuesIndicatesTheOneThatSatellitesSupport() {
        var machine = twins
        XCTAssertEqual(hear(&machine, 1, at: 0), .venue(1), "the smaller number without any hint")
        machine = twins
        _ = locate(&machine, 52.01, at: 1)
        XCTAssertEqual(hear(&machine, 1, at: 2), .venue(2), "inside")
        machine = twins
        _ = locate(&machine, 52.02, at: 1)
        machine.restart()
        XCTAssertEqual(hear(&machine, 1, at: 2), .undecided, "far from both")
    }

    func testABeaconOfTwoVenuesIndicatesTheOneOfTheEarlierSession() {
        var machine = twins
        let sighting = Sighting(instant: .zero, beacon: SessionStage.beacon(1, 1), rssi: -60)
        XCTAssertEqual(machine.observe(sighting, current: nil, restored: 2), .venue(2))
    }

    func testSharedBeaconsAreReportedOncePerCatalogue() {
        var summaries = SessionStage.summaries
        summaries[1].regions = summaries[0].regions
        var machine = SessionStage.machine()
        var told = machine.handle(.start, at: 0)
        told += machine.handle(.catalogue(summaries), at: 0)
        told += machine.handle(.venues(.catalogue(summaries)), at: 1)
        let reports = told.compactMap { if case .report(let error) = $0 { error } else { nil } }
        XCTAssertEqual(reports.map(\.code), [.generic])
        XCTAssertTrue(reports.first?.message.hasPrefix("the venues 1, 2 have the same beacons (UUID ") ?? false)
        XCTAssertTrue(reports.first?.message.contains("major 1, minor 1, and 2 more") ?? false, "\(reports)")
        XCTAssertEqual(machine.handle(.venues(.catalogue(SessionStage.summaries)), at: 2), [])
    }

    func testVenuesWithTheSameBeaconsAreListedUpToTen() throws {
        let summaries = (1...13).map { number in
            var summary = SessionStage.summaries[0]
            summary.id = VenueID(rawValue: number)
            return summary
        }
        let shared = try XCTUnwrap(SharedBeacons(among: summaries))
        XCTAssertTrue("\(shared)".hasPrefix("the venues 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 3 more have"), "\(shared)")
    }

    // MARK: - Order

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

/// What speaks against a venue: a forced one, beacons that are carried about, satellites.
final class VenueSearchConflictTests: XCTestCase {
    private typealias Verdict = VenueSearchMachine.Verdict

    private func machine(
        forced: VenueID? = nil, _ settings: VenueSearchSettings = VenueSearchSettings(),
        _ summaries: [VenueSummary] = SessionStage.summaries
    ) -> VenueSearchMachine {
        var machine = VenueSearchMachine(settings: settings, forced: forced)
        machine.learn(summaries)
        return machine
    }

    private func hear(
        _ machine: inout VenueSearchMachine, _ venue: UInt16, _ minor: UInt16 = 1, at seconds: Double,
        rssi: Double = -60, current: VenueID? = nil
    ) -> Verdict {
        machine.observe(
            Sighting(instant: Instant(seconds: seconds), beacon: SessionStage.beacon(venue, minor), rssi: rssi),
            current: current)
    }

    private func locate(
        _ machine: inout VenueSearchMachine, _ latitude: Double, at seconds: Double, current: VenueID? = nil
    ) -> Verdict {
        machine.observe(
            GNSSFix(
                instant: Instant(seconds: seconds), coordinate: Coordinate(latitude: latitude, longitude: 13),
                accuracy: 5), current: current)
    }

    /// The shop with three beacons.
    private var wideShop: VenueSummary {
        var summary = VenueSummary(of: SessionStage.shop)
        for minor in 2...3 as ClosedRange<UInt16> {
            summary.regions.insert(BeaconRegion(SessionStage.beacon(2, minor)))
        }
        return summary
    }

    // MARK: - A forced venue

    func testOtherVenuesAreNeverFoundWhileOneIsForced() {
        var machine = machine(forced: 2)
        for second in 0..<60 { XCTAssertEqual(hear(&machine, 1, at: Double(second)), .undecided, "\(second) s") }
        for second in 60..<70 { XCTAssertEqual(locate(&machine, 52, at: Double(second)), .undecided, "\(second) s") }
    }

    func testTheForcedVenueIsFoundAtOnceBesideOthersThatAreNoStronger() {
        var machine = machine(forced: 2)
        XCTAssertEqual(hear(&machine, 1, at: 0, rssi: -60), .undecided)
        XCTAssertEqual(hear(&machine, 2, at: 0.1, rssi: -65), .venue(2), "without a time in the lead")
    }

    func testTheForcedVenueIsNotFoundWhileTheDeviceIsInAnother() {
        var machine = machine(forced: 2)
        for second in stride(from: 0.0, to: 30, by: 1) {
            XCTAssertEqual(hear(&machine, 1, at: second, rssi: -60), .undecided)
            XCTAssertEqual(hear(&machine, 2, at: second + 0.5, rssi: -90), .undecided)
        }
        XCTAssertEqual(hear(&machine, 2, at: 33, rssi: -90), .venue(2), "the other is silent")
    }

    func testTheDetectionOfAnotherVenueEndsTheForcedOne() {
        var machine = machine(forced: 2)
        XCTAssertEqual(hear(&machine, 2, at: 0, rssi: -85), .venue(2))
        for second in stride(from: 1.0, to: 6, by: 1) {
            XCTAssertEqual(hear(&machine, 1, at: second, rssi: -60, current: 2), .undecided, "\(second) s")
        }
        XCTAssertEqual(hear(&machine, 1, at: 6, rssi: -60, current: 2), .venue(1))
        machine.restart()
        XCTAssertEqual(hear(&machine, 1, at: 6.1, rssi: -60), .undecided, "ignored")
        XCTAssertEqual(hear(&machine, 2, at: 6.2, rssi: -85), .undecided, "still there")
    }

    func testTheForcedVenueOwnsTheBeaconsOfARegionThatTwoVenuesClaim() {
        let region = BeaconRegion(SessionStage.beacon(1, 1))
        let both = [3, 4].map { VenueSummary(id: $0, name: "", version: 1, regions: [region]) }
        XCTAssertEqual(machine(forced: 4, VenueSearchSettings(), both).owner(of: SessionStage.beacon(1, 1)), 4)
    }

    // MARK: - Beacons that are carried about

    func testAPassingStrongBeaconDoesNotSwitchTheVenue() {
        var machine = machine()
        for tick in 0..<200 {
            let second = Double(tick) / 5
            XCTAssertEqual(hear(&machine, 1, 1, at: second, rssi: -70, current: 1), .undecided)
            // For four seconds, somebody with a beacon of the shop in the pocket stands beside the device.
            guard (10..<14).contains(second) else { continue }
            XCTAssertEqual(hear(&machine, 2, 1, at: second + 0.1, rssi: -40, current: 1), .undecided, "\(second) s")
        }
    }

    func testAStrongBeaconInThePocketDoesNotSwitchTheVenue() {
        var machine = machine()
        for tick in 0..<600 {
            let second = Double(tick) / 5
            XCTAssertEqual(hear(&machine, 1, 1, at: second, rssi: -75, current: 1), .undecided)
            XCTAssertEqual(hear(&machine, 2, 1, at: second + 0.1, rssi: -40, current: 1), .undecided, "\(second) s")
        }
    }

    func testASingleBeaconSwitchesTheVenueOnceTheCurrentOnesAreFaint() {
        var machine = machine()
        var found: Double?
        for tick in 0..<100 where found == nil {
            let second = Double(tick) / 5
            // Walking into the shop: from the sixth second on, the office is heard through the wall.
            _ = hear(&machine, 1, 1, at: second, rssi: second < 6 ? -70 : -80, current: 1)
            if hear(&machine, 2, 1, at: second + 0.1, rssi: -55, current: 1) == .venue(2) { found = second }
        }
        XCTAssertEqual(found, 8.8, "3 s after the last one that was strong, at 5.8 s")
    }

    func testTwoBeaconsSwitchTheVenueAlthoughTheCurrentOnesAreStrong() {
        var machine = machine(forced: nil, VenueSearchSettings(), [SessionStage.summaries[0], wideShop])
        var found: Double?
        for tick in 0..<100 where found == nil {
            let second = Double(tick) / 5
            _ = hear(&machine, 1, 1, at: second, rssi: -70, current: 1)
            if hear(&machine, 2, UInt16(tick % 2 + 1), at: second + 0.1, rssi: -55, current: 1) == .venue(2) {
                found = second
            }
        }
        XCTAssertEqual(found ?? 0, 5, accuracy: 0.21, "after the time of a takeover")
    }

    // MARK: - Satellites that see the device far away

    func testTheSearchIgnoresBeaconsFarFromTheirVenue() {
        // 52.005° is 556 m from the office's centre.
        var machine = machine()
        for second in stride(from: 0.0, to: 30, by: 1) {
            XCTAssertEqual(locate(&machine, 52.005, at: second), .undecided)
            XCTAssertEqual(hear(&machine, 1, at: second + 0.5, rssi: -40), .undecided, "however strong")
        }
        XCTAssertEqual(hear(&machine, 1, at: 34, rssi: -40), .venue(1), "the satellites are silent for 5 s")
    }

    func testAVenueWhoseBeaconsAreElsewhereIsLeft() {
        var machine = machine()
        XCTAssertEqual(hear(&machine, 1, at: 0, rssi: -40), .venue(1))
        XCTAssertEqual(locate(&machine, 52.005, at: 0.5, current: 1), .undecided, "one is not enough")
        _ = hear(&machine, 1, at: 1, rssi: -40, current: 1)
        XCTAssertEqual(locate(&machine, 52.005, at: 1.5, current: 1), .outdoors)
    }

    func testSlightlyWrongSatellitePositionsDoNotContradictStrongBeacons() {
        // 52.0035° is 389 m from the centre: 339 m outside, but not by 300 m and the accuracy.
        var settings = VenueSearchSettings()
        settings.gnssFarDistance = 335
        var machine = machine(forced: nil, settings)
        for second in stride(from: 0.0, to: 10, by: 1) {
            _ = hear(&machine, 1, at: second, rssi: -70, current: 1)
            XCTAssertEqual(locate(&machine, 52.0035, at: second + 0.5, current: 1), .undecided)
        }
    }

    func testBeaconsFarFromTheirVenueDoNotCompeteWithThoseOfTheRightOne() {
        var machine = machine()
        XCTAssertEqual(locate(&machine, 52.0005, at: 0), .undecided)
        XCTAssertEqual(hear(&machine, 2, at: 0.1, rssi: -40), .undecided, "the shop is 1.1 km away")
        XCTAssertEqual(hear(&machine, 1, at: 0.2, rssi: -60), .venue(1), "without a time in the lead")
    }

    func testASatellitePositionInsideCancelsOneOutside() {
        var machine = machine()
        XCTAssertEqual(locate(&machine, 52.005, at: 0), .undecided)
        XCTAssertEqual(hear(&machine, 1, at: 0.5, rssi: -90), .undecided)
        XCTAssertEqual(locate(&machine, 52, at: 1), .undecided)
        XCTAssertEqual(hear(&machine, 1, at: 1.5, rssi: -90), .venue(1))
    }
}
