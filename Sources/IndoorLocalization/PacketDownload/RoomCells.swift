/// Which room each cell of a map's grid lies in, found when it is first asked for.
package struct RoomCells: Sendable {
    /// The rooms that cells are looked up in.
    let index: RoomIndex
    private var sheets: [MapID: Sheet] = [:]

    /// The rooms of one map's cells, by their places in the index.
    private struct Sheet: Sendable {
        var grid: MapGrid
        var places: [Int32]
    }

    private static let unknown: Int32 = -2
    private static let none: Int32 = -1

    /// Knows no cell yet.
    package init(_ index: RoomIndex) { self.index = index }

    /// Sums up weights of cells by the room that the middle of each cell lies in.
    ///
    /// - Parameter cells: counted from 1 in the grid; 0 is beyond it.
    /// - Returns: the rooms by their places in the index, in their order, and the sum of all weights.
    mutating func sums(
        of cells: [Int32], weights: ArraySlice<Float>, on map: MapID, grid: MapGrid
    ) -> (rooms: [(room: Int, weight: Double)], total: Double) {
        guard !index.rooms.isEmpty else { return ([], 0) }
        if sheets[map]?.grid != grid {
            sheets[map] = Sheet(grid: grid, places: Array(repeating: Self.unknown, count: grid.count))
        }
        var sums: [Int32: Double] = [:]
        var total = 0.0
        for (cell, weight) in zip(cells, weights) {
            total += Double(weight)
            guard cell > 0 else { continue }
            let place = place(Int(cell) - 1, map)
            if place >= 0 { sums[place, default: 0] += Double(weight) }
        }
        return (sums.sorted { $0.key < $1.key }.map { (Int($0.key), $0.value) }, total)
    }

    private mutating func place(_ cell: Int, _ map: MapID) -> Int32 {
        guard let sheet = sheets[map] else { return Self.none }
        guard sheet.places[cell] == Self.unknown else { return sheet.places[cell] }
        let place = index.place(at: sheet.grid.center(of: cell), on: map).map { Int32($0) } ?? Self.none
        sheets[map]?.places[cell] = place
        return place
    }
}
