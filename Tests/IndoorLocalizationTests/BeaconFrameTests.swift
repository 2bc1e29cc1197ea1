import FoundationEssentials
import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

final class BeaconFrameTests: XCTestCase {
    // MARK: - Fixtures

    private func fixtures(_ folder: String) throws -> [AdvertisementFixture] {
        try FixtureFolder("advertisements/\(folder)").files().map(AdvertisementFixture.init(path:))
    }

    func testEveryAcceptedAdvertisementDecodesToTheBeaconOfItsFixture() throws {
        for fixture in try fixtures("accepted") {
            let decoding = try BeaconFrame.decode(fixture.data.span)
            guard case .beacon(let frame) = decoding else {
                XCTFail("\(fixture.path): \(decoding)")
                continue
            }
            XCTAssertEqual(
                [
                    "format": frame.format.rawValue, "uuid": frame.beacon.uuid.description,
                    "major": String(frame.beacon.major), "minor": String(frame.beacon.minor),
                    "measuredPower": frame.measuredPower.map(String.init) ?? "none",
                ], fixture.fields, fixture.path)
        }
    }

    func testEveryRejectedAdvertisementIsRejectedForTheReasonOfItsFixture() throws {
        for fixture in try fixtures("rejected") {
            do throws(AdvertisementError) {
                switch try BeaconFrame.decode(fixture.data.span) {
                case .beacon(let frame): XCTFail("\(fixture.path): \(frame)")
                case .notABeacon(let reason): XCTAssertEqual(["notABeacon": "\(reason)"], fixture.fields, fixture.path)
                }
            } catch {
                XCTAssertEqual(["malformed": error.description], fixture.fields, fixture.path)
            }
        }
    }

    func testTheFoldersHoldNothingButFixtures() throws {
        let all = try FixtureFolder("advertisements").files()
        let read = try ["accepted", "rejected", "published"].flatMap { try fixtures($0).map(\.path) }
        XCTAssertEqual(all, read.sorted())
    }

    // MARK: - Properties

    func testATruncatedAdvertisementHoldsItsBeaconOnlyBehindTheWholeFrame() throws {
        for fixture in try fixtures("accepted") {
            let whole = try BeaconFrame.decode(fixture.data.span)
            var isFound = false
            for length in 0...fixture.data.count {
                let decoding = try? BeaconFrame.decode(Array(fixture.data.prefix(length)).span)
                if case .beacon = decoding {
                    XCTAssertEqual(decoding, whole, "\(fixture.path) cut to \(length) bytes")
                    isFound = true
                } else {
                    XCTAssertFalse(isFound, "\(fixture.path) cut to \(length) bytes lost the beacon")
                }
            }
        }
    }

