import IndoorVocabulary
import VenueModel

/// What a session tells of motion.
package enum MotionUpdate: Hashable, Sendable {
    /// How the device moves.
    case motion(MotionEstimate)
    /// It points elsewhere.
    case heading(Heading)
    /// It is turned otherwise.
    case attitude(Attitude)
}

/// Follows the motion of a session's device, and tells of it as often as the settings say.
package struct MotionReporter: Sendable {
    package private(set) var reckoner: DeadReckoner
    private var lastMotion: Instant?
    private var lastHeading: Double?
    private var lastAttitude: Quaternion?

    /// Begins anew.
    package init(_ settings: DeadReckoningSettings, model: MotionModel, calibration: Calibration?) {
        reckoner = DeadReckoner(settings: settings, model: model, calibration: calibration ?? Calibration())
        alignIfWanted()
    }

    /// Other settings count from now on.
    package mutating func use(_ settings: DeadReckoningSettings) {
        reckoner.settings = settings
        alignIfWanted()
    }

    /// Asks satellites for the frame's place on Earth, unless somebody has told of it.
    private mutating func alignIfWanted() {
        let isKnown = reckoner.anchor.alignment != .local || reckoner.anchor.bearing != nil
        if reckoner.settings.estimationMode == .global, !isKnown { reckoner.alignWithSatellites() }
    }

    /// The device is on a map of a venue: its floors are counted as the plans are, and its frame is the plan's.
    package mutating func enter(_ map: MapID, of venue: Venue, bearing: Double?) {
        guard let level = venue.map(map)?.level else { return }
        reckoner.setFloor(level)
        reckoner.setFrameBearing(bearing)
        let levels = venue.maps.sorted { $0.level < $1.level }
        for (lower, upper) in zip(levels, levels.dropFirst()) where upper.level == lower.level + 1 {
            guard let from = lower.elevation, let to = upper.elevation else { continue }
            // Plans that lie above each other by no height are a mistake of the packet, and the usual height counts.
            try? reckoner.addFloor(lower.level, height: to - from)
        }
    }

    /// Somebody outside knows where the device points, in degrees clockwise from the plan's top.
    package mutating func set(heading course: Double) {
        // A number that is none tells nothing.
        try? reckoner.setHeading(course)
    }

    /// Takes in a reading.
    package mutating func observe(_ reading: SensorReading) { reckoner.observe(reading) }

    /// What there is to tell behind a reading.
    package mutating func news(at now: Instant) -> [MotionUpdate] {
        let settings = reckoner.settings
        var news: [MotionUpdate] = []
        if let heading = reckoner.heading {
            let turn = lastHeading.map { abs(Degrees.turn(from: $0, to: heading.course)) } ?? .infinity
            if turn >= settings.headingFilter {
                lastHeading = heading.course
                news.append(.heading(heading))
            }
        }
        if let attitude = reckoner.attitude {
            let turn = lastAttitude.map { $0.angle(to: attitude.rotation) * 180 / .pi } ?? .infinity
            if turn >= settings.attitudeFilter {
                lastAttitude = attitude.rotation
                news.append(.attitude(attitude))
            }
        }
        if lastMotion.map({ $0.duration(to: now) >= settings.interval }) ?? true {
            lastMotion = now
            news.append(.motion(reckoner.estimate))
        }
        return news
    }
}
