import FoundationEssentials
import Glibc
import IndoorLocalization
import IndoorLocalizationTesting
import Synchronization
import XCTest

final class AdvertisingEventDecoderTests: XCTestCase {
    private let instant = Instant(seconds: 7)
    private let address = DeviceAddress(rawValue: 0xC055_4433_2211, kind: .random)
    private let frame = BeaconFrame(
        format: .iBeacon,
        beacon: BeaconIdentity(
            uuid: BeaconUUID(high: 0xB940_7F30_F5F8_466E, low: 0xAFF9_2555_6B57_FE6D), major: 1, minor: 7),
        measuredPower: -59)
    private var data: [UInt8] = []
    private let other: [UInt8] = [2, 1, 6, 3, 0xFF, 0x4C, 0]

    override func setUpWithError() throws { data = try frame.advertisingData() }

    func testTheDecoderYieldsOnlyTheSightingOfABeacon() {
        XCTAssertEqual(decode(legacy(data, rssi: -60)), [.sighting(sighting(-60))])
    }

    func testAnAdvertisementPrecedesItsSighting() {
        XCTAssertEqual(
            decode(legacy(data, rssi: -60), .everything),
            [.advertisement(advertisement(data, -60)), .sighting(sighting(-60))])
        XCTAssertEqual(decode(legacy(other, rssi: -70), .everything), [.advertisement(advertisement(other, -70))])
    }

    func testAnAdvertisementWithoutABeaconHasNoSighting() {
        XCTAssertEqual(decode(legacy(other, rssi: -60)), [])
        XCTAssertEqual(decode(legacy([9, 0xFF, 0x4C], rssi: -60)), [], "malformed data")
        XCTAssertEqual(decode([0x0E, 4, 1, 0x0C, 0x20, 0]), [], "another event")
    }

    func testAllReportsOfAnEventAreDecodedInOrder() {
        let one = legacy(data, rssi: -60)
        let two = legacy(data, rssi: -61)
        let reports = one.dropFirst(4) + two.dropFirst(4)
        let event = [0x3E, UInt8(reports.count + 2), 2, 2] + reports
        XCTAssertEqual(decode(event), [.sighting(sighting(-60)), .sighting(sighting(-61))])
    }

    func testAReportWithAnInvalidRSSIIsCountedAndDiscarded() {
        for content in [AdvertisingEventDecoder.Content.sightings, .everything] {
            var decoder = AdvertisingEventDecoder(content: content)
            for rssi: Int8 in [127, 0, 20] {
                decoder.decode(legacy(data, rssi: rssi).span, at: instant) { XCTFail("\($0)") }
            }
            XCTAssertEqual(decoder.unmeasured, 3)
        }
    }

    func testReportsBeforeADefectAreDecoded() {
        let one = legacy(data, rssi: -60)
        let event = [0x3E, UInt8(one.count - 4 + 2 + 3), 2, 2] + one.dropFirst(4) + [3, 1, 9]
        var decoder = AdvertisingEventDecoder(content: .sightings)
        var readings: [SensorReading] = []
        decoder.decode(event.span, at: instant) { readings.append($0) }
        XCTAssertEqual(readings, [.sighting(sighting(-60))])
        XCTAssertEqual(decoder.malformed, 1)
    }

    func testTheLastFragmentYieldsTheSighting() {
        let long = data + [UInt8(230)] + [0x16] + [UInt8](repeating: 1, count: 229)
        let events = AdvertisingReport.events(address: address, rssi: -60, data: long)
        XCTAssertEqual(events.count, 2)
        var decoder = AdvertisingEventDecoder(content: .sightings)
        var readings: [[SensorReading]] = []
        for event in events {
            var some: [SensorReading] = []
            decoder.decode(event.span, at: instant) { some.append($0) }
            readings.append(some)
        }
        XCTAssertEqual(readings, [[], [.sighting(sighting(-60))]])
    }

