import IndoorVocabulary
import LocalizationSession
import VenueModel

extension FleetMachine {
    /// Advances all tags to an instant, and returns the outputs in the order of their instants.
    ///
    /// The call handles all readings and due times until `now` less ``FleetSettings/reorderWindow``. A long step skips
    /// positions, never readings: each tag that stays present has at most one position for each call. When a tag is away,
    /// its exits from rooms and fences precede ``FleetOutput/Content/away``. An instant before that of an earlier call
    /// has no effect.
    public mutating func advance(to now: Instant) -> [FleetOutput] {
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
        guard let time = table.records[slot]?.due(quiet: Self.quietTime),
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
        guard let times = table.records[slot]?.times(of: entry, quiet: Self.quietTime) else { return }
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
    fileprivate func times(of entry: DueTag, quiet: Int64) -> (due: Int64, away: Int64, interval: Int64)? {
        guard hash == entry.hash, scheduled == entry.nanoseconds else { return nil }
        return (due(quiet: quiet), latest.adding(timeout), interval)
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
