import IndoorLocalization
import XCTest
@testable import IndoorPositioning

final class ShadowingRegressionTests: XCTestCase {
    private typealias Stage = PositioningStage
    /// How much stronger the second receiver hears, in dB.
    private static let difference = 9.0

    // MARK: Receivers

    func testTheRegressionReducesTwoReceiversToTheirMean() throws {
        let map = try XCTUnwrap(Self.learn(Self.twoReceivers))
        let first = Self.mean(map.fingerprints.prefix(100))
        let second = Self.mean(map.fingerprints.suffix(100))
        XCTAssertEqual(first, second, accuracy: 1)
        let heard = try Self.twoReceivers.map { Self.mean(try XCTUnwrap(Self.learn([$0])).fingerprints) }
        XCTAssertEqual(heard[1] - heard[0], Self.difference, accuracy: 0.5)
        XCTAssertEqual((first + second) / 2, (heard[0] + heard[1]) / 2, accuracy: 0.5)
    }

    func testTheRegressionEstimatesTheDeviationOfTheReceivers() throws {
        let deviation = try XCTUnwrap(Self.learn(Self.twoReceivers)?.fit.receiverDeviation)
        // The standard deviation of two numbers that differ by 9.
        XCTAssertEqual(deviation, Self.difference / 2.0.squareRoot(), accuracy: 0.5)
    }

    func testTwoReceiversDoNotIncreaseTheReadingDeviation() throws {
        let one = try XCTUnwrap(Self.learn([Self.twoReceivers[0]])?.readingDeviation)
        let both = try XCTUnwrap(Self.learn(Self.twoReceivers)?.readingDeviation)
        XCTAssertEqual(both, one, accuracy: 0.5)
    }

    func testOneRecordingHasNoOffset() throws {
        let recording = Stage.survey(noise: 0, seed: 21)
        let map = try XCTUnwrap(Self.learn([recording]))
        XCTAssertNil(map.fit.receiverDeviation)
        for place in map.fingerprints {
            for reading in place.readings {
                let heard = Stage.rssi(from: Stage.beaconPoints[reading.beacon], to: place.point)
                XCTAssertEqual(reading.rssi, heard, accuracy: 1e-9)
            }
        }
    }

    func testARecordingWithoutPlacesHasNoReceiver() throws {
        var silent = Stage.survey(noise: 2, seed: 22)
        silent.waypoints = []
        let elsewhere = Stage.survey(on: 99, noise: 2, seed: 23)
        // So few readings that nothing tells how far they spread.
        let known = Self.part(of: Stage.survey(noise: 2, seed: 21)) { $0.x < 4 && $0.y < 4 }
        XCTAssertEqual(Self.learn([silent, elsewhere, known]), Self.learn([known]))
    }

    func testRecordingsWithLittleOverlapDetermineNoOffsets() {
        for noise in [6.0, 0] {
            var corners = [
                Self.part(of: Stage.survey(noise: noise, seed: 21)) { $0.x < 8 && $0.y < 8 },
                Self.part(of: Stage.survey(noise: noise, seed: 22)) { $0.x > 12 && $0.y > 12 },
            ]
            // One receiver; walls take some of half the beacons and let the others pass: 4 dB in the mean.
            for index in corners[1].sightings.indices {
                corners[1].sightings[index].rssi -= corners[1].sightings[index].beacon.minor % 2 == 0 ? 12 : -4
            }
            let result = Self.regression(corners).solve()
            XCTAssertEqual(result.offsets, [0, 0], "a noise of \(noise) dB")
            XCTAssertEqual(result.offsetDeviation, 0, "a noise of \(noise) dB")
        }
    }

    func testRecordingsOfTheSameRoutesDetermineOffsets() {
        let result = Self.regression(Self.twoReceivers).solve()
        XCTAssertEqual(result.offsets[1] - result.offsets[0], Self.difference, accuracy: 1)
    }

