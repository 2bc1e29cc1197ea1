import IndoorLocalization
import XCTest
@testable import IndoorPositioning

/// A hall of 20 × 20 m with eight beacons whose signal falls as the log-distance model says, and what is heard there.
enum PositioningStage {
    static let hall: MapID = 1
    static let gallery: MapID = 2
    static let power = -60.0
    static let exponent = 2.2
    /// Height difference between device and beacon in metres, the model's default.
    static let height = 0.5
    static let beaconPoints = [
        MapPoint(x: 2, y: 2), MapPoint(x: 10, y: 1), MapPoint(x: 18, y: 3), MapPoint(x: 1, y: 11),
        MapPoint(x: 19, y: 12), MapPoint(x: 3, y: 18), MapPoint(x: 11, y: 19), MapPoint(x: 18, y: 17),
    ]

    static func identity(_ index: Int) -> BeaconIdentity {
        BeaconIdentity(uuid: BeaconUUID(high: 0xA, low: 0xB), major: 1, minor: UInt16(index))
    }

    static func map(_ id: MapID = hall, level: Int = 0, width: Double = 20) -> VenueMap {
        VenueMap(id: id, name: "hall", level: level, width: width, height: 20)
    }

    /// The hall with its eight beacons known from the packet alone; without a survey.
    static let venue = Venue(
        id: 1, name: "hall", maps: [map()],
        beacons: beaconPoints.enumerated().map { index, point in
            VenueBeacon(
                identity: identity(index), mapID: hall, point: point, measuredPower: power, pathLossExponent: exponent)
        })

    /// The hall and a gallery above it where nothing was mounted.
    static let twoFloors: Venue = {
        var venue = Self.venue
        venue.maps.append(map(gallery, level: 1))
        return venue
    }()

    /// The hall after a survey on a grid of 2 m.
    static let surveyedVenue: Venue = {
        var venue = Self.venue
        var learner = RadioMapLearner(venue: venue)
        learner.add(survey(noise: 2, seed: 11))
        venue.radioMap = learner.finish()
        return venue
    }()

    static let packetField = SignalField(venue: venue)
    /// The same where silence tells nothing.
    static let uncountedField: SignalField = {
        var model = SignalModel()
        model.unsurveyedDetectionWeight = 0
        return SignalField(venue: venue, model: model)
    }()
    static let surveyedField = SignalField(venue: surveyedVenue)
    static let twoFloorField = SignalField(venue: twoFloors)

    /// What a beacon sounds like, by the formula of the textbook.
    static func rssi(
        from beacon: MapPoint, to place: MapPoint, power: Double = power, exponent: Double = exponent
    ) -> Double {
        let planar = beacon.distance(to: place)
        return power - 10 * exponent * log10((planar * planar + height * height).squareRoot())
    }

    /// Stays of 4 s on a grid, each beacon heard four times at each.
    static func survey(
        of beacons: [MapPoint] = beaconPoints, powers: [Double]? = nil, exponent: Double = exponent,
        on map: MapID = hall, noise: Double, seed: UInt64
    ) -> SurveyRecording {
        var generator = SeededGenerator(seed: seed)
        var waypoints: [SurveyRecording.Waypoint] = []
        var sightings: [Sighting] = []
        var seconds = 0.0
        for row in 0..<10 {
            for column in 0..<10 {
                let place = MapPoint(x: Double(column) * 2 + 1, y: Double(row) * 2 + 1)
                waypoints.append(
                    SurveyRecording.Waypoint(
                        instant: Instant(seconds: seconds), mapID: map, point: place, isHold: true))
                for turn in 0..<4 {
                    for (index, beacon) in beacons.enumerated() {
                        let mean = rssi(from: beacon, to: place, power: powers?[index] ?? power, exponent: exponent)
                        sightings.append(
                            Sighting(
                                instant: Instant(seconds: seconds + Double(turn) + 0.5), beacon: identity(index),
                                rssi: mean + noise * generator.normal()))
                    }
                }
                seconds += 4
            }
        }
        return SurveyRecording(waypoints: waypoints, sightings: sightings)
    }

    /// Evidence as it is heard at a place, without noise.
    static func evidence(at place: MapPoint, beacons: [Int] = Array(0..<8)) -> Evidence {
        var evidence = Evidence(
            duration: 1,
            heard: beacons.map {
                Evidence.Heard(
                    beacon: $0, rssi: Float(rssi(from: beaconPoints[$0], to: place)), variance: 1, share: 1, draws: 1)
            })
        evidence.order()
        return evidence
    }

