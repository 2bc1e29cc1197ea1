import BlueZScanning
import Foundation
import IndoorLocalization
import XCTest

/// Scans through the real bluetoothd.
final class BlueZGuestTests: GuestTestCase {
    /// Sends a beacon until the service reports it, because the service may be between two discoveries.
    private func assertHears(_ listening: Listening, _ controller: VirtualController, _ number: Int) async throws {
        let isHeard: @Sendable (Listening.Heard) -> Bool = { heard in
            heard.sightings.contains { BeaconSeries.number(of: $0) == number }
        }
        let air = Task {
            while !Task.isCancelled {
                try await controller.waitForScan()
                controller.hear([BeaconSeries.transmission(number)])
                try await Task.sleep(for: .milliseconds(100))
            }
        }
        defer { air.cancel() }
        try await listening.wait(for: "beacon \(number)", until: isHeard)
    }

    private func assertNothingInvented(_ listening: Listening, _ numbers: Range<Int>, line: UInt = #line) {
        let heard = Set(listening.heard.value.sightings.map(BeaconSeries.number))
        XCTAssertEqual(heard, Set(numbers.map(Optional.some)), line: line)
    }

    func testEachBeaconArrivesWithItsStrength() async throws {
        for generation in ControllerModel.Generation.allCases {
            let controller = try await pluggedIn(generation)
            let services = try await services()
            let listening = listening(to: BlueZScanSource())
            try await listening.wait(for: .scanning)
            for number in 0..<20 { try await assertHears(listening, controller, number) }
            assertNothingInvented(listening, 0..<20)
            try await listening.stop()
            try await controller.waitForScan(false)
            try await services.endAll()
            try await controller.unplug()
        }
    }

    func testAStoppedScanPowersOffTheAdapterThatItPoweredOn() async throws {
        let controller = try await pluggedIn()
        let services = try await services()
        try await services.waitForPower(true, of: controller)
        try await GuestServices.setPower(false, of: controller)
        let listening = listening(to: BlueZScanSource())
        try await listening.wait(for: .scanning)
        try await assertHears(listening, controller, 1)
        try await listening.stop()
        try await controller.waitForScan(false)
        try await services.waitForPower(false, of: controller)
    }

    func testAStoppedScanLeavesAnAdapterOnThatWasOn() async throws {
        let controller = try await pluggedIn()
        let services = try await services()
        try await services.waitForPower(true, of: controller)
        let listening = listening(to: BlueZScanSource())
        try await listening.wait(for: .scanning)
        try await listening.stop()
        try await controller.waitForScan(false)
        XCTAssertEqual(try BluetoothAdapter.all().map(\.isPowered), [true])
    }

    func testPowerOffAndOnAreReportedAndTheScanResumes() async throws {
        let controller = try await pluggedIn()
        let services = try await services()
        try await services.waitForPower(true, of: controller)
        let listening = listening(to: BlueZScanSource())
        var index = try await listening.wait(for: .scanning)
        try await assertHears(listening, controller, 1)
        // The machine attributes a loss of power within the first two seconds to the end of another scan.
        try await controller.play([(at: 2.2, transmission: BeaconSeries.transmission(1))])
        try await GuestServices.setPower(false, of: controller)
        index = try await listening.wait(for: .poweredOff, after: index)
        try await GuestServices.setPower(true, of: controller)
        index = try await listening.wait(for: .scanning, after: index)
        try await assertHears(listening, controller, 2)
        assertNothingInvented(listening, 1..<3)
    }

    /// The service of Debian 12 reports radio switches only in experimental mode, and otherwise only the loss of power.
    func testTheScanResumesAfterARadioSwitchBlockedIt() async throws {
        for isExperimental in [false, true] {
            let controller = try await pluggedIn()
            let services = try await services(isExperimental: isExperimental)
            try await services.waitForPower(true, of: controller)
            let listening = listening(to: BlueZScanSource())
            let index = try await listening.wait(for: .scanning)
            // Later, because the machine attributes an early loss of power to the end of another scan.
            try await controller.play([(at: 2.2, transmission: BeaconSeries.transmission(0))])
            try RadioSwitch.setBlocked(true)
            try await listening.wait(for: "the loss of power") { heard in
                let last = heard.statuses.last
                return last == .blocked || last == .poweredOff && !isExperimental
            }
            try RadioSwitch.setBlocked(false)
            try await listening.wait(for: .scanning, after: index)
            try await assertHears(listening, controller, 1)
            try await listening.stop()
            try await services.endAll()
            try await controller.unplug()
        }
    }

