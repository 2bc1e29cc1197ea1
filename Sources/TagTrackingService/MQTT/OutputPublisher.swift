import IndoorVocabulary
import MQTTSharing
import SessionMetrics
import TagTracking
import TextFormats
import VenueModel

/// The state machine that converts outputs into messages. It determines the next message, and which messages are sent
/// again after a lost connection.
///
/// Retained messages are composed when they are sent, from the latest output of the tag, so that a slow broker gets
/// fewer positions, never older ones. Events wait in a bounded queue.
package struct OutputPublisher: Sendable {
    /// The numbers of messages.
    package struct Counters: Hashable, Sendable {
        /// The number of messages that the broker confirmed.
        package var confirmed = 0
        /// The number of messages that the broker refused.
        package var refused = 0
        /// The number of events that were discarded because too many waited.
        package var lostEvents = 0
        /// The number of positions that were replaced by a newer one before they were sent.
        package var replacedPositions = 0
        /// The number of outputs of tags beyond the limit.
        package var refusedOutputs = 0
    }

    /// The retained messages of a tag.
    private struct Kinds: OptionSet {
        let rawValue: UInt16

        static let tracker = Kinds(rawValue: 1)
        static let area = Kinds(rawValue: 2)
        static let presence = Kinds(rawValue: 4)
        static let position = Kinds(rawValue: 8)
        static let state = Kinds(rawValue: 16)
        static let alert = Kinds(rawValue: 32)
        static let companionTracker = Kinds(rawValue: 64)
        static let companionState = Kinds(rawValue: 128)
        static let companionAttributes = Kinds(rawValue: 256)
        /// The removal of the retained room or position that an earlier process left, which had the other kind of place.
        static let otherPlace = Kinds(rawValue: 512)
        static let discovery: Kinds = [.tracker, .area, .state, .alert]
    }

    private struct Tag {
        var name: String?
        var presence: FleetOutput?
        var position: FleetOutput?
        /// The messages that are to be sent; the tag is in the queue if there are any.
        var waiting: Kinds = []
        /// The time of the last state for Home Assistant, and its room and presence.
        var stateInstant: Instant?
        var stateRoom: String?
        var stateIsAway = false
        var isGeoreferenced = false
        /// The state for dashboards of ESPresense-companion.
        var companionState: String?
    }

    private enum Sent {
        case retained(TagKey, Kinds)
        case once(MQTTMessage)
        case alert(topic: String)
    }

    private let settings: MQTTOutputSettings
    private let topics: OutputTopics
    private let discovery: TagDiscovery?
    private let companion: CompanionMessages?
    private var homeAssistantTags: Set<TagKey>?
    private var tags: [TagKey: Tag] = [:]
    /// The tags that are away.
    private var away: Set<TagKey> = []
    /// The tags that another process publishes now, until the end of the connection.
    private var forgotten: Set<TagKey> = []
    private var queue = FirstInFirstOut<TagKey>()
    private var events = FirstInFirstOut<MQTTMessage>()
    /// The retained messages that aren't of a tag any more, or of none.
    private var removals = FirstInFirstOut<MQTTMessage>()
    private var alerts = AlertMessages()
    /// The tags whose alerts Home Assistant gets.
    private var alertTags: Set<TagKey> = []
    /// The messages without the broker's confirmation. A broker confirms in the order of the messages (MQTT 3.1.1,
    /// section 4.6).
    private var unconfirmed = FirstInFirstOut<Sent>()
    /// Whether the next message is an event, if both wait.
    private var isEventNext = true
    package private(set) var counters = Counters()

    /// Creates a publisher without tags.
    package init(_ settings: MQTTOutputSettings) {
        self.settings = settings
        topics = settings.topics
        discovery = settings.homeAssistantPrefix.map { [topics] in TagDiscovery(prefix: $0, topics: topics) }
        companion = settings.companion.map { [topics] house in
            CompanionMessages(house: house, availabilityTopic: topics.status)
        }
        homeAssistantTags = settings.homeAssistantTags
    }

    /// The topic of Home Assistant's birth message; nil without Home Assistant.
    package var birthTopic: String? {
        discovery?.birthTopic ?? companion.map { _ in "\(HomeAssistantDiscovery.standardPrefix)/status" }
    }
    /// The last message before the end of the connection; nil for none.
    package var farewell: MQTTMessage? { companion.map { _ in CompanionMessages.status(isOnline: false) } }
    /// The number of tags with retained messages.
    package var tagCount: Int { tags.count }
    /// Whether the broker has confirmed all messages.
    package var isIdle: Bool {
        queue.isEmpty && events.isEmpty && removals.isEmpty && alerts.isEmpty && unconfirmed.isEmpty
    }

    // MARK: Outputs

    /// Adds an output.
    package mutating func add(_ output: FleetOutput) {
        if forgotten.remove(output.tag) != nil {
            // The other process may have published others meanwhile.
            tags[output.tag]?.presence = nil
            tags[output.tag]?.position = nil
            away.remove(output.tag)
        }
        if tags[output.tag] == nil {
            guard tags.count < settings.tagLimit || discardAway() else {
                counters.refusedOutputs += 1
                return
            }
            tags[output.tag] = Tag(name: output.name)
            if usesHomeAssistant(output.tag) { wait(for: .discovery, of: output.tag) }
            if usesCompanion(output.tag) { wait(for: .companionTracker, of: output.tag) }
            if settings.hasTrainedRooms != nil { wait(for: .otherPlace, of: output.tag) }
        }
        switch output.content {
        case .present, .away:
            tags[output.tag]?.presence = output
            if output.content == .away { away.insert(output.tag) } else { away.remove(output.tag) }
            wait(for: .presence, of: output.tag)
        case .position(let position): add(output, position.coordinate != nil)
        case .room: add(output, false)
        case .event: addEvent(MQTTMessage(topic: topics.events(of: output.tag), payload: output.jsonBytes))
        }
        if let name = output.name, tags[output.tag]?.name != name {
            tags[output.tag]?.name = name
            if usesHomeAssistant(output.tag) { wait(for: .discovery, of: output.tag) }
        }
        updateState(of: output.tag, at: output.instant)
        updateCompanion(of: output.tag)
    }

    /// Publishes another state at once. The attributes follow each position, as there.
    private mutating func updateCompanion(of key: TagKey) {
        guard let companion, usesCompanion(key), let tag = tags[key] else { return }
        let state = companion.state(presence: tag.presence, position: tag.position)
        if state != tag.companionState {
            tags[key]?.companionState = state
            wait(for: .companionState, of: key)
        }
        if tag.waiting.contains(.position) { wait(for: .companionAttributes, of: key) }
    }

    private func usesCompanion(_ key: TagKey) -> Bool { companion?.has(key) ?? false }

    private mutating func addEvent(_ message: MQTTMessage) {
        if events.count >= settings.eventLimit, events.popFirst() != nil { counters.lostEvents += 1 }
        events.append(message)
    }

    // MARK: Alerts

    /// Adds an event of an alert.
    package mutating func add(_ event: AlertEvent) {
        addEvent(MQTTMessage(topic: topics.alerts(of: event.tag), payload: event.jsonBytes))
        if usesHomeAssistant(event.tag), alertTags.contains(event.tag) {
            addEvent(
                MQTTMessage(topic: topics.homeAssistantAlerts(of: event.tag), payload: TagDiscovery.alert(event)))
        }
        // A repetition changes nothing about an alert that lasts.
        guard event.state != .repeated else { return }
        alerts.set(event.state == .cleared ? [] : event.jsonBytes, for: topics.alert(event.rule, of: event.tag))
    }

    /// Uses the alerts at the start, at the end or after a change, and other tags with alerts.
    package mutating func use(_ status: AlertStatus) {
        // A process that was killed can have left the message of an alert that has ended.
        for event in status.latest where event.state == .cleared {
            alerts.set([], for: topics.alert(event.rule, of: event.tag))
        }
        alerts.keep(Set(status.active.map { topics.alert($0.rule, of: $0.tag) }))
        for event in status.active { alerts.set(event.jsonBytes, for: topics.alert(event.rule, of: event.tag)) }
        let changed = alertTags.symmetricDifference(status.tags)
        alertTags = status.tags
        for key in changed.sorted() where usesHomeAssistant(key) { wait(for: .alert, of: key) }
    }

    // MARK: Tags

    /// Removes the tags that are away for the longest time, a tenth of the limit at once; returns whether there were any.
    private mutating func discardAway() -> Bool {
        guard forgotten.isEmpty else {
            removeForgotten()
            return true
        }
        let oldest = away.sorted {
            let (left, right) = (tags[$0]?.presence?.instant ?? .zero, tags[$1]?.presence?.instant ?? .zero)
            return (left, $0) < (right, $1)
        }
        remove(oldest.prefix(max(1, settings.tagLimit / 10)))
        return !oldest.isEmpty
    }

    private mutating func add(_ output: FleetOutput, _ isGeoreferenced: Bool) {
        guard var tag = tags[output.tag] else { return }
        if tag.waiting.contains(.position) { counters.replacedPositions += 1 }
        tag.position = output
        let isChanged = tag.isGeoreferenced != isGeoreferenced
        tag.isGeoreferenced = isGeoreferenced
        // A machine that continues from a snapshot doesn't repeat the presence of its tags.
        if tag.presence == nil {
            tag.presence = output
            tag.presence?.content = .present
            tags[output.tag] = tag
            wait(for: .presence, of: output.tag)
        } else {
            tags[output.tag] = tag
        }
        wait(for: .position, of: output.tag)
        if isChanged, usesHomeAssistant(output.tag) { wait(for: .tracker, of: output.tag) }
    }

    private mutating func updateState(of key: TagKey, at instant: Instant) {
        guard usesHomeAssistant(key), var tag = tags[key] else { return }
        let room = tag.position?.content.label
        let isAway = tag.presence?.content == .away
        let isDue = tag.stateInstant.map { $0.duration(to: instant) >= settings.homeAssistantInterval } ?? true
        guard isDue || room != tag.stateRoom || isAway != tag.stateIsAway else { return }
        (tag.stateInstant, tag.stateRoom, tag.stateIsAway) = (instant, room, isAway)
        tags[key] = tag
        wait(for: .state, of: key)
    }

    private func usesHomeAssistant(_ key: TagKey) -> Bool {
        discovery != nil && homeAssistantTags?.contains(key) ?? true
    }

    private mutating func wait(for kinds: Kinds, of key: TagKey) {
        guard let waiting = tags[key]?.waiting else { return }
        tags[key]?.waiting.formUnion(kinds)
        if waiting.isEmpty { queue.append(key) }
    }

    // MARK: Tags that leave

    /// Removes the retained messages of tags.
    package mutating func remove(_ keys: some Sequence<TagKey>) {
        for key in keys {
            // This includes a tag that an earlier process published and that this one hasn't seen.
            if tags[key] == nil || usesHomeAssistant(key) { withdraw(key) }
            // If the tag is still in the queue, ``last()`` finds no message for it.
            tags[key] = nil
            away.remove(key)
            forgotten.remove(key)
            for topic in [topics.position(of: key), topics.presence(of: key)] { clear(topic) }
            if settings.hasTrainedRooms != nil { clear(topics.room(of: key)) }
            guard let topics = companion?.topics(of: key) else { continue }
            for topic in [topics.tracker, topics.state, topics.attributes] { clear(topic) }
        }
    }

    /// Forgets tags that another process publishes now. What waits is still sent over this connection. A later one doesn't
    /// state them again, because the messages of the other process are newer.
    package mutating func forget(_ isForgotten: (TagKey) -> Bool) { forgotten.formUnion(tags.keys.filter(isForgotten)) }

    private mutating func removeForgotten() {
        for key in forgotten {
            tags[key] = nil
            away.remove(key)
        }
        forgotten = []
    }

    /// Selects the tags that Home Assistant gets; nil for all. Tags that are no longer selected are removed from it.
    package mutating func useHomeAssistant(for selected: Set<TagKey>?) {
        let before = Set(tags.keys.filter(usesHomeAssistant))
        homeAssistantTags = selected
        let after = Set(tags.keys.filter(usesHomeAssistant))
        for key in before.subtracting(after).sorted() {
            tags[key]?.waiting.subtract(.discovery)
            tags[key]?.stateInstant = nil
            withdraw(key)
        }
        for key in after.subtracting(before).sorted() { wait(for: .discovery, of: key) }
    }

    private mutating func withdraw(_ key: TagKey) {
        guard let discovery else { return }
        for topic in [discovery.trackerTopic(of: key), discovery.areaTopic(of: key), topics.homeAssistant(of: key)] {
            clear(topic)
        }
        if settings.usesAlerts { clear(discovery.alertTopic(of: key)) }
    }

    private mutating func clear(_ topic: String) {
        removals.append(MQTTMessage(topic: topic, payload: [], isRetained: true))
    }

    // MARK: Connection

    /// Prepares to send all retained messages, because the broker may have lost them.
    package mutating func restate() {
        removeForgotten()
        alerts.restate()
        if companion != nil { removals.append(CompanionMessages.status(isOnline: true)) }
        for key in tags.keys {
            var kinds: Kinds = usesHomeAssistant(key) ? .discovery : []
            if usesCompanion(key) { kinds.formUnion([.companionTracker, .companionState, .companionAttributes]) }
            if tags[key]?.presence != nil { kinds.insert(.presence) }
            if tags[key]?.position != nil { kinds.insert(.position) }
            wait(for: kinds, of: key)
        }
    }

    /// Prepares to send the configurations and states for Home Assistant, which has started.
    package mutating func restateForHomeAssistant() {
        for key in tags.keys where usesHomeAssistant(key) { wait(for: .discovery, of: key) }
        for key in tags.keys where usesCompanion(key) { wait(for: .companionTracker, of: key) }
    }

    /// Records that the connection ended: messages without a confirmation are to be sent again.
    package mutating func endConnection() {
        removeForgotten()
        var repeated: [MQTTMessage] = []
        while let sent = unconfirmed.popFirst() {
            switch sent {
            case .retained(let key, let kinds): wait(for: kinds, of: key)
            case .once(let message): repeated.append(message)
            case .alert(let topic): alerts.wait(for: topic)
            }
        }
        events.prepend(repeated.filter { !$0.isRetained })
        removals.prepend(repeated.filter(\.isRetained))
    }

    /// Records that the broker confirmed the oldest message.
    package mutating func confirm() {
        if unconfirmed.popFirst() != nil { counters.confirmed += 1 }
    }

    /// Records that the broker refused a message: the oldest one if its confirmation is awaited, or another one.
    package mutating func refuse(isAwaited: Bool) {
        if isAwaited { _ = unconfirmed.popFirst() }
        counters.refused += 1
    }

    /// Returns the next message; nil if none waits, or too many wait for their confirmation.
    package mutating func next() -> MQTTMessage? { unconfirmed.count < settings.window ? last() : nil }

    /// Returns the next message regardless of the confirmations, before the end of the connection; nil if none waits.
    package mutating func last() -> MQTTMessage? {
        if let message = removals.popFirst() { return send(message) }
        if let message = alerts.next() {
            unconfirmed.append(.alert(topic: message.topic))
            return message
        }
        defer { isEventNext.toggle() }
        if isEventNext, let message = events.popFirst() { return send(message) }
        while let key = queue.first {
            guard let kind = tags[key]?.waiting.first else {
                // The tag was removed.
                queue.removeFirst()
                continue
            }
            tags[key]?.waiting.remove(kind)
            if tags[key]?.waiting.isEmpty == true { queue.removeFirst() }
            guard let message = message(kind, of: key) else { continue }
            unconfirmed.append(.retained(key, kind))
            return message
        }
        return events.popFirst().map { send($0) }
    }

    private mutating func send(_ message: MQTTMessage) -> MQTTMessage {
        unconfirmed.append(.once(message))
        return message
    }

    private func message(_ kind: Kinds, of key: TagKey) -> MQTTMessage? {
        guard let tag = tags[key] else { return nil }
        func retained(_ topic: String, _ payload: [UInt8]) -> MQTTMessage {
            MQTTMessage(topic: topic, payload: payload, isRetained: true)
        }
        switch kind {
        case .tracker:
            return discovery.map {
                retained(
                    $0.trackerTopic(of: key), $0.tracker(of: key, name: tag.name, isGeoreferenced: tag.isGeoreferenced))
            }
        case .area: return discovery.map { retained($0.areaTopic(of: key), $0.area(of: key, name: tag.name)) }
        case .alert:
            guard settings.usesAlerts else { return nil }
            return discovery.map {
                retained($0.alertTopic(of: key), alertTags.contains(key) ? $0.alert(of: key, name: tag.name) : [])
            }
        case .companionTracker:
            guard let companion, let topic = companion.topics(of: key)?.tracker else { return nil }
            return companion.tracker(of: key, name: tag.name).map { retained(topic, $0) }
        case .companionState:
            guard let companion, let topic = companion.topics(of: key)?.state else { return nil }
            return retained(
                topic, Array(companion.state(presence: tag.presence, position: tag.position).utf8))
        case .companionAttributes:
            guard let companion, let topic = companion.topics(of: key)?.attributes else { return nil }
            return companion.attributes(position: tag.position).map { retained(topic, $0) }
        case .otherPlace:
            return settings.hasTrainedRooms.map {
                retained($0 ? topics.position(of: key) : topics.room(of: key), [])
            }
        case .presence: return tag.presence.map { retained(topics.presence(of: key), $0.jsonBytes) }
        case .position:
            return tag.position.map { output in
                if case .room = output.content { return retained(topics.room(of: key), output.jsonBytes) }
                return retained(topics.position(of: key), output.jsonBytes)
            }
        default:
            return retained(
                topics.homeAssistant(of: key), TagDiscovery.state(presence: tag.presence, position: tag.position))
        }
    }
}

