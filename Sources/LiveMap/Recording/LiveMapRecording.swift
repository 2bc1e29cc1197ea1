import IndoorVocabulary
import LocalizationSession
import TextFormats
import VenueModel

/// The content of a live map that doesn't change: a played recording, or a radio map.
///
/// `LiveMapRecorder` creates the content of a recording.
package struct LiveMapRecording: LiveMapContent {
    /// The kind of the content.
    package let mode: LiveMapOverview.Mode
    /// The name of the recording or of the radio map.
    package let title: String
    private let venues: LiveMapVenues
    private let allFrames: [LiveMapFrame]
    private let allEvents: [LiveMapEvent]
    private let map: LiveMapRadioMap?

    /// Creates content.
    ///
    /// - Parameters:
    ///   - mode: the kind of the content.
    ///   - title: the name of the recording or of the radio map.
    ///   - venues: the venues.
    ///   - plans: the source of the plan images; nil for none.
    ///   - frames: the frames, in any order.
    ///   - events: the events, in any order.
    ///   - radioMap: the radio map; nil for none.
    package init(
        mode: LiveMapOverview.Mode = .recording, title: String, venues: [Venue], plans: (any LiveMapPlans)? = nil,
        frames: [LiveMapFrame] = [], events: [LiveMapEvent] = [], radioMap: LiveMapRadioMap? = nil
    ) {
        self.mode = mode
        self.title = title
        self.venues = LiveMapVenues(list: venues, plans: plans)
        allFrames = frames.sorted { ($0.t, $0.id) < ($1.t, $1.id) }
        allEvents = events.sorted { ($0.t, $0.id) < ($1.t, $1.id) }
        map = radioMap
    }

    package func overview() async -> LiveMapOverview {
        LiveMapOverview(
            mode: mode, title: title, start: allFrames.first?.t, end: allFrames.last?.t, acceptsMarks: false,
            venues: await venues.descriptions())
    }

    package func plan(venue: Int, map: Int) async -> LiveMapImage? { await venues.plan(venue: venue, map: map) }

    package func tile(venue: Int, map: Int, level: Int, column: Int, row: Int) async -> LiveMapImage? {
        await venues.tile(venue: venue, map: map, level: level, column: column, row: row)
    }

    package func frames(from start: Double, to end: Double, limit: Int) async -> [LiveMapFrame] {
        let first = allFrames.firstIndex(sortedFrom: start)
        return Array(allFrames[first...].prefix { $0.t <= end }.prefix(max(0, limit)))
    }

    package func events() async -> [LiveMapEvent] { allEvents }

    package func radioMap() async -> LiveMapRadioMap? { map }

    /// Returns a stream that ends immediately, because the content doesn't change.
    package func updates(after id: Int?) async -> AsyncStream<LiveMapUpdate> { AsyncStream { $0.finish() } }

    package func mark(_ place: LiveMapFrame.Place) async -> String? {
        "Marks are stored in a running session only, not in a \(mode == .radioMap ? "radio map" : "recording")."
    }
}

extension [LiveMapFrame] {
    /// Returns the index of the first frame at or after an instant, by binary search.
    func firstIndex(sortedFrom start: Double) -> Int {
        indices.bisection { !(self[$0].t < start) }
    }
}

extension LiveMapContent {
    /// Returns all content in one value, for a page that needs no server.
    ///
    /// The document has the plan images and no tiles. Its size is that of the images, plus about 6 KB for each frame
    /// with 300 particles.
    package func document() async -> LiveMapDocument {
        var overview = await overview()
        var plans: [LiveMapDocument.Plan] = []
        for (venueIndex, venue) in overview.venues.enumerated() {
            for (mapIndex, map) in venue.maps.enumerated() {
                let image = map.hasImage ? await plan(venue: venue.id, map: map.id) : nil
                overview.venues[venueIndex].maps[mapIndex].tiles = nil
                overview.venues[venueIndex].maps[mapIndex].hasImage = image != nil
                guard let image else { continue }
                let url = "data:\(image.mediaType);base64,\(Base64Text.text(of: image.bytes))"
                plans.append(LiveMapDocument.Plan(venueId: venue.id, mapId: map.id, url: url))
            }
        }
        let frames = await frames(from: -.infinity, to: .infinity, limit: .max)
        return LiveMapDocument(
            overview: overview, plans: plans, frames: frames, events: await events(), radioMap: await radioMap())
    }
}

