import IndoorVocabulary
import TagTracking
import XCTest

final class PartitioningTests: XCTestCase {
    private var keys: [TagKey] {
        [
            .name("cart"), .name("Cart"), .name("a=b"), .name("a=3Db"), .name("a b"), .name("ä/ö.*>#"), .name("-"),
            .address(DeviceAddress(rawValue: 0xAABB_CCDD_EEFF)),
            .beacon(BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 4)),
        ]
    }

    func testATokenHasNoCharacterWithAMeaningInSubjectsAndDifferentKeysHaveDifferentTokens() {
        let tokens = keys.map { Partitioning.token($0.description) }
        for token in tokens {
            XCTAssertFalse(token.isEmpty || token.utf8.contains { ".*> \t\r\n/".utf8.contains($0) }, token)
            XCTAssertTrue(token.utf8.allSatisfy { $0 < 0x80 }, token)
        }
        XCTAssertEqual(Set(tokens).count, keys.count)
        XCTAssertEqual(Partitioning.token("a_b c=ä"), "a_b=20c=3D=C3=A4")
    }

    func testThePartitionIsTheFoldedReferenceHashModuloTheCount() {
        // FNV-1a of "foobar": draft-eastlake-fnv, test vectors.
        let hash: UInt64 = 0x8594_4171_f739_67e8
        let folded = hash ^ (hash >> 32)
        XCTAssertEqual(Partitioning(partitions: 64).partition(of: .name("foobar")), Int(folded % 64))
        XCTAssertEqual(Partitioning(partitions: 1000).partition(of: .name("foobar")), Int(folded % 1000))
        XCTAssertEqual(Partitioning(gatewayGroups: 16).group(ofGateway: "foobar"), Int(folded % 16))
    }

    func testThePartitionsOfManyTagsHaveSimilarSizes() {
        let partitioning = Partitioning()
        var sizes = Array(repeating: 0, count: partitioning.partitions)
        for index in 0..<64_000 {
            sizes[partitioning.partition(of: .address(DeviceAddress(rawValue: UInt64(index))))] += 1
        }
        // Five standard deviations of the binomial distribution.
        XCTAssertTrue(sizes.allSatisfy { abs($0 - 1000) < 158 }, "\(sizes)")
    }

    func testACanonicalKeyHasNoKindOfAddress() {
        let key = TagKey.address(DeviceAddress(rawValue: 7, kind: .random))
        XCTAssertEqual(key.canonical, .address(DeviceAddress(rawValue: 7)))
        XCTAssertEqual(Partitioning().partition(of: key.canonical), Partitioning().partition(of: key))
        XCTAssertEqual(TagKey.name("a").canonical, .name("a"))
    }
}