extension OptionSet where RawValue == UInt16 {
    /// The element with the lowest bit; nil for the empty set.
    fileprivate var first: Self? { rawValue == 0 ? nil : Self(rawValue: rawValue & ~(rawValue &- 1)) }
}

extension OutputPublisher.Counters {
    /// The metrics of the published messages.
    package var families: [MetricFamily] {
        func counter(_ name: String, _ count: Int, _ help: String) -> MetricFamily {
            MetricFamily("indoorloc_output_" + name, .counter, help: help, samples: [.init(.number(Double(count)))])
        }
        return [
            counter("confirmed_messages", confirmed, "Published messages that the broker confirmed."),
            counter(
                "refused_messages", refused, "Published messages that the broker refused; known only with MQTT 5."),
            counter("lost_events", lostEvents, "Events that were discarded, as too many waited for the broker."),
            counter(
                "replaced_positions", replacedPositions,
                "Positions that a newer one replaced before they were published."),
        ]
    }
}

/// The topics of a fleet's outputs under a prefix.
package struct OutputTopics: Hashable, Sendable {
    /// The prefix, without a slash at its end.
    package let prefix: String
    /// The name of the fleet or, with several processes, of this one.
    package let instance: String

    /// Creates the topics.
    package init(prefix: String, instance: String) { (self.prefix, self.instance) = (prefix, instance) }

    /// The last level of the topic of the status.
    static let statusLevel = "status"

    /// The first levels of the topics of this process.
    package var process: String { "\(prefix)/fleets/\(instance)" }

    /// Retained: `online` while the process is connected, then `offline`.
    package var status: String { "\(process)/\(Self.statusLevel)" }

    /// Retained: the last position of a tag, as ``FleetOutput/json``.
    package func position(of tag: TagKey) -> String { "\(prefix)/tags/\(tag.escaped)/position" }

    /// Retained: the last trained room of a tag, as ``FleetOutput/json``.
    package func room(of tag: TagKey) -> String { "\(prefix)/tags/\(tag.escaped)/room" }

    /// Retained: whether the tag is present or away, as ``FleetOutput/json``.
    package func presence(of tag: TagKey) -> String { "\(prefix)/tags/\(tag.escaped)/presence" }

    /// The entries and exits of a tag, as ``FleetOutput/json``.
    package func events(of tag: TagKey) -> String { "\(prefix)/tags/\(tag.escaped)/events" }

    /// What happens to the alerts of a tag, as ``AlertEvent/json``.
    package func alerts(of tag: TagKey) -> String { "\(prefix)/tags/\(tag.escaped)/alerts" }

    /// Retained while an alert of a tag lasts: the event that raised it.
    package func alert(_ rule: String, of tag: TagKey) -> String {
        "\(alerts(of: tag))/\(EscapedText.escaped(rule, mark: UInt8(ascii: "%"), plain: "-._~:"))"
    }

    /// What happens to the alerts of a tag, for Home Assistant.
    package func homeAssistantAlerts(of tag: TagKey) -> String { "\(homeAssistant(of: tag))/alerts" }

    /// Retained: the state of a tag for Home Assistant.
    package func homeAssistant(of tag: TagKey) -> String { "\(prefix)/tags/\(tag.escaped)/homeassistant" }
}