    func testRecordingsOfOnePlaceEachDoNotSeparateTheReceiverFromThePlace() throws {
        // Each place by a receiver of its own: at another place its offset is a new one.
        let singles = Self.singles(of: Stage.survey(noise: 2, seed: 24), deviation: 5)
        let result = Self.regression(singles).solve()
        XCTAssertGreaterThan(result.offsetDeviation, 3)
        let spread = try XCTUnwrap(result.spread)
        let deviation = try XCTUnwrap(result.deviation)
        XCTAssertEqual(
            deviation * deviation, spread * spread + result.offsetDeviation * result.offsetDeviation, accuracy: 1e-9)
        XCTAssertNil(try XCTUnwrap(Self.learn(singles)).fit.receiverDeviation)
    }

    // MARK: Floors

    func testTheRegressionEstimatesTheLossOfAFloor() throws {
        // Eight beacons tell it to about 2 dB through one floor, which leaves some of the 15 dB that are usual.
        for (level, tolerance) in [(1, 2.0), (2, 1.0), (3, 1.0)] {
            let map = try XCTUnwrap(Self.learn(Self.throughFloors(level), venue: Self.venue(gallery: level)))
            expectClose(map.fit.floorLoss, 6, within: tolerance, "level \(level)")
        }
    }

    func testTheTablesOfAnotherFloorMatchTheSurveyThere() throws {
        for level in [1, 2, 3] {
            var venue = Self.venue(gallery: level)
            let map = try XCTUnwrap(Self.learn(Self.throughFloors(level), venue: venue))
            venue.radioMap = map
            let above = SignalField(venue: venue).maps[1]
            for place in map.fingerprints where place.mapID == Stage.gallery {
                let cell = try XCTUnwrap(above.grid.cell(at: place.point))
                for reading in place.readings {
                    let table = try XCTUnwrap(above.tables[reading.beacon])
                    let entry = table.index(column: cell % above.grid.columns, row: cell / above.grid.columns)
                    // Half a cell beside a beacon is more than the Gaussian process can tell.
                    guard place.point.distance(to: Stage.beaconPoints[reading.beacon]) > 3 else { continue }
                    let mean = Double(table.mean[try XCTUnwrap(entry)])
                    XCTAssertEqual(mean, reading.rssi, accuracy: 2, "level \(level), \(place.point)")
                }
            }
        }
    }

    func testWithoutReadingsThroughAFloorItsLossIsUndetermined() throws {
        let recordings = [Stage.survey(noise: 2, seed: 26)]
        XCTAssertNil(try XCTUnwrap(Self.learn(recordings, venue: Self.venue(gallery: 1))).fit.floorLoss)
        // Beacons of unknown place are put on the map where they are heard.
        var venue = Self.venue(gallery: 1)
        venue.beacons = []
        let first = Self.part(of: recordings[0], heard: { $0.minor < 4 }) { _ in true }
        var second = Self.part(of: recordings[0], heard: { $0.minor >= 4 }) { _ in true }
        for index in second.waypoints.indices { second.waypoints[index].mapID = Stage.gallery }
        let map = try XCTUnwrap(Self.learn([first, second], venue: venue))
        XCTAssertEqual(Set(map.beacons.map(\.mapID)), [Stage.hall, Stage.gallery])
        XCTAssertNil(map.fit.floorLoss)
    }

    // MARK: Residuals

