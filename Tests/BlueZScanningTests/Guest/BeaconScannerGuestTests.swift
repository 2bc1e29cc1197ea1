import BlueZScanning
import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// A scanner with a real radio: the duty cycle, and region entries and exits.
final class BeaconScannerGuestTests: GuestTestCase {
    func testTheRadioRestsBetweenPassesAndUsesTheTimingOfThePowerMode() async throws {
        let controller = try await pluggedIn()
        var settings = ScannerSettings(powerMode: .aggressive)
        settings.dutyCycle = DutyCycle(scanDuration: .seconds(1), interval: .seconds(1))
        let scanner = BeaconScanner(source: HCIScanSource(), settings: settings)
        await scanner.start()
        for pass in 1...2 {
            try await controller.waitForScan()
            XCTAssertEqual(controller.scan.window, 48, "30 ms, in pass \(pass)")
            XCTAssertEqual(controller.scan.interval, 96, "60 ms, in pass \(pass)")
            try await controller.waitForScan(false)
        }
        await scanner.stop()
        let isScanning = await scanner.isScanning
        XCTAssertFalse(isScanning)
    }

    func testARegionIsEnteredAndLeftAndItsBeaconsAreRanged() async throws {
        let controller = try await pluggedIn()
        var settings = ScannerSettings(dutyCycle: .continuous)
        settings.regions.exitTimeout = .seconds(2)
        let scanner = BeaconScanner(source: HCIScanSource(), settings: settings)
        let kinds = WatchedState<[RegionEvent.Kind]>([])
        let ranged = WatchedState<[RegionRanging]>([])
        let observations = [
            scanner.watch(\.regionEvents) { event in kinds.update { $0.append(event.kind) } },
            scanner.watch(\.rangings) { ranging in ranged.update { $0.append(ranging) } },
        ]
        await scanner.track(BeaconRegion(uuid: BeaconSeries.uuid), id: "series")
        await scanner.start()
        try await controller.waitForScan()
        controller.hear([BeaconSeries.transmission(0), BeaconSeries.transmission(1)])
        try await Bounded.waitInGuest(for: "entry and exit") { try await kinds.wait { $0.count >= 2 } }
        await scanner.stop()
        XCTAssertEqual(kinds.value, [.enter, .exit])
        let first = try XCTUnwrap(ranged.value.first)
        XCTAssertEqual(first.regionID, "series")
        withExtendedLifetime(observations) {}
    }
}
