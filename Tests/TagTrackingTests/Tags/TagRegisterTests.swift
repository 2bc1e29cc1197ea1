import IndoorVocabulary
import TagTracking
import XCTest

/// Registers in CSV and JSON.
final class TagRegisterFileTests: XCTestCase {
    private let classes: Set<String> = ["standard", "light"]

    private func csv(_ text: String) throws(TagFileError) -> TagRegister {
        try TagRegister(csv: Array(text.utf8), classes: classes)
    }

    private func json(_ text: String) throws(TagFileError) -> TagRegister {
        try TagRegister(json: Array(text.utf8), classes: classes)
    }

    private func assertFails(
        _ read: @autoclosure () throws(TagFileError) -> TagRegister, _ description: String, line: UInt = #line
    ) {
        do {
            _ = try read()
            XCTFail("expected: \(description)", line: line)
        } catch { XCTAssertEqual("\(error)", description, line: line) }
    }

    private var cart: TagRegister.Entry {
        TagRegister.Entry(
            key: .name("cart-7"),
            aliases: [
                .address(DeviceAddress(rawValue: 0xAABB_CCDD_EEFF)),
                .beacon(BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 4)),
            ], name: "Cart \"7\", hall", power: -59.5, tagClass: "light")
    }

    func testATableHasAllMembersOfATag() throws {
        let register = try csv(
            """
            \u{FEFF}key,name,power,class,aliases
            cart-7,"Cart ""7"", hall",-59.5,light,aabbccddeeff 00000000-0000-0001-0000-000000000002-3-4

            AA:BB:CC:00:00:01,,,,
            """)
        let other = TagRegister.Entry(key: .address(DeviceAddress(rawValue: 0xAABB_CC00_0001)))
        XCTAssertEqual(register, TagRegister([cart, other]))
    }

    func testTheColumnsHaveAnyOrderAndLinesEndInAnyStyle() throws {
        let register = try csv("aliases,key\r\naabbccddee00,a\r\n,b")
        XCTAssertEqual(
            register.entries,
            [
                .name("a"): .init(key: .name("a"), aliases: [.address(DeviceAddress(rawValue: 0xAABB_CCDD_EE00))]),
                .name("b"): .init(key: .name("b")),
            ])
        XCTAssertEqual(try csv("key\n").entries, [:])
        XCTAssertEqual(try csv("key,name\na,\"two\nlines\"\n").entries[.name("a")]?.name, "two\nlines")
    }

    func testAnErrorInATableHasItsLineAndColumn() {
        assertFails(try csv(""), "line 1: the line with the names of the columns is missing")
        assertFails(try csv("name\n"), "line 1, key: the column is missing")
        assertFails(
            try csv("key,colour\n"),
            "line 1, colour: the column is unknown; the columns are key,name,power,class,aliases,mask")
        assertFails(try csv("key,key\n"), "line 1, key: the column occurs twice")
        assertFails(try csv("key,name\na,b\nc\n"), "line 3: the line has 1 fields; the first line has 2")
        assertFails(try csv("key,name\na,\"b\n\nc"), "line 2: the closing quote of a field is missing")
        assertFails(
            try csv("key,name\na,b\"c\n"),
            "line 2: a quote within a field requires quotes around the field, and is written twice")
        assertFails(
            try csv("key,name\na,\"b\"c\n"),
            "line 2: a comma or the end of the line must follow the closing quote of a field")
        assertFails(try csv("key,name\n,b\n"), "line 2, key: the name of the tag is missing")
        assertFails(try csv("key,name\na,\"two\nlines\"\n,b\n"), "line 4, key: the name of the tag is missing")
        assertFails(try csv("key,power\na,loud\n"), "line 2, power: 'loud' isn't a number of dBm")
        assertFails(try csv("key,power\na,nan\n"), "line 2, power: 'nan' isn't a number of dBm")
        assertFails(try csv("key,power\na,40\n"), "line 2, power: 40.0 isn't a power in dBm from -127 to 20")
        assertFails(
            try csv("key,class\na,\n\nb,heavy\n"),
            "line 4, class: the class 'heavy' is unknown; use one of: light, standard")
        do {
            _ = try TagRegister(csv: Array("key\n".utf8) + [0xFF, 10])
            XCTFail("it should have thrown")
        } catch { XCTAssertEqual("\(error)", "line 2: a field isn't UTF-8") }
    }

    func testANameOfTwoTagsIsAnErrorWithBothLines() {
        assertFails(
            try csv("key,aliases\naabbccddeeff,\nb,\nAA:BB:CC:DD:EE:FF,\n"),
            "line 4, key: AA:BB:CC:DD:EE:FF is already a name of the tag on line 2")
        assertFails(
            try csv("key,aliases\na,x y\nb,z x\n"), "line 3, aliases: x is already a name of the tag on line 2")
        assertFails(try csv("key,aliases\na,b\nb,\n"), "line 3, key: b is already a name of the tag on line 2")
    }

    func testTwoSpellingsOfAnAliasOnALineAreOne() throws {
        let register = try csv("key,aliases\naabbccddeeff,AA:BB:CC:DD:EE:FF aabbccddee00 AABBCCDDEE00\n")
        XCTAssertEqual(
            register.entries.values.map(\.aliases), [[.address(DeviceAddress(rawValue: 0xAABB_CCDD_EE00))]])
    }

    private let uuid = "00000000-0000-0001-0000-000000000002"

    func testAMaskIsReadInBothFormats() throws {
        for (text, mask) in [
            ("0xFF00", TagMask(minor: 0xFF00)), ("0xff00", TagMask(minor: 0xFF00)), ("65280", TagMask(minor: 0xFF00)),
            ("0", TagMask(minor: 0)), ("0x0FFF/0xFF00", TagMask(major: 0xFFF, minor: 0xFF00)),
            ("65535/0", TagMask(major: .max, minor: 0)),
        ] {
            let table = try csv("key,mask\n\(uuid)-3-4660,\(text)\n")
            XCTAssertEqual(table.entries.values.map(\.mask), [mask], text)
            XCTAssertEqual(try json(#"[{"key": "\#(uuid)-3-4660", "mask": "\#(text)"}]"#), table, text)
        }
    }

    func testAnErrorOfAMaskSaysWhatToWrite() {
        for text in ["FF00", "0x", "0x10000", "70000", "-1", "+1", "0x+1", "1/2/3", "/", "0xFF00/", "bits"] {
            assertFails(
                try csv("key,mask\n\(uuid)-3-4,\(text)\n"),
                "line 2, mask: '\(text)' isn't a mask; write the bits that identify the tag as 0xFF00 for the minor, or as "
                    + "0xFFFF/0xFF00 for the major and the minor")
        }
        assertFails(
            try csv("key,mask,aliases\ncart,0xFF00,aabbccddeeff\n"),
            "line 2, mask: a mask needs a beacon, UUID-MAJOR-MINOR, as the key or an alias of the tag")
        assertFails(
            try json(#"[{"key": "\#(uuid)-3-4", "mask": 65280}]"#), "line 1, mask: expected a string")
        let many = (0...16).map { "\(uuid)-\($0)-0,0xFFFF/\($0)" }.joined(separator: "\n")
        assertFails(
            try csv("key,mask\n\(many)\n"),
            "line 18, mask: the register has more than 16 masks; use the same ones for more tags")
    }

    func testTwoTagsThatOnlyTheBitsOutsideOfAMaskTellApartAreAnError() throws {
        func expect(_ first: String, _ second: String, line: UInt = #line) {
            for (rows, minor) in [("\(first)\n\(second)", second), ("\(second)\n\(first)", first)] {
                let beacon = "\(uuid)/3/" + (minor.split(separator: ",")[0].split(separator: "-").last ?? "")
                assertFails(
                    try csv("key,mask\n\(rows)\n"),
                    "line 3, mask: \(beacon) and a beacon on line 2 are the same tag, as they differ only in bits that a "
                        + "mask leaves out; change a mask, or join the lines", line: line)
            }
        }
        expect("\(uuid)-3-4608,0xFF00", "\(uuid)-3-4660,0xFF00")
        expect("\(uuid)-3-4608,0xFF00", "\(uuid)-3-4660,")
        expect("\(uuid)-3-4608,0xFF00", "\(uuid)-3-4660,0xF0F0")
        let different = try csv(
            "key,mask\n\(uuid)-3-4608,0xFF00\n\(uuid)-3-4864,0xFF00\n\(uuid)-4-4608,\n\(uuid)-5-4660,0xF0F0\n")
        XCTAssertEqual(different.entries.count, 4)
    }

    func testAnyClassIsAcceptedWithoutAListOfClasses() throws {
        let register = try TagRegister(csv: Array("key,class\na,heavy\n".utf8))
        XCTAssertEqual(register.entries[.name("a")]?.tagClass, "heavy")
    }

    func testADocumentHasAllMembersOfATag() throws {
        let register = try json(
            """
            \u{FEFF}[{"key": "cart-7", "name": "Cart \\"7\\", hall", "power": -59.5, "class": "light",
              "aliases": ["AA:BB:CC:DD:EE:FF", "iBeacon:00000000-0000-0001-0000-000000000002-3-4"]},
             {"name": null, "key": "AA:BB:CC:00:00:01", "aliases": []}]
            """)
        let other = TagRegister.Entry(key: .address(DeviceAddress(rawValue: 0xAABB_CC00_0001)))
        XCTAssertEqual(register, TagRegister([cart, other]))
        XCTAssertEqual(try json("[]"), TagRegister())
    }

    func testAnErrorInADocumentHasItsLineAndMember() {
        assertFails(try json(""), "line 1: expected an array")
        assertFails(try json("{}"), "line 1: expected an array")
        assertFails(try json("[\n{},\n]"), "line 3: expected an object")
        assertFails(try json("[]\n\n[]"), "line 3: expected the end of the document")
        assertFails(try json("[\n\n{\"name\":\"a\"}]"), "line 3, key: the name of the tag is missing")
        assertFails(try json("[{\"key\":\n7}]"), "line 2, key: expected a string")
        assertFails(try json("[{\"key\":\"a\",\"power\":\"loud\"}]"), "line 1, power: expected a number")
        assertFails(
            try json("[{\"key\":\"a\",\n\"colour\":1}]"),
            "line 2: expected one of the members key, name, power, class, aliases, mask, not 'colour'")
        assertFails(
            try json("[{\"key\":\"a\",\n\"key\":\"a\"}]"), "line 2: expected each member once, not 'key' again")
        assertFails(
            try json("[{\"key\":\"a\"},\n{\"key\":\"b\",\"aliases\":[\"a\"]}]"),
            "line 2, aliases: a is already a name of the tag on line 1")
        assertFails(
            try json("[{\"key\":\"a\",\"power\":-60},{\"key\":\"a\",\"power\":-70}]"),
            "line 1, key: a is already a name of the tag on line 1")
        assertFails(
            try json("[{\"key\":\"a\",\"class\":\"heavy\"}]"),
            "line 1, class: the class 'heavy' is unknown; use one of: light, standard")
    }

    func testRandomBytesNeverStopTheReaders() {
        let files = [
            "key,name,power,class,aliases\ncart-7,\"Cart \"\"7\"\"\",-59,light,aabbccddeeff\r\n",
            #"[{"key": "cart-7", "name": "é", "power": -59.5, "class": "light", "aliases": ["a", "b"]}]"#,
        ]
        var generator = SeededGenerator(seed: 9)
        var accepted = 0
        for _ in 0..<20_000 {
            var bytes = Array((files.randomElement(using: &generator) ?? "").utf8)
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                switch generator.next() % 3 {
                case 0: bytes[index] = .random(in: .min ... .max, using: &generator)
                case 1: bytes.remove(at: index)
                default: bytes.insert(UInt8(ascii: "\""), at: index)
                }
            }
            if (try? TagRegister(csv: bytes)) != nil { accepted += 1 }
            if (try? TagRegister(json: bytes)) != nil { accepted += 1 }
        }
        XCTAssertGreaterThan(accepted, 1000, "the changes leave many files valid")
    }
}

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

    func testAnEddystoneUIDIsTheBeaconThatGatewaysReport() {
        // Nodes of ESPresense repeat the fifth byte of the namespace.
        for text in ["eddy:00112233445566778899-aabbccddeeff", "eddy:0011223344445566778899-aabbccddeeff"] {
            let key = TagNaming.key(of: text)
            XCTAssertEqual(key?.description, "00112233-4455-6677-8899-AABBCCDDEEFF/0/0", text)
        }
        XCTAssertEqual(TagNaming.key(of: "eddy:0011-22"), .name("eddy:0011-22"))
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
