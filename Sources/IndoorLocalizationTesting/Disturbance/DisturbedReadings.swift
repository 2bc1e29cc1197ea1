import IndoorLocalization

/// The readings of a recording with disturbances.
///
///     let disturbed = DisturbedVenue(venue, [try Disturbance("clone=1,-50dBm")], seed: 1)
///     let track = DisturbedReadings(readings, in: disturbed)
///     let source = ScriptedSource(track.readings)
package struct DisturbedReadings: Sendable {
    /// The disturbed readings, ordered by instant.
    package private(set) var readings: [SensorReading]
    /// The beacons that are disturbed in this recording, whether the device receives them or not.
    package private(set) var disturbedBeacons: Set<BeaconIdentity>

    /// Standard deviation in dB of the readings of a transmitter that doesn't move with the device.
    private static let fading = 2.0
    /// The time in seconds after the first sighting during which the strongest beacon determines where the device
    /// starts.
    private static let startTime = 10.0
    /// The share of the beacons of a floor from which clones are selected: those that are farthest from the start.
    private static let distantShare = 0.25
    /// The RSSI in dBm of foreign beacons, which are equally distributed.
    private static let foreignRSSI = -95.0 ... -60.0
    /// The number of foreign identities.
    private static let foreignCount = 1000

    /// Adds the disturbances of a venue to readings, which are ordered by instant.
    package init(_ readings: [SensorReading], in disturbed: DisturbedVenue) {
        let addresses = KnownAddresses(of: disturbed.venue)
        self.readings = readings.map { Self.decoded($0, addresses) }
        disturbedBeacons = disturbed.changed.union(disturbed.dead)
        for (place, disturbance) in disturbed.disturbances.enumerated() {
            // The random numbers differ from those of the venue's selections.
            var generator = SeededGenerator.stream(disturbed.seed, UInt64(place), 1)
            switch disturbance {
            case .clone(let count, let rssi, let rate, let isOtherFloor):
                clone(count, rssi: rssi, rate: rate, isOtherFloor: isOtherFloor, in: disturbed.venue, &generator)
            case .replay: reverse()
            case .flood(let rate): flood(rate: rate, &generator)
            case .moved, .exchanged, .dead, .power: break
            }
        }
        let (dead, powers, exchanges) = (disturbed.dead, disturbed.powers, disturbed.exchanges)
        let cloned = disturbedBeacons.subtracting(disturbed.changed).subtracting(dead)
        self.readings = self.readings.compactMap { reading in
            guard case .sighting(var sighting) = reading, !cloned.contains(sighting.beacon) else { return reading }
            guard !dead.contains(sighting.beacon) else { return nil }
            if Sighting.isMeasurement(rssi: sighting.rssi) {
                sighting.rssi = min(max(sighting.rssi + (powers[sighting.beacon] ?? 0), -127), -1)
            }
            sighting.beacon = exchanges[sighting.beacon] ?? sighting.beacon
            return .sighting(sighting)
        }
    }

    /// Returns the sighting of an advertisement, by its content or by its address; otherwise the reading itself.
    private static func decoded(_ reading: SensorReading, _ addresses: KnownAddresses) -> SensorReading {
        guard case .advertisement(let advertisement) = reading else { return reading }
        guard let sighting = try? advertisement.sighting() else {
            return addresses.sighting(of: advertisement).map(SensorReading.sighting) ?? reading
        }
        return .sighting(addresses.resolve(sighting))
    }

    private var sightings: [Sighting] {
        readings.compactMap { if case .sighting(let sighting) = $0 { sighting } else { nil } }
    }

    /// The instants of the first and last sighting; nil without any.
    private var span: (first: Instant, last: Instant)? {
        let instants = sightings.map(\.instant)
        guard let first = instants.min(), let last = instants.max() else { return nil }
        return (first, last)
    }
}

