import IndoorVocabulary
import VenueModel

/// The choice of the tags that are recorded, so that the venue can be learned from what its receivers hear.
///
/// A tag is recorded from the moment at which it has moved until it rests or is away, and for an hour at most: a tag at rest
/// for hours teaches nothing, and would fill the disk. Of more tags than can be recorded at once, the one whose latest
/// recording ended first is next.
///
/// The choice is a value with time as an input. Its memory is limited; a tag that isn't known any more counts as one that
/// rests. The time for an output is constant.
package struct RecordedTags: Sendable {
    /// The limits of the choice.
    package struct Limits: Hashable, Sendable {
        /// The maximum number of tags that are recorded at once, at least 1. Each needs an open file and about 0.4 MB.
        package var recorded = 50
        /// The maximum number of tags whose movement is known, at least 1. Each needs about 200 bytes.
        package var known = 20_000
        /// The time after which a recording ends. `survey --self` uses the first hour of one.
        package var span = Duration.seconds(3600)
        /// The minimum distance in metres by which the position of a tag changes when it moves: the positions of a tag at rest
        /// mostly differ by less.
        package var distance = 5.0
        /// The time without a movement after which a tag rests.
        package var rest = Duration.seconds(300)

        /// Creates the standard limits.
        package init() {}
    }

    private struct State: Sendable {
        /// The place of the latest movement, or of the first position.
        var mapID: MapID
        var point: MapPoint
        /// The time of the latest movement; nil before one, and while the tag is away.
        var moved: Instant?
        /// The time at which the latest recording ended; nil before one.
        var ended: Instant?
    }

    /// The number of 68 % radii by which the position of a tag changes when it moves.
    private static let radii = 1.5
    /// The time between two choices.
    private static let interval = Duration.seconds(1)

    /// The tags that are recorded.
    package private(set) var tags: Set<TagKey> = []
    private let limits: Limits
    private var states: RecencyTable<TagKey, State>
    /// The times at which the recordings began.
    private var starts: [TagKey: Instant] = [:]
    /// The tags that have moved and aren't recorded.
    private var waiting: Set<TagKey> = []
    private var next: Instant?

    /// Creates a choice without tags.
    package init(limits: Limits = Limits()) {
        self.limits = limits
        states = RecencyTable(limit: limits.known)
    }

    /// Adds an output.
    package mutating func add(_ output: FleetOutput) {
        switch output.content {
        case .position(let position):
            let first = State(mapID: position.mapID, point: position.point)
            // An uncertain position moves farther, though the tag rests.
            let distance = max(limits.distance, Self.radii * position.radius)
            let hasMoved = states.use(output.tag, else: first) { state in
                guard state.mapID != position.mapID || state.point.distance(to: position.point) >= distance else {
                    return false
                }
                (state.mapID, state.point, state.moved) = (position.mapID, position.point, output.instant)
                return true
            }
            if hasMoved, !tags.contains(output.tag) { waiting.insert(output.tag) }
        case .away: states.change(output.tag) { $0.moved = nil }
        case .present, .room, .event: break
        }
    }

    /// Chooses the tags at an instant, at most once a second.
    ///
    /// - Returns: the tags whose recordings end. A tag whose hour is over can be among those that are recorded next.
    package mutating func advance(to now: Instant) -> [TagKey] {
        guard next.map({ now >= $0 }) ?? true else { return [] }
        next = now.advanced(by: Self.interval)
        let ended = starts.filter { $0.value.duration(to: now) >= limits.span || !isMoving($0.key, at: now) }
            .keys.sorted()
        for tag in ended {
            end(tag, at: now)
            waiting.insert(tag)
        }
        waiting = waiting.filter { isMoving($0, at: now) }
        let places = limits.recorded - tags.count
        if places > 0, !waiting.isEmpty {
            let order = waiting.sorted { (turn(of: $0), $0) < (turn(of: $1), $1) }
            for tag in order.prefix(places) {
                starts[tag] = now
                tags.insert(tag)
                waiting.remove(tag)
            }
        }
        return ended
    }

    /// Removes tags, such as those that left the register.
    package mutating func remove(_ removed: some Sequence<TagKey>) {
        for tag in removed {
            states.remove(tag)
            starts[tag] = nil
            tags.remove(tag)
            waiting.remove(tag)
        }
    }

    private mutating func end(_ tag: TagKey, at now: Instant) {
        starts[tag] = nil
        tags.remove(tag)
        states.change(tag) { $0.ended = now }
    }

    private func turn(of tag: TagKey) -> Instant { states.peek(tag)?.ended ?? Instant(nanoseconds: .min) }

    private func isMoving(_ tag: TagKey, at now: Instant) -> Bool {
        guard let moved = states.peek(tag)?.moved else { return false }
        return moved.duration(to: now) < limits.rest
    }
}