    func testResidualsMatchLeaveOneOutPredictions() throws {
        let seed: UInt64 = 27
        print("seed \(seed)")
        var generator = SeededGenerator(seed: seed)
        let beacon = RadioMap.Beacon(
            identity: Stage.identity(0), mapID: Stage.hall, point: MapPoint(x: 2, y: 2), power: Stage.power)
        let places = (0..<9).map { _ in
            let point = MapPoint(x: 20 * generator.uniform(), y: 20 * generator.uniform())
            let rssi = Stage.rssi(from: beacon.point, to: point) + 4 * generator.normal()
            return RadioMap.Fingerprint(
                mapID: Stage.hall, point: point, duration: 4,
                readings: [RadioMap.Reading(beacon: 0, rssi: rssi, count: 4)])
        }
        let result = ShadowingRegression(
            model: SignalModel(), beacons: [beacon], exponent: Stage.exponent,
            floorDistance: FloorDistance([Stage.map()]),
            places: SurveyedPlaces(places, recordings: places.map { _ in 0 })
        ).solve()
        XCTAssertEqual(result.residuals.map(\.place), Array(0..<9))
        for residual in result.residuals {
            let expected = try Self.leftOut(residual.place, of: places, beacon)
            XCTAssertEqual(residual.value, expected.residual, accuracy: 1e-6, "place \(residual.place)")
            XCTAssertEqual(residual.variance, expected.variance, accuracy: 1e-6, "place \(residual.place)")
        }
    }

    /// What a Gaussian process of all readings but one predicts of that: eq. 2.25 and 2.26 of Rasmussen and Williams.
    private static func leftOut(
        _ index: Int, of places: [RadioMap.Fingerprint], _ beacon: RadioMap.Beacon
    ) throws -> (residual: Double, variance: Double) {
        let model = SignalModel()
        func covariance(_ a: RadioMap.Fingerprint, _ b: RadioMap.Fingerprint) -> Double {
            let distance = a.point.distance(to: b.point)
            let shadowing = model.shadowing * model.shadowing * model.shadowingCorrelation(distance: distance)
            return model.powerDeviation * model.powerDeviation + shadowing
        }
        func difference(_ place: RadioMap.Fingerprint) -> Double {
            place.readings[0].rssi - Stage.rssi(from: beacon.point, to: place.point)
        }
        let noise = model.surveyVariance(count: 4)
        let others = places.indices.filter { $0 != index }.map { places[$0] }
        let matrix = others.indices.flatMap { row in
            others.indices.map { covariance(others[row], others[$0]) + (row == $0 ? noise : 0) }
        }
        let factor = try XCTUnwrap(Cholesky(matrix, order: others.count))
        let near = others.map { covariance($0, places[index]) }
        let mean = zip(near, factor.solve(others.map(difference))).reduce(0) { $0 + $1.0 * $1.1 }
        let told = zip(near, factor.solve(near)).reduce(0) { $0 + $1.0 * $1.1 }
        return (difference(places[index]) - mean, covariance(places[index], places[index]) + noise - told)
    }

    // MARK: Surveys

    /// The hall surveyed twice, by receivers of which the second hears stronger.
    private static let twoReceivers = [
        Stage.survey(noise: 3, seed: 21), changed(Stage.survey(noise: 3, seed: 22), by: difference),
    ]

    /// The hall and a map of that level above it.
    private static func venue(gallery level: Int) -> Venue {
        var venue = Stage.venue
        venue.maps.append(Stage.map(Stage.gallery, level: level))
        return venue
    }

    /// Surveys of the hall and of the map above it, where the hall's beacons are heard through floors of 6 dB each.
    private static func throughFloors(_ floors: Int) -> [SurveyRecording] {
        let above = Stage.survey(on: Stage.gallery, noise: 1, seed: 26)
        return [Stage.survey(noise: 1, seed: 25), changed(above, by: -6 * Double(floors))]
    }

    private static func changed(_ recording: SurveyRecording, by decibels: Double) -> SurveyRecording {
        var recording = recording
        for index in recording.sightings.indices { recording.sightings[index].rssi += decibels }
        return recording
    }

    /// The stays of a survey at some of its points, with what was heard there of some beacons.
    private static func part(
        of recording: SurveyRecording, heard isHeard: (BeaconIdentity) -> Bool = { _ in true },
        at isKept: (MapPoint) -> Bool
    ) -> SurveyRecording {
        let stays = recording.waypoints.filter { isKept($0.point) }
        let sightings = recording.sightings.filter { sighting in
            isHeard(sighting.beacon)
                && stays.contains { (0..<4).contains($0.instant.duration(to: sighting.instant).seconds) }
        }
        return SurveyRecording(waypoints: stays, sightings: sightings)
    }

