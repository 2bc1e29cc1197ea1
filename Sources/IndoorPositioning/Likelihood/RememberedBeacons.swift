/// The beacons whose lasting errors the particles estimate: the strongest ones of the last seconds.
package struct RememberedBeacons: Sendable {
    /// A beacon, with the time of its latest reading in seconds.
    private struct Slot: Sendable {
        var beacon: Int
        var latest: Double
    }

    /// The number of slots: 32 kB for 250 particles. Six or twelve change the mean error on the data sets by no more than
    /// another seed does. With six, the two other beacons of eight make the radius of a standing device too small.
    static let limit = 8
    /// The time in seconds after which another beacon can have the slot of one that isn't heard any more.
    private static let patience = 5.0

    private var slots: [Slot] = []

    /// Creates the memory without beacons.
    package init() {}

    /// The number of slots in use.
    var count: Int { slots.count }

    /// Returns the slot of a beacon, and the time of its latest reading; nil if it isn't remembered.
    func slot(of beacon: Int) -> (index: Int, latest: Double)? {
        slots.firstIndex { $0.beacon == beacon }.map { ($0, slots[$0].latest) }
    }

    /// Gives a slot to each detected beacon without one, the strongest first, as long as there are free ones.
    ///
    /// - Returns: the slots that have another beacon now, a bit for each.
    mutating func remember(_ evidence: Evidence) -> UInt {
        var changed: UInt = 0
        for heard in evidence.heard where heard.share > 0 && slot(of: heard.beacon) == nil {
            let slot = Slot(beacon: heard.beacon, latest: evidence.time)
            if slots.count < Self.limit {
                changed |= 1 << slots.count
                slots.append(slot)
            } else if let free = slots.indices.min(by: { slots[$0].latest < slots[$1].latest }),
                slots[free].latest + Self.patience < evidence.time
            {
                changed |= 1 << free
                slots[free] = slot
            } else {
                break
            }
        }
        return changed
    }

    /// Notes that the readings of an interval were used.
    mutating func use(_ evidence: Evidence) {
        for heard in evidence.heard where heard.share > 0 {
            if let slot = slot(of: heard.beacon) { slots[slot.index].latest = evidence.time }
        }
    }
}
