import BeaconScanning
import IndoorPositioning
import IndoorVocabulary
import VenueModel

// The reason for the presence or absence of positions.
extension LocalizationMachine {
    /// How long a satellite position counts as evidence that the device is outdoors: longer than the `lowAccuracy`
    /// interval.
    private static var outdoorMemory: Duration { .seconds(15) }

    /// The reason as of the latest check; ``diagnosis(at:ofSearch:)`` has the details.
    package var reason: SessionDiagnosis.Reason { diagnosing.watch.reason }

    /// Returns the reason for the presence or absence of positions.
    ///
    /// - Parameter isWhole: whether all readings of the search for a venue count, not only the recent ones, as at the
    ///   end of a recording.
    package func diagnosis(at now: Instant, ofSearch isWhole: Bool = false) -> SessionDiagnosis {
        let reason = isWhole ? wholeReason(at: now) : reason(at: now)
        var diagnosis = SessionDiagnosis(state: shownState, reason: reason)
        let present = listened.instant(at: now)
        let evidence = diagnosing.evidence
        if case .started = state {} else { diagnosis.knownVenues = search.venueCount }
        diagnosis.venueName = visit?.venue.name ?? state.venueID.map(search.name) ?? search.onlyName
        diagnosis.beaconFaults = visit?.belief.beaconFaults ?? []
        switch reason {
        case .located, .outdoors, .searching, .notRunning, .loadingCatalogue, .radioResting, .downloadingPacket,
            .preparingVenue, .contradictoryBeacons:
            break
        case .failed: if case .error(let error) = state { diagnosis.error = error }
        case .catalogueFailed, .packetFailed:
            diagnosis.error = diagnosing.requestFailure
            diagnosis.retryAfter = retryAt.map { max(.zero, now.duration(to: $0)) }
        case .noUsableVenue: if !isForcedVenueKnown { diagnosis.forcedVenue = settings.forcedVenue }
        case .radioFailed:
            diagnosis.radio = diagnosing.scanFailure == nil ? diagnosing.radio : nil
            diagnosis.error = diagnosing.scanFailure
            diagnosis.retryAfter = scan.resumeAt.map { max(.zero, now.duration(to: $0)) }
        case .noReadings:
            let last = max(evidence.latestReading ?? evidence.since, evidence.since)
            diagnosis.duration = isWhole ? nil : last.duration(to: present)
        case .noBeacons:
            diagnosis.duration = isWhole ? nil : evidence.silence(at: present)
            diagnosis.receivesOtherDevices =
                isWhole ? evidence.latestReception != nil : evidence.isRecent(evidence.latestReception, at: present)
        case .unknownBeacons:
            diagnosis.unknownBeacons = evidence.unknownBeacons(at: present, ofSearch: isWhole)
        case .unknownAnchors: diagnosis.unknownAnchors = evidence.unknownAnchors
        case .weakBeacons:
            diagnosis.receivedVenues = evidence.venues.sorted()
            diagnosis.strongestRSSI = evidence.strongestWeak
            diagnosis.rssiThreshold = settings.rssiThreshold
        case .otherVenue, .undecidedVenue:
            diagnosis.receivedVenues = evidence.venues.sorted()
            diagnosis.forcedVenue = settings.forcedVenue
        case .undecidedFloor: diagnosis.floors = visit?.floors ?? []
        case .silentBeacons: diagnosis.duration = latestSign?.duration(to: present)
        }
        return diagnosis
    }

    /// Checks whether the reason has changed after an event; returns the diagnosis if the session must emit it.
    mutating func diagnose(after event: Event, at now: Instant) -> Directive? {
        guard reportsDiagnosis, !isRoutine(event) else { return nil }
        let (before, current) = (diagnosing.watch.reason, reason(at: now))
        let isEmitted = diagnosing.watch.follow(current, at: now)
        // Keep an instant in the future: otherwise, each reading would postpone it.
        let isDue = diagnosing.watch.wakeAt.map { $0 <= now } ?? true
        if isDue || current != before { diagnosing.watch.wakeAt = nextLook(after: now) }
        return isEmitted ? .diagnose(diagnosis(at: now)) : nil
    }

    /// Returns whether an event is a reading after which the reason needs no check, because the next tick checks it.
    private func isRoutine(_ event: Event) -> Bool {
        guard diagnosing.watch.isCalm, !isDeaf, case .localizationRunning = state, case .reading(let decoded) = event
        else { return false }
        if case .radio = decoded.reading { return false }
        return true
    }

