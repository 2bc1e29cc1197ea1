import IndoorLocalization
import XCTest

/// The virtual controller is as strict as a real one, so that the tests in the guest detect invalid commands.
final class ControllerModelTests: XCTestCase {
    private static let success: UInt8 = 0x00
    private static let unknown: UInt8 = 0x01
    private static let disallowed: UInt8 = 0x0C

    private func model(_ generation: ControllerModel.Generation, capacity: Int = 2) -> ControllerModel {
        ControllerModel(
            generation: generation, address: VirtualController.standardAddress, duplicateCapacity: capacity)
    }

    /// Returns the status of the event that answers a command.
    private func status(_ model: inout ControllerModel, _ opcode: UInt16, _ parameters: [UInt8] = []) -> UInt8? {
        model.answer(HostCommand(opcode: opcode, parameters: parameters)).dropFirst(5).first
    }

    private let parameters: [UInt8] = [0, 0x60, 0, 0x30, 0, 0, 0]
    private let extendedParameters: [UInt8] = [0, 0, 1, 0, 0x60, 0, 0x30, 0]

    private func heard(_ minor: UInt16) -> Transmission {
        .iBeacon(BeaconUUID(high: 1, low: 2), major: 1, minor: minor, rssi: -60)
    }

    func testTheControllerRefusesParametersWhileItScans() {
        var model = model(.bluetooth4)
        XCTAssertEqual(status(&model, HostOpcode.setScanParameters, parameters), Self.success)
        XCTAssertEqual(status(&model, HostOpcode.setScanEnable, [1, 0]), Self.success)
        XCTAssertEqual(status(&model, HostOpcode.setScanParameters, parameters), Self.disallowed)
        XCTAssertEqual(status(&model, HostOpcode.setRandomAddress, [1, 2, 3, 4, 5, 6]), Self.disallowed)
        XCTAssertEqual(status(&model, HostOpcode.setScanEnable, [0, 0]), Self.success)
        XCTAssertEqual(status(&model, HostOpcode.setScanParameters, parameters), Self.success)
        XCTAssertEqual(model.scan.interval, 0x60)
        XCTAssertEqual(model.scan.window, 0x30)
        XCTAssertEqual(model.tally.disallowed, 2)
    }

    func testCommandsOfTheTwoGenerationsDoNotMixUntilAReset() {
        var model = model(.bluetooth5)
        XCTAssertEqual(status(&model, HostOpcode.setExtendedScanParameters, extendedParameters), Self.success)
        XCTAssertEqual(status(&model, HostOpcode.setScanParameters, parameters), Self.disallowed)
        XCTAssertEqual(status(&model, HostOpcode.reset), Self.success)
        XCTAssertEqual(status(&model, HostOpcode.setScanParameters, parameters), Self.success)
        XCTAssertEqual(status(&model, HostOpcode.setExtendedScanEnable, [1, 0, 0, 0, 0, 0]), Self.disallowed)
    }

    func testBluetooth4KnowsNoCommandOfBluetooth5() {
        var model = model(.bluetooth4)
        XCTAssertEqual(status(&model, HostOpcode.setExtendedScanParameters, extendedParameters), Self.unknown)
        XCTAssertEqual(model.tally.unknown.map(\.opcode), [HostOpcode.setExtendedScanParameters])
    }

    func testTheControllerReportsNothingWhileItDoesNotScan() {
        var model = model(.bluetooth4)
        XCTAssertEqual(model.hear([heard(1)]), [])
        XCTAssertEqual(model.tally.unheard, 1)
    }

    func testTheDuplicateFilterDiscardsTheOldestAdvertiser() {
        var model = model(.bluetooth4, capacity: 2)
        _ = status(&model, HostOpcode.setScanEnable, [1, 1])
        // 1 and 2 are in the filter. 3 replaces 1, because 2 was received again.
        XCTAssertEqual(model.hear([1, 2, 1, 2, 3, 1].map(heard)).count, 4)
        XCTAssertEqual(model.tally.duplicates, 2)
        _ = status(&model, HostOpcode.setScanEnable, [1, 0])
        XCTAssertEqual(model.hear([1, 1, 1].map(heard)).count, 3)
    }

    func testOnlyABluetooth5ScanReceivesExtendedAdvertisementsAndReportsThemInFragments() throws {
        let long = Transmission(
            address: DeviceAddress(rawValue: 5, kind: .random), rssi: -50, data: [UInt8](repeating: 0, count: 300))
        var old = model(.bluetooth4)
        _ = status(&old, HostOpcode.setScanEnable, [1, 0])
        XCTAssertEqual(old.hear([long]), [])
        XCTAssertEqual(old.tally.unreportable, 1)

        var new = model(.bluetooth5)
        _ = status(&new, HostOpcode.setLEEventMask, [0xFF, 0xFF, 0, 0, 0, 0, 0, 0])
        _ = status(&new, HostOpcode.setExtendedScanParameters, extendedParameters)
        _ = status(&new, HostOpcode.setExtendedScanEnable, [1, 0, 0, 0, 0, 0])
        let events = new.hear([long, heard(1)], reportsPerEvent: 2)
        XCTAssertEqual(events.map(\.count), [257, 4 + 24 + 71 + 24 + 30])
        // Event type of the fragments: incomplete, complete.
        XCTAssertEqual(events.map { $0[4] }, [0x20, 0x00])
        XCTAssertEqual(new.tally.reported, 2)
    }

    func testReportsSharePacketsUpToTheirSize() {
        var model = model(.bluetooth4)
        _ = status(&model, HostOpcode.setScanEnable, [1, 0])
        // A report has 40 bytes: six of them fit.
        let events = model.hear((1...8).map(heard), reportsPerEvent: 10)
        XCTAssertEqual(events.map { $0[3] }, [6, 2])
        XCTAssertEqual(events.map(\.count), [4 + 6 * 40, 4 + 2 * 40])
    }

    func testOnlyAnActiveScanIsAnswered() {
        let asked = Transmission(
            address: DeviceAddress(rawValue: 5, kind: .random), rssi: -50, data: [2, 1, 6], scanResponse: [2, 10, 0])
        for (type, count) in [(UInt8(0), 1), (1, 2)] {
            var model = model(.bluetooth4)
            _ = status(&model, HostOpcode.setScanParameters, [type] + parameters.dropFirst())
            _ = status(&model, HostOpcode.setScanEnable, [1, 0])
            XCTAssertEqual(model.hear([asked]).count, count, "scan of type \(type)")
        }
    }
}
