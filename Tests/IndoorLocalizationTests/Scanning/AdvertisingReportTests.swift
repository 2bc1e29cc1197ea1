import FoundationEssentials
import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

final class AdvertisingReportTests: XCTestCase {
    private func fixtures() throws -> [EventFixture] {
        try FixtureFolder("captures/events").files(ending: ".txt").map(EventFixture.init)
    }

    func testEveryEventDecodesToTheReportsOfItsFixture() throws {
        for fixture in try fixtures() {
            let (reports, error) = EventFixture.decode(fixture.event)
            XCTAssertEqual(
                reports.map { EventFixture.text(of: $0, in: fixture.event) }, fixture.reports, fixture.name)
            let text = error.map { "\(reflecting($0))" }
            XCTAssertEqual(text, fixture.error, fixture.name)
        }
    }

    /// An error as the fixtures write it: the case with its values, without the module's name.
    private func reflecting(_ error: AdvertisingReportError) -> String {
        switch error {
        case .truncated(let offset, let expected, let found):
            "truncated(offset: \(offset), expected: \(expected), found: \(found))"
        case .surplus(let offset, let count): "surplus(offset: \(offset), count: \(count))"
        case .reservedValue(let field, let value, let offset):
            "reservedValue(Field.\(field), \(value), offset: \(offset))"
        }
    }

    func testEveryErrorReportsItsOffsetAndReason() throws {
        for fixture in try fixtures() where fixture.error != nil {
            let text = try XCTUnwrap(EventFixture.decode(fixture.event).error).description
            XCTAssertTrue(text.contains("byte "), text)
            XCTAssertTrue(text.hasSuffix("."), text)
        }
    }

    func testAnEventCutAtAnyByteIsAnErrorWithNoMoreReports() throws {
        for fixture in try fixtures() where !fixture.reports.isEmpty && fixture.error == nil {
            for count in 0..<fixture.event.count {
                let (reports, error) = EventFixture.decode(Array(fixture.event.prefix(count)))
                XCTAssertNotNil(error, "\(fixture.name) cut to \(count) bytes")
                XCTAssertEqual(reports, [], "\(fixture.name) cut to \(count) bytes")
            }
        }
    }

    func testOtherEventsHoldNoReports() throws {
        let event = try XCTUnwrap(fixtures().first { !$0.reports.isEmpty && $0.error == nil }).event
        var (command, connection) = (event, event)
        command[0] = 0x0F
        connection[2] = 0x01
        for other in [command, connection, [0x3E, 1, 0x01]] {
            let (reports, error) = EventFixture.decode(other)
            XCTAssertEqual(reports, [])
            XCTAssertNil(error)
        }
    }

    func testAnIteratorEndsWithItsError() throws {
        for fixture in try fixtures() where fixture.error != nil {
            var iterator = AdvertisingReportIterator()
            XCTAssertThrowsError(
                try { while try iterator.next(in: fixture.event.span) != nil {} }(), fixture.name)
            XCTAssertNil(try iterator.next(in: fixture.event.span), fixture.name)
        }
    }

    func testNoChangedByteTrapsTheIterator() throws {
        var decoded = 0
        for fixture in try fixtures() {
            for offset in fixture.event.indices {
                for value in UInt8.min...UInt8.max {
                    var event = fixture.event
                    event[offset] = value
                    for report in EventFixture.decode(event).reports {
                        decoded += 1
                        XCTAssertTrue(report.data.upperBound <= event.count)
                    }
                }
            }
        }
        XCTAssertGreaterThan(decoded, 10_000)
    }

    func testFormerCrashersNoLongerTrap() throws {
        for path in try FixtureFolder("crashes").files() {
            let bytes = Array(try Data(contentsOf: URL(filePath: path)))
            // Behind the head of an event with reports, too.
            for subevent: UInt8 in [2, 0x0D] {
                let event = [0x3E, UInt8(truncatingIfNeeded: bytes.count + 2), subevent, 1] + bytes
                for report in EventFixture.decode(event).reports {
                    XCTAssertLessThanOrEqual(report.data.upperBound, event.count, path)
                }
            }
            XCTAssertEqual(EventFixture.decode(bytes).reports, [], path)
        }
    }

    func testOnlyPlausibleRSSIsAreMeasurements() throws {
        let fixture = try EventFixture(path: FixtureFolder("captures/events").file("legacy-no-rssi.txt"))
        for (rssi, isMeasurement) in [(127, false), (0, false), (20, false), (-1, true), (-127, true), (-128, false)] {
            var event = fixture.event
            event[event.count - 1] = UInt8(bitPattern: Int8(rssi))
            XCTAssertEqual(EventFixture.decode(event).reports.first?.hasMeasurement, isMeasurement, "\(rssi) dBm")
        }
    }

    func testAnEncodedExtendedAdvertisementIsOfLE1MWithoutPowerAndTarget() {
        let data = [UInt8](repeating: 0xAB, count: 32)
        let addresses: [(address: DeviceAddress?, bytes: [UInt8])] = [
            (DeviceAddress(rawValue: 0x0102_0304_0506, kind: .random), [1, 6, 5, 4, 3, 2, 1]),
            (nil, [0xFF, 0, 0, 0, 0, 0, 0]),
        ]
        for (address, bytes) in addresses {
            let head = [0x3E, 58, 0x0D, 1, 0, 0] + bytes + [1, 1, 0, 127, 0xB3, 0, 0]
            let target: [UInt8] = [0, 0, 0, 0, 0, 0, 0]
            XCTAssertEqual(
                AdvertisingReport.events(address: address, rssi: -77, data: data), [head + target + [32] + data])
        }
    }

    func testAnEncodedAdvertisementDecodesToTheSameOne() throws {
        let seed: UInt64 = 71
        var generator = SeededGenerator(seed: seed)
        for count in [0, 1, 30, 31, 32, 228, 229, 230, 458, 459, 1650] {
            let data = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            for address in [nil, DeviceAddress(rawValue: 0x0102_0304_0506, kind: .random)] {
                var reassembler = AdvertisingReassembler()
                var whole: [AssembledAdvertisement] = []
                for event in AdvertisingReport.events(address: address, rssi: -77, data: data) {
                    XCTAssertLessThanOrEqual(event.count, 257, "an event's parameters have 255 bytes at most")
                    let (reports, error) = EventFixture.decode(event)
                    XCTAssertNil(error)
                    whole += reports.compactMap { reassembler.add($0, of: event.span) }
                }
                XCTAssertEqual(whole.count, 1, "\(count) bytes, seed \(seed)")
                XCTAssertEqual(whole.first?.data, data, "\(count) bytes, seed \(seed)")
                XCTAssertEqual(whole.first?.report.address, address)
                XCTAssertEqual(whole.first?.report.rssi, -77)
                XCTAssertEqual(whole.first?.isTruncated, false)
                XCTAssertEqual(reassembler.pending, 0)
            }
        }
    }
}
