import IndoorVocabulary
import SessionMetrics

/// A converter of gateways' messages into readings of tags, with one key for each tag and one timeline for all
/// gateways.
///
///     var intake = TagIntake(register: register, settings: settings)
///     for message in messages { for reading in intake.readings(of: message) { machine.observe(reading) } }
///
/// An intake handles a message in these steps:
/// 1. A retained message is dropped, because it can have any age.
/// 2. ``GatewayDecoder`` decodes it. An invalid message is counted, and ``problems`` has its error.
/// 3. Each reading gets the key of its tag, and the settings determine whether tags outside of the register pass.
/// 4. The receiver's clock gives the time; without a clock, it is that of arrival. Late readings are dropped.
/// 5. A tag outside of the register must be heard several times, see ``FleetSettings/unknownTagMoments``.
/// 6. Each advertisement counts once: duplicates are dropped. Filtered RSSIs pass with their windows.
///
/// The memory is limited for any input: each table removes its least recently used entries. Messages in the same order
/// give the same readings.
package struct TagIntake: Sendable {
    /// The limits of the memory.
    package struct Limits: Hashable, Sendable {
        /// The largest content of a message in bytes.
        package var payload = 1 << 20
        /// The number of receivers with a clock. Each needs about 2 KB.
        package var receivers = 16_384
        /// The number of addresses that are linked to keys. Each needs about 150 bytes.
        package var links = 65_536
        /// The number of pairs of tag and receiver whose latest reading is stored. Each needs about 200 bytes.
        package var pairs = 524_288
        /// The number of tags outside of the register that were heard. Each needs about 150 bytes.
        package var strangers = 65_536
        /// The number of tags whose battery is stored. Each needs about 150 bytes.
        package var batteries = 65_536
        /// The number of topics with a stored error.
        package var problems = 64
        /// The number of events until ``drainEvents()``.
        package var events = 1_024

        /// Creates the standard limits.
        package init() {}
    }

    private struct Receiver: Sendable {
        let number: UInt32
        var clock = GatewayClock()
    }

    /// The length of the longest name of a receiver in bytes of UTF-8.
    package static let longestReceiver = 200
    /// The length of the part of a topic that a problem stores.
    private static let longestTopic = 200

    /// The numbers of messages and readings.
    package private(set) var statistics = IntakeStatistics()

    private let decoder = GatewayDecoder()
    private var known: Set<TagKey>
    private let unknownTags: FleetSettings.UnknownTags
    private let formats: [TopicFormat]
    private let limits: Limits
    private var naming: TagNaming
    private var receivers: RecencyTable<String, Receiver>
    private var lastReceiver: UInt32 = 0
    /// The time of the latest message with a reading by the name of its gateway, even if no reading was passed on.
    private var heard: RecencyTable<String, Instant>
    private var decodedMessages: UInt64 = 0
    private var acquaintance: TagAcquaintance
    private var filter: RepetitionFilter
    private var faults: RecencyTable<String, IntakeProblem>
    private var events: [ReceiverEvent] = []
    private var batteries: RecencyTable<TagKey, TagBattery>
    private var changedBatteries: [TagKey: TagBattery] = [:]

    /// Creates an intake without messages.
    ///
    /// - Parameters:
    ///   - register: the known tags.
    ///   - settings: the settings, of which the intake uses ``FleetSettings/unknownTags``.
    ///   - formats: the formats of topics. The first one that matches counts; for other topics the format is detected.
    package init(
        register: TagRegister = TagRegister(), settings: FleetSettings = FleetSettings(), formats: [TopicFormat] = []
    ) {
        self.init(register: register, settings: settings, formats: formats, limits: Limits())
    }

    /// Creates an intake with other limits of its memory.
    package init(
        register: TagRegister = TagRegister(), settings: FleetSettings = FleetSettings(), formats: [TopicFormat] = [],
        limits: Limits
    ) {
        known = Set(register.entries.keys)
        unknownTags = settings.unknownTags
        self.formats = formats
        self.limits = limits
        naming = TagNaming(register: register, linkLimit: limits.links)
        receivers = RecencyTable(limit: limits.receivers)
        heard = RecencyTable(limit: limits.receivers)
        acquaintance = TagAcquaintance(needed: settings.unknownTagMoments, limit: limits.strangers)
        filter = RepetitionFilter(limit: limits.pairs)
        faults = RecencyTable(limit: limits.problems)
        batteries = RecencyTable(limit: limits.batteries)
    }

    /// Replaces the known tags. The links of addresses are learned again.
    package mutating func use(register: TagRegister) {
        known = Set(register.entries.keys)
        naming = TagNaming(register: register, linkLimit: limits.links)
    }

    /// Counts tags as located that were located before, such as at an earlier start, so that their readings pass.
    package mutating func locate(_ tags: some Sequence<TagKey>, at now: Instant) {
        acquaintance.locate(tags.filter { !known.contains($0) }, at: now)
    }

    /// Moves the times of all that is known about gateways and tags, after the clock that gives the times of arrival was
    /// set forward: everything is as old as before.
    package mutating func move(by step: Duration) {
        receivers.changeAll { $0.clock.move(by: step) }
        heard.changeAll { $0 = $0.advanced(by: step) }
        naming.move(by: step)
        acquaintance.move(by: step)
    }

    /// Returns whether readings of a tag can pass; see `FleetSettings.UnknownTags`.
    package func passes(_ tag: TagKey) -> Bool { unknownTags.passes(tag, isRegistered: known.contains(tag)) }

    /// The latest invalid message of each topic, the oldest one first.
    package var problems: [IntakeProblem] { faults.keys.compactMap { faults.peek($0) } }

    /// The beacons that several addresses send, which are therefore located as one tag, each with its addresses.
    package var sharedBeacons: [BeaconIdentity: [DeviceAddress]] { naming.sharedBeacons }

    /// The numbers of entries in the tables.
    package struct Counts: Hashable, Sendable {
        package var receivers: Int
        package var links: Int
        package var pairs: Int
        package var problems: Int

        package init(receivers: Int, links: Int, pairs: Int, problems: Int) {
            (self.receivers, self.links, self.pairs, self.problems) = (receivers, links, pairs, problems)
        }
    }

    /// The numbers of entries in the tables, none of which exceeds its limit.
    package var counts: Counts {
        Counts(
            receivers: receivers.count, links: naming.linkCount, pairs: filter.pairCount, problems: faults.count)
    }

    /// Returns the changes of receivers' clocks since the last call. If they are too many, the oldest ones are lost.
    package mutating func drainEvents() -> [ReceiverEvent] {
        defer { events = [] }
        return events
    }

    /// Returns the batteries that have changed since the last call.
    package mutating func drainBatteries() -> [TagKey: TagBattery] {
        guard !changedBatteries.isEmpty else { return [:] }
        defer { changedBatteries = [:] }
        return changedBatteries
    }

    /// Stores the battery of a tag. Some tags send the level and the voltage in different advertisements.
    private mutating func note(_ battery: TagBattery, of tag: TagKey) {
        let isChanged = batteries.use(tag, else: TagBattery()) { known in
            let before = known
            known.percent = battery.percent ?? known.percent
            known.millivolts = battery.millivolts ?? known.millivolts
            return known != before
        }
        if isChanged { changedBatteries[tag] = batteries.peek(tag) }
    }

    /// Returns the offset of a receiver's clock in nanoseconds, the time of arrival minus the receiver's; nil if unknown.
    package func clockOffset(of receiver: String) -> Int64? { receivers.peek(receiver)?.clock.offset }

    /// Counts a message as invalid that its receiver has already tried to decode.
    ///
    /// - Parameter sender: the address of its sender; nil if unknown.
    package mutating func refuse(_ message: GatewayMessage, from sender: String?, _ error: GatewayError) {
        statistics.messages += 1
        fail(message, from: sender, error)
    }

    /// Returns the readings of a message, in the order of the message.
    package mutating func readings(of message: GatewayMessage) -> [TagReading] {
        statistics.messages += 1
        guard !message.isRetained else {
            statistics.retained += 1
            return []
        }
        let decoded: [GatewayReading]
        do throws(GatewayError) { decoded = try decode(message) } catch {
            fail(message, error)
            return []
        }
        return self.readings(of: decoded, arrival: message.arrival)
    }

    /// Returns the readings of a message that is decoded already.
    package mutating func readings(of decoded: [GatewayReading], arrival: Instant) -> [TagReading] {
        decodedMessages += 1
        var readings: [TagReading] = []
        readings.reserveCapacity(decoded.count)
        var latest: String?
        for reading in decoded {
            if reading.receiver != latest {
                latest = reading.receiver
                hear(reading.receiver, at: arrival)
            }
            switch self.reading(of: reading, arrival) {
            case .success(let reading): readings.append(reading)
            case .failure(let dropped): statistics.drop(dropped.reason)
            }
        }
        statistics.readings += readings.count
        return readings
    }

    /// The names of the gateways that have sent a message with a reading, each with the time of its latest one.
    package var senders: [(name: String, latest: Instant)] {
        heard.keys.compactMap { name in heard.peek(name).map { (name, $0) } }
    }

    private mutating func hear(_ receiver: String, at arrival: Instant) {
        guard (1...Self.longestReceiver).contains(receiver.utf8.count) else { return }
        heard.use(receiver, else: arrival) { $0 = max($0, arrival) }
    }

    private func decode(_ message: GatewayMessage) throws(GatewayError) -> [GatewayReading] {
        let format = formats.first { $0.matches(message.topic) }?.format
        guard message.payload.count <= limits.payload else {
            throw GatewayError(
                format: format, offset: limits.payload,
                message: "the message has \(message.payload.count) bytes; the limit is \(limits.payload)")
        }
        return try decoder.readings(topic: message.topic, payload: message.payload, format: format)
    }

    private mutating func fail(_ message: GatewayMessage, from sender: String? = nil, _ error: GatewayError) {
        statistics.invalid[error.format?.rawValue ?? "unknown", default: 0] += 1
        let topic = String(decoding: message.topic.utf8.prefix(Self.longestTopic), as: UTF8.self)
        var fault = IntakeProblem(topic: topic, arrival: message.arrival, error: error, count: 0)
        fault.sender = sender
        // Gateways that use HTTP can have the same path.
        faults.use(topic + (sender.map { "\n" + $0 } ?? ""), else: fault) { problem in
            fault.count = problem.count + 1
            problem = fault
        }
    }

    private struct Dropped: Error {
        var reason: IntakeStatistics.Reason
    }

    private mutating func reading(
        of reading: GatewayReading, _ arrival: Instant
    ) -> Result<TagReading, Dropped> {
        guard Sighting.isMeasurement(rssi: reading.rssi) else { return .failure(Dropped(reason: .withoutMeasurement)) }
        guard (1...Self.longestReceiver).contains(reading.receiver.utf8.count),
            let tag = naming.key(of: reading, at: arrival)
        else { return .failure(Dropped(reason: .unnamed)) }
        // Check this before the tables, so that unknown tags need no memory.
        guard isWanted(tag, reading) else { return .failure(Dropped(reason: .unknownTag)) }
        let (stamp, receiver) = stamp(reading, arrival)
        if reading.time != nil, !stamp.usesClock { statistics.withoutClock += 1 }
        if stamp.isLate { return .failure(Dropped(reason: .late)) }
        // Check this before the pairs, so that a stranger needs the memory of only one entry.
        guard known.contains(tag) || acquaintance.isLocated(tag, at: arrival) else {
            return .failure(Dropped(reason: .stranger))
        }
        naming.noteSender(of: reading)
        if let battery = reading.battery { note(battery, of: tag) }
        let isDuplicate = filter.isDuplicate(
            reading, of: tag, receiver: receiver, arrival: arrival, message: decodedMessages)
        if isDuplicate { return .failure(Dropped(reason: .duplicate)) }
        return .success(
            TagReading(
                tag: tag, receiver: reading.receiver, instant: stamp.instant, rssi: reading.rssi,
                window: max(.zero, reading.window), measuredPower: reading.measuredPower))
    }

    private func isWanted(_ tag: TagKey, _ reading: GatewayReading) -> Bool {
        switch unknownTags {
        case .all: return true
        case .none: return known.contains(tag)
        case .beacons(let uuids):
            if known.contains(tag) { return true }
            if case .beacon(let beacon) = tag { return uuids.contains(beacon.uuid) }
            return reading.beacon.map { uuids.contains($0.uuid) } ?? false
        }
    }

    /// Returns the time of a reading, and the number of its receiver.
    private mutating func stamp(_ reading: GatewayReading, _ arrival: Instant) -> (GatewayClock.Stamp, UInt32) {
        if receivers.peek(reading.receiver) == nil { lastReceiver &+= 1 }
        let (stamp, change, number) = receivers.use(
            reading.receiver, else: Receiver(number: lastReceiver)
        ) { receiver -> (GatewayClock.Stamp, GatewayClock.Change?, UInt32) in
            guard let time = reading.time else {
                return (GatewayClock.Stamp(instant: arrival, usesClock: false), nil, receiver.number)
            }
            let (stamp, change) = receiver.clock.stampWithChange(time, arrival: arrival)
            return (stamp, change, receiver.number)
        }
        if let change { report(change, of: reading.receiver, at: arrival) }
        return (stamp, number)
    }

    private mutating func report(_ change: GatewayClock.Change, of receiver: String, at arrival: Instant) {
        if events.count >= limits.events { events.removeFirst() }
        let (health, text): (ReceiverEvent.Health, String) =
            switch change {
            case .becameWrong:
                (.clockWrong, "the clock was set several times or runs slowly; readings have the time of their arrival")
            case .recovered: (.healthy, "the clock runs regularly again; its times are used")
            }
        events.append(ReceiverEvent(receiver: receiver, instant: arrival, health: health, text: text))
    }
}

