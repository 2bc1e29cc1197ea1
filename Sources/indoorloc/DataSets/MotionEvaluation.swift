import IndoorLocalization
import ScanRecording

/// The evaluation of tracks followed by motion alone, from the first ground truth, without beacons.
struct MotionEvaluation: Sendable {
    let venue: Venue
    let field: SignalField
    let settings: SettingsStack
    let seed: UInt64
    let strictness: RecordingReader.Strictness

    /// The assumed accuracy of the first ground truth in metres.
    private static let startRadius = 1.0
    /// The ground truth's minimum speed in m/s that counts as walking.
    private static let walkingSpeed = 0.6
    /// The minimum distance between two ground truths, in metres, that gives a course.
    private static let leastCourse = 5.0

    /// A ground truth, with the distance walked to it.
    private struct Place {
        var instant: Instant
        var mapID: MapID
        var point: MapPoint
        var walked = 0.0
    }

    /// Scores a track; returns nil if it has no motion or no ground truth.
    ///
    /// - Parameter misplaced: receives the ground truth.
    func score(_ track: String, _ misplaced: inout MisplacedTruths) throws -> MotionScore? {
        var reader = try RecordingReader(path: track, strictness: strictness)
        var places: [Place] = []
        var waypoints: [SurveyRecording.Waypoint] = []
        var readings: [SensorReading] = []
        var hasMotion = false
        while let entry = try reader.next() {
            switch entry {
            case .truth(let truth):
                guard let waypoint = truth.waypoint else { continue }
                waypoints.append(waypoint)
                let (map, point) = (waypoint.mapID, waypoint.point)
                guard venue.map(map) != nil else { continue }
                var place = Place(instant: truth.instant, mapID: map, point: point)
                if let last = places.last {
                    place.walked = last.walked + (last.mapID == map ? last.point.distance(to: point) : 0)
                }
                places.append(place)
            case .measurement(let reading):
                switch reading {
                case .motion, .step:
                    hasMotion = true
                    if !places.isEmpty { readings.append(reading) }
                case .pressure: if !places.isEmpty { readings.append(reading) }
                case .sighting, .advertisement, .gnss, .fix, .range, .radio: break
                }
            case .header: break
            }
        }
        if let warning = reader.tally.warning(for: track) { StandardError.write(warning) }
        misplaced.add(waypoints, of: track)
        guard let start = places.first, hasMotion else { return nil }
        var score = MotionScore()
        score.walked = places.last?.walked ?? 0
        reckon(readings, places, from: start, into: &score)
        locate(readings, places, from: start, into: &score)
        return score
    }

    private func reckon(
        _ readings: [SensorReading], _ places: [Place], from start: Place, into score: inout MotionScore
    ) {
        var reckoner = DeadReckoner(settings: settings.resolved(in: venue).localization.motion)
        // Dead reckoning uses the plan's frame with the y axis pointing upwards. A point within the plan is always
        // valid.
        try? reckoner.setPosition(x: start.point.x, y: -start.point.y, radius: Self.startRadius)
        var next = 1
        var lastLook = start.instant
        for reading in readings {
            while next < places.count, places[next].instant < reading.instant {
                compare(reckoner.estimate, with: places[next], start, &score)
                next += 1
            }
            reckoner.observe(reading)
            guard next < places.count, lastLook.duration(to: reading.instant) >= .milliseconds(100) else { continue }
            lastLook = reading.instant
            watch(reckoner.estimate, between: places[next - 1], places[next], &score)
        }
        for place in places[min(next, places.count)...] { compare(reckoner.estimate, with: place, start, &score) }
        score.steps = reckoner.estimate.statistics.steps
        score.walkingTime = reckoner.estimate.statistics.walking.seconds
        score.stepped = reckoner.estimate.statistics.distance
    }

    private func compare(_ estimate: MotionEstimate, with place: Place, _ start: Place, _ score: inout MotionScore) {
        guard place.mapID == start.mapID else { return }
        let point = MapPoint(x: estimate.position.x, y: -estimate.position.y)
        score.reckoned.add(point.distance(to: place.point), radius: estimate.radius, after: place.walked)
    }

    private func watch(_ estimate: MotionEstimate, between from: Place, _ to: Place, _ score: inout MotionScore) {
        score.climbs.all += 1
        if estimate.vertical != .level { score.climbs.detected += 1 }
        let seconds = from.instant.seconds(to: to.instant)
        guard from.mapID == to.mapID, seconds > 0 else { return }
        let length = from.point.distance(to: to.point)
        guard length / seconds > Self.walkingSpeed else { return }
        score.walking.all += 1
        if estimate.kind == .walking { score.walking.detected += 1 }
        guard length >= Self.leastCourse, let course = (to.point - from.point).course, let heading = estimate.heading
        else { return }
        let turn = abs(course - heading.course)
        score.headingErrors.append(min(turn, 360 - turn))
    }

