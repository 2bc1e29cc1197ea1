import TagTracking
import XCTest

final class TopicFormatTests: XCTestCase {
    func testAFilterMatchesTopicsAsInMQTT() {
        for (filter, topic, matches) in [
            ("a/b", "a/b", true), ("a/b", "a/b/c", false), ("a/b/c", "a/b", false), ("a/+", "a/b", true),
            ("a/+", "a", false), ("a/+", "a/", true), ("+/b", "a/b", true), ("a/+/c", "a/b/c", true),
            ("a/#", "a/b/c", true), ("a/#", "a", true), ("#", "", true), ("a/#", "b/a", false), ("", "a", false),
            ("a/+b", "a/xb", false),
        ] {
            XCTAssertEqual(TopicFormat(filter: filter, format: .ruuvi).matches(topic), matches, "\(filter) \(topic)")
        }
    }
}
