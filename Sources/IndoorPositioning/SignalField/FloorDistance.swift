import IndoorVocabulary
import VenueModel

/// The number of floors between the maps of a venue.
struct FloorDistance: Sendable {
    private let levels: [MapID: Int]

    init(_ maps: [VenueMap]) {
        levels = Dictionary(maps.map { ($0.id, $0.level) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the number of floors that a signal from one map to another passes: 0 within a map, and at least 1 to any
    /// other map, such as one with the same level in another building.
    func floors(from home: MapID, to map: MapID) -> Int {
        guard home != map else { return 0 }
        guard let from = levels[home], let to = levels[map] else { return 1 }
        let (difference, isTooLarge) = from.subtractingReportingOverflow(to)
        return isTooLarge ? .max : max(1, Int(clamping: difference.magnitude))
    }
}
