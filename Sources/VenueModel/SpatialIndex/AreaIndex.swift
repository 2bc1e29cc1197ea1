import IndoorVocabulary

/// A spatial index of areas. The time of a query depends on the areas near the point, not on the total number of areas.
///
/// The index is built once per venue, with a tree of boxes for each map. The results are the same as if each area were
/// tested; the boxes only avoid tests. A query never returns an empty area. Points beyond the edges of the plan are
/// valid.
package struct AreaIndex: Hashable, Sendable {
    private let areas: [Area]
    private let trees: [MapID: BoxTree]

    /// Creates the index in O(n log² n). Areas are identified by their index in the list.
    package init(_ places: [(mapID: MapID, area: Area)]) {
        areas = places.map(\.area)
        let indexesByMap = Dictionary(grouping: places.indices) { places[$0].mapID }
        trees = indexesByMap.mapValues { indexes in
            BoxTree(
                indexes.compactMap { index in
                    places[index].area.bounds.map { BoxTree.Entry(box: $0, item: index) }
                })
        }
    }

    /// Appends the indexes of the areas of a map that contain the point, in no particular order.
    ///
    /// The time is linear in the number of corners of the areas whose boxes contain the point. Allocates no memory
    /// while `indexes` has capacity.
    package func append(to indexes: inout [Int], containing point: MapPoint, on map: MapID) {
        guard let tree = trees[map] else { return }
        for index in tree.items(at: point) where areas[index].contains(point) { indexes.append(index) }
    }

    /// Returns the lowest index of the areas of a map that contain the point; nil if there is none.
    package func lowest(containing point: MapPoint, on map: MapID) -> Int? {
        guard let tree = trees[map] else { return nil }
        var lowest: Int?
        for index in tree.items(at: point) where index < lowest ?? .max && areas[index].contains(point) {
            lowest = index
        }
        return lowest
    }
}
