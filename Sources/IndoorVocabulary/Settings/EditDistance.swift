/// The edit distance between two texts, for suggestions in error messages.
package enum EditDistance {
    /// The maximum length of a compared key in bytes: twice the length of the longest setting.
    private static let longestKey = 100

    /// Returns the dotted key most similar to a given one, ignoring case; nil if none is similar.
    package static func nearestKey(to key: String, among keys: [String]) -> String? {
        // No valid key is longer, and the time for a comparison grows with the length.
        guard key.utf8.count <= longestKey else { return nil }
        let wanted = key.lowercased()
        let nearest = keys.map { (key: $0, distance: between($0.lowercased(), wanted)) }
            .min { $0.distance < $1.distance }
        if let nearest, nearest.distance <= max(2, wanted.utf8.count / 4) { return nearest.key }
        // The key may lack its prefix.
        return keys.first { $0.lowercased().hasSuffix("." + wanted) }
    }

    /// Returns the word most similar to a given one, ignoring case; nil if none is similar or if the word is known.
    ///
    /// In words of three letters or more, one letter in three may differ, and two adjacent letters may be swapped. In
    /// shorter words, only the case may differ.
    package static func nearestWord(to word: String, among words: [String]) -> String? {
        // All known words are much shorter, and the time is proportional to the product of the lengths.
        guard word.utf8.count <= 64, !words.contains(word) else { return nil }
        let wanted = word.lowercased()
        let nearest = words.map { word in
            let known = word.lowercased()
            return (word: word, distance: isExchange(known, wanted) ? 1 : between(known, wanted))
        }.min { $0.distance < $1.distance }
        guard let nearest else { return nil }
        let length = min(nearest.word.utf8.count, wanted.utf8.count)
        return nearest.distance <= (length < 3 ? 0 : max(1, length / 3)) ? nearest.word : nil
    }

    /// Returns whether two adjacent bytes are swapped, the most common typing error.
    private static func isExchange(_ first: String, _ second: String) -> Bool {
        let (first, second) = (Array(first.utf8), Array(second.utf8))
        guard first.count == second.count else { return false }
        let unlike = first.indices.filter { first[$0] != second[$0] }
        guard unlike.count == 2, unlike[1] == unlike[0] + 1 else { return false }
        return first[unlike[0]] == second[unlike[1]] && first[unlike[1]] == second[unlike[0]]
    }

    /// Returns the minimum number of bytes to insert, delete or replace to turn one text into the other.
    ///
    /// Source: R. A. Wagner and M. J. Fischer, *The String-to-String Correction Problem*, 1974.
    package static func between(_ first: String, _ second: String) -> Int {
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
