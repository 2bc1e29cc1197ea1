import Foundation
import IndoorVocabulary
import MQTTSharing
import TagTracking
import TagTrackingService
import XCTest

/// The messages of alerts for a broker and for Home Assistant.
final class AlertMessageTests: XCTestCase {
    private typealias Stage = OutputStage

    private func event(_ number: Int, _ state: AlertEvent.State, of alert: Int = 1, rule: String = "In/out")
        -> AlertEvent
    {
        let time = Instant(nanoseconds: 1_795_338_000_000_000_000)
        return AlertEvent(
            id: "1-\(number)", alert: "1-\(alert)", state: state, rule: rule, condition: .leaves, area: "Ward",
            tag: .name("a"), instant: time, since: time)
    }

    private func texts(_ messages: [MQTTMessage]) -> [String] {
        messages.map { message in
            "\(message.topic) \(message.isRetained ? "retained" : "once") \(message.payload.isEmpty ? "empty" : "full")"
        }.sorted()
    }

    private func status(_ active: [AlertEvent], _ latest: [AlertEvent] = [], tags: Set<TagKey> = []) -> AlertStatus {
        AlertStatus(rules: AlertRules(), tags: tags, active: active, latest: latest)
    }

    func testAnAlertIsRetainedUntilItEnds() {
        var publisher = OutputPublisher(MQTTOutputSettings())
        publisher.add(event(1, .raised))
        let state = "indoorloc/v1/tags/a/alerts/In%2Fout"
        XCTAssertEqual(
            texts(publisher.confirmedMessages()), ["indoorloc/v1/tags/a/alerts once full", "\(state) retained full"])
        publisher.add(event(2, .repeated))
        XCTAssertEqual(texts(publisher.confirmedMessages()), ["indoorloc/v1/tags/a/alerts once full"])
        publisher.add(event(3, .cleared))
        XCTAssertEqual(
            texts(publisher.confirmedMessages()), ["indoorloc/v1/tags/a/alerts once full", "\(state) retained empty"])
        publisher.restate()
        XCTAssertEqual(publisher.confirmedMessages(), [])
    }

    func testABrokerThatWasAbsentGetsEachAlertOnceAndUnconfirmedOnesAgain() {
        var publisher = OutputPublisher(MQTTOutputSettings())
        publisher.use(status([event(1, .raised)]))
        for number in 2..<12 { publisher.add(event(number, number.isMultiple(of: 2) ? .cleared : .raised, rule: "B")) }
        var sent: [MQTTMessage] = []
        while let message = publisher.next() { sent.append(message) }
        XCTAssertEqual(sent.count(where: \.isRetained), 2)
        publisher.endConnection()
        publisher.restate()
        XCTAssertEqual(
            texts(publisher.confirmedMessages()).filter { $0.contains("retained") },
            [
                "indoorloc/v1/tags/a/alerts/B retained full", "indoorloc/v1/tags/a/alerts/In%2Fout retained full",
            ])
        XCTAssertTrue(publisher.isIdle)
    }

    func testAStatusWithoutAnAlertRemovesItsMessage() {
        var publisher = OutputPublisher(MQTTOutputSettings())
        publisher.use(status([event(1, .raised), event(2, .raised, rule: "B")]))
        _ = publisher.confirmedMessages()
        publisher.use(status([event(2, .raised, rule: "B")]))
        XCTAssertEqual(
            texts(publisher.confirmedMessages()),
            ["indoorloc/v1/tags/a/alerts/B retained full", "indoorloc/v1/tags/a/alerts/In%2Fout retained empty"])
    }

    func testAnAlertThatEndedBeforeTheProgramWasKilledIsRemovedAtTheStart() {
        var publisher = OutputPublisher(MQTTOutputSettings())
        publisher.use(status([event(1, .raised, rule: "B")], [event(0, .cleared), event(0, .cleared, rule: "B")]))
        XCTAssertEqual(
            texts(publisher.confirmedMessages()),
            ["indoorloc/v1/tags/a/alerts/B retained full", "indoorloc/v1/tags/a/alerts/In%2Fout retained empty"])
    }

    func testHomeAssistantGetsAnEventEntityOfEachTagThatARuleSelects() throws {
        var settings = MQTTOutputSettings()
        settings.homeAssistantPrefix = "homeassistant"
        settings.usesAlerts = true
        var publisher = OutputPublisher(settings)
        publisher.use(status([], tags: [.name("a")]))
        publisher.add(Stage.output("a", 1, .present))
        publisher.add(Stage.output("b", 1, .present))
        let sent = publisher.confirmedMessages()
        let topic = "homeassistant/event/indoorloc_tag_a_alert/config"
        let text = try XCTUnwrap(sent.last { $0.topic == topic })
        let json = try XCTUnwrap(JSONSerialization.jsonObject(with: Data(text.payload)) as? [String: Any])
        XCTAssertEqual(json["event_types"] as? [String], ["enters", "leaves", "silent", "batteryLow", "cleared"])
        XCTAssertEqual(json["state_topic"] as? String, "indoorloc/v1/tags/a/homeassistant/alerts")
        XCTAssertEqual(json["unique_id"] as? String, "indoorloc_tag_a_alert")
        XCTAssertNil(json["json_attributes_topic"], "an event has its attributes in its message")
        XCTAssertFalse(sent.contains { $0.topic.contains("/event/indoorloc_tag_b") && !$0.payload.isEmpty })

        publisher.add(event(1, .raised))
        publisher.add(event(2, .cleared))
        let events = try publisher.confirmedMessages().filter { $0.topic.hasSuffix("/homeassistant/alerts") }.map {
            message in
            XCTAssertFalse(message.isRetained)
            return try XCTUnwrap(JSONSerialization.jsonObject(with: Data(message.payload)) as? [String: Any])
        }
        XCTAssertEqual(events.map { $0["event_type"] as? String }, ["leaves", "cleared"])
        XCTAssertEqual(events.map { $0["area"] as? String }, ["Ward", "Ward"])

        publisher.use(status([]))
        XCTAssertEqual(texts(publisher.confirmedMessages()), ["\(topic) retained empty"])
        publisher.remove([.name("a")])
        XCTAssertTrue(publisher.confirmedMessages().contains { $0.topic == topic && $0.payload.isEmpty })
    }
}
