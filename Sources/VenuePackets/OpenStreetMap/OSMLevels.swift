/// The levels of an element, from its tags `level` and `repeat_on`.
///
/// Source of the syntax: the pages *Key:level* and *Key:repeat_on* of the OpenStreetMap Wiki: numbers separated by
/// semicolons, and ranges such as `0-3` and `-2--1`.
struct OSMLevels: Hashable, Sendable {
    /// The whole levels, the lowest first.
    private(set) var whole: [Int] = []
    /// Whether a level lies between two whole ones, such as 0.5.
    private(set) var hasFraction = false

    /// The lowest and the highest level that a packet can have.
    static let range = -1_000...1_000

    /// Reads the value of a tag; nil if it isn't a list of levels.
    init?(_ text: String) {
        var levels: Set<Int> = []
        for part in text.split(separator: ";", omittingEmptySubsequences: false) {
            let item = part.filter { $0 != " " }
            // The sign of the first number doesn't separate two numbers.
            let dash = item.dropFirst().firstIndex(of: "-")
            let first = Self.number(dash.map { item[..<$0] } ?? item[...])
            let last = dash.map { Self.number(item[item.index(after: $0)...]) } ?? first
            guard let first, let last, first <= last else { return nil }
            let (low, high) = (Int(first.rounded(.up)), Int(last.rounded(.down)))
            if low <= high { levels.formUnion(low...high) }
            if first != first.rounded() || last != last.rounded() { hasFraction = true }
        }
        whole = levels.sorted()
    }

    private static func number(_ text: Substring) -> Double? {
        guard text.utf8.allSatisfy({ "-.0123456789".utf8.contains($0) }), let number = Double(text),
            number >= Double(range.lowerBound), number <= Double(range.upperBound)
        else { return nil }
        return number
    }

    /// Adds the levels of another tag.
    func union(_ other: OSMLevels) -> OSMLevels {
        var sum = self
        sum.whole = Set(whole + other.whole).sorted()
        sum.hasFraction = hasFraction || other.hasFraction
        return sum
    }
}
