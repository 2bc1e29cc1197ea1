import BlueZScanning
import IndoorLocalization
import XCTest

/// As many advertisements as in a crowded hall, for long enough to fill any buffer.
final class HCIStormGuestTests: GuestTestCase {
    func testNoAdvertisementIsLostAtAThousandASecondForAMinute() async throws {
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
        XCTAssertEqual(heard.statuses, [.scanning], "no loss was reported")
        for (earlier, later) in zip(heard.readings, heard.readings.dropFirst()) where earlier.instant > later.instant {
            XCTFail("an instant precedes its predecessor: \(later)")
        }
        // On a busy host the guest sends more slowly: the test prints the rate but doesn't fail.
        print("| HCI: \(count) advertisements in \(sent.rounded()) s, none lost")
    }
}
