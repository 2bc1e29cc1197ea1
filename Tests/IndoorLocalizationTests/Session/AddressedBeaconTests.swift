import IndoorLocalization
import XCTest

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
