import IndoorVocabulary
import TagTracking
import XCTest

final class TagKeyTextTests: XCTestCase {
    private var keys: [TagKey] {
        [
            .name("cart"), .name("Cart"), .name("a_b"), .name("a_5Fb"), .name("a b"), .name("ä/ö.*>#"), .name("-"),
            .address(DeviceAddress(rawValue: 0xAABB_CCDD_EEFF)),
            .beacon(BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 4)),
        ]
    }

    func testATokenHasOnlyLettersDigitsDashAndUnderscore() {
        for key in keys {
            XCTAssertTrue(
                key.subjectToken.utf8.allSatisfy { byte in
                    Character(UnicodeScalar(byte)).isLetter || Character(UnicodeScalar(byte)).isNumber
                        || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
                }, key.subjectToken)
        }
        XCTAssertEqual(TagKey.name("a_b c").subjectToken, "a_5Fb_20c")
    }

    func testATokenGivesItsKeyAndDifferentKeysHaveDifferentTokens() {
        for key in keys { XCTAssertEqual(TagKey(subjectToken: key.subjectToken), key) }
        XCTAssertEqual(Set(keys.map(\.subjectToken)).count, keys.count)
    }

    func testATextThatNoKeyHasIsNoToken() {
        for text in ["", "a b", "a_", "a_5", "a_5g", "a_5f", "a_41", "_FF", "a_+1"] {
            XCTAssertNil(TagKey(subjectToken: text), text)
        }
    }

    func testThePartitionIsTheReferenceHashModuloTheCount() {
        // FNV-1a of "foobar": draft-eastlake-fnv, test vectors.
        let hash: UInt64 = 0x8594_4171_f739_67e8
        XCTAssertEqual(TagKey.name("foobar").partition(of: 64), Int(hash % 64))
        XCTAssertEqual(TagKey.name("foobar").partition(of: 1000), Int(hash % 1000))
        XCTAssertEqual(TagKey.name("foobar").partition(), Int(hash % 64))
    }

    func testThePartitionsOfManyTagsHaveSimilarSizes() {
        var sizes = Array(repeating: 0, count: TagKey.defaultPartitionCount)
        for index in 0..<64_000 { sizes[TagKey.address(DeviceAddress(rawValue: UInt64(index))).partition()] += 1 }
        // Five standard deviations of the binomial distribution.
        XCTAssertTrue(sizes.allSatisfy { abs($0 - 1000) < 158 }, "\(sizes)")
    }

    func testACanonicalKeyHasNoKindOfAddress() {
        let key = TagKey.address(DeviceAddress(rawValue: 7, kind: .random))
        XCTAssertEqual(key.canonical, .address(DeviceAddress(rawValue: 7)))
        XCTAssertEqual(key.canonical.partition(), key.partition())
        XCTAssertEqual(TagKey.name("a").canonical, .name("a"))
    }
}
