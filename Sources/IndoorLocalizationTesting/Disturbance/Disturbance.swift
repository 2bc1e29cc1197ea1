import CMath
import IndoorLocalization

/// A fault of beacons or an attack on the radio, which is added to recorded readings.
///
/// The text form is that of `indoorloc evaluate --disturb`, such as `clone=1,-50dBm` or `moved=0.2,10m`.
package enum Disturbance: Hashable, Sendable {
    /// A transmitter near the device sends the identities of distant beacons.
    ///
    /// - `count`: the number of identities.
    /// - `rssi`: the mean RSSI in dBm.
    /// - `rate`: the receptions per second of each identity.
    /// - `isOtherFloor`: whether the beacons are those of other floors than the device's.
    case clone(count: Int, rssi: Double, rate: Double, isOtherFloor: Bool)
    /// A share of the beacons is `distance` metres away from the place in the packet.
    case moved(share: Double, distance: Double)
    /// A share of the beacons was exchanged in pairs after the survey.
    case exchanged(share: Double)
    /// A share of the beacons sends nothing.
    case dead(share: Double)
    /// The power of a share of the beacons differs by `difference` dB from that of the survey.
    case power(difference: Double, share: Double)
    /// The readings of the radio are replaced by the readings of the same recording in reverse order.
    case replay
    /// Foreign beacons are received `rate` times a second.
    case flood(rate: Double)
}

/// An error in the text of a disturbance.
package struct DisturbanceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The problem, and the accepted form.
    package var description: String
}

extension Disturbance {
    /// The accepted forms of the text.
    package static let forms = [
        "clone=COUNT,LEVELdBm[,RATE/s][,otherFloor]", "moved=SHARE,DISTANCEm", "exchanged=SHARE", "dead=SHARE",
        "power=DIFFERENCE[,SHARE]", "replay", "flood=RATE/s",
    ]
    /// The receptions per second of a cloned identity, unless the text gives a rate.
    private static let cloneRate = 10.0
    /// The share of the beacons with another power, unless the text gives a share.
    private static let powerShare = 0.2

    /// Reads the text form.
    ///
    /// - Throws: `DisturbanceError` if the text has another form, or a number is out of range.
    package init(_ text: String) throws(DisturbanceError) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        var fields = DisturbanceFields(text, parts.count > 1 ? String(parts[1]) : nil)
        switch parts[0] {
        case "clone":
            let count = try fields.number(in: 1...1000)
            guard count == count.rounded() else { throw fields.error("the count must be a whole number") }
            let rssi = try fields.number(unit: "dBm", in: -127 ... -1)
            let rate = try fields.optionalNumber(unit: "/s", in: 0.01...1000) ?? Self.cloneRate
            self = .clone(count: Int(count), rssi: rssi, rate: rate, isOtherFloor: fields.take(word: "otherFloor"))
        case "moved":
            self = .moved(share: try fields.share(), distance: try fields.number(unit: "m", in: 0...1000))
        case "exchanged": self = .exchanged(share: try fields.share())
        case "dead": self = .dead(share: try fields.share())
        case "power":
            let difference = try fields.number(unit: "dB", in: -60...60)
            self = .power(difference: difference, share: try fields.optionalShare() ?? Self.powerShare)
        case "replay": self = .replay
        case "flood": self = .flood(rate: try fields.number(unit: "/s", in: 0.01...100_000))
        default: throw fields.error("unknown disturbance '\(parts[0])'")
        }
        try fields.end()
    }
}

/// The comma-separated values of a disturbance's text.
private struct DisturbanceFields {
    private let text: String
    private var rest: [Substring]

    init(_ text: String, _ values: String?) {
        self.text = text
        rest = values?.split(separator: ",", omittingEmptySubsequences: false) ?? []
    }

    func error(_ message: String) -> DisturbanceError {
        DisturbanceError(description: "\(message) in '\(text)'; use \(Disturbance.forms.joined(separator: " or "))")
    }

    mutating func number(unit: String = "", in range: ClosedRange<Double>) throws(DisturbanceError) -> Double {
        guard let number = try optionalNumber(unit: unit, in: range) else { throw error("a number is missing") }
        return number
    }

