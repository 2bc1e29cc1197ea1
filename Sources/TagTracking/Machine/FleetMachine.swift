import IndoorPositioning
import IndoorVocabulary
import LocalizationSession
import VenueModel

/// The state machine of a fleet or of a partition of it. It converts readings of many tags into positions and events.
///
/// The machine is a value with time and randomness as inputs: the same calls give the same outputs. The readings and
/// the due times of all tags are handled in the order of their instants, so that the outputs don't depend on the order
/// in which readings arrive within ``FleetSettings/reorderWindow``. The computing time for a reading or a position is
/// logarithmic in the number of tags.
///
/// A position of a tag is due after each interval of its class, as long as the tag was received in the last 10 s or has
/// readings without a position.
package struct FleetMachine: Sendable {
    /// The time after the latest reading during which a tag has positions: longer than the 5 s between two messages of
    /// common gateways about a tag.
    static let quietTime: Int64 = 10_000_000_000
    /// The age at which a reading is too old for a session. The engine combines the readings of 4 s.
    static let lateLimit: Int64 = 4_000_000_000

    /// The parts that the machine shares with others.
    package let model: FleetModel
    /// The number of the start.
    package let epoch: UInt64
    /// The known tags. A change applies to names at once, and to power and class at the next session of a tag.
    package var register: TagRegister
    /// The offset of each receiver in dB, in the order of ``Venue/receivers``, which the machine subtracts from its
    /// readings; see `ReceiverMonitor.offsets`.
    ///
    /// - Precondition: the number of offsets is that of the receivers.
    package var receiverOffsets: [Double] {
        didSet { precondition(receiverOffsets.count == model.venue.receivers.count, "one offset per receiver") }
    }
    /// The counters since the machine was created.
    package internal(set) var statistics = FleetStatistics()

    /// The limit of ``FleetSettings/unknownTagMemory`` for this machine, in bytes.
    package var unknownTagMemory: Int

    let seed: UInt64
    var unknown = UnknownTagMemory()
    var table = TagTable()
    var pending = BinaryHeap<PendingReading>()
    var due = BinaryHeap<DueTag>()
    /// The time until which all readings and due tags were handled; nil before the first advance.
    var handled: Int64?
    /// The time of the latest call of ``advance(to:)``.
    var now: Int64?
    /// The time since which messages of gateways arrive: `.min` from the beginning, `.max` while they can't.
    var listening = Int64.min
    var outputs: [FleetOutput] = []
    var evidence = ReceiverEvidence()
    var sampling = SamplingBudget()
    private var names = ReceiverNames()
    var workspace = TagWorkspace()

    /// Creates a machine without tags.
    ///
    /// - Parameters:
    ///   - model: the parts that all machines of a fleet share.
    ///   - epoch: the number of the start, greater than that of each earlier one with the same tags.
    ///   - seed: the seed of all random numbers. The numbers of a tag depend on it and on the tag's key alone.
    package init(model: FleetModel, register: TagRegister = TagRegister(), epoch: UInt64 = 1, seed: UInt64 = 0) {
        self.model = model
        self.register = register
        self.epoch = epoch
        self.seed = seed
        unknownTagMemory = model.settings.unknownTagMemory
        receiverOffsets = Array(repeating: 0, count: model.venue.receivers.count)
    }

    /// Creates a machine without tags, and its own model.
    ///
    /// - Parameters:
    ///   - venue: the venue, with its receivers.
    ///   - epoch: the number of the start, greater than that of each earlier one with the same tags.
    ///   - seed: the seed of all random numbers.
    package init(
        venue: Venue, settings: FleetSettings = FleetSettings(), register: TagRegister = TagRegister(),
        epoch: UInt64 = 1, seed: UInt64 = 0
    ) {
        self.init(model: FleetModel(venue: venue, settings: settings), register: register, epoch: epoch, seed: seed)
    }

    /// The time at which ``advance(to:)`` has work; nil without any.
    package var wakeAt: Instant? {
        let next = min(pending.first?.nanoseconds ?? .max, due.first?.nanoseconds ?? .max)
        guard next != .max else { return nil }
        return Instant(nanoseconds: next.adding(model.settings.reorderWindow.nanoseconds))
    }

    /// The time of the latest advance, also of an earlier process, counted from the Unix epoch; nil before the first one.
    package var time: Instant? { now.map { Instant(nanoseconds: $0) } }

    /// Returns the number of readings of a tag that its sessions used, including those before the snapshot from which
    /// the machine continues; nil for a tag without a state.
    package func readingCount(of tag: TagKey) -> UInt64? { table.slots[tag].flatMap { table.records[$0]?.readings } }

    /// The number of comparisons and of handled readings and tags so far, from which tests derive the growth of the time.
    package var operationCount: Int { pending.comparisons + due.comparisons + operations }
    var operations = 0

    /// Adds a reading.
    ///
    /// The reading of a receiver by another one is evidence about both; a receiver is never a tag. A reading is late if
    /// it is older than the time of the latest advance minus the window. The tag's session still uses it if it is late
    /// by at most 4 s, because the engine combines the readings of that time; otherwise it is discarded.
    package mutating func observe(_ reading: TagReading) {
        guard Sighting.isMeasurement(rssi: reading.rssi) else {
            statistics.invalidReadings += 1
            return
        }
        guard let receiver = names.index(of: reading.receiver, in: model.directory) else {
            statistics.addUnknownReceiver(reading.receiver)
            evidence.addMessage(ofUnknown: reading.receiver, at: reading.instant)
            return
        }
        evidence.addMessage(of: receiver, at: reading.instant)
        let known = table.slots[reading.tag]
        if known == nil, let transmitter = model.directory.index(of: reading.tag) {
            return observe(receiver: transmitter, by: receiver, reading)
        }
        let age = handled.map { $0.subtracting(reading.instant.nanoseconds) } ?? 0
        if age > 0 { statistics.lateReadings += 1 }
        guard age <= Self.lateLimit else {
            statistics.expiredReadings += 1
            return
        }
        guard let slot = known ?? slot(of: reading.tag) else {
            statistics.droppedReadings += 1
            return
        }
        let entry = PendingReading(
            nanoseconds: reading.instant.nanoseconds, hash: table.records[slot]?.hash ?? 0, slot: slot,
            receiver: receiver, rssi: reading.rssi, window: max(0, reading.window.nanoseconds),
            measuredPower: reading.measuredPower.flatMap { $0.isFinite ? $0 : nil } ?? .nan)
        table.records[slot]?.pending += 1
        if age > 0 { return handle(entry) }
        pending.insert(entry)
        while pending.count > model.settings.maximumPendingReadings, let oldest = pending.removeFirst() {
            handle(oldest)
        }
    }
}

