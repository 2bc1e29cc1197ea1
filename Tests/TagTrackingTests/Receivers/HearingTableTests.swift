import IndoorVocabulary
import TagTracking
import VenueModel
import XCTest

/// Who hears whom.
final class HearingTableTests: XCTestCase {
    private let venue: Venue = {
        var venue = Venue(
            id: 1, name: "House",
            maps: [VenueMap(id: MapID(rawValue: 1), name: "Floor", level: 0, width: 10, height: 10)])
        venue.receivers = ["Living room", "hall"].map { name in
            VenueReceiver(
                id: name, aliases: name == "hall" ? ["C4:7C:8D:00:01:01"] : [],
                identity: VenueReceiver.identity(for: name), mapID: MapID(rawValue: 1), point: MapPoint(x: 1, y: 1))
        }
        return venue
    }()

    private func reading(
        _ tag: String, _ receiver: String, _ rssi: Double, at seconds: Double = 0
    ) -> TagReading {
        TagReading(
            tag: .name(tag), receiver: receiver, instant: Instant(nanoseconds: Int64(seconds * 1_000_000_000)),
            rssi: rssi)
    }

    func testTheNamesOfOneReceiverAreOne() {
        var table = HearingTable(venue: venue)
        for name in ["living_room", "Living room", "LIVING ROOM"] { table.add(reading("a", name, -60)) }
        table.add(reading("a", "c47c8d000101", -50))
        table.add(reading("a", "attic", -90))
        let hearings = table.hearings(of: .name("a"))
        XCTAssertEqual(hearings.map(\.receiver), ["hall", "Living room", "attic"])
        XCTAssertEqual(hearings.map(\.isInVenue), [true, true, false])
        XCTAssertEqual(table.hearings(by: "C4-7C-8D-00-01-01")?.map(\.tag), [.name("a")])
        XCTAssertEqual(table.hearings(by: "attic")?.count, 1)
        XCTAssertNil(table.hearings(by: "cellar"))
        XCTAssertEqual(table.hearings(of: .name("b")), [])
    }

    func testTheMeanFollowsTheLatestReadingsAndTheTimeIsTheNewest() throws {
        var table = HearingTable(venue: venue)
        for (second, rssi) in [-60.0, -70, -80].enumerated() {
            table.add(reading("a", "hall", rssi, at: Double(second)))
        }
        var hearing = try XCTUnwrap(table.hearings(of: .name("a")).first)
        XCTAssertEqual(hearing.rssi, -70, accuracy: 0.001)
        XCTAssertEqual(hearing.latestRSSI, -80)
        // A late reading counts for the mean, and not as the latest one.
        table.add(reading("a", "hall", -50, at: 1))
        hearing = try XCTUnwrap(table.hearings(of: .name("a")).first)
        XCTAssertEqual(hearing.rssi, -65, accuracy: 0.001)
        XCTAssertEqual(hearing.latestRSSI, -80)
        XCTAssertEqual(table.lastReading(of: .name("a")), Instant(nanoseconds: 2_000_000_000))
        for second in 3..<100 { table.add(reading("a", "hall", -40, at: Double(second))) }
        XCTAssertEqual(try XCTUnwrap(table.hearings(of: .name("a")).first).rssi, -40, accuracy: 0.1)
    }

    func testTheTagAndTheReceiverThatWereHeardLongestAgoLeaveFirst() {
        var table = HearingTable(venue: venue, mostTags: 2)
        for (second, tag) in ["a", "b", "a", "c"].enumerated() {
            table.add(reading(tag, "hall", -60, at: Double(second)))
        }
        XCTAssertEqual(table.heardTags, [.name("a"), .name("c")])
        XCTAssertNil(table.lastReading(of: .name("b")))
        for number in 0...HearingTable.Limit.receivers {
            table.add(reading("a", "gateway \(number)", -70, at: 10 + Double(number)))
        }
        let receivers = Set(table.hearings(of: .name("a")).map(\.receiver))
        XCTAssertEqual(receivers.count, HearingTable.Limit.receivers)
        XCTAssertFalse(receivers.contains("hall"))
        XCTAssertFalse(receivers.contains("gateway 0"))
        table.remove([.name("a")])
        XCTAssertEqual(table.heardTags, [.name("c")])
    }
}
