import IndoorVocabulary
import LocalizationSession
import VenueModel

/// The state machine of alerts. It converts the outputs of a fleet into alerts that begin and end.
///
/// The machine is a value with time as an input: the same events at the same instants give the same alerts.
///
/// A side of an area counts after the tag has been there for the rule's dwell time, so that a tag beside a wall raises no
/// alert. Only outputs confirm it: a tag that isn't heard for a while stays where it was, and a tag that is away is
/// outside of all areas. An alert lasts over a restart, and isn't raised again.
package struct AlertMachine: Sendable {
    /// An input of the machine.
    package enum Event: Sendable {
        /// Outputs of the fleet, in the order of each tag. Those that are repeated or out of date have no effect.
        case outputs([FleetOutput])
        /// The time of the latest reading of tags.
        case heard([TagKey: Instant])
        /// The batteries of tags.
        case batteries([TagKey: TagBattery])
        /// Whether messages of gateways arrive. While they don't, no tag is silent, and none leaves an area by being
        /// away.
        case listening(Bool)
        /// Other rules, or another register.
        case use(AlertRules, TagRegister)
        /// Tags have left the fleet.
        case removed([TagKey])
        /// Time has passed.
        case tick
    }

    /// An alert that lasts.
    struct Alert: Hashable, Sendable {
        var id: String
        /// The time since which its condition holds.
        var since: Instant
        /// The times of its first and its latest event.
        var raised, latest: Instant
    }

    /// A rule and a tag.
    struct Pair: Hashable, Sendable {
        var rule: Int
        var tag: TagKey
    }

    /// What the machine knows about a rule and a tag.
    struct Situation: Hashable, Sendable {
        /// The side of the area that counts: true for inside; nil before the first one.
        var side: Bool?
        /// The side of the latest outputs, if it doesn't count yet, and the first time at which they had it.
        var candidate: Bool?
        var change: Instant?
        var alert: Alert?
    }

    /// What the machine knows about a tag.
    private struct Tag: Sendable {
        var rules: [Int] = []
        var name: String?
        var position: Position?
        /// The trained room, in a fleet without a floor plan.
        var room: TagRoom?
        var isAway = false
        var heard: Instant?

        func isInside(_ area: AlertArea) -> Bool {
            !isAway && (position.map(area.contains) ?? room.map(area.contains) ?? false)
        }
    }

    /// The standard maximum number of pairs of a rule and a tag. Each takes about 200 bytes.
    package static let mostPairs = 200_000
    /// The differences by which a battery must exceed the limit for the end of an alert.
    private static let (percentMargin, voltMargin) = (5.0, 0.1)

    /// The rules.
    package private(set) var rules: AlertRules
    /// A number that grows with each change of an alert or of a side that counts.
    package private(set) var revision: UInt64 = 0
    /// The number of pairs that had no place.
    package private(set) var refusedPairs = 0
    /// The known tags.
    package private(set) var register: TagRegister
    private let epoch: UInt64
    private let limit: Int
    private var lastEvent: UInt64 = 0
    private var filter = OutputFilter(capacity: 2 * mostPairs)
    private var tags: [TagKey: Tag] = [:]
    /// The batteries of all tags, because a rule that is added later can select a tag.
    private var batteries: [TagKey: TagBattery] = [:]
    /// Tags that no rule selects.
    private var unselected: Set<TagKey> = []
    var situations: [Pair: Situation] = [:]
    /// The pairs with an alert, and those whose tag is away on another side than the one that counts.
    private var active: Set<Pair> = []
    private var leaving: Set<Pair> = []
    /// The rules for silence, each with every tag that it selects.
    private var silentPairs: [Pair] = []
    /// The start of the time in which messages arrive; nil while they don't.
    private var listening: Instant?

    /// Creates a machine without alerts.
    ///
    /// - Parameters:
    ///   - epoch: the number of the start, greater than that of each earlier one: it begins the identifiers.
    ///   - limit: the maximum number of pairs of a rule and a tag, and of tags.
    package init(rules: AlertRules, register: TagRegister, epoch: UInt64, limit: Int = AlertMachine.mostPairs) {
        (self.rules, self.register, self.epoch, self.limit) = (rules, register, epoch, limit)
        for tag in register.entries.keys.sorted() { _ = knownTag(tag) }
    }

    // MARK: Events

    /// Handles an event, and returns what happens to alerts.
    package mutating func handle(_ event: Event, at now: Instant) -> [AlertEvent] {
        var events: [AlertEvent] = []
        switch event {
        case .outputs(let outputs):
            for output in outputs where filter.accepts(output) { observe(output, at: now, &events) }
        case .heard(let times):
            for (tag, time) in times.sorted(by: { $0.key < $1.key }) { hear(tag, at: time, now, &events) }
        case .batteries(let batteries):
            for (tag, battery) in batteries.sorted(by: { $0.key < $1.key }) {
                remember(battery, of: tag)
                check(battery, of: tag, at: now, &events)
            }
        case .listening(let isListening): listen(isListening, at: now)
        case .use(let rules, let register): use(rules, register, at: now, &events)
        case .removed(let removed):
            for tag in removed {
                end(situations.keys.filter { $0.tag == tag }, .tagRemoved, at: now, &events)
                (tags[tag], batteries[tag]) = (nil, nil)
            }
        case .tick: tick(at: now, &events)
        }
        return events
    }

    private mutating func listen(_ isListening: Bool, at now: Instant) {
        guard isListening != (listening != nil) else { return }
        listening = isListening ? now : nil
        guard isListening else { return }
        // Meanwhile, nothing could show where the tags are: they must be away for the whole dwell time again.
        for pair in leaving { situations[pair]?.change = now }
    }

    /// Moves the times of tags and alerts, after the clock was set forward: everything is as old as before.
    package mutating func move(by step: Duration) {
        listening = listening?.advanced(by: step)
        for (key, tag) in tags { tags[key]?.heard = tag.heard?.advanced(by: step) }
        for (pair, situation) in situations {
            situations[pair]?.change = situation.change?.advanced(by: step)
            guard let alert = situation.alert else { continue }
            situations[pair]?.alert = Alert(
                id: alert.id, since: alert.since.advanced(by: step), raised: alert.raised.advanced(by: step),
                latest: alert.latest.advanced(by: step))
        }
        revision += 1
    }

    /// Prepares the places of tags from the latest outputs of an earlier start, without alerts.
    package mutating func begin(with places: [FleetOutput]) {
        for output in places where filter.accepts(output) {
            guard var tag = knownTag(output.tag) else { continue }
            remember(output, &tag)
            switch output.content {
            case .position, .room: tag.heard = output.instant
            case .present, .event, .away: break
            }
            tags[output.tag] = tag
            for pair in pairs(of: output.tag, tag) {
                guard let area = rules.list[pair.rule].area, tag.position != nil || tag.room != nil else { continue }
                let isInside = tag.isInside(area)
                // A tag that is inside of the area of a new rule enters it, and one that is outside hasn't left it.
                if situations[pair] == nil, rules.list[pair.rule].condition == .leaves || !isInside {
                    store(Situation(side: isInside), for: pair)
                }
            }
        }
    }

    // MARK: Places

    private mutating func observe(_ output: FleetOutput, at now: Instant, _ events: inout [AlertEvent]) {
        guard var tag = knownTag(output.tag) else { return }
        remember(output, &tag)
        tags[output.tag] = tag
        switch output.content {
        case .position, .room, .away: break
        case .present, .event: return
        }
        for pair in pairs(of: output.tag, tag) {
            guard let area = rules.list[pair.rule].area else { continue }
            observe(pair, isInside: tag.isInside(area), at: output.instant, now, &events)
        }
    }

    private func remember(_ output: FleetOutput, _ tag: inout Tag) {
        if let name = output.name { tag.name = name }
        switch output.content {
        case .present: tag.isAway = false
        case .position(let position): (tag.isAway, tag.position) = (false, position)
        case .room(let room): (tag.isAway, tag.room) = (false, room)
        case .away: tag.isAway = true
        case .event: break
        }
    }

    private mutating func observe(
        _ pair: Pair, isInside: Bool, at instant: Instant, _ now: Instant, _ events: inout [AlertEvent]
    ) {
        var situation = situations[pair] ?? Situation()
        leaving.remove(pair)
        let before = situation
        if situation.side == isInside {
            (situation.candidate, situation.change) = (nil, nil)
        } else if situation.candidate != isInside {
            (situation.candidate, situation.change) = (isInside, instant)
        }
        guard situation == before || store(situation, for: pair), let change = situation.change else { return }
        let isAway = tags[pair.tag]?.isAway == true
        if change.duration(to: instant) >= rules.list[pair.rule].dwell, !isAway || listening != nil {
            settle(pair, isInside: isInside, since: change, at: now, &events)
        } else if isAway {
            leaving.insert(pair)
        }
    }

    private mutating func settle(
        _ pair: Pair, isInside: Bool, since: Instant, at now: Instant, _ events: inout [AlertEvent]
    ) {
        let before = situations[pair]?.side
        revision += 1
        store(Situation(side: isInside, alert: situations[pair]?.alert), for: pair)
        let isCondition: Bool
        switch rules.list[pair.rule].condition {
        case .enters: isCondition = isInside
        case .leaves: isCondition = !isInside && before == true
        case .silent, .batteryLow: return
        }
        if isCondition {
            raise(pair, since: since, at: now, &events)
        } else if situations[pair]?.alert != nil {
            clear(pair, since: since, at: now, &events)
        }
    }

    // MARK: Silence and batteries

    private mutating func hear(
        _ key: TagKey, at instant: Instant, _ now: Instant, _ events: inout [AlertEvent]
    ) {
        guard var tag = knownTag(key), tag.heard.map({ $0 < instant }) ?? true else { return }
        tag.heard = instant
        tags[key] = tag
        for pair in pairs(of: key, tag) where rules.list[pair.rule].condition == .silent {
            clearSilence(pair, at: now, &events)
        }
    }

    /// Ends an alert of a silent tag that is heard again.
    private mutating func clearSilence(_ pair: Pair, at now: Instant, _ events: inout [AlertEvent]) {
        guard let alert = situations[pair]?.alert, let heard = tags[pair.tag]?.heard, heard > alert.since else {
            return
        }
        clear(pair, since: heard, at: now, &events)
    }

    private mutating func remember(_ battery: TagBattery, of key: TagKey) {
        // At most `limit` tags are selected, so that this makes place for as many others.
        if batteries[key] == nil, batteries.count >= 2 * limit {
            batteries = batteries.filter { tags[$0.key] != nil }
        }
        batteries[key] = battery
    }

    private mutating func check(
        _ battery: TagBattery, of key: TagKey, at now: Instant, _ events: inout [AlertEvent]
    ) {
        guard let tag = knownTag(key) else { return }
        for pair in pairs(of: key, tag) where rules.list[pair.rule].condition == .batteryLow {
            let limits = rules.list[pair.rule].battery
            /// Whether a known level is below its limit and the margin.
            func isBelow(margin: (percent: Double, volts: Double)) -> Bool {
                let (percent, volts) = (battery.percent.map(Double.init), battery.millivolts.map { Double($0) / 1000 })
                // A full battery isn't low, also if the limit is so high that none exceeds it by the margin.
                if let percent, let limit = limits.percent, percent < min(limit + margin.percent, 100) { return true }
                if let volts, let limit = limits.volts, volts < limit + margin.volts { return true }
                return false
            }
            if situations[pair]?.alert == nil {
                if isBelow(margin: (0, 0)) { raise(pair, since: now, at: now, &events) }
            } else if !isBelow(margin: (Self.percentMargin, Self.voltMargin)) {
                clear(pair, since: now, at: now, &events)
            }
        }
    }

    private mutating func tick(at now: Instant, _ events: inout [AlertEvent]) {
        if max(tags.count, situations.count) >= limit { forgetAwayTags() }
        for pair in listening == nil ? [] : leaving.sorted(by: isBefore) {
            guard let situation = situations[pair], let change = situation.change else {
                leaving.remove(pair)
                continue
            }
            guard change.duration(to: now) >= rules.list[pair.rule].dwell else { continue }
            leaving.remove(pair)
            settle(pair, isInside: false, since: change, at: now, &events)
        }
        if let listening {
            let due = silentPairs.filter { pair in
                guard situations[pair]?.alert == nil else { return false }
                let start = max(tags[pair.tag]?.heard ?? listening, listening)
                return start.duration(to: now) >= rules.list[pair.rule].silence
            }
            for pair in due.sorted(by: isBefore) {
                raise(pair, since: tags[pair.tag]?.heard ?? listening, at: now, &events)
            }
        }
        for pair in active.sorted(by: isBefore) {
            guard var alert = situations[pair]?.alert, let repetition = rules.list[pair.rule].repetition,
                alert.latest.duration(to: now) >= repetition
            else { continue }
            alert.latest = now
            revision += 1
            situations[pair]?.alert = alert
            events.append(event(.repeated, pair, alert, id: nextID(), since: alert.since, at: now))
        }
    }

    /// The tags for which the machine needs the times of their readings.
    package var tagsOfSilence: [TagKey] { Array(Set(silentPairs.map(\.tag))) }

    // MARK: Alerts

    private mutating func raise(_ pair: Pair, since: Instant, at now: Instant, _ events: inout [AlertEvent]) {
        var situation = situations[pair] ?? Situation()
        guard situation.alert == nil else { return }
        let alert = Alert(id: nextID(), since: since, raised: now, latest: now)
        situation.alert = alert
        guard store(situation, for: pair) else { return }
        revision += 1
        active.insert(pair)
        events.append(event(.raised, pair, alert, id: alert.id, since: since, at: now))
    }

    private mutating func clear(
        _ pair: Pair, since: Instant, at now: Instant, reason: AlertEvent.Reason? = nil, _ events: inout [AlertEvent]
    ) {
        guard let alert = situations[pair]?.alert else { return }
        situations[pair]?.alert = nil
        revision += 1
        active.remove(pair)
        var event = event(.cleared, pair, alert, id: nextID(), since: since, at: now)
        event.reason = reason
        events.append(event)
    }

    /// Ends the alerts of pairs, and forgets the pairs.
    private mutating func end(
        _ pairs: some Sequence<Pair>, _ reason: AlertEvent.Reason, at now: Instant, _ events: inout [AlertEvent]
    ) {
        for pair in pairs.sorted(by: isBefore) {
            clear(pair, since: now, at: now, reason: reason, &events)
            situations[pair] = nil
            leaving.remove(pair)
        }
    }

    mutating func nextID() -> String {
        lastEvent += 1
        return "\(epoch)-\(lastEvent)"
    }

    private func event(
        _ state: AlertEvent.State, _ pair: Pair, _ alert: Alert, id: String, since: Instant, at now: Instant
    ) -> AlertEvent {
        let (rule, tag) = (rules.list[pair.rule], tags[pair.tag])
        return AlertEvent(
            id: id, alert: alert.id, state: state, rule: rule.name, condition: rule.condition,
            area: rule.area?.name, tag: pair.tag, name: register.entries[pair.tag]?.name ?? tag?.name, instant: now,
            since: since, position: tag?.position, battery: batteries[pair.tag])
    }

    /// The alerts that last, the oldest first, each as the event that raised it, with the latest position.
    package var activeAlerts: [AlertEvent] {
        active.sorted(by: isBefore).compactMap { pair in
            situations[pair]?.alert.map { event(.raised, pair, $0, id: $0.id, since: $0.since, at: $0.raised) }
        }
        .sorted { $0.instant < $1.instant }
    }

    /// The tags that a rule selects.
    package var selectedTags: [TagKey] { Array(tags.keys) }

    func isBefore(_ left: Pair, _ right: Pair) -> Bool { (left.rule, left.tag) < (right.rule, right.tag) }

    // MARK: Tags and rules

    /// Stores a situation unless there are too many; returns whether it is stored.
    @discardableResult private mutating func store(_ situation: Situation, for pair: Pair) -> Bool {
        if situations[pair] == nil, situations.count >= limit {
            refusedPairs += 1
            return false
        }
        situations[pair] = situation
        return true
    }

    private func pairs(of key: TagKey, _ tag: Tag) -> [Pair] { tag.rules.map { Pair(rule: $0, tag: key) } }

    /// Returns a tag that a rule selects; nil for other tags.
    private mutating func knownTag(_ key: TagKey) -> Tag? {
        if let tag = tags[key] { return tag }
        guard !unselected.contains(key) else { return nil }
        let entry = register.entries[key]
        let hasRegister = !register.entries.isEmpty
        var tag = Tag()
        tag.rules = rules.list.indices.filter { rules.list[$0].selects(key, entry, hasRegister: hasRegister) }
        tag.name = entry?.name
        guard !tag.rules.isEmpty else {
            if unselected.count >= limit { unselected = [] }
            unselected.insert(key)
            return nil
        }
        guard tags.count < limit else {
            refusedPairs += tag.rules.count
            return nil
        }
        tags[key] = tag
        let silent = tag.rules.filter { rules.list[$0].condition == .silent }
        silentPairs += silent.map { Pair(rule: $0, tag: key) }
        return tag
    }

    /// Makes place for tags: forgets those outside of the register that are away without an alert.
    private mutating func forgetAwayTags() {
        let kept = Set(active.map(\.tag)).union(leaving.map(\.tag)).union(register.entries.keys)
        tags = tags.filter { kept.contains($0.key) || !$0.value.isAway }
        situations = situations.filter { tags[$0.key.tag] != nil }
        leaving = leaving.filter { tags[$0.tag] != nil }
        silentPairs.removeAll { tags[$0.tag] == nil }
    }

    private mutating func use(
        _ rules: AlertRules, _ register: TagRegister, at now: Instant, _ events: inout [AlertEvent]
    ) {
        let places = Dictionary(
            rules.list.enumerated().map { ($1.signature, $0) }, uniquingKeysWith: { first, _ in first })
        let moved = self.rules.list.map { places[$0.signature] }
        end(situations.keys.filter { moved[$0.rule] == nil }, .ruleRemoved, at: now, &events)
        let hasRegister = !register.entries.isEmpty
        end(
            situations.keys.filter { pair in
                guard let place = moved[pair.rule] else { return true }
                return !rules.list[place].selects(pair.tag, register.entries[pair.tag], hasRegister: hasRegister)
            }, .tagRemoved, at: now, &events)
        func place(_ pair: Pair) -> Pair? { moved[pair.rule].map { Pair(rule: $0, tag: pair.tag) } }
        let situations = self.situations.compactMap { pair, situation in place(pair).map { ($0, situation) } }
        self.situations = Dictionary(situations) { first, _ in first }
        active = Set(active.compactMap(place))
        leaving = Set(leaving.compactMap(place))
        (self.rules, self.register) = (rules, register)
        revision += 1
        silentPairs = []
        let earlier = tags
        (tags, unselected) = ([:], [])
        for (key, old) in earlier.sorted(by: { $0.key < $1.key }) {
            guard var tag = knownTag(key) else { continue }
            (tag.position, tag.isAway, tag.heard) = (old.position, old.isAway, old.heard)
            tag.name = tag.name ?? old.name
            tags[key] = tag
        }
        for tag in register.entries.keys.sorted() { _ = knownTag(tag) }
        for (key, battery) in batteries.sorted(by: { $0.key < $1.key }) { check(battery, of: key, at: now, &events) }
    }

    // MARK: Restarts

    /// Returns whether a rule selects a tag.
    func selects(_ tag: TagKey, by rule: Int) -> Bool {
        rules.list[rule].selects(tag, register.entries[tag], hasRegister: !register.entries.isEmpty)
    }

    /// Continues with a situation of an earlier start.
    mutating func restore(_ situation: Situation, of pair: Pair) {
        guard knownTag(pair.tag) != nil, store(situation, for: pair) else { return }
        if situation.alert != nil { active.insert(pair) }
    }
}
