import CMath
import IndoorVocabulary

/// The tables of all beacons on one map, by beacon index in the field.
///
/// The standard model builds a beacon's table when the beacon is first detected. The tables of other models are built
/// together with the field.
package struct SignalTables: RandomAccessCollection, Sendable {
    private enum Source: Sendable {
        case made([SignalField.Table?])
        /// The index of each beacon in the model; nil if the indexes are the same.
        case pathLoss(PathLossTables, sheet: Int, indexes: [Int?]?)
    }

    private let source: Source
    private var hasRates = true
    package let endIndex: Int
    package var startIndex: Int { 0 }

    /// Creates a collection of tables that are already built.
    init(_ tables: [SignalField.Table?]) {
        source = .made(tables)
        endIndex = tables.count
    }

    /// Creates a collection of the standard model's tables on one of its sheets.
    ///
    /// - Parameter indexes: the index of each beacon in the model; nil for a beacon that the model doesn't contain.
    init(_ tables: PathLossTables, sheet: Int, indexes: [Int?]) {
        let isSame = indexes.count == tables.transmitters.count && indexes.indices.allSatisfy { indexes[$0] == $0 }
        source = .pathLoss(tables, sheet: sheet, indexes: isSame ? nil : indexes)
        endIndex = indexes.count
    }

    /// The table of a beacon; nil if the beacon cannot be detected anywhere on the map.
    package subscript(beacon: Int) -> SignalField.Table? {
        var table = table(beacon)
        if !hasRates { table?.logRate = [] }
        return table
    }

    private func table(_ beacon: Int) -> SignalField.Table? {
        switch source {
        case .made(let tables): return tables[beacon]
        case .pathLoss(let tables, let sheet, let indexes):
            let index = indexes == nil ? beacon : indexes?[beacon]
            return index.flatMap { tables.table($0, sheet: sheet) }
        }
    }

    /// Whether any beacon has a table.
    var hasTables: Bool {
        switch source {
        case .made(let tables): tables.contains { $0 != nil }
        case .pathLoss(let tables, let sheet, let indexes):
            indices.contains { beacon in
                let index = indexes == nil ? beacon : indexes?[beacon]
                return index.map { tables.isHeard($0, sheet: sheet) } ?? false
            }
        }
    }

    /// Whether every table contains detection rates.
    var tellRates: Bool {
        switch source {
        case .made(let tables): tables.allSatisfy { !($0?.logRate.isEmpty ?? false) }
        case .pathLoss(let tables, _, _): tables.tellRates
        }
    }

    /// The same tables without detection rates.
    var withoutRates: SignalTables {
        var tables = self
        tables.hasRates = false
        return tables
    }

    /// Returns the detections per second of all beacons together, cell by cell.
    ///
    /// - Parameters:
    ///   - none: the total rate where no beacon has a table.
    ///   - unheard: the rate of one beacon outside its table.
    func totalRate(_ grid: MapGrid, none: Float, unheard: Float) -> [Float] {
        var total = [Float](repeating: none, count: grid.count)
        switch source {
        case .made(let tables):
            for table in tables { table?.addRates(to: &total, grid, unheard: unheard) }
        case .pathLoss(let tables, let sheet, let indexes):
            for beacon in indices {
                guard let index = indexes == nil ? beacon : indexes?[beacon] else { continue }
                tables.addRates(of: index, sheet: sheet, to: &total, unheard: unheard)
            }
        }
        return total.map { Swift.max($0, 1e-6) }
    }
}

extension SignalField.Table {
    /// Adds the detections per second to the sums over the map's grid.
    func addRates(to total: inout [Float], _ grid: MapGrid, unheard: Float) {
        guard !columns.isEmpty, !rows.isEmpty else { return }
        var rectangle = grid.rectangle(columns, rows, from: grid.origin, stride: grid.columns)
        cmath_add_exponentials(
            &rectangle, logRate, unheard, rows.lowerBound * grid.columns + columns.lowerBound, &total)
    }
}

extension MapGrid {
    /// Returns a rectangle of cells relative to a point, for a C loop.
    ///
    /// - Parameter stride: the number of columns in the array that holds the cells' values.
    func rectangle(
        _ columns: Range<Int>, _ rows: Range<Int>, from point: MapPoint, stride: Int
    ) -> cmath_rectangle {
        let first = center(of: rows.lowerBound * self.columns + columns.lowerBound)
        return cmath_rectangle(
            x: Float(first.x - point.x), y: Float(first.y - point.y), size: Float(cellSize),
            columns: Int32(columns.count), rows: Int32(rows.count), stride: Int32(stride))
    }
}
