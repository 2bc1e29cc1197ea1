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

extension SessionDiagnosis: CustomStringConvertible {
    /// The reason in words: one or two sentences, usable on a page and as a status line.
    public var description: String {
        let clause = clause
        guard let first = clause.first, let last = clause.last else { return "" }
        // The message of an error may end a sentence itself.
        return first.uppercased() + clause.dropFirst() + (".?!".contains(last) ? "" : ".")
    }

    /// The reason in words without a capital letter and a full stop, to follow "no position, as".
    package var clause: String {
        switch reason {
        case .located: "positions are available"
        case .outdoors: "the device is outdoors; satellite positions are available, and no beacon is received"
        case .searching: "the session searches for a venue"
        case .notRunning: "no session is running"
        case .failed: "the session ended with an error: \(errorText)"
        case .loadingCatalogue: "the list of venues is being fetched"
        case .catalogueFailed: "the list of venues could not be fetched: \(errorText)\(retry)"
        case .noUsableVenue: noVenueClause
        case .radioFailed: "the radio cannot receive: \(radio.map { "\($0)" } ?? errorText)\(retry)"
        case .radioResting: "the radio rests until its next pass"
        case .noReadings: "no reading arrived\(time)"
        case .noBeacons: "no beacon \(place)was received\(time)" + (receivesOtherDevices == true ? otherDevices : "")
        case .unknownBeacons: unknownClause
        case .unknownAnchors: anchorClause
        case .weakBeacons: weakClause
        case .otherVenue:
            "the setting forcedVenue accepts only \(name(forcedVenue)), but the received beacons belong to "
                + names(receivedVenues)
        case .undecidedVenue: undecidedClause
        case .downloadingPacket: "the session is downloading the packet of \(name(state.venueID)): \(progress) %"
        case .packetFailed: "the packet of \(name(state.venueID)) could not be fetched: \(errorText)\(retry)"
        case .preparingVenue: "the positioning in \(name(state.venueID)) is being prepared"
        case .undecidedFloor: floorClause
        case .silentBeacons:
            "no beacon of \(name(state.venueID)) was received\(time)"
                + (isRunning ? "; the latest positions are predictions" : "")
        case .contradictoryBeacons:
            "the received beacons \(place)contradict each other, so that the position is uncertain"
        }
    }

    /// The clause with the help, as in "no beacon was received; check that beacons are near"; the clause alone without
    /// help.
    package var clauseWithHelp: String {
        guard let help, let first = help.first else { return clause }
        return "\(clause); \(first.lowercased())\(help.dropFirst().dropLast())"
    }

    private var otherDevices: String { ", but other Bluetooth devices were" }

    private var noVenueClause: String {
        if let forcedVenue { return "\(name(forcedVenue)) of the setting forcedVenue is not among the known venues" }
        switch knownVenues {
        case 0?: return "there is no known venue"
        case 1?: return "\(venueName.map { "'\($0)'" } ?? "the venue") has neither beacons nor a radio map"
        default: return "no known venue has beacons or a radio map"
        }
    }

    private var unknownClause: String {
        let count = unknownBeacons.count
        let shown = unknownBeacons.prefix(3).map(\.description).joined(separator: ", ")
        let list = count > 3 ? "\(shown) and \(count - 3) more" : shown
        let owner = venueName.map { "'\($0)'" } ?? "a known venue"
        return count == 1
            ? "1 beacon was received, which does not belong to \(owner): \(list)"
            : "\(count) beacons were received, of which none belongs to \(owner): \(list)"
    }

    private var anchorClause: String {
        let count = unknownAnchors.count
        let names = unknownAnchors.prefix(3).map { "\"\($0)\"" }.joined(separator: ", ")
        let list = count > 3 ? "\(names) and \(count - 3) more" : names
        let owner = venueName.map { "'\($0)'" } ?? "a known venue"
        return count == 1
            ? "distances to 1 anchor were measured, which does not belong to \(owner): \(list)"
            : "distances to \(count) anchors were measured, of which none belongs to \(owner): \(list)"
    }

    private var weakClause: String {
        let numbers = [rssiThreshold, strongestRSSI].map { $0.map { "\(Int($0.rounded())) dBm" } ?? "unknown" }
        return "all received beacons of \(names(receivedVenues)) are below the rssiThreshold of \(numbers[0]); "
            + "the strongest is \(numbers[1])"
    }

    private var undecidedClause: String {
        receivedVenues.count > 1
            ? "the radio receives beacons of \(names(receivedVenues)), and none of these venues is clearly stronger"
            : "the radio receives beacons of \(names(receivedVenues)), but they are not enough to choose the venue"
    }

    private var floorClause: String {
        guard !floors.isEmpty else { return "the floor is unknown, as the readings so far give no position" }
        let list = floors.prefix(4).map { "\($0.name) \(Int(($0.probability * 100).rounded())) %" }
        return "the floor is undecided: " + list.joined(separator: ", ")
    }

