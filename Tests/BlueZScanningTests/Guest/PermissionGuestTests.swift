import BlueZScanning
import Foundation
import IndoorLocalization
import XCTest

/// What a process without capabilities is told.
final class PermissionGuestTests: GuestTestCase {
    private static let roleName = "BLUETOOTH_GUEST_ROLE"
    private static let unprivileged = "unprivileged"

    /// The test starts itself again without capabilities; there it asks for what needs them.
    func testWithoutCapabilitiesTheRawRouteThrowsWhatGrantsThem() async throws {
        guard ProcessInfo.processInfo.environment[Self.roleName] != Self.unprivileged else {
            return try await assertTheErrorNamesTheCapabilities()
        }
        let controller = try await pluggedIn()
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let child = try GuestProcess(
            "/usr/bin/setpriv",
            [
                "--bounding-set=-all", "--inh-caps=-all", "/usr/bin/env", "\(Self.roleName)=\(Self.unprivileged)",
                program, "BlueZScanningTests.PermissionGuestTests/\(#function.dropLast(2))",
            ])
        let status = try await child.waitForEnd()
        XCTAssertEqual(status, 0, child.output.value.lines.joined(separator: "\n"))
        XCTAssertTrue(child.output.value.lines.contains { $0.contains("Executed 1 test, with 0 failures") })
        XCTAssertFalse(controller.scan.isEnabled)
        XCTAssertFalse(controller.commands.contains { $0.opcode == HostOpcode.setScanEnable })
    }

    private func assertTheErrorNamesTheCapabilities() async throws {
        let listening = listening(to: HCIScanSource())
        try await listening.wait(for: "the end of the stream") { $0.isOver }
        let heard = listening.heard.value
        guard case .notPermitted(let capabilities, let program) = heard.error as? BluetoothError else {
            return XCTFail("threw \(heard.error.map { "\($0)" } ?? "nothing")")
        }
        XCTAssertEqual(capabilities, ["CAP_NET_RAW", "CAP_NET_ADMIN"])
        XCTAssertTrue(program.hasSuffix(".xctest"), program)
        XCTAssertEqual(heard.readings, [])
        XCTAssertThrowsError(try HCIScanSource.checkPermission())
        // What needs no capability still works.
        XCTAssertEqual(try BluetoothAdapter.all().count, 1)
    }
}
