import BeaconScanning
import IndoorVocabulary
import VenueModel

/// The reason why a session does or doesn't emit positions, with advice for the user.
///
///     for await diagnosis in localizer.diagnoses {
///         print(diagnosis)
///         if let help = diagnosis.help { print(help) }
///     }
///
/// See <doc:Diagnosis>.
public struct SessionDiagnosis: Hashable, Sendable {
    /// The reasons. Their names are stable identifiers, as in the lines of type `diagnosis` of the command line.
    public enum Reason: String, Hashable, Sendable, CaseIterable {
        /// The session emits positions.
        case located
        /// The session emits satellite positions, and receives no beacon.
        case outdoors
        /// The session searches for a venue, and hasn't searched long enough to give another reason.
        case searching
        /// No session is running.
        case notRunning
        /// The session ended with an error.
        case failed
        /// The session fetches the catalogue of venues.
        case loadingCatalogue
        /// The catalogue of venues couldn't be fetched; the session retries.
        case catalogueFailed
        /// None of the known venues can be found by beacons.
        case noUsableVenue
        /// The radio is off, blocked, unplugged or has failed.
        case radioFailed
        /// The radio rests until the next pass of its duty cycle.
        case radioResting
        /// The source delivers no readings.
        case noReadings
        /// The radio receives no beacons.
        case noBeacons
        /// The radio receives beacons, but none of a known venue.
        case unknownBeacons
        /// The source delivers distances to anchors, but to none of a known venue.
        case unknownAnchors
        /// The radio receives beacons of a known venue, but all below the RSSI threshold.
        case weakBeacons
        /// The radio receives beacons of known venues, but none of the forced venue.
        case otherVenue
        /// The beacons of known venues are too few or contradictory to choose a venue.
        case undecidedVenue
        /// The session fetches the packet of the venue.
        case downloadingPacket
        /// The packet of the venue couldn't be fetched; the session retries.
        case packetFailed
        /// The session prepares the positioning in the venue.
        case preparingVenue
        /// The evidence is not enough to choose the floor.
        case undecidedFloor
        /// The radio no longer receives a beacon of the venue, so that positions are missing or only predicted.
        case silentBeacons
        /// The received beacons contradict each other, and no majority of them agrees. The radius of the positions is
        /// large.
        case contradictoryBeacons
    }

    /// The probability of a floor.
    public struct Floor: Hashable, Sendable {
        /// The map of the floor.
        public var mapID: MapID
        /// The name of the map.
        public var name: String
        /// The probability in [0, 1].
        public var probability: Double

        /// Creates the probability of a floor.
        package init(mapID: MapID, name: String, probability: Double) {
            self.mapID = mapID
            self.name = name
            self.probability = probability
        }
    }

    /// The state of the session.
    public var state: LocalizationState
    /// The reason for the presence or absence of positions.
    public var reason: Reason
    /// The received beacons that belong to no known venue, the strongest first, at most 64; empty for other reasons
    /// than `unknownBeacons`.
    public var unknownBeacons: [BeaconIdentity] = []
    /// The anchors of received distances that belong to no known venue, in the order of their first distances, at most
    /// 64; empty for other reasons than `unknownAnchors`.
    public var unknownAnchors: [String] = []
    /// The time without readings, beacons or the venue's beacons; nil for reasons without one.
    public var duration: Duration?
    /// The error that ended the session, or failed a request or the scan; nil without one.
    public var error: LocalizationError?
    /// The radio event of a radio that can't receive; nil without one.
    public var radio: RadioEvent?
    /// The time until the next attempt; nil if none is scheduled.
    public var retryAfter: Duration?
    /// The probabilities of the floors, the most probable first; empty for other reasons than `undecidedFloor`.
    public var floors: [Floor] = []
    /// The venues whose beacons were received; empty for other reasons than `weakBeacons`, `otherVenue` and
    /// `undecidedVenue`.
    package var receivedVenues: [VenueID] = []
    /// The strongest RSSI in dBm of the beacons below the threshold; nil for other reasons than `weakBeacons`.
    package var strongestRSSI: Double?
    /// The RSSI threshold in dBm; nil for other reasons than `weakBeacons`.
    package var rssiThreshold: Double?
    /// The venue that the settings force; nil for other reasons than `otherVenue` and `noUsableVenue`, and without one.
    package var forcedVenue: VenueID?
    /// Whether the radio receives other Bluetooth devices; nil for other reasons than `noBeacons`.
    package var receivesOtherDevices: Bool?
    /// The name of the venue: the one that the session is in, or the only known one; nil without one.
    package var venueName: String?
    /// The beacons whose readings contradict the venue, in the order of their identities; empty without a venue.
    public var beaconFaults: [BeaconFault] = []
    /// The number of known venues; nil before the catalogue has arrived.
    package var knownVenues: Int?

    /// Creates a diagnosis without details.
    package init(state: LocalizationState, reason: Reason) {
        self.state = state
        self.reason = reason
    }
}

extension SessionDiagnosis.Reason {
    /// Whether the reason explains why there are no positions, or only predicted ones.
    package var isProblem: Bool {
        switch self {
        case .located, .outdoors, .searching: false
        default: true
        }
    }

    /// How long a reason lasts before the session emits it.
    enum Urgency {
        /// The session emits positions; emitted at once as the end of a problem.
        case calm
        /// The session may find a venue soon; emitted as the end of a `brief` problem, but not of a `proven` one, which
        /// may return.
        case open
        /// The session is over, which its state shows; never emitted.
        case over
        /// The reason is normal for a short time; emitted after `DiagnosisWatch.patience`.
        case brief
        /// The reason itself requires that the evidence has lasted for `DiagnosisWatch.patience`.
        case proven
    }

    var urgency: Urgency {
        switch self {
        case .located, .outdoors: .calm
        case .searching: .open
        case .notRunning, .failed: .over
        case .loadingCatalogue, .catalogueFailed, .noUsableVenue, .radioFailed, .radioResting, .downloadingPacket,
            .packetFailed, .preparingVenue, .undecidedFloor, .contradictoryBeacons:
            .brief
        case .noReadings, .noBeacons, .unknownBeacons, .unknownAnchors, .weakBeacons, .otherVenue, .undecidedVenue,
            .silentBeacons:
            .proven
        }
    }
}
