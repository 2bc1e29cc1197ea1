import IndoorVocabulary

/// The stored frames and events of a running session. The newest frames have all content, older ones have less, and the
/// number of both is bounded.
struct LiveMapHistory: Sendable {
    /// The maximum numbers of stored frames and events.
    struct Limits: Hashable, Sendable {
        /// Frames with all content: 30 s at ten a second.
        var wholeFrames = 300
        /// Further, older frames, without particles and beacons: half an hour at two a second.
        var thinFrames = 3600
        var events = 1000
    }

    private let limits: Limits
    /// By number.
    private(set) var frames: [LiveMapFrame] = []
    /// By number.
    private(set) var events: [LiveMapEvent] = []
    /// The number of the latest change of the venues; nil before any.
    private(set) var overviewID: Int?
    /// The number of the first frame or event.
    let firstID: Int
    private var nextID: Int
    /// The number of leading elements of `frames` without particles and beacons.
    private var thinCount = 0

    /// Creates an empty history.
    ///
    /// - Parameter firstID: the number of the first frame or event.
    init(firstID: Int, limits: Limits = Limits()) {
        self.firstID = firstID
        nextID = firstID
        self.limits = limits
    }

    /// The number of the latest frame, event or change; one less than the first number before any.
    var latestID: Int { nextID - 1 }

    /// Returns the number of the next frame, event or change.
    mutating func takeID() -> Int {
        defer { nextID += 1 }
        return nextID
    }

    /// Adds a frame whose number was taken before.
    mutating func append(_ frame: LiveMapFrame) {
        frames.append(frame)
        if frames.count - thinCount > limits.wholeFrames { thin() }
        // Many frames are removed in one step, because each removal moves all others.
        if thinCount > limits.thinFrames + limits.thinFrames / 4 {
            let excess = thinCount - limits.thinFrames
            frames.removeFirst(excess)
            thinCount -= excess
        }
    }

    /// Removes particles and beacons from the oldest whole frame, or removes the frame if it repeats the previous
    /// frame's estimate.
    private mutating func thin() {
        let repeats = thinCount > 0 && frames[thinCount - 1].repeats(frames[thinCount])
        if repeats {
            frames.remove(at: thinCount)
        } else {
            frames[thinCount].particles = nil
            frames[thinCount].beacons = nil
            thinCount += 1
        }
    }

    /// Adds an event whose number was taken before.
    mutating func append(_ event: LiveMapEvent) {
        events.append(event)
        if events.count > limits.events + limits.events / 4 { events.removeFirst(events.count - limits.events) }
    }

    /// Records a change of the venues.
    mutating func changeOverview() { overviewID = takeID() }

    /// Returns the next update for a reader and advances its cursor; nil if the reader has them all.
    ///
    /// Updates have ascending numbers. If a reader has received all updates once and is then slower than the session,
    /// it skips the oldest pending frames. It never skips a stored event.
    func next(_ cursor: inout LiveMapCursor) -> LiveMapUpdate? {
        if cursor.isCurrent, let first = frames.firstIndex(after: cursor.frame, \.id) {
            let newest = frames.count - LiveMapCursor.backlog
            if newest > first { cursor.frame = frames[newest].id - 1 }
        }
        let frame = frames.firstIndex(after: cursor.frame, \.id).map { frames[$0] }
        let event = events.firstIndex(after: cursor.event, \.id).map { events[$0] }
        let overview = overviewID.flatMap { $0 > cursor.event ? $0 : nil }
        let ids = [frame?.id, event?.id, overview].compactMap(\.self)
        guard let id = ids.min() else {
            cursor.isCurrent = true
            return nil
        }
        if let frame, frame.id == id {
            cursor.frame = id
            return .frame(frame)
        }
        cursor.event = id
        if let event, event.id == id { return .event(event) }
        return .overview(id: id)
    }
}

/// The position of a reader in a history.
struct LiveMapCursor: Hashable, Sendable {
    /// The maximum number of pending frames of a slow reader: half a second at ten frames a second.
    static let backlog = 5

    /// The numbers of the latest frame and of the latest event that the reader has.
    fileprivate(set) var frame: Int
    fileprivate(set) var event: Int
    /// Whether the reader has received all updates once.
    fileprivate(set) var isCurrent = false

    /// Creates the cursor of a reader that has all updates up to a number.
    init(after id: Int) { (frame, event) = (id, id) }
}

extension LiveMapFrame {
    /// Returns whether a later frame has the same state and the same estimate.
    fileprivate func repeats(_ later: LiveMapFrame) -> Bool {
        guard let estimate, let other = later.estimate else { return false }
        return estimate.isSame(as: other) && later.text == text && later.diagnosis == diagnosis
    }
}

extension LiveMapFrame.Estimate {
    /// The largest difference in seconds between the instants of one position in two frames. The session's clock and
    /// the content's clock are read in succession, so that their difference varies by milliseconds.
    private static let tolerance = 0.05

    /// Returns whether another estimate has the same position.
    fileprivate func isSame(as other: Self) -> Bool {
        mapId == other.mapId && x == other.x && y == other.y && radius == other.radius
            && abs(t - other.t) <= Self.tolerance
    }
}

extension Array {
    /// Returns the index of the first element with a number above `id`, by binary search; nil if there is none.
    fileprivate func firstIndex(after id: Int, _ number: KeyPath<Element, Int>) -> Int? {
        let first = indices.bisection { self[$0][keyPath: number] > id }
        return first < count ? first : nil
    }
}
