/// What a session or a scanner has counted since it was created.
public struct ActivityCounts: Hashable, Sendable {
    /// Passes of the radio that began.
    public internal(set) var passes = 0
    /// Advertisements as they came over the air, and beacons that the source told as such.
    public internal(set) var readings = 0
    /// Of these, beacons with an RSSI that is a measurement.
    public internal(set) var sightings = 0
    /// Positions indoors.
    public internal(set) var positions = 0
    /// Positions by satellites, outdoors.
    public internal(set) var outdoorPositions = 0
    /// Rooms, fences and regions that were entered or left.
    public internal(set) var events = 0
    /// Errors that were reported, also those that the session survived.
    public internal(set) var errors = 0
    /// What the last advertisement was decoded to: a sighting of the same behind it is the same news.
    private var decoded: Sighting?
    /// Whether the radio rests between two passes.
    private var isResting = false

    /// Creates counts of nothing.
    public init() {}

    /// Takes in what a source delivers to a scanner, which tells itself which of it are beacons.
    mutating func noteReading(_ reading: SensorReading) {
        switch reading {
        case .sighting, .advertisement: readings += 1
        case .motion, .step, .pressure, .gnss, .fix, .radio: break
        }
    }

    /// Takes in what a source delivers to a session.
    mutating func note(_ reading: SensorReading) {
        noteReading(reading)
        switch reading {
        case .sighting(let sighting):
            if sighting != decoded, Sighting.isMeasurement(rssi: sighting.rssi) { sightings += 1 }
            decoded = nil
        case .advertisement(let advertisement):
            decoded = (try? advertisement.sighting()) ?? nil
            if decoded != nil { sightings += 1 }
        case .radio(let event):
            // The first pass began with the scan.
            if isResting, event.status == .scanning { passes += 1 }
            isResting = event.status == .resting
        case .motion, .step, .pressure, .gnss, .fix: break
        }
    }

    /// Takes in what a session tells.
    mutating func note(_ directive: LocalizationMachine<PositioningEngine>.Directive) {
        switch directive {
        case .startScanning: passes += 1
        case .emit: positions += 1
        case .emitOutdoor: outdoorPositions += 1
        case .emitEvent: events += 1
        case .report: errors += 1
        case .startReceiving, .stopScanning, .cancelFetch, .fetchCatalogue, .fetchPacket, .prepareBelief, .publish,
            .emitMotion,
            .emitInteraction, .announceVenue, .schedule:
            break
        }
    }

    /// Takes in what a scanner tells.
    mutating func note(_ directive: ScanMachine.Directive) {
        switch directive {
        case .startSource: passes += 1
        case .emitBeacon: sightings += 1
        case .emitRegionEvent, .emitRoomEvent: events += 1
        case .report: errors += 1
        case .stopSource, .publish, .emitAdvertisement, .emitRanging, .passOn: break
        }
    }
}
