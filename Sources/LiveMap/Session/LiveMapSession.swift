import Foundation
import IndoorVocabulary
import LocalizationSession
import VenueModel

/// The content of a live map of a running session.
///
///     let session = LiveMapSession(localizer, title: "hall")
///     async let observation: Void = session.run()
///     await localizer.start()
///
/// The content takes snapshots of the session only while a reader waits for the next update of its stream. Without a
/// reader, it stores events and positions only. A slow reader skips frames and never delays the session.
public actor LiveMapSession: LiveMapContent {
    /// The amount of content.
    public struct Settings: Hashable, Sendable {
        /// The shortest time between two frames.
        public var interval = Duration.milliseconds(100)
        /// The time between two frames while the session emits nothing. Then only ages and readings of beacons change.
        package var restInterval = Duration.seconds(1)
        /// The maximum number of particles in a frame.
        public var particles = 1000

        /// Creates the default settings.
        public init() {}
    }

    private let title: String
    private let settings: Settings
    private let clock: SessionClock
    private let outputs: AsyncStream<SessionOutput>
    private let snapshot: @Sendable (_ particles: Int) async -> SessionSnapshot
    private let marks: (@Sendable (LiveMapFrame.Place) async -> String?)?
    private var venues: LiveMapVenues
    private var history: LiveMapHistory
    private var sessionEvents = SessionEvents()
    private var state = LocalizationState.idle
    private var route: [LiveMapFrame.Place] = []
    private var isOver = false

    /// The readers that wait for the next update.
    private var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    private var lastWaiter = 0
    /// The clock's time of the latest request of a reader; nil before any.
    private var lastRequest: Duration?
    /// The clock's time of the latest frame with all content; nil before any.
    private var lastFrame: Duration?
    /// Whether the session has changed since that frame.
    private var hasChanged = true
    /// The task that waits for the next frame.
    private var alarm: (task: Task<Void, Never>, due: Duration)?

    /// The time after a request during which the reader is expected to request again.
    private static let readerTimeout = Duration.seconds(2)

    /// Creates the content of a localizer. Call this before the session starts, so that no event is missed.
    ///
    /// - Parameters:
    ///   - localizer: the session.
    ///   - title: the name that the page shows.
    ///   - venues: the venues that the page shows before the session is in one of them.
    ///   - plans: the source of the plan images; nil for none.
    ///   - settings: the amount of content.
    ///   - clock: the clock of the frames' instants.
    ///   - marks: stores a mark of the ground truth, or returns the reason why it can't; nil if marks aren't stored.
    public init(
        _ localizer: Localizer, title: String, venues: [Venue] = [], plans: (any LiveMapPlans)? = nil,
        settings: Settings = Settings(), clock: some Clock<Duration> = ContinuousClock(),
        marks: (@Sendable (LiveMapFrame.Place) async -> String?)? = nil
    ) {
        self.init(
            outputs: localizer.outputs, title: title, venues: venues, plans: plans, settings: settings, clock: clock,
            marks: marks
        ) { [weak localizer] particles in
            await localizer?.snapshot(particles: particles) ?? SessionSnapshot(instant: .zero, state: .idle)
        }
    }

    /// Creates the content of a session that a test controls.
    ///
    /// - Parameter firstID: the number of the first frame or event. The default is the current Unix time in
    ///   milliseconds: at fewer than 1000 numbers a second, a restarted program continues with higher numbers.
    package init(
        outputs: AsyncStream<SessionOutput>, title: String, venues: [Venue] = [], plans: (any LiveMapPlans)? = nil,
        settings: Settings = Settings(), clock: some Clock<Duration>, firstID: Int? = nil,
        marks: (@Sendable (LiveMapFrame.Place) async -> String?)? = nil,
        snapshot: @escaping @Sendable (_ particles: Int) async -> SessionSnapshot
    ) {
        self.outputs = outputs
        self.title = title
        self.venues = LiveMapVenues(list: venues, plans: plans)
        self.settings = settings
        self.clock = SessionClock(clock)
        self.marks = marks
        self.snapshot = snapshot
        history = LiveMapHistory(firstID: firstID ?? Int(Date().timeIntervalSince1970 * 1000))
    }

    /// Observes the session until the localizer is deallocated, its streams are finished, or the task is cancelled. The
    /// readers' streams then end.
    public func run() async {
        for await output in outputs { note(output) }
        isOver = true
        alarm?.task.cancel()
        resumeWaiters()
    }

    /// Sets the remaining route in the next frames; empty for none.
    public func setRoute(_ route: [LiveMapFrame.Place]) {
        guard route != self.route else { return }
        self.route = route
        change()
    }

    // MARK: - Content

    package func overview() async -> LiveMapOverview {
        LiveMapOverview(
            mode: .live, run: String(history.firstID), title: title, acceptsMarks: marks != nil,
            venues: await venues.descriptions())
    }

    package func plan(venue: Int, map: Int) async -> LiveMapImage? { await venues.plan(venue: venue, map: map) }

    package func tile(venue: Int, map: Int, level: Int, column: Int, row: Int) async -> LiveMapImage? {
        await venues.tile(venue: venue, map: map, level: level, column: column, row: row)
    }

    /// Returns the kept frames of an interval: those of the last half hour, and only the last 300 with particles and
    /// beacons.
    package func frames(from start: Double, to end: Double, limit: Int) async -> [LiveMapFrame] {
        let first = history.frames.firstIndex(sortedFrom: start)
        return Array(history.frames[first...].prefix { $0.t <= end }.prefix(max(0, limit)))
    }

    package func events() async -> [LiveMapEvent] { history.events }

    package func radioMap() async -> LiveMapRadioMap? { nil }

    /// Returns a stream of new frames and events.
    ///
    /// - Parameter id: the number of the last frame or event that the reader has. For an unknown number, such as one of
    ///   an earlier run of the program, the stream begins with the latest frame.
    package func updates(after id: Int?) async -> AsyncStream<LiveMapUpdate> {
        let known = id.flatMap { (history.firstID - 1...history.latestID).contains($0) ? $0 : nil }
        let reader = LiveMapReader(LiveMapCursor(after: known ?? history.latestID))
        if known == nil { change() }
        return AsyncStream { await self.next(reader) }
    }

    package func mark(_ place: LiveMapFrame.Place) async -> String? {
        guard let marks else { return "Marks aren't stored, because the session isn't recorded." }
        if let reason = await marks(place) { return reason }
        add(SessionEvents.Content(kind: .mark, text: "Marked the true position", mapId: place.mapId))
        return nil
    }

    // MARK: - Outputs

    private func note(_ output: SessionOutput) {
        for event in sessionEvents.events(of: output.content) { add(event) }
        switch output.content {
        case .state(let state):
            self.state = state
            if let venue = state.venue, venues.add(venue) {
                history.changeOverview()
                resumeWaiters()
            }
            change()
        case .position(let position):
            if isRead { change() } else { keep(position) }
        case .event, .interaction, .error, .diagnosis: change()
        case .outdoorPosition, .motion, .downloadedVenue: break
        }
    }

    private func add(_ event: SessionEvents.Content) {
        let t = clock.elapsed().seconds.rounded(decimals: 3)
        history.append(
            LiveMapEvent(id: history.takeID(), t: t, kind: event.kind, text: event.text, mapId: event.mapId))
        resumeWaiters()
    }

    /// Stores a frame without levels, particles and beacons, for the trail that a later reader shows.
    private func keep(_ position: Position) {
        hasChanged = true
        let t = clock.elapsed().seconds
        var frame = LiveMapFrame(
            SessionSnapshot(instant: position.instant, state: state, position: position), id: history.takeID(), t: t,
            route: route)
        (frame.levels, frame.particles, frame.beacons) = (nil, nil, nil)
        history.append(frame)
    }

    // MARK: - Frames

    /// Whether a reader waits, or has recently requested an update.
    private var isRead: Bool {
        if !waiters.isEmpty { return true }
        return lastRequest.map { clock.elapsed() - $0 < Self.readerTimeout } ?? false
    }

    /// Records a change of the session.
    private func change() {
        hasChanged = true
        setAlarm()
    }

    /// Sets the alarm for the next frame, unless no reader waits or an earlier alarm is set.
    private func setAlarm() {
        guard !waiters.isEmpty, !isOver else { return }
        let pause = hasChanged ? settings.interval : settings.restInterval
        let due = lastFrame.map { $0 + pause } ?? clock.elapsed()
        if let alarm, alarm.due <= due { return }
        alarm?.task.cancel()
        let task = Task { [weak self, clock] in
            do { try await clock.sleep(until: due) } catch { return }
            await self?.takeFrame(due: due)
        }
        alarm = (task, due)
    }

    private func takeFrame(due: Duration) async {
        guard let alarm, alarm.due == due else { return }  // replaced meanwhile
        guard !waiters.isEmpty, !isOver else {
            self.alarm = nil
            return
        }
        hasChanged = false
        lastFrame = clock.elapsed()
        let snapshot = await snapshot(settings.particles)
        // The alarm stays set until here, so that no second frame begins meanwhile.
        self.alarm = nil
        history.append(
            LiveMapFrame(snapshot, id: history.takeID(), t: clock.elapsed().seconds, route: route))
        resumeWaiters()
    }

    // MARK: - Readers

    private func next(_ reader: LiveMapReader) async -> LiveMapUpdate? {
        while !Task.isCancelled {
            lastRequest = clock.elapsed()
            if let update = reader.next(in: history) { return update }
            if isOver { return nil }
            await waitForUpdate()
        }
        return nil
    }

    private func waitForUpdate() async {
        lastWaiter += 1
        let number = lastWaiter
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard !Task.isCancelled else { return continuation.resume() }
                waiters[number] = continuation
                setAlarm()
            }
        } onCancel: {
            Task { await self.resume(number) }
        }
    }

    private func resume(_ number: Int) { waiters.removeValue(forKey: number)?.resume() }

    private func resumeWaiters() {
        let all = waiters
        waiters = [:]
        for waiter in all.values { waiter.resume() }
    }
}

/// The reader of a stream. A class, because the requests of the stream share the cursor.
private final class LiveMapReader: Sendable {
    private let cursor: Guarded<LiveMapCursor>

    init(_ cursor: LiveMapCursor) { self.cursor = Guarded(cursor) }

    func next(in history: LiveMapHistory) -> LiveMapUpdate? { cursor.withLock { history.next(&$0) } }
}

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
