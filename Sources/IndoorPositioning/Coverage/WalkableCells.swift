import IndoorVocabulary
import VenueModel

/// The cells of a map's grid that people can reach.
struct WalkableCells: Sendable {
    let cells: [Int]

    /// The maximum distance in metres between the tested points of a cell. The large cells of a large map would
    /// otherwise miss a corridor.
    private static let spacing = 0.5

    /// Selects the cells of which a tested point is inside; if nothing says where the inside is, the cells with a tested
    /// point on the plan.
    init(of map: VenueMap, _ interior: MapInterior, grid: MapGrid) {
        // A cell of at most 1 m is tested at its centre.
        let count = grid.cellSize <= 1 ? 1 : Int((grid.cellSize / Self.spacing).rounded(.up))
        let offsets = (0..<count).map { ((Double($0) + 0.5) / Double(count) - 0.5) * grid.cellSize }
        let selected = (0..<grid.count).filter { cell in
            let center = grid.center(of: cell)
            return offsets.contains { x in
                offsets.contains { y in
                    let point = center + MapPoint(x: x, y: y)
                    guard point.x <= map.width, point.y <= map.height else { return false }
                    return interior.contains(point)
                }
            }
        }
        // Areas between all tested points are represented by the cells of their corners.
        cells = selected.isEmpty ? Set(interior.corners.compactMap(grid.cell(at:))).sorted() : selected
    }
}
