import IndoorLocalization
import XCTest

final class ReckonedWayTests: XCTestCase {
    /// A reckoner that has taken steps of 0.7 m with these headings, two a second.
    private func walked(_ headings: [Double], _ reckoner: DeadReckoner = DeadReckoner(), from second: Double = 0)
        -> DeadReckoner
    {
        var reckoner = reckoner
        for (index, heading) in headings.enumerated() {
            reckoner.observe(
                .step(Step(instant: Instant(seconds: second + Double(index) * 0.5), length: 0.7, heading: heading)))
        }
        return reckoner
    }

    private func ahead(_ count: Int, _ heading: Double = 0) -> [Double] { Array(repeating: heading, count: count) }

    func testStepsMoveThePositionAheadAndToTheRight() {
        let position = walked(ahead(10) + ahead(20, 90)).estimate.position
        XCTAssertEqual(position.y, 7, accuracy: 1e-9, "y is ahead")
        XCTAssertEqual(position.x, 14, accuracy: 1e-9, "x is to the right, headings are clockwise")
    }

    func testASetterReplacesAndAnOffsetAdds() throws {
        var reckoner = walked(ahead(10))
        try reckoner.setPosition(x: 3, y: 4, radius: 1)
        XCTAssertEqual(reckoner.estimate.position, Vector3(x: 3, y: 4, z: 0))
        XCTAssertEqual(reckoner.estimate.radius, 1, accuracy: 1e-9)
        try reckoner.offsetPosition(x: 1, y: -1)
        XCTAssertEqual(reckoner.estimate.position, Vector3(x: 4, y: 3, z: 0))
        XCTAssertEqual(reckoner.estimate.radius, 1, accuracy: 1e-9, "as sure as before")
    }

    func testTheUncertaintyGrowsWithEveryStep() {
        var radius = 0.0
        var reckoner = DeadReckoner()
        for index in 0..<200 {
            reckoner.observe(.step(Step(instant: Instant(seconds: Double(index) * 0.5), length: 0.7, heading: 0)))
            XCTAssertGreaterThanOrEqual(reckoner.estimate.radius, radius - 1e-9)
            radius = reckoner.estimate.radius
        }
        XCTAssertGreaterThan(radius, 0.2 * 140, "20° and 15 % of a straight way of 140 m")
        XCTAssertLessThan(radius, 140)
    }

    func testTheUncertaintyStaysWhileTheDeviceStands() {
        var reckoner = walked(ahead(20))
        let radius = reckoner.estimate.radius
        reckoner.advance(to: Instant(seconds: 1000))
        XCTAssertEqual(reckoner.estimate.radius, radius, accuracy: 0.2)
    }

    func testStepsWithoutAHeadingIncreaseOnlyTheRadius() {
        var reckoner = DeadReckoner()
        for index in 0..<100 { reckoner.observe(.step(Step(instant: Instant(seconds: Double(index) * 0.5)))) }
        XCTAssertEqual(reckoner.estimate.position, Vector3(x: 0, y: 0, z: 0))
        XCTAssertEqual(reckoner.estimate.radius, 1.51 * (50 * 0.49).squareRoot(), accuracy: 0.5, "a random walk")
    }

    func testTheRadiusContainsTheTruthAbout68PercentOfTheTime() {
        let model = MotionModel()
        var generator = SeededGenerator(seed: 11)
        var inside = 0
        let walks = 300
        for _ in 0..<walks {
            // A walker of the model: held askew, with longer or shorter steps, around three corners.
            var bias = generator.normal() * model.headingBias
            let scale = 1 + generator.normal() * model.stepScale
            var (x, y) = (0.0, 0.0)
            var headings: [Double] = []
            for index in 0..<120 {
                let heading = Double(index / 30) * 70
                headings.append(heading.truncatingRemainder(dividingBy: 360))
                bias += generator.normal() * model.headingDrift * 0.5.squareRoot()
                let way = (heading + bias + generator.normal() * model.stepTurn) * .pi / 180
                let length = 0.7 * scale * (1 + generator.normal() * model.stepLength)
                x += length * sin(way)
                y += length * cos(way)
            }
            let estimate = walked(headings).estimate
            let error =
                ((estimate.position.x - x) * (estimate.position.x - x)
                + (estimate.position.y - y) * (estimate.position.y - y)).squareRoot()
            if error <= estimate.radius { inside += 1 }
        }
        XCTAssertEqual(Double(inside) / Double(walks), 0.68, accuracy: 0.12, "seed 11, 300 walks")
    }

