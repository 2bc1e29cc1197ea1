import Foundation
import IndoorLocalization
import RecordUpload
import XCTest

/// The records that a collector creates from sightings and positions.
final class UploadCollectorTests: XCTestCase {
    private let uuid = BeaconUUID("f7826da6-4fa2-4e98-8024-bc5b71e0893e")

    /// The clock of a source whose instants begin one second after the beginning of Unix time.
    private let clock = WallClock(timeOfZero: .seconds(1))

    private func sighting(_ minor: UInt16, at seconds: Double, rssi: Double = -60) throws -> SensorReading {
        .sighting(
            Sighting(
                instant: Instant(seconds: seconds),
                beacon: BeaconIdentity(uuid: try XCTUnwrap(uuid), major: 1, minor: minor), rssi: rssi,
                measuredPower: -59))
    }

    private func collector(_ change: (inout UploadSettings) -> Void) -> UploadCollector {
        var settings = UploadSettings()
        change(&settings)
        return UploadCollector(settings)
    }

    /// Returns the records as a server decodes them.
    private func read(_ records: [UploadRecord]) async throws -> [ReadBatch.Record] {
        let queue = try UploadQueue(path: try temporaryFolder() + "/uploads.db")
        try await queue.append(records)
        let batch = try await queue.nextBatch(size: 1000, device: "a")
        return try batch.map { try ReadBatch($0.body).records } ?? []
    }

    /// The collector uploads neither positions nor beacons.
    func testNothingIsUploadedByDefault() throws {
        var collector = UploadCollector(UploadSettings())
        XCTAssertFalse(UploadSettings().isOn)
        collector.receive(try sighting(1, at: 0), by: clock)
        collector.receive(position(at: 0), by: clock)
        XCTAssertEqual(collector.drain(), [])
    }

    func testABeaconHasOneRecordPerIntervalWithTheNumberOfItsSightings() async throws {
        var collector = collector { $0.beacons = true }
        for step in 0...20 { collector.receive(try sighting(1, at: Double(step) / 10), by: clock) }
        collector.receive(try sighting(2, at: 2, rssi: -90), by: clock)
        let records = try await read(collector.drain())
        XCTAssertEqual(records.map(\.minor), [1, 1, 1, 2])
        XCTAssertEqual(records.map(\.count), [1, 10, 10, 1])
        XCTAssertEqual(records.map(\.time), [1000, 2000, 3000, 3000])
        XCTAssertEqual(records.map(\.type), ["beacon", "beacon", "beacon", "beacon"])
        XCTAssertEqual(records[0].uuid?.lowercased(), uuid.map { "\($0)" }?.lowercased())
        XCTAssertEqual(records[0].rssi, -60)
        XCTAssertEqual(records[0].proximity, "near")
        XCTAssertEqual(try XCTUnwrap(records[0].distance), 1.12, accuracy: 0.3)
        XCTAssertEqual(collector.drain(), [])
    }

    func testAnIntervalOfZeroKeepsEverySightingWithAMeasuredRSSI() throws {
        var collector = collector {
            $0.beacons = true
            $0.beaconInterval = .zero
        }
        for step in 0..<7 { collector.receive(try sighting(1, at: Double(step) / 10), by: nil) }
        collector.receive(try sighting(1, at: 1, rssi: 127), by: nil)
        XCTAssertEqual(collector.drain().count, 7)
    }

    func testAnAdvertisementAndItsSightingCountOnce() throws {
        var collector = collector {
            $0.beacons = true
            $0.beaconInterval = .zero
        }
        let beacon = BeaconIdentity(uuid: try XCTUnwrap(uuid), major: 1, minor: 5)
        let frame = BeaconFrame(format: .iBeacon, beacon: beacon, measuredPower: -59)
        let address = try XCTUnwrap(DeviceAddress("C0:00:00:00:00:01"))
        let advertisement = Advertisement(
            instant: .zero, address: address, rssi: -70, data: try frame.advertisingData())
        collector.receive(.advertisement(advertisement), by: clock)
        collector.receive(.sighting(try XCTUnwrap(try advertisement.sighting())), by: clock)
        XCTAssertEqual(collector.drain().count, 1)
    }

    private func position(at seconds: Double) -> Position {
        Position(
            instant: Instant(seconds: seconds), venueID: 1, mapID: 2, point: MapPoint(x: 3.14159, y: 2), radius: 1.5,
            label: "hall")
    }

    func testIndoorAndOutdoorPositionsHaveRecordsAtSeparateIntervals() async throws {
        var collector = collector {
            $0.positions = true
            $0.positionInterval = .seconds(2)
        }
        for step in 0..<10 { collector.receive(position(at: Double(step) / 2), by: clock) }
        let place = OutdoorPosition(
            instant: Instant(seconds: 4.5), coordinate: Coordinate(latitude: 48.123456789, longitude: 11), radius: 5)
        collector.receive(place, by: nil)
        let records = try await read(collector.drain())
        XCTAssertEqual(records.map(\.time), [1000, 3000, 5000, nil])
        XCTAssertEqual(records.map(\.type), ["position", "position", "position", "outdoorPosition"])
        XCTAssertEqual(records[0].x, 3.142)
        XCTAssertEqual(records[0].label, "hall")
        XCTAssertEqual(records[3].latitude, 48.12345679)
        // The next session has a separate timeline.
        collector.receive(position(at: 0), by: clock)
        XCTAssertEqual(collector.drain().count, 1)
    }

    func testTheOldestRecordsBeyondTheLimitAreDiscardedAndCounted() throws {
        var collector = collector {
            $0.beacons = true
            $0.beaconInterval = .zero
        }
        for step in 0..<10_001 { collector.receive(try sighting(1, at: Double(step) / 100), by: clock) }
        XCTAssertEqual(collector.lost, 1)
        let records = collector.drain()
        XCTAssertEqual(records.first?.unixTime?.milliseconds, 1010)
        collector.receive(try sighting(1, at: 101), by: clock)
        collector.putBack(records)
        XCTAssertEqual(collector.lost, 2)
        XCTAssertEqual(collector.drain().last?.unixTime?.milliseconds, 102_000)
    }
}
