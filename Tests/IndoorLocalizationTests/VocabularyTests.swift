import IndoorLocalization
import XCTest

final class VocabularyTests: XCTestCase {
    // MARK: - BeaconUUID

    func testAUUIDReadsWithAndWithoutDashesInEitherCase() {
        let uuid = BeaconUUID(high: 0x7C2F_0A10_0000_4000, low: 0x8000_0000_0000_00EF)
        for text in [
            "7C2F0A10-0000-4000-8000-0000000000EF", "7c2f0a10-0000-4000-8000-0000000000ef",
            "7C2F0A100000400080000000000000ef",
        ] {
            XCTAssertEqual(BeaconUUID(text), uuid, text)
        }
        XCTAssertEqual(uuid.description, "7C2F0A10-0000-4000-8000-0000000000EF")
    }

    func testOtherTextIsNoUUID() {
        for text in [
            "", "7C2F0A10", "7C2F0A1-00000-4000-8000-0000000000EF", "7C2F0A10-0000-4000-8000-0000000000EG",
            "7C2F0A10-0000-4000-8000-0000000000EF0", "+C2F0A10-0000-4000-8000-0000000000EF",
            "7C2F0A10-0000-4000-8000-0000000000é", "7C2F0A10-0000-4000-80-00-0000000000E",
        ] {
            XCTAssertNil(BeaconUUID(text), text)
        }
    }