    func testTheScanResumesAfterTheAdapterIsPluggedInAgain() async throws {
        let controller = try await pluggedIn()
        _ = try await services()
        let listening = listening(to: BlueZScanSource())
        var index = try await listening.wait(for: .scanning)
        try await assertHears(listening, controller, 1)
        try await controller.unplug()
        index = try await listening.wait(for: .unplugged, after: index)
        try await controller.plugIn()
        index = try await listening.wait(for: .scanning, after: index)
        try await assertHears(listening, controller, 2)
        assertNothingInvented(listening, 1..<3)
    }

    func testAKilledBluetoothdIsReportedAndTheScanResumesWhenItIsBack() async throws {
        let controller = try await pluggedIn()
        let services = try await services()
        let listening = listening(to: BlueZScanSource())
        var index = try await listening.wait(for: .scanning)
        try await assertHears(listening, controller, 1)
        try await services.endBluetooth(SIGKILL)
        index = try await listening.wait(for: .serviceLost, after: index)
        try await services.startBluetooth()
        // The kernel continues the discovery of the killed service until it times out.
        index = try await listening.wait(for: .scanning, after: index)
        try await assertHears(listening, controller, 2)
        assertNothingInvented(listening, 1..<3)
    }

    func testWithoutAMessageBusTheStreamThrows() async throws {
        let controller = try await pluggedIn()
        let listening = listening(to: BlueZScanSource())
        try await listening.wait(for: "the end of the stream") { $0.isOver }
        guard case .busUnavailable = listening.heard.value.error as? BluetoothError else {
            return XCTFail("threw \(listening.heard.value.error.map { "\($0)" } ?? "nothing")")
        }
        XCTAssertFalse(controller.scan.isEnabled)
    }

    func testTheRawRouteAndTheServiceReceiveTheSameAtTheSameTime() async throws {
        let controller = try await pluggedIn()
        let services = try await services()
        try await services.waitForPower(true, of: controller)
        let raw = listening(to: HCIScanSource())
        try await raw.wait(for: .scanning)
        let service = listening(to: BlueZScanSource())
        try await service.wait(for: .scanning)
        for number in 0..<10 {
            try await assertHears(service, controller, number)
            try await raw.wait(for: "beacon \(number) on the raw route") { heard in
                heard.sightings.contains { BeaconSeries.number(of: $0) == number }
            }
        }
        try await service.stop()
        try await raw.wait(for: "a scan of its own") { $0.statuses.last == .scanning }
        try await controller.waitForScan()
        try await raw.stop()
        try await controller.waitForScan(false)
        XCTAssertEqual(controller.tally.reported, raw.heard.value.sightingCount)
    }
}

/// The share of advertisements that bluetoothd reports, as documented.
final class BlueZLossGuestTests: GuestTestCase {
    /// Returns the share of reports of ten beacons at 10 Hz, with an RSSI that changes each time.
    private func share(
        isExperimental: Bool, duplicateCapacity: Int, seconds: Double = 6
    ) async throws -> (share: Double, longestSilence: Double) {
        let controller = try await pluggedIn(duplicateCapacity: duplicateCapacity)
        let services = try await services(isExperimental: isExperimental)
        let listening = listening(to: BlueZScanSource())
        try await listening.wait(for: .scanning)
        let schedule = (0..<Int(seconds * 100)).map { index in
            var transmission = BeaconSeries.transmission(index % 10)
            transmission.rssi = Int8(-40 - (index / 10) % 50)
            return (at: Double(index) / 100, transmission: transmission)
        }
        let start = Guest.present
        try await controller.play(schedule)
        let end = Guest.present
        try await listening.stop()
        try await services.endAll()
        try await controller.unplug()
        let sightings = listening.heard.value.sightings
        var longest = 0.0
        for beacon in 0..<UInt16(10) {
            let heard = [start] + sightings.filter { $0.beacon.minor == beacon }.map(\.instant) + [end]
            for (earlier, later) in zip(heard, heard.dropFirst()) {
                longest = max(longest, earlier.duration(to: later).seconds)
            }
        }
        return (Double(sightings.count) / Double(schedule.count), longest)
    }

    func testEachBeaconIsReportedOftenEnoughToBeTracked() async throws {
        for (isExperimental, capacity) in [(false, 4), (false, 1000), (true, 1000)] {
            let result = try await share(isExperimental: isExperimental, duplicateCapacity: capacity)
            print(
                "| D-Bus\(isExperimental ? " with a monitor" : ""), duplicate filter of \(capacity): "
                    + "\((result.share * 100).rounded()) % of 10 beacons at 10 Hz reported, "
                    + "longest silence \((result.longestSilence * 10).rounded() / 10) s")
            XCTAssertLessThan(result.longestSilence, 4, "seconds; monitor \(isExperimental), filter of \(capacity)")
            XCTAssertLessThanOrEqual(result.share, 1, "no report is invented")
        }
    }
}

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