/// A message of a gateway as it arrived.
package struct GatewayMessage: Hashable, Sendable {
    /// The topic, or the path of an HTTP request; empty if there is none.
    package var topic: String
    /// The content.
    package var payload: [UInt8]
    /// The time of arrival, counted from the Unix epoch, 1 January 1970, 0:00 UTC.
    package var arrival: Instant
    /// Whether a broker stored the message and sent it at the subscription. Such a message can have any age.
    package var isRetained: Bool

    /// Creates a message.
    package init(topic: String, payload: [UInt8], arrival: Instant, isRetained: Bool = false) {
        self.topic = topic
        self.payload = payload
        self.arrival = arrival
        self.isRetained = isRetained
    }
}

/// The format of the messages of some topics.
package struct TopicFormat: Hashable, Sendable {
    /// A filter of MQTT: `+` stands for one level, and `#` at the end for all following ones.
    package var filter: String
    /// The format.
    package var format: GatewayFormat

    /// Creates a rule.
    package init(filter: String, format: GatewayFormat) {
        self.filter = filter
        self.format = format
    }

    /// Returns whether the filter matches a topic.
    ///
    /// Source: *MQTT Version 3.1.1*, OASIS 2014, 4.7.
    package func matches(_ topic: String) -> Bool {
        let (filter, topic) = (filter.utf8.span, topic.utf8.span)
        // The start of the next level of each; beyond the end after the last level.
        var (wanted, next) = (0, 0)
        // No arrays of levels: each message is compared with the filters of all formats.
        while wanted <= filter.count {
            let word = Self.level(of: filter, from: wanted)
            if word.count == 1, filter[wanted] == UInt8(ascii: "#") { return true }
            guard next <= topic.count else { return false }
            let level = Self.level(of: topic, from: next)
            let isAny = word.count == 1 && filter[wanted] == UInt8(ascii: "+")
            guard isAny || Self.areEqual(filter.extracting(word), topic.extracting(level)) else { return false }
            (wanted, next) = (word.upperBound + 1, level.upperBound + 1)
        }
        return next > topic.count
    }

    /// Returns the range of the level that begins at an index.
    private static func level(of text: Span<UInt8>, from start: Int) -> Range<Int> {
        var end = start
        while end < text.count, text[end] != UInt8(ascii: "/") { end += 1 }
        return start..<end
    }

    private static func areEqual(_ one: Span<UInt8>, _ other: Span<UInt8>) -> Bool {
        guard one.count == other.count else { return false }
        for index in one.indices where one[index] != other[index] { return false }
        return true
    }
}