/// The messages for Home Assistant's MQTT discovery of a tag: a device with a tracker and an area sensor.
///
/// Both entities read one topic, ``OutputTopics/homeAssistant(of:)``. Its members `x`, `y`, `latitude`, `longitude` and
/// `last_seen` have the names and the meaning of those of ESPresense-companion, so that cards and automations for it
/// work with a tag.
/// Source: Home Assistant, *MQTT* (MQTT Discovery), *MQTT device tracker* and *MQTT Sensor*, home-assistant.io;
/// ESPresense-companion, topic `espresense/companion/ID/attributes`.
struct TagDiscovery: Sendable {
    let prefix: String
    let topics: OutputTopics

    /// The topic under which Home Assistant publishes `online` after its start.
    var birthTopic: String { "\(prefix)/status" }

    private func objectID(_ tag: TagKey) -> String {
        "indoorloc_tag_" + HomeAssistantDiscovery.escaped(tag.description)
    }

    func trackerTopic(of tag: TagKey) -> String { "\(prefix)/device_tracker/\(objectID(tag))_position/config" }
    func areaTopic(of tag: TagKey) -> String { "\(prefix)/sensor/\(objectID(tag))_area/config" }
    func alertTopic(of tag: TagKey) -> String { "\(prefix)/event/\(objectID(tag))_alert/config" }

