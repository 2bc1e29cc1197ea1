import IndoorVocabulary
import TagTracking
import XCTest

final class TagNamingTests: XCTestCase {
    private let uuid = "E5CA1ADE-F007-BA11-0000-000000000000"
    private var beacon: BeaconIdentity {
        BeaconIdentity(uuid: BeaconUUID(high: 0xE5CA_1ADE_F007_BA11, low: 0), major: 100, minor: 1)
    }

    private func address(_ kind: DeviceAddress.Kind? = nil) -> DeviceAddress {
        DeviceAddress(rawValue: 0xAABB_CCDD_EEFF, kind: kind)
    }

    private func reading(
        _ address: DeviceAddress? = nil, _ beacon: BeaconIdentity? = nil, name: String? = nil
    ) -> GatewayReading {
        GatewayReading(receiver: "hall", address: address, beacon: beacon, name: name, rssi: -60)
    }

    func testEachSpellingOfAnAddressIsTheSameKey() {
        for text in [
            "AA:BB:CC:DD:EE:FF", "aa:bb:cc:dd:ee:ff", "aabbccddeeff", "AABBCCDDEEFF", "aa-bb-cc-dd-ee-ff",
            "known:aabbccddeeff", " aabbccddeeff ",
        ] {
            XCTAssertEqual(TagNaming.key(of: text), .address(address()), text)
        }
    }

    func testEachSpellingOfABeaconIsTheSameKey() {
        let plain = uuid.replacing("-", with: "")
        for text in [
            "\(uuid)/100/1", "\(uuid)-100-1", "\(uuid.lowercased())-100-1", "\(plain)-100-1", "\(plain)_100_1",
            "iBeacon:\(uuid)-100-1", "ibeacon:\(plain.lowercased())-100-1", "altBeacon:\(uuid)-100-1",
        ] {
            XCTAssertEqual(TagNaming.key(of: text), .beacon(beacon), text)
        }
    }

    func testOtherTextsAreNames() {
        for (text, name) in [
            ("cart 7", "cart 7"), ("aabbccddeef", "aabbccddeef"), ("aabbccddeegg", "aabbccddeegg"),
            ("irk:00112233445566778899aabbccddeeff", "irk:00112233445566778899aabbccddeeff"),
            ("\(uuid)-100-70000", "\(uuid)-100-70000"), ("iBeacon:lost", "iBeacon:lost"),
            (uuid.replacing("-", with: "").lowercased(), uuid), ("+abbccddeeff", "+abbccddeeff"),
        ] {
            XCTAssertEqual(TagNaming.key(of: text), .name(name), text)
        }
        for text in [
            "", "  ", "a\u{0}b", "a\nb", "a\u{7F}b", "a\u{85}b", "a\u{9B}b", String(repeating: "a", count: 201),
        ] {
            XCTAssertNil(TagNaming.key(of: text), text)
        }
    }

    func testABeaconHasPriorityOverAnAddressAndAnAddressOverAName() {
        var naming = TagNaming()
        XCTAssertEqual(naming.key(of: reading(nil, nil, name: "cart"), at: .zero), .name("cart"))
        XCTAssertEqual(naming.key(of: reading(address(), nil, name: "cart"), at: .zero), .address(address()))
        XCTAssertEqual(naming.key(of: reading(address(), beacon, name: "cart"), at: .zero), .beacon(beacon))
        XCTAssertNil(naming.key(of: reading(), at: .zero))
    }

    func testTheKindOfAnAddressMakesNoDifference() {
        var naming = TagNaming()
        let keys = [nil, DeviceAddress.Kind.public, .random].map { naming.key(of: reading(address($0)), at: .zero) }
        XCTAssertEqual(keys, Array(repeating: .address(address()), count: 3))
    }