/// The latest invalid message of a topic.
package struct IntakeProblem: Hashable, Sendable {
    /// The topic, which usually contains the name of the receiver.
    package var topic: String
    /// The time of arrival.
    package var arrival: Instant
    /// The error.
    package var error: GatewayError
    /// The number of invalid messages of the topic.
    package var count: Int
    /// The address of the sender of a message over HTTP; nil over MQTT, or if unknown.
    package var sender: String?

    /// Creates a problem.
    package init(topic: String, arrival: Instant, error: GatewayError, count: Int = 1) {
        self.topic = topic
        self.arrival = arrival
        self.error = error
        self.count = count
    }
}

/// The numbers of messages and readings of an intake since its creation.
package struct IntakeStatistics: Hashable, Sendable {
    /// The reasons for which an intake drops a reading.
    package enum Reason: String, Hashable, Sendable, CaseIterable {
        /// The RSSI isn't a measurement, see ``Sighting/isMeasurement(rssi:)``.
        case withoutMeasurement
        /// The reading contains no usable name of the receiver or of the tag.
        case unnamed
        /// The tag isn't in the register, and the settings exclude it.
        case unknownTag
        /// The tag isn't in the register, and wasn't heard often enough yet, see `FleetSettings.unknownTagMoments`.
        case stranger
        /// The gateway reported the same advertisement before.
        case duplicate
        /// The reading is older than `GatewayClock.lateLimit`.
        case late
    }

    /// The number of messages, including retained and invalid ones.
    package var messages = 0
    /// The number of readings that the intake returned.
    package var readings = 0
    /// The number of retained messages, which the intake drops.
    package var retained = 0
    /// The number of invalid messages by the name of the format; `unknown` if the decoder detected none.
    package var invalid: [String: Int] = [:]
    /// The number of dropped readings by reason.
    package var dropped: [Reason: Int] = [:]
    /// The number of readings whose time is that of their arrival although the gateway reported a time.
    package var withoutClock = 0

    /// Creates statistics without messages.
    package init() {}

    /// The metrics. The families are the same for all statistics.
    package var families: [MetricFamily] {
        func counter(_ name: String, _ help: String, _ samples: [MetricFamily.Sample]) -> MetricFamily {
            MetricFamily("indoorloc_intake_" + name, .counter, help: help, samples: samples)
        }
        func number(_ count: Int, _ labels: MetricFamily.Label...) -> MetricFamily.Sample {
            MetricFamily.Sample(.number(Double(count)), labels: labels)
        }
        return [
            counter("messages", "Messages of gateways that arrived.", [number(messages)]),
            counter("retained_messages", "Messages that a broker had stored, which are dropped.", [number(retained)]),
            counter(
                "invalid_messages", "Messages that can't be decoded, by format.",
                invalid.sorted { $0.key < $1.key }.map { number($0.value, .init("format", $0.key)) }),
            counter("readings", "Readings of tags that were passed on.", [number(readings)]),
            counter(
                "dropped_readings", "Readings that were dropped, by reason.",
                Reason.allCases.map { number(dropped[$0] ?? 0, .init("reason", $0.rawValue)) }),
            counter(
                "arrival_times", "Readings with the time of their arrival, as the gateway's time is unusable.",
                [number(withoutClock)]),
        ]
    }

    mutating func drop(_ reason: Reason) { dropped[reason, default: 0] += 1 }
}

