import IndoorVocabulary
import VenueModel

extension MapGrid {
    /// Cells of a map that are aimed at, for a metre or less in a house; between 0.5 and 1.5 m each.
    private static let cellTarget = 6000.0
    /// No beacon is heard from farther away than this, in metres.
    static let longestRange = 100.0

    /// Covers the plan, and what of the survey and the beacons lies beyond it; not a beacon too far off to be heard.
    init(of map: VenueMap, in venue: Venue) {
        var low = MapPoint(x: 0, y: 0)
        var high = MapPoint(x: map.width, y: map.height)
        let beacons = venue.beacons.filter { $0.mapID == map.id }.map(\.point).filter { point in
            let beyond = max(-point.x, -point.y, point.x - map.width, point.y - map.height)
            return beyond <= Self.longestRange
        }
        let places = venue.radioMap?.fingerprints.filter { $0.mapID == map.id } ?? []
        for point in places.map(\.point) + beacons {
            low = MapPoint(x: min(low.x, point.x), y: min(low.y, point.y))
            high = MapPoint(x: max(high.x, point.x), y: max(high.y, point.y))
        }
        let area = max(1, (high.x - low.x) * (high.y - low.y))
        let usual = min(max((area / Self.cellTarget).squareRoot(), 0.5), 1.5)
        let cell = max(usual, ModelSize.leastCellSize(of: venue))
        self.init(from: low, to: high, cellSize: cell)
    }
}
