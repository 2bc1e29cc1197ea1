import IndoorVocabulary

/// The tags outside of the register that were heard, and whether each was heard often enough to be located.
///
/// A position takes more memory than the name of a tag, and any device can advertise invented names: a single radio can
/// send some hundred random addresses a second. Phones also change theirs, about every 15 minutes (Bluetooth Core
/// Specification 5.4, volume 3, part C, appendix A), but a phone that stays for a while sends several times a second
/// until then, and gateways report it every few seconds. Therefore, a tag is located once it was heard in several
/// *moments*: each is at least a second after the one before, and at most as long after it as a tag stays present
/// without a reading. The readings of one advertisement by several gateways, or those of a burst of advertisements, are
/// one moment.
///
/// The least recently heard tag is forgotten if there are too many.
struct TagAcquaintance: Sendable {
    private struct Encounter: Sendable {
        var moments = 0
        /// The time of the latest moment, and of the latest reading.
        var moment = Instant.zero
        var latest = Instant.zero
    }

    /// The shortest time between two moments.
    static let pause = Duration.seconds(1)
    /// The longest time between two moments, and the time after which a located tag is a stranger again.
    static let (patience, memory) = (Duration.seconds(60), Duration.seconds(600))

    /// The number of moments after which a tag is located.
    let needed: Int
    private var encounters: RecencyTable<TagKey, Encounter>

    init(needed: Int, limit: Int) {
        self.needed = needed
        encounters = RecencyTable(limit: limit)
    }

    /// The number of tags, located or not.
    var count: Int { encounters.count }

    /// Adds a reading of a tag, and returns whether the tag is located.
    mutating func isLocated(_ tag: TagKey, at now: Instant) -> Bool {
        guard needed > 1 else { return true }
        let needed = needed
        return encounters.use(tag, else: Encounter()) { encounter in
            defer { encounter.latest = max(encounter.latest, now) }
            if encounter.moments >= needed, encounter.latest.duration(to: now) <= Self.memory { return true }
            let pause = encounter.moment.duration(to: now)
            if encounter.moments == 0 || encounter.moments >= needed || pause > Self.patience {
                (encounter.moments, encounter.moment) = (1, now)
            } else if pause >= Self.pause {
                (encounter.moments, encounter.moment) = (encounter.moments + 1, now)
            }
            return encounter.moments >= needed
        }
    }

    /// Counts tags as located without further readings, such as those of an earlier start.
    mutating func locate(_ tags: some Sequence<TagKey>, at now: Instant) {
        for tag in tags { encounters.set(Encounter(moments: needed, moment: now, latest: now), for: tag) }
    }
}