    func testABeaconInANameCountsAsABeacon() {
        var naming = TagNaming()
        let named = reading(address(), nil, name: "iBeacon:\(uuid)-100-1")
        XCTAssertEqual(naming.key(of: named, at: .zero), .beacon(beacon))
        XCTAssertEqual(naming.key(of: reading(address()), at: .zero), .beacon(beacon), "the address is linked")
    }

    func testAZeroAddressIsNone() {
        var naming = TagNaming()
        let zero = DeviceAddress(rawValue: 0)
        XCTAssertNil(naming.key(of: reading(zero), at: .zero))
        XCTAssertEqual(naming.key(of: reading(zero, beacon), at: .zero), .beacon(beacon))
        XCTAssertEqual(naming.linkCount, 0)
    }

    func testTheRegisterHasPriorityOverAllOtherRules() {
        let register = TagRegister([
            .init(key: .name("cart 7"), aliases: [.address(address(.random)), .beacon(beacon), .name("known-cart")])
        ])
        var naming = TagNaming(register: register)
        for reading in [
            reading(address(.public)), reading(nil, beacon), reading(nil, nil, name: "known-cart"),
            reading(DeviceAddress(rawValue: 5), nil, name: "cart 7"),
        ] {
            XCTAssertEqual(naming.key(of: reading, at: .zero), .name("cart 7"), "\(reading)")
        }
        XCTAssertEqual(
            naming.key(of: reading(DeviceAddress(rawValue: 5)), at: .zero), .name("cart 7"),
            "the address beside the name is linked")
    }

    func testAPublicAddressKeepsItsLinkAndAnyOtherExpiresAfterHalfAnHour() {
        let lifetime = TagNaming.linkLifetime
        for (kind, isKept) in [(DeviceAddress.Kind.public, true), (.random, false), (nil, false)] {
            var naming = TagNaming()
            _ = naming.key(of: reading(address(kind), beacon), at: .zero)
            let last = Instant.zero.advanced(by: lifetime)
            XCTAssertEqual(naming.key(of: reading(address(kind)), at: last), .beacon(beacon))
            XCTAssertEqual(
                naming.key(of: reading(address(kind)), at: last.advanced(by: lifetime)), .beacon(beacon),
                "a reading of the address extends the link")
            let late = last.advanced(by: lifetime * 2 + .nanoseconds(1))
            let expected: TagKey = isKept ? .beacon(beacon) : .address(address())
            XCTAssertEqual(naming.key(of: reading(address(kind)), at: late), expected, "\(String(describing: kind))")
        }
    }

    func testANewBeaconReplacesTheLinkOfAnAddress() {
        var naming = TagNaming()
        var other = beacon
        other.minor = 2
        _ = naming.key(of: reading(address(), beacon), at: .zero)
        _ = naming.key(of: reading(address(), other), at: .zero)
        XCTAssertEqual(naming.key(of: reading(address()), at: .zero), .beacon(other))
    }

    func testTheLinksAreLimitedAndTheLeastRecentlyUsedOneIsRemoved() {
        var naming = TagNaming(linkLimit: 3)
        let beacons = (1...4).map { BeaconIdentity(uuid: beacon.uuid, major: 1, minor: UInt16($0)) }
        func address(_ index: Int) -> DeviceAddress { DeviceAddress(rawValue: UInt64(index + 1), kind: .public) }
        for index in 0..<3 { _ = naming.key(of: reading(address(index), beacons[index]), at: .zero) }
        _ = naming.key(of: reading(address(0)), at: .zero)
        _ = naming.key(of: reading(address(3), beacons[3]), at: .zero)
        XCTAssertEqual(naming.linkCount, 3)
        let keys = (0..<4).map { naming.key(of: reading(address($0)), at: .zero) }
        XCTAssertEqual(
            keys, [.beacon(beacons[0]), .address(TagNamingTests.plain(2)), .beacon(beacons[2]), .beacon(beacons[3])])
    }

    private static func plain(_ value: UInt64) -> DeviceAddress { DeviceAddress(rawValue: value) }
}
