import BeaconScanning
import IndoorVocabulary
import LocalizationSession
import VenueModel

/// The state machine of a fleet without a floor plan: it converts readings of tags into the trained rooms that they are
/// in.
///
/// The machine is a value with time as an input: the same calls give the same outputs. It has a scan of each tag every
/// second in which a gateway heard it, and an ``TagRoomClassifier`` of its own for each tag, because the levels of tags
/// differ.
package struct RoomFleetMachine: Sendable {
    /// The progress of the training of one room with a tag.
    package struct Progress: Hashable, Sendable {
        package var tag: TagKey
        package var room: String
        /// The time of the start, counted from the Unix epoch.
        package var start: Instant
        /// The number of samples so far, one for each second in which a gateway heard the tag.
        package var samples: Int
        /// The number of gateways that heard the tag.
        package var gateways: Int
    }

    private struct Training: Sendable {
        var room: String
        var start: Instant
        var recorder = TrainingRecorder()
        /// The gateways of the samples.
        var gateways: Set<BeaconIdentity> = []

        init(room: String, at start: Instant) {
            (self.room, self.start) = (room, start)
            recorder.start(at: start, unixTime: start.seconds)
        }

        /// Adds a scan, until there are enough. The first ones count, because a person who forgets to end a training
        /// leaves the room at some time.
        mutating func observe(_ scan: RoomScan) {
            guard recorder.sampleCount < RoomFleetMachine.trainingSamples else { return }
            recorder.observe(scan)
            gateways.formUnion(scan.rssi.keys)
        }
    }

    private struct Tag: Sendable {
        var scanner = GatewayScanner()
        var classifier: TagRoomClassifier
        var filter: RoomChangeFilter
        /// The number of scans in a row without a gateway of the training.
        var strangeScans = 0
        /// The scans of the last seconds, which a correction assigns to a room.
        var recent: [RoomScan] = []
        var latest: Instant
        var nextScan: Instant
        var isPresent = false
        /// The room of the last entry without an exit.
        var room: String?
        var sequence: UInt64

        mutating func observe(_ gateway: BeaconIdentity, _ reading: TagReading) {
            scanner.add(gateway, rssi: reading.rssi, at: reading.instant)
            latest = max(latest, reading.instant)
        }

        mutating func move(by step: Duration) {
            scanner.move(by: step)
            for index in recent.indices { recent[index].instant.move(by: step) }
            latest.move(by: step)
            nextScan.move(by: step)
        }
    }

    /// The time between two scans of a tag.
    package static let scanInterval = Duration.seconds(1)
    /// The time between two passes over all tags.
    private static let passInterval = Duration.milliseconds(200)
    /// The time for which the record of a tag that is away is kept.
    private static let retention = Duration.seconds(600)
    /// The number of scans without a gateway of the training after which a tag is in none of the rooms.
    private static let enoughStrangeScans = 10
    /// The samples of a room from which it is recognized well.
    package static let neededSamples = FingerprintQuality.neededSamples
    /// The scans that a correction assigns to a room: the last half minute.
    package static let correctionScans = 30
    /// The largest number of samples of one training: five minutes.
    package static let trainingSamples = 300
    /// The largest number of samples of a room. Beyond it, the oldest ones are discarded; see also
    /// `RoomTrainingSet.shorten(to:)`.
    package static let mostSamples = 600
    /// The largest number of rooms, and of trainings at the same time.
    package static let (mostRooms, mostTrainings) = (200, 20)
    /// The length of the longest name of a room in bytes of UTF-8.
    package static let longestName = 100

    /// The rule for changes of a tag's room. A tag that lies on a border has no change by chance.
    package static let roomSettings: RoomSettings = {
        var settings = RoomSettings(changeRule: .inARow, changeCount: 2)
        settings.changeOdds = 5
        return settings
    }()

    /// The training of all rooms.
    package private(set) var training: RoomTrainingSet
    /// The known tags.
    package var register: TagRegister
    /// The counters since the machine was created.
    package private(set) var statistics = FleetStatistics()
    private let settings: FleetSettings
    private let epoch: UInt64
    private var fresh: TagRoomClassifier
    /// The gateways of the training, as beacons.
    private var gateways: Set<BeaconIdentity>
    private var tags: [TagKey: Tag] = [:]
    private var trainings: [TagKey: Training] = [:]
    private var nextPass: Instant?
    /// The time since which messages of gateways arrive; nil while they can't.
    private var listening: Instant? = Instant(nanoseconds: .min)
    private var outputs: [FleetOutput] = []
    /// The greatest output number of the discarded tags.
    private var discardedSequence: UInt64 = 0

    /// Creates a machine without tags.
    ///
    /// - Parameter epoch: the number of the start, greater than that of each earlier one with the same tags.
    package init(
        training: RoomTrainingSet, settings: FleetSettings = FleetSettings(), register: TagRegister = TagRegister(),
        epoch: UInt64 = 1
    ) {
        (self.training, self.settings, self.register, self.epoch) = (training, settings, register, epoch)
        fresh = TagRoomClassifier(training)
        gateways = training.beacons
    }

    /// Continues with the places of an earlier start: a tag that was present stays in its room until another estimate.
    ///
    /// The next call of ``advance(to:)`` emits the exit and the absence of a tag whose time passed meanwhile. The exit from a
    /// room that isn't trained any more is emitted with the first estimate.
    ///
    /// - Returns: the tags that were present.
    package mutating func begin(with states: some Sequence<LatestOutput>) -> Set<TagKey> {
        var present: Set<TagKey> = []
        for state in states where state.isPresent {
            guard tags.count < settings.maximumTagCount else { break }
            var tag = newTag(at: state.instant)
            tag.isPresent = true
            tag.room = state.trained?.label
            if let label = tag.room, training.rooms[label] != nil { tag.filter.settle(label) }
            tags[state.tag] = tag
            present.insert(state.tag)
        }
        count()
        return present
    }

    private func newTag(at instant: Instant) -> Tag {
        Tag(
            classifier: fresh, filter: RoomChangeFilter(Self.roomSettings), latest: instant,
            nextScan: instant.advanced(by: Self.scanInterval), sequence: discardedSequence)
    }

    private func timeout(of tag: TagKey) -> Duration {
        let name = register.entries[tag]?.tagClass ?? settings.defaultClass
        return (settings.classes[name] ?? .standard).awayTimeout
    }

    // MARK: Readings

    /// Adds a reading.
    package mutating func observe(_ reading: TagReading) {
        guard Sighting.isMeasurement(rssi: reading.rssi) else {
            statistics.invalidReadings += 1
            return
        }
        if tags[reading.tag] == nil {
            guard tags.count < settings.maximumTagCount else {
                statistics.droppedReadings += 1
                return
            }
            tags[reading.tag] = newTag(at: reading.instant)
        }
        tags[reading.tag]?.observe(VenueReceiver.identity(for: reading.receiver), reading)
        statistics.readings += 1
        statistics.latestReading = max(statistics.latestReading ?? reading.instant, reading.instant)
    }

    /// Advances all tags to an instant, and returns the outputs in the order of the tags.
    package mutating func advance(to now: Instant) -> [FleetOutput] {
        if nextPass.map({ now >= $0 }) ?? true {
            nextPass = now.advanced(by: Self.passInterval)
            let due = tags.compactMap { key, tag in
                tag.scanner.isDue && now >= tag.nextScan || isOver(key, tag, at: now) ? key : nil
            }
            for key in due.sorted() { advance(key, to: now) }
            count()
        }
        defer { outputs = [] }
        return outputs
    }

    /// Returns whether a present tag is away, or an absent one is forgotten.
    private func isOver(_ key: TagKey, _ tag: Tag, at now: Instant) -> Bool {
        guard tag.isPresent else { return tag.latest.duration(to: now) >= Self.retention }
        guard let listening else { return false }
        return max(tag.latest, listening).duration(to: now) >= timeout(of: key)
    }

    /// Sets whether messages of gateways can arrive, see ``FleetMachine/listen(_:at:)``.
    package mutating func listen(_ isListening: Bool, at now: Instant) {
        if isListening != (listening != nil) { listening = isListening ? now : nil }
    }

    /// Moves the times of all tags, after the clock was set forward: everything is as old as before.
    package mutating func move(by step: Duration) {
        nextPass = nil
        listening = listening?.advanced(by: step)
        for key in tags.keys { tags[key]?.move(by: step) }
        for key in trainings.keys { trainings[key]?.start.move(by: step) }
    }

    private mutating func count() {
        statistics.knownTags = tags.count
        statistics.presentTags = tags.values.count { $0.isPresent }
    }

    private mutating func advance(_ key: TagKey, to now: Instant) {
        guard var tag = tags[key] else { return }
        guard !isOver(key, tag, at: now) else {
            guard tag.isPresent else {
                discardedSequence = max(discardedSequence, tag.sequence)
                tags[key] = nil
                return
            }
            enter(nil, key, &tag, at: now)
            emit(.away, of: key, &tag, at: now)
            // A tag that returns may be anywhere.
            (tag.isPresent, tag.recent) = (false, [])
            tag.classifier = fresh
            tag.filter = RoomChangeFilter(Self.roomSettings)
            statistics.endedSessions += 1
            tags[key] = tag
            return
        }
        tag.nextScan = now.advanced(by: Self.scanInterval)
        guard let scan = tag.scanner.scan(at: now) else {
            tags[key] = tag
            return
        }
        if !tag.isPresent {
            tag.isPresent = true
            emit(.present, of: key, &tag, at: now)
        }
        tag.recent = tag.recent.suffix(Self.correctionScans - 1) + [scan]
        trainings[key]?.observe(scan)
        if let estimate = estimate(of: scan, &tag) {
            let room = tag.filter.observe(estimate)
            report(estimate, room, key, &tag, at: now)
        }
        tags[key] = tag
    }

    /// Returns the estimate of a scan; nil if there is none yet.
    ///
    /// A tag that only gateways without a training hear for a while is in none of the rooms.
    private func estimate(of scan: RoomScan, _ tag: inout Tag) -> RoomEstimate? {
        if let estimate = tag.classifier.classify(scan) {
            tag.strangeScans = 0
            return estimate
        }
        guard !training.rooms.isEmpty else { return nil }
        tag.strangeScans += 1
        guard tag.strangeScans >= Self.enoughStrangeScans else { return nil }
        let rooms = training.rooms.keys.sorted().map { RoomEstimate.Candidate(room: $0, probability: 0) }
        return RoomEstimate(instant: scan.instant, candidates: [.init(room: nil, probability: 1)] + rooms)
    }

    private mutating func report(
        _ estimate: RoomEstimate, _ room: String?, _ key: TagKey, _ tag: inout Tag, at now: Instant
    ) {
        enter(room, key, &tag, at: now)
        let rooms = estimate.candidates.compactMap { candidate in
            candidate.room.map {
                RoomProbability(id: TagRoom.room(named: $0).id, name: $0, probability: candidate.probability)
            }
        }
        emit(
            .room(TagRoom(instant: now, label: room, rooms: rooms, none: estimate.probability(of: nil))), of: key, &tag,
            at: now)
    }

    /// Emits the exit from the present room and the entry into another one.
    private mutating func enter(_ room: String?, _ key: TagKey, _ tag: inout Tag, at now: Instant) {
        guard room != tag.room else { return }
        for kind in [
            tag.room.map { LocalizationEvent.Kind.exitRoom(TagRoom.room(named: $0)) },
            room.map { .enterRoom(TagRoom.room(named: $0)) },
        ].compactMap(\.self) {
            statistics.events += 1
            emit(
                .event(LocalizationEvent(instant: now, venueID: TagRoom.venueID, kind: kind)), of: key, &tag, at: now)
        }
        tag.room = room
    }

    private mutating func emit(_ content: FleetOutput.Content, of key: TagKey, _ tag: inout Tag, at now: Instant) {
        tag.sequence += 1
        outputs.append(
            FleetOutput(
                tag: key, name: register.entries[key]?.name, epoch: epoch, sequence: tag.sequence, instant: now,
                content: content))
    }

    // MARK: Tags

    /// The tags with a record.
    package var knownTags: [TagKey] { Array(tags.keys) }

    /// Returns whether the training has a gateway, by the name that it reports.
    package func isTrained(gateway name: String) -> Bool { gateways.contains(VenueReceiver.identity(for: name)) }

    /// Removes tags without outputs, such as those that left the register.
    package mutating func remove(_ removed: some Sequence<TagKey>) {
        for key in removed {
            discardedSequence = max(discardedSequence, tags[key]?.sequence ?? 0)
            tags[key] = nil
            trainings[key] = nil
        }
        count()
    }

    // MARK: Training

    /// Replaces the training of all rooms. Each tag stays in its room until another estimate.
    package mutating func use(_ training: RoomTrainingSet) {
        self.training = training
        fresh = TagRoomClassifier(training)
        gateways = training.beacons
        for key in tags.keys {
            tags[key]?.classifier = fresh
            // Beliefs begin with what is known about the present place.
            for scan in tags[key]?.recent.suffix(Self.correctionScans / 3) ?? [] {
                _ = tags[key]?.classifier.classify(scan)
            }
        }
    }

    /// The trainings that run, in the order of their tags.
    package var progress: [Progress] {
        trainings.sorted { $0.key < $1.key }.map { tag, training in
            Progress(
                tag: tag, room: training.room, start: training.start, samples: training.recorder.sampleCount,
                gateways: training.gateways.count)
        }
    }

    /// Starts to train a room with a tag that is in it. Another training of the tag is discarded.
    package mutating func startTraining(
        of room: String, with tag: TagKey, at now: Instant
    ) throws(RoomTrainingProblem) {
        let room = try checked(room)
        guard tags[tag] != nil else { throw .unheardTag(tag) }
        guard trainings[tag] != nil || trainings.count < Self.mostTrainings else { throw .tooManyTrainings }
        trainings[tag] = Training(room: room, at: now)
    }

    /// Ends the training with a tag, and adds its samples to the room.
    package mutating func finishTraining(with tag: TagKey) throws(RoomTrainingProblem) {
        guard var training = trainings[tag] else { throw .noTraining(tag) }
        guard let fingerprint = training.recorder.finish(), !fingerprint.samples.isEmpty else {
            throw .unheardTag(tag)
        }
        trainings[tag] = nil
        add(fingerprint, to: training.room)
    }

    /// Ends the training with a tag, and discards its samples.
    package mutating func cancelTraining(with tag: TagKey) { trainings[tag] = nil }

    /// Corrects the room of a tag: its scans of the last half minute become samples of that room.
    ///
    /// - Returns: the number of samples.
    @discardableResult package mutating func correct(
        _ key: TagKey, to room: String, at now: Instant
    ) throws(RoomTrainingProblem) -> Int {
        let room = try checked(room)
        guard let scans = tags[key]?.recent, !scans.isEmpty else { throw .unheardTag(key) }
        var recorder = TrainingRecorder()
        recorder.start(at: scans[0].instant, unixTime: scans[0].instant.seconds)
        for scan in scans { recorder.observe(scan) }
        guard let fingerprint = recorder.finish(), !fingerprint.samples.isEmpty else { throw .unheardTag(key) }
        add(fingerprint, to: room)
        guard var tag = tags[key] else { return 0 }
        tag.filter.settle(room)
        tag.classifier = fresh
        var latest: RoomEstimate?
        for scan in tag.recent { latest = tag.classifier.classify(scan) ?? latest }
        if let latest { report(latest, room, key, &tag, at: now) }
        tags[key] = tag
        return fingerprint.samples.count
    }

    /// Removes a room with its samples.
    package mutating func remove(room: String) throws(RoomTrainingProblem) {
        guard training.rooms[room] != nil else { throw .unknownRoom(room) }
        var changed = training
        changed.rooms[room] = nil
        use(changed)
    }

    private mutating func add(_ fingerprint: RoomFingerprint, to room: String) {
        var changed = training
        changed.add(fingerprint, to: room)
        let excess = (changed.rooms[room]?.samples.count ?? 0) - Self.mostSamples
        if excess > 0 { changed.rooms[room]?.samples.removeFirst(excess) }
        changed.shorten()
        use(changed)
    }

    private func checked(_ name: String) throws(RoomTrainingProblem) -> String {
        let name = String(name.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
        guard !name.isEmpty, name.utf8.count <= Self.longestName, name.unicodeScalars.allSatisfy({ $0.value >= 0x20 })
        else { throw .invalidName }
        guard training.rooms[name] != nil || training.rooms.count < Self.mostRooms else { throw .tooManyRooms }
        return name
    }
}

/// The reason why a room can't be trained.
package enum RoomTrainingProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the room is empty, too long, or has control characters.
    case invalidName
    /// No gateway has heard the tag in the last minutes.
    case unheardTag(TagKey)
    /// No training with the tag runs.
    case noTraining(TagKey)
    /// The room was not trained.
    case unknownRoom(String)
    case tooManyRooms
    case tooManyTrainings

    package var description: String {
        switch self {
        case .invalidName:
            "The name of a room must have 1 to \(RoomFleetMachine.longestName) bytes and no control character."
        case .unheardTag(let tag): "No gateway has heard the tag '\(tag)' yet. Bring it nearer to a gateway, or wait."
        case .noTraining(let tag): "No training with the tag '\(tag)' runs."
        case .unknownRoom(let room): "The room '\(room)' is unknown."
        case .tooManyRooms: "There are already \(RoomFleetMachine.mostRooms) rooms."
        case .tooManyTrainings: "There are already \(RoomFleetMachine.mostTrainings) trainings."
        }
    }
}
