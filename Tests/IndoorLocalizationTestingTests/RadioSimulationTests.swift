import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import XCTest

final class RadioSimulationTests: XCTestCase {
    private let tenMetresAway = MapPoint(x: 30, y: 20)
    private let behindTheWall = [MapPoint(x: 25, y: 0), MapPoint(x: 25, y: 20), MapPoint(x: 25, y: 40)]

    private func strengths(
        at point: MapPoint, on map: MapID = SimulatedHall.ground, venue: Venue = SimulatedHall.venue(),
        heading: Double? = nil, seconds: Double = 60, seed: UInt64 = 11,
        _ change: (inout SimulationSettings) -> Void = { _ in }
    ) throws -> [Double] {
        var settings = SimulatedHall.quiet()
        change(&settings)
        let path = SimulatedHall.stay(at: point, on: map, seconds: seconds, heading: heading)
        return try WalkSimulator(venue: venue, path: path, settings: settings, seed: seed).sightings.map(\.rssi)
    }

    func testWithoutRandomnessTheRSSIEqualsTheModel() throws {
        XCTAssertEqual(Set(try strengths(at: tenMetresAway)), [-80])  // -60 - 20 log10(10)
        XCTAssertEqual(Set(try strengths(at: MapPoint(x: 21, y: 20))), [-60])
    }

    func testADeviceThatIsKnownByItsAddressAloneSendsAdvertisementsWithoutABeacon() throws {
        var venue = SimulatedHall.venue()
        let address = DeviceAddress(rawValue: 0xC47C_8D00_0101)
        venue.beacons = [VenueBeacon(address: address, mapID: 1, point: SimulatedHall.middle, measuredPower: -60)]
        let path = SimulatedHall.stay(at: tenMetresAway, seconds: 10)
        let simulator = try WalkSimulator(venue: venue, path: path, settings: SimulatedHall.quiet(), seed: 11)
        XCTAssertEqual(simulator.sightings, [])
        let heard = simulator.sensorReadings().compactMap {
            if case .advertisement(let advertisement) = $0 { advertisement } else { nil }
        }
        XCTAssertGreaterThan(heard.count, 50)
        XCTAssertEqual(Set(heard.map(\.address)), [address])
        XCTAssertTrue(try heard.allSatisfy { try $0.sighting() == nil })
    }

    func testFadingDoesNotChangeTheMeanRSSIInDecibels() throws {
        let seed: UInt64 = 12
        for walls in [[], [behindTheWall]] {
            let heard = try strengths(
                at: tenMetresAway, venue: SimulatedHall.venue(walls: walls), seconds: 600, seed: seed
            ) {
                $0.radio.isFading = true
                $0.radio.wallLoss = 0
                $0.radio.sensitivity = -120
            }
            // 6000 values with a deviation of up to 5.6 dB: four standard errors are 0.3 dB.
            XCTAssertEqual(mean(heard), -80, accuracy: 0.3, "seed \(seed), \(walls.count) walls")
        }
    }

    func testRayleighFadingHasItsKnownDeviation() throws {
        let heard = try strengths(
            at: tenMetresAway, venue: SimulatedHall.venue(walls: [behindTheWall]), seconds: 600, seed: 13
        ) {
            $0.radio.isFading = true
            $0.radio.wallLoss = 0
            $0.radio.sensitivity = -120
        }
        let middle = mean(heard)
        let deviation = mean(heard.map { ($0 - middle) * ($0 - middle) }).squareRoot()
        // 10/ln 10 · π/√6 = 5.57 dB: the deviation of the logarithm of an exponential variable.
        XCTAssertEqual(deviation, 5.57, accuracy: 0.25, "seed 13")
    }

    func testEachWallAttenuatesTheSignalOnce() throws {
        let second = behindTheWall.map { $0 + MapPoint(x: 2, y: 0) }
        let one = try strengths(at: tenMetresAway, venue: SimulatedHall.venue(walls: [behindTheWall])) {
            $0.radio.wallLoss = 5
        }
        let two = try strengths(at: tenMetresAway, venue: SimulatedHall.venue(walls: [behindTheWall, second])) {
            $0.radio.wallLoss = 5
        }
        // The joint of the walls' segments is on the line: the wall counts exactly once.
        XCTAssertEqual(Set(one), [-85])
        XCTAssertEqual(Set(two), [-90])
    }

