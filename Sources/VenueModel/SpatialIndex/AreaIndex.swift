import IndoorVocabulary

/// Finds which of many areas contain a point, at the cost of those that lie near it.
///
/// Built once for a venue, with a tree of boxes for each map. It gives what asking each area would give: boxes only
/// spare the question. An empty area, or one without a point inside, is never found; a point beyond the plan's edges
/// is looked up like any other.
package struct AreaIndex: Hashable, Sendable {
    private let areas: [Area]
    private let trees: [MapID: BoxTree]

    /// Builds the index in O(n log² n); areas are named by their place in the list.
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
    /// Linear in the corners of the areas whose boxes contain the point. Asks for no memory while `indexes` has room.
    package func append(to indexes: inout [Int], containing point: MapPoint, on map: MapID) {
        guard let tree = trees[map] else { return }
        for index in tree.items(at: point) where areas[index].contains(point) { indexes.append(index) }
    }

    /// The lowest index of those areas of a map that contain the point; nil if there is none.
    package func lowest(containing point: MapPoint, on map: MapID) -> Int? {
        guard let tree = trees[map] else { return nil }
        var lowest: Int?
        for index in tree.items(at: point) where index < lowest ?? .max && areas[index].contains(point) {
            lowest = index
        }
        return lowest
    }
}
