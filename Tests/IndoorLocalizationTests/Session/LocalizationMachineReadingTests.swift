import IndoorLocalization
import XCTest

/// What a session makes of what is heard.
final class LocalizationMachineReadingTests: XCTestCase {
    private let office = SessionStage.office

    // MARK: - RSSI

    func testASightingExactlyAtTheThresholdIsKept() {
        var settings = LocalizationSettings()
        settings.rssiThreshold = -80
        for (rssi, isKept) in [(-80, true), (-79.9, true), (-80.1, false)] as [(Double, Bool)] {
            var machine = SessionStage.machine(in: .searchVenue, settings)
            _ = machine.handle(.reading(SessionStage.heard(1, at: 11, rssi: rssi)), at: 11)
            XCTAssertEqual(machine.state.name == "getPacket", isKept, "\(rssi) dBm")
        }
    }

    func testTheSessionIgnoresSightingsWithoutAMeasurement() {
        for rssi in [127, 0, 1, 20, -128, .nan, .infinity, -.infinity] as [Double] {
            for stage in [SessionStage.Stage.started, .searchVenue, .findFloor] {
                let log = WatchedBelief()
                var machine = SessionStage.machine(in: stage, log: log)
                let known = log.readings.count
                _ = machine.handle(.reading(SessionStage.heard(1, at: 11, rssi: rssi)), at: 11)
                XCTAssertEqual(machine.state.name, stage.rawValue, "\(rssi) dBm")
                if stage == .started { _ = machine.handle(.catalogue(SessionStage.summaries), at: 11) }
                if stage != .findFloor {
                    _ = machine.handle(.reading(SessionStage.heard(1, at: 12)), at: 12)
                    _ = machine.handle(.packet(1, office), at: 12)
                }
                let heard = log.readings.dropFirst(known)
                XCTAssertEqual(Array(heard), stage == .findFloor ? [] : [SessionStage.heard(1, at: 12)], "\(rssi) dBm")
            }
        }
    }

    func testWeakSightingsBeforeTheCatalogueDoNotReachTheBelief() {
        var settings = LocalizationSettings()
        settings.rssiThreshold = -80
        let log = WatchedBelief()
        var machine = SessionStage.machine(in: .started, settings, log: log)
        let strong = SessionStage.heard(1, 2, at: 10.1, rssi: -80)
        _ = machine.handle(.reading(SessionStage.heard(1, 1, at: 10, rssi: -81)), at: 10)
        _ = machine.handle(.reading(strong), at: 10.1)
        _ = machine.handle(.catalogue(SessionStage.summaries), at: 10.2)
        let found = SessionStage.heard(1, 3, at: 10.3)
        _ = machine.handle(.reading(found), at: 10.3)
        _ = machine.handle(.packet(1, office), at: 10.4)
        XCTAssertEqual(log.readings, [strong, found])
    }

    func testAdvertisementsAreDecodedAndFiltered() throws {
        var settings = LocalizationSettings()
        settings.rssiThreshold = -80
        let frame = BeaconFrame(format: .iBeacon, beacon: SessionStage.beacon(1, 1), measuredPower: -59)
        for (rssi, isKept) in [(-80, true), (-81, false), (127, false), (0, false)] as [(Double, Bool)] {
            var machine = SessionStage.machine(in: .searchVenue, settings)
            let advertisement = Advertisement(
                instant: Instant(seconds: 11), address: DeviceAddress(rawValue: 1), rssi: rssi,
                data: try frame.advertisingData())
            _ = machine.handle(.reading(.advertisement(advertisement)), at: 11)
            XCTAssertEqual(machine.state.venueID, isKept ? 1 : nil, "\(rssi) dBm")
        }
        var machine = SessionStage.machine(in: .searchVenue)
        let broken = Advertisement(
            instant: Instant(seconds: 11), address: DeviceAddress(rawValue: 1), rssi: -60, data: [200, 255])
        XCTAssertEqual(machine.handle(.reading(.advertisement(broken)), at: 11), [])
        XCTAssertEqual(machine.state, .searchVenue)
    }