/// The rules that count each advertisement once.
///
/// Some gateways publish one advertisement several times, in a message for each of its parts. A reading is a
/// duplicate if the reading before it of the same tag by the same receiver has the same RSSI, and
/// - both have the same time by a clock with a resolution of at most 10 ms; or
/// - they arrived in two messages within 50 ms, and at least one has no such time.
///
/// Readings in one message are different advertisements unless such a clock proves the opposite. A time that the
/// advertisements of a message share doesn't: it only proves that the same message was sent again.
///
/// The filtered RSSIs of a gateway pass even if their windows overlap: the engine weights each by the part of its window
/// that is new.
///
/// The filter stores the latest reading of each pair of tag and receiver, up to a limit.
struct RepetitionFilter: Sendable {
    private struct Pair: Hashable, Sendable {
        var tag: TagKey
        var receiver: UInt32
    }

    private struct Latest: Sendable {
        var message: UInt64
        var arrival: Instant
        /// The time by a fine clock; nil without one.
        var time: Int64?
        /// Whether other readings of the message have the same time, although they are others.
        var isShared: Bool
        var rssi: Double
    }

    /// The coarsest resolution of a clock at which equal times prove that two readings are the same.
    static let fineResolution = Duration.milliseconds(10)
    /// The time within which a gateway publishes the parts of one advertisement. Devices advertise less often.
    static let duplicateTime = Duration.milliseconds(50)

