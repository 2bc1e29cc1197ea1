import BlueZScanning
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