    func testTheSessionUsesAnAdvertisementAndItsSightingOnce() throws {
        let log = WatchedBelief()
        var machine = SessionStage.machine(in: .findFloor, log: log)
        let address = DeviceAddress(rawValue: 1)
        let frame = BeaconFrame(format: .iBeacon, beacon: SessionStage.beacon(1, 1), measuredPower: -59)
        let advertisement = Advertisement(
            instant: Instant(seconds: 11), address: address, rssi: -60, data: try frame.advertisingData())
        let sighting = try XCTUnwrap(try advertisement.sighting())
        let before = log.readings.count
        var decoder = ReadingDecoder()
        for reading in [SensorReading.advertisement(advertisement), .sighting(sighting), .sighting(sighting)] {
            _ = machine.handle(.reading(decoder.decode(reading)), at: reading.instant)
        }
        XCTAssertEqual(
            Array(log.readings.dropFirst(before)), [.sighting(sighting), .sighting(sighting)],
            "only the one right behind the advertisement is the same")
    }

    // MARK: - The radio

    func testTheSessionReportsARadioThatStopsReceivingAndContinues() {
        for status in RadioEvent.Status.allCases {
            var machine = SessionStage.machine(in: .localizationRunning)
            let state = machine.state
            let event = RadioEvent(instant: Instant(seconds: 10.2), status: status, adapter: "hci3", detail: "why")
            let directives = machine.handle(.reading(.radio(event)), at: 10.2)
            let errors = directives.compactMap { directive -> LocalizationError? in
                guard case .report(let error) = directive else { return nil }
                return error
            }
            XCTAssertEqual(errors.count, status.isHearing || status == .resting ? 0 : 1, status.rawValue)
            XCTAssertEqual(directives.count, errors.count, status.rawValue)
            XCTAssertTrue(errors.allSatisfy { !$0.endsSession && $0.message.contains("hci3") }, status.rawValue)
            XCTAssertEqual(machine.state, state)
        }
    }

    func testNoRadioEventReachesTheBelief() {
        let log = WatchedBelief()
        var machine = SessionStage.machine(in: .findFloor, log: log)
        let before = log.readings
        _ = machine.handle(.reading(.radio(RadioEvent(instant: Instant(seconds: 11), status: .scanning))), at: 11)
        XCTAssertEqual(log.readings, before)
    }

    // MARK: - The belief

    func testTheBeliefReceivesReadingsFromBeforeThePacket() {
        let log = WatchedBelief()
        var machine = SessionStage.machine(in: .getPacket, log: log)
        let readings = [SessionStage.motion(at: 10.5), SessionStage.heard(1, 2, at: 11), SessionStage.fix(11, at: 12)]
        for reading in readings { _ = machine.handle(.reading(reading), at: reading.instant) }
        XCTAssertEqual(log.readings, [])
        _ = machine.handle(.packet(1, office), at: 13)
        XCTAssertEqual(log.readings, [SessionStage.heard(1, at: 10)] + readings)
    }

    func testTheBeliefWaitsForReadingsFromOutsideAVenueThatSatellitesFound() {
        let log = WatchedBelief()
        var machine = SessionStage.machine(in: .started, log: log)
        _ = machine.handle(.catalogue(SessionStage.summaries), at: 10)
        for (second, latitude) in [(11.0, 52.0), (12, 52), (13, 52.002)] {
            _ = machine.handle(.reading(SessionStage.gnss(latitude, at: second)), at: second)
        }
        _ = machine.handle(.reading(SessionStage.motion(at: 13.5)), at: 13.5)
        _ = machine.handle(.packet(1, office), at: 14)
        XCTAssertEqual(machine.state, .findFloor(office))
        XCTAssertEqual(log.readings, [])
        _ = machine.handle(.reading(SessionStage.heard(1, at: 15)), at: 15)
        _ = machine.pass(to: 15.5)
        XCTAssertTrue(log.readings.contains(SessionStage.motion(at: 13.5)), "a beacon of the venue was heard")
    }

    func testTheBeliefAdvancesToEachTick() {
        let log = WatchedBelief()
        var machine = SessionStage.machine(in: .findFloor, log: log)
        _ = machine.pass(to: 11)
        XCTAssertEqual(log.advances.map(\.seconds), [10, 10.5, 11])
    }

    /// A belief that knows the room nearly for certain.
    private struct RoomBelief: PositioningBelief {
        mutating func observe(_ reading: SensorReading) {}
        mutating func advance(to now: Instant) {}
        var mapProbabilities: [MapID: Double] { [10: 1] }
        func estimate(on map: MapID) -> PositioningEngine.Estimate? {
            PositioningEngine.Estimate(at: MapPoint(x: 5, y: 5), radius: 1)
        }
        func roomShares(on map: MapID, in rooms: inout RoomCells) -> [(room: Int, share: Double)] {
            [(0, 0.009), (1, 0.981), (2, 0.01)]
        }
    }