    private func nextLook(after now: Instant) -> Instant? {
        var due = [diagnosing.watch.emissionDue].compactMap(\.self)
        switch shownState {
        case .idle, .error: return nil
        case .started, .getPacket: break
        case .searchVenue:
            let turn = diagnosing.evidence.nextTurn(after: listened.instant(at: now))
            due += [turn.flatMap(listened.wake), lastOutdoor?.advanced(by: Self.outdoorMemory)].compactMap(\.self)
        case .findFloor, .localizationRunning:
            let turn = latestSign?.advanced(by: DiagnosisWatch.patience)
            due += [turn.flatMap(listened.wake), lastOutdoor?.advanced(by: Self.outdoorMemory)].compactMap(\.self)
        }
        return due.filter { $0 > now }.min()
    }
}

// MARK: - Reasons

extension LocalizationMachine {
    private func reason(at now: Instant) -> SessionDiagnosis.Reason {
        if isInFront, diagnosing.requestFailure == nil, !isDeaf {
            return isOutdoors(at: now) ? .outdoors : searchReason(at: now)
        }
        switch state {
        case .idle: return .notRunning
        case .error: return .failed
        case .started: return diagnosing.requestFailure == nil ? .loadingCatalogue : .catalogueFailed
        case .searchVenue:
            if isDeaf { return .radioFailed }
            let reason = searchReason(at: now)
            return reason == .searching && !listened.isListening ? .radioResting : reason
        case .getPacket:
            if isPreparing { return .preparingVenue }
            return diagnosing.requestFailure == nil ? .downloadingPacket : .packetFailed
        case .findFloor:
            if isDeaf { return .radioFailed }
            guard isSilent(at: now) else { return .undecidedFloor }
            return isOutdoors(at: now) ? .outdoors : .silentBeacons
        case .localizationRunning:
            if isDeaf { return .radioFailed }
            if isSilent(at: now) { return .silentBeacons }
            return visit?.belief.isContradictory == true ? .contradictoryBeacons : .located
        }
    }

    /// Returns the reason why the search finds no venue, from the recent readings.
    private func searchReason(at now: Instant) -> SessionDiagnosis.Reason {
        let (present, evidence) = (listened.instant(at: now), diagnosing.evidence)
        if isUnusable { return isOutdoors(at: now) ? .outdoors : .noUsableVenue }
        if evidence.known.isProven(at: present) { return isForcedElsewhere ? .otherVenue : .undecidedVenue }
        if evidence.known.isRecent(at: present) { return .searching }
        if evidence.weak.isProven(at: present) { return .weakBeacons }
        if evidence.unknown.isProven(at: present) { return .unknownBeacons }
        if evidence.unknownRanges.isProven(at: present) { return .unknownAnchors }
        if evidence.silence(at: present) < DiagnosisWatch.patience { return .searching }
        if isOutdoors(at: now) { return .outdoors }
        return evidence.isSourceWorking(at: present) || isRadioHearing ? .noBeacons : .noReadings
    }

    /// Returns the reason why a search has found no venue, from all its readings.
    private func wholeReason(at now: Instant) -> SessionDiagnosis.Reason {
        guard case .searchVenue = state else { return reason(at: now) }
        let evidence = diagnosing.evidence
        if isUnusable { return .noUsableVenue }
        if evidence.known.latest != nil { return isForcedElsewhere ? .otherVenue : .undecidedVenue }
        if evidence.weak.latest != nil { return .weakBeacons }
        if evidence.unknown.latest != nil { return .unknownBeacons }
        if evidence.unknownRanges.latest != nil { return .unknownAnchors }
        if isDeaf { return .radioFailed }
        return evidence.latestReading != nil || isRadioHearing ? .noBeacons : .noReadings
    }

    private var isForcedVenueKnown: Bool { settings.forcedVenue.map(search.knows) ?? true }
    private var isUnusable: Bool { !search.hasBeacons || !isForcedVenueKnown }
    private var isRadioHearing: Bool { diagnosing.radio?.status.isHearing ?? false }

    /// Whether the received beacons belong to other venues than the forced one.
    private var isForcedElsewhere: Bool {
        settings.forcedVenue.map { !diagnosing.evidence.venues.contains($0) } ?? false
    }

    private func isOutdoors(at now: Instant) -> Bool {
        lastOutdoor.map { $0.duration(to: now) < Self.outdoorMemory } ?? false
    }

    /// The latest evidence for the position in the venue, in listening time; nil without a venue.
    private var latestSign: Instant? {
        guard let venue = visit?.venue.id, let since = visit?.since else { return nil }
        let heard = search.lastHeard(of: venue)
        let placed = max(since, visit?.placedAt ?? since)
        return max(placed, heard ?? since, carried(in: venue, heard: heard) ?? since)
    }

    private func isSilent(at now: Instant) -> Bool {
        latestSign.map { $0.duration(to: listened.instant(at: now)) >= DiagnosisWatch.patience } ?? false
    }
}

