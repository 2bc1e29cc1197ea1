import IndoorVocabulary

extension SignalField {
    /// What a beacon sounds like at a point, in dBm and dB²; nil on a map that the field has none of, or beyond its grid.
    ///
    /// - Parameter beacon: by its index.
    package func expectation(of beacon: Int, at point: MapPoint, on mapID: MapID) -> (rssi: Double, variance: Double)? {
        guard let level = levels.first(where: { $0.mapID == mapID }), let cell = level.grid.cell(at: point) else {
            return nil
        }
        let (row, column) = cell.quotientAndRemainder(dividingBy: level.grid.columns)
        guard let table = level.tables[beacon], let entry = table.index(column: column, row: row) else {
            return (Double(Self.inaudible), model.shadowing * model.shadowing)
        }
        return (Double(table.mean[entry]), Double(table.variance[entry]))
    }
}
