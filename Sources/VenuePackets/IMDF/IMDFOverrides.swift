import IndoorVocabulary
import VenueModel

/// The manual additions that were copied from the packet of an earlier edition, and those that could not be.
public struct IMDFOverrides: Hashable, Sendable {
    /// The objects that were copied, such as `12 beacons`.
    public internal(set) var kept: [String] = []
    /// The objects of the old packet that are not in the new one, with the reason.
    public internal(set) var lost: [String] = []
}

/// A packet whose manual additions cannot be copied to an imported venue.
public enum IMDFOverridesError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The packet has none of the archive's maps.
    case noCommonMap(VenueID)
    /// The positions on this map of the packet cannot be converted to coordinates.
    case noPlace(MapID)

    public var description: String {
        switch self {
        case .noCommonMap(let id):
            "venue \(id) of the packet to keep has no map of the archive; give the packet of an earlier edition of "
                + "this archive"
        case .noPlace(let map):
            "map \(map) of the packet to keep has no valid georeference, so its beacons cannot be placed; "
                + "correct it in venue.json"
        }
    }
}

extension IMDFImport {
    /// Copies from the packet of an earlier edition what an archive cannot contain.
    ///
    /// These are the beacons, the radio map, the settings, the elevations of maps, the images of plans, the
    /// interactions, and the points of interest and fences that don't come from an archive. Maps are matched by their
    /// ids, which are the same for the same levels. If a larger edition has moved its plans, points keep their
    /// coordinates on Earth.
    ///
    /// Only the paths of images are copied: `VenuePacket.copyPlans(of:toFolder:)` copies the files.
    /// - Returns: what was kept and what could not be.
    /// - Throws: `IMDFOverridesError` if the packet is of another archive, or if one of its maps has no valid
    ///   georeference.
    public mutating func keepOverrides(of old: Venue) throws(IMDFOverridesError) -> IMDFOverrides {
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
