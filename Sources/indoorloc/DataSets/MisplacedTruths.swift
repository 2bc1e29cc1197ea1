import IndoorLocalization
import ScanRecording

/// The ground truth of recordings at places that a venue doesn't have: on unknown maps, or outside the plan of its map.
///
/// Ground truth on an unknown map can't be used. Ground truth outside the plan is used, but most often it is in another
/// unit or frame.
struct MisplacedTruths: Sendable {
    /// The ground truths of a map.
    private struct Truths: Sendable {
        /// The number of all of them.
        var count = 0
        /// The number of those outside the plan.
        var outside = 0
        /// The paths of the recordings with misplaced ones.
        var paths: [String] = []
        /// The place farthest from the plan, and its distance to it in metres.
        var farthest: (distance: Double, point: MapPoint)?
    }

    /// The distance in metres to the plan that counts as on the plan: people walk along its edge, and measure with errors.
    private static let tolerance = 1.0

    let venue: Venue
    private var maps: [MapID: Truths] = [:]

    init(venue: Venue) { self.venue = venue }

    /// Adds the ground truth of a recording.
    mutating func add(_ places: some Sequence<SurveyRecording.Waypoint>, of path: String) {
        for place in places {
            var truths = maps[place.mapID] ?? Truths()
            truths.count += 1
            let distance = venue.map(place.mapID).map { Self.distance(of: place.point, to: $0) }
            if let distance, distance > Self.tolerance {
                truths.outside += 1
                if distance > truths.farthest?.distance ?? 0 { truths.farthest = (distance, place.point) }
            }
            if distance ?? .infinity > Self.tolerance, truths.paths.last != path { truths.paths.append(path) }
            maps[place.mapID] = truths
        }
    }

    /// The distance of a point to the rectangle of a map in metres; 0 on the map.
    private static func distance(of point: MapPoint, to map: VenueMap) -> Double {
        let onMap = MapPoint(x: min(max(point.x, 0), map.width), y: min(max(point.y, 0), map.height))
        return point.distance(to: onMap)
    }

    /// The unknown maps, ordered by number.
    var unknownMaps: [MapID] { maps.keys.filter { venue.map($0) == nil }.sorted() }

    /// The number of ground truths on unknown maps.
    var countOnUnknownMaps: Int { unknownMaps.reduce(0) { $0 + (maps[$1]?.count ?? 0) } }

    /// The number of ground truths outside the plan of their map.
    var countOutside: Int { maps.values.reduce(0) { $0 + $1.outside } }

    /// A line for each map with misplaced ground truth, ordered by number.
    var remarks: [String] {
        maps.sorted { $0.key < $1.key }.compactMap { id, truths in
            guard let map = venue.map(id) else { return remark(truths, onUnknown: id) }
            return truths.farthest.map { remark(truths, outside: map, farthest: $0.point) }
        }
    }

    /// Writes the remarks as warnings to standard error.
    func report() { remarks.forEach { StandardError.line($0, .warning) } }

    private func remark(_ truths: Truths, onUnknown id: MapID) -> String {
        let known = venue.maps.map(\.id.description).joined(separator: ", ")
        return "\(truths.paths.listed): \(truths.count.counting("ground truth")) on map \(id), which '\(venue.name)' "
            + "doesn't have (\(known)), \(truths.count == 1 ? "was" : "were") not used"
    }

    private func remark(_ truths: Truths, outside map: VenueMap, farthest: MapPoint) -> String {
        func metres(_ value: Double) -> String { JSONText.number(value, decimals: 1) }
        return "\(truths.paths.listed): \(truths.outside) of \(truths.count.counting("ground truth")) on map \(map.id) "
            + "\(truths.outside == 1 ? "lies" : "lie") outside its plan of \(metres(map.width)) × \(metres(map.height)) m, "
            + "the farthest at x \(metres(farthest.x)), y \(metres(farthest.y)); check that x and y are metres from the "
            + "plan's top-left corner"
    }
}

extension [String] {
    /// The first paths of a list, and the number of the others.
    var listed: String {
        let shown = prefix(3).joined(separator: ", ")
        return count > 3 ? "\(shown) and \((count - 3).counting("other recording"))" : shown
    }
}
