import BlueZScanning
import IndoorLocalization
import XCTest

/// As many advertisements as a crowded hall has, for as long as it takes to fill any buffer.
final class HCIStormGuestTests: GuestTestCase {
    func testOfAThousandAdvertisementsASecondForAMinuteNoneIsLost() async throws {
        let count = 60_000
        let controller = try await pluggedIn()
        let listening = listening(to: HCIScanSource())
        try await listening.wait(for: .scanning)
        let start = ContinuousClock.now
        try await controller.play((0..<count).map { (Double($0) / 1000, BeaconSeries.transmission($0)) })
        let sent = (ContinuousClock.now - start).seconds
        try await listening.waitForSightings(count)
        let heard = listening.heard.value
        BeaconSeries.assertHeard(0..<count, in: heard.sightings)
        XCTAssertEqual(controller.tally.reported, count)
        XCTAssertEqual(controller.tally.refusedByHost, 0)
        XCTAssertEqual(heard.statuses, [.scanning], "nothing was told lost")
        for (earlier, later) in zip(heard.readings, heard.readings.dropFirst()) where earlier.instant > later.instant {
            XCTFail("time runs backwards at \(later)")
        }
        // On a busy host the guest sends them more slowly: a figure to be told, not a fault of the scanner.
        print("| HCI: \(count) advertisements in \(sent.rounded()) s, none lost")
    }
}
