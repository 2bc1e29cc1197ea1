/// A table of text with aligned columns.
enum TextTable {
    /// Returns a line for each row, without a line break. Each column is as wide as its longest text.
    ///
    /// - Parameters:
    ///   - rows: the rows, all with the same number of columns.
    ///   - leading: the number of columns that are aligned left; the others are aligned right.
    static func lines(_ rows: [[String]], leading: Int = .max) -> [String] {
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = row.indices.map { column in
                let space = String(repeating: " ", count: widths[column] - row[column].count)
                guard column < leading else { return space + row[column] }
                return column == row.count - 1 ? row[column] : row[column] + space
            }
            return cells.joined(separator: "  ")
        }
    }
}