    /// A landmark that is seen again corrects heading and steps.
    func testAMeasuredPlaceCorrectsHeadingAndStepLength() throws {
        // The device is held 15° to the left of the way, and the steps are longer than measured.
        var reckoner = walked(ahead(60))
        let (bias, length) = (15 * Double.pi / 180, 42 * 1.1)
        try reckoner.correct(x: length * sin(bias), y: length * cos(bias), radius: 0.5)
        XCTAssertEqual(reckoner.estimate.position.x, length * sin(bias), accuracy: 0.5)
        XCTAssertLessThan(reckoner.estimate.radius, 0.7)
        let on = walked(ahead(60), reckoner, from: 30)
        XCTAssertEqual(on.estimate.position.x, 2 * length * sin(bias), accuracy: 2.5)
        XCTAssertEqual(on.estimate.position.y, 2 * length * cos(bias), accuracy: 2.5)
        XCTAssertLessThan(
            on.estimate.radius, walked(ahead(60)).estimate.radius / 2, "the way has told more than was known")
    }

    func testAnUncertainPlaceMovesThePositionLittle() throws {
        var reckoner = walked(ahead(20))
        try reckoner.correct(x: 100, y: 100, radius: 1000)
        XCTAssertEqual(reckoner.estimate.position.x, 0, accuracy: 0.1)
        XCTAssertEqual(reckoner.estimate.position.y, 14, accuracy: 0.1)
    }

    func testACalibratedStepHasTheCalibratedLength() {
        var calibration = Calibration()
        (calibration.stepScale, calibration.stepDeviation) = (1.2, 0.02)
        let reckoner = walked(ahead(100), DeadReckoner(calibration: calibration))
        XCTAssertEqual(reckoner.estimate.position.y, 84, accuracy: 1e-6)
        XCTAssertEqual(reckoner.estimate.statistics.distance, 84, accuracy: 1e-6)
        var other = DeadReckoner()
        other.begin(with: calibration)
        XCTAssertEqual(walked(ahead(100), other).estimate.position.y, 84, accuracy: 1e-6)
    }

    func testTheSameReadingsGiveTheSameReckoner() {
        XCTAssertEqual(walked(ahead(40)), walked(ahead(40)))
        XCTAssertNotEqual(walked(ahead(40)), walked(ahead(41)))
    }
}

final class EarthAlignmentTests: XCTestCase {
    private static let start = Coordinate(latitude: 52, longitude: 13)

    private func step(_ second: Double, _ heading: Double = 0) -> SensorReading {
        .step(Step(instant: Instant(seconds: second), length: 0.7, heading: heading))
    }

    func testEstimatesHaveNoCoordinateBeforeThePositionOnEarthIsSet() {
        var reckoner = DeadReckoner()
        for index in 0..<20 { reckoner.observe(step(Double(index) * 0.5)) }
        XCTAssertEqual(reckoner.estimate.alignment, .local)
        XCTAssertNil(reckoner.estimate.coordinate)
    }

    func testAPlaceAndAHeadingAlignTheFrameOnEarth() throws {
        var reckoner = DeadReckoner()
        try reckoner.setGlobalPosition(Self.start)
        XCTAssertEqual(reckoner.estimate.alignment, .local)
        try reckoner.setGlobalHeading(90)
        XCTAssertEqual(reckoner.estimate.alignment, .global)
        for index in 0..<100 { reckoner.observe(step(Double(index) * 0.5)) }
        let coordinate = try XCTUnwrap(reckoner.estimate.coordinate)
        XCTAssertEqual(coordinate.latitude, 52, accuracy: 1e-6)
        XCTAssertGreaterThan(coordinate.longitude, 13, "to the east")
        XCTAssertEqual(coordinate.distance(to: Self.start), 70, accuracy: 0.5)
    }

