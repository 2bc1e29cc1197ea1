import CMath
import IndoorVocabulary

/// The tables of all beacons on one map, by the beacons' indexes in the field.
///
/// Those of the standard model are made when a beacon is first heard; those of other models when the field is.
package struct SignalTables: RandomAccessCollection, Sendable {
    private enum Source: Sendable {
        case made([SignalField.Table?])
        /// The index of each beacon in the model; nil if it is the same one.
        case pathLoss(PathLossTables, sheet: Int, indexes: [Int?]?)
    }

    private let source: Source
    private var hasRates = true
    package let endIndex: Int
    package var startIndex: Int { 0 }

    /// Tables that are there already.
    init(_ tables: [SignalField.Table?]) {
        source = .made(tables)
        endIndex = tables.count
    }

    /// The tables of the standard model on one of its sheets.
    ///
    /// - Parameter indexes: of the beacons in the model, nil for one that it doesn't know.
    init(_ tables: PathLossTables, sheet: Int, indexes: [Int?]) {
        let isSame = indexes.count == tables.transmitters.count && indexes.indices.allSatisfy { indexes[$0] == $0 }
        source = .pathLoss(tables, sheet: sheet, indexes: isSame ? nil : indexes)
        endIndex = indexes.count
    }

    /// The table of a beacon; nil where it cannot be heard anywhere on the map.
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

    /// Whether there is any table.
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

    /// Whether all of them tell how often beacons are heard.
    var tellRates: Bool {
        switch source {
        case .made(let tables): tables.allSatisfy { !($0?.logRate.isEmpty ?? false) }
        case .pathLoss(let tables, _, _): tables.tellRates
        }
    }

    /// The same tables, which don't tell how often beacons are heard.
    var withoutRates: SignalTables {
        var tables = self
        tables.hasRates = false
        return tables
    }

    /// Detections a second of all beacons, cell by cell.
    ///
    /// - Parameters:
    ///   - none: detections where no beacon has a table.
    ///   - unheard: detections of one beacon outside its table.
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
    /// Adds the detections a second to sums over the map's grid.
    func addRates(to total: inout [Float], _ grid: MapGrid, unheard: Float) {
        guard !columns.isEmpty, !rows.isEmpty else { return }
        var rectangle = grid.rectangle(columns, rows, from: grid.origin, stride: grid.columns)
        cmath_add_exponentials(
            &rectangle, logRate, unheard, rows.lowerBound * grid.columns + columns.lowerBound, &total)
    }
}

extension MapGrid {
    /// Some of the cells as seen from a point, for a loop in C.
    ///
    /// - Parameter stride: columns of the array that holds their values.
    func rectangle(
        _ columns: Range<Int>, _ rows: Range<Int>, from point: MapPoint, stride: Int
    ) -> cmath_rectangle {
        let first = center(of: rows.lowerBound * self.columns + columns.lowerBound)
        return cmath_rectangle(
            x: Float(first.x - point.x), y: Float(first.y - point.y), size: Float(cellSize),
            columns: Int32(columns.count), rows: Int32(rows.count), stride: Int32(stride))
    }
}