    /// Each stay of a survey as a recording by a receiver of its own.
    private static func singles(of recording: SurveyRecording, deviation: Double) -> [SurveyRecording] {
        var generator = SeededGenerator(seed: 28)
        return recording.waypoints.map { stay in
            changed(part(of: recording) { $0 == stay.point }, by: deviation * generator.normal())
        }
    }

    private static func learn(_ recordings: [SurveyRecording], venue: Venue = Stage.venue) -> RadioMap? {
        var learner = RadioMapLearner(venue: venue)
        for recording in recordings { learner.add(recording) }
        return learner.finish()
    }

    /// The regression of recordings in the hall whose path loss is known.
    private static func regression(_ recordings: [SurveyRecording]) -> ShadowingRegression {
        let pieces = recordings.map { FingerprintCutter().pieces(of: $0) }
        let places = pieces.joined().map { piece in
            RadioMap.Fingerprint(
                mapID: piece.mapID, point: piece.point, duration: piece.duration,
                readings: piece.readings.map { identity, heard in
                    RadioMap.Reading(
                        beacon: Int(identity.minor), rssi: heard.sum / Double(heard.count), count: heard.count)
                }.sorted { $0.beacon < $1.beacon })
        }
        let beacons = Stage.beaconPoints.enumerated().map {
            RadioMap.Beacon(identity: Stage.identity($0), mapID: Stage.hall, point: $1, power: Stage.power)
        }
        let owners = pieces.enumerated().flatMap { recording, pieces in pieces.map { _ in recording } }
        return ShadowingRegression(
            model: SignalModel(), beacons: beacons, exponent: Stage.exponent,
            floorDistance: FloorDistance(Stage.venue.maps), places: SurveyedPlaces(places, recordings: owners))
    }

    /// The mean RSSI of all readings, in dBm.
    private static func mean(_ places: some Collection<RadioMap.Fingerprint>) -> Double {
        let all = places.flatMap(\.readings).map(\.rssi)
        return all.reduce(0, +) / Double(all.count)
    }
}

final class BodyShadowingTests: XCTestCase {
    private typealias Stage = PositioningStage
    private static let seed: UInt64 = 31
    private static let hall = 30.0

    override func setUp() { print("seed \(Self.seed)") }

    func testTheEstimateFindsTheVarianceOfBodyShadowing() throws {
        // A vector of 4 dB in a direction of its own at each place: 8 dB² along each axis.
        let body = try XCTUnwrap(Self.shadowing(amplitude: 4))
        XCTAssertEqual(body.body, 8, accuracy: 0.3 * 8)
        XCTAssertEqual(body.noise, 4, accuracy: 0.3 * 4)
    }

    func testTheMinimumNumberOfBeaconsGivesTheSameVariance() throws {
        // Their mean, which is taken from each, holds a fourth of the noise.
        let body = try XCTUnwrap(Self.shadowing(amplitude: 4, beacons: BodyShadowing.fewest, places: 1000))
        XCTAssertEqual(body.body, 8, accuracy: 0.15 * 8)
        XCTAssertEqual(body.noise, 4, accuracy: 0.15 * 4)
    }

    func testWithoutBodyShadowingTheVarianceIsZero() throws {
        let body = try XCTUnwrap(Self.shadowing(amplitude: 0))
        XCTAssertLessThan(body.body, 0.3)
        XCTAssertEqual(body.noise, 4, accuracy: 0.3 * 4)
    }

    func testACommonOffsetOfAPlaceIsNotBodyShadowing() throws {
        let body = try XCTUnwrap(Self.shadowing(amplitude: 0, common: 10))
        XCTAssertLessThan(body.body, 0.3)
        XCTAssertEqual(body.noise, 4, accuracy: 0.3 * 4)
    }

