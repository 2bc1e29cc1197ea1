import XCTest

import IndoorLocalization

/// Venues, radio maps and settings that make no sense end no process: a public initialiser takes any number.
final class OddInputTests: XCTestCase {
    private typealias Stage = PositioningStage
    private static let wild = [Double.nan, .infinity, -1e300, 0]

    /// The hall after a survey of ten places, as a large one takes long.
    private static let surveyedVenue: Venue = {
        var venue = Stage.surveyedVenue
        let places = venue.radioMap?.fingerprints ?? []
        venue.radioMap?.fingerprints = Array(places.prefix(10))
        return venue
    }()

    /// Lets an engine hear the hall's beacons for a while, with a fix and steps between: no map's chance is no number.
    private func run(_ venue: Venue, _ name: String = "", line: UInt = #line) {
        run(venue, PositioningSettings(), name, line: line)
    }

    private func run(_ venue: Venue, _ settings: PositioningSettings, _ name: String = "", line: UInt = #line) {
        var settings = settings
        settings.particleCount = 100
        var engine = PositioningEngine(venue: venue, settings: settings, seed: 1)
        for turn in 0..<8 {
            let instant = Instant(seconds: Double(turn) / 2)
            for index in 0..<4 {
                engine.observe(
                    .sighting(Sighting(instant: instant, beacon: Stage.identity(index), rssi: -60 - Double(index))))
            }
            engine.observe(.step(Step(instant: instant, length: 0.7, heading: 90)))
            if turn == 4 {
                engine.observe(
                    .fix(Fix(instant: instant, mapID: Stage.hall, point: MapPoint(x: 5, y: 5), radius: 1)))
            }
            engine.advance(to: instant)
            XCTAssertTrue(engine.mapProbabilities.values.allSatisfy((0...1.001).contains), name, line: line)
            _ = engine.estimate(on: Stage.hall)
        }
    }

    func testTheEngineAcceptsAnEmptyVenue() {
        run(Venue(id: 1, name: "nothing", maps: [], beacons: []))
        run(Venue(id: 1, name: "nothing", maps: [Stage.map()], beacons: []))
    }

    func testTheEngineAcceptsMapsOfAnySize() {
        for size in Self.wild {
            var venue = Self.surveyedVenue
            venue.maps[0].width = size
            run(venue)
            venue.maps[0].height = size
            run(venue)
        }
    }

    func testTheEngineAcceptsBeaconsAnywhere() {
        for number in Self.wild {
            for survey in [nil, Self.surveyedVenue.radioMap] {
                var venue = Stage.venue
                venue.radioMap = survey
                venue.beacons[0].point = MapPoint(x: number, y: number)
                venue.beacons[1].measuredPower = number
                venue.beacons[2].pathLossExponent = number
                run(venue)
            }
        }
    }

    func testTheEngineAcceptsRadioMapsWithAnyNumbers() {
        for number in Self.wild {
            for spoil in [
                { $0.beacons[0].point = MapPoint(x: number, y: number) }, { $0.beacons[0].power = number },
                { $0.pathLossExponent = number }, { $0.readingDeviation = number },
                { $0.fingerprints[0].point = MapPoint(x: number, y: number) }, { $0.fingerprints[0].duration = number },
                { $0.fingerprints[0].readings[0].rssi = number }, { $0.fingerprints[0].readings[0].weight = number },
            ] as [(inout RadioMap) -> Void] {
                var venue = Self.surveyedVenue
                if var map = venue.radioMap {
                    spoil(&map)
                    venue.radioMap = map
                }
                run(venue)
            }
        }
    }

    func testTheEngineAcceptsFitsWithAnyNumbers() {
        for number in Self.wild + [1e300, 1e-300, .leastNonzeroMagnitude, 1e6, 1e-6] {
            for (index, spoil) in [
                { $0.floorLoss = number }, { $0.rateLength = number }, { $0.supportWidth = number },
                { $0.unsupportedShare = number }, { $0.receiverDeviation = number },
                { $0.ratePriorDetections = number }, { $0.bodyDeviation = number },
            ].enumerated() as EnumeratedSequence<[(inout RadioMap.Fit) -> Void]> {
                var venue = Self.surveyedVenue
                var fit = RadioMap.Fit()
                spoil(&fit)
                venue.radioMap?.fit = fit
                run(venue, "number \(index) of the fit is \(number)")
            }
        }
    }