    private var latest: RecencyTable<Pair, Latest>

    init(limit: Int) { latest = RecencyTable(limit: limit) }

    /// The number of stored pairs.
    var pairCount: Int { latest.count }

    /// Returns whether a reading repeats the one before it.
    ///
    /// - Parameters:
    ///   - receiver: the number of the receiver.
    ///   - message: the number of the message.
    mutating func isDuplicate(
        _ reading: GatewayReading, of tag: TagKey, receiver: UInt32, arrival: Instant, message: UInt64
    ) -> Bool {
        let time = reading.time.flatMap { $0.resolution <= Self.fineResolution ? $0.nanoseconds : nil }
        let fresh = Latest(
            message: message, arrival: arrival, time: time, isShared: reading.time?.isShared == true, rssi: reading.rssi
        )
        var isFirst = false
        func initial() -> Latest {
            isFirst = true
            return fresh
        }
        return latest.use(Pair(tag: tag, receiver: receiver), else: initial()) { last in
            let isRepeated = !isFirst && Self.isDuplicate(fresh, of: last)
            // The readings of a message that was sent again are all compared with those of the first one.
            if !isRepeated || !fresh.isShared { last = fresh }
            return isRepeated
        }
    }

    private static func isDuplicate(_ reading: Latest, of last: Latest) -> Bool {
        guard reading.rssi == last.rssi else { return false }
        let isSameMessage = reading.message == last.message
        if let time = reading.time, let lastTime = last.time {
            return time == lastTime && !(isSameMessage && reading.isShared)
        }
        guard !isSameMessage else { return false }
        let pause = last.arrival.duration(to: reading.arrival)
        return pause >= .zero && pause <= duplicateTime
    }
}