    func testACompassAlignsTheFrameWithoutAHeading() throws {
        var device = CarriedDevice([.acceleration, .rotationRate, .magneticField], heading: 180)
        var reckoner = DeadReckoner()
        try reckoner.setGlobalPosition(Self.start)
        reckoner.observe(device.samples(30, steps: 2))
        XCTAssertEqual(reckoner.estimate.alignment, .global)
        let coordinate = try XCTUnwrap(reckoner.estimate.coordinate)
        XCTAssertLessThan(coordinate.latitude, 52 - 0.0002, "to the south")
        XCTAssertEqual(coordinate.longitude, 13, accuracy: 0.00003)
    }

    /// The frame is local, then aligning, then global.
    func testSatellitesAlignTheFrameAfterTenMetresOfWalking() throws {
        var reckoner = DeadReckoner()
        reckoner.alignWithSatellites()
        XCTAssertEqual(reckoner.estimate.alignment, .aligning)
        for index in 0..<40 {
            reckoner.observe(step(Double(index) * 0.5))
            // Ahead is east: 0.7 m are 0.0000102 degrees of longitude here.
            let there = Coordinate(latitude: 52, longitude: 13 + Double(index + 1) * 0.7 / 68_678)
            reckoner.observe(
                .gnss(GNSSFix(instant: Instant(seconds: Double(index) * 0.5), coordinate: there, accuracy: 2)))
            if reckoner.estimate.statistics.distance < 9.5 {
                XCTAssertEqual(reckoner.estimate.alignment, .aligning, "step \(index)")
            }
        }
        XCTAssertEqual(reckoner.estimate.alignment, .global)
        let coordinate = try XCTUnwrap(reckoner.estimate.coordinate)
        let truth = Coordinate(latitude: 52, longitude: 13 + 40 * 0.7 / 68_678)
        XCTAssertLessThan(coordinate.distance(to: truth), 1)
        XCTAssertEqual(try XCTUnwrap(reckoner.estimate.coordinate).latitude, 52, accuracy: 1e-5)
    }

    func testInaccurateSatellitesNeedALongerWalk() {
        var reckoner = DeadReckoner()
        reckoner.alignWithSatellites()
        for index in 0..<40 {
            reckoner.observe(step(Double(index) * 0.5))
            let there = Coordinate(latitude: 52, longitude: 13 + Double(index + 1) * 0.7 / 68_678)
            reckoner.observe(
                .gnss(GNSSFix(instant: Instant(seconds: Double(index) * 0.5), coordinate: there, accuracy: 15)))
        }
        XCTAssertEqual(reckoner.estimate.alignment, .aligning, "28 m are less than three radii")
    }

    func testAnExplicitPlaceAndHeadingEndTheAlignment() throws {
        var reckoner = DeadReckoner()
        reckoner.alignWithSatellites()
        try reckoner.setGlobalPosition(Self.start)
        XCTAssertEqual(reckoner.estimate.alignment, .aligning)
        try reckoner.setGlobalHeading(0)
        XCTAssertEqual(reckoner.estimate.alignment, .global)
    }

    /// A coordinate comes from beacons or Wi-Fi.
    func testACoordinateCorrectsThePlace() throws {
        var reckoner = DeadReckoner()
        try reckoner.setGlobalPosition(Self.start)
        try reckoner.setGlobalHeading(0)
        for index in 0..<100 { reckoner.observe(step(Double(index) * 0.5)) }
        let there = Coordinate(latitude: 52 + 60 / 111_267.0, longitude: 13)
        try reckoner.correct(there, radius: 0.5)
        XCTAssertEqual(reckoner.estimate.position.y, 60, accuracy: 1, "the steps were shorter than measured")
    }
}

final class HeadingTests: XCTestCase {
    private func heading(_ reckoner: DeadReckoner) throws -> Heading { try XCTUnwrap(reckoner.heading) }

