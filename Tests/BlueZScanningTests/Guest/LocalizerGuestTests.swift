import BlueZScanning
import IndoorLocalization
import IndoorLocalizationTesting
import VenuePackets
import XCTest

/// From bytes on the air to positions: a walk through the office, in real time.
final class LocalizerGuestTests: GuestTestCase {
    func testTheLocalizerFollowsAWalkOverTheRawRoute() async throws {
        let walk = try OfficeWalk("one-floor", seed: 101)
        let controller = try await pluggedIn()
        let capture = try await capturing(to: "walk-legacy.btsnoop")
        let outcome = try await localize(walk, over: HCIScanSource(), playing: controller)
        try assertGood(outcome, walk)
        XCTAssertEqual(controller.tally.reported, walk.schedule.count)
        try await assertComplete(capture, walk)
    }

    func testTheLocalizerFollowsAWalkThroughBluetoothd() async throws {
        let walk = try OfficeWalk("one-floor", seed: 101)
        let controller = try await pluggedIn()
        let services = try await services()
        try await services.waitForPower(true, of: controller)
        let outcome = try await localize(walk, over: BlueZScanSource(), playing: controller)
        try assertGood(outcome, walk)
    }
}

/// The same with the extended advertisements of Bluetooth 5, including long ones.
final class ExtendedLocalizerGuestTests: GuestTestCase {
    func testTheLocalizerFollowsAWalkAmongExtendedAdvertisers() async throws {
        let walk = try OfficeWalk("one-floor", seed: 101, isExtended: true)
        let controller = try await pluggedIn(.bluetooth5)
        let capture = try await capturing(to: "walk-extended.btsnoop")
        let outcome = try await localize(walk, over: HCIScanSource(content: .everything), playing: controller)
        try assertGood(outcome, walk)
        XCTAssertEqual(controller.tally.reported, walk.schedule.count)
        try await assertComplete(capture, walk)
    }
}
