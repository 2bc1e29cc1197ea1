import IndoorLocalization
import IndoorLocalizationTesting
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