    /// Returns the configuration of the tracker.
    ///
    /// - Parameter isGeoreferenced: whether the positions have coordinates. Home Assistant then derives the zone from
    ///   them while the tag is present; otherwise the tracker only distinguishes home from away.
    func tracker(of tag: TagKey, name: String?, isGeoreferenced: Bool) -> [UInt8] {
        configuration(of: tag, name: name, entity: "Position", suffix: "_position") { json in
            addState(of: tag, to: &json)
            json.add("source_type", isGeoreferenced ? "gps" : "bluetooth_le")
            json.add("payload_home", "home")
            json.add("payload_not_home", "not_home")
            json.add("payload_reset", "None")
            json.add(
                "value_template",
                isGeoreferenced
                    ? "{{ 'None' if value_json.presence == 'home' else 'not_home' }}" : "{{ value_json.presence }}")
        }
    }

    /// Returns the configuration of the sensor whose state is the name of the room.
    func area(of tag: TagKey, name: String?) -> [UInt8] {
        configuration(of: tag, name: name, entity: "Area", suffix: "_area") { json in
            addState(of: tag, to: &json)
            json.add("icon", "mdi:map-marker")
            json.add("value_template", "{{ value_json.room }}")
        }
    }

    /// Returns the configuration of the event entity of a tag's alerts.
    /// Source: Home Assistant, *MQTT Event*, home-assistant.io.
    func alert(of tag: TagKey, name: String?) -> [UInt8] {
        configuration(of: tag, name: name, entity: "Alert", suffix: "_alert") { json in
            json.add("state_topic", topics.homeAssistantAlerts(of: tag))
            json.add("icon", "mdi:bell-alert")
            json.name("event_types")
            json.beginArray()
            for type in Self.alertTypes { json.value(type) }
            json.endArray()
        }
    }

