import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// The edge at which a reading is decoded once, and what the machines make of a reading that it rejects.
final class ReadingDecoderTests: XCTestCase {
    private struct NotASighting: Error {}

    /// Not available, zero, positive, below what a receiver measures, and no number.
    private static let invalid = [127.0, 0, 20, -127.5, -128, .infinity, -.infinity, .nan]

    private func sighting(_ reading: SensorReading) throws -> Sighting {
        guard case .sighting(let sighting) = reading else { throw NotASighting() }
        return sighting
    }

    private func advertisement(rssi: Double = -60) throws -> Advertisement {
        let frame = BeaconFrame(format: .iBeacon, beacon: SessionStage.beacon(1, 1), measuredPower: -59)
        return Advertisement(
            instant: Instant(seconds: 11), address: DeviceAddress(rawValue: 1), rssi: rssi,
            data: try frame.advertisingData())
    }

    // MARK: - Decoding

    func testAnAdvertisementIsDecodedAndItsSightingIsRejectedOnce() throws {
        var decoder = ReadingDecoder()
        let advertisement = try advertisement()
        let sighting = try XCTUnwrap(try advertisement.sighting())
        let first = decoder.decode(.advertisement(advertisement))
        XCTAssertEqual(first.reading, .advertisement(advertisement))
        XCTAssertEqual(first.content, .sighting(sighting))
        XCTAssertEqual(first.sightingInAdvertisement, sighting)
        // A combination of sources may put a reading of another sensor between the two.
        XCTAssertEqual(decoder.decode(SessionStage.motion(at: 11)).content, .other)
        XCTAssertEqual(decoder.decode(.sighting(sighting)).content, .rejected(.repetition))
        let second = decoder.decode(.sighting(sighting))
        XCTAssertEqual(second.content, .sighting(sighting), "the advertisement holds one sighting, not two")
        XCTAssertNil(second.sightingInAdvertisement)
    }

    func testASightingOfAnotherBeaconBehindAnAdvertisementIsAccepted() throws {
        var decoder = ReadingDecoder()
        let advertisement = try advertisement()
        _ = decoder.decode(.advertisement(advertisement))
        var other = try XCTUnwrap(try advertisement.sighting())
        other.beacon = SessionStage.beacon(1, 2)
        XCTAssertEqual(decoder.decode(.sighting(other)).content, .sighting(other))
        let own = try XCTUnwrap(try advertisement.sighting())
        XCTAssertEqual(decoder.decode(.sighting(own)).content, .sighting(own), "it is not right behind any more")
    }

    func testAnAdvertisementWithoutABeaconStaysAnAdvertisement() throws {
        var decoder = ReadingDecoder()
        for data in [[], [2, 1, 6], [200, 255]] as [[UInt8]] {
            var phone = try advertisement()
            phone.data = data
            XCTAssertEqual(decoder.decode(.advertisement(phone)).content, .advertisement(phone), "\(data)")
        }
    }

    func testAnInvalidRSSIIsRejectedWithItsReason() throws {
        var decoder = ReadingDecoder()
        for rssi in Self.invalid {
            for reading in [SessionStage.heard(1, at: 11, rssi: rssi), .advertisement(try advertisement(rssi: rssi))] {
                XCTAssertEqual(decoder.decode(reading).content, .rejected(.invalidRSSI), "\(rssi) dBm")
            }
        }
        for rssi in [-127.0, -60, -0.5] {
            let heard = SessionStage.heard(1, at: 11, rssi: rssi)
            XCTAssertEqual(decoder.decode(heard).content, .sighting(try sighting(heard)), "\(rssi) dBm")
        }
    }

    // MARK: - The machines

    func testEveryMachineIgnoresAReadingWithAnInvalidRSSI() throws {
        for rssi in Self.invalid {
            for reading in [SessionStage.heard(1, at: 12, rssi: rssi), .advertisement(try advertisement(rssi: rssi))] {
                let text = "\(rssi) dBm"
                let log = WatchedBelief()
                var session = SessionStage.machine(in: .searchVenue, log: log)
                XCTAssertEqual(session.handle(.reading(reading), at: 12), [], text)
                XCTAssertEqual(session.state, .searchVenue, text)

                var floorPlan = FloorPlanLocalizerMachineStage()
                floorPlan.run()
                _ = floorPlan.pass(to: 12)
                _ = floorPlan.handle(.reading(reading, delay: .zero), at: 12)
                XCTAssertEqual(floorPlan.pass(to: 13).states, ["buffering"], "\(text) ends no silence")

                var scanner = ScanMachine(settings: ScannerSettings(dutyCycle: .continuous), pace: .live, seed: 1)
                _ = scanner.handle(.start, at: .zero)
                XCTAssertEqual(scanner.handle(.reading(reading), at: Instant(seconds: 12)), [], text)
                XCTAssertEqual(scanner.discarded, 1, text)
                XCTAssertEqual(scanner.rangedBeacons, 0, text)
            }
            let heard = try sighting(SessionStage.heard(1, at: 12, rssi: rssi))
            var ranger = Ranger()
            ranger.observe(heard)
            XCTAssertEqual(ranger.count, 0, "\(rssi) dBm")
            XCTAssertEqual(RoomScan.scans(of: [heard]), [], "\(rssi) dBm")
        }
    }

    func testEveryMachineUsesASightingBehindItsAdvertisementOnce() throws {
        let advertisement = try advertisement()
        let sighting = try XCTUnwrap(try advertisement.sighting())
        let readings = [.advertisement(advertisement), SessionStage.motion(at: 11), .sighting(sighting)]
        var decoder = ReadingDecoder()
        let decoded = readings.map { decoder.decode($0) }

        let log = WatchedBelief()
        var session = SessionStage.machine(in: .findFloor, log: log)
        let before = log.readings.count
        for reading in decoded { _ = session.handle(.reading(reading), at: reading.instant) }
        XCTAssertEqual(Array(log.readings.dropFirst(before)), [.sighting(sighting), SessionStage.motion(at: 11)])

        var scanner = ScanMachine(settings: ScannerSettings(dutyCycle: .continuous), pace: .live, seed: 1)
        _ = scanner.handle(.start, at: .zero)
        let records = decoded.flatMap { scanner.handle(.reading($0), at: $0.instant) }.count {
            if case .emitBeacon = $0 { true } else { false }
        }
        XCTAssertEqual(records, 1)
    }
}