    private func locate(
        _ readings: [SensorReading], _ places: [Place], from start: Place, into score: inout MotionScore
    ) {
        guard let settings = try? settings.forcing(venue.id) else { return }
        var replay = SessionReplay(venues: [venue], settings: settings, seed: seed, fields: [venue.id: field])
        var outputs = replay.start(at: start.instant)
        outputs += replay.handle(
            .fix(Fix(instant: start.instant, mapID: start.mapID, point: start.point, radius: Self.startRadius)))
        for reading in readings { outputs += replay.handle(reading) }
        outputs += replay.finish()
        var latest: Position?
        var next = 1
        for output in outputs {
            guard case .position(let position) = output.content else { continue }
            while next < places.count, places[next].instant < position.instant {
                judge(latest, places[next], &score)
                next += 1
            }
            latest = position
        }
        for place in places[min(next, places.count)...] { judge(latest, place, &score) }
    }

    private func judge(_ position: Position?, _ place: Place, _ score: inout MotionScore) {
        score.floors.all += 1
        guard let position, position.mapID == place.mapID else { return }
        score.floors.right += 1
        score.located.add(position.point.distance(to: place.point), radius: position.radius, after: place.walked)
    }
}

/// The accuracy of motion alone, compared with the ground truth of recordings.
struct MotionScore: Sendable {
    /// The distance of the ground truth and of the steps in metres, and the number of steps.
    var walked = 0.0
    var stepped = 0.0
    var steps = 0
    /// The time in seconds classified as walking.
    var walkingTime = 0.0
    /// The angles in degrees between the heading and the ground truth's course while walking.
    var headingErrors: [Double] = []
    /// The number of estimates while the ground truth walks, and of those classified as walking.
    var walking = (all: 0, detected: 0)
    /// The number of estimates, and of those classified as climbing.
    var climbs = (all: 0, detected: 0)
    /// The errors at ground truths, of dead reckoning alone and of a session.
    var reckoned = Errors()
    var located = Errors()
    /// The number of ground truths, and of those for which a session's position is on the right map.
    var floors = (all: 0, right: 0)

    /// Errors in metres, as shares of the distance walked, and the number of errors within the radius.
    struct Errors: Sendable {
        private(set) var shares: [Double] = []
        private(set) var meters: [Double] = []
        private(set) var inside = 0

        /// The minimum distance walked, in metres, that gives a share.
        private static let leastWay = 5.0

        mutating func add(_ error: Double, radius: Double, after walked: Double) {
            meters.append(error)
            if error <= radius { inside += 1 }
            if walked >= Self.leastWay { shares.append(error / walked) }
        }

        mutating func add(_ other: Errors) {
            shares += other.shares
            meters += other.meters
            inside += other.inside
        }
    }

    mutating func add(_ other: MotionScore) {
        walked += other.walked
        stepped += other.stepped
        steps += other.steps
        walkingTime += other.walkingTime
        headingErrors += other.headingErrors
        walking = (walking.all + other.walking.all, walking.detected + other.walking.detected)
        climbs = (climbs.all + other.climbs.all, climbs.detected + other.climbs.detected)
        reckoned.add(other.reckoned)
        located.add(other.located)
        floors = (floors.all + other.floors.all, floors.right + other.floors.right)
    }

    /// All figures in lines.
    func text(of name: String) -> String {
        func number(_ value: Double?, _ decimals: Int = 1) -> String {
            value.map { JSONText.number($0, decimals: decimals) } ?? "-"
        }
        func degrees(_ value: Double?) -> String { value.map { number($0) + "°" } ?? "-" }
        func percent(_ share: Double?) -> String { share.map { number($0 * 100) + "%" } ?? "-" }
        func share(_ part: Int, _ all: Int) -> String { percent(all == 0 ? nil : Double(part) / Double(all)) }
        func line(_ label: String, _ errors: Errors) -> String {
            let mean = errors.meters.isEmpty ? nil : errors.meters.reduce(0, +) / Double(errors.meters.count)
            return "\(label): n \(errors.meters.count)  mean \(number(mean, 2)) m  "
                + "median \(percent(Self.quantile(errors.shares, 0.5))) of the distance  "
                + "P90 \(percent(Self.quantile(errors.shares, 0.9)))  "
                + "inside radius \(share(errors.inside, errors.meters.count))"
        }
        return """
            \(name): walked \(number(walked, 0)) m  by steps \(number(stepped, 0)) m in \(steps), \(number(walkingTime > 0 ? Double(steps) / walkingTime : nil, 2)) a second  \
            walking detected \(share(walking.detected, walking.all))  climbing detected \(share(climbs.detected, climbs.all)) of the time  \
            heading median \(degrees(Self.quantile(headingErrors, 0.5)))  P90 \(degrees(Self.quantile(headingErrors, 0.9)))
            \(line("  dead reckoning alone", reckoned))
            \(line("  session without beacons", located))  floor \(share(floors.right, floors.all))

            """
    }

    private static func quantile(_ values: [Double], _ share: Double) -> Double? {
        guard !values.isEmpty else { return nil }
        return values.sorted()[Int(Double(values.count - 1) * share)]
    }
}