    func testTheDevicesOwnAttitudeIsUsedUnchanged() throws {
        var (device, reckoner) = (CarriedDevice(heading: 130), DeadReckoner())
        reckoner.observe(device.samples(1))
        let heading = try heading(reckoner)
        XCTAssertEqual(heading.course, 130, accuracy: 0.01)
        XCTAssertEqual(heading.reference, .device)
        XCTAssertNil(heading.trueNorth, "nobody has said where north is")
        XCTAssertEqual(try XCTUnwrap(reckoner.attitude).rotation.angle(to: device.attitude), 0, accuracy: 1e-6)
    }

    func testTheCompassGivesMagneticAndTrueNorth() throws {
        var settings = DeadReckoningSettings()
        settings.magneticDeclination = 4
        var device = CarriedDevice([.acceleration, .rotationRate, .magneticField], heading: 200)
        var reckoner = DeadReckoner(settings: settings)
        reckoner.observe(device.samples(3))
        let heading = try heading(reckoner)
        XCTAssertEqual(heading.course, 200, accuracy: 3, "y is magnetic north")
        XCTAssertEqual(try XCTUnwrap(heading.magneticNorth), 200, accuracy: 3)
        XCTAssertEqual(try XCTUnwrap(heading.trueNorth), 204, accuracy: 3)
        XCTAssertEqual(heading.reference, .magneticNorth)
        XCTAssertEqual(heading.accuracy, 10, accuracy: 1)
    }

    func testTheCompassIsRelativeToATurnedPlan() throws {
        var settings = DeadReckoningSettings()
        settings.magneticDeclination = 4
        var device = CarriedDevice([.acceleration, .rotationRate, .magneticField], heading: 200)
        var reckoner = DeadReckoner(settings: settings)
        reckoner.setFrameBearing(30)
        reckoner.observe(device.samples(3))
        let heading = try heading(reckoner)
        XCTAssertEqual(heading.course, 174, accuracy: 3, "200° magnetic are 204° true, 174° from the plan's top")
        XCTAssertEqual(try XCTUnwrap(heading.trueNorth), 204, accuracy: 3)
        XCTAssertEqual(try XCTUnwrap(heading.magneticNorth), 200, accuracy: 3)
    }

    func testTheErrorGrowsWithoutACompass() throws {
        var (device, reckoner) = (CarriedDevice([.acceleration, .rotationRate]), DeadReckoner())
        reckoner.observe(device.samples(2))
        XCTAssertEqual(try heading(reckoner).reference, .start)
        let before = try heading(reckoner).accuracy
        reckoner.observe(device.samples(100))
        XCTAssertGreaterThan(try heading(reckoner).accuracy, before + 4, "0.7° in a second, 7° in a hundred")
    }

    func testADisturbedCompassIsReportedAndTheErrorGrows() throws {
        var device = CarriedDevice([.acceleration, .rotationRate, .magneticField])
        var reckoner = DeadReckoner()
        reckoner.observe(device.samples(5))
        XCTAssertFalse(try heading(reckoner).isMagneticallyDisturbed)
        device.iron = Vector3(x: 60, y: 0, z: 0)
        reckoner.observe(device.samples(10))
        XCTAssertTrue(try heading(reckoner).isMagneticallyDisturbed)
        XCTAssertGreaterThan(try heading(reckoner).accuracy, 10.1)
    }

    func testASetterReplacesTheHeadingAndAnOffsetAdds() throws {
        var (device, reckoner) = (CarriedDevice(heading: 50), DeadReckoner())
        reckoner.observe(device.samples(1))
        try reckoner.setHeading(10)
        XCTAssertEqual(try heading(reckoner).course, 10, accuracy: 0.01)
        try reckoner.offsetHeading(by: 20)
        XCTAssertEqual(try heading(reckoner).course, 30, accuracy: 0.01)
        reckoner.observe(device.samples(1, turn: 15))
        XCTAssertEqual(try heading(reckoner).course, 45, accuracy: 0.01)
    }

    func testAHeadingSetBeforeAnySensorAppliesToTheFirstReading() throws {
        var (device, reckoner) = (CarriedDevice(heading: 300), DeadReckoner())
        try reckoner.setHeading(90)
        reckoner.observe(device.samples(1))
        XCTAssertEqual(try heading(reckoner).course, 90, accuracy: 0.01)
    }