    func testUUIDsAreOrderedAsTheirText() {
        let seed: UInt64 = 5
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let left = BeaconUUID(high: generator.next() & 3, low: generator.next())
            let right = BeaconUUID(high: generator.next() & 3, low: generator.next())
            XCTAssertEqual(left < right, left.description < right.description, "\(left) \(right) seed \(seed)")
            XCTAssertEqual(BeaconUUID(left.description), left, "seed \(seed)")
        }
    }

    // MARK: - DeviceAddress

    func testAnAddressReadsInEitherCaseAndIsWrittenInUpperCase() throws {
        let address = try XCTUnwrap(DeviceAddress("e0:78:A3:3d:0B:1E"))
        XCTAssertEqual(address.rawValue, 0xE078_A33D_0B1E)
        XCTAssertEqual(address.description, "E0:78:A3:3D:0B:1E")
        XCTAssertNil(address.kind)
    }

    func testOtherTextIsNoAddress() {
        for text in [
            "", "E0:78:A3:3D:0B", "E0:78:A3:3D:0B:1E:00", "E0:78:A3:3D:0B:1", "E0:78:A3:3D:0B:+1", "E0-78-A3-3D-0B-1E",
            "E0:78:A3:3D:0B:-1", "E0:78:A3:3D:0B:1G", "E0::A3:3D:0B:1E",
        ] {
            XCTAssertNil(DeviceAddress(text), text)
        }
    }

    func testOnlyTheLower48BitsOfAnAddressCount() {
        XCTAssertEqual(DeviceAddress(rawValue: 0xFFFF_0000_0000_0001), DeviceAddress(rawValue: 1))
        XCTAssertLessThan(DeviceAddress(rawValue: 1), DeviceAddress(rawValue: 2))
    }

    // MARK: - Identity and regions

    func testIdentitiesAreOrderedByUUIDThenMajorThenMinor() {
        let low = BeaconUUID(high: 0, low: 1)
        let high = BeaconUUID(high: 1, low: 0)
        let ordered = [
            BeaconIdentity(uuid: low, major: 0, minor: 9), BeaconIdentity(uuid: low, major: 1, minor: 0),
            BeaconIdentity(uuid: low, major: 1, minor: 1), BeaconIdentity(uuid: high, major: 0, minor: 0),
        ]
        XCTAssertEqual(ordered.reversed().sorted(), ordered)
    }

    func testARegionContainsWhatItDoesNotNarrow() {
        let uuid = BeaconUUID(high: 1, low: 2)
        let beacon = BeaconIdentity(uuid: uuid, major: 3, minor: 4)
        XCTAssertTrue(BeaconRegion(uuid: uuid).contains(beacon))
        XCTAssertTrue(BeaconRegion(uuid: uuid, major: 3).contains(beacon))
        XCTAssertTrue(BeaconRegion(beacon).contains(beacon))
        XCTAssertFalse(BeaconRegion(uuid: uuid, major: 4).contains(beacon))
        XCTAssertFalse(BeaconRegion(uuid: uuid, minor: 3).contains(beacon))
        XCTAssertFalse(BeaconRegion(uuid: BeaconUUID(high: 1, low: 3)).contains(beacon))
    }

    // MARK: - Places

    func testAQuarterOfTheEquatorIsTenThousandKilometres() {
        let quarter = Coordinate(latitude: 0, longitude: 0).distance(to: Coordinate(latitude: 0, longitude: 90))
        // A quarter of the circle with the mean radius: 6 371 008.8 m · π / 2.
        XCTAssertEqual(quarter, 10_007_557, accuracy: 1)
    }

    func testAntipodesAreHalfACircleApart() {
        let distance = Coordinate(latitude: 90, longitude: 0).distance(to: Coordinate(latitude: -90, longitude: 77))
        XCTAssertEqual(distance, 20_015_114, accuracy: 1)
    }

    func testACoordinateBeyondItsRangeOrNotANumberIsInvalid() {
        XCTAssertTrue(Coordinate(latitude: -90, longitude: 180).isValid)
        XCTAssertFalse(Coordinate(latitude: 90.1, longitude: 0).isValid)
        XCTAssertFalse(Coordinate(latitude: 0, longitude: -180.1).isValid)
        XCTAssertFalse(Coordinate(latitude: .nan, longitude: 0).isValid)
    }

    func testACourseIsClockwiseFromTheTopOfThePlan() {
        let cases: [(Double, Double, Double)] = [(0, -1, 0), (1, 0, 90), (0, 1, 180), (-1, 0, 270), (1, -1, 45)]
        for (x, y, course) in cases {
            XCTAssertEqual(MapPoint(x: x, y: y).course ?? .nan, course, accuracy: 1e-9, "(\(x), \(y))")
        }
        XCTAssertNil(MapPoint(x: 0, y: 0).course)
    }

    func testACourseJustLeftOfTheTopStaysBelow360() throws {
        let course = try XCTUnwrap(MapPoint(x: -1e-20, y: -1).course)
        XCTAssertTrue((0..<360).contains(course), "\(course)")
    }

    func testPointsAddAndSubtract() {
        let a = MapPoint(x: 1, y: 2)
        let b = MapPoint(x: 4, y: 6)
        XCTAssertEqual(a + (b - a), b)
        XCTAssertEqual(a.distance(to: b), 5, accuracy: 1e-12)
        XCTAssertEqual(a * 2, MapPoint(x: 2, y: 4))
    }

    // MARK: - Rotations

    func testAQuarterTurnAboutZTurnsXToY() {
        let half = 0.5.squareRoot()
        let turned = Quaternion(w: half, x: 0, y: 0, z: half).rotate(Vector3(x: 1, y: 0, z: 5))
        XCTAssertEqual(turned.x, 0, accuracy: 1e-12)
        XCTAssertEqual(turned.y, 1, accuracy: 1e-12)
        XCTAssertEqual(turned.z, 5, accuracy: 1e-12)
    }

    func testARotationKeepsLengthsWhateverTheQuaternionsLength() {
        let seed: UInt64 = 3
        var generator = SeededGenerator(seed: seed)
        func number() -> Double { generator.uniform() * 20 - 10 }
        for _ in 0..<100 {
            let vector = Vector3(x: number(), y: number(), z: number())
            let turned = Quaternion(w: number(), x: number(), y: number(), z: number()).rotate(vector)
            XCTAssertEqual(turned.length, vector.length, accuracy: 1e-9, "seed \(seed)")
        }
    }

    func testAQuaternionOfZeroTurnsNothing() {
        let vector = Vector3(x: 1, y: 2, z: 3)
        XCTAssertEqual(Quaternion(w: 0, x: 0, y: 0, z: 0).rotate(vector), vector)
    }

    // MARK: - Randomness

    func testTheGeneratorGivesTheNumbersOfItsSource() {
        // First outputs of SplitMix64 from seed 1234567, as the algorithm's authors' reference implementation gives them.
        var generator = SeededGenerator(seed: 1_234_567)
        XCTAssertEqual(generator.next(), 6_457_827_717_110_365_317)
        XCTAssertEqual(generator.next(), 3_203_168_211_198_807_973)
    }

    func testUniformNumbersLieInTheUnitIntervalAndFillIt() {
        var generator = SeededGenerator(seed: 1)
        let numbers = (0..<10_000).map { _ in generator.uniform() }
        XCTAssertTrue(numbers.allSatisfy { (0..<1).contains($0) })
        // Mean of 10 000 uniform numbers: 0.5 with a standard deviation of 0.0029; four of those.
        XCTAssertEqual(numbers.reduce(0, +) / 10_000, 0.5, accuracy: 0.012)
    }

    // MARK: - Sensor readings

    func testEveryReadingHasItsInstant() {
        let instant = Instant(seconds: 4)
        let beacon = BeaconIdentity(uuid: BeaconUUID(high: 0, low: 0), major: 0, minor: 0)
        let readings: [SensorReading] = [
            .sighting(Sighting(instant: instant, beacon: beacon, rssi: -50)),
            .advertisement(Advertisement(instant: instant, address: DeviceAddress(rawValue: 0), rssi: -50, data: [])),
            .motion(MotionSample(instant: instant)), .step(Step(instant: instant)),
            .pressure(PressureSample(instant: instant, hectopascals: 1000)),
            .gnss(GNSSFix(instant: instant, coordinate: Coordinate(latitude: 0, longitude: 0), accuracy: 1)),
            .fix(Fix(instant: instant, mapID: 1, point: MapPoint(x: 0, y: 0), radius: 1)),
        ]
        XCTAssertEqual(readings.map(\.instant), Array(repeating: instant, count: 7))
    }

    // MARK: - Venue

    /// States are printed by whoever begins with the package, and two of them hold the venue.
    func testAVenueIsPrintedInAFewWords() {
        let map = VenueMap(id: 1, name: "Ground floor", level: 0, width: 10, height: 10)
        let venue = Venue(id: 7, name: "Office", version: 3, maps: [map])
        XCTAssertEqual("\(venue)", "Office (venue 7, version 3)")
        XCTAssertEqual("\(LocalizationState.findFloor(venue))", "findFloor(Office (venue 7, version 3))")
    }
}

