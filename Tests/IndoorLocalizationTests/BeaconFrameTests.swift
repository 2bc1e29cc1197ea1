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

/// The names of beacons of other formats than iBeacon.
final class BeaconNameTests: XCTestCase {
    private func decoded(_ bytes: [UInt8]) throws -> BeaconIdentity {
        guard case .beacon(let frame) = try BeaconFrame.decode(bytes.span) else { throw NotABeacon() }
        return frame.beacon
    }

    private struct NotABeacon: Error {}

    /// The example of the Eddystone-UID specification has ten bytes of namespace and six of instance.
    func testANamespaceAndAnInstanceAreTheIdentityOfTheFrameThatSendsThem() throws {
        let named = BeaconIdentity(eddystoneNamespace: "edd1ebeac04e5defa017", instance: "0BDB87539B67")
        let frame: [UInt8] = [
            0x17, 0x16, 0xAA, 0xFE, 0x00, 0xEE, 0xED, 0xD1, 0xEB, 0xEA, 0xC0, 0x4E, 0x5D, 0xEF, 0xA0, 0x17, 0x0B, 0xDB,
            0x87, 0x53, 0x9B, 0x67, 0, 0,
        ]
        XCTAssertEqual(named, try decoded(frame))
        XCTAssertEqual(named?.eddystoneNamespace, "EDD1EBEAC04E5DEFA017")
        XCTAssertEqual(named?.eddystoneInstance, "0BDB87539B67")
    }

    func testTheDigitsOfAnAltBeaconAreTheIdentityOfTheFrameThatSendsThem() throws {
        let frame: [UInt8] = [
            0x1B, 0xFF, 0x18, 0x01, 0xBE, 0xAC, 0x2F, 0x23, 0x44, 0x54, 0xCF, 0x6D, 0x4A, 0x0F, 0xAD, 0xF2, 0xF4, 0x91,
            0x1B, 0xA9, 0xFF, 0xA6, 0x00, 0x01, 0xAB, 0xCD, 0xC5, 0x00,
        ]
        for text in [
            "2F234454CF6D4A0FADF2F4911BA9FFA60001ABCD", "2f234454-cf6d-4a0f-adf2-f4911ba9ffa6-0001-abcd",
            "2F234454-CF6D-4A0F-ADF2-F4911BA9FFA60001ABCD",
        ] {
            XCTAssertEqual(BeaconIdentity(altBeaconID: text), try decoded(frame), text)
        }
        XCTAssertEqual(try decoded(frame).altBeaconID, "2F234454CF6D4A0FADF2F4911BA9FFA60001ABCD")
        XCTAssertNil(try decoded(frame).eddystoneNamespace, "an Eddystone-UID has no major and minor")
        XCTAssertNil(try decoded(frame).eddystoneInstance)
    }

    func testOtherTextNamesNoBeacon() {
        for (namespace, instance) in [
            ("", ""), ("EDD1EBEAC04E5DEFA01", "0BDB87539B67"), ("EDD1EBEAC04E5DEFA017", "0BDB87539B6"),
            ("EDD1EBEAC04E5DEFA017", "0BDB87539B6G"), ("EDD1EBEAC04E5DEFA0170", "BDB87539B67"),
            ("EDD1EBEAC04E5DEFA017", "+BDB87539B67"), ("éDD1EBEAC04E5DEFA01", "0BDB87539B67"),
        ] {
            XCTAssertNil(BeaconIdentity(eddystoneNamespace: namespace, instance: instance), namespace + "/" + instance)
        }
        for text in [
            "", "2F234454CF6D4A0FADF2F4911BA9FFA60001ABC", "2F234454CF6D4A0FADF2F4911BA9FFA60001ABCDE",
            "2F234454CF6D4A0FADF2F4911BA9FFA6+001ABCD", "2F234454CF6D4A0FADF2F4911BA9FFA60001ABCG",
            "2F23445-4CF6D4A0FADF2F4911BA9FFA60001ABCD", "2F234454--CF6D4A0FADF2F4911BA9FFA60001ABCD",
            "-2F234454CF6D4A0FADF2F4911BA9FFA60001ABCD", "2F234454CF6D4A0FADF2F4911BA9FFA60001ABCD-",
            "2F234454CF6D4A0FADF2F4911BA9FFA60001ABé",
        ] {
            XCTAssertNil(BeaconIdentity(altBeaconID: text), text)
        }
    }

