import IndoorVocabulary
import LocalizationSession
import TextFormats
import VenueModel

extension LiveMapFrame {
    /// Creates the frame of a session's snapshot.
    ///
    /// Lengths are rounded to centimetres, probabilities to 0.0001, RSSI and ages to 0.1. A particle off the plan is
    /// moved to the nearest edge of the plan.
    /// - Parameters:
    ///   - snapshot: the snapshot of the session.
    ///   - id: the number of the frame.
    ///   - t: the instant of the snapshot in seconds of the session; nil for the snapshot's own instant.
    ///   - route: the remaining route.
    package init(
        _ snapshot: SessionSnapshot, id: Int, t: Double? = nil, route: [Place] = []
    ) {
        let now = snapshot.instant
        let t = t ?? now.seconds
        let venue = snapshot.state.venue
        self.init(
            id: id, t: t.rounded(decimals: 3), state: snapshot.state.name, text: SessionWords.text(of: snapshot.state),
            venueId: snapshot.state.venueID?.rawValue, mapId: snapshot.state.mapID?.rawValue, route: route,
            diagnosis: snapshot.diagnosis.flatMap(Diagnosis.init))
        estimate = snapshot.position.map { Estimate($0, t: t - $0.instant.duration(to: now).seconds) }
        levels = snapshot.maps.map {
            Level(mapId: $0.mapID.rawValue, probability: $0.probability.rounded(decimals: 4))
        }
        particles = venue.map { Particles.sheets(of: snapshot.particles, in: $0) } ?? []
        beacons = snapshot.beacons.map { Beacon($0, at: now) }
    }

    /// Sets the ground truth, and the error: the distance between the estimate and the ground truth at the instant of
    /// the estimate.
    ///
    /// - Parameter place: returns the ground truth at an instant in seconds of the session; nil if it is unknown.
    package mutating func setTruth(_ place: (_ seconds: Double) -> Place?) {
        truth = place(t)
        error = nil
        guard let estimate, let truth = place(estimate.t), truth.mapId == estimate.mapId else { return }
        let point = MapPoint(x: estimate.x, y: estimate.y)
        error = point.distance(to: MapPoint(x: truth.x, y: truth.y)).rounded(decimals: 2)
    }
}

extension LiveMapFrame.Diagnosis {
    /// Creates the diagnosis of a session; nil for a session that emits positions or has just begun to search.
    package init?(_ diagnosis: SessionDiagnosis) {
        guard diagnosis.reason.isProblem else { return nil }
        self.init(
            reason: diagnosis.reason.rawValue, text: diagnosis.description, help: diagnosis.help,
            beacons: diagnosis.unknownBeacons.map(\.description))
    }
}

extension LiveMapFrame.Place {
    /// Creates a place on a map, rounded to centimetres.
    public init(mapID: MapID, point: MapPoint) {
        self.init(mapId: mapID.rawValue, x: point.x.rounded(decimals: 2), y: point.y.rounded(decimals: 2))
    }
}

extension LiveMapFrame.Estimate {
    /// Creates the estimate of a position.
    ///
    /// - Parameter t: the instant of the position in seconds of the session.
    package init(_ position: Position, t: Double) {
        self.init(
            t: t.rounded(decimals: 3), mapId: position.mapID.rawValue, x: position.x.rounded(decimals: 2),
            y: position.y.rounded(decimals: 2), radius: position.radius.rounded(decimals: 2),
            course: position.course.map { $0.rounded(decimals: 1) },
            speed: position.speed.map { $0.rounded(decimals: 2) }, label: position.label,
            floorCertainty: position.floorCertainty.map { $0.rounded(decimals: 4) })
    }
}

extension LiveMapFrame.Particles {
    /// Returns the particles of each map of a venue, in the venue's order; maps without particles are left out.
    static func sheets(of particles: [SessionSnapshot.Particle], in venue: Venue) -> [Self] {
        guard !particles.isEmpty else { return [] }
        return venue.maps.compactMap { map in
            var bytes: [UInt8] = []
            for particle in particles where particle.mapID == map.id {
                for number in [share(particle.point.x, of: map.width), share(particle.point.y, of: map.height)] {
                    bytes += [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)]
                }
            }
            return bytes.isEmpty ? nil : Self(mapId: map.id.rawValue, points: Base64Text.text(of: bytes))
        }
    }

    private static func share(_ length: Double, of whole: Double) -> UInt16 {
        guard whole > 0, length.isFinite else { return 0 }
        return UInt16((min(max(length / whole, 0), 1) * 65_535).rounded())
    }
}

extension LiveMapFrame.Beacon {
    fileprivate init(_ beacon: SessionSnapshot.Beacon, at now: Instant) {
        self.init(
            id: beacon.identity.description, rssi: beacon.rssi.rounded(decimals: 1),
            age: max(0, beacon.instant.duration(to: now).seconds).rounded(decimals: 1),
            expected: beacon.expectedRSSI.map { $0.rounded(decimals: 1) },
            deviation: beacon.deviation.map { $0.rounded(decimals: 1) }, isKnown: beacon.isKnown)
    }
}

extension LocalizationState {
    /// The venue, once its packet has arrived.
    var venue: Venue? {
        switch self {
        case .idle, .started, .searchVenue, .getPacket, .error: nil
        case .findFloor(let venue): venue
        case .localizationRunning(let running): running.venue
        }
    }

    /// The map that the session has chosen; nil while the floor is unknown.
    var mapID: MapID? {
        if case .localizationRunning(let running) = self { running.mapID } else { nil }
    }
}
