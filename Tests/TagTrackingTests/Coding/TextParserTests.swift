import IndoorVocabulary
import TagTracking
import XCTest

final class TextParserTests: XCTestCase {
    // MARK: - Hexadecimal digits

    func testAnAddressHasSixPairsWithOrWithoutSeparators() {
        for text in ["aabbccddeeff", "AABBCCDDEEFF", "aa:BB:cc:DD:ee:FF", "AA-BB-CC-DD-EE-FF"] {
            XCTAssertEqual(HexText.address(Array(text.utf8).span)?.description, "AA:BB:CC:DD:EE:FF", text)
        }
        for text in [
            "", "aabbccddeef", "aabbccddeeff0", "aa:bb:cc:dd:ee:f", "aa:bb:cc:dd:ee-ff", "aabbccddeefg",
            "aa:bb:cc:dd:ee:fg",
            "a:abb:cc:dd:ee:ff", "aa bb cc dd ee ff", "+abbccddeeff",
        ] { XCTAssertNil(HexText.address(Array(text.utf8).span), text) }
    }

    func testAUUIDHas32DigitsWithOrWithoutHyphens() {
        let uuid = BeaconUUID("7C2F0A10-0000-4000-8000-000000000003")
        for text in ["7c2f0a10-0000-4000-8000-000000000003", "7C2F0A10000040008000000000000003"] {
            XCTAssertEqual(HexText.uuid(Array(text.utf8).span), uuid, text)
        }
        for text in [
            "7c2f0a10-0000-4000-8000-00000000000", "7c2f0a1-00000-4000-8000-000000000003",
            "7c2f0a1000004000800000000000000g", "7c2f0a10:0000-4000-8000-000000000003",
            "7c2f0a10-0000:4000-8000-000000000003",
            "7c2f0a10-0000-4000:8000-000000000003", "7c2f0a10-0000-4000-8000:000000000003", "",
        ] { XCTAssertNil(HexText.uuid(Array(text.utf8).span), text) }
    }

    func testABeaconHasUUIDMajorAndMinor() {
        let uuid = "7c2f0a10-0000-4000-8000-000000000003"
        let short = uuid.replacing("-", with: "")
        for text in ["\(uuid)-1-65535", "\(short)-1-65535", "\(short)-00001-65535"] {
            XCTAssertEqual(
                BeaconText.identity(Array(text.utf8).span)?.description, "\(uuid.uppercased())/1/65535", text)
        }
        for text in [
            uuid, "\(uuid)-1", "\(uuid)-1-", "\(uuid)-1-65536", "\(uuid)-1-2-3", "\(uuid)--1-2", "\(uuid)-1-000002",
            "\(uuid)/1/2",
            "\(uuid)-+1-2",
        ] { XCTAssertNil(BeaconText.identity(Array(text.utf8).span), text) }
    }

    // MARK: - Times

    private func time(_ text: String) -> (nanoseconds: Int64, decimals: Int)? { TimeText.time(Array(text.utf8).span) }

    func testATimeIsNanosecondsSince1970() {
        XCTAssertEqual(time("1970-01-01T00:00:00Z")?.nanoseconds, 0)
        XCTAssertEqual(time("2020-10-19T12:32:47.485Z")?.nanoseconds, 1_603_110_767_485_000_000)
        XCTAssertEqual(time("2020-10-19T14:32:47.485+02:00")?.nanoseconds, 1_603_110_767_485_000_000)
        XCTAssertEqual(time("2020-10-19T07:02:47-0530")?.nanoseconds, 1_603_110_767_000_000_000)
        XCTAssertEqual(time("2020-10-19 12:32:47")?.nanoseconds, 1_603_110_767_000_000_000)
        XCTAssertEqual(time("2024-02-29T23:59:59.123456789Z")?.nanoseconds, 1_709_251_199_123_456_789)
        XCTAssertEqual(time("2020-10-19T12:32:47.485Z")?.decimals, 3)
        XCTAssertEqual(time("2020-10-19T12:32:47Z")?.decimals, 0)
    }

    func testTheDaysOfACalendarFollowEachOther() throws {
        var expected: Int64 = 0
        for year in 1970...2199 {
            let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            for (month, days) in [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].enumerated() {
                for day in 1...days + 1 {
                    let date = [month + 1, day].map { ($0 < 10 ? "-0" : "-") + String($0) }.joined()
                    let found = time("\(year)\(date)T00:00:00Z")?.nanoseconds
                    guard day <= days else {
                        XCTAssertNil(found, "\(year)\(date)")
                        continue
                    }
                    guard found == expected else { return XCTFail("\(year)\(date)") }
                    expected += 86_400_000_000_000
                }
            }
        }
    }

    func testAnInvalidTimeIsRejected() {
        for text in [
            "", "2020-10-19", "2020-10-19T12:32", "2020-13-01T00:00:00Z", "2020-00-01T00:00:00Z",
            "2020-10-19T24:00:00Z",
            "2020-10-19T12:60:00Z", "2020-10-19T12:32:61Z", "1969-12-31T23:59:59Z", "2200-01-01T00:00:00Z",
            "2020-10-19T12:32:47.Z", "2020-10-19T12:32:47,5Z", "2020-10-19T12:32:47+2:00", "2020-10-19T12:32:47+25:00",
            "2020-10-19T12:32:47ZZ", "2020-10-19X12:32:47Z", "2020-1a-19T12:32:47Z", "2020-10-19T12:32:47.1234567890Z",
        ] { XCTAssertNil(time(text), text) }
    }
}
