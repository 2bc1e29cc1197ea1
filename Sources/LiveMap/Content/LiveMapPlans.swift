import IndoorVocabulary
import VenueModel

/// A source of the plan images of venues, for a live map.
public protocol LiveMapPlans: Sendable {
    /// Returns the image of a map's plan; nil without one.
    func image(of map: VenueMap, in venue: Venue) async -> LiveMapImage?
    /// Returns the geometry of a map's Deep Zoom image; nil without one.
    func tiles(of map: VenueMap, in venue: Venue) async -> LiveMapVenue.Tiles?
    /// Returns a tile of a map's Deep Zoom image; nil without one.
    ///
    /// - Parameters:
    ///   - level: the level of the image pyramid: 0 is a single pixel, and each level doubles width and height.
    ///   - column: the column of the tile, from 0.
    ///   - row: the row of the tile, from 0.
    func tile(of map: VenueMap, in venue: Venue, level: Int, column: Int, row: Int) async -> LiveMapImage?
}

/// The venues of a live map with their plans.
package struct LiveMapVenues: Sendable {
    package private(set) var list: [Venue]
    let plans: (any LiveMapPlans)?

    /// Creates the venues.
    package init(list: [Venue], plans: (any LiveMapPlans)?) { (self.list, self.plans) = (list, plans) }

    /// Adds a venue, or replaces one with the same ID. Returns whether this changes the list.
    mutating func add(_ venue: Venue) -> Bool {
        guard let index = list.firstIndex(where: { $0.id == venue.id }) else {
            list.append(venue)
            return true
        }
        guard list[index] != venue else { return false }
        list[index] = venue
        return true
    }

    /// Returns the descriptions of the venues.
    package func descriptions() async -> [LiveMapVenue] {
        var descriptions: [LiveMapVenue] = []
        for venue in list {
            var tiles: [MapID: LiveMapVenue.Tiles] = [:]
            for map in venue.maps { tiles[map.id] = await plans?.tiles(of: map, in: venue) }
            descriptions.append(LiveMapVenue(venue, tiles: tiles))
        }
        return descriptions
    }

    package func plan(venue: Int, map: Int) async -> LiveMapImage? {
        guard let (venue, map) = find(venue, map) else { return nil }
        return await plans?.image(of: map, in: venue)
    }

    package func tile(venue: Int, map: Int, level: Int, column: Int, row: Int) async -> LiveMapImage? {
        guard let (venue, map) = find(venue, map) else { return nil }
        return await plans?.tile(of: map, in: venue, level: level, column: column, row: row)
    }

    private func find(_ venue: Int, _ map: Int) -> (Venue, VenueMap)? {
        guard let venue = list.first(where: { $0.id.rawValue == venue }),
            let map = venue.map(MapID(rawValue: map))
        else { return nil }
        return (venue, map)
    }
}