/// The parts that all machines of a fleet share: the venue, the settings, the receivers and the tables of the engine.
///
/// The tables of a venue occupy tens of megabytes. A process with several partitions creates one model.
package struct FleetModel: Sendable {
    /// The venue, with its receivers.
    package let venue: Venue
    /// The settings of the fleet.
    package let settings: FleetSettings

    /// The names of the receivers.
    let directory: ReceiverDirectory
    /// The models of the classes, in the order of their names.
    let classes: [TagModel]
    private let classIndexes: [String: Int]

    /// Creates a model. The class `standard` replaces a missing default class.
    ///
    /// - Parameter venue: the venue, with its receivers.
    package init(venue: Venue, settings: FleetSettings = FleetSettings()) {
        self.venue = venue
        var settings = settings
        if settings.classes[settings.defaultClass] == nil { settings.classes[settings.defaultClass] = .standard }
        self.settings = settings
        directory = ReceiverDirectory(venue.receivers)
        let names = settings.classes.keys.sorted()
        classIndexes = Dictionary(zip(names, names.indices), uniquingKeysWith: { first, _ in first })
        let (forTags, tables) = (venue.forTags, SharedTables(venueCount: names.count + 1))
        classes = names.compactMap { settings.classes[$0] }
            .map {
                TagModel(
                    venue: forTags, tagClass: $0, tables: tables, isPowerKnown: settings.knowsReceiverPowers)
            }
    }

    /// Returns the receiver whose gateway reports a name; nil for an unknown one.
    package func receiver(named name: String) -> VenueReceiver? {
        directory.index(of: name).map { venue.receivers[$0] }
    }

    /// Returns a reading of a tag as the sighting of the receiver that heard it, as recordings have it; nil for an unknown
    /// receiver.
    package func sighting(of reading: TagReading) -> Sighting? {
        receiver(named: reading.receiver).map {
            Sighting(instant: reading.instant, beacon: $0.identity, rssi: reading.rssi)
        }
    }

    /// Returns the index of a class; that of the default class for nil and for unknown names.
    func classIndex(of name: String?) -> Int {
        name.flatMap { classIndexes[$0] } ?? classIndexes[settings.defaultClass] ?? 0
    }

    /// Returns the RSSI in dBm that a receiver measures on average from a common tag at a point; nil where the signal
    /// field predicts no reception.
    func commonRSSI(of receiver: Int, at point: MapPoint, on map: MapID, tagClass: Int = 0) -> Double? {
        // The engine of a model has no evidence, so its estimate of the tag's power is that of a common tag.
        classes[tagClass].engine.expectedRSSI(of: venue.receivers[receiver].identity, at: point, on: map)?.mean
    }
}