    func testFewerThanFourBeaconsGiveNoEstimate() {
        XCTAssertNil(Self.shadowing(amplitude: 4, beacons: 3))
        XCTAssertNotNil(Self.shadowing(amplitude: 4, beacons: 4))
    }

    func testTheEstimateIgnoresBeaconsOfOtherMaps() {
        XCTAssertNil(Self.shadowing(amplitude: 4, map: Stage.gallery))
    }

    func testTooFewPlacesGiveNoEstimate() {
        // 17 beacons beyond three at each of two places.
        XCTAssertNil(Self.shadowing(amplitude: 4, places: 2))
        XCTAssertNotNil(Self.shadowing(amplitude: 4, places: 3))
    }

    func testBeaconsAtTheDevicesPositionHaveNoDirection() {
        // All at one place, and the place there: nothing tells a body from noise.
        let beacons = (0..<20).map { Self.beacon($0, at: MapPoint(x: 5, y: 5), on: Stage.hall) }
        let places = (0..<10).map { _ in Self.place(MapPoint(x: 5, y: 5)) }
        let residuals = places.indices.flatMap { place in
            beacons.indices.map { ShadowingRegression.Residual(place: place, beacon: $0, value: 1, variance: 4) }
        }
        XCTAssertNil(Self.shadowing(residuals, beacons, places))
    }

    /// What 300 places hear of beacons around them, with a noise of 2 dB, a body's vector of that many decibels, and
    /// something common to all beacons of a place.
    private static func shadowing(
        amplitude: Double, common: Double = 0, beacons count: Int = 20, places placeCount: Int = 300,
        map: MapID = Stage.hall
    ) -> BodyShadowing? {
        var generator = SeededGenerator(seed: seed)
        let beacons = (0..<count).map { beacon($0, at: point(&generator), on: map) }
        var residuals: [ShadowingRegression.Residual] = []
        let places = (0..<placeCount).map { index in
            let place = place(point(&generator))
            let angle = 2 * Double.pi * generator.uniform()
            let offset = common * generator.normal()
            for (number, beacon) in beacons.enumerated() {
                let direction = (beacon.point - place.point) * (1 / beacon.point.distance(to: place.point))
                let body = amplitude * (cos(angle) * direction.x + sin(angle) * direction.y)
                residuals.append(
                    ShadowingRegression.Residual(
                        place: index, beacon: number, value: body + offset + 2 * generator.normal(), variance: 4))
            }
            return place
        }
        return shadowing(residuals, beacons, places)
    }

    private static func shadowing(
        _ residuals: [ShadowingRegression.Residual], _ beacons: [RadioMap.Beacon], _ places: [RadioMap.Fingerprint]
    ) -> BodyShadowing? {
        BodyShadowing(
            residuals, beacons: beacons,
            places: SurveyedPlaces(places, recordings: Array(places.indices)))
    }

    private static func point(_ generator: inout SeededGenerator) -> MapPoint {
        MapPoint(x: hall * generator.uniform(), y: hall * generator.uniform())
    }

    private static func beacon(_ index: Int, at point: MapPoint, on map: MapID) -> RadioMap.Beacon {
        RadioMap.Beacon(identity: Stage.identity(index), mapID: map, point: point, power: -60)
    }

    private static func place(_ point: MapPoint) -> RadioMap.Fingerprint {
        RadioMap.Fingerprint(mapID: Stage.hall, point: point, duration: 4, readings: [])
    }
}

final class SupportRangeTests: XCTestCase {
    private typealias Stage = PositioningStage
    private static let smallestWidth = SupportRange.widths[0]
    private static let smallestShare = SupportRange.shares[0]

    func testRepeatedWalksGiveTheSmallestWidth() throws {
        // Three walks of 30 places down the middle of a hall of 60 × 20 m.
        let (points, recordings) = Self.walks(3, places: 30) { MapPoint(x: 2 * Double($1) + 1, y: 10) }
        let support = try XCTUnwrap(Self.best(points, recordings))
        XCTAssertEqual(support, SupportRange.Result(width: Self.smallestWidth, share: Self.smallestShare))
    }

