import IndoorLocalization
import XCTest

@testable import TagTracking

final class ReceiverDirectoryTests: XCTestCase {
    private func receiver(_ id: String, _ aliases: String...) -> VenueReceiver {
        VenueReceiver(
            id: id, aliases: aliases, identity: BeaconIdentity(uuid: BeaconUUID(high: 9, low: 9), major: 0, minor: 0),
            mapID: 1, point: MapPoint(x: 0, y: 0))
    }

    func testNamesMatchInTheFormsThatFirmwareWrites() {
        let directory = ReceiverDirectory([
            receiver("Living room", "AA:BB:CC:DD:EE:0F"), receiver("gateway/2", "c0ffee000001"), receiver("Küche"),
        ])
        let names: [(String, Int?)] = [
            ("Living room", 0), ("living_room", 0), ("LIVING-ROOM", 0), ("aabbccddee0f", 0), ("AA-BB-CC-DD-EE-0F", 0),
            ("aa:bb:cc:dd:ee:0f", 0), ("gateway/2", 1), ("Gateway 2", 1), ("C0:FF:EE:00:00:01", 1), ("küche", 2),
            ("kitchen", nil), ("", nil), ("aabbccddee00", nil),
        ]
        for (name, index) in names { XCTAssertEqual(directory.index(of: name), index, name) }
    }

    func testAnExactNameHasPrecedenceAndASharedFormIsUnknown() {
        let directory = ReceiverDirectory([receiver("hall 1"), receiver("Hall-1")])
        XCTAssertEqual(directory.index(of: "hall 1"), 0)
        XCTAssertEqual(directory.index(of: "Hall-1"), 1)
        XCTAssertNil(directory.index(of: "HALL_1"))
    }

    func testATagWithTheNameOfARoomIsNoReceiver() {
        let directory = ReceiverDirectory([receiver("kitchen")])
        XCTAssertNil(directory.index(of: .name("kitchen")))
        XCTAssertEqual(directory.index(of: .name("node:kitchen")), 0)
    }
}
