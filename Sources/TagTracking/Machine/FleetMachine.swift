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
public struct FleetMachine: Sendable {
    /// The time after the latest reading during which a tag has positions: longer than the 5 s between two messages of
    /// common gateways about a tag.
    static let quietTime: Int64 = 10_000_000_000
    /// The age at which a reading is too old for a session. The engine combines the readings of 4 s.
    static let lateLimit: Int64 = 4_000_000_000

    /// The parts that the machine shares with others.
    public let model: FleetModel
    /// The number of the start.
    public let epoch: UInt64
    /// The known tags. A change applies to names at once, and to power and class at the next session of a tag.
    public var register: TagRegister
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
    public init(model: FleetModel, register: TagRegister = TagRegister(), epoch: UInt64 = 1, seed: UInt64 = 0) {
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
    public init(
        venue: Venue, settings: FleetSettings = FleetSettings(), register: TagRegister = TagRegister(),
        epoch: UInt64 = 1, seed: UInt64 = 0
    ) {
        self.init(model: FleetModel(venue: venue, settings: settings), register: register, epoch: epoch, seed: seed)
    }

    /// The time at which ``advance(to:)`` has work; nil without any.
    public var wakeAt: Instant? {
        let next = min(pending.first?.nanoseconds ?? .max, due.first?.nanoseconds ?? .max)
        guard next != .max else { return nil }
        return Instant(nanoseconds: next.adding(model.settings.reorderWindow.nanoseconds))
    }

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
    public mutating func observe(_ reading: TagReading) {
        guard Sighting.isMeasurement(rssi: reading.rssi) else {
            statistics.invalidReadings += 1
            return
        }
        guard let receiver = names.index(of: reading.receiver, in: model.directory) else {
            statistics.addUnknownReceiver(reading.receiver)
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