    func testFragmentsAroundALossAreNotAssembled() {
        let long = data + [UInt8(230)] + [0x16] + [UInt8](repeating: 1, count: 229)
        let events = AdvertisingReport.events(address: address, rssi: -60, data: long)
        var decoder = AdvertisingEventDecoder(content: .everything)
        let (first, second) = (events[0], events[1])
        decoder.decode(first.span, at: instant) { XCTFail("\($0)") }
        decoder.reset()
        var readings: [SensorReading] = []
        decoder.decode(second.span, at: instant) { readings.append($0) }
        XCTAssertEqual(readings, [.advertisement(advertisement([UInt8](repeating: 1, count: long.count - 229), -60))])
    }

    func testTheSightingOfAnAnonymousBeaconHasNoAddress() {
        var event = AdvertisingReport.events(address: nil, rssi: -60, data: data)[0]
        var expected = sighting(-60)
        expected.address = nil
        XCTAssertEqual(decode(event), [.sighting(expected)])
        XCTAssertEqual(decode(event, .everything), [.sighting(expected)])
        event.removeLast()
        XCTAssertEqual(decode(event), [])
    }

    // MARK: - Words

    private func legacy(_ data: [UInt8], rssi: Int8) -> [UInt8] {
        [0x3E, UInt8(data.count + 12), 2, 1, 3, 1, 0x11, 0x22, 0x33, 0x44, 0x55, 0xC0, UInt8(data.count)] + data
            + [UInt8(bitPattern: rssi)]
    }

    private func decode(_ event: [UInt8], _ content: AdvertisingEventDecoder.Content = .sightings) -> [SensorReading] {
        var decoder = AdvertisingEventDecoder(content: content)
        var readings: [SensorReading] = []
        decoder.decode(event.span, at: instant) { readings.append($0) }
        return readings
    }

    private func sighting(_ rssi: Double) -> Sighting {
        Sighting(instant: instant, beacon: frame.beacon, rssi: rssi, measuredPower: -59, address: address)
    }

    private func advertisement(_ data: [UInt8], _ rssi: Double) -> Advertisement {
        Advertisement(instant: instant, address: address, rssi: rssi, data: data)
    }
}

final class AdvertisingReassemblerTests: XCTestCase {
    private var reassembler = AdvertisingReassembler()

    /// A report whose data are all of `bytes`.
    private func add(
        _ bytes: [UInt8], _ status: AdvertisingReport.DataStatus, from sender: UInt64 = 1, set: UInt8? = 0,
        _ properties: AdvertisingReport.Properties = []
    ) -> AssembledAdvertisement? {
        let report = AdvertisingReport(
            properties: properties, dataStatus: status, address: DeviceAddress(rawValue: sender, kind: .random),
            setID: set, transmitPower: nil, rssi: -60, data: bytes.indices)
        return reassembler.add(report, of: bytes.span)
    }

    func testFragmentsOfSeveralSetsAreKeptApart() {
        XCTAssertNil(add([1], .moreToCome))
        XCTAssertNil(add([2], .moreToCome, from: 2))
        XCTAssertNil(add([3], .moreToCome, set: 1))
        XCTAssertNil(add([4], .moreToCome, .scanResponse))
        XCTAssertEqual(add([5], .complete, set: 1)?.data, [3, 5])
        XCTAssertEqual(add([6], .complete, from: 2)?.data, [2, 6])
        XCTAssertEqual(add([7], .complete, .scanResponse)?.data, [4, 7])
        XCTAssertEqual(add([8], .complete)?.data, [1, 8])
        XCTAssertEqual(add([9], .complete)?.data, [9], "nothing is left of the ones before")
        XCTAssertEqual(reassembler.pending, 0)
    }

    func testAnAdvertisementThatTheControllerTruncatedIsMarked() {
        XCTAssertNil(add([1], .moreToCome))
        let whole = add([2], .truncated)
        XCTAssertEqual(whole?.data, [1, 2])
        XCTAssertEqual(whole?.isTruncated, true)
    }

    func testDataBeyondTheLimitAreCutOffAndMarked() {
        for _ in 0..<10 { XCTAssertNil(add(Array(repeating: 7, count: 229), .moreToCome)) }
        let whole = add([1], .complete)
        XCTAssertEqual(whole?.data.count, AdvertisingReassembler.maximumLength)
        XCTAssertEqual(whole?.isTruncated, true)
    }