    func testAPositionNamesTheRoomsOfAtLeastOnePercentTheMostProbableFirst() throws {
        var venue = office
        venue.rooms = (1...3).map { id in
            let center = MapPoint(x: 10 * Double(id), y: 5)
            return Room(id: id, name: "room \(id)", mapID: 10, area: .circle(center: center, radius: 2))
        }
        var machine = LocalizationMachine<RoomBelief>(settings: LocalizationSettings(), seed: 1) { _ in RoomBelief() }
        for event in [LocalizationMachine<RoomBelief>.Event.start, .catalogue(SessionStage.summaries)] {
            _ = machine.handle(event, at: Instant(seconds: 10))
        }
        _ = machine.handle(.reading(SessionStage.heard(1, at: 10)), at: Instant(seconds: 10))
        _ = machine.handle(.packet(1, venue), at: Instant(seconds: 10))
        let positions = machine.handle(.tick, at: Instant(seconds: 10)).compactMap { directive in
            if case .emit(let position) = directive { position } else { nil }
        }
        XCTAssertEqual(try XCTUnwrap(positions.first).rooms.map(\.id), [2, 3])
    }

    func testWithoutAFloorThereIsNoPosition() {
        var machine = SessionStage.machine(in: .findFloor)
        XCTAssertEqual(machine.pass(to: 20), [])
        XCTAssertEqual(machine.state, .findFloor(office))
    }

    // MARK: - Which venue

    func testOnlyTheForcedVenueIsAccepted() {
        var settings = LocalizationSettings()
        settings.forcedVenue = 2
        var machine = SessionStage.machine(in: .searchVenue, settings)
        XCTAssertEqual(machine.handle(.reading(SessionStage.heard(1, at: 11)), at: 11), [])
        XCTAssertEqual(machine.state, .searchVenue)
        _ = machine.handle(.reading(SessionStage.heard(2, at: 15, rssi: -90)), at: 15)
        XCTAssertEqual(machine.state, .getPacket(venueID: 2, progress: 0))
    }

    func testAForcedVenueThatIsNotInTheCatalogueIsReported() {
        var settings = LocalizationSettings()
        settings.forcedVenue = 7
        var machine = SessionStage.machine(in: .started, settings)
        let directives = machine.handle(.catalogue(SessionStage.summaries), at: 10)
        XCTAssertEqual(directives.first, .publish(.searchVenue))
        guard case .report(let error) = directives.last else { return XCTFail("\(directives)") }
        XCTAssertEqual(error.code, .generic)
        XCTAssertTrue(error.message.contains("forcedVenue 7"), error.message)
    }

    func testTheSessionIgnoresSatellitesWhileItReceivesBeacons() {
        var machine = SessionStage.machine(in: .localizationRunning)
        for second in stride(from: 11.0, through: 20, by: 1) {
            _ = machine.handle(.reading(SessionStage.heard(1, at: second)), at: second)
            XCTAssertEqual(machine.handle(.reading(SessionStage.gnss(52.002, at: second)), at: second), [])
        }
        XCTAssertEqual(machine.state.name, "localizationRunning")
    }

    func testAVenueFoundBySatellitesStaysWhileTheyConfirmIt() {
        var machine = SessionStage.machine(in: .searchVenue)
        for second in [11.0, 12] { _ = machine.handle(.reading(SessionStage.gnss(52, at: second)), at: second) }
        for second in stride(from: 13.0, through: 60, by: 1) {
            XCTAssertEqual(machine.pass(to: second), [])
            _ = machine.handle(.reading(SessionStage.gnss(52, at: second)), at: second)
        }
        _ = machine.handle(.packet(1, office), at: 60)
        for second in stride(from: 61.0, through: 120, by: 1) {
            XCTAssertEqual(machine.pass(to: second), [])
            _ = machine.handle(.reading(SessionStage.gnss(52, at: second)), at: second)
        }
        XCTAssertEqual(machine.state, .findFloor(office))
        XCTAssertEqual(machine.pass(to: 150.5), [.cancelFetch], "they have fallen silent")
        XCTAssertEqual(machine.state, .searchVenue)
    }

    func testSatellitesAloneDoNotKeepPositionsRunning() {
        var machine = SessionStage.machine(in: .localizationRunning)
        for second in stride(from: 11.0, through: 39, by: 1) {
            _ = machine.pass(to: second)
            _ = machine.handle(.reading(SessionStage.gnss(52, at: second)), at: second)
        }
        _ = machine.pass(to: 40)
        XCTAssertEqual(machine.state, .searchVenue)
    }