    func testTheEngineAcceptsMapsOfAnyLevel() {
        for level in [Int.min, -1_000_000, 1_000_000, .max] {
            var venue = Self.surveyedVenue
            venue.maps.append(Stage.map(Stage.gallery, level: level))
            venue.maps[0].level = level > 0 ? -2 : 2
            venue.radioMap?.fingerprints[0].mapID = Stage.gallery
            run(venue, "level \(level)")
        }
    }

    func testTheLearnerAcceptsMapsOfAnyLevel() throws {
        for level in [Int.min, -1_000_000, 1_000_000, .max] {
            var venue = Stage.venue
            venue.maps[0].level = level > 0 ? -2 : 2
            venue.maps.append(Stage.map(Stage.gallery, level: level))
            var learner = RadioMapLearner(venue: venue)
            learner.add(Stage.survey(noise: 2, seed: 1))
            learner.add(Stage.survey(on: Stage.gallery, noise: 2, seed: 2))
            venue.radioMap = try XCTUnwrap(learner.finish())
            run(venue, "level \(level)")
        }
    }

    func testTheEngineAcceptsARadioMapWithDuplicateOrMissingBeacons() throws {
        var venue = Self.surveyedVenue
        let first = try XCTUnwrap(venue.radioMap?.beacons.first)
        venue.radioMap?.beacons[1] = first
        run(venue)
        venue.radioMap?.fingerprints[0].readings[0].beacon = 99
        venue.radioMap?.fingerprints[0].readings[1].beacon = -1
        venue.radioMap?.fingerprints[0].readings[2].count = 0
        run(venue)
    }

    func testTheEngineAcceptsSettingsWithAnyNumber() {
        for number in Self.wild {
            for (index, spoil) in Self.spoils(number).enumerated() {
                var settings = PositioningSettings()
                spoil(&settings)
                run(Stage.venue, settings, "setting \(index) is \(number)")
                run(Self.surveyedVenue, settings, "setting \(index) is \(number)")
            }
        }
    }

    func testTheEngineAcceptsAnyBeaconLimit() {
        for limit in [Int.min, -1, 0, 1, .max] {
            var settings = PositioningSettings()
            settings.signal.beaconLimit = limit
            run(Self.surveyedVenue, settings, "\(limit) beacons")
        }
    }

    private static func spoils(_ number: Double) -> [(inout PositioningSettings) -> Void] {
        [
            { $0.recoveryShare = number }, { $0.globalUpdateInterval = number }, { $0.levelShare = number },
            { $0.priorShare = number }, { $0.radiusFloor = number }, { $0.radiusFactor = number },
            { $0.radiusInflation = number },
            { $0.motion.walkingSpeed = number }, { $0.motion.velocityTime = number }, { $0.motion.startRate = number },
            { $0.motion.stopRate = number }, { $0.motion.standingWander = number },
            { $0.motion.walkingWander = number }, { $0.motion.headingBias = number },
            { $0.motion.headingUnknown = number }, { $0.motion.headingDrift = number },
            { $0.motion.stepTurn = number }, { $0.motion.stepScale = number }, { $0.motion.stepLength = number },
            { $0.signal.pathLossExponent = number }, { $0.signal.defaultPower = number },
            { $0.signal.floorLoss = number }, { $0.signal.heightDifference = number },
            { $0.signal.shadowing = number }, { $0.signal.shadowingLength = number },
            { $0.signal.powerDeviation = number }, { $0.signal.surveyNoise = number },
            { $0.signal.fastFading = number }, { $0.signal.unsurveyedDeviation = number },
            { $0.signal.readingDeviation = number }, { $0.signal.unseenDeviation = number },
            { $0.signal.degreesOfFreedom = number }, { $0.signal.correlationTime = number },
            { $0.signal.rateLength = number }, { $0.signal.rateDurationCap = number },
            { $0.signal.ratePrior = number }, { $0.signal.unheardRate = number },
            { $0.signal.detectionWeight = number }, { $0.signal.receiverOffsetDeviation = number },
            { $0.signal.supportWidth = number }, { $0.signal.unsupportedShare = number },
            { $0.signal.receiverWander = number }, { $0.signal.receiverCaution = number },
            { $0.signal.bodyDeviation = number }, { $0.signal.bodyTime = number },
            { $0.signal.sensitivity = number }, { $0.signal.sensitivityWidth = number },
            { $0.signal.unsurveyedDetectionWeight = number }, { $0.motion.turnRate = number },
        ]
    }
}
