import IndoorVocabulary
import LocalizationSession
import TextFormats
import VenueModel

/// The begin, the repetition or the end of an alert.
package struct AlertEvent: Hashable, Sendable {
    /// The kinds of events.
    package enum State: String, Hashable, Sendable, CaseIterable {
        /// The alert begins.
        case raised
        /// The alert lasts; see ``AlertRule/repetition``.
        case repeated
        /// The alert has ended.
        case cleared
    }

    /// The reasons for which an alert ends although its condition may last.
    package enum Reason: String, Hashable, Sendable, CaseIterable {
        /// The rule has left the file, or has another condition or area.
        case ruleRemoved
        /// The tag has left the fleet, or the rule doesn't select it any more.
        case tagRemoved
    }

    /// The identifier of the event, which no other event has.
    package var id: String
    /// The identifier of the alert: that of the event that began it.
    package var alert: String
    /// The kind of event.
    package var state: State
    /// The name of the rule.
    package var rule: String
    /// The condition of the rule.
    package var condition: AlertRule.Condition
    /// The name of the rule's area; nil without one.
    package var area: String?
    /// The tag.
    package var tag: TagKey
    /// The display name of the tag; nil for the key.
    package var name: String?
    /// The time of the event, counted from the Unix epoch.
    package var instant: Instant
    /// The time since which the condition holds, or doesn't hold any more.
    package var since: Instant
    /// The latest position of the tag; nil without one.
    package var position: Position?
    /// The battery of the tag; nil if unknown.
    package var battery: TagBattery?
    /// The reason for the end; nil for an end of the condition, and for other events.
    package var reason: Reason?

    /// Creates an event from its parts.
    package init(
        id: String, alert: String, state: State, rule: String, condition: AlertRule.Condition, area: String? = nil,
        tag: TagKey, name: String? = nil, instant: Instant, since: Instant, position: Position? = nil,
        battery: TagBattery? = nil, reason: Reason? = nil
    ) {
        (self.id, self.alert, self.state) = (id, alert, state)
        (self.rule, self.condition, self.area) = (rule, condition, area)
        (self.tag, self.name) = (tag, name)
        (self.instant, self.since) = (instant, since)
        (self.position, self.battery, self.reason) = (position, battery, reason)
    }

    /// The event as one line of JSON, without a line break; <doc:Alerts> describes the members.
    package var json: String { String(decoding: jsonBytes, as: UTF8.self) }

    /// The bytes of ``json``.
    package var jsonBytes: [UInt8] {
        var json = JSONWriter(reservingCapacity: 512)
        json.beginObject()
        writeMembers(to: &json)
        json.endObject()
        return json.bytes
    }

    /// Writes the members of the event into an object.
    package func writeMembers(to json: inout JSONWriter) {
        json.add("type", "alert")
        json.add("id", id)
        json.add("alert", alert)
        json.add("state", state.rawValue)
        json.add("rule", rule)
        json.add("when", condition.rawValue)
        json.add("area", area)
        json.add("tag", tag.description)
        json.add("name", name)
        json.add("time", time: instant)
        json.add("since", time: since)
        json.add("reason", reason?.rawValue)
        if let position {
            json.name("position")
            json.beginObject()
            json.add("time", time: position.instant)
            position.writeMembers(to: &json)
            json.endObject()
        }
        battery?.write(to: &json)
    }
}

extension AlertEvent {
    /// Creates an event from its JSON, which ``json`` describes. Of the position, it reads place, radius, label and
    /// coordinates. Unknown members are ignored.
    ///
    /// - Throws: ``FleetOutputError`` with the first defect.
    package init(json bytes: [UInt8]) throws(FleetOutputError) {
        var reader = JSONReader(bytes, limits: .gateway)
        var members = Members()
        do throws(JSONReader.Failure) {
            try reader.enterObject()
            while let key = try reader.nextKey() { try members.read(try reader.text(of: key), from: &reader) }
            try reader.finish()
        } catch { throw FleetOutputError(offset: error.offset, message: "expected \(error.expected)") }
        guard let id = members.texts["id"], let alert = members.texts["alert"], let rule = members.texts["rule"],
            let state = members.texts["state"].flatMap(State.init),
            let condition = members.texts["when"].flatMap(AlertRule.Condition.init),
            let tag = members.texts["tag"].flatMap({ TagKey($0) }), let instant = members.times["time"],
            let since = members.times["since"]
        else { throw FleetOutputError(message: "expected the members of an alert") }
        self.init(
            id: id, alert: alert, state: state, rule: rule, condition: condition, area: members.texts["area"], tag: tag,
            name: members.texts["name"], instant: instant, since: since, position: members.position,
            battery: members.battery, reason: members.texts["reason"].flatMap(Reason.init))
    }