    private func addState(of tag: TagKey, to json: inout JSONWriter) {
        json.add("state_topic", topics.homeAssistant(of: tag))
        json.add("json_attributes_topic", topics.homeAssistant(of: tag))
    }

    private func configuration(
        of tag: TagKey, name: String?, entity: String, suffix: String, _ members: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        let id = objectID(tag)
        var json = JSONWriter(reservingCapacity: 512)
        json.beginObject()
        json.add("name", entity)
        json.add("unique_id", id + suffix)
        json.name("device")
        json.beginObject()
        json.name("identifiers")
        json.beginArray()
        json.value(id)
        json.endArray()
        json.add("name", name ?? tag.description)
        json.add("manufacturer", "IndoorLocalization")
        json.add("model", "Tag")
        json.endObject()
        json.name("origin")
        json.beginObject()
        json.add("name", "IndoorLocalization")
        json.endObject()
        json.add("availability_topic", topics.status)
        members(&json)
        json.endObject()
        return json.bytes
    }

    /// Returns the state that both entities read.
    static func state(presence: FleetOutput?, position: FleetOutput?) -> [UInt8] {
        let isAway = presence?.content == .away
        var json = JSONWriter(reservingCapacity: 384)
        json.beginObject()
        json.add("presence", isAway ? "not_home" : "home")
        var (place, trained): (Position?, TagRoom?)
        switch position?.content {
        case .position(let position): place = position
        case .room(let room): trained = room
        default: break
        }
        let room = trained.map { $0.label ?? "none" } ?? place?.label ?? "unknown"
        json.add("room", isAway ? "not_home" : room)
        if let output = position ?? presence {
            json.add("tag", output.tag.description)
            json.add("last_seen", time: output.instant)
        }
        trained?.writeProbabilities(to: &json)
        if let place {
            json.add("venue_id", place.venueID.rawValue)
            json.add("map_id", place.mapID.rawValue)
            json.add("x", place.x, decimals: 3)
            json.add("y", place.y, decimals: 3)
            json.add("radius", place.radius, decimals: 3)
            if let coordinate = place.coordinate {
                json.add("latitude", coordinate.latitude, decimals: 8)
                json.add("longitude", coordinate.longitude, decimals: 8)
                json.add("gps_accuracy", place.radius, decimals: 3)
            }
            json.add("speed", place.speed, decimals: 2)
        }
        json.endObject()
        return json.bytes
    }
}

extension TagRoom {
    /// Writes the probability of each trained room, and of none of them, as the member `probabilities`.
    fileprivate func writeProbabilities(to json: inout JSONWriter) {
        json.name("probabilities")
        json.beginArray()
        for room in rooms + [RoomProbability(id: 0, name: "none", probability: none)] {
            json.beginObject()
            json.add("room", room.name)
            json.add("probability", room.probability, decimals: 3)
            json.endObject()
        }
        json.endArray()
    }
}
