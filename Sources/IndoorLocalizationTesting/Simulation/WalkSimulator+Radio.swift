import IndoorLocalization

extension WalkSimulator {
    /// Returns all advertisements that the device receives, beacon by beacon.
    func sightings() -> [SensorReading] {
        let dead = deadBeacons()
        return venue.beacons.flatMap { beacon in
            guard let map = venue.map(beacon.mapID) else { return [SensorReading]() }
            let channel = RadioChannel(to: beacon, on: map, of: venue, settings.radio)
            return sightings(over: channel, isMortal: dead.contains(beacon.identity))
        }
    }

    private func sightings(over channel: RadioChannel, isMortal: Bool) -> [SensorReading] {
        let radio = settings.radio
        let beacon = channel.beacon
        var generator = SeededGenerator.stream(seed, Purpose.advertising.rawValue, beacon.identity.seed)
        var readings: [SensorReading] = []
        var time = radio.advertisingInterval * generator.uniform()
        let end = isMortal ? min(timeline.duration, radio.deadFrom) : timeline.duration
        while time < end {
            let rssi = channel.rssi(at: timeline.pose(at: time), using: &generator)
            let isReceived = generator.uniform() < RadioChannel.chance(ofReceiving: rssi, radio)
            let rounded = min(rssi.rounded(), -1)
            if isReceived, Sighting.isMeasurement(rssi: rounded) {
                readings.append(reading(of: beacon, rssi: rounded, at: Self.instant(time)))
            }
            time += radio.advertisingInterval + radio.advertisingDelay * generator.uniform()
        }
        return readings
    }

    /// Returns the sighting of a beacon, or an advertisement without beacon data for a beacon that is known only by its
    /// address.
    private func reading(of beacon: VenueBeacon, rssi: Double, at instant: Instant) -> SensorReading {
        if beacon.validNaming == .address, let address = beacon.address {
            // The flags of a generally discoverable device without BR/EDR.
            return .advertisement(Advertisement(instant: instant, address: address, rssi: rssi, data: [2, 1, 6]))
        }
        return .sighting(
            Sighting(
                instant: instant, beacon: beacon.identity, rssi: rssi,
                measuredPower: settings.radio.advertisesPower ? beacon.measuredPower : nil, address: beacon.address))
    }

    /// Returns the beacons that stop advertising, selected by the walk's seed.
    func deadBeacons() -> Set<BeaconIdentity> {
        let count = Int((Double(venue.beacons.count) * settings.radio.deadShare).rounded())
        var generator = SeededGenerator.stream(seed, Purpose.death.rawValue)
        return Set(venue.beacons.map(\.identity).sorted().shuffled(using: &generator).prefix(count))
    }

    /// Returns the instant in whole milliseconds, which is the resolution of recordings from phones.
    static func instant(_ seconds: Double) -> Instant { Instant(seconds: (seconds * 1000).rounded() / 1000) }

    /// Rounds a number to the decimals that a recording stores.
    static func round(_ value: Double, decimals factor: Double) -> Double { (value * factor).rounded() / factor }
}
