import IndoorVocabulary
import VenueModel

/// The room of each grid cell of a map, looked up on first use.
package struct RoomCells: Sendable {
    /// The index of the rooms.
    package let index: RoomIndex
    private var sheets: [MapID: Sheet] = [:]

    /// The rooms of one map's cells, as positions in the room index.
    private struct Sheet: Sendable {
        var grid: MapGrid
        var places: [Int32]
    }

    private static let unknown: Int32 = -2
    private static let none: Int32 = -1

    /// Creates an empty lookup.
    package init(_ index: RoomIndex) { self.index = index }

    /// Sums the weights of cells by the room that contains the center of each cell.
    ///
    /// - Parameter cells: the cells, numbered from 1 in the grid; 0 is outside it.
    /// - Returns: the rooms by their position in the index, in order, and the sum of all weights.
    mutating func sums(
        of cells: [Int32], weights: ArraySlice<Float>, on map: MapID, grid: MapGrid
    ) -> (rooms: [(room: Int, weight: Double)], total: Double) {
        guard !index.rooms.isEmpty else { return ([], 0) }
        // Remove the entry and store it again below: the loop then neither copies it nor looks it up for each cell.
        var sheet =
            sheets.removeValue(forKey: map).flatMap { $0.grid == grid ? $0 : nil }
            ?? Sheet(grid: grid, places: Array(repeating: Self.unknown, count: grid.count))
        defer { sheets[map] = sheet }
        var sums = [Double](repeating: 0, count: index.rooms.count)
        var total = 0.0
        for (cell, weight) in zip(cells, weights) {
            total += Double(weight)
            guard cell > 0 else { continue }
            let cell = Int(cell) - 1
            if sheet.places[cell] == Self.unknown {
                sheet.places[cell] = index.place(at: grid.center(of: cell), on: map).map { Int32($0) } ?? Self.none
            }
            let place = Int(sheet.places[cell])
            if place >= 0 { sums[place] += Double(weight) }
        }
        return (sums.enumerated().filter { $0.element > 0 }.map { ($0.offset, $0.element) }, total)
    }
}