    func testANewSessionStartsWithoutTheStateOfTheLast() {
        let log = WatchedBelief()
        var machine = SessionStage.machine(in: .localizationRunning, log: log)
        let known = log.readings.count
        _ = machine.handle(.stop, at: 20)
        for (_, events) in SessionStage.Stage.way.prefix(2) {
            for event in events { _ = machine.handle(event, at: 0) }
        }
        _ = machine.handle(.reading(SessionStage.heard(1, at: 1)), at: 1)
        _ = machine.handle(.packet(1, office), at: 1)
        XCTAssertEqual(Array(log.readings.dropFirst(known)), [SessionStage.heard(1, at: 1)])
        XCTAssertEqual(machine.pass(to: 5), [], "the floor is not known any more")
    }
}

/// Beacons that a venue knows by the device address of their transmitter.
final class AddressedBeaconTests: XCTestCase {
    private static let address = DeviceAddress(rawValue: 0xC47C_8D00_0101)

    /// The office, with the address of its second beacon.
    private static let office: Venue = {
        var office = SessionStage.office
        office.beacons[1].address = address
        return office
    }()

    private func machine(log: WatchedBelief? = nil, venues: [Venue] = [AddressedBeaconTests.office]) -> Machine {
        var machine = SessionStage.machine(log: log)
        _ = machine.handle(.start, at: 10)
        _ = machine.handle(.catalogue(venues.map(VenueSummary.init)), at: 10)
        return machine
    }

    private func advertisement(
        _ data: [UInt8] = [2, 1, 6], of address: DeviceAddress = address, kind: DeviceAddress.Kind? = nil,
        rssi: Double = -60, at seconds: Double = 11
    ) -> SensorReading {
        var address = address
        address.kind = kind
        return .advertisement(
            Advertisement(instant: Instant(seconds: seconds), address: address, rssi: rssi, data: data))
    }

    private func frame(_ major: UInt16, _ minor: UInt16) throws -> [UInt8] {
        try BeaconFrame(format: .iBeacon, beacon: SessionStage.beacon(major, minor), measuredPower: -59)
            .advertisingData()
    }

    private func heard(_ log: WatchedBelief) -> [BeaconIdentity] {
        log.readings.compactMap { if case .sighting(let sighting) = $0 { sighting.beacon } else { nil } }
    }

    func testAnAdvertisementFromAKnownAddressIsASightingOfThatBeacon() {
        let log = WatchedBelief()
        var machine = machine(log: log)
        _ = machine.handle(.reading(advertisement()), at: 11)
        XCTAssertEqual(machine.state, .getPacket(venueID: 1, progress: 0))
        _ = machine.handle(.packet(1, Self.office), at: 11)
        _ = machine.handle(.reading(advertisement(at: 12)), at: 12)
        XCTAssertEqual(heard(log), [SessionStage.beacon(1, 2), SessionStage.beacon(1, 2)])
    }

    func testPublicAndStaticAddressesIdentifyABeaconAndPrivateOnesDoNot() {
        let resolvable = DeviceAddress(rawValue: 0x447C_8D00_0101)
        for (address, kind, isKnown) in [
            (Self.address, nil, true), (Self.address, .random, true), (Self.address, .public, true),
            (resolvable, .public, true), (resolvable, nil, true), (resolvable, .random, false),
        ] as [(DeviceAddress, DeviceAddress.Kind?, Bool)] {
            var office = Self.office
            office.beacons[1].address = address
            var machine = machine(venues: [office])
            _ = machine.handle(.reading(advertisement(of: address, kind: kind)), at: 11)
            XCTAssertEqual(machine.state.venueID, isKnown ? 1 : nil, "\(address) \(String(describing: kind))")
        }
    }

    func testAnUnknownAddressIdentifiesNoBeacon() {
        var machine = machine()
        XCTAssertEqual(machine.handle(.reading(advertisement(of: DeviceAddress(rawValue: 5))), at: 11), [])
        XCTAssertEqual(machine.state, .searchVenue)
    }

    func testAKnownIdentityWinsOverTheAddress() throws {
        let log = WatchedBelief()
        var machine = machine(log: log)
        _ = machine.handle(.reading(advertisement(try frame(1, 3))), at: 11)
        _ = machine.handle(.packet(1, Self.office), at: 11)
        XCTAssertEqual(heard(log), [SessionStage.beacon(1, 3)])
    }

