import Foundation
import IndoorLocalization
import MQTTSharing
import XCTest

/// The sizes of lists that another person or device writes.
final class SharingLimitTests: XCTestCase {
    private func trust(_ text: String) throws -> SharingTrust {
        let path = try temporaryFolder() + "/trust"
        try Data(text.utf8).write(to: URL(filePath: path))
        return try SharingTrust(file: path)
    }

    func testTheKeysOfTrustedDevicesAreLimited() throws {
        let key = SharingSigningKey.generate().publicKey
        func list(_ count: Int) -> String { (1...count).map { "\(key) device \($0)\n" }.joined() }
        XCTAssertEqual(try trust(list(20_000)).keys.count, 20_000)
        XCTAssertThrowsError(try trust(list(20_001))) {
            XCTAssertTrue("\($0)".hasSuffix("/trust: line 20001: more than 20000 keys"), "\($0)")
        }
    }

    func testAListOfTrustedDevicesAboveTheLimitIsRefused() throws {
        let key = "\(SharingSigningKey.generate().publicKey) fork\n#"
        let comment = String(repeating: "x", count: (8 << 20) - key.utf8.count)
        XCTAssertEqual(try trust(key + comment).keys.count, 1)
        XCTAssertThrowsError(try trust(key + comment + "x")) {
            XCTAssertTrue("\($0)".hasSuffix("/trust: the file is larger than 8388608 bytes"), "\($0)")
        }
    }

    func testTheRoomsWithACapacityOnTheBrokerAreLimited() throws {
        func limits(_ count: Int) -> [UInt8] {
            Array("{\"rooms\":{\((1...count).map { "\"\($0)\":1" }.joined(separator: ","))}}".utf8)
        }
        XCTAssertEqual(try SharingPayload.limits(limits(1_000)).rooms?.count, 1_000)
        XCTAssertThrowsError(try SharingPayload.limits(limits(1_001))) {
            XCTAssertTrue("\($0)".contains("'rooms' has more than 1000 rooms"), "\($0)")
        }
    }
}