    func testAFloorAttenuatesTheSignal() throws {
        let heard = try strengths(at: SimulatedHall.middle, on: SimulatedHall.upstairs) { $0.radio.floorLoss = 10 }
        XCTAssertEqual(Set(heard), [-82])  // 4 m above: -60 - 20 log10(4) - 10 = -82.04
    }

    func testTheBodyAttenuatesSignalsFromBehind() throws {
        for (heading, expected) in [(270.0, -80.0), (90, -88), (0, -84), (180, -84)] {
            let heard = try strengths(at: tenMetresAway, heading: heading) { $0.radio.bodyLoss = 8 }
            XCTAssertEqual(Set(heard), [expected], "heading \(heading), beacon at 270")
        }
    }

    func testTheReceiversOffsetIsAddedToTheRSSI() throws {
        XCTAssertEqual(Set(try strengths(at: tenMetresAway) { $0.radio.receiverOffset = 4 }), [-76])
    }

    func testTheShareOfReceivedAdvertisementsFollowsLossAndThreshold() throws {
        let all = try strengths(at: tenMetresAway, seconds: 600) { $0.radio.advertisingDelay = 0 }
        XCTAssertEqual(all.count, 6000)
        for (sensitivity, loss, share) in [(-120.0, 0.3, 0.7), (-80.0, 0.0, 0.5), (-80.0, 0.5, 0.25)] {
            let heard = try strengths(at: tenMetresAway, seconds: 600, seed: 14) {
                $0.radio.advertisingDelay = 0
                $0.radio.sensitivity = sensitivity
                $0.radio.lossShare = loss
            }
            // Standard error of a share of 6000: below 0.0065.
            XCTAssertEqual(Double(heard.count) / 6000, share, accuracy: 0.026, "\(sensitivity) dBm, seed 14")
        }
    }

    func testBeaconsAdvertiseInTheirIntervalWithARandomDelay() throws {
        var settings = SimulatedHall.quiet()
        settings.radio.advertisingDelay = 0.05
        let path = SimulatedHall.stay(at: tenMetresAway, seconds: 600)
        let heard = try WalkSimulator(venue: SimulatedHall.venue(), path: path, settings: settings, seed: 15).sightings
        let gaps = zip(heard, heard.dropFirst()).map { $0.instant.duration(to: $1.instant).seconds }
        XCTAssertGreaterThanOrEqual(gaps.min() ?? 0, 0.0989)  // instants are rounded to milliseconds
        XCTAssertLessThanOrEqual(gaps.max() ?? 1, 0.1511)
        XCTAssertEqual(mean(gaps), 0.125, accuracy: 0.001, "seed 15")
    }

    func testHalfTheBeaconsStopAdvertisingAtTheConfiguredTime() throws {
        var settings = SimulatedHall.quiet()
        settings.radio.deadShare = 0.5
        settings.radio.deadFrom = 30
        let walk = try WalkSimulator(
            venue: SimulatedHall.venue(beacons: 10), path: SimulatedHall.stay(at: tenMetresAway, seconds: 60),
            settings: settings, seed: 16)
        let before = Set(walk.sightings.filter { $0.instant.seconds < 30 }.map(\.beacon))
        let after = Set(walk.sightings.filter { $0.instant.seconds > 30 }.map(\.beacon))
        XCTAssertEqual(before.count, 10)
        XCTAssertEqual(after.count, 5)
    }

    // MARK: - Shadowing

    /// Returns the shadowing of one beacon at two places `distance` apart, in many environments.
    private func shadowing(distance: Double, environments: ClosedRange<UInt64>) throws -> [(Double, Double)] {
        try environments.map { environment in
            let pair = try [tenMetresAway, tenMetresAway + MapPoint(x: 0, y: distance)].map { point in
                let heard = try strengths(at: point, seconds: 0.2) {
                    $0.radio.environmentSeed = environment
                    $0.radio.shadowing = 6
                    $0.radio.shadowingDistance = 2
                    $0.radio.sensitivity = -120
                }
                let model = -60 - 20 * log10(point.distance(to: SimulatedHall.middle))
                return try XCTUnwrap(heard.first) - model
            }
            return (pair[0], pair[1])
        }
    }

