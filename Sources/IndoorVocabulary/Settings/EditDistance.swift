/// How unlike two texts are.
package enum EditDistance {
    /// Bytes of a key that is compared: twice those of the longest setting.
    private static let longestKey = 100

    /// The dotted key that is most like a given one, whatever its case; nil if none is alike.
    package static func nearestKey(to key: String, among keys: [String]) -> String? {
        // No key is that long, and the comparison takes time with the length.
        guard key.utf8.count <= longestKey else { return nil }
        let wanted = key.lowercased()
        let nearest = keys.map { (key: $0, distance: between($0.lowercased(), wanted)) }
            .min { $0.distance < $1.distance }
        if let nearest, nearest.distance <= max(2, wanted.utf8.count / 4) { return nearest.key }
        // A name without the words before it.
        return keys.first { $0.lowercased().hasSuffix("." + wanted) }
    }

    /// The word that is most like a given one, whatever its case; nil if none is alike, or if it is one of them.
    ///
    /// One letter in three may be wrong, and two neighbours may have changed places, in words of three letters and more; in shorter ones only their case.
    package static func nearestWord(to word: String, among words: [String]) -> String? {
        // No known word is longer by far; the time is that of both lengths.
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

    /// Whether two neighbouring bytes have changed places, the commonest slip of all.
    private static func isExchange(_ first: String, _ second: String) -> Bool {
        let (first, second) = (Array(first.utf8), Array(second.utf8))
        guard first.count == second.count else { return false }
        let unlike = first.indices.filter { first[$0] != second[$0] }
        guard unlike.count == 2, unlike[1] == unlike[0] + 1 else { return false }
        return first[unlike[0]] == second[unlike[1]] && first[unlike[1]] == second[unlike[0]]
    }

    /// The least number of bytes to insert, to leave out or to replace that makes one text of the other.
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
