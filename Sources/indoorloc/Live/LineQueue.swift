/// Lines on their way to a reader who may be slow: as many as there is room for, the later ones are lost and counted.
struct LineQueue: Sendable {
    /// Bytes that are kept: thousands of positions.
    static let room = 1 << 20

    private var bytes: [UInt8] = []
    /// How many of the bytes have been taken.
    private var start = 0
    /// Lines for which there was no room.
    private(set) var lost = 0

    var isEmpty: Bool { start == bytes.count }
    /// Bytes that nobody has taken.
    var count: Int { bytes.count - start }
    /// Lines among them, also one that was taken in part.
    var lines: Int { bytes[start...].count { $0 == UInt8(ascii: "\n") } }

    /// Takes in a line without its end, or loses it as a whole.
    mutating func append(_ line: String) {
        guard count + line.utf8.count < Self.room else { return lost += 1 }
        bytes += line.utf8
        bytes.append(UInt8(ascii: "\n"))
    }

    /// The next bytes, `limit` at most.
    func next(_ limit: Int) -> ArraySlice<UInt8> { bytes[start...].prefix(limit) }

    /// Passes over bytes that were written.
    mutating func take(_ count: Int) {
        start += count
        // Not each time: that would move all that is left.
        guard start == bytes.count || start >= Self.room else { return }
        bytes.removeFirst(start)
        start = 0
    }

    /// Loses all that is left.
    mutating func drop() {
        lost += lines
        bytes = []
        start = 0
    }

    /// How many lines were lost since it was asked last.
    mutating func takeLosses() -> Int {
        defer { lost = 0 }
        return lost
    }
}
