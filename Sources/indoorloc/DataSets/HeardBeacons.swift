import IndoorLocalization

/// What was heard of a venue's beacons, to tell why the venue was not found.
struct HeardBeacons {
    private let venue: Venue
    private let known: Set<BeaconIdentity>
    private let addresses: KnownAddresses
    private var count = 0
    /// Whether steps or an accelerometer tell of motion.
    private var hasMotion = false
    /// dBm of the strongest sighting; nil if there was none.
    private var strongest: Double?

    init(of venue: Venue) {
        self.venue = venue
        addresses = KnownAddresses(of: venue)
        known = Set(venue.beacons.map(\.identity) + (venue.radioMap?.beacons.map(\.identity) ?? []))
    }

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

    /// Why a session with these settings did not find the venue.
    func reasonForNoPosition(with settings: LocalizationSettings) -> String {
        guard let strongest else {
            let reason =
                known.isEmpty
                ? "'\(venue.name)' has neither beacons nor a radio map; add beacons, or survey it"
                : "no beacon of '\(venue.name)' was heard in it"
            return reason + (hasMotion ? "; with --fix MAP,X,Y,RADIUS it is followed by motion alone" : "")
        }
        if let forced = settings.forcedVenue, forced != venue.id {
            return "forcedVenue accepts venue \(forced) alone, and '\(venue.name)' is venue \(venue.id)"
        }
        let times = count == 1 ? "once" : "\(count) times"
        if strongest < settings.rssiThreshold {
            let (limit, found) = (settings.rssiThreshold, strongest)
            let texts = [limit, found].map { JSONText.number($0, decimals: 0) }
            return "all beacons of '\(venue.name)', heard \(times), are below the rssiThreshold of \(texts[0]) dBm; "
                + "the strongest has \(texts[1]) dBm"
        }
        return "'\(venue.name)' was not found, though its beacons were heard \(times)"
    }
}
