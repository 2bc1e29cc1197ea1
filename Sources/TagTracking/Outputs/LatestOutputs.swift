import IndoorVocabulary
import LocalizationSession
import VenueModel

/// The latest state of a tag according to the outputs of its fleet.
public struct LatestOutput: Hashable, Sendable {
    /// The tag.
    public var tag: TagKey
    /// The display name of the tag; nil for the key.
    public var name: String?
    /// The epoch of the last output.
    public var epoch: UInt64
    /// The sequence of the last output within its epoch.
    public var sequence: UInt64
    /// The time of the last output, counted from the Unix epoch.
    public var instant: Instant
    /// Whether the tag is present, not away.
    public var isPresent: Bool
    /// The time of the last change between present and away.
    public var presenceInstant: Instant
    /// The last position; nil before the first one. It is kept when the tag is away.
    public var position: Position?

    /// Creates the state of a tag by its first output.
    init(_ output: FleetOutput) {
        tag = output.tag
        name = output.name
        epoch = output.epoch
        sequence = output.sequence
        instant = output.instant
        isPresent = true
        presenceInstant = output.instant
        update(by: output)
    }

    /// The outputs from which a reader gets this state: the last position and the last presence, in order of their
    /// sequence.
    package var outputs: [FleetOutput] {
        func output(_ content: FleetOutput.Content, _ instant: Instant, isLast: Bool) -> FleetOutput {
            FleetOutput(
                tag: tag, name: name, epoch: epoch, sequence: isLast || sequence == 0 ? sequence : sequence - 1,
                instant: instant, content: content)
        }
        let presence = isPresent ? FleetOutput.Content.present : .away
        guard let position else { return [output(presence, presenceInstant, isLast: true)] }
        let place = FleetOutput.Content.position(position)
        return isPresent
            ? [output(presence, presenceInstant, isLast: false), output(place, instant, isLast: true)]
            : [output(place, position.instant, isLast: false), output(presence, presenceInstant, isLast: true)]
    }

    /// The name of the room of the tag; nil if it is away, or in none.
    public var room: String? { isPresent ? position?.label : nil }

    mutating func update(by output: FleetOutput) {
        name = output.name ?? name
        (epoch, sequence, instant) = (output.epoch, output.sequence, output.instant)
        let wasPresent = isPresent
        switch output.content {
        case .present: isPresent = true
        // The exits of a tag that is away follow from its absence.
        case .event: break
        case .position(let position):
            isPresent = true
            self.position = position
        case .away: isPresent = false
        }
        if isPresent != wasPresent { presenceInstant = output.instant }
    }
}

/// The latest states of all tags of a fleet, for pages, queries and retained messages.
public struct LatestOutputs: Sendable {
    /// The maximum number of tags.
    public let capacity: Int
    /// The states by tag.
    public private(set) var tags: [TagKey: LatestOutput] = [:]
    /// The number of tags that were discarded because of the capacity.
    public private(set) var discardedCount = 0
    /// The tags that are discarded last: those of the register.
    package var registered: Set<TagKey> = []
    private var filter: OutputFilter

    /// Creates the states without tags.
    ///
    /// - Parameter capacity: the maximum number of tags, at least 10. If there are more, the tags that are away for the
    ///   longest time are discarded first, then those without an output for the longest time.
    public init(capacity: Int = 200_000) {
        self.capacity = max(10, capacity)
        filter = OutputFilter(capacity: 2 * self.capacity)
    }

    /// Returns the number of tags for one machine: those of the register, and 20,000 unknown ones. Each takes about 1 kB.
    package static func capacity(with registered: Int) -> Int { 20_000 + 2 * registered }

    /// The number of outputs that were repeated or out of date.
    public var droppedCount: Int { filter.droppedCount }

    /// Adds an output. Returns whether it is newer than the last one of its tag; otherwise it has no effect.
    @discardableResult public mutating func add(_ output: FleetOutput) -> Bool {
        guard filter.accepts(output) else { return false }
        if tags[output.tag]?.update(by: output) == nil {
            if tags.count >= capacity { discard() }
            tags[output.tag] = LatestOutput(output)
        }
        return true
    }

    /// Removes a tag. Returns its last state; nil if there is none.
    @discardableResult public mutating func remove(_ tag: TagKey) -> LatestOutput? { tags.removeValue(forKey: tag) }

    /// Discards a tenth of the tags at once, so that the average time for each tag stays short.
    private mutating func discard() {
        let sorted = tags.values.map { (state: $0, isRegistered: registered.contains($0.tag)) }.sorted {
            if $0.isRegistered != $1.isRegistered { return !$0.isRegistered }
            if $0.state.isPresent != $1.state.isPresent { return !$0.state.isPresent }
            return $0.state.instant < $1.state.instant
        }.map(\.state)
        for state in sorted.prefix(capacity / 10) { tags[state.tag] = nil }
        discardedCount += capacity / 10
    }
}