    func testShadowingHasTheConfiguredDeviationAndCorrelationDistance() throws {
        for (distance, expected) in [(0.2, 0.905), (2.0, 0.368), (8.0, 0.018)] {
            let pairs = try shadowing(distance: distance, environments: 1...500)
            let deviation = mean(pairs.map { $0.0 * $0.0 }).squareRoot()
            let correlation = mean(pairs.map { $0.0 * $0.1 }) / (deviation * deviation)
            // 500 pairs: the standard errors are 0.19 dB and, at most, 0.045.
            XCTAssertEqual(deviation, 6, accuracy: 0.7, "\(distance) m, environments 1 to 500")
            XCTAssertEqual(correlation, expected, accuracy: 0.13, "\(distance) m, environments 1 to 500")
        }
    }

    func testShadowingIsTheSameOnEveryWalkThroughAnEnvironment() throws {
        let first = try strengths(at: tenMetresAway, seed: 1) { $0.radio.shadowing = 6 }
        let second = try strengths(at: tenMetresAway, seed: 2) { $0.radio.shadowing = 6 }
        let elsewhere = try strengths(at: tenMetresAway, seed: 1) {
            $0.radio.shadowing = 6
            $0.radio.environmentSeed = 99
        }
        XCTAssertEqual(Set(first), Set(second))
        XCTAssertNotEqual(Set(first), Set(elsewhere))
    }
}

final class IdealReadingsTests: XCTestCase {
    private static let seed: UInt64 = 11
    private static let mapID = MapID(rawValue: 1)
    private static let identity = BeaconIdentity(
        uuid: BeaconUUID("7C2F0A10-0000-4000-8000-000000000003")!, major: 1, minor: 1)

    func testReadingsScatterAroundTheExpectedRSSIOfTheField() throws {
        let field = Self.field
        let place = MapPoint(x: 12, y: 5)
        let truth = SurveyRecording.Waypoint(instant: .zero, mapID: Self.mapID, point: place, isHold: true)
        var ideal = IdealReadings(field: field, waypoints: [truth], seed: Self.seed)
        // Readings that are further apart than the correlation time have independent errors.
        let levels = (0..<4000).map { Self.level(ideal.replacing(Self.sighting(at: 2 * Double($0)))) }
        let mean = levels.reduce(0, +) / 4000
        let variance = levels.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / 4000
        let expected = try XCTUnwrap(field.expectation(of: 0, at: place, on: Self.mapID))
        let noise = field.readingDeviation * field.readingDeviation + field.model.fastFading * field.model.fastFading
        XCTAssertEqual(mean, expected.rssi, accuracy: 0.5, "seed \(Self.seed)")
        XCTAssertEqual(variance, expected.variance + noise, accuracy: 0.08 * (expected.variance + noise))
    }

    func testReadingsOfOneMomentShareTheirError() {
        var field = IdealReadings(field: Self.field, waypoints: Self.path, seed: Self.seed)
        let levels = (0..<20).map { Self.level(field.replacing(Self.sighting(at: 1 + 0.01 * Double($0)))) }
        let mean = levels.reduce(0, +) / 20
        let deviation = (levels.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / 20).squareRoot()
        XCTAssertLessThan(deviation, 2 * Self.field.model.fastFading, "seed \(Self.seed)")
    }

    func testAMovingDeviceIsBetweenTheWaypoints() {
        // The device passes the beacon at (20, 5): its readings are strongest halfway.
        var ideal = IdealReadings(field: Self.field, waypoints: Self.path, seed: Self.seed)
        var means = [0.0, 0, 0]
        for round in 0..<300 {
            for (index, time) in [2.0, 20, 38].enumerated() {
                means[index] += Self.level(ideal.replacing(Self.sighting(at: time + 1e-3 * Double(round)))) / 300
            }
            ideal = IdealReadings(field: Self.field, waypoints: Self.path, seed: Self.seed + UInt64(round))
        }
        XCTAssertGreaterThan(means[1], means[0] + 10)
        XCTAssertEqual(means[0], means[2], accuracy: 2)
    }

    func testTheSameSeedGivesTheSameReadings() {
        func levels(_ seed: UInt64) -> [Double] {
            var ideal = IdealReadings(field: Self.field, waypoints: Self.path, seed: seed)
            return (0..<30).map { Self.level(ideal.replacing(Self.sighting(at: Double($0)))) }
        }
        XCTAssertEqual(levels(3), levels(3))
        XCTAssertNotEqual(levels(3), levels(4))
    }