    func testRandomBytesNeverTrap() {
        let seed: UInt64 = 20_240_611
        var generator = SeededGenerator(seed: seed)
        var outcomes: Set<String> = []
        for _ in 0..<20_000 {
            let data = (0..<Int.random(in: 0...64, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            do { if case .notABeacon = try BeaconFrame.decode(data.span) { outcomes.insert("other") } } catch {
                outcomes.insert("malformed")
            }
        }
        XCTAssertEqual(outcomes, ["other", "malformed"], "seed \(seed)")
    }

    func testFlippedBitsOfValidAdvertisementsNeverTrap() throws {
        let seed: UInt64 = 7
        var generator = SeededGenerator(seed: seed)
        var decoded = 0
        for fixture in try fixtures("accepted") {
            for _ in 0..<500 {
                var data = fixture.data
                let index = Int.random(in: data.indices, using: &generator)
                data[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
                if case .beacon = try? BeaconFrame.decode(data.span) { decoded += 1 }
            }
        }
        XCTAssertGreaterThan(decoded, 1000, "most flips hit the identity; seed \(seed)")
    }

    func testAnEncodedFrameDecodesToTheSameFrame() throws {
        let seed: UInt64 = 99
        var generator = SeededGenerator(seed: seed)
        for format in BeaconFrame.Format.allCases {
            for power in format.plausiblePowers {
                let isEddystone = format == .eddystoneUID
                let frame = BeaconFrame(
                    format: format,
                    beacon: BeaconIdentity(
                        uuid: BeaconUUID(high: generator.next(), low: generator.next()),
                        major: isEddystone ? 0 : UInt16.random(in: 0...65535, using: &generator),
                        minor: isEddystone ? 0 : UInt16.random(in: 0...65535, using: &generator)),
                    measuredPower: power)
                let data = try frame.advertisingData()
                XCTAssertEqual(try BeaconFrame.decode(data.span), .beacon(frame), "seed \(seed)")
                XCTAssertLessThanOrEqual(data.count, 31, "legacy advertising data")
            }
        }
    }

    func testAnImplausiblePowerIsNotEncoded() {
        let uuid = BeaconUUID(high: 1, low: 2)
        let frame = BeaconFrame(
            format: .iBeacon, beacon: BeaconIdentity(uuid: uuid, major: 0, minor: 0), measuredPower: 1000)
        XCTAssertThrowsError(try frame.advertisingData()) { error in
            XCTAssertEqual(error as? BeaconFrame.EncodingError, .power(1000, allowed: -127 ... -1))
        }
    }

    func testAFrameWithoutAPowerIsNotEncoded() {
        let beacon = BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 0, minor: 0)
        for format in BeaconFrame.Format.allCases {
            let frame = BeaconFrame(format: format, beacon: beacon, measuredPower: nil)
            XCTAssertThrowsError(try frame.advertisingData()) { error in
                XCTAssertEqual(error as? BeaconFrame.EncodingError, .noPower)
            }
        }
    }

    func testASightingOfAnUncalibratedBeaconHasNoPower() throws {
        for name in ["ibeacon-power-zero.txt", "ibeacon-power-highest.txt", "eddystone-uid-too-strong.txt"] {
            let path = try FixtureFolder("advertisements/accepted").file(name)
            let advertisement = Advertisement(
                instant: .zero, address: DeviceAddress(rawValue: 1, kind: .random), rssi: -60,
                data: try AdvertisementFixture(path: path).data)
            let sighting = try XCTUnwrap(advertisement.sighting(), name)
            XCTAssertNil(sighting.measuredPower, name)
            XCTAssertEqual(sighting.rssi, -60, name)
        }
    }

    func testEddystoneCannotEncodeAMajor() {
        let beacon = BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 1, minor: 0)
        let frame = BeaconFrame(format: .eddystoneUID, beacon: beacon, measuredPower: -59)
        XCTAssertThrowsError(try frame.advertisingData()) { error in
            XCTAssertEqual(error as? BeaconFrame.EncodingError, .majorAndMinor(beacon))
        }
    }

    // MARK: - Sightings

    private func advertisement(rssi: Double) throws -> Advertisement {
        let path = try FixtureFolder("advertisements/accepted").file("ibeacon.txt")
        return Advertisement(
            instant: Instant(seconds: 3), address: DeviceAddress(rawValue: 0xAABB, kind: .random), rssi: rssi,
            data: try AdvertisementFixture(path: path).data)
    }

    func testAnAdvertisementOfABeaconIsASighting() throws {
        let sighting = try XCTUnwrap(try advertisement(rssi: -70).sighting())
        XCTAssertEqual(sighting.instant, Instant(seconds: 3))
        XCTAssertEqual(sighting.beacon.description, "7C2F0A10-0000-4000-8000-000000000003/1/2")
        XCTAssertEqual(sighting.rssi, -70)
        XCTAssertEqual(sighting.measuredPower, -59)
        XCTAssertEqual(sighting.address, DeviceAddress(rawValue: 0xAABB, kind: .random))
    }

    func testAnAdvertisementWithAnInvalidRSSIHasNoSighting() throws {
        for rssi in [127, 0, 1, -128, .nan] as [Double] {
            XCTAssertNil(try advertisement(rssi: rssi).sighting(), "RSSI \(rssi)")
        }
        XCTAssertNotNil(try advertisement(rssi: -127).sighting())
        XCTAssertNotNil(try advertisement(rssi: -1).sighting())
    }

    func testCrashersNoLongerTrap() throws {
        for path in try FixtureFolder("crashes").files() {
            let bytes = Array(try Data(contentsOf: URL(filePath: path)))
            if case .beacon(let frame) = try? BeaconFrame.decode(bytes.span) {
                XCTAssertTrue(path.hasSuffix("advertisement-power-lowest"), "\(path) holds no beacon")
                XCTAssertNil(frame.measuredPower, path)
            }
        }
    }
}