/// An output of a fleet about one tag.
///
/// A fleet emits each output at least once. The outputs of a tag increase in `epoch`, and within an epoch in
/// `sequence`: a reader drops an output that isn't greater than the last one of the tag.
package struct FleetOutput: Hashable, Sendable {
    /// The content of an output.
    package enum Content: Hashable, Sendable {
        /// The tag was received for the first time, or again after it was away.
        case present
        /// A position of the tag. Its instant is counted from the Unix epoch.
        case position(Position)
        /// The trained room of the tag, in a fleet without a floor plan.
        case room(TagRoom)
        /// The tag entered or left a room or a fence of the venue.
        case event(LocalizationEvent)
        /// No receiver received the tag for the timeout of its class.
        case away

        /// The name of the room of a position or of a trained room; nil for another content, or outside of rooms.
        package var label: String? {
            switch self {
            case .position(let position): position.label
            case .room(let room): room.label
            case .present, .event, .away: nil
            }
        }
    }

    /// The tag.
    package var tag: TagKey
    /// The display name of the tag; nil for the key.
    package var name: String?
    /// The number of the fleet's start or of the partition's owner, which increases with each start or owner.
    package var epoch: UInt64
    /// The number of the output within the tag and the epoch, from 1.
    package var sequence: UInt64
    /// The time of the output, counted from the Unix epoch.
    package var instant: Instant
    /// The content.
    package var content: Content

    /// Creates an output.
    package init(
        tag: TagKey, name: String? = nil, epoch: UInt64, sequence: UInt64, instant: Instant, content: Content
    ) {
        self.tag = tag
        self.name = name
        self.epoch = epoch
        self.sequence = sequence
        self.instant = instant
        self.content = content
    }
}

extension FleetMachine {
    /// Advances all tags to an instant, and returns the outputs in the order of their instants.
    ///
    /// The call handles all readings and due times until `now` less ``FleetSettings/reorderWindow``. A long step skips
    /// positions, never readings: each tag that stays present has at most one position for each call. When a tag is away,
    /// its exits from rooms and fences precede ``FleetOutput/Content/away``. An instant before that of an earlier call
    /// has no effect.
    package mutating func advance(to now: Instant) -> [FleetOutput] {
        self.now = max(self.now ?? .min, now.nanoseconds)
        let end = max(handled ?? .min, now.nanoseconds.subtracting(model.settings.reorderWindow.nanoseconds))
        while true {
            let (reading, tag) = (pending.first?.nanoseconds ?? .max, due.first?.nanoseconds ?? .max)
            guard min(reading, tag) <= end, min(reading, tag) != .max else { break }
            // A position contains the readings of its own instant.
            if reading <= tag {
                if let entry = pending.removeFirst() { handle(entry) }
            } else if let entry = due.removeFirst() {
                handle(entry, until: end)
            }
        }
        handled = end
        table.discard(before: end.subtracting(TagTable.retention))
        statistics.knownTags = table.count
        statistics.pendingReadings = pending.count
        defer { outputs.removeAll() }
        return outputs
    }

    /// Returns whether readings of a tag can pass; see `FleetSettings.UnknownTags`.
    package func passes(_ tag: TagKey) -> Bool {
        model.settings.unknownTags.passes(tag, isRegistered: register.entries[tag] != nil)
    }

    /// Replaces the register, and removes the tags that don't pass any more, without outputs.
    ///
    /// - Parameter tags: tags that were located earlier, in addition to those with a record.
    /// - Returns: the tags that don't pass, in their order.
    package mutating func use(register: TagRegister, for tags: [TagKey]) -> [TagKey] {
        self.register = register
        let removed = Set(self.tags).union(tags).filter { !passes($0) }.sorted()
        remove(removed)
        return removed
    }

