import IndoorLocalization

/// Statistics of a venue's beacons in a recording, to explain why the venue was not found.
struct HeardBeacons {
    private let venue: Venue
    private let known: Set<BeaconIdentity>
    private let addresses: KnownAddresses
    private var count = 0
    /// Whether the recording has steps or inertial samples.
    private var hasMotion = false
    /// dBm of the strongest sighting; nil if there was none.
    private var strongest: Double?

    init(of venue: Venue) {
        self.venue = venue
        addresses = KnownAddresses(of: venue)
        known = Set(venue.beacons.map(\.identity) + (venue.radioMap?.beacons.map(\.identity) ?? []))
    }

    /// Counts a reading.
    mutating func note(_ reading: SensorReading) {
        let sighting: Sighting?
        switch reading {
        case .sighting(let heard): sighting = addresses.resolve(heard, isKnown: known.contains)
        case .advertisement(let advertisement):
            let heard = (try? advertisement.sighting()).map { addresses.resolve($0, isKnown: known.contains) }
            sighting = heard ?? addresses.sighting(of: advertisement)
        case .motion, .step:
            hasMotion = true
            return
        case .pressure, .gnss, .fix, .radio: sighting = nil
        }
        guard let sighting, known.contains(sighting.beacon), Sighting.isMeasurement(rssi: sighting.rssi) else { return }
        count += 1
        strongest = max(sighting.rssi, strongest ?? sighting.rssi)
    }

    /// The reason why a session with these settings did not find the venue.
    func reasonForNoPosition(with settings: LocalizationSettings) -> String {
        guard let strongest else {
            let reason =
                known.isEmpty
                ? "'\(venue.name)' has neither beacons nor a radio map; add beacons, or make a survey"
                : "it contains no beacon of '\(venue.name)'"
            return reason + (hasMotion ? "; use --fix MAP,X,Y,RADIUS to follow it by motion alone" : "")
        }
        if let forced = settings.forcedVenue, forced != venue.id {
            return "forcedVenue accepts only venue \(forced), but '\(venue.name)' is venue \(venue.id)"
        }
        let times = count == 1 ? "once" : "\(count) times"
        if strongest < settings.rssiThreshold {
            let (limit, found) = (settings.rssiThreshold, strongest)
            let texts = [limit, found].map { JSONText.number($0, decimals: 0) }
            return "all beacons of '\(venue.name)', received \(times), are below the rssiThreshold of \(texts[0]) dBm; "
                + "the strongest is \(texts[1]) dBm"
        }
        return "'\(venue.name)' was not found, although its beacons were received \(times)"
    }
}
