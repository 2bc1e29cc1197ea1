import BlueZScanning
import Foundation
import IndoorLocalization
import XCTest

/// Errors in a process without capabilities.
final class PermissionGuestTests: GuestTestCase {
    private static let roleName = "BLUETOOTH_GUEST_ROLE"
    private static let unprivileged = "unprivileged"

    /// Whether this is the process without capabilities that a test started.
    private var isUnprivileged: Bool { ProcessInfo.processInfo.environment[Self.roleName] == Self.unprivileged }

    /// Runs a test again in a process without capabilities, and fails if the test fails there.
    private func runUnprivileged(_ test: String) async throws {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let child = try GuestProcess(
            "/usr/bin/setpriv",
            [
                "--bounding-set=-all", "--inh-caps=-all", "/usr/bin/env", "\(Self.roleName)=\(Self.unprivileged)",
                program, "BlueZScanningTests.PermissionGuestTests/\(test.dropLast(2))",
            ])
        let status = try await child.waitForEnd()
        XCTAssertEqual(status, 0, child.output.value.lines.joined(separator: "\n"))
        XCTAssertTrue(child.output.value.lines.contains { $0.contains("Executed 1 test, with 0 failures") })
    }

    func testWithoutCapabilitiesTheErrorOfTheRawRouteNamesTheGrant() async throws {
        if isUnprivileged { return try await assertTheErrorNamesTheCapabilities() }
        let controller = try await pluggedIn()
        try await runUnprivileged(#function)
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
        // Calls that need no capability still work.
        XCTAssertEqual(try BluetoothAdapter.all().count, 1)
    }

    func testTheRawRouteIsChosenWhereItIsPermittedAndOtherwiseTheService() async throws {
        if isUnprivileged { return try await assertTheServiceIsChosenAndHears() }
        XCTAssertEqual(try BluetoothScanSource.chooseRoute().route, .hci)
        let controller = try await pluggedIn()
        _ = try await services()
        // Send until the other process has received the beacon.
        let air = Task {
            while !Task.isCancelled {
                controller.hear([BeaconSeries.transmission(5)])
                try await Task.sleep(for: .milliseconds(100))
            }
        }
        defer { air.cancel() }
        try await runUnprivileged(#function)
    }

    private func assertTheServiceIsChosenAndHears() async throws {
        let source = try BluetoothScanSource()
        XCTAssertEqual(source.choice.route, .dbus)
        XCTAssertTrue(source.choice.reason.contains("CAP_NET_RAW"), source.choice.reason)
        let listening = listening(to: source)
        try await listening.waitForSightings(1)
        XCTAssertEqual(listening.heard.value.sightings.first.flatMap(BeaconSeries.number), 5)
    }

    func testWithNeitherRouteTheErrorContainsBothReasons() async throws {
        // Without a bus, and without capabilities.
        guard isUnprivileged else { return try await runUnprivileged(#function) }
        XCTAssertThrowsError(try BluetoothScanSource()) { error in
            guard case .noRoute(hci: .notPermitted, dbus: .busUnavailable) = error as? BluetoothError else {
                return XCTFail("\(error)")
            }
        }
    }
}
