import IndoorLocalization
import XCTest

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
