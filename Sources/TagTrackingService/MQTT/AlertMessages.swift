import MQTTSharing
import TagTracking
import TextFormats

/// The retained messages of alerts that last, and the order in which they are sent.
///
/// A message is composed when it is sent, so that a broker that is absent for a while gets each alert once.
struct AlertMessages: Sendable {
    /// The content by topic; empty for an alert that has ended, until the message is sent.
    private var contents: [String: [UInt8]] = [:]
    private var waiting = FirstInFirstOut<String>()
    private var isWaiting: Set<String> = []

    var isEmpty: Bool { isWaiting.isEmpty }

    /// Replaces the content of a topic; an empty one removes the message.
    mutating func set(_ content: [UInt8], for topic: String) {
        contents[topic] = content
        wait(for: topic)
    }

    /// Removes the messages of all other topics.
    mutating func keep(_ topics: Set<String>) {
        for (topic, content) in contents.sorted(by: { $0.key < $1.key })
        where !content.isEmpty && !topics.contains(topic) {
            set([], for: topic)
        }
    }

    /// Prepares to send a message again, such as after the end of a connection.
    mutating func wait(for topic: String) {
        if isWaiting.insert(topic).inserted { waiting.append(topic) }
    }

    /// Prepares to send all messages.
    mutating func restate() {
        for topic in contents.keys.sorted() { wait(for: topic) }
    }

    /// Returns the next message; nil if none waits.
    mutating func next() -> MQTTMessage? {
        guard let topic = waiting.popFirst() else { return nil }
        isWaiting.remove(topic)
        let content = contents[topic] ?? []
        if content.isEmpty { contents[topic] = nil }
        return MQTTMessage(topic: topic, payload: content, isRetained: true)
    }
}

extension TagDiscovery {
    /// The kinds of events that Home Assistant gets: the conditions of rules, and the end of an alert.
    static let alertTypes = AlertRule.Condition.allCases.map(\.rawValue) + [AlertEvent.State.cleared.rawValue]

    /// Returns the content of an event for Home Assistant, whose member `event_type` is one of ``alertTypes``.
    static func alert(_ event: AlertEvent) -> [UInt8] {
        var json = JSONWriter(reservingCapacity: 512)
        json.beginObject()
        json.add("event_type", event.state == .cleared ? event.state.rawValue : event.condition.rawValue)
        json.add("alert", event.alert)
        json.add("state", event.state.rawValue)
        json.add("rule", event.rule)
        json.add("when", event.condition.rawValue)
        json.add("area", event.area)
        json.add("tag", event.tag.description)
        json.add("name", event.name)
        json.add("room", event.position?.label)
        json.add("time", time: event.instant)
        json.add("since", time: event.since)
        event.battery?.write(to: &json)
        json.endObject()
        return json.bytes
    }
}