    func testAReadingWithoutAKnownBeaconOrPlaceIsUnchanged() {
        let late = SurveyRecording.Waypoint(
            instant: .init(seconds: 50), mapID: Self.mapID, point: MapPoint(x: 1, y: 5), isHold: false)
        let room = Truth(instant: .zero, room: "kitchen")
        for waypoints in [[], [late], [room].compactMap(\.waypoint)] {
            var ideal = IdealReadings(field: Self.field, waypoints: waypoints, seed: Self.seed)
            XCTAssertEqual(ideal.replacing(Self.sighting(at: 1)), Self.sighting(at: 1))
        }
        var ideal = IdealReadings(field: Self.field, waypoints: Self.path, seed: Self.seed)
        let stranger = SensorReading.sighting(
            Sighting(
                instant: .init(seconds: 1),
                beacon: BeaconIdentity(uuid: Self.identity.uuid, major: 9, minor: 9), rssi: -60))
        XCTAssertEqual(ideal.replacing(stranger), stranger)
        let pressure = SensorReading.pressure(PressureSample(instant: .init(seconds: 1), hectopascals: 1000))
        XCTAssertEqual(ideal.replacing(pressure), pressure)
    }

    private static let path = [
        SurveyRecording.Waypoint(instant: .zero, mapID: mapID, point: MapPoint(x: 0, y: 5), isHold: false),
        SurveyRecording.Waypoint(
            instant: .init(seconds: 40), mapID: mapID, point: MapPoint(x: 40, y: 5), isHold: false),
    ]

    private static let field = SignalField(
        venue: Venue(
            id: VenueID(rawValue: 1), name: "hall",
            maps: [VenueMap(id: mapID, name: "floor", level: 0, width: 40, height: 10)],
            beacons: [
                VenueBeacon(identity: identity, mapID: mapID, point: MapPoint(x: 20, y: 5), measuredPower: -60)
            ]))

    private static func sighting(at seconds: Double) -> SensorReading {
        .sighting(Sighting(instant: Instant(seconds: seconds), beacon: identity, rssi: -77))
    }

    private static func level(_ reading: SensorReading) -> Double {
        guard case .sighting(let sighting) = reading else { return .nan }
        return sighting.rssi
    }
}

/// Disturbances of recorded readings.
final class DisturbanceTests: XCTestCase {
    private static let uuid = BeaconUUID(high: 1, low: 2)

    /// Two floors with 20 beacons each, in a row with intervals of 5 m.
    private let venue = Venue(
        id: 1, name: "hall",
        maps: [1, 2].map { VenueMap(id: MapID(rawValue: $0), name: "\($0)", level: $0, width: 110, height: 40) },
        beacons: (0..<40).map { index in
            VenueBeacon(
                identity: BeaconIdentity(uuid: uuid, major: 1, minor: UInt16(index)), mapID: index < 20 ? 1 : 2,
                point: MapPoint(x: 5 + 5 * Double(index % 20), y: 20))
        })

    /// Each beacon of the lower floor once a second for a minute; the first is the strongest.
    private var readings: [SensorReading] {
        (0..<60).flatMap { second in
            (0..<20).map { index in
                .sighting(
                    Sighting(
                        instant: Instant(seconds: Double(second) + Double(index) / 100),
                        beacon: venue.beacons[index].identity, rssi: -50 - Double(index)))
            }
        }
    }

    private func disturbed(_ text: String, seed: UInt64 = 1) throws -> (venue: DisturbedVenue, track: DisturbedReadings)
    {
        let disturbances = try text.split(separator: ";").map { try Disturbance(String($0)) }
        let venue = DisturbedVenue(venue, disturbances, seed: seed)
        return (venue, DisturbedReadings(readings, in: venue))
    }

    private func sightings(_ readings: [SensorReading]) -> [Sighting] {
        readings.compactMap { if case .sighting(let sighting) = $0 { sighting } else { nil } }
    }

    func testTheTextFormsAreRead() throws {
        let forms: [String: Disturbance] = [
            "clone=1,-50dBm": .clone(count: 1, rssi: -50, rate: 10, isOtherFloor: false),
            "clone=3,-50,2/s,otherFloor": .clone(count: 3, rssi: -50, rate: 2, isOtherFloor: true),
            "moved=0.2,10m": .moved(share: 0.2, distance: 10), "exchanged=0.2": .exchanged(share: 0.2),
            "dead=0.3": .dead(share: 0.3), "power=+6": .power(difference: 6, share: 0.2),
            "power=-6dB,0.5": .power(difference: -6, share: 0.5), "replay": .replay, "flood=500/s": .flood(rate: 500),
        ]
        for (text, disturbance) in forms { XCTAssertEqual(try Disturbance(text), disturbance, text) }
        let wrong = [
            "", "clone", "clone=1", "clone=1.5,-50dBm", "clone=1,50dBm", "moved=2,10m", "moved=0.2", "dead=x",
            "dead=0.3,1",
            "burnt=1", "flood=0/s",
        ]
        for text in wrong {
            XCTAssertThrowsError(try Disturbance(text), text) { error in
                XCTAssertTrue("\(error)".contains("'\(text)'"), "\(error)")
            }
        }
    }