    /// The local heading is counter-clockwise within 180 degrees.
    func testTheMathematicalHeadingIsCounterClockwise() {
        for (course, expected) in [(0.0, 0.0), (90, -90), (180, 180), (270, 90), (359, 1)] {
            let heading = Heading(instant: .zero, course: course, accuracy: 1, reference: .start)
            XCTAssertEqual(heading.counterClockwise, expected, "\(course)")
        }
    }

    func testTheHeadingContinuesWhenTheDeviceStopsReportingAttitudes() throws {
        var (device, reckoner) = (CarriedDevice(heading: 100), DeadReckoner())
        reckoner.observe(device.samples(2))
        device.sensors = [.acceleration, .rotationRate]
        reckoner.observe(device.samples(8))
        XCTAssertEqual(try heading(reckoner).course, 100, accuracy: 2)
        XCTAssertEqual(try heading(reckoner).reference, .start)
        reckoner.observe(device.samples(1, turn: 30))
        XCTAssertEqual(try heading(reckoner).course, 130, accuracy: 3)
    }

    /// An invalid floor has its own error.
    func testInvalidNumbersAreRejected() {
        var reckoner = DeadReckoner()
        XCTAssertThrowsError(try reckoner.setHeading(.nan)) {
            XCTAssertEqual($0 as? DeadReckoningError, .invalidPlace)
        }
        XCTAssertThrowsError(try reckoner.setHeading(90, accuracy: -1)) {
            XCTAssertEqual($0 as? DeadReckoningError, .invalidAccuracy(-1))
            XCTAssertEqual("\($0)", "the heading accuracy -1.0° is invalid; give 0° or more")
        }
        XCTAssertThrowsError(try reckoner.setPosition(x: 0, y: 0, radius: -1)) {
            XCTAssertEqual($0 as? DeadReckoningError, .invalidRadius(-1))
        }
        XCTAssertThrowsError(try reckoner.setGlobalPosition(Coordinate(latitude: 91, longitude: 0))) {
            XCTAssertEqual($0 as? DeadReckoningError, .invalidPlace)
        }
        XCTAssertThrowsError(try reckoner.correct(Coordinate(latitude: 50, longitude: 8), radius: 3)) {
            XCTAssertEqual($0 as? DeadReckoningError, .notOnEarth)
        }
        XCTAssertThrowsError(try reckoner.addFloor(0, height: 0)) {
            XCTAssertEqual($0 as? DeadReckoningError, .invalidFloorHeight(0))
        }
    }
}

final class AttitudeFilterTests: XCTestCase {
    private static let raw: CarriedDevice.Sensors = [.acceleration, .rotationRate]
    private static let nineAxes: CarriedDevice.Sensors = [.acceleration, .rotationRate, .magneticField]

    private func run(_ filter: inout AttitudeFilter, _ readings: [SensorReading]) {
        for case .motion(let sample) in readings { filter.observe(sample) }
    }

    /// Degrees between what the filter believes and how the device is turned.
    private func error(_ filter: AttitudeFilter, _ device: CarriedDevice) throws -> Double {
        try XCTUnwrap(filter.rotation).angle(to: device.attitude) * 180 / .pi
    }

    func testGravityAndFieldGiveTheAttitudeAtOnce() throws {
        for heading in stride(from: 0.0, to: 360, by: 45) {
            for tilt in [0.0, 40, 80] {
                var device = CarriedDevice(Self.nineAxes, heading: heading)
                device.tilt = tilt
                var filter = AttitudeFilter()
                run(&filter, device.samples(0.04))
                XCTAssertLessThan(try error(filter, device), 3, "heading \(heading), tilt \(tilt)")
                XCTAssertTrue(filter.isNorthward)
            }
        }
    }

    func testTheGyroscopeTurnsTheAttitude() throws {
        var (device, filter) = (CarriedDevice(Self.nineAxes), AttitudeFilter())
        run(&filter, device.samples(2))
        run(&filter, device.samples(1, turn: 90))
        XCTAssertEqual(device.heading, 90, accuracy: 1e-9)
        XCTAssertLessThan(try error(filter, device), 3)
    }