    func testTheIdentityOfAnAddressDependsOnTheAddressAlone() throws {
        let address = try XCTUnwrap(DeviceAddress("C4:7C:8D:00:01:01"))
        let identity = BeaconIdentity(address: address)
        // Pinned, because radio maps and catalogues contain it.
        XCTAssertEqual(identity.description, "42454143-4F4E-8000-8000-C47C8D000101/0/0")
        for kind in [DeviceAddress.Kind.public, .random] {
            XCTAssertEqual(BeaconIdentity(address: DeviceAddress(rawValue: address.rawValue, kind: kind)), identity)
        }
        XCTAssertEqual(identity.derivedAddress, address)
    }

    func testOnlyADerivedIdentityHasAnAddress() {
        let derived = BeaconIdentity(address: DeviceAddress(rawValue: 0xC47C_8D00_0101))
        for change in [
            { $0.major = 1 }, { $0.minor = 1 }, { $0.uuid.high ^= 1 << 63 }, { $0.uuid.low ^= 1 << 48 },
        ] as [(inout BeaconIdentity) -> Void] {
            var identity = derived
            change(&identity)
            XCTAssertNil(identity.derivedAddress, "\(identity)")
        }
    }

    func testANameThatCanNotExpressTheBeaconGivesWayToItsIdentity() {
        let point = MapPoint(x: 1, y: 1)
        let identity = BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 4)
        for naming in [BeaconNaming.eddystoneUID, .address] {
            XCTAssertFalse(naming.expresses(identity))
            let beacon = VenueBeacon(identity: identity, naming: naming, mapID: 1, point: point)
            XCTAssertEqual(beacon.name, identity.description)
        }
        var moved = VenueBeacon(address: DeviceAddress(rawValue: 0xC47C_8D00_0101), mapID: 1, point: point)
        XCTAssertEqual(moved.name, "C4:7C:8D:00:01:01")
        moved.address = DeviceAddress(rawValue: 0xC47C_8D00_0102)
        XCTAssertEqual(moved.name, moved.identity.description, "the identity belongs to another address")
    }

    func testAnAddressOfNeitherPublicNorStaticFormIsRecognised() {
        for (raw, isPrivateForm) in [
            (0xC47C_8D00_0101, false), (0xFFFF_0000_0001, false), (0xAC23_3F00_0001, false), (0x447C_8D00_0101, false),
            (0x0200_0000_0001, true), (0x4500_0000_0001, true), (0x8300_0000_0001, true),
        ] as [(UInt64, Bool)] {
            let address = DeviceAddress(rawValue: raw)
            XCTAssertEqual(address.hasPrivateForm, isPrivateForm, "\(address)")
        }
    }
}

/// Compares decoding with the results that the tests of two other decoders state for the same bytes.
///
/// A fixture with the field `here` describes a difference that is intended: the result of this package.
final class PublishedAdvertisementTests: XCTestCase {
    private func fixtures() throws -> [AdvertisementFixture] {
        try FixtureFolder("advertisements/published").files().map(AdvertisementFixture.init(path:))
    }

    /// What a decoder finds in advertising data, by the names of the fixtures' fields.
    private func found(in data: [UInt8]) -> [String: String] {
        do throws(AdvertisementError) {
            switch try BeaconFrame.decode(data.span) {
            case .beacon(let frame): return fields(of: frame)
            case .notABeacon(.otherEddystoneFrame(let type?)): return ["found": "none", "eddystoneFrame": String(type)]
            case .notABeacon(.otherServiceData(let service?)): return ["found": "none", "service": String(service)]
            case .notABeacon: return ["found": "none"]
            }
        } catch {
            return ["found": "none", "here": error.description]
        }
    }

