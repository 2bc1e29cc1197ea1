import IndoorLocalization
import XCTest

@testable import indoorloc

final class BeaconTableTests: XCTestCase {
    private func heard(_ minor: UInt16, _ rssi: Double, at seconds: Double, power: Double? = -59) -> SensorReading {
        let beacon = BeaconIdentity(
            uuid: BeaconUUID(high: 0x7C2F_0A10_0000_4000, low: 0x8000_0000_0000_0003), major: 1, minor: minor)
        return .sighting(
            Sighting(instant: Instant(seconds: seconds), beacon: beacon, rssi: rssi, measuredPower: power))
    }

    private func advertisement(_ address: UInt64, at seconds: Double) -> SensorReading {
        .advertisement(
            Advertisement(
                instant: Instant(seconds: seconds), address: DeviceAddress(rawValue: address), rssi: -80,
                data: [2, 1, 6]))
    }

    private func table(_ readings: [SensorReading]) -> BeaconTable {
        var table = BeaconTable()
        for reading in readings { table.observe(reading) }
        return table
    }

    func testTheTableShowsThreeBeaconsAndCountsTwoOtherDevices() throws {
        let event = RadioEvent(instant: .zero, status: .scanning, adapter: "hci0", detail: "raw HCI")
        var readings: [SensorReading] = [.radio(event)]
        for tenth in 0..<60 {
            let seconds = Double(tenth) / 10
            readings.append(heard(1, -58, at: seconds))
            if tenth % 5 == 0 { readings.append(heard(2, -83, at: seconds)) }
            if tenth == 40 { readings.append(heard(3, -70, at: seconds, power: nil)) }
            readings.append(advertisement(UInt64(tenth % 2), at: seconds))
        }
        var table = table(readings)
        try assertSnapshot(
            table.lines(at: Instant(seconds: 6), width: 100, height: 24).joined(separator: "\n") + "\n")
    }

    func testTheTableRemovesABeaconAfterFiveSecondsOfSilence() {
        var table = table([heard(1, -60, at: 0), heard(2, -60, at: 3), advertisement(9, at: 0)])
        let lines = table.lines(at: Instant(seconds: 5.1), width: 100, height: 24)
        XCTAssertEqual(lines.count, 5)
        XCTAssertTrue(lines[3].contains("    1     2 "), lines[3])
        XCTAssertTrue(lines[4].hasPrefix("1 beacon, 0 other devices"), lines[4])
    }

    func testALowTerminalShowsTheStrongestBeacons() {
        var table = table((1...20).map { heard($0, -50 - Double($0), at: 1) })
        let lines = table.lines(at: Instant(seconds: 1), width: 100, height: 10)
        XCTAssertEqual(lines.count, 10)
        XCTAssertTrue(lines[3].contains("    1     1 "), lines[3])
        XCTAssertTrue(lines[7].contains("    1     5 "), lines[7])
        XCTAssertEqual(lines[8], "and 15 weaker beacons")
    }

    func testNoLineIsWiderThanTheTerminal() {
        for width in [0, 1, 40, 80, 94, 200] {
            var table = table([heard(1, -60, at: 0)])
            let lines = table.lines(at: Instant(seconds: 1), width: width, height: 24)
            XCTAssertTrue(lines.allSatisfy { $0.count <= width }, "\(width)")
        }
        var narrow = table([heard(1, -60, at: 0)])
        XCTAssertTrue(narrow.lines(at: .zero, width: 80, height: 24)[3].contains("0.0 s"), "all columns fit into 80")
    }

    func testATerminalOfOneLineShowsSomething() {
        var table = table([heard(1, -60, at: 0)])
        let lines = table.lines(at: .zero, width: 80, height: 1)
        XCTAssertEqual(lines.first, "waiting for the radio")
        XCTAssertEqual(lines.last?.hasPrefix("1 beacon, 0 other devices"), true, "\(lines)")
    }

    func testTheAdvertisementOfABeaconDoesNotCountAsAnotherDevice() throws {
        let frame = BeaconFrame(
            format: .iBeacon,
            beacon: BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 4), measuredPower: -59)
        let advertisement = Advertisement(
            instant: .zero, address: DeviceAddress(rawValue: 7), rssi: -60, data: try frame.advertisingData())
        var table = table([.advertisement(advertisement), .sighting(try XCTUnwrap(advertisement.sighting()))])
        XCTAssertTrue(table.lines(at: .zero, width: 80, height: 24)[4].hasPrefix("1 beacon, 0 other devices"))
    }
}