    func testScatteredPointsGiveALargeWidth() throws {
        let seed: UInt64 = 1
        print("seed \(seed)")
        var generator = SeededGenerator(seed: seed)
        let points = (0..<40).map { _ in MapPoint(x: 60 * generator.uniform(), y: 20 * generator.uniform()) }
        let support = try XCTUnwrap(Self.best(points, Array(points.indices)))
        XCTAssertGreaterThanOrEqual(support.width, 4)
    }

    func testAWideGridOfPointsGivesALargeShare() throws {
        // Each is 6 m from the next: as far as anybody in the hall from the nearest of them.
        let points = (0..<15).map { MapPoint(x: 12 * Double($0 % 5) + 6, y: 6 * Double($0 / 5) + 4) }
        let support = try XCTUnwrap(Self.best(points, Array(points.indices)))
        XCTAssertEqual(support.share, SupportRange.shares.last)
    }

    func testTheWidthGrowsWithTheDistanceBetweenWalks() throws {
        let widths = try [0.5, 1, 1.5, 2].map { gap in
            let (points, recordings) = Self.walks(5, places: 30) {
                MapPoint(x: 2 * Double($1) + 1, y: 4 + gap * Double($0))
            }
            return try XCTUnwrap(Self.best(points, recordings)).width
        }
        XCTAssertEqual(widths, [0.75, 1.5, 2, 3])
    }

    func testIsolatedWalksRaiseTheShare() throws {
        // Nine walks of one line and three of parts of the hall where nobody else walked.
        let (points, recordings) = Self.walks(12, places: 12) { walk, step in
            let place = Double(step)
            return walk < 9
                ? MapPoint(x: 2 * place + 1, y: 2) : MapPoint(x: 32 + place, y: 2 + 8 * Double(walk - 9))
        }
        let support = try XCTUnwrap(Self.best(points, recordings))
        XCTAssertEqual(support.width, Self.smallestWidth)
        XCTAssertGreaterThan(support.share, Self.smallestShare)
    }

    func testOneWalkGivesNoResult() {
        let (points, recordings) = Self.walks(1, places: 30) { MapPoint(x: 2 * Double($1) + 1, y: 10) }
        XCTAssertNil(Self.best(points, recordings))
    }

    func testWalksOnDifferentMapsGiveNoResult() {
        let points = [MapPoint(x: 1, y: 1), MapPoint(x: 2, y: 1)]
        XCTAssertNil(Self.best(points, [0, 1], maps: [Stage.hall, Stage.gallery]))
        XCTAssertNotNil(Self.best(points, [0, 1], maps: [Stage.hall, Stage.hall]))
    }

    func testUnknownMapsGiveNoResult() {
        XCTAssertNil(Self.best([MapPoint(x: 1, y: 1), MapPoint(x: 2, y: 1)], [0, 1], maps: [99, 99]))
    }

    /// Points of walks, walk by walk; of each its number and the place's are given.
    private static func walks(
        _ count: Int, places: Int, _ point: (Int, Int) -> MapPoint
    ) -> (points: [MapPoint], recordings: [Int]) {
        let all = (0..<count).flatMap { walk in (0..<places).map { (walk, $0) } }
        return (all.map(point), all.map(\.0))
    }

    private static func best(_ points: [MapPoint], _ recordings: [Int], maps: [MapID]? = nil) -> SupportRange.Result? {
        let grid = MapGrid(from: MapPoint(x: 0, y: 0), to: MapPoint(x: 60, y: 20), cellSize: 0.5)
        let maps = maps ?? points.map { _ in Stage.hall }
        let places = zip(points, maps).map {
            RadioMap.Fingerprint(mapID: $1, point: $0, duration: 2, readings: [])
        }
        return SupportRange(
            grids: [Stage.hall: grid, Stage.gallery: grid], places: SurveyedPlaces(places, recordings: recordings)
        ).best()
    }
}