/// The tags outside of the register that were heard, and whether each was heard often enough to be located.
///
/// A position takes more memory than the name of a tag, and any device can advertise invented names: a single radio can
/// send some hundred random addresses a second. Phones also change theirs, about every 15 minutes (Bluetooth Core
/// Specification 5.4, volume 3, part C, appendix A), but a phone that stays for a while sends several times a second
/// until then, and gateways report it every few seconds. Therefore, a tag is located once it was heard in several
/// *moments*: each is at least a second after the one before, and at most as long after it as a tag stays present
/// without a reading. The readings of one advertisement by several gateways, or those of a burst of advertisements, are
/// one moment.
///
/// The least recently heard tag is forgotten if there are too many.
struct TagAcquaintance: Sendable {
    private struct Encounter: Sendable {
        var moments = 0
        /// The time of the latest moment, and of the latest reading.
        var moment = Instant.zero
        var latest = Instant.zero
    }

    /// The shortest time between two moments.
    static let pause = Duration.seconds(1)
    /// The longest time between two moments, and the time after which a located tag is a stranger again.
    static let (patience, memory) = (Duration.seconds(60), Duration.seconds(600))

    /// The number of moments after which a tag is located.
    let needed: Int
    private var encounters: RecencyTable<TagKey, Encounter>

    init(needed: Int, limit: Int) {
        self.needed = needed
        encounters = RecencyTable(limit: limit)
    }

    /// The number of tags, located or not.
    var count: Int { encounters.count }

    /// Adds a reading of a tag, and returns whether the tag is located.
    mutating func isLocated(_ tag: TagKey, at now: Instant) -> Bool {
        guard needed > 1 else { return true }
        let needed = needed
        return encounters.use(tag, else: Encounter()) { encounter in
            defer { encounter.latest = max(encounter.latest, now) }
            if encounter.moments >= needed, encounter.latest.duration(to: now) <= Self.memory { return true }
            let pause = encounter.moment.duration(to: now)
            if encounter.moments == 0 || encounter.moments >= needed || pause > Self.patience {
                (encounter.moments, encounter.moment) = (1, now)
            } else if pause >= Self.pause {
                (encounter.moments, encounter.moment) = (encounter.moments + 1, now)
            }
            return encounter.moments >= needed
        }
    }

    /// Moves the times of all encounters, after the clock was set forward.
    mutating func move(by step: Duration) {
        encounters.changeAll { encounter in
            encounter.moment = encounter.moment.advanced(by: step)
            encounter.latest = encounter.latest.advanced(by: step)
        }
    }

    /// Counts tags as located without further readings, such as those of an earlier start.
    mutating func locate(_ tags: some Sequence<TagKey>, at now: Instant) {
        for tag in tags { encounters.set(Encounter(moments: needed, moment: now, latest: now), for: tag) }
    }
}
