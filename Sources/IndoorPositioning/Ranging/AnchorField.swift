import IndoorVocabulary
import VenueModel

/// The anchors of a venue with their positions in space.
package struct AnchorField: Sendable {
    /// A fixed radio at a known place.
    struct Anchor: Hashable, Sendable {
        /// The point on its map.
        var point: MapPoint
        /// Index of its map in the venue.
        var mapIndex: Int
        /// The height above the floor in metres; nil for the height of the device.
        var z: Double?
    }

    /// The anchors, by index.
    let anchors: [Anchor]
    /// The index of each anchor.
    let indexes: [String: Int]
    /// The height of each map's floor in metres.
    private let elevations: [Double]
    /// The number of floors between any two maps.
    private let floors: [[Int]]

    /// Creates the anchors of a venue; omits anchors on unknown maps.
    package init(venue: Venue) {
        var places: [MapID: Int] = [:]
        for (mapIndex, map) in venue.maps.enumerated() where places[map.id] == nil { places[map.id] = mapIndex }
        var anchors: [Anchor] = []
        var indexes: [String: Int] = [:]
        for anchor in venue.anchors {
            guard let mapIndex = places[anchor.mapID], indexes[anchor.id] == nil else { continue }
            indexes[anchor.id] = anchors.count
            anchors.append(Anchor(point: anchor.point, mapIndex: mapIndex, z: anchor.z))
        }
        self.anchors = anchors
        self.indexes = indexes
        guard !anchors.isEmpty else {
            (elevations, floors) = ([], [])
            return
        }
        elevations = FloorFilter.elevations(of: venue.maps.map { ($0.level, $0.elevation) })
        let distance = FloorDistance(venue.maps)
        floors = venue.maps.map { home in venue.maps.map { distance.floors(from: home.id, to: $0.id) } }
    }

    /// Returns the number of floors between an anchor and a map.
    func floors(from anchor: Int, to mapIndex: Int) -> Int { floors[anchors[anchor].mapIndex][mapIndex] }

    /// Returns the height in metres of an anchor above a device on a map.
    ///
    /// - Parameter height: the height of the device above the floor.
    func rise(of anchor: Int, above height: Double, mapIndex: Int) -> Double {
        let anchor = anchors[anchor]
        return elevations[anchor.mapIndex] + (anchor.z ?? height) - elevations[mapIndex] - height
    }
}