    static func offset(deviation: Double = 3, bodyDeviation: Double = 0) -> ReceiverOffset {
        ReceiverOffset(deviation: deviation, bodyDeviation: bodyDeviation)
    }

    /// What weighs evidence against a field, with the same receiver on each of its maps.
    static func likelihood(
        _ field: SignalField, _ evidence: Evidence = Evidence(duration: 1, heard: []),
        receiver: ReceiverOffset = offset()
    ) -> Likelihood {
        Likelihood(field: field, evidence: evidence, receivers: field.maps.map { _ in receiver })
    }
}

/// Fails unless the value is there and no further than the tolerance from what is expected.
func expectClose(
    _ value: Double?, _ expected: Double, within tolerance: Double, _ message: @autoclosure () -> String = "",
    file: StaticString = #filePath, line: UInt = #line
) {
    guard let value else { return XCTFail("there is no value. \(message())", file: file, line: line) }
    XCTAssertEqual(value, expected, accuracy: tolerance, message(), file: file, line: line)
}

/// A device in the surveyed hall: its radio has noise, its own offset and shadows around it, all from one seed.
struct HallReceiver {
    private typealias Stage = PositioningStage

    private(set) var engine: PositioningEngine
    private var generator: SeededGenerator
    private var shadows: [Double] = []
    private let offset: Double
    /// Decibels by which this receiver hears everything stronger than others.
    private let shift: Double
    private(set) var seconds = 0.0
    var place: MapPoint

    init(
        at place: MapPoint, seed: UInt64, method: PositioningMethod = .particle, venue: Venue = Stage.surveyedVenue,
        field: SignalField = Stage.surveyedField, shift: Double = 0,
        change: (inout PositioningSettings) -> Void = { _ in }
    ) {
        var settings = PositioningSettings()
        settings.particleCount = 200
        settings.method = method
        change(&settings)
        engine = PositioningEngine(venue: venue, field: field, settings: settings, seed: seed)
        generator = SeededGenerator(seed: seed &+ 1000)
        offset = 2 * generator.normal()
        self.shift = shift
        self.place = place
        castShadows()
    }

    /// What people and furniture take away: as much as the surveyed field says that it does not know.
    private mutating func castShadows() {
        let field = Stage.surveyedField
        let unknown = field.maps[0].tables.compactMap { table in
            table.map { $0.variance.reduce(0, +) / Float($0.variance.count) }
        }
        shadows = unknown.map { variance in
            (field.readingDeviation * field.readingDeviation + Double(variance)).squareRoot() * generator.normal()
        }
    }

    mutating func observe(_ reading: SensorReading) { engine.observe(reading) }
    mutating func lock(to map: MapID?) { engine.lock(to: map) }
    mutating func begin(asDevice name: String) { engine.begin(asDevice: name) }
    mutating func begin(with calibration: Calibration) { engine.begin(with: calibration) }

    /// Listens for a second: most advertisements of each beacon are heard, one in half a second; `spoil` adds others.
    mutating func listen(spoil: (inout PositioningEngine, Double) -> Void = { _, _ in }) {
        for half in [0.25, 0.5] {
            for (index, beacon) in Stage.beaconPoints.enumerated() where generator.uniform() < 0.8 {
                let level = Stage.rssi(from: beacon, to: place) + shift
                let rssi = level + offset + shadows[index] + 2.5 * generator.normal()
                let instant = Instant(seconds: seconds + half)
                engine.observe(.sighting(Sighting(instant: instant, beacon: Stage.identity(index), rssi: rssi)))
                spoil(&engine, seconds + half)
            }
        }
        seconds += 1
        engine.advance(to: Instant(seconds: seconds))
    }

    /// Lets time pass in which nothing is heard.
    mutating func pass(by silence: Double) {
        seconds += silence
        engine.advance(to: Instant(seconds: seconds))
    }

    mutating func listen(seconds count: Int) { for _ in 0..<count { listen() } }

    var estimate: PositioningEngine.Estimate? { engine.estimate(on: Stage.hall) }

    /// Metres between estimate and truth; infinite without an estimate.
    var error: Double { estimate?.point.distance(to: place) ?? .infinity }
}
