import IndoorVocabulary
import TagTracking
import VenueModel
import XCTest

final class RecordedTagsTests: XCTestCase {
    private func instant(_ seconds: Double) -> Instant { Instant(seconds: 1_795_338_000 + seconds) }

    private func output(_ content: FleetOutput.Content, of tag: TagKey, at seconds: Double) -> FleetOutput {
        FleetOutput(tag: tag, epoch: 1, sequence: 1, instant: instant(seconds), content: content)
    }

    private func position(of tag: TagKey, x: Double, map: MapID = 1, at seconds: Double) -> FleetOutput {
        output(
            .position(
                Position(
                    instant: instant(seconds), venueID: 1, mapID: map, point: MapPoint(x: x, y: 2), radius: 2)),
            of: tag, at: seconds)
    }

    /// Returns a choice with tags that have moved by six metres, the first tag first, at the first seconds.
    private func moved(_ tags: [TagKey], _ limits: RecordedTags.Limits = RecordedTags.Limits()) -> RecordedTags {
        var choice = RecordedTags(limits: limits)
        for tag in tags {
            choice.add(position(of: tag, x: 1, at: 0))
            choice.add(position(of: tag, x: 7, at: 1))
        }
        return choice
    }

    private let (cart, pallet, bed) = (TagKey.name("cart"), TagKey.name("pallet"), TagKey.name("bed"))

    func testATagIsRecordedFromItsMovementUntilItRests() {
        var choice = RecordedTags()
        choice.add(position(of: cart, x: 1, at: 0))
        choice.add(position(of: cart, x: 5.9, at: 10))
        XCTAssertEqual(choice.advance(to: instant(10)), [])
        XCTAssertEqual(choice.tags, [], "positions of a tag at rest vary by less than 5 m")
        choice.add(position(of: cart, x: 6.1, at: 20))
        XCTAssertEqual(choice.advance(to: instant(20)), [])
        XCTAssertEqual(choice.tags, [cart])
        choice.add(position(of: cart, x: 9, at: 310))
        XCTAssertEqual(choice.advance(to: instant(310)), [])
        XCTAssertEqual(choice.tags, [cart])
        choice.add(position(of: cart, x: 9, at: 320))
        XCTAssertEqual(choice.advance(to: instant(320)), [cart], "five minutes without a movement")
        XCTAssertEqual(choice.tags, [])
        for hour in 1...10 {
            choice.add(position(of: cart, x: 9, at: 3600 * Double(hour)))
            XCTAssertEqual(choice.advance(to: instant(3600 * Double(hour))), [])
            XCTAssertEqual(choice.tags, [], "a tag at rest isn't recorded")
        }
        choice.add(position(of: cart, x: 9, map: 2, at: 40_000))
        _ = choice.advance(to: instant(40_000))
        XCTAssertEqual(choice.tags, [cart], "another floor is a movement")
    }

    func testARecordingHasAnHourAtMost() {
        var choice = moved([cart])
        _ = choice.advance(to: instant(1))
        var ended: [Double] = []
        for minute in 1...130 {
            let seconds = 60 * Double(minute)
            choice.add(position(of: cart, x: minute % 2 == 0 ? 1 : 7, at: seconds))
            if choice.advance(to: instant(seconds)) == [cart] { ended.append(seconds) }
            XCTAssertEqual(choice.tags, [cart], "no other tag waits")
        }
        XCTAssertEqual(ended, [3660, 7260])
    }

    func testTagsAreRecordedInTurn() {
        var limits = RecordedTags.Limits()
        limits.recorded = 1
        let tags = [bed, cart, pallet]
        var choice = moved(tags, limits)
        var order: [TagKey] = []
        for minute in 0...(7 * 60) {
            let seconds = 60 * Double(minute) + 2
            for tag in tags { choice.add(position(of: tag, x: minute % 2 == 0 ? 1 : 7, at: seconds)) }
            _ = choice.advance(to: instant(seconds))
            XCTAssertEqual(choice.tags.count, 1)
            if let tag = choice.tags.first, order.last != tag { order.append(tag) }
        }
        XCTAssertEqual(order.prefix(7), [bed, cart, pallet, bed, cart, pallet, bed])
    }

    func testATagThatIsAwayOrRemovedIsNotRecorded() {
        var choice = moved([cart, pallet])
        _ = choice.advance(to: instant(2))
        XCTAssertEqual(choice.tags, [cart, pallet])
        choice.add(output(.away, of: cart, at: 5))
        XCTAssertEqual(choice.advance(to: instant(5)), [cart])
        choice.remove([pallet])
        XCTAssertEqual(choice.tags, [])
        XCTAssertEqual(choice.advance(to: instant(7)), [])
        choice.add(position(of: cart, x: 7, at: 8))
        _ = choice.advance(to: instant(8))
        XCTAssertEqual(choice.tags, [], "a tag that returns hasn't moved yet")
    }

    func testOfManyTagsALimitedNumberIsRecordedAndKnown() {
        var limits = RecordedTags.Limits()
        limits.known = 500
        let tags = (0..<2000).map { TagKey.name("tag \($0)") }
        var choice = moved(tags, limits)
        _ = choice.advance(to: instant(2))
        XCTAssertEqual(choice.tags.count, RecordedTags.Limits().recorded)
        XCTAssertTrue(choice.tags.isSubset(of: tags.suffix(500)), "the others are forgotten")
        // Those that are recorded are forgotten when others are heard.
        let others = (0..<500).map { TagKey.name("other \($0)") }
        for tag in others { choice.add(position(of: tag, x: 1, at: 10)) }
        XCTAssertEqual(choice.advance(to: instant(10)).count, RecordedTags.Limits().recorded)
        XCTAssertEqual(choice.tags, [])
    }
}
