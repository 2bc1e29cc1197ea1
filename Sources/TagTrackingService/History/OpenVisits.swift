import IndoorVocabulary
import VenueModel

/// The visits of a tag that have not ended.
///
/// Events tell exactly when a tag enters and leaves a room, but some of them can be missing: outputs can be lost, a
/// start continues with tags that are in rooms already, and a room can have another name then. A visit whose entry isn't
/// known therefore follows the rooms of the positions, and so does a tag whose entries may be missing. A position behind
/// a wall doesn't matter for a short time.
struct OpenVisits: Hashable, Sendable {
    /// A room, by its name.
    struct Place: Hashable, Sendable {
        var mapID: MapID
        var room: String
    }

    /// The rooms that an output tells.
    struct Presence: Hashable, Sendable {
        /// The rooms that contain the tag, of which several may overlap.
        let containing: Set<Place>
        /// The rooms in which the tag may still be, including those that contain it.
        let likely: Set<Place>

        init(containing: Set<Place>, others: [Place] = []) {
            self.containing = containing
            likely = containing.union(others)
        }
    }

    /// A change of the stored visits.
    enum Change: Hashable, Sendable {
        case begin(Place, VenueID, at: Instant)
        case extend(Place, to: Instant)
        /// The visit ended at the instant to which it was extended.
        case end(Place)
    }

    private struct Visit: Hashable, Sendable {
        var place: Place
        var end: Instant
        /// Whether the events tell when the visit ends, because they told its beginning.
        var isKnown: Bool
        /// The first instant at which the tag was somewhere else; nil if it is here.
        var elsewhere: Instant?
    }

    /// The longest time between two outputs of a visit.
    static let gap = Duration.seconds(60)
    /// The time for which positions must be in another room to end or begin a visit without an event.
    private static let tolerance = Duration.seconds(10)

    private var visits: [Visit] = []
    /// Whether the tag may be in rooms whose entries are missing.
    private var lacksEntries: Bool
    /// The rooms without a visit in which the tag is, with the first instant.
    private var unvisited: [Place: Instant] = [:]

    /// Continues stored visits, of which the latest events aren't known.
    init(continuing stored: [(place: Place, end: Instant)]) {
        visits = stored.map { Visit(place: $0.place, end: $0.end, isKnown: false) }
        lacksEntries = true
    }

    /// Begins a session of the tag, all of whose entries are events.
    mutating func begin() {
        lacksEntries = false
        unvisited = [:]
    }

    /// Ends all visits at their last output.
    mutating func leave() -> [Change] {
        defer { visits = [] }
        begin()
        return visits.map { .end($0.place) }
    }

    mutating func enter(_ place: Place, of venue: VenueID, at instant: Instant) -> [Change] {
        lacksEntries = false
        unvisited[place] = nil
        var changes: [Change] = []
        if let index = visits.firstIndex(where: { $0.place == place }) {
            // A program that starts again without a state reports the entry again.
            guard visits[index].end.duration(to: instant) > Self.gap else {
                (visits[index].isKnown, visits[index].elsewhere) = (true, nil)
                return []
            }
            visits.remove(at: index)
            changes.append(.end(place))
        }
        visits.append(Visit(place: place, end: instant, isKnown: true))
        return changes + [.begin(place, venue, at: instant)]
    }

    mutating func exit(_ place: Place, at instant: Instant) -> [Change] {
        unvisited[place] = nil
        guard let index = visits.firstIndex(where: { $0.place == place }) else { return [] }
        // A program that starts again reports the exit of a tag that left meanwhile.
        let isRecent = visits.remove(at: index).end.duration(to: instant) <= Self.gap
        return (isRecent ? [.extend(place, to: instant)] : []) + [.end(place)]
    }

    /// Handles a position or a trained room of the tag.
    mutating func stay(in presence: Presence, of venue: VenueID, at instant: Instant) -> [Change] {
        var changes: [Change] = []
        for index in visits.indices.reversed() {
            let (place, end) = (visits[index].place, visits[index].end)
            let isHere = visits[index].isKnown || presence.likely.contains(place)
            if end.duration(to: instant) > Self.gap {
                // The tag may have been anywhere meanwhile.
                changes.append(.end(place))
                lacksEntries = true
                if presence.likely.contains(place) {
                    changes.append(.begin(place, venue, at: instant))
                    (visits[index].end, visits[index].elsewhere) = (instant, nil)
                } else {
                    visits.remove(at: index)
                }
            } else if isHere {
                visits[index].elsewhere = nil
                // A second is exact enough, and few positions need a statement.
                guard end.duration(to: instant) >= .seconds(1) else { continue }
                changes.append(.extend(place, to: instant))
                visits[index].end = instant
            } else {
                let since = visits[index].elsewhere ?? instant
                visits[index].elsewhere = since
                guard since.duration(to: instant) >= Self.tolerance else { continue }
                changes.append(.end(place))
                visits.remove(at: index)
            }
        }
        return changes + beginVisits(in: presence, of: venue, at: instant)
    }

    /// Begins visits of rooms whose entries are missing.
    private mutating func beginVisits(
        in presence: Presence, of venue: VenueID, at instant: Instant
    ) -> [Change] {
        var changes: [Change] = []
        let before = unvisited
        unvisited = [:]
        guard lacksEntries || !before.isEmpty else { return [] }
        let open = Set(visits.map(\.place))
        // Near a border, the tag counts as in its room although its position has left it.
        let isUndecided = !open.intersection(presence.likely).isSubset(of: presence.containing)
        for place in presence.containing.subtracting(open).sorted(by: { $0.room < $1.room }) {
            guard let since = before[place] ?? (lacksEntries ? instant : nil) else { continue }
            if since.duration(to: instant) >= Self.tolerance, !isUndecided {
                changes += [.begin(place, venue, at: since), .extend(place, to: instant)]
                visits.append(Visit(place: place, end: instant, isKnown: false))
            } else {
                unvisited[place] = since
            }
        }
        return changes
    }
}
