import IndoorVocabulary
import LocalizationSession
import TextFormats
import VenueModel

/// The latest state of a tag according to the outputs of its fleet.
package struct LatestOutput: Hashable, Sendable {
    /// The tag.
    package var tag: TagKey
    /// The display name of the tag; nil for the key.
    package var name: String?
    /// The epoch of the last output.
    package var epoch: UInt64
    /// The sequence of the last output within its epoch.
    package var sequence: UInt64
    /// The time of the last output, counted from the Unix epoch.
    package var instant: Instant
    /// Whether the tag is present, not away.
    package var isPresent: Bool
    /// The time of the last change between present and away.
    package var presenceInstant: Instant
    /// The last position; nil before the first one. It is kept when the tag is away.
    package var position: Position?
    /// The last trained room, in a fleet without a floor plan. It is kept when the tag is away.
    package var trained: TagRoom?

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
        guard let place = position.map(FleetOutput.Content.position) ?? trained.map(FleetOutput.Content.room),
            let placeInstant = position?.instant ?? trained?.instant
        else { return [output(presence, presenceInstant, isLast: true)] }
        return isPresent
            ? [output(presence, presenceInstant, isLast: false), output(place, instant, isLast: true)]
            : [output(place, placeInstant, isLast: false), output(presence, presenceInstant, isLast: true)]
    }

    /// The name of the room of the tag; nil if it is away, or in none.
    package var room: String? { isPresent ? position?.label ?? trained?.label : nil }

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
        case .room(let room):
            isPresent = true
            trained = room
        case .away: isPresent = false
        }
        if isPresent != wasPresent { presenceInstant = output.instant }
    }
}

/// The latest states of all tags of a fleet, for pages, queries and retained messages.
package struct LatestOutputs: Sendable {
    /// The maximum number of tags.
    package let capacity: Int
    /// The states by tag.
    package private(set) var tags: [TagKey: LatestOutput] = [:]
    /// The number of tags that were discarded because of the capacity.
    package private(set) var discardedCount = 0
    /// The tags that are discarded last: those of the register.
    package var registered: Set<TagKey> = []
    private var filter: OutputFilter

    /// Creates the states without tags.
    ///
    /// - Parameter capacity: the maximum number of tags, at least 10. If there are more, the tags that are away for the
    ///   longest time are discarded first, then those without an output for the longest time.
    package init(capacity: Int = 200_000) {
        self.capacity = max(10, capacity)
        filter = OutputFilter(capacity: 2 * self.capacity)
    }

    /// Returns the number of tags for one machine: those of the register, and 20,000 unknown ones. Each takes about 1 kB.
    package static func capacity(with registered: Int) -> Int { 20_000 + 2 * registered }

    /// The number of outputs that were repeated or out of date.
    package var droppedCount: Int { filter.droppedCount }

    /// Adds an output. Returns whether it is newer than the last one of its tag; otherwise it has no effect.
    @discardableResult package mutating func add(_ output: FleetOutput) -> Bool {
        guard filter.accepts(output) else { return false }
        if tags[output.tag]?.update(by: output) == nil {
            if tags.count >= capacity { discard() }
            tags[output.tag] = LatestOutput(output)
        }
        return true
    }

    /// Removes a tag. Returns its last state; nil if there is none.
    @discardableResult package mutating func remove(_ tag: TagKey) -> LatestOutput? { tags.removeValue(forKey: tag) }

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

/// The rule by which a reader drops outputs of a fleet that are repeated or out of date.
///
///     var filter = OutputFilter()
///     for output in outputs where filter.accepts(output) { store(output) }
///
/// A fleet emits each output at least once, even after a restart or when another process continues. The filter accepts
/// an output if its epoch, and within the epoch its sequence, is greater than that of the last accepted output of the
/// tag.
package struct OutputFilter: Sendable {
    private struct Mark: Comparable {
        let epoch, sequence: UInt64

        static func < (left: Self, right: Self) -> Bool {
            (left.epoch, left.sequence) < (right.epoch, right.sequence)
        }
    }

    /// The maximum number of tags whose last output the filter stores.
    package let capacity: Int
    /// The number of dropped outputs.
    package private(set) var droppedCount = 0
    /// Two generations: the older one is discarded when the newer one reaches half of the capacity.
    private var newer: [TagKey: Mark] = [:]
    private var older: [TagKey: Mark] = [:]

    /// Creates a filter without outputs.
    ///
    /// - Parameter capacity: the maximum number of tags, at least 2. If there are more, the filter discards the tags
    ///   without an output for the longest time, and would accept an old output of them.
    package init(capacity: Int = 1_000_000) { self.capacity = max(2, capacity) }

    /// The number of tags whose last output the filter stores.
    package var tagCount: Int { newer.count + older.keys.count { newer[$0] == nil } }

    /// Returns whether an output is greater than the last accepted one of its tag, and stores it if so.
    package mutating func accepts(_ output: FleetOutput) -> Bool {
        let mark = Mark(epoch: output.epoch, sequence: output.sequence)
        if let last = newer[output.tag] ?? older[output.tag], mark <= last {
            droppedCount += 1
            return false
        }
        if newer.count >= capacity / 2, newer[output.tag] == nil {
            older = newer
            newer.removeAll(keepingCapacity: false)
        }
        newer[output.tag] = mark
        return true
    }
}

/// The tags of a fleet as GeoJSON (RFC 7946): one FeatureCollection with a Point for each tag.
///
/// GeoJSON can't represent a place without coordinates. Tags on maps that aren't georeferenced, and tags without a
/// position, are therefore left out and counted in the member `omitted`.
package struct TagCollection: Sendable {
    /// The document in UTF-8.
    package private(set) var bytes: [UInt8]
    /// The number of features.
    package private(set) var count = 0
    /// The number of tags without coordinates.
    package private(set) var omitted = 0

    /// Creates a collection.
    ///
    /// - Parameter tags: the states of the tags; the features are in the same order.
    package init(_ tags: some Sequence<LatestOutput>) {
        var json = JSONWriter()
        json.beginObject()
        json.add("type", "FeatureCollection")
        json.name("features")
        json.beginArray()
        for tag in tags {
            guard let position = tag.position, let coordinate = position.coordinate else {
                omitted += 1
                continue
            }
            count += 1
            Self.write(tag, position, at: coordinate, to: &json)
        }
        json.endArray()
        json.add("omitted", omitted)
        json.endObject()
        bytes = json.bytes
    }

    private static func write(
        _ tag: LatestOutput, _ position: Position, at coordinate: Coordinate, to json: inout JSONWriter
    ) {
        json.beginObject()
        json.add("type", "Feature")
        json.add("id", tag.tag.description)
        json.add("geometry", pointAt: coordinate)
        json.name("properties")
        json.beginObject()
        json.add("tag", tag.tag.description)
        json.add("name", tag.name)
        json.add("present", tag.isPresent)
        json.add("time", time: position.instant)
        json.add("venueId", position.venueID.rawValue)
        json.add("mapId", position.mapID.rawValue)
        json.add("x", position.x, decimals: 3)
        json.add("y", position.y, decimals: 3)
        json.add("radius", position.radius, decimals: 3)
        json.add("label", position.label)
        json.add("course", position.course, decimals: 1)
        json.add("speed", position.speed, decimals: 2)
        json.endObject()
        json.endObject()
    }
}