    private func fields(of frame: BeaconFrame) -> [String: String] {
        let uuid = frame.beacon.uuid.description
        let digits = uuid.filter { $0 != "-" }
        return [
            "here": frame.format.rawValue, "format": frame.format.rawValue, "uuid": uuid,
            "major": String(frame.beacon.major), "minor": String(frame.beacon.minor),
            "measuredPower": frame.measuredPower.map(String.init) ?? "none", "namespace": String(digits.prefix(20)),
            "instance": String(digits.dropFirst(20)),
            "powerAtZero": frame.measuredPower.map { String($0 + 41) } ?? "none",
        ]
    }

    func testDecodingAgreesWithOtherDecodersButForTheListedDifferences() throws {
        let ofLayouts = ["layout", "company", "identifiers", "identifierLength"]
        var differences: [String] = []
        for fixture in try fixtures() where fixture.fields["found"] != "layout" {
            let found = found(in: fixture.data)
            let stated = fixture.fields.filter { !ofLayouts.contains($0.key) }
            if let here = stated["here"] {
                XCTAssertEqual(found["here"], here, fixture.path)
                let isDifferent = stated.contains { $0.key != "here" && found[$0.key] != $0.value }
                XCTAssertTrue(isDifferent, "\(fixture.path) states no difference any more")
                differences.append(fixture.path)
                continue
            }
            for (field, value) in stated { XCTAssertEqual(found[field], value, "\(fixture.path): \(field)") }
        }
        XCTAssertEqual(differences.count, 4, "\(differences)")
    }

    func testLayoutsAgreeWithTheLibraryThatDefinesThem() throws {
        var compared = 0
        for fixture in try fixtures() {
            let (path, fields) = (fixture.path, fixture.fields)
            guard let layout = fields["layout"] else { continue }
            compared += 1
            let frame = try? BeaconLayout(layout).decode(fixture.data.span)
            guard fields["found"] != "none", fields["here"] == nil else {
                XCTAssertNil(frame, path)
                continue
            }
            guard let frame else {
                XCTFail("\(path): no frame")
                continue
            }
            if let company = fields["company"] { XCTAssertEqual(frame.company.map(String.init), company, path) }
            if let power = fields["measuredPower"] {
                XCTAssertEqual(frame.measuredPower.map(String.init), power, path)
            }
            if let uuid = fields["uuid"] {
                let identity = "\(uuid)/\(fields["major"] ?? "")/\(fields["minor"] ?? "")"
                XCTAssertEqual(frame.identity?.description, identity, path)
            }
            if let identifiers = fields["identifiers"] {
                let hexadecimal = frame.identifiers.map {
                    $0.map { String(Int($0) + 256, radix: 16).dropFirst() }.joined()
                }
                XCTAssertEqual(hexadecimal.joined(separator: " ").uppercased(), identifiers, path)
            }
            if let length = fields["identifierLength"] {
                XCTAssertEqual(frame.identifiers.first.map { String($0.count) }, length, path)
            }
        }
        XCTAssertEqual(compared, 15)
    }
}

/// One file of `Fixtures/advertisements`: `name: value` lines; those that begin with `#` are for people.
struct AdvertisementFixture {
    let path: String
    let data: [UInt8]
    let fields: [String: String]

    init(path: String) throws {
        self.path = path
        let text = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
        var fields: [String: String] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw Malformed(path: path, line: String(line)) }
            fields[String(parts[0])] = parts[1].trimmingPrefix { $0 == " " }.description
        }
        data = try XCTUnwrap(fields.removeValue(forKey: "hex"), path).split(separator: " ").map {
            try XCTUnwrap(UInt8($0, radix: 16), path)
        }
        self.fields = fields
    }

    struct Malformed: Error {
        let path: String
        let line: String
    }
}
