import BlueZScanning
import IndoorLocalization
import IndoorLocalizationTesting
import VenuePackets
import XCTest

/// From bytes on the air to positions: a walk through the office, in real time.
final class LocalizerGuestTests: GuestTestCase {
    func testAWalkOverTheRawRouteIsFollowed() async throws {
        let walk = try OfficeWalk("one-floor", seed: 101)
        let controller = try await pluggedIn()
        let capture = try await capturing(to: "walk-legacy.btsnoop")
        let told = try await localize(walk, over: HCIScanSource(), playing: controller)
        try assertGood(told, walk)
        XCTAssertEqual(controller.tally.reported, walk.schedule.count)
        try await assertComplete(capture, walk)
    }

    func testAWalkThroughBluetoothdIsFollowed() async throws {
        let walk = try OfficeWalk("one-floor", seed: 101)
        let controller = try await pluggedIn()
        let services = try await services()
        try await services.waitForPower(true, of: controller)
        let told = try await localize(walk, over: BlueZScanSource(), playing: controller)
        try assertGood(told, walk)
    }
}

/// The same with the advertisements of Bluetooth 5, and long ones among them.
final class ExtendedLocalizerGuestTests: GuestTestCase {
    func testAWalkAmongExtendedAdvertisersIsFollowed() async throws {
        let walk = try OfficeWalk("one-floor", seed: 101, isExtended: true)
        let controller = try await pluggedIn(.bluetooth5)
        let capture = try await capturing(to: "walk-extended.btsnoop")
        let told = try await localize(walk, over: HCIScanSource(content: .everything), playing: controller)
        try assertGood(told, walk)
        XCTAssertEqual(controller.tally.reported, walk.schedule.count)
        try await assertComplete(capture, walk)
    }
}
