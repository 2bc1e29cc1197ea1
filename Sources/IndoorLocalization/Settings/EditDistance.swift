/// How unlike two texts are.
enum EditDistance {
    /// The least number of bytes to insert, to leave out or to replace that makes one text of the other.
    ///
    /// Source: R. A. Wagner and M. J. Fischer, *The String-to-String Correction Problem*, 1974.
    static func between(_ first: String, _ second: String) -> Int {
        let second = Array(second.utf8)
        var row = Array(0...second.count)
        for (line, byte) in first.utf8.enumerated() {
            var diagonal = row[0]
            row[0] = line + 1
            for column in second.indices {
                let replaced = diagonal + (byte == second[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, row[column] + 1, diagonal + 1)
            }
        }
        return row[second.count]
    }
}
