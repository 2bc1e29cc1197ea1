import IndoorVocabulary
import VenueModel

/// A motion update from a session.
package enum MotionUpdate: Hashable, Sendable {
    /// A motion estimate.
    case motion(MotionEstimate)
    /// A changed heading.
    case heading(Heading)
    /// A changed attitude.
    case attitude(Attitude)
}

/// A reporter that follows the motion of a session's device, and emits updates at the rate of the settings.
package struct MotionReporter: Sendable {
    package private(set) var reckoner: DeadReckoner
    private var lastMotion: Instant?
    private var lastHeading: Double?
    private var lastAttitude: Quaternion?

    /// Creates a reporter without readings.
    package init(_ settings: DeadReckoningSettings, model: MotionModel, calibration: Calibration?) {
        reckoner = DeadReckoner(settings: settings, model: model, calibration: calibration ?? Calibration())
        alignIfWanted()
    }

    /// Replaces the settings.
    package mutating func use(_ settings: DeadReckoningSettings) {
        reckoner.settings = settings
        alignIfWanted()
    }

    /// Begins the alignment by satellites, unless the frame's position or bearing is known.
    private mutating func alignIfWanted() {
        let isKnown = reckoner.anchor.alignment != .local || reckoner.anchor.bearing != nil
        if reckoner.settings.estimationMode == .global, !isKnown { reckoner.alignWithSatellites() }
    }

    /// Aligns the floors and the frame with a map of a venue that the device has entered.
    package mutating func enter(_ map: MapID, of venue: Venue, bearing: Double?) {
        guard let level = venue.map(map)?.level else { return }
        reckoner.setFloor(level)
        reckoner.setFrameBearing(bearing)
        let levels = venue.maps.sorted { $0.level < $1.level }
        for (lower, upper) in zip(levels, levels.dropFirst()) where upper.level == lower.level + 1 {
            guard let from = lower.elevation, let to = upper.elevation else { continue }
            // If both plans have the same height, the packet is wrong; the reckoner then uses the default height.
            try? reckoner.addFloor(lower.level, height: to - from)
        }
    }

    /// Sets the heading of the device from outside, in degrees clockwise from the plan's top.
    package mutating func set(heading course: Double) {
        // An invalid number has no effect.
        try? reckoner.setHeading(course)
    }

    /// Handles a reading.
    package mutating func observe(_ reading: SensorReading) { reckoner.observe(reading) }

    /// Returns the updates since the last call.
    package mutating func updates(at now: Instant) -> [MotionUpdate] {
        let settings = reckoner.settings
        var updates: [MotionUpdate] = []
        if let heading = reckoner.heading {
            let turn = lastHeading.map { abs(Degrees.turn(from: $0, to: heading.course)) } ?? .infinity
            if turn >= settings.headingFilter {
                lastHeading = heading.course
                updates.append(.heading(heading))
            }
        }
        if let attitude = reckoner.attitude {
            let turn = lastAttitude.map { $0.angle(to: attitude.rotation) * 180 / .pi } ?? .infinity
            if turn >= settings.attitudeFilter {
                lastAttitude = attitude.rotation
                updates.append(.attitude(attitude))
            }
        }
        if lastMotion.map({ $0.duration(to: now) >= settings.interval }) ?? true {
            lastMotion = now
            updates.append(.motion(reckoner.estimate))
        }
        return updates
    }
}