final class InstantTests: XCTestCase {
    func testSecondsAreRoundedToTheNanosecond() {
        XCTAssertEqual(Instant(seconds: 0.1).nanoseconds, 100_000_000)
        XCTAssertEqual(Instant(seconds: -1.000_000_000_6).nanoseconds, -1_000_000_001)
    }

    func testNumbersBeyondTheTimelineStayAtItsBounds() {
        XCTAssertEqual(Instant(seconds: .infinity).nanoseconds, .max)
        XCTAssertEqual(Instant(seconds: -1e30).nanoseconds, .min)
        XCTAssertEqual(Instant(seconds: .nan), .zero)
    }

    func testADurationLeadsFromOneInstantToTheOther() {
        let start = Instant(seconds: 2)
        let end = Instant(seconds: 5.5)
        XCTAssertEqual(start.advanced(by: start.duration(to: end)), end)
        XCTAssertEqual(start.duration(to: end).seconds, 3.5)
        XCTAssertLessThan(start, end)
    }

    func testTheSecondsBetweenInstantsAreThoseOfTheDuration() {
        var generator = SeededGenerator(seed: 4)
        var instants = [0, 1, -1, 999_999_999, .min, .max].map(Instant.init(nanoseconds:))
        for _ in 0..<200 {
            instants.append(
                Instant(nanoseconds: Int64(truncatingIfNeeded: generator.next()) >> (generator.next() % 63)))
        }
        for first in instants {
            for second in instants {
                XCTAssertEqual(first.seconds(to: second), first.duration(to: second).seconds, "\(first) to \(second)")
            }
        }
    }

    func testTheTimelineDoesNotWrapAround() {
        let (first, last) = (Instant(nanoseconds: .min), Instant(nanoseconds: .max))
        XCTAssertEqual(Instant(seconds: 1).advanced(by: .seconds(Int64.max)), last)
        XCTAssertEqual(Instant(seconds: -1).advanced(by: .seconds(Int64.min)), first)
        XCTAssertEqual(first.duration(to: last).nanoseconds, .max)
        XCTAssertEqual(last.duration(to: first).nanoseconds, .min)
    }

    func testADurationBeyondTheTimelineStaysAtItsBounds() {
        XCTAssertEqual(Duration.seconds(Int64.max).nanoseconds, .max)
        XCTAssertEqual(Duration.seconds(Int64.min).nanoseconds, .min)
        XCTAssertEqual(Duration.milliseconds(-1500).nanoseconds, -1_500_000_000)
    }
}