/// Creates the frames and events of a played recording.
///
///     var recorder = LiveMapRecorder()
///     var replay = SessionReplay(venues: [office])
///     recorder.note(replay.start())
///     for reading in readings {
///         while let due = recorder.nextFrame(before: reading.instant) {
///             recorder.note(replay.advance(to: due))
///             recorder.add(replay.snapshot(particles: recorder.particles))
///         }
///         recorder.note(replay.handle(reading))
///     }
///     recorder.note(replay.finish())
///     let content = recorder.recording(title: "walk", venues: [office])
package struct LiveMapRecorder: Sendable {
    /// The time between two frames, above zero. It doubles whenever the number of frames reaches the maximum.
    package private(set) var interval: Duration
    /// The greatest number of particles in a frame.
    package let particles: Int
    /// The maximum number of frames, an even number.
    private let frameLimit: Int
    private var waypoints: [SurveyRecording.Waypoint] = []
    private var frames: [LiveMapFrame] = []
    private var events: [LiveMapEvent] = []
    private var sessionEvents = SessionEvents()
    private var nextID = 1
    /// The instant of the next frame; nil before the first reading.
    private var due: Instant?
    /// The instant of the latest reading; nil before the first one.
    private var latestReading: Instant?
    /// One string for each beacon, so that the frames share their memory.
    private var names: [String: String] = [:]

    /// The time after a reading during which frames are created without further readings. After that time, the session
    /// has lost its venue, and further frames of the gap would all be the same.
    private static let longestGap = Duration.seconds(120)

    /// Creates a recorder.
    ///
    /// - Parameters:
    ///   - interval: the time between two frames, at least 10 ms.
    ///   - particles: the greatest number of particles in a frame. With 300, an hour needs about 40 MB.
    ///   - frameLimit: the maximum number of frames, at least 2. Beyond it, the recorder removes every second frame and
    ///     doubles the interval. The default is 2 h at two frames a second.
    package init(interval: Duration = .milliseconds(500), particles: Int = 300, frameLimit: Int = 14_400) {
        self.interval = max(interval, .milliseconds(10))
        self.particles = max(0, particles)
        self.frameLimit = max(2, frameLimit / 2 * 2)
    }

    /// Returns the instant of the next frame that is due before or at a reading; nil if none is.
    ///
    /// The first frame has the instant of the first reading. In a gap of the recording, frames are due for 2 min.
    package mutating func nextFrame(before reading: Instant) -> Instant? {
        if let latestReading, let next = due, latestReading.duration(to: next) > Self.longestGap, next < reading {
            due = reading
        }
        let next = due ?? reading
        guard next <= reading else {
            latestReading = max(latestReading ?? reading, reading)
            return nil
        }
        if frames.count >= frameLimit { thin() }
        due = next.advanced(by: interval)
        return next
    }

    /// Removes every second frame and doubles the interval. Because the number of frames is even, the next frame
    /// follows the last one at the new interval.
    private mutating func thin() {
        frames = stride(from: 0, to: frames.count, by: 2).map { frames[$0] }
        interval *= 2
    }

    /// Adds a frame.
    ///
    /// - Parameters:
    ///   - snapshot: the snapshot of the session.
    ///   - route: the remaining route.
    package mutating func add(_ snapshot: SessionSnapshot, route: [LiveMapFrame.Place] = []) {
        var frame = LiveMapFrame(snapshot, id: takeID(), route: route)
        frame.beacons = frame.beacons?.map { beacon in
            var beacon = beacon
            beacon.id = shared(beacon.id)
            return beacon
        }
        frames.append(frame)
    }

    /// Adds a ground truth of the recording, in any order.
    package mutating func add(_ waypoint: SurveyRecording.Waypoint) { waypoints.append(waypoint) }

    /// Adds the events of outputs.
    package mutating func note(_ outputs: [SessionOutput]) {
        for output in outputs {
            for event in sessionEvents.events(of: output.content) { add(event, at: output.instant) }
        }
    }

    private mutating func add(_ event: SessionEvents.Content, at instant: Instant) {
        events.append(
            LiveMapEvent(
                id: takeID(), t: instant.seconds.rounded(decimals: 3), kind: event.kind, text: event.text,
                mapId: event.mapId))
    }

    private mutating func takeID() -> Int {
        defer { nextID += 1 }
        return nextID
    }

    private mutating func shared(_ name: String) -> String {
        if let known = names[name] { return known }
        if names.count < 10_000 { names[name] = name }
        return name
    }

    /// Returns the content of the recording so far, with the error of each frame that has a ground truth.
    package func recording(
        title: String, venues: [Venue], plans: (any LiveMapPlans)? = nil, radioMap: LiveMapRadioMap? = nil
    ) -> LiveMapRecording {
        let track = TruthTrack(waypoints)
        let compared = frames.map { frame in
            var frame = frame
            frame.setTruth(track.place(at:))
            return frame
        }
        return LiveMapRecording(
            title: title, venues: venues, plans: plans, frames: compared, events: events, radioMap: radioMap)
    }
}

/// The ground truth of a recording at any instant.
struct TruthTrack: Sendable {
    /// Ordered by instant.
    private let waypoints: [SurveyRecording.Waypoint]

    /// Creates a track of known places.
    init(_ waypoints: [SurveyRecording.Waypoint]) { self.waypoints = waypoints.sorted { $0.instant < $1.instant } }

    /// Returns the true place: that of a stay, or the point on the straight line between two waypoints of one map.
    ///
    /// Nil before the first waypoint, after the last one unless the device stays there, and between two maps.
    func place(at seconds: Double) -> LiveMapFrame.Place? {
        waypoints.place(at: seconds).map { LiveMapFrame.Place(mapID: $0.mapID, point: $0.point) }
    }
}
