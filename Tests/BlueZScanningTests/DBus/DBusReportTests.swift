import BlueZScanning
import IndoorLocalization
import XCTest

/// The signals that are sightings, and those that aren't.
final class DBusReportTests: XCTestCase {
    private func scanningStage(_ content: ScanContent = .beacons) -> DBusStage {
        var stage = DBusStage(content: content)
        stage.begin()
        return stage
    }

    func testANewDeviceWithAnRSSIIsASighting() throws {
        var stage = scanningStage()
        stage.deviceAppears(DBusStage.beacon(rssi: -63))
        let sighting = try XCTUnwrap(stage.sightings.first)
        XCTAssertEqual(sighting.beacon.minor, 7)
        XCTAssertEqual(sighting.rssi, -63)
        XCTAssertEqual(sighting.measuredPower, -59)
        XCTAssertEqual(sighting.address, DeviceAddress(rawValue: 0xC055_4433_2211, kind: .random))
        XCTAssertEqual(sighting.instant, stage.now)
    }

    func testTheAdvertisementComesBeforeItsSighting() {
        var stage = scanningStage(.everything)
        stage.deviceAppears(DBusStage.beacon(rssi: -63))
        guard stage.directives.count == 2, case .yield(.advertisement(let heard)) = stage.directives[0],
            case .yield(.sighting(let sighting)) = stage.directives[1]
        else { return XCTFail("\(stage.directives)") }
        XCTAssertEqual(try heard.sighting(), sighting)
    }

    func testWithContentBeaconsOnlyTheSightingIsDelivered() {
        var stage = scanningStage(.beacons)
        stage.deviceAppears(DBusStage.beacon(rssi: -63))
        XCTAssertEqual(stage.directives, stage.sightings.map { .yield(.sighting($0)) })
        XCTAssertEqual(stage.sightings.count, 1)
    }

    func testLostReadingsAreReportedWithTheStatusOfTheRadio() {
        var stage = scanningStage()
        stage.wait(.seconds(1))
        stage.happen(.overrun(readings: 12))
        XCTAssertEqual(stage.statuses, [.scanning])
        XCTAssertEqual(stage.events.first?.detail?.contains("12 readings were lost"), true)
        XCTAssertEqual(stage.events.first?.instant, stage.now)
    }

    func testACachedDeviceIsNoSighting() {
        var stage = scanningStage()
        stage.deviceAppears(DBusStage.beacon(rssi: nil))
        XCTAssertEqual(stage.directives, [])
    }

    func testADeviceKnownBeforeTheScanIsNoSightingUntilItsNextReport() {
        var stage = DBusStage()
        stage.happen(.connected)
        stage.answer([
            DBusStage.objects([
                DBusStage.adapterPath: DBusStage.adapter(),
                DBusStage.devicePath: ["org.bluez.Device1": DBusStage.beacon(rssi: -50)],
            ])
        ])
        stage.answer()
        stage.answer()
        XCTAssertEqual(stage.sightings, [])
        stage.deviceChanges(["RSSI": .int16(-71)])
        XCTAssertEqual(stage.sightings.map(\.rssi), [-71])
    }

    func testAChangedRSSIIsASighting() {
        var stage = scanningStage()
        stage.deviceAppears(DBusStage.beacon(rssi: -63))
        stage.now = stage.now.advanced(by: .milliseconds(50))
        stage.deviceChanges(["RSSI": .int16(-64)])
        XCTAssertEqual(stage.sightings.map(\.rssi), [-64])
        XCTAssertEqual(stage.sightings.map(\.instant), [stage.now])
    }

    func testDataWithoutAnRSSIIsASightingWithTheLatestRSSI() {
        var stage = scanningStage()
        stage.deviceAppears(DBusStage.beacon(rssi: -63))
        stage.deviceChanges(["ManufacturerData": DBusStage.manufacturerData([0x004C: DBusStage.iBeacon])])
        XCTAssertEqual(stage.sightings.map(\.rssi), [-63])
    }

    func testDataAfterAWithdrawnRSSIIsNoSighting() {
        var stage = scanningStage()
        stage.deviceAppears(DBusStage.beacon(rssi: -63))
        stage.deviceChanges([:], invalidated: ["RSSI"])
        XCTAssertEqual(stage.directives, [])
        stage.deviceChanges(["ManufacturerData": DBusStage.manufacturerData([0x004C: DBusStage.iBeacon])])
        XCTAssertEqual(stage.directives, [])
    }