    func testTheOldestIncompleteAdvertisementIsDiscardedForANewOne() {
        let count = UInt64(AdvertisingReassembler.maximumSets)
        for sender in 1...count + 1 { XCTAssertNil(add([UInt8(sender)], .moreToCome, from: sender)) }
        XCTAssertEqual(reassembler.pending, AdvertisingReassembler.maximumSets)
        XCTAssertEqual(reassembler.abandoned, 1)
        XCTAssertEqual(add([0], .complete, from: 1)?.data, [0], "its beginning was forgotten")
        XCTAssertEqual(add([0], .complete, from: 2)?.data, [2, 0])
    }

    func testAResetDiscardsIncompleteAdvertisements() {
        XCTAssertNil(add([1], .moreToCome))
        reassembler.reset()
        XCTAssertEqual(reassembler.abandoned, 1)
        XCTAssertEqual(add([2], .complete)?.data, [2])
    }

    func testAnAnonymousBeaconIsASightingWithoutAnAddress() throws {
        let uuid = try XCTUnwrap(BeaconUUID("7C2F0A10-0000-4000-8000-000000000003"))
        let beacon = BeaconIdentity(uuid: uuid, major: 1, minor: 7)
        let data = try BeaconFrame(format: .iBeacon, beacon: beacon, measuredPower: -59).advertisingData()
        var whole = try XCTUnwrap(add(data, .complete))
        let instant = Instant(seconds: 3)
        let address = DeviceAddress(rawValue: 1, kind: .random)
        XCTAssertEqual(
            whole.reading(at: instant),
            .advertisement(Advertisement(instant: instant, address: address, rssi: -60, data: data)))
        whole.report.address = nil
        XCTAssertEqual(
            whole.reading(at: instant),
            .sighting(Sighting(instant: instant, beacon: beacon, rssi: -60, measuredPower: -59)))
        whole.report.rssi = 127
        XCTAssertNil(whole.reading(at: instant))
    }
}

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

/// One file of `Fixtures/captures/events`: an HCI event, the reports that it holds, and the error that ends it.
struct EventFixture {
    let name: String
    let event: [UInt8]
    let reports: [String]
    let error: String?

    init(path: String) throws {
        name = String(path.split(separator: "/").last ?? "")
        let lines = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self).split(separator: "\n")
        func values(_ key: String) -> [String] {
            lines.filter { $0.hasPrefix(key + ":") }.map {
                String($0.dropFirst(key.count + 1).drop { $0 == " " })
            }
        }
        event = try values("hex").flatMap { $0.split(separator: " ") }.map {
            try XCTUnwrap(UInt8($0, radix: 16), path)
        }
        reports = values("report")
        error = values("error").first
        let known = lines.count { line in ["#", "hex:", "report:", "error:"].contains { line.hasPrefix($0) } }
        XCTAssertEqual(known, lines.count, "\(name) has a line that nobody reads")
    }

    /// A report as the fixtures write it.
    static func text(of report: AdvertisingReport, in event: [UInt8]) -> String {
        let properties: [(AdvertisingReport.Properties, String)] = [
            (.legacy, "legacy"), (.connectable, "connectable"), (.scannable, "scannable"), (.directed, "directed"),
            (.scanResponse, "scanResponse"),
        ]
        var words = properties.filter { report.properties.contains($0.0) }.map(\.1)
        words.append("\(report.dataStatus)")
        words.append(report.address.map { "\($0.kind?.rawValue ?? "unknown") \($0)" } ?? "anonymous")
        words.append("set \(report.setID.map { "\($0)" } ?? "-")")
        words.append("power \(report.transmitPower.map { "\($0)" } ?? "-")")
        words.append("rssi \(report.rssi)")
        let hex = event[report.data].map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true) }
        words.append("data" + (hex.isEmpty ? "" : " " + hex.joined()))
        return words.joined(separator: " ")
    }

    /// All reports of an event, and what ended it.
    static func decode(_ event: [UInt8]) -> (reports: [AdvertisingReport], error: AdvertisingReportError?) {
        var iterator = AdvertisingReportIterator()
        var reports: [AdvertisingReport] = []
        do throws(AdvertisingReportError) {
            while let report = try iterator.next(in: event.span) { reports.append(report) }
            return (reports, nil)
        } catch {
            return (reports, error)
        }
    }
}