    /// Removes tags without outputs, such as those that left the register, with their readings that wait.
    package mutating func remove(_ tags: [TagKey]) {
        let slots = Set(tags.compactMap { table.slots[$0] })
        guard !slots.isEmpty else { return }
        let kept = pending.elements.filter { !slots.contains($0.slot) }
        pending = BinaryHeap()
        for entry in kept { pending.insert(entry) }
        for slot in slots {
            if table.records[slot]?.session != nil {
                statistics.presentTags -= 1
                statistics.endedSessions += 1
            }
            unknown.remove(slot)
            table.remove(slot)
        }
        statistics.knownTags = table.count
        statistics.pendingReadings = pending.count
    }

    /// Sets whether messages of gateways can arrive, such as after a loss of the connection to their broker.
    ///
    /// While they can't, no tag becomes away. Afterwards, a tag becomes away if it isn't received for its timeout.
    package mutating func listen(_ isListening: Bool, at now: Instant) {
        guard isListening != (listening != .max) else { return }
        listening = isListening ? now.nanoseconds : .max
        for slot in table.records.indices where table.records[slot]?.session != nil { schedule(slot) }
    }

    /// The tags with a record.
    package var tags: [TagKey] { Array(table.slots.keys) }

    /// Returns whether a tag is present.
    package func isPresent(_ tag: TagKey) -> Bool {
        table.slots[tag].map { table.records[$0]?.session != nil } ?? false
    }

    /// Returns the slot of a tag; nil if the limit on tags is reached.
    mutating func slot(of key: TagKey) -> Int? {
        table.slot(
            of: key, isRegistered: register.entries[key] != nil, limit: model.settings.maximumTagCount,
            registered: register.entries.count)
    }

    /// Adds the next reading in order, or a late one, to the session of its tag.
    mutating func handle(_ entry: PendingReading) {
        operations += 1
        let slot = entry.slot
        guard let isPresent = table.records[slot].map({ $0.session != nil }) else { return }
        if !isPresent { begin(entry) }
        let instant = Instant(nanoseconds: entry.nanoseconds)
        table.records[slot]?.session?.observe(
            receiver: entry.receiver, rssi: entry.rssi - receiverOffsets[entry.receiver],
            window: .nanoseconds(entry.window), at: instant)
        table.records[slot]?.add(entry, quiet: Self.quietTime)
        if let key = table.records[slot]?.key, register.entries[key] == nil { unknown.hear(slot) }
        if !isPresent { account(for: slot, at: max(entry.nanoseconds, handled ?? .min)) }
        statistics.readings += 1
        statistics.latestReading = max(statistics.latestReading ?? instant, instant)
        schedule(slot)
    }

    /// Creates the session of a tag at its first reading, or at the first one after it was away.
    private mutating func begin(_ entry: PendingReading) {
        guard let key = table.records[entry.slot]?.key else { return }
        let known = register.entries[key]
        let tagClass = model.classIndex(of: known?.tagClass)
        let classModel = model.classes[tagClass]
        let advertised = entry.measuredPower.isNaN ? nil : entry.measuredPower
        let session = TagSession(
            model: classModel, power: known?.power ?? advertised, seed: seed(of: entry.hash, epoch: 0))
        table.records[entry.slot]?.begin(
            session, tagClass: tagClass, of: classModel.tagClass, at: entry.nanoseconds)
        statistics.presentTags += 1
        // A late reading is older than the outputs so far.
        emit(.present, of: entry.slot, at: max(entry.nanoseconds, handled ?? .min))
    }

    /// Returns the seed of a session of a tag with a hash.
    ///
    /// - Parameter epoch: the epoch of the machine for a session that continues from a snapshot, otherwise 0.
    func seed(of hash: UInt64, epoch: UInt64) -> UInt64 {
        var generator = SeededGenerator(seed: seed ^ hash ^ epoch &* SeededGenerator.step)
        return generator.next()
    }

