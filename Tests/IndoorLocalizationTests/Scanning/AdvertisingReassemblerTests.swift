import IndoorLocalization
import XCTest

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
