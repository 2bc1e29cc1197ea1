import BlueZScanning
import Glibc
import IndoorLocalization
import XCTest

final class HCIErrorTests: XCTestCase {
    func testAMissingCapabilityIsReportedWithTheCommandThatGrantsIt() {
        let error = BluetoothError.notPermitted(
            capabilities: ["CAP_NET_RAW", "CAP_NET_ADMIN"], program: "/usr/bin/indoorloc")
        XCTAssertTrue(
            "\(error)".hasSuffix("sudo setcap cap_net_raw,cap_net_admin+ep /usr/bin/indoorloc"), "\(error)")
    }

    func testAPathWithShellCharactersIsQuoted() {
        let error = BluetoothError.notPermitted(capabilities: ["CAP_NET_RAW"], program: "/usr/bin/my tool's")
        XCTAssertTrue("\(error)".hasSuffix("setcap cap_net_raw,cap_net_admin+ep '/usr/bin/my tool'\\''s'"), "\(error)")
    }

    func testEveryErrorSaysWhatToDo() {
        XCTAssertTrue("\(BluetoothError.noBluetooth)".contains("sudo modprobe bluetooth"))
        XCTAssertTrue("\(BluetoothError.busUnavailable(reason: "gone"))".contains("(gone): start it with"))
        XCTAssertTrue("\(BluetoothError.busForbidden(reason: "no"))".contains("sudo usermod -aG bluetooth"))
    }

    func testASystemErrorNamesCallAndReason() {
        let error = BluetoothError.system(call: "bind", number: ENODEV)
        XCTAssertEqual("\(error)", "bind failed: No such device (error 19).")
    }

    func testErrorsHaveAKindAndANumber() {
        let denied = BluetoothError.notPermitted(capabilities: ["CAP_NET_RAW"], program: "x")
        let errors: [(BluetoothError, LocalizationError.Kind, Int32?)] = [
            (denied, .permissionDenied, nil), (.busForbidden(reason: "no"), .permissionDenied, nil),
            (.noBluetooth, .notSupported, nil), (.busUnavailable(reason: "gone"), .sensorFailed, nil),
            (.system(call: "bind", number: ENODEV), .sensorFailed, ENODEV),
            (.system(call: "socket", number: EPERM), .permissionDenied, EPERM),
            (.noRoute(hci: .noBluetooth, dbus: .busForbidden(reason: "no")), .permissionDenied, nil),
            (.noRoute(hci: .system(call: "bind", number: ENODEV), dbus: .noBluetooth), .sensorFailed, ENODEV),
        ]
        for (error, kind, number) in errors {
            XCTAssertEqual(error.kind, kind, "\(error)")
            XCTAssertEqual(error.status, number.map { .system($0) }, "\(error)")
        }
    }
}
