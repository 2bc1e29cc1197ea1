/// The levels of a topic, or of the path of an HTTP request, between slashes.
struct GatewayTopic {
    private let text: String
    /// The place of each level in the UTF-8 of the text.
    private let levels: [Range<Int>]

    /// Creates a topic. A slash at the start doesn't begin a level, so that a path counts as a topic.
    init(_ topic: String) {
        text = topic
        levels = Self.levels(topic.utf8.span)
    }

    /// The number of levels.
    var count: Int { levels.count }

    /// Returns the text of a level; nil if the level doesn't exist or is empty.
    ///
    /// - Parameter number: the number of the level, from 0; a negative one counts from the end, with -1 for the last.
    func text(_ number: Int) -> String? {
        guard let range = range(number), !range.isEmpty else { return nil }
        let utf8 = text.utf8
        let start = utf8.index(utf8.startIndex, offsetBy: range.lowerBound)
        return String(text[start..<utf8.index(start, offsetBy: range.count)])
    }

    /// Returns whether a level is equal to a word of ASCII.
    @inline(__always)
    func matches(_ number: Int, _ word: StaticString) -> Bool {
        guard let range = range(number), range.count == word.utf8CodeUnitCount else { return false }
        return text.utf8.span.extracting(range).equals(word)
    }

    /// Returns the number of the first level that is equal to a word; nil without one.
    @inline(__always)
    func firstIndex(of word: StaticString) -> Int? { levels.indices.first { matches($0, word) } }

    /// Passes the bytes of a level to a closure; returns nil if the level doesn't exist.
    func withBytes<Result>(of number: Int, _ body: (Span<UInt8>) -> Result?) -> Result? {
        guard let range = range(number) else { return nil }
        return body(text.utf8.span.extracting(range))
    }

    @inline(__always)
    private func range(_ number: Int) -> Range<Int>? {
        let index = number < 0 ? levels.count + number : number
        return levels.indices.contains(index) ? levels[index] : nil
    }

    private static func levels(_ text: Span<UInt8>) -> [Range<Int>] {
        var start = !text.isEmpty && text[0] == UInt8(ascii: "/") ? 1 : 0
        guard start < text.count else { return [] }
        var levels: [Range<Int>] = []
        levels.reserveCapacity(8)
        for index in start..<text.count where text[index] == UInt8(ascii: "/") {
            levels.append(start..<index)
            start = index + 1
        }
        levels.append(start..<text.count)
        return levels
    }
}