    /// Adds a tag to the queue of due tags, unless its entry there is early enough.
    mutating func schedule(_ slot: Int) {
        guard let time = table.records[slot]?.due(quiet: Self.quietTime, listening: listening),
            let (scheduled, hash) = table.records[slot].map({ ($0.scheduled, $0.hash) }), time < scheduled
        else { return }
        table.records[slot]?.scheduled = time
        due.insert(DueTag(nanoseconds: time, hash: hash, slot: slot))
    }

    /// Handles a tag that has a position or is away.
    private mutating func handle(_ entry: DueTag, until end: Int64) {
        operations += 1
        let (slot, now) = (entry.slot, entry.nanoseconds)
        // Don't copy the record: the copy would share the belief of its session, and the update would then have to copy
        // it.
        guard let times = table.records[slot]?.times(of: entry, quiet: Self.quietTime, listening: listening)
        else { return }
        table.records[slot]?.scheduled = .max
        guard times.due <= now else { return schedule(slot) }
        if now >= times.away { return depart(slot, at: now) }
        // A long step contains several positions of the tag; only the last one is emitted.
        let skipped = end.subtracting(now) / times.interval
        if skipped > 0 {
            table.records[slot]?.nextPosition = now.adding(skipped.multiplied(by: times.interval))
            statistics.skippedPositions += Int(skipped)
        } else {
            locate(slot, at: now)
        }
        schedule(slot)
    }

    private mutating func locate(_ slot: Int, at nanoseconds: Int64) {
        let instant = Instant(nanoseconds: nanoseconds)
        guard let update = table.records[slot]?.session?.update(to: instant, &workspace) else { return }
        if let oldest = table.records[slot]?.oldestNew, let now {
            statistics.latencies.add(.nanoseconds(now.subtracting(oldest)))
        }
        table.records[slot]?.beginInterval(at: nanoseconds)
        if let position = update.position {
            statistics.positions += 1
            emit(.position(position), of: slot, at: nanoseconds)
            sample(slot, position)
        }
        for event in update.events { emit(.event(event), of: slot, at: nanoseconds) }
        table.records[slot]?.clearMeans()
        account(for: slot, at: nanoseconds)
    }

    /// Ends the session of a tag.
    mutating func depart(_ slot: Int, at nanoseconds: Int64) {
        let instant = Instant(nanoseconds: nanoseconds)
        for event in table.records[slot]?.session?.end(at: instant) ?? [] {
            emit(.event(event), of: slot, at: nanoseconds)
        }
        emit(.away, of: slot, at: nanoseconds)
        table.records[slot]?.endSession()
        unknown.remove(slot)
        statistics.unknownTagBytes = unknown.bytes
        statistics.presentTags -= 1
        statistics.endedSessions += 1
        table.depart(slot, at: nanoseconds)
    }

    private mutating func emit(_ content: FleetOutput.Content, of slot: Int, at nanoseconds: Int64) {
        guard let key = table.records[slot]?.key else { return }
        table.records[slot]?.sequence += 1
        if case .event = content { statistics.events += 1 }
        outputs.append(
            FleetOutput(
                tag: key, name: register.entries[key]?.name, epoch: epoch,
                sequence: table.records[slot]?.sequence ?? 0, instant: Instant(nanoseconds: nanoseconds),
                content: content))
    }
}

extension TagRecord {
    /// Returns the times of the tag; nil if the entry of the queue isn't valid any more.
    fileprivate func times(
        of entry: DueTag, quiet: Int64, listening: Int64
    ) -> (due: Int64, away: Int64, interval: Int64)? {
        guard hash == entry.hash, scheduled == entry.nanoseconds else { return nil }
        return (due(quiet: quiet, listening: listening), away(listening: listening), interval)
    }

    /// Begins a session at the time of its first reading.
    fileprivate mutating func begin(
        _ session: TagSession, tagClass: Int, of settings: FleetSettings.TagClass, at nanoseconds: Int64
    ) {
        self.session = session
        self.tagClass = tagClass
        setTimes(of: settings)
        latest = nanoseconds
        nextPosition = nanoseconds.adding(interval)
        awaySince = nil
    }

    /// Sets the interval and the timeout to those of a class.
    mutating func setTimes(of settings: FleetSettings.TagClass) {
        // With an interval of zero, a position would always be due.
        interval = max(settings.positionInterval.nanoseconds, 1_000_000)
        timeout = max(settings.awayTimeout.nanoseconds, interval)
    }