final class DecoderAllocationTests: XCTestCase {
    private let frame = BeaconFrame(
        format: .iBeacon, beacon: BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 1, minor: 7),
        measuredPower: -59)

    func testTheCounterSeesAnArray() throws {
        var sum = 0
        let count = try AllocationCount.during {
            for index in 0..<10 { sum += [index, Int.random(in: 0...1)].map { $0 + 1 }.count }
        }
        XCTAssertEqual(sum, 20)
        XCTAssertGreaterThanOrEqual(count, 20, "two arrays in each of ten rounds")
    }

    func testAWholeLegacyReportOfABeaconAllocatesNothing() throws {
        let data = try frame.advertisingData()
        let events = [
            legacy(data), legacy([2, 1, 6, 3, 0xFF, 0x4C, 0]), legacy([9, 0xFF, 0x4C]),
            AdvertisingReport.events(address: nil, rssi: -60, data: data)[0],
        ]
        var decoder = AdvertisingEventDecoder(content: .sightings)
        var sightings = 0
        // The first decoding of a process creates metadata of the runtime.
        for event in events {
            decoder.decode(event.span, at: .zero) { reading in
                if case .sighting = reading { sightings += 1 }
            }
        }
        sightings = 0
        let count = try AllocationCount.during {
            for _ in 0..<1000 {
                for event in events {
                    decoder.decode(event.span, at: .zero) { reading in
                        if case .sighting = reading { sightings += 1 }
                    }
                }
            }
        }
        XCTAssertEqual(sightings, 2000)
        XCTAssertEqual(count, 0)
    }

    private func legacy(_ data: [UInt8]) -> [UInt8] {
        [0x3E, UInt8(data.count + 12), 2, 1, 3, 1, 0x11, 0x22, 0x33, 0x44, 0x55, 0xC0, UInt8(data.count)] + data + [196]
    }
}

/// Counts the heap objects of Swift that this thread allocates: arrays, boxes, closures' contexts, classes.
///
/// The runtime calls its allocation through a variable once a flag is set; both are there for measuring tools
/// (swift/stdlib/public/runtime/InstrumentsSupport.h). Memory that code allocates by pointer is not counted. One
/// measurement at a time, as XCTest runs its tests.
enum AllocationCount {
    private typealias Allocate = @convention(c) (UnsafeRawPointer?, Int, Int) -> UnsafeMutableRawPointer?

    /// The runtime's own allocation.
    private static let original = Atomic<UInt>(0)
    /// The thread that is measured, and what it has allocated.
    private static let thread = Atomic<UInt>(0)
    private static let count = Atomic<Int>(0)

    /// How many objects `body` allocates on this thread.
    static func during(_ body: () -> Void) throws -> Int {
        let function = try symbol("_swift_allocObject").assumingMemoryBound(to: Allocate.self)
        let flag = try symbol("_swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly")
            .assumingMemoryBound(to: UInt8.self)
        let own = function.pointee
        original.store(unsafeBitCast(own, to: UInt.self), ordering: .sequentiallyConsistent)
        thread.store(pthread_self(), ordering: .sequentiallyConsistent)
        count.store(0, ordering: .sequentiallyConsistent)
        function.pointee = { metadata, size, mask in
            // Nothing here may allocate an object: it would be counted without end.
            if AllocationCount.thread.load(ordering: .relaxed) == pthread_self() {
                AllocationCount.count.add(1, ordering: .relaxed)
            }
            let own = unsafeBitCast(AllocationCount.original.load(ordering: .relaxed), to: Allocate.self)
            return own(metadata, size, mask)
        }
        flag.pointee = 1
        body()
        flag.pointee = 0
        function.pointee = own
        return count.load(ordering: .sequentiallyConsistent)
    }

    private static func symbol(_ name: String) throws -> UnsafeMutableRawPointer {
        try XCTUnwrap(dlsym(nil, name), "the Swift runtime has no \(name)")
    }
}
