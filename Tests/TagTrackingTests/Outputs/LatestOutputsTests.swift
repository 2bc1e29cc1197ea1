import IndoorVocabulary
import LocalizationSession
import TagTracking
import VenueModel
import XCTest

final class LatestOutputsTests: XCTestCase {
    private func output(
        _ tag: String, _ epoch: UInt64, _ sequence: UInt64, _ content: FleetOutput.Content = .present
    ) -> FleetOutput {
        FleetOutput(
            tag: .name(tag), epoch: epoch, sequence: sequence,
            instant: Instant(nanoseconds: Int64(1000 * epoch + sequence) * 1_000_000_000), content: content)
    }

    private func position(_ x: Double, label: String? = nil, coordinate: Coordinate? = nil) -> FleetOutput.Content {
        .position(
            Position(
                instant: .zero, venueID: VenueID(rawValue: 1), mapID: MapID(rawValue: 1), point: MapPoint(x: x, y: 0),
                radius: 1, label: label, coordinate: coordinate))
    }

    // MARK: Filter

    func testAFilterDropsRepeatedAndOldOutputs() {
        var filter = OutputFilter()
        let steps: [(epoch: UInt64, sequence: UInt64, isAccepted: Bool)] = [
            (1, 1, true), (1, 1, false), (1, 3, true), (1, 2, false), (2, 1, true), (1, 4, false), (2, 1, false),
            (2, 2, true),
        ]
        for step in steps {
            XCTAssertEqual(filter.accepts(output("a", step.epoch, step.sequence)), step.isAccepted, "\(step)")
        }
        XCTAssertTrue(filter.accepts(output("b", 1, 1)), "each tag has its own sequence")
        XCTAssertEqual(filter.droppedCount, 4)
    }

    func testAFilterStoresAtMostItsCapacity() {
        var filter = OutputFilter(capacity: 100)
        for number in 0..<10_000 {
            XCTAssertTrue(filter.accepts(output("\(number)", 1, 2)))
            XCTAssertTrue(filter.accepts(output("busy", 1, UInt64(number + 1))))
            XCTAssertFalse(filter.accepts(output("busy", 1, UInt64(number + 1))), "a tag with outputs isn't forgotten")
            XCTAssertLessThanOrEqual(filter.tagCount, 100)
        }
    }

    // MARK: States

    func testATagThatIsAwayKeepsItsPositionAndHasNoRoom() throws {
        var latest = LatestOutputs()
        latest.add(output("a", 1, 1))
        latest.add(output("a", 1, 2, position(2, label: "Hall")))
        XCTAssertEqual(latest.tags[.name("a")]?.room, "Hall")
        latest.add(output("a", 1, 3, .away))
        let room = Room(id: 1, name: "Hall", mapID: MapID(rawValue: 1))
        latest.add(
            output(
                "a", 1, 4,
                .event(LocalizationEvent(instant: .zero, venueID: VenueID(rawValue: 1), kind: .exitRoom(room)))))
        let tag = try XCTUnwrap(latest.tags[.name("a")])
        XCTAssertFalse(tag.isPresent)
        XCTAssertEqual(tag.presenceInstant, Instant(nanoseconds: 1003 * 1_000_000_000))
        XCTAssertEqual(tag.sequence, 4)
        XCTAssertEqual(tag.position?.x, 2)
        XCTAssertNil(tag.room)
        latest.add(output("a", 2, 1))
        XCTAssertEqual(latest.tags[.name("a")]?.isPresent, true)
        XCTAssertFalse(latest.add(output("a", 1, 9, .away)), "an output of an earlier epoch has no effect")
        XCTAssertEqual(latest.tags[.name("a")]?.isPresent, true)
    }

    func testTagsThatAreAwayAreDiscardedFirst() {
        var latest = LatestOutputs(capacity: 100)
        for number in 0..<100 { latest.add(output("\(number)", 1, 1, number % 10 == 7 ? .away : .present)) }
        latest.add(output("new", 1, 1))
        XCTAssertEqual(latest.tags.count, 91)
        XCTAssertEqual(latest.discardedCount, 10)
        XCTAssertTrue(latest.tags.values.allSatisfy(\.isPresent))
    }

    // MARK: GeoJSON

    func testACollectionHasAPointForEachTagWithCoordinates() {
        var latest = LatestOutputs()
        latest.add(output("a", 1, 1, position(2, label: "Hall", coordinate: Coordinate(latitude: 52.5, longitude: 13))))
        latest.add(output("b", 1, 1, position(3)))
        latest.add(output("c", 1, 1))
        let collection = TagCollection(latest.tags.values.sorted { $0.tag < $1.tag })
        XCTAssertEqual(collection.count, 1)
        XCTAssertEqual(collection.omitted, 2)
        XCTAssertEqual(
            String(decoding: collection.bytes, as: UTF8.self),
            #"{"type":"FeatureCollection","features":[{"type":"Feature","id":"a","geometry":{"type":"Point","#
                + #""coordinates":[13.0000000,52.5000000]},"properties":{"tag":"a","present":true,"#
                + #""time":"1970-01-01T00:00:00.000Z","venueId":1,"mapId":1,"x":2.000,"y":0.000,"radius":1.000,"#
                + #""label":"Hall"}}],"omitted":2}"#)
    }
}