    /// Counts a reading that the session has used.
    ///
    /// - Parameter quiet: the time in nanoseconds after the latest reading during which the tag has positions.
    fileprivate mutating func add(_ entry: PendingReading, quiet: Int64) {
        pending -= 1
        readings += 1
        latest = max(latest, entry.nanoseconds)
        oldestNew = min(oldestNew ?? .max, entry.nanoseconds)
        if nextPosition < entry.nanoseconds {
            // After a pause, positions are due at the same multiples of the interval as before it.
            let missed = entry.nanoseconds.subtracting(nextPosition) / interval
            nextPosition = nextPosition.adding(missed.adding(1).multiplied(by: interval))
        }
        heard(entry)
    }

    /// Begins the interval after a position.
    fileprivate mutating func beginInterval(at nanoseconds: Int64) {
        nextPosition = nanoseconds.adding(interval)
        oldestNew = nil
    }

    fileprivate mutating func endSession() {
        session = nil
        scheduled = .max
        oldestNew = nil
        heard = []
        sample = nil
    }
}

/// The memory of the sessions of tags outside of the register.
struct UnknownTagMemory: Sendable {
    /// The bytes of the session of each of these tags by its slot, the least recently heard tag first.
    private var sessions = RecencyTable<Int, Int>(limit: .max)
    /// The bytes of all these sessions.
    private(set) var bytes = 0

    var count: Int { sessions.count }
    /// The slot of the least recently heard tag; nil if there is none.
    var first: Int? { sessions.first }

    /// Records that a tag was heard.
    mutating func hear(_ slot: Int) { sessions.use(slot, else: 0) { _ in } }

    /// Sets the size of a session.
    mutating func set(_ size: Int, of slot: Int) {
        guard let before = sessions.peek(slot) else { return }
        sessions.change(slot) { $0 = size }
        bytes += size - before
    }

    /// Removes a session, which has ended.
    mutating func remove(_ slot: Int) { bytes -= sessions.remove(slot) ?? 0 }
}

extension FleetMachine {
    /// The memory in bytes that the sessions of tags outside of the register have together.
    package var unknownTagBytes: Int { unknown.bytes }

    /// Records the size of a session, and ends the sessions of the least recently heard tags beyond the budget.
    mutating func account(for slot: Int, at nanoseconds: Int64) {
        guard let key = table.records[slot]?.key, register.entries[key] == nil,
            let size = table.records[slot]?.session?.byteCount
        else { return unknown.remove(slot) }
        unknown.set(size, of: slot)
        // The last one stays, however small the budget is.
        while unknown.bytes > unknownTagMemory, unknown.count > 1, let oldest = unknown.first {
            unknown.remove(oldest)
            guard let key = table.records[oldest]?.key, register.entries[key] == nil else { continue }
            statistics.evictedTags += 1
            depart(oldest, at: nanoseconds)
        }
        statistics.unknownTagBytes = unknown.bytes
    }

    /// Restores the order of the tags of a snapshot.
    mutating func restoreBudget() {
        let slots = table.records.indices.filter { slot in
            table.records[slot].map { $0.session != nil && register.entries[$0.key] == nil } ?? false
        }
        func order(_ slot: Int) -> (Int64, UInt64) {
            (table.records[slot]?.latest ?? .min, table.records[slot]?.hash ?? 0)
        }
        for slot in slots.sorted(by: { order($0) < order($1) }) {
            unknown.hear(slot)
            unknown.set(table.records[slot]?.session?.byteCount ?? 0, of: slot)
        }
        statistics.unknownTagBytes = unknown.bytes
    }
}

extension FleetMachine {
    /// The bytes that the machine holds for its tags and waiting readings, without the shared model and the keys.
    ///
    /// The time is linear in the number of tags.
    package var byteCount: Int {
        let records = table.records.capacity * MemoryLayout<TagRecord?>.stride
        let queues =
            pending.elements.capacity * MemoryLayout<PendingReading>.stride
            + due.elements.capacity * MemoryLayout<DueTag>.stride
        return table.records.reduce(records + queues + workspace.byteCount) { sum, record in
            guard let record else { return sum }
            // The record contains the session itself, whose count includes it.
            let session = (record.session?.byteCount).map { $0 - MemoryLayout<TagSession>.stride } ?? 0
            return sum + session + record.heard.capacity * MemoryLayout<TagRecord.Heard>.stride
        }
    }
}
