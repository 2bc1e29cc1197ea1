import BlueZScanning
import IndoorLocalization
import XCTest

final class AdapterChoiceTests: XCTestCase {
    private let adapter = BluetoothAdapter(
        name: "hci1", address: DeviceAddress(rawValue: 0xC005_0403_0201, kind: .public), isPowered: true)

    func testFirstIncludesAnyAdapter() {
        XCTAssertTrue(AdapterChoice.first.includes(adapter))
    }

    func testANameIncludesOnlyThatAdapter() {
        XCTAssertTrue(AdapterChoice.named("hci1").includes(adapter))
        XCTAssertFalse(AdapterChoice.named("hci0").includes(adapter))
    }

    func testAnAddressIncludesItsAdapterForEveryKindOfAddress() {
        XCTAssertTrue(AdapterChoice.address(DeviceAddress(rawValue: 0xC005_0403_0201)).includes(adapter))
        XCTAssertFalse(AdapterChoice.address(DeviceAddress(rawValue: 1)).includes(adapter))
    }
}