    func testOtherChangesAreNoSightings() {
        var stage = scanningStage()
        stage.deviceAppears(DBusStage.beacon(rssi: -63))
        let changes: BusProperties = [
            "Connected": .boolean(true), "Name": .string("x"), "TxPower": .int16(4), "Paired": .boolean(true),
        ]
        stage.deviceChanges(changes)
        XCTAssertEqual(stage.directives, [])
    }

    func testAnInvalidRSSIIsNoSighting() {
        for rssi: Int16 in [0, 20, 127, -128] {
            var stage = scanningStage(.everything)
            stage.deviceAppears(DBusStage.beacon(rssi: rssi))
            XCTAssertEqual(stage.directives, [], "\(rssi) dBm")
        }
    }

    func testAnUnknownDeviceIsNoSighting() {
        var stage = scanningStage()
        stage.deviceChanges(["RSSI": .int16(-60)])
        XCTAssertEqual(stage.directives, [])
    }

    func testARemovedDeviceIsNoSightingUntilItAppearsAgain() {
        var stage = scanningStage()
        stage.deviceAppears(DBusStage.beacon(rssi: -63))
        stage.signal(
            "InterfacesRemoved",
            [.objectPath(DBusStage.devicePath), .array([.string("org.bluez.Device1")], of: "s")])
        stage.deviceChanges(["RSSI": .int16(-60)])
        XCTAssertEqual(stage.directives, [])
        stage.deviceAppears(DBusStage.beacon(rssi: -61))
        XCTAssertEqual(stage.sightings.map(\.rssi), [-61])
    }

    func testADeviceOfAnotherAdapterIsNoSighting() {
        var stage = scanningStage()
        stage.deviceAppears(DBusStage.beacon(rssi: -63), at: "/org/bluez/hci01/dev_C0_55_44_33_22_11")
        XCTAssertEqual(stage.directives, [])
    }

    func testAReportWhileTheRadioIsOffIsNoSighting() {
        var stage = scanningStage()
        stage.deviceAppears(DBusStage.beacon(rssi: -63))
        stage.adapterChanges(["Powered": .boolean(false)])
        stage.deviceChanges(["RSSI": .int16(-60)])
        XCTAssertEqual(stage.directives, [])
    }

    func testASignalOfAnotherSenderIsNoSighting() {
        var stage = scanningStage()
        stage.deviceAppears(DBusStage.beacon(rssi: -63))
        stage.deviceChanges(["RSSI": .int16(-60)], from: ":1.666")
        XCTAssertEqual(stage.directives, [])
    }

    func testAnAdvertisementWithoutABeaconIsDeliveredOnlyWithContentEverything() {
        var properties = DBusStage.beacon(rssi: -63)
        properties["ManufacturerData"] = DBusStage.manufacturerData([0x0059: [1, 2, 3]])
        for (content, count) in [(ScanContent.beacons, 0), (.everything, 1)] {
            var stage = scanningStage(content)
            stage.deviceAppears(properties)
            XCTAssertEqual(stage.advertisements.count, count, "\(content)")
            XCTAssertEqual(stage.sightings, [], "\(content)")
        }
    }

    func testMalformedSignalsAreIgnored() {
        let bodies: [[BusValue]] = [
            [], [.string("org.bluez.Device1")], [.byte(1), .byte(2), .byte(3)],
            [.string("org.bluez.Device1"), .string("x"), .string("y")],
            [
                .string("org.bluez.Device1"),
                .properties(["RSSI": .string("loud"), "ManufacturerData": .bytes([1])]), .array([], of: "s"),
            ],
        ]
        for body in bodies {
            for member in ["PropertiesChanged", "InterfacesAdded", "InterfacesRemoved", "NameOwnerChanged"] {
                var stage = scanningStage()
                stage.deviceAppears(DBusStage.beacon(rssi: nil))
                stage.signal(member, on: DBusStage.devicePath, body)
                XCTAssertEqual(stage.directives, [], "\(member) \(body)")
            }
        }
    }
}

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
