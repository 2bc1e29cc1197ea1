import IndoorLocalization
import XCTest

@testable import MQTTSharing

/// The limit of the tracked devices, and the devices that are forgotten first.
final class PresenceTrackerTests: XCTestCase {
    /// Adds devices in a room, numbered from 0.
    private func flood(
        _ tracker: inout PresenceTracker, _ count: Int, _ name: String = "junk", rooms: Set<String> = ["junk"],
        near: Set<String> = ["hall"]
    ) throws {
        for number in 0..<count {
            _ = tracker.update(try DeviceID("\(name)-\(number)"), in: rooms, near: near)
        }
    }

    func testANewcomerHasAPlaceAfterAnyNumberOfDevices() throws {
        var tracker = PresenceTracker()
        try flood(&tracker, 20_000)
        XCTAssertLessThanOrEqual(tracker.deviceCount, PresenceTracker.mostDevices)
        XCTAssertEqual(tracker.count(in: "junk"), tracker.deviceCount)
        let change = tracker.update(try DeviceID("fork"), in: ["hall"], near: ["hall"])
        XCTAssertEqual(change.entered, ["hall"])
        XCTAssertEqual(tracker.count(in: "hall"), 1)
        XCTAssertEqual(tracker.deviceCount + tracker.forgottenCount, 20_001)
    }

    func testDevicesInTheOwnRoomsAndVerifiedDevicesAreKept() throws {
        var tracker = PresenceTracker()
        _ = tracker.update(try DeviceID("near"), in: ["hall"], near: ["hall"])
        _ = tracker.update(try DeviceID("signed"), in: ["yard"], isVerified: true, near: ["hall"])
        try flood(&tracker, 20_000)
        XCTAssertEqual(tracker.count(in: "hall"), 1)
        XCTAssertEqual(tracker.count(in: "yard"), 1)
        // Forged devices in the own room displace unverified devices, but no verified one.
        try flood(&tracker, 20_000, "near", rooms: ["hall"])
        XCTAssertEqual(tracker.count(in: "yard"), 1)
    }

    func testDevicesThatSentMessagesAreKeptLonger() throws {
        var tracker = PresenceTracker()
        let active = try DeviceID("active")
        _ = tracker.update(active, in: ["hall", "active"], near: ["hall"])
        for _ in 0..<15 {
            try flood(&tracker, 1000, "near-\(Int.random(in: .min ... .max))", rooms: ["hall"])
            tracker.touch(active)
        }
        XCTAssertEqual(tracker.count(in: "active"), 1)
    }

    func testTheRoomsOfAllDevicesTogetherAreLimited() throws {
        var tracker = PresenceTracker()
        let rooms = Set((0..<64).map { "room \($0)" })
        try flood(&tracker, 2000, rooms: rooms)
        XCTAssertLessThanOrEqual(tracker.count(in: "room 1") * 64, PresenceTracker.mostRooms)
        XCTAssertEqual(tracker.count(in: "room 1"), tracker.deviceCount)
        for number in 0..<2000 { _ = tracker.update(try DeviceID("junk-\(number)"), in: nil) }
        XCTAssertEqual([tracker.deviceCount, tracker.count(in: "room 1")], [0, 0])
    }
}
