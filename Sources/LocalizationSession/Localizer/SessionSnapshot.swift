import IndoorVocabulary
import VenueModel

/// The state and the estimates of a session at one instant, for displays and for debugging.
///
///     let snapshot = await localizer.snapshot(particles: 300)
///     for beacon in snapshot.beacons where !beacon.isKnown { print("unknown beacon", beacon.identity) }
public struct SessionSnapshot: Hashable, Sendable {
    /// The probability that the device is on a map.
    public struct MapProbability: Hashable, Sendable {
        /// The map.
        public var mapID: MapID
        /// The probability, in [0, 1].
        public var probability: Double

        /// Creates the probability of a map.
        package init(mapID: MapID, probability: Double) {
            self.mapID = mapID
            self.probability = probability
        }
    }

    /// A particle: one of the places at which the device may be. All particles of a snapshot are equally probable.
    public struct Particle: Hashable, Sendable {
        /// The map of the particle.
        public var mapID: MapID
        /// The place in metres, which can be slightly off the plan.
        public var point: MapPoint

        /// Creates a particle.
        package init(mapID: MapID, point: MapPoint) {
            self.mapID = mapID
            self.point = point
        }
    }

    /// A beacon that the source received in the last 30 s.
    public struct Beacon: Hashable, Sendable {
        /// The identity of the beacon.
        public var identity: BeaconIdentity
        /// The latest RSSI in dBm.
        public var rssi: Double
        /// The instant of the latest reading.
        public var instant: Instant
        /// Whether the beacon belongs to the venue; before the session has the venue's packet, to any known venue.
        public var isKnown: Bool
        /// The RSSI in dBm that the radio map or the path-loss law predicts at the latest position, with the estimated
        /// receiver offset; nil without a position, for an unknown beacon, and where no reception is predicted.
        public var expectedRSSI: Double?
        /// The standard deviation in dB of one reading about `expectedRSSI`; nil without it.
        public var deviation: Double?

        /// Creates a beacon.
        package init(
            identity: BeaconIdentity, rssi: Double, instant: Instant, isKnown: Bool, expectedRSSI: Double? = nil,
            deviation: Double? = nil
        ) {
            self.identity = identity
            self.rssi = rssi
            self.instant = instant
            self.isKnown = isKnown
            self.expectedRSSI = expectedRSSI
            self.deviation = deviation
        }
    }

    /// The instant of the snapshot.
    public var instant: Instant
    /// The state of the session.
    public var state: LocalizationState
    /// The latest position in the venue, even if the position filter kept the session from emitting it; nil before the
    /// first one and after the venue is lost.
    public var position: Position?
    /// The probability of each map in the venue's order, which sum to 1; empty before any evidence.
    public var maps: [MapProbability]
    /// The particles; empty before any evidence, and for a positioning method without particles.
    public var particles: [Particle]
    /// The beacons that the source received in the last 30 s, at most 256, by identity. Beacons below the RSSI
    /// threshold are included.
    public var beacons: [Beacon]

    /// The reason for the presence or absence of positions; nil if it is unknown.
    public var diagnosis: SessionDiagnosis?

    /// Creates a snapshot.
    package init(
        instant: Instant, state: LocalizationState, position: Position? = nil, maps: [MapProbability] = [],
        particles: [Particle] = [], beacons: [Beacon] = [], diagnosis: SessionDiagnosis? = nil
    ) {
        self.instant = instant
        self.state = state
        self.position = position
        self.maps = maps
        self.particles = particles
        self.beacons = beacons
        self.diagnosis = diagnosis
    }
}

extension LocalizationMachine {
    /// Returns a snapshot of the session at an instant.
    ///
    /// - Parameter limit: the greatest number of particles in the snapshot.
    package func snapshot(at now: Instant, particles limit: Int) -> SessionSnapshot {
        var snapshot = SessionSnapshot(
            instant: now, state: shownState, position: visit?.history.latest, diagnosis: diagnosis(at: now))
        if let visit {
            let probabilities = visit.belief.mapProbabilities
            if !probabilities.isEmpty {
                snapshot.maps = visit.venue.maps.map { .init(mapID: $0.id, probability: probabilities[$0.id] ?? 0) }
            }
            snapshot.particles = visit.belief.particles(atMost: max(0, limit)).map {
                .init(mapID: $0.mapID, point: $0.point)
            }
        }
        snapshot.beacons = recentBeacons.recent(at: now).map { entry in
            let expected = snapshot.position.flatMap {
                visit?.belief.expectedRSSI(of: entry.beacon, at: $0.point, on: $0.mapID)
            }
            return SessionSnapshot.Beacon(
                identity: entry.beacon, rssi: entry.rssi, instant: entry.instant, isKnown: isKnown(entry.beacon),
                expectedRSSI: expected?.mean, deviation: expected?.deviation)
        }
        return snapshot
    }

    private func isKnown(_ beacon: BeaconIdentity) -> Bool {
        visit?.belief.contains(beacon) ?? (search.owner(of: beacon) != nil)
    }
}

/// The availability of positions.
public enum ServiceStatus: String, Hashable, Sendable, CaseIterable {
    /// No session is running; start one to receive positions.
    case stopped
    /// The session ended with an error. Remove the cause and start it again.
    case outOfService
    /// The venue's data can't be fetched at the moment; the session retries.
    case unavailable
    /// The radio receives nothing or has failed; the session retries. Other sensors may still deliver readings.
    case limited
    /// The session can locate the device wherever there are beacons.
    case available
}

extension LocalizationMachine {
    /// The availability of positions.
    package var serviceStatus: ServiceStatus {
        switch state {
        case .idle: .stopped
        case .error: .outOfService
        case .started, .searchVenue, .getPacket, .findFloor, .localizationRunning:
            if retryAt != nil { .unavailable } else { isDeaf || scan.resumeAt != nil ? .limited : .available }
        }
    }
}

extension FloorPlanLocalizerState {
    /// The availability of positions in this state.
    public var serviceStatus: ServiceStatus {
        switch self {
        case .stopped(nil): .stopped
        case .stopped: .outOfService
        case .reconnecting: .unavailable
        case .buffering, .heavyBuffering: .limited
        case .connecting, .connected, .loading, .ready, .waitingForFix, .positioning: .available
        }
    }
}
