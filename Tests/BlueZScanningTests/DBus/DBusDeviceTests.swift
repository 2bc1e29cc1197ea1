import BlueZScanning
import IndoorLocalization
import XCTest

/// Properties of a device as AD structures.
final class DBusDeviceTests: XCTestCase {
    private func device(_ changes: BusProperties) throws -> BlueZDevice {
        let properties = ["Address": BusValue.string("C0:55:44:33:22:11"), "RSSI": .int16(-60)]
        return try XCTUnwrap(BlueZDevice(properties.merging(changes) { $1 }))
    }

    private func frame(_ data: [UInt8]) throws -> BeaconFrame? {
        if case .beacon(let frame) = try BeaconFrame.decode(data.span) { frame } else { nil }
    }

    func testAnIBeaconIsDecodedFromTheRebuiltData() throws {
        let device = try device(["ManufacturerData": DBusStage.manufacturerData([0x004C: DBusStage.iBeacon])])
        XCTAssertEqual(device.advertisingData.prefix(4), [26, 0xFF, 0x4C, 0x00])
        XCTAssertEqual(try frame(device.advertisingData)?.format, .iBeacon)
    }

    func testAnAltBeaconIsDecodedToo() throws {
        let bytes: [UInt8] = [0xBE, 0xAC] + Array(DBusStage.iBeacon[2..<22]) + [0xC5, 0]
        let device = try device(["ManufacturerData": DBusStage.manufacturerData([0x0118: bytes])])
        XCTAssertEqual(try frame(device.advertisingData)?.format, .altBeacon)
    }

    func testAnEddystoneIsDecodedToo() throws {
        let bytes: [UInt8] = [0x00, 0xEC] + Array(1...16)
        let service = "0000feaa-0000-1000-8000-00805f9b34fb"
        let device = try device([
            "ServiceData": DBusStage.serviceData([service: bytes]), "UUIDs": .array([.string(service)], of: "s"),
        ])
        XCTAssertEqual(device.advertisingData.prefix(8), [3, 0x03, 0xAA, 0xFE, 21, 0x16, 0xAA, 0xFE])
        XCTAssertEqual(try frame(device.advertisingData)?.format, .eddystoneUID)
    }

    func testTheServicesPropertiesPreserveTheDataThatTheCoreEncodes() throws {
        let uuid = try XCTUnwrap(BeaconUUID("B9407F30-F5F8-466E-AFF9-25556B57FE6D"))
        let sent = BeaconFrame(
            format: .iBeacon, beacon: BeaconIdentity(uuid: uuid, major: 1, minor: 7), measuredPower: -59)
        let device = try device(["ManufacturerData": DBusStage.manufacturerData([0x004C: DBusStage.iBeacon])])
        // Without the flags, which the service doesn't report.
        XCTAssertEqual(device.advertisingData, Array(try sent.advertisingData().dropFirst(3)))
    }

    func testLongServiceUUIDsAndTransmitPowerAreLittleEndian() throws {
        let device = try device([
            "UUIDs": .array([.string("00112233-4455-6677-8899-aabbccddeeff")], of: "s"), "TxPower": .int16(-4),
        ])
        XCTAssertEqual(
            device.advertisingData,
            [17, 0x07, 0xFF, 0xEE, 0xDD, 0xCC, 0xBB, 0xAA, 0x99, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0x00]
                + [2, 0x0A, 0xFC])
    }

    func testDataTooLongForAStructureIsOmitted() throws {
        let long = [UInt8](repeating: 7, count: 253)
        let device = try device(["ManufacturerData": DBusStage.manufacturerData([1: long, 2: Array(long.dropLast())])])
        XCTAssertEqual(device.advertisingData.count, 256)
        XCTAssertEqual(device.advertisingData.prefix(4), [255, 0xFF, 2, 0])
    }

    func testAReportContainsOnlyTheDataOfItsOwnFrame() throws {
        var device = try device(["ManufacturerData": DBusStage.manufacturerData([0x004C: DBusStage.iBeacon])])
        let changes: BusProperties = [
            "RSSI": .int16(-70),
            "ServiceData": DBusStage.serviceData(["0000feaa-0000-1000-8000-00805f9b34fb": [0x20, 0]]),
        ]
        let report = try XCTUnwrap(device.report(of: changes, at: .zero))
        XCTAssertEqual(report.data, [5, 0x16, 0xAA, 0xFE, 0x20, 0])
        XCTAssertEqual(report.rssi, -70)
    }

    func testWithoutAnAddressThereIsNoDevice() {
        XCTAssertNil(BlueZDevice(["RSSI": .int16(-60)]))
        XCTAssertNil(BlueZDevice(["Address": .string("nonsense")]))
    }
}
