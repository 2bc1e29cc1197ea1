/// The updates that a reader has not received yet.
///
/// If a reader is slower than the session, the buffer discards the oldest frames, and discards events only if no frame
/// is left.
package struct UpdateBuffer: Sendable {
    private struct Item {
        let bytes: [UInt8]
        let isFrame: Bool
    }

    /// The maximum number of waiting bytes; the newest update is kept even if it is larger.
    package let limit: Int
    private var items: [Item] = []
    /// The update that is being sent, and the number of its bytes that were sent.
    private var current: [UInt8] = []
    private var sent = 0
    private var waiting = 0
    /// The number of frames and events that were discarded.
    package private(set) var lostFrames = 0
    package private(set) var lostEvents = 0

    package init(limit: Int) { self.limit = limit }

    package var isEmpty: Bool { items.isEmpty && sent == current.count }

    /// Adds an update, and discards older ones beyond the limit.
    package mutating func append(_ bytes: [UInt8], isFrame: Bool) {
        items.append(Item(bytes: bytes, isFrame: isFrame))
        waiting += bytes.count
        while waiting > limit, items.count > 1 {
            let frame = items.dropLast().firstIndex { $0.isFrame }
            if frame == nil { lostEvents += 1 } else { lostFrames += 1 }
            waiting -= items.remove(at: frame ?? 0).bytes.count
        }
    }

    /// Moves the next bytes into `target`, and returns their number; 0 if none wait.
    package mutating func take(into target: UnsafeMutableRawBufferPointer) -> Int {
        var count = 0
        while count < target.count, !isEmpty {
            if sent == current.count {
                (current, sent) = (items.removeFirst().bytes, 0)
                waiting -= current.count
            }
            let piece = current[sent..<min(current.count, sent + target.count - count)]
            UnsafeMutableRawBufferPointer(rebasing: target[count...]).copyBytes(from: piece)
            sent += piece.count
            count += piece.count
        }
        if isEmpty { (current, sent) = ([], 0) }
        return count
    }
}
