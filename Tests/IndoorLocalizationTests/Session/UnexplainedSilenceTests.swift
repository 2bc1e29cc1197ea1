import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// Why a session that hears something gives no positions.
final class UnexplainedSilenceTests: XCTestCase {
    private func errors(_ directives: [Machine.Directive]) -> [LocalizationError] {
        directives.compactMap { if case .report(let error) = $0 { error } else { nil } }
    }

    // MARK: - Beacons of no known venue

    func testBeaconsOfNoKnownVenueAreReportedOnceAfterFiveSeconds() throws {
        var machine = SessionStage.machine(in: .searchVenue)
        for (seconds, minor) in [(10.0, 7), (12, 8), (14.9, 7)] as [(Double, UInt16)] {
            let directives = machine.handle(.reading(SessionStage.heard(7, minor, at: seconds)), at: seconds)
            XCTAssertEqual(directives, [], "\(seconds) s")
        }
        let told = errors(machine.handle(.reading(SessionStage.heard(7, 7, at: 15)), at: 15))
        XCTAssertEqual(told.map(\.code), [.generic])
        guard case .unknownBeacons(let beacons)? = told.first?.reason else { return XCTFail("\(told)") }
        XCTAssertEqual(beacons.map(\.identity), [SessionStage.beacon(7, 7), SessionStage.beacon(7, 8)])
        let message = try XCTUnwrap(told.first?.message)
        XCTAssertTrue(message.contains("\(SessionStage.beacon(7, 8))"), message)
        for seconds in [16.0, 30, 1000] {
            XCTAssertEqual(machine.handle(.reading(SessionStage.heard(7, 7, at: seconds)), at: seconds), [])
        }
        XCTAssertEqual(machine.state, .searchVenue)
        // Each session tells it anew.
        _ = machine.handle(.stop, at: 1000)
        _ = machine.handle(.start, at: 1000)
        _ = machine.handle(.catalogue(SessionStage.summaries), at: 1000)
        _ = machine.handle(.reading(SessionStage.heard(7, 7, at: 1000)), at: 1000)
        XCTAssertEqual(errors(machine.handle(.reading(SessionStage.heard(7, 7, at: 1005)), at: 1005)).count, 1)
    }

    func testABeaconOfAKnownVenueRestartsTheFiveSeconds() {
        var settings = LocalizationSettings()
        // Another venue than the one that is heard: the search goes on.
        settings.forcedVenue = 2
        var machine = SessionStage.machine(in: .searchVenue, settings)
        var told: [Double] = []
        for (seconds, venue) in [(10.0, 7), (14, 7), (14.5, 1), (15, 7), (19.9, 7), (20, 7), (21, 7)] {
            let reading = SessionStage.heard(UInt16(venue), 1, at: seconds)
            if !errors(machine.handle(.reading(reading), at: seconds)).isEmpty { told.append(seconds) }
        }
        XCTAssertEqual(told, [20])
    }

    func testUnknownBeaconsAreNotReportedOnceAVenueWasFound() {
        var machine = SessionStage.machine(in: .findFloor)
        _ = machine.pass(to: 1000)
        XCTAssertEqual(machine.state, .searchVenue)
        for seconds in [1000.0, 1006, 1020] {
            XCTAssertEqual(machine.handle(.reading(SessionStage.heard(7, 7, at: seconds)), at: seconds), [])
        }
    }

    func testWeakBeaconsAreNotReported() {
        var settings = LocalizationSettings()
        settings.rssiThreshold = -80
        var machine = SessionStage.machine(in: .searchVenue, settings)
        for seconds in [10.0, 16] {
            let reading = SessionStage.heard(7, 7, at: seconds, rssi: -81)
            XCTAssertEqual(machine.handle(.reading(reading), at: seconds), [])
        }
    }

