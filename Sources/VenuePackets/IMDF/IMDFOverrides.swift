import IndoorVocabulary
import VenueModel

/// What was carried over from the packet of an earlier edition, and what could not be.
public struct IMDFOverrides: Hashable, Sendable {
    /// What the new packet has from the old one, such as `12 beacons`.
    public internal(set) var kept: [String] = []
    /// What of the old packet is not in the new one, and why.
    public internal(set) var lost: [String] = []
}

/// Why a packet has no handwork for an imported venue.
public enum IMDFOverridesError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The packet has none of the archive's maps.
    case noCommonMap(VenueID)
    /// It cannot be told where on Earth things on this map of the packet lie.
    case noPlace(MapID)

    public var description: String {
        switch self {
        case .noCommonMap(let id):
            "venue \(id) of the packet to keep has no map of the archive; give the packet that an earlier edition of "
                + "this archive became"
        case .noPlace(let map):
            "map \(map) of the packet to keep has no georeference, or a wrong one, so its beacons cannot be placed; "
                + "give it one in venue.json"
        }
    }
}

extension IMDFImport {
    /// Takes over from the packet of an earlier edition what no archive holds.
    ///
    /// These are the beacons, the radio map, the settings, the heights of maps, the images of plans, and the points of
    /// interest and fences that came from no archive. Maps are told by their ids, which are the same for the same
    /// levels. An edition that reaches farther has its plans elsewhere: points keep their place on Earth.
    ///
    /// Images are named only: `VenuePacket.copyPlans(of:toFolder:)` brings their files.
    /// - Returns: what was kept and what could not be.
    /// - Throws: `IMDFOverridesError` if the packet is of another archive, or a map of it lies nowhere.
    public mutating func keepHandwork(of old: Venue) throws(IMDFOverridesError) -> IMDFOverrides {
        var merge = IMDFMerge(old: old, venue: venue, moves: try IMDFMerge.moves(from: old, to: venue))
        merge.keepBeacons()
        merge.keepRadioMap()
        merge.keepSettings()
        merge.keepPlans()
        merge.keepPoints()
        merge.keepFences()
        merge.keepInteractions()
        merge.nameRooms()
        venue = merge.venue
        return merge.result
    }
}
