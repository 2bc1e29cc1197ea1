import IndoorLocalization
import XCTest

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
