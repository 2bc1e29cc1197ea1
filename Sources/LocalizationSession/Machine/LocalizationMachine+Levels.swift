import IndoorPositioning
import IndoorVocabulary
import VenueModel

/// The levels of the beacons of a venue during a part of a session.
package struct VenueLevels: Hashable, Sendable {
    /// The venue, and the version of its packet. The levels are differences from what that version expects.
    package var venueID: VenueID
    package var version: Int
    /// The levels.
    package var levels: BeaconLevels

    /// Creates the levels of a venue.
    package init(venueID: VenueID, version: Int, levels: BeaconLevels) {
        (self.venueID, self.version, self.levels) = (venueID, version, levels)
    }
}

/// The levels of the beacons of a session that wait to be emitted.
struct PendingLevels: Sendable {
    /// The interval at which levels are emitted: the longest time that a killed program loses.
    static let interval = Duration.seconds(60)

    /// The levels of visits that have ended.
    var ended: [VenueLevels] = []
    /// The instant at which the levels of the current visit are due; nil before the first check.
    var dueAt: Instant?
}

// The levels of the beacons, for a history over weeks. By default, a session collects none.
extension LocalizationMachine {
    /// Collects levels from now on.
    mutating func collectLevels() {
        if levels == nil { levels = PendingLevels() }
        visit?.belief.collectLevels()
    }

    /// Keeps the levels of the visit, which ends.
    mutating func keepLevels() {
        if levels != nil, let rest = drainLevels() { levels?.ended.append(rest) }
    }

    /// Returns the directives for the levels that are due.
    mutating func emitLevels(at now: Instant) -> [Directive] {
        guard var pending = levels else { return [] }
        var directives = pending.ended.map(Directive.emitLevels)
        pending.ended.removeAll()
        if pending.dueAt.map({ $0 <= now || $0 > now.advanced(by: PendingLevels.interval) }) ?? true {
            if pending.dueAt != nil, let new = drainLevels() { directives.append(.emitLevels(new)) }
            pending.dueAt = now.advanced(by: PendingLevels.interval)
        }
        levels = pending
        return directives
    }

    /// Returns the levels of the current visit since the previous call; nil if there are none.
    private mutating func drainLevels() -> VenueLevels? {
        guard let venue = visit?.venue, let levels = visit?.belief.drainLevels() else { return nil }
        return VenueLevels(venueID: venue.id, version: venue.version, levels: levels)
    }
}