    func testTheSameSeedGivesTheSameReadings() throws {
        let text = "clone=2,-50dBm;moved=0.2,10m;exchanged=0.2;dead=0.1;power=+6;flood=5/s"
        let (first, second) = (try disturbed(text), try disturbed(text))
        XCTAssertEqual(first.track.readings, second.track.readings)
        XCTAssertEqual(first.venue.venue, second.venue.venue)
        XCTAssertNotEqual(try disturbed(text, seed: 2).track.readings, first.track.readings)
    }

    func testReadingsStayInOrder() throws {
        let instants = try disturbed("clone=3,-50dBm;flood=100/s;replay").track.readings.map(\.instant)
        XCTAssertEqual(instants, instants.sorted())
    }

    func testAMovedBeaconHasAnotherPlaceInThePacketOnly() throws {
        let (moved, track) = try disturbed("moved=0.2,10m")
        let distances = zip(venue.beacons, moved.venue.beacons).map { $0.point.distance(to: $1.point) }
        XCTAssertEqual(distances.filter { abs($0 - 10) < 1e-9 }.count, 8)
        XCTAssertEqual(distances.filter { $0 == 0 }.count, 32)
        XCTAssertEqual(track.readings, readings)
        XCTAssertEqual(track.disturbedBeacons.count, 8)
    }

    func testExchangedBeaconsHaveEachOthersReadings() throws {
        let (_, track) = try disturbed("exchanged=0.5")
        XCTAssertEqual(track.disturbedBeacons.count, 20)
        let before = Dictionary(grouping: sightings(readings), by: \.beacon).mapValues(\.count)
        let after = Dictionary(grouping: sightings(track.readings), by: \.beacon).mapValues { Set($0.map(\.rssi)) }
        for (beacon, levels) in after {
            XCTAssertEqual(levels.count, 1)
            if !track.disturbedBeacons.contains(beacon) {
                XCTAssertEqual(levels, [-50 - Double(beacon.minor)])
                XCTAssertNotNil(before[beacon])
            } else {
                XCTAssertNotEqual(levels, [-50 - Double(beacon.minor)])
            }
        }
    }

    func testDeadBeaconsAreNotReceived() throws {
        let (venue, track) = try disturbed("dead=0.3")
        XCTAssertEqual(venue.dead.count, 12)
        XCTAssertTrue(sightings(track.readings).allSatisfy { !venue.dead.contains($0.beacon) })
        XCTAssertLessThan(track.readings.count, readings.count)
    }

    func testThePowerOfAShareChanges() throws {
        let track = try disturbed("power=+6,0.5").track
        XCTAssertEqual(track.disturbedBeacons.count, 20)
        XCTAssertEqual(sightings(track.readings).count, sightings(readings).count)
        for sighting in sightings(track.readings) {
            let change = track.disturbedBeacons.contains(sighting.beacon) ? 6.0 : 0
            XCTAssertEqual(sighting.rssi, -50 - Double(sighting.beacon.minor) + change)
        }
    }

    func testAClonedBeaconIsFarAwayAndReceivedTenTimesASecond() throws {
        let track = try disturbed("clone=1,-50dBm").track
        let cloned = try XCTUnwrap(track.disturbedBeacons.first)
        XCTAssertEqual(track.disturbedBeacons.count, 1)
        XCTAssertGreaterThanOrEqual(cloned.minor, 15, "of the quarter that is farthest from the first beacon")
        XCTAssertLessThan(cloned.minor, 20, "of the same floor")
        let added = track.readings.count - readings.count
        XCTAssertEqual(Double(added), 600, accuracy: 30)
        let levels = sightings(track.readings).filter { $0.beacon == cloned && $0.rssi > -60 }.map(\.rssi)
        XCTAssertEqual(levels.reduce(0, +) / Double(levels.count), -50, accuracy: 1)
        let other = try disturbed("clone=3,-50dBm,otherFloor").track
        XCTAssertEqual(other.disturbedBeacons.count, 3)
        XCTAssertTrue(other.disturbedBeacons.allSatisfy { $0.minor >= 20 })
    }