extension DisturbedReadings {
    /// Adds sightings of distant beacons.
    private mutating func clone(
        _ count: Int, rssi: Double, rate: Double, isOtherFloor: Bool, in venue: Venue,
        _ generator: inout SeededGenerator
    ) {
        guard let span, let start = start(in: venue) else { return }
        let candidates = venue.beacons.filter { ($0.mapID != start.mapID) == isOtherFloor }
            .sorted { $0.point.distance(to: start.point) > $1.point.distance(to: start.point) }
        let distant = isOtherFloor ? candidates.count : Int(Double(candidates.count) * Self.distantShare)
        let chosen = candidates.prefix(max(distant, count)).shuffled(using: &generator).prefix(count)
        for beacon in chosen {
            disturbedBeacons.insert(beacon.identity)
            add(rate: rate, from: span.first, to: span.last, &generator) { instant, generator in
                Sighting(
                    instant: instant, beacon: beacon.identity,
                    rssi: min(max(rssi + Self.fading * generator.normal(), -127), -1))
            }
        }
    }

    /// The beacon that is strongest at the start of the recording; nil if the device receives no beacon of the venue.
    private func start(in venue: Venue) -> VenueBeacon? {
        guard let span else { return nil }
        let beacons = Dictionary(venue.beacons.map { ($0.identity, $0) }, uniquingKeysWith: { first, _ in first })
        let known = sightings.filter { beacons[$0.beacon] != nil && Sighting.isMeasurement(rssi: $0.rssi) }
        let early = known.filter { span.first.duration(to: $0.instant) <= .seconds(Self.startTime) }
        return (early.isEmpty ? known : early).max { $0.rssi < $1.rssi }.flatMap { beacons[$0.beacon] }
    }

    /// Adds sightings of foreign beacons.
    private mutating func flood(rate: Double, _ generator: inout SeededGenerator) {
        guard let span else { return }
        let uuid = BeaconUUID(high: generator.next(), low: generator.next())
        add(rate: rate, from: span.first, to: span.last, &generator) { instant, generator in
            let beacon = BeaconIdentity(
                uuid: uuid, major: 1, minor: UInt16(generator.uniform() * Double(Self.foreignCount)))
            return Sighting(
                instant: instant, beacon: beacon,
                rssi: Self.foreignRSSI.lowerBound
                    + generator.uniform() * (Self.foreignRSSI.upperBound - Self.foreignRSSI.lowerBound))
        }
    }

    /// Adds sightings at a mean rate. The intervals vary by up to half of their mean.
    private mutating func add(
        rate: Double, from first: Instant, to last: Instant, _ generator: inout SeededGenerator,
        _ sighting: (Instant, inout SeededGenerator) -> Sighting
    ) {
        var added: [SensorReading] = []
        var instant = first
        while instant <= last {
            added.append(.sighting(sighting(instant, &generator)))
            instant = instant.advanced(by: .seconds((0.5 + generator.uniform()) / rate))
        }
        readings = Self.merged(readings, added)
    }

    /// Returns both lists in the order of their instants; at the same instant, the readings of the first list come
    /// first.
    private static func merged(_ first: [SensorReading], _ second: [SensorReading]) -> [SensorReading] {
        var result: [SensorReading] = []
        result.reserveCapacity(first.count + second.count)
        var next = 0
        for reading in first {
            while next < second.count, second[next].instant < reading.instant {
                result.append(second[next])
                next += 1
            }
            result.append(reading)
        }
        return result + second[next...]
    }

    /// Reverses the order of the sightings in time; the readings of other sensors stay unchanged.
    private mutating func reverse() {
        guard let span else { return }
        let reversed = sightings.reversed().map { sighting -> SensorReading in
            var sighting = sighting
            sighting.instant = span.first.advanced(by: sighting.instant.duration(to: span.last))
            return .sighting(sighting)
        }
        let others = readings.filter { if case .sighting = $0 { false } else { true } }
        readings = Self.merged(others, Array(reversed))
    }
}
