import IndoorVocabulary

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
public struct TagIntake: Sendable {
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

    /// Creates an intake without messages.
    ///
    /// - Parameters:
    ///   - register: the known tags.
    ///   - settings: the settings, of which the intake uses ``FleetSettings/unknownTags``.
    ///   - formats: the formats of topics. The first one that matches counts; for other topics the format is detected.
    public init(
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

    /// Returns whether readings of a tag can pass. If only beacons with some UUIDs pass, a reading of an address can
    /// pass too, because the address may belong to such a beacon.
    package func passes(_ tag: TagKey) -> Bool {
        switch unknownTags {
        case .all: return true
        case .none: return known.contains(tag)
        case .beacons(let uuids):
            if case .beacon(let beacon) = tag { return known.contains(tag) || uuids.contains(beacon.uuid) }
            return true
        }
    }

    /// The latest invalid message of each topic, the oldest one first.
    public var problems: [IntakeProblem] { faults.keys.compactMap { faults.peek($0) } }

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
    public mutating func drainEvents() -> [ReceiverEvent] {
        defer { events = [] }
        return events
    }

    /// Returns the offset of a receiver's clock in nanoseconds, the time of arrival minus the receiver's; nil if unknown.
    public func clockOffset(of receiver: String) -> Int64? { receivers.peek(receiver)?.clock.offset }

    /// Returns the readings of a message, in the order of the message.
    public mutating func readings(of message: GatewayMessage) -> [TagReading] {
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

    private mutating func fail(_ message: GatewayMessage, _ error: GatewayError) {
        statistics.invalid[error.format?.rawValue ?? "unknown", default: 0] += 1
        let topic = String(decoding: message.topic.utf8.prefix(Self.longestTopic), as: UTF8.self)
        let fault = IntakeProblem(topic: topic, arrival: message.arrival, error: error, count: 0)
        faults.use(topic, else: fault) { problem in
            problem = IntakeProblem(topic: topic, arrival: message.arrival, error: error, count: problem.count + 1)
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