    func testAReplayHasTheReadingsBackwards() throws {
        let track = try disturbed("replay").track
        let (forward, backward) = (sightings(readings), sightings(track.readings))
        XCTAssertEqual(backward.map(\.beacon), forward.map(\.beacon).reversed())
        XCTAssertEqual(backward.first?.instant, forward.first?.instant)
        XCTAssertEqual(backward.last?.instant, forward.last?.instant)
    }

    func testAFloodAddsForeignBeacons() throws {
        let track = try disturbed("flood=100/s").track
        let known = Set(venue.beacons.map(\.identity))
        XCTAssertEqual(
            Double(sightings(track.readings).filter { !known.contains($0.beacon) }.count), 6000, accuracy: 300)
        XCTAssertEqual(track.disturbedBeacons, [])
    }
}

final class SimulatedFleetTests: XCTestCase {
    private func venue(receivers: Int = 6) -> Venue {
        let uuid = BeaconUUID(high: 1, low: 2)
        let list = (0..<receivers).map { index in
            let point = MapPoint(x: Double(5 + 10 * (index % 3)), y: Double(5 + 10 * (index / 3)))
            let identity = BeaconIdentity(uuid: uuid, major: 0, minor: UInt16(index))
            return VenueReceiver(id: "gateway-\(index)", identity: identity, mapID: 1, point: point)
        }
        let map = VenueMap(id: 1, name: "Hall", level: 0, width: 30, height: 20)
        return Venue(id: 7, name: "Hall", maps: [map], receivers: list)
    }

    func testTheReadingsDoNotDependOnTheCalls() {
        var once = SimulatedFleet(venue: venue())
        var twice = SimulatedFleet(venue: venue())
        let whole = once.readings(until: Instant(seconds: 20))
        let parts = twice.readings(until: Instant(seconds: 7.3)) + twice.readings(until: Instant(seconds: 20))
        XCTAssertEqual(whole, parts)
        XCTAssertGreaterThan(whole.count, 100 * 20)
        XCTAssertEqual(whole.map(\.instant), whole.map(\.instant).sorted())
    }

    func testAReceiverWithAnOffsetMeasuresTheOffsetOnAverage() {
        var settings = SimulatedFleetSettings()
        settings.sensitivity = -120
        var plain = SimulatedFleet(venue: venue(), settings: settings)
        settings.receiverOffsets = [2: -8]
        var shifted = SimulatedFleet(venue: venue(), settings: settings)
        func mean(_ fleet: inout SimulatedFleet) -> Double {
            let values = fleet.readings(until: Instant(seconds: 30)).filter { $0.receiver == 2 }.map(\.rssi)
            return values.reduce(0, +) / Double(values.count)
        }
        XCTAssertEqual(mean(&shifted) - mean(&plain), -8, accuracy: 0.01)
    }

    func testADeadReceiverReceivesNothingAndTheOthersReceiveTheSame() {
        var alive = SimulatedFleet(venue: venue())
        var dead = alive
        dead.change(receiver: 1, isDead: true)
        let all = alive.readings(until: Instant(seconds: 10))
        let rest = dead.readings(until: Instant(seconds: 10))
        XCTAssertEqual(rest, all.filter { $0.receiver != 1 })
        XCTAssertLessThan(rest.count, all.count)
    }

    func testTheRSSIFallsWithTheDistance() {
        var settings = SimulatedFleetSettings()
        settings.sensitivity = -120
        settings.pause = 1e6
        settings.shadowing = 0
        var fleet = SimulatedFleet(venue: venue(), settings: settings)
        let readings = fleet.readings(until: Instant(seconds: 10))
        let near = readings.filter { distance($0, in: fleet) < 4 }.map(\.rssi)
        let far = readings.filter { distance($0, in: fleet) > 16 }.map(\.rssi)
        // Four times the distance costs at least 24 dB · log₁₀(4) = 14 dB.
        XCTAssertGreaterThan(
            near.reduce(0, +) / Double(near.count), far.reduce(0, +) / Double(far.count) + 13)
    }

    private func distance(_ reading: SimulatedFleet.Reading, in fleet: SimulatedFleet) -> Double {
        fleet.place(of: reading.tag).point.distance(to: fleet.venue.receivers[reading.receiver].point)
    }
}