    func testTheNearestKnownBeaconIsNamed() {
        let uuid = SessionStage.beacon(1, 1).uuid
        var search = VenueSearchMachine(settings: VenueSearchSettings(), forced: nil)
        let far = BeaconUUID(high: .max, low: .max)
        search.learn([
            VenueSummary(
                id: 1, name: "a", version: 1,
                regions: [
                    BeaconRegion(uuid: uuid, major: 1, minor: 1), BeaconRegion(uuid: uuid, major: 1, minor: 20),
                    BeaconRegion(uuid: uuid, major: 30, minor: 5),
                ]),
            VenueSummary(id: 2, name: "b", version: 1, regions: [BeaconRegion(uuid: far, major: 77)]),
        ])
        let slip = BeaconUUID(high: uuid.high ^ 0x10, low: uuid.low ^ 0xF000)
        let cases: [(BeaconUUID, UInt16, UInt16, BeaconRegion?)] = [
            (uuid, 1, 3, BeaconRegion(uuid: uuid, major: 1, minor: 1)),  // same UUID and major
            (uuid, 1, 18, BeaconRegion(uuid: uuid, major: 1, minor: 20)),
            (uuid, 31, 5, BeaconRegion(uuid: uuid, major: 30, minor: 5)),  // same UUID and minor
            (uuid, 200, 300, BeaconRegion(uuid: uuid, major: 30, minor: 5)),  // same UUID
            (slip, 1, 20, BeaconRegion(uuid: uuid, major: 1, minor: 20)),  // a slip in the UUID
            (BeaconUUID(high: 5, low: 5), 30, 5, BeaconRegion(uuid: uuid, major: 30, minor: 5)),  // another UUID
            (BeaconUUID(high: 5, low: 5), 6, 6, nil),
        ]
        for (uuid, major, minor, nearest) in cases {
            let beacon = BeaconIdentity(uuid: uuid, major: major, minor: minor)
            let unknown = search.unknown(beacon)
            XCTAssertEqual(unknown, UnknownBeacon(identity: beacon, nearest: nearest, venueID: nearest.map { _ in 1 }))
        }
    }

    func testABeaconThatIsKnownByItsAddressAloneIsNoSimilarBeacon() {
        var search = VenueSearchMachine(settings: VenueSearchSettings(), forced: nil)
        let derived = BeaconIdentity(address: DeviceAddress(rawValue: 0xC47C_8D00_0101))
        search.learn([VenueSummary(id: 1, name: "hall", version: 1, regions: [BeaconRegion(derived)])])
        let eddystone = BeaconIdentity(uuid: BeaconUUID(high: 5, low: 5), major: 0, minor: 0)
        XCTAssertEqual(search.unknown(eddystone), UnknownBeacon(identity: eddystone))
    }

    func testALocalizerReportsUnknownBeacons() async throws {
        let stage = LocalizerStage()
        let errors = stage.localizer.errors
        await stage.localizer.start()
        try await stage.source.waitUntilScanning()
        for tick in 0...60 {
            stage.source.send(SessionStage.heard(1, 40, at: LocalizerStage.beginning + Double(tick) / 10))
        }
        let told = try await Bounded.first(1, of: errors)
        let nearest = BeaconRegion(SessionStage.beacon(1, 3))
        XCTAssertEqual(
            told.first?.reason,
            .unknownBeacons([UnknownBeacon(identity: SessionStage.beacon(1, 40), nearest: nearest, venueID: 1)]))
    }

    // MARK: - Instants that do not advance

    func testReadingsWhoseInstantsDoNotAdvanceAreReportedOnce() {
        var replay = SessionReplay(venues: [SessionStage.office])
        var outputs = replay.start()
        for count in 0..<100 { outputs += replay.handle(SessionStage.heard(1, UInt16(count % 3 + 1), at: 0)) }
        outputs += replay.finish()
        let told = outputs.compactMap { if case .error(let error) = $0.content { error } else { nil } }
        XCTAssertEqual(told, [.instantsStandStill(at: .zero)])
        XCTAssertEqual(told.first?.code, .generic)
        XCTAssertEqual(told.first?.reason, .instantsStandStill(.zero))
    }

    func testManyReadingsOfOneInstantAreNoError() {
        // A scan of a second that gives all its beacons, and each of them several times, the instant of its end.
        var machine = SessionStage.machine(in: .searchVenue)
        for scan in 0..<20 {
            for reading in 0..<60 {
                let seconds = 10 + Double(scan) / 10
                let heard = SessionStage.heard(7, UInt16(reading % 6), at: seconds)
                XCTAssertEqual(machine.handle(.reading(heard), at: seconds), [])
            }
        }
    }

    func testAnInertialSensorWhoseInstantsDoNotAdvanceIsReported() {
        var machine = SessionStage.machine(in: .findFloor)
        let told = (0..<500).flatMap { _ in errors(machine.handle(.reading(SessionStage.motion(at: 10)), at: 10)) }
        XCTAssertEqual(told.map(\.reason), [.instantsStandStill(Instant(seconds: 10))])
    }
}