// MARK: - Observations

extension LocalizationMachine {
    /// Notes a reading, whether the session uses it or not.
    mutating func noteEvidence(of reading: DecodedReading, at now: Instant) {
        let present = listened.instant(at: now)
        diagnosing.evidence.latestReading = present
        switch reading.content {
        case .sighting:
            diagnosing.evidence.latestReception = present
            diagnosing.evidence.latestBeacon = present
        case .advertisement: diagnosing.evidence.latestReception = present
        case .rejected, .other: break
        }
    }

    /// Notes a distance to an anchor during the search for a venue.
    mutating func noteEvidence(of range: RangeReading) {
        guard case .searchVenue = state else { return }
        let present = listened.instant(at: range.instant)
        if let venue = search.owner(of: VenueAnchor.identity(of: range.anchor)) {
            diagnosing.evidence.noteBeacon(of: venue, rssi: 0, isWeak: false, at: present)
            diagnosing.evidence.latestBeacon = present
        } else {
            diagnosing.evidence.noteUnknown(anchor: range.anchor, at: present)
        }
    }

    /// Notes a beacon during the search for a venue, before the RSSI threshold.
    mutating func noteEvidence(of sighting: Sighting) {
        guard case .searchVenue = state else { return }
        let present = listened.instant(at: sighting.instant)
        if let venue = search.owner(of: sighting.beacon) {
            diagnosing.evidence.noteBeacon(
                of: venue, rssi: sighting.rssi, isWeak: sighting.rssi < settings.rssiThreshold, at: present)
        } else {
            diagnosing.evidence.noteUnknown(sighting.beacon, rssi: sighting.rssi, at: present)
        }
    }
}

extension VenueVisit {
    /// The probabilities of the floors at the latest floor decision, the most probable first.
    var floors: [SessionDiagnosis.Floor] {
        venue.maps.compactMap { map in
            probabilities[map.id].map { SessionDiagnosis.Floor(mapID: map.id, name: map.name, probability: $0) }
        }.sorted { ($0.probability, $1.mapID.rawValue) > ($1.probability, $0.mapID.rawValue) }
    }
}

/// The selection of the beacon faults that a session reports.
///
/// A fault is reported when it appears, and again if its kind changes. If the beacon then has no fault for `memory`,
/// its next fault is reported again.
struct FaultWatch: Hashable, Sendable {
    /// The time without a fault after which the next fault is reported again.
    static let memory = Duration.seconds(60)

    private struct Report: Hashable {
        var kind: String
        /// The latest instant at which the beacon had a fault.
        var latest: Instant
    }

    private var reports: [BeaconIdentity: Report] = [:]

    /// Creates a watch without reports.
    init() {}

    /// Stores the current faults; returns those to report, in the same order.
    mutating func follow(_ faults: [BeaconFault], at now: Instant) -> [BeaconFault] {
        if faults.isEmpty, reports.isEmpty { return [] }
        var due: [BeaconFault] = []
        for fault in faults {
            let kind = fault.kind.name
            if reports[fault.beacon]?.kind != kind { due.append(fault) }
            reports[fault.beacon] = Report(kind: kind, latest: now)
        }
        reports = reports.filter { $0.value.latest.duration(to: now) < Self.memory }
        return due
    }

    /// Moves the instants to a timeline with another origin.
    mutating func shift(by duration: Duration) {
        reports = reports.mapValues { Report(kind: $0.kind, latest: $0.latest.advanced(by: duration)) }
    }
}

/// The detection of beacons of a known venue that send no valid measured power.
///
/// Each beacon is reported once. Several beacons of a venue usually have this problem together, so that all beacons
/// after the first are collected for a few seconds.
struct UncalibratedBeaconWatch: Hashable, Sendable {
    /// The minimum time between two reports.
    static let pause = Duration.seconds(5)

    private var known: Set<BeaconIdentity> = []
    private var waiting: [BeaconIdentity] = []
    private var latest: Instant?

    /// Creates a watch without beacons.
    init() {}

    /// Notes an advertisement of a beacon without a valid measured power. Returns the beacons to report, in the order of
    /// reception.
    mutating func hear(_ beacon: BeaconIdentity, at now: Instant) -> [BeaconIdentity] {
        if known.insert(beacon).inserted { waiting.append(beacon) }
        guard !waiting.isEmpty, latest.map({ $0.duration(to: now) >= Self.pause }) ?? true else { return [] }
        latest = now
        defer { waiting = [] }
        return waiting
    }

    /// Moves the instants to a timeline with another origin.
    mutating func shift(by duration: Duration) { latest = latest?.advanced(by: duration) }
}