    func testTheAddressReplacesAnUnknownIdentity() throws {
        let log = WatchedBelief()
        var machine = machine(log: log)
        let reading = advertisement(try frame(8, 8))
        var decoder = ReadingDecoder()
        _ = machine.handle(.reading(decoder.decode(reading)), at: 11)
        guard case .advertisement(let heard) = reading, let own = try heard.sighting() else { return XCTFail() }
        // What a source puts behind it is the same news.
        _ = machine.handle(.reading(decoder.decode(.sighting(own))), at: 11)
        _ = machine.handle(.packet(1, Self.office), at: 11)
        XCTAssertEqual(self.heard(log), [SessionStage.beacon(1, 2)])
        // A source that gives sightings alone tells the address, too.
        var later = own
        later.instant = Instant(seconds: 12)
        _ = machine.handle(.reading(.sighting(later)), at: 12)
        XCTAssertEqual(self.heard(log), [SessionStage.beacon(1, 2), SessionStage.beacon(1, 2)])
    }

    func testTheAddressIdentifiesAnAdvertisementWithBrokenData() {
        var machine = machine()
        _ = machine.handle(.reading(advertisement([200, 255])), at: 11)
        XCTAssertEqual(machine.state.venueID, 1)
    }

    func testTheSessionIgnoresAddressedBeaconsThatAreWeakOrNotMeasured() {
        var settings = LocalizationSettings()
        settings.rssiThreshold = -80
        for rssi in [127.0, 0, -128, -81] {
            var machine = SessionStage.machine(settings)
            _ = machine.handle(.start, at: 10)
            _ = machine.handle(.catalogue([VenueSummary(of: Self.office)]), at: 10)
            _ = machine.handle(.reading(advertisement(rssi: rssi)), at: 11)
            XCTAssertEqual(machine.state, .searchVenue, "\(rssi) dBm")
        }
    }

    func testTheSessionUsesThePacketsAddressesIfTheCatalogueHasNone() {
        let log = WatchedBelief()
        var machine = machine(log: log, venues: [SessionStage.office])
        _ = machine.handle(.reading(advertisement()), at: 10)
        XCTAssertEqual(machine.state, .searchVenue)
        _ = machine.handle(.reading(SessionStage.heard(1, 1, at: 10.5)), at: 10.5)
        _ = machine.handle(.packet(1, Self.office), at: 11)
        _ = machine.handle(.reading(advertisement(at: 12)), at: 12)
        XCTAssertEqual(heard(log), [SessionStage.beacon(1, 1), SessionStage.beacon(1, 2)])
    }

    func testAReadingIsNamedForAConsumerWithoutASessionUnderTheRulesOfASession() throws {
        let addresses = KnownAddresses(of: Self.office)
        let second = SessionStage.beacon(1, 2)
        func beacon(_ reading: SensorReading) -> BeaconIdentity? {
            guard case .sighting(let sighting) = addresses.named(reading) else { return nil }
            return sighting.beacon
        }
        XCTAssertEqual(beacon(advertisement()), second)
        XCTAssertEqual(beacon(advertisement([200, 255])), second, "malformed data")
        XCTAssertNil(beacon(advertisement(of: DeviceAddress(rawValue: 5))))
        XCTAssertNil(beacon(advertisement(rssi: 127)))
        let third = SessionStage.beacon(1, 3)
        for (sent, expected) in [(SessionStage.beacon(8, 8), second), (third, third)] {
            let reading = advertisement(try frame(sent.major, sent.minor))
            XCTAssertEqual(addresses.named(reading), reading, "its sighting follows")
            guard case .advertisement(let heard) = reading, let own = try heard.sighting() else { return XCTFail() }
            XCTAssertEqual(beacon(.sighting(own)), expected)
        }
    }

    func testTheIdentitiesOfTheRadioMapTakePrecedenceOverTheAddress() throws {
        var office = Self.office
        let surveyed = SessionStage.beacon(8, 8)
        office.radioMap = RadioMap(
            beacons: [.init(identity: surveyed, mapID: 10, point: MapPoint(x: 5, y: 5), power: -60)],
            fingerprints: [], pathLossExponent: 2)
        let sighting = Sighting(instant: .zero, beacon: surveyed, rssi: -60, address: Self.address)
        XCTAssertEqual(KnownAddresses(of: office).resolve(sighting).beacon, surveyed)
        XCTAssertEqual(KnownAddresses(of: Self.office).resolve(sighting).beacon, SessionStage.beacon(1, 2))
    }
}