    /// Takes the next value if it is a number with or without its unit.
    mutating func optionalNumber(
        unit: String = "", in range: ClosedRange<Double>
    ) throws(DisturbanceError) -> Double? {
        guard let value = rest.first else { return nil }
        let digits = !unit.isEmpty && value.hasSuffix(unit) ? value.dropLast(unit.count) : value
        guard let number = Double(digits) else { return nil }
        guard range.contains(number) else {
            throw error("\(value) is not within \(range.lowerBound) and \(range.upperBound)")
        }
        rest.removeFirst()
        return number
    }

    mutating func share() throws(DisturbanceError) -> Double { try number(in: 0...1) }
    mutating func optionalShare() throws(DisturbanceError) -> Double? { try optionalNumber(in: 0...1) }

    mutating func take(word: String) -> Bool {
        guard rest.first == word[...] else { return false }
        rest.removeFirst()
        return true
    }

    func end() throws(DisturbanceError) {
        if let value = rest.first { throw error("unexpected '\(value)'") }
    }
}

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

/// A venue with disturbances: the selected beacons, and the packet that a session receives.
///
/// The same venue, disturbances and seed give the same selection.
package struct DisturbedVenue: Sendable {
    /// The venue as its packet describes it: moved beacons have wrong places.
    package let venue: Venue
    /// The disturbances.
    package let disturbances: [Disturbance]
    /// The seed of all selections and of the random readings.
    package let seed: UInt64
    /// The beacons that were moved or exchanged, or have another power.
    package private(set) var changed: Set<BeaconIdentity> = []
    /// The beacons that send nothing.
    package private(set) var dead: Set<BeaconIdentity> = []
    /// The identity that a beacon sends after the exchange.
    private(set) var exchanges: [BeaconIdentity: BeaconIdentity] = [:]
    /// The change of each beacon's power in dB.
    private(set) var powers: [BeaconIdentity: Double] = [:]

    /// The number of attempts to find a direction in which a moved beacon stays on its map.
    private static let attempts = 16

    /// Selects the disturbed beacons of a venue.
    package init(_ venue: Venue, _ disturbances: [Disturbance], seed: UInt64) {
        self.disturbances = disturbances
        self.seed = seed
        var packet = venue
        for (place, disturbance) in disturbances.enumerated() {
            var generator = SeededGenerator.stream(seed, UInt64(place))
            switch disturbance {
            case .moved(let share, let distance):
                for index in Self.selection(share, of: venue, &generator) {
                    packet.beacons[index].point = Self.moved(
                        venue.beacons[index], by: distance, in: venue, &generator)
                    changed.insert(venue.beacons[index].identity)
                }
            case .exchanged(let share):
                let chosen = Self.selection(share, of: venue, &generator).map { venue.beacons[$0].identity }
                for pair in stride(from: 0, to: chosen.count - 1, by: 2) {
                    exchanges[chosen[pair]] = chosen[pair + 1]
                    exchanges[chosen[pair + 1]] = chosen[pair]
                }
                changed.formUnion(exchanges.keys)
            case .dead(let share):
                dead.formUnion(Self.selection(share, of: venue, &generator).map { venue.beacons[$0].identity })
            case .power(let difference, let share):
                for index in Self.selection(share, of: venue, &generator) {
                    powers[venue.beacons[index].identity, default: 0] += difference
                }
                changed.formUnion(powers.keys)
            case .clone, .replay, .flood: break
            }
        }
        self.venue = packet
    }

    /// Returns the indices of a random share of the beacons, in random order.
    private static func selection(
        _ share: Double, of venue: Venue, _ generator: inout SeededGenerator
    ) -> [Int] {
        let count = Int((share * Double(venue.beacons.count)).rounded())
        return Array(venue.beacons.indices.shuffled(using: &generator).prefix(count))
    }

    private static func moved(
        _ beacon: VenueBeacon, by distance: Double, in venue: Venue, _ generator: inout SeededGenerator
    ) -> MapPoint {
        let map = venue.map(beacon.mapID)
        var point = beacon.point
        for _ in 0..<attempts {
            let angle = generator.uniform() * 2 * .pi
            point = beacon.point + MapPoint(x: cmath_cos(angle), y: cmath_sin(angle)) * distance
            if map?.contains(point) ?? true { return point }
        }
        return point
    }
}