    /// Advice for the user; nil if the session needs no help, or if nothing helps.
    public var help: String? {
        switch reason {
        case .located, .outdoors, .searching, .loadingCatalogue, .downloadingPacket, .preparingVenue: nil
        case .notRunning: "Start a session."
        case .failed: "Resolve the cause, then start a session again."
        case .catalogueFailed, .packetFailed: "Check the network, and the address and the files of the venue source."
        case .noUsableVenue:
            forcedVenue == nil
                ? "Add beacons to the packet, or make a survey." : "Add the packet of the venue, or change the setting."
        case .radioFailed: radioHelp
        case .radioResting: "Use a duty cycle with shorter rests, or a higher desired accuracy."
        case .noReadings:
            "Check that beacons are near, and that the source delivers: the adapter, the permissions and the scan."
        case .noBeacons:
            "Check that beacons are near and powered, and that they send a format that the package decodes."
        case .unknownBeacons:
            "Correct the names of the beacons in the packet, or add the packet of the venue that has these beacons."
        case .unknownAnchors:
            "Correct the ids of the anchors in the packet, or add the packet of the venue that has these anchors."
        case .weakBeacons: "Lower rssiThreshold, or move closer to a beacon."
        case .otherVenue: "Remove the setting forcedVenue, or set it to a venue that is received."
        case .undecidedVenue:
            receivedVenues.count > 1
                ? "Move away from the border between the venues, or set forcedVenue."
                : "Move closer to the beacons, and check the coordinate and the radius of the venue."
        case .undecidedFloor: "Move closer to a beacon, and check the floors of the beacons in the packet."
        case .silentBeacons: "Move closer to a beacon, and check that the beacons here are powered."
        case .contradictoryBeacons:
            "Check the places of the beacons here in the packet, and look for a transmitter that sends their identities."
        }
    }

    private var radioHelp: String {
        switch radio?.status {
        case .poweredOff: "Power the adapter on, for example with 'bluetoothctl power on'."
        case .blocked: "Unblock the adapter with the radio switch, or with 'rfkill unblock bluetooth'."
        case .unplugged: "Plug the adapter in."
        case .serviceLost: "Start the Bluetooth service, for example with 'systemctl start bluetooth'."
        case .refused: "Stop other programs that scan, or restart the Bluetooth service."
        case .scanning, .sharing, .resting, nil: "Check the adapter and the permissions of the process."
        }
    }

    private var errorText: String { error?.message ?? "unknown error" }
    private var retry: String { retryAfter.map { "; the next attempt is in \(Self.seconds($0))" } ?? "" }
    private var time: String { duration.map { " for \(Self.seconds($0))" } ?? "" }
    private var place: String { venueName.map { "of '\($0)' " } ?? "" }

    private var progress: Int {
        if case .getPacket(_, let progress) = state { Int(progress * 100) } else { 0 }
    }

    private var isRunning: Bool {
        if case .localizationRunning = state { true } else { false }
    }

    private func name(_ venue: VenueID?) -> String {
        if let venueName, venue == state.venueID { return "'\(venueName)'" }
        return venue.map { "venue \($0)" } ?? "the venue"
    }

    private func names(_ venues: [VenueID]) -> String {
        if let venueName, venues.count == 1, knownVenues == 1 { return "'\(venueName)'" }
        let texts = venues.map(\.description)
        guard let last = texts.last, texts.count > 1 else { return "venue \(texts.first ?? "unknown")" }
        return "venues \(texts.dropLast().joined(separator: ", ")) and \(last)"
    }

    private static func seconds(_ duration: Duration) -> String { "\(Int(duration.seconds.rounded())) s" }
}

/// The observations of a session that only its diagnosis needs.
struct DiagnosisRecord: Hashable, Sendable {
    var watch = DiagnosisWatch()
    var evidence = SearchEvidence()
    /// The latest failure of the pending request; nil if it hasn't failed.
    var requestFailure: LocalizationError?
    /// The latest event of the radio that isn't a rest; nil before the first one.
    var radio: RadioEvent?
    /// The failure of the scan after that event; nil if it hasn't failed.
    var scanFailure: LocalizationError?

    /// Creates the record of a session that begins.
    init() {}
}

/// The selection of the reasons that a session emits.
///
/// A session passes through many reasons before its first position. It emits a reason only if the reason has lasted for
/// `patience`, and the end of a reason only if it emitted that reason.
struct DiagnosisWatch: Hashable, Sendable {
    /// How long a reason for the absence of positions lasts before it is emitted.
    static let patience = Duration.seconds(5)

    /// The reason at the latest check.
    private(set) var reason = SessionDiagnosis.Reason.notRunning
    /// The instant since which the reason holds.
    private var since = Instant.zero
    /// The latest emitted problem; nil if there was none, or its end was emitted.
    private var emitted: SessionDiagnosis.Reason?
    /// The instant of the next check; nil if only an event can change the reason.
    var wakeAt: Instant?

    /// Creates the watch of a session that isn't running.
    init() {}

    /// Whether readings alone can't change the reason before the next tick: the session emits positions, and no problem
    /// was emitted.
    var isCalm: Bool { reason == .located && emitted == nil }

    /// The instant at which the reason is emitted if it lasts; nil if it is emitted already, or at once.
    var emissionDue: Instant? {
        guard case .brief = reason.urgency, emitted != reason else { return nil }
        return since.advanced(by: Self.patience)
    }

    /// Notes the current reason; returns whether to emit it.
    mutating func follow(_ current: SessionDiagnosis.Reason, at now: Instant) -> Bool {
        if current != reason {
            reason = current
            since = now
        }
        switch current.urgency {
        case .over:
            emitted = nil
            return false
        case .calm:
            defer { emitted = nil }
            return emitted != nil
        case .open:
            // A `proven` problem, such as a silence, can continue after a single beacon, so its end isn't emitted yet.
            guard let problem = emitted, case .brief = problem.urgency else { return false }
            emitted = nil
            return true
        case .brief where since.duration(to: now) < Self.patience: return false
        case .brief, .proven:
            defer { emitted = current }
            return emitted != current
        }
    }

    /// Moves the instants to a timeline with another origin.
    mutating func shift(by duration: Duration) {
        since = since.advanced(by: duration)
        wakeAt = wakeAt?.advanced(by: duration)
    }
}