    func testWithoutAMagnetometerTheHeadingBeginsStraightAhead() throws {
        var (device, filter) = (CarriedDevice(Self.raw, heading: 70), AttitudeFilter())
        run(&filter, device.samples(2))
        XCTAssertFalse(filter.isNorthward)
        device.heading = 0
        XCTAssertLessThan(try error(filter, device), 3)
        run(&filter, device.samples(1, turn: -60))
        XCTAssertLessThan(try error(filter, device), 3)
    }

    func testTheGyroscopesBiasIsLearned() throws {
        var (device, filter) = (CarriedDevice(Self.nineAxes), AttitudeFilter())
        device.bias = Vector3(x: 0.01, y: -0.015, z: 0.02)
        run(&filter, device.samples(180))
        XCTAssertLessThan(try error(filter, device), 3)
        // Without field it now turns by what is left of the bias: 69° a minute at first.
        device.sensors = Self.raw
        let before = try XCTUnwrap(filter.rotation)
        run(&filter, device.samples(30))
        XCTAssertLessThan(try XCTUnwrap(filter.rotation).angle(to: before) * 180 / .pi, 10)
    }

    func testStepsDoNotTiltTheAttitude() throws {
        var (device, filter) = (CarriedDevice(Self.nineAxes, heading: 120), AttitudeFilter())
        run(&filter, device.samples(20, steps: 2))
        XCTAssertLessThan(try error(filter, device), 4)
    }

    func testIronTurnsTheAttitudeByLittle() throws {
        var (device, filter) = (CarriedDevice(Self.nineAxes), AttitudeFilter())
        run(&filter, device.samples(10))
        device.iron = Vector3(x: 40, y: 0, z: 10)
        run(&filter, device.samples(5))
        XCTAssertTrue(filter.isDisturbed)
        XCTAssertLessThan(try error(filter, device), 5, "the field alone would have turned it by 63°")
        device.iron = Vector3(x: 0, y: 0, z: 0)
        run(&filter, device.samples(5))
        XCTAssertFalse(filter.isDisturbed)
    }

    func testAFieldOutsideTheRangeOfTheEarthIsIgnored() throws {
        var (device, filter) = (CarriedDevice(Self.nineAxes), AttitudeFilter())
        device.iron = Vector3(x: 200, y: 0, z: 0)
        run(&filter, device.samples(3))
        XCTAssertTrue(filter.isDisturbed)
        XCTAssertFalse(filter.isNorthward)
    }

    func testALastingFieldIsAcceptedInTheEnd() throws {
        var (device, filter) = (CarriedDevice(Self.nineAxes), AttitudeFilter())
        run(&filter, device.samples(5))
        device.iron = Vector3(x: 0, y: 10, z: 0)
        run(&filter, device.samples(120))
        XCTAssertFalse(filter.isDisturbed)
    }

    func testWithoutAGyroscopeGravityAndFieldAreEnough() throws {
        var (device, filter) = (CarriedDevice([.acceleration, .magneticField], heading: 10), AttitudeFilter())
        run(&filter, device.samples(2))
        device.heading = 80
        run(&filter, device.samples(3))
        XCTAssertLessThan(try error(filter, device), 5)
    }

    func testTheFilterStartsAgainAfterAGapWithTheEarlierHeading() throws {
        var (device, filter) = (CarriedDevice(Self.raw), AttitudeFilter())
        run(&filter, device.samples(1))
        run(&filter, device.samples(1, turn: 50))
        _ = device.samples(10)
        device.tilt = 60
        run(&filter, device.samples(0.5))
        XCTAssertLessThan(try error(filter, device), 4)
    }

    func testTheFilterHandlesADeviceUpsideDown() throws {
        var (device, filter) = (CarriedDevice(Self.raw), AttitudeFilter())
        device.tilt = 180
        run(&filter, device.samples(1, shake: 0))
        let up = try XCTUnwrap(filter.rotation).rotate(Vector3(x: 0, y: 0, z: 1))
        XCTAssertEqual(up.z, -1, accuracy: 0.01)
    }
}
