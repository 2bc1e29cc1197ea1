import IndoorLocalization
import XCTest

final class RoomScanTests: XCTestCase {
    private func sighting(_ minor: Int, at seconds: Double, rssi: Double = -60) -> Sighting {
        Sighting(instant: Instant(seconds: seconds), beacon: TrainedHouse.beacon(minor), rssi: rssi)
    }

    func testInvalidAndTooStrongRSSIsAreLeftOut() {
        let values = [-128, -127, -60, -1.5, -1, 0, 127]
        let scan = RoomScan(
            instant: .zero,
            rssi: Dictionary(uniqueKeysWithValues: values.indices.map { (TrainedHouse.beacon($0), values[$0]) }))
        XCTAssertEqual(scan.rssi.values.sorted(), [-127, -60, -1.5])
    }

    func testSightingsAreCutIntoScansOfASecondWithMeanRSSI() {
        let scans = RoomScan.scans(of: [
            sighting(1, at: 0, rssi: -60), sighting(2, at: 0.4), sighting(1, at: 0.9, rssi: -70),
            sighting(1, at: 1.0, rssi: -80), sighting(3, at: 1.3),
        ])
        XCTAssertEqual(scans.map(\.instant.seconds), [0.9, 1.3])
        XCTAssertEqual(scans.map(\.rssi.count), [2, 2])
        XCTAssertEqual(scans.map { $0.rssi[TrainedHouse.beacon(1)] }, [-65, -80])
    }

    func testEachBatchIsAScanEvenIfTheyAreClose() {
        let scans = RoomScan.scans(of: [
            sighting(1, at: 0), sighting(2, at: 0), sighting(3, at: 0), sighting(1, at: 0.01), sighting(2, at: 0.01),
            sighting(2, at: 0.01), sighting(3, at: 0.01),
        ])
        XCTAssertEqual(scans.map(\.rssi.count), [3, 2, 2], "a beacon again begins the next one")
    }

    func testThereIsNoScanWithoutSightings() { XCTAssertEqual(RoomScan.scans(of: []), []) }

    func testARangingIsAScan() {
        let range = RangeEstimate(
            beacon: TrainedHouse.beacon(4), instant: .zero, rssi: -71.5, rssiDeviation: 2, distance: nil)
        let scan = RoomScan(RegionRanging(instant: Instant(seconds: 3), regionID: "home", ranges: [range]))
        XCTAssertEqual(scan, RoomScan(instant: Instant(seconds: 3), rssi: [TrainedHouse.beacon(4): -71.5]))
    }
}
