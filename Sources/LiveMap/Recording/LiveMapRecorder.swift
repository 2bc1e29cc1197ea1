import IndoorVocabulary
import LocalizationSession
import VenueModel

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
