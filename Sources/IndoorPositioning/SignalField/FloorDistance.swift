import IndoorVocabulary
import VenueModel

/// How many floors lie between the maps of a venue.
struct FloorDistance: Sendable {
    private let levels: [MapID: Int]

    init(_ maps: [VenueMap]) {
        levels = Dictionary(maps.map { ($0.id, $0.level) }, uniquingKeysWith: { first, _ in first })
    }

    /// The number of floors that a signal from one map to another goes through: none within a map, at least one to any
    /// other, such as of another building with the same level.
    func floors(from home: MapID, to map: MapID) -> Int {
        guard home != map else { return 0 }
        guard let from = levels[home], let to = levels[map] else { return 1 }
        let (difference, isTooLarge) = from.subtractingReportingOverflow(to)
        return isTooLarge ? .max : max(1, Int(clamping: difference.magnitude))
    }
}