    /// The members of an event that a reader has found.
    private struct Members {
        var texts: [String: String] = [:]
        var times: [String: Instant] = [:]
        var position: Position?
        var battery: TagBattery?

        mutating func read(_ member: String, from reader: inout JSONReader) throws(JSONReader.Failure) {
            switch member {
            case "id", "alert", "state", "rule", "when", "area", "tag", "name", "reason":
                texts[member] = try reader.text(of: reader.string())
            case "time", "since": times[member] = try Self.time(&reader)
            case "position": position = try Self.position(&reader)
            case "battery":
                var numbers: [String: Double] = [:]
                try Self.numbers(&reader, &numbers)
                battery = TagBattery(percent: numbers["percent"], millivolts: numbers["volts"].map { $0 * 1000 })
            default: try reader.skipValue()
            }
        }

        private static func time(_ reader: inout JSONReader) throws(JSONReader.Failure) -> Instant {
            let start = reader.offset
            guard let time = TimeText.time(Array(try reader.text(of: reader.string()).utf8).span) else {
                throw JSONReader.Failure(offset: start, expected: "a time such as 2026-11-22T09:00:00.123Z")
            }
            return Instant(nanoseconds: time.nanoseconds)
        }

        private static func numbers(
            _ reader: inout JSONReader, _ numbers: inout [String: Double]
        ) throws(JSONReader.Failure) {
            try reader.enterObject()
            while let key = try reader.nextKey() { numbers[try reader.text(of: key)] = try reader.number() }
        }

        private static func position(_ reader: inout JSONReader) throws(JSONReader.Failure) -> Position? {
            var numbers: [String: Double] = [:]
            var label: String?
            var instant = Instant.zero
            try reader.enterObject()
            while let key = try reader.nextKey() {
                let name = try reader.text(of: key)
                if name == "time" {
                    instant = try time(&reader)
                } else if name == "label" {
                    label = try reader.text(of: reader.string())
                } else if try reader.kind() == .number {
                    numbers[name] = try reader.number()
                } else {
                    try reader.skipValue()
                }
            }
            guard let venue = numbers["venueId"].flatMap({ Int(exactly: $0) }),
                let map = numbers["mapId"].flatMap({ Int(exactly: $0) }), let x = numbers["x"], let y = numbers["y"],
                let radius = numbers["radius"]
            else { return nil }
            var position = Position(
                instant: instant, venueID: VenueID(rawValue: venue), mapID: MapID(rawValue: map),
                point: MapPoint(x: x, y: y), radius: radius, label: label)
            if let latitude = numbers["latitude"], let longitude = numbers["longitude"] {
                position.coordinate = Coordinate(latitude: latitude, longitude: longitude)
            }
            return position
        }
    }
}

/// The alerts at the start of a process, or after a change of the rules or the register.
package struct AlertStatus: Sendable {
    /// The rules.
    package var rules: AlertRules
    /// The tags that a rule selects.
    package var tags: Set<TagKey>
    /// The alerts that last, the oldest first.
    package var active: [AlertEvent]
    /// The latest events before the start, the oldest first; empty after a change.
    package var latest: [AlertEvent]

    /// Creates a status.
    package init(rules: AlertRules, tags: Set<TagKey>, active: [AlertEvent], latest: [AlertEvent]) {
        (self.rules, self.tags, self.active, self.latest) = (rules, tags, active, latest)
    }
}
