import IndoorLocalization
import XCTest

final class SurveyReviewTests: XCTestCase {
    private func review(_ hall: SurveyedHall) throws -> SurveyReview {
        SurveyReview(of: try XCTUnwrap(hall.radioMap()), in: hall.venue)
    }

    func testACompleteSurveyHasNoFindings() throws {
        for seed in 1...5 {
            let hall = SurveyedHall()
            let review = SurveyReview(of: try XCTUnwrap(hall.radioMap(seed: UInt64(seed))), in: hall.venue)
            XCTAssertEqual(review.gaps, [])
            XCTAssertEqual(review.findings, [])
            XCTAssertEqual(review.contradictions, [])
            XCTAssertEqual(review.advice(in: hall.venue), [])
            XCTAssertEqual(review.places, hall.places.count)
            XCTAssertEqual(review.beacons, 6)
        }
    }

    func testAnUnsurveyedCornerIsAGap() throws {
        var hall = SurveyedHall()
        hall.places.removeAll { $0.x > 18 && $0.y < 11 }
        let review = try review(hall)
        XCTAssertEqual(review.gaps.count, 1)
        let gap = try XCTUnwrap(review.gaps.first)
        XCTAssertEqual(gap.mapID, CoverageHall.map)
        XCTAssertEqual(gap.area, Double(gap.cells.count) * gap.cellSize * gap.cellSize, accuracy: 1e-9)
        XCTAssertEqual(gap.area, 74, accuracy: 20)
        XCTAssertGreaterThan(gap.point.x, 25)
        XCTAssertLessThan(gap.point.y, 5)
        XCTAssertGreaterThan(gap.distance, 5)
        let advice = try XCTUnwrap(review.advice(in: hall.venue).first)
        XCTAssertTrue(advice.hasPrefix("Walk the top right of Ground floor around ("), advice)
        XCTAssertTrue(advice.hasSuffix("m² have no survey point within 5 m."), advice)
    }

    func testGapsOfAPlanWithoutWalkableAreasComeLast() throws {
        var hall = SurveyedHall()
        hall.places.removeAll { $0.x > 18 && $0.y < 11 }
        hall.transmitters[0].power = -75
        var venue = hall.venue
        venue.maps[0].walkable = []
        let advice = SurveyReview(of: try XCTUnwrap(hall.radioMap()), in: venue).advice(in: venue)
        XCTAssertEqual(advice.count, 3)
        XCTAssertTrue(advice[0].hasPrefix("Check the battery and the mounting of beacon "), advice[0])
        XCTAssertTrue(advice[1].hasPrefix("Walk the top right of Ground floor"), advice[1])
        XCTAssertEqual(
            advice[2],
            "Add walkable areas to the venue: without them, the review counts the whole plan of Ground floor.")
    }

    func testAMapWithoutSurveyPlacesIsOneGap() throws {
        let hall = SurveyedHall()
        var venue = hall.venue
        venue.maps.append(VenueMap(id: 2, name: "First floor", level: 1, width: 10, height: 8))
        let gaps = try XCTUnwrap(hall.radioMap()).surveyGaps(in: venue)
        XCTAssertEqual(gaps.map(\.mapID), [2])
        XCTAssertEqual(gaps[0].area, 80)
        XCTAssertEqual(gaps[0].distance, .infinity)
    }

    func testGapsCloseWhileASurveyIsRecorded() {
        let venue = SurveyedHall().venue
        func area(_ places: [MapPoint]) -> Double {
            venue.surveyGaps(around: [CoverageHall.map: places]).reduce(0) { $0 + $1.area }
        }
        XCTAssertEqual(area([]), 600)
        let route = stride(from: 3.0, through: 27, by: 6).map { MapPoint(x: $0, y: 10) }
        let areas = (0...route.count).map { area(Array(route.prefix($0))) }
        XCTAssertEqual(areas, areas.sorted(by: >))
        XCTAssertLessThan(areas[route.count], 400)
    }

    func testAMovedBeaconIsNamedWithItsNewPlace() throws {
        var hall = SurveyedHall()
        let truth = hall.transmitters[1].point
        hall.beacons[1] = MapPoint(x: truth.x, y: truth.y + 10)
        let review = try review(hall)
        XCTAssertEqual(review.findings.map(\.beacon), [CoverageHall.identity(1)])
        guard case .moved(let place, let deviation, let distance) = review.findings[0].kind else {
            return XCTFail("\(review.findings)")
        }
        XCTAssertEqual(place.mapID, CoverageHall.map)
        XCTAssertLessThan(place.point.distance(to: truth), 3)
        XCTAssertLessThan(deviation, 4)
        XCTAssertEqual(try XCTUnwrap(distance), 10, accuracy: 3)
        let advice = review.advice(in: hall.venue)
        XCTAssertTrue(advice.contains { $0.hasPrefix("Check the place of beacon") }, "\(advice)")
    }

    func testASilentBeaconIsNamedOnlyIfTheSurveyCameNear() throws {
        var hall = SurveyedHall()
        hall.transmitters.removeAll { $0.beacon == 4 }
        XCTAssertEqual(
            try review(hall).findings, [BeaconFinding(beacon: CoverageHall.identity(4), kind: .silent)])
        let point = hall.beacons[4]
        hall.places.removeAll { $0.distance(to: point) < 10.1 }
        XCTAssertFalse(try review(hall).findings.contains { $0.kind == .silent })
    }

    func testAWeakBeaconIsNamed() throws {
        var hall = SurveyedHall()
        hall.transmitters[2].power = -75
        let findings = try review(hall).findings
        XCTAssertEqual(findings.map(\.beacon), [CoverageHall.identity(2)])
        guard case .weak(let difference) = findings[0].kind else { return XCTFail("\(findings)") }
        XCTAssertEqual(difference, 15, accuracy: 3)
    }

    func testTwoTransmittersWithOneIdentityAreNamed() throws {
        var hall = SurveyedHall()
        let (first, second) = (hall.beacons[0], hall.beacons[5])
        hall.transmitters.removeAll { $0.beacon == 5 }
        hall.transmitters.append((0, second, -60))
        // Each of both transmitters is received where it is the stronger one.
        hall.transmitters.removeAll { $0.beacon == 0 }
        var recordings = hall.recordings()
        var generator = SeededGenerator(seed: 9)
        for (index, place) in hall.places.enumerated() {
            let rssi = max(CoverageHall.rssi(of: first, at: place), CoverageHall.rssi(of: second, at: place))
            for second in 1...3 {
                recordings[index].sightings.append(
                    Sighting(
                        instant: Instant(seconds: Double(second)), beacon: CoverageHall.identity(0),
                        rssi: rssi + hall.noise * generator.normal()))
            }
            recordings[index].sightings.sort { $0.instant < $1.instant }
        }
        var learner = RadioMapLearner(venue: hall.venue)
        for recording in recordings { learner.add(recording) }
        let review = SurveyReview(of: try XCTUnwrap(learner.finish()), in: hall.venue)
        let finding = try XCTUnwrap(review.findings.first { $0.beacon == CoverageHall.identity(0) })
        guard case .twoTransmitters(let one, let other) = finding.kind else { return XCTFail("\(review.findings)") }
        let found = [one.point, other.point].sorted { $0.x < $1.x }
        XCTAssertLessThan(found[0].distance(to: first), 4)
        XCTAssertLessThan(found[1].distance(to: second), 4)
    }

    func testABeaconDetectedAtFewPlacesIsNamed() throws {
        let hall = SurveyedHall()
        var recordings = hall.recordings()
        for index in recordings.indices.dropFirst(3) {
            recordings[index].sightings.removeAll { $0.beacon == CoverageHall.identity(0) }
        }
        var learner = RadioMapLearner(venue: hall.venue)
        for recording in recordings { learner.add(recording) }
        let findings = SurveyReview(of: try XCTUnwrap(learner.finish()), in: hall.venue).findings
        XCTAssertTrue(
            findings.contains(BeaconFinding(beacon: CoverageHall.identity(0), kind: .fewReadings(places: 3))))
    }

    func testAPlaceThatWasMarkedWronglyContradictsItsNeighbours() throws {
        var hall = SurveyedHall()
        hall.noise = 1
        var recordings = hall.recordings()
        let wrong = try XCTUnwrap(hall.places.firstIndex(of: MapPoint(x: 25.5, y: 16.5)))
        recordings[wrong].waypoints[0].point = MapPoint(x: 3, y: 3)
        var learner = RadioMapLearner(venue: hall.venue)
        for recording in recordings { learner.add(recording) }
        let review = SurveyReview(of: try XCTUnwrap(learner.finish()), in: hall.venue)
        XCTAssertEqual(review.contradictions.first?.point, MapPoint(x: 3, y: 3))
    }

    func testResidualsAreThoseOfTheMapWithoutThePlace() throws {
        let hall = SurveyedHall()
        let map = try XCTUnwrap(hall.radioMap())
        let residuals = map.residuals(in: hall.venue)
        XCTAssertEqual(residuals.count, hall.places.count * 6)
        let residual = try XCTUnwrap(residuals.first { $0.place == 20 && $0.beacon == 3 })
        // The reference: the Gaussian process without the place, with its own weights.
        var reduced = map
        reduced.fingerprints.remove(at: 20)
        let others = reduced.residuals(in: hall.venue)
        XCTAssertEqual(others.count, residuals.count - 6)
        XCTAssertEqual(residual.rssi, map.fingerprints[20].readings[3].rssi)
        // A prediction from the others doesn't depend on the reading itself.
        var changed = map
        changed.fingerprints[20].readings[3].rssi += 20
        let again = try XCTUnwrap(
            changed.residuals(in: hall.venue).first { $0.place == 20 && $0.beacon == 3 })
        XCTAssertEqual(again.predicted, residual.predicted, accuracy: 1e-6)
        XCTAssertEqual(again.value, residual.value + 20, accuracy: 1e-6)
        // The noise of three readings and the model's own errors.
        let square = residuals.reduce(0) { $0 + $1.value * $1.value } / Double(residuals.count)
        XCTAssertLessThan(square.squareRoot(), 3)
    }
}

final class HeldOutSurveyTests: XCTestCase {
    private func stay(at x: Double) -> SurveyRecording {
        SurveyRecording(
            waypoints: [.init(instant: .zero, mapID: 1, point: MapPoint(x: x, y: 0), isHold: true)], sightings: [])
    }

    func testEachRecordingIsLeftOutOnce() {
        let folds = HeldOutSurvey.folds(of: (0..<10).map { stay(at: Double($0)) }, parts: 4)
        XCTAssertEqual(folds.count, 4)
        XCTAssertEqual(folds.flatMap(\.heldOut).sorted(), Array(0..<10))
        for fold in folds { XCTAssertEqual((fold.learned + fold.heldOut).sorted(), Array(0..<10)) }
        let few = HeldOutSurvey.folds(of: [stay(at: 1), stay(at: 2), stay(at: 3)])
        XCTAssertEqual(few.map(\.heldOut.count), [1, 1, 1])
        XCTAssertEqual(HeldOutSurvey.folds(of: [stay(at: 1)]), [])
    }

    func testStaysAtTheSamePointAreLeftOutTogether() {
        let folds = HeldOutSurvey.folds(of: [1, 2, 1, 2, 3, 1].map { stay(at: $0) }, parts: 3)
        XCTAssertEqual(folds.map(\.heldOut).sorted { $0[0] < $1[0] }, [[0, 2, 5], [1, 3], [4]])
        XCTAssertEqual(HeldOutSurvey.folds(of: [stay(at: 1), stay(at: 1)]), [])
    }

    private func mean(_ hall: SurveyedHall) throws -> Double {
        let recordings = hall.recordings()
        var errors: [Double] = []
        for fold in HeldOutSurvey.folds(of: recordings) {
            var learner = RadioMapLearner(venue: hall.venue)
            for index in fold.learned { learner.add(recordings[index]) }
            let survey = HeldOutSurvey(venue: hall.venue, radioMap: try XCTUnwrap(learner.finish()))
            for index in fold.heldOut {
                let found = survey.errors(of: recordings[index])
                XCTAssertEqual(found.map(\.point), recordings[index].waypoints.map(\.point))
                errors += found.compactMap(\.distance)
            }
        }
        XCTAssertEqual(errors.count, recordings.count)
        return errors.reduce(0, +) / Double(errors.count)
    }

    func testTheErrorOfHeldOutRecordingsGrowsWithTheNoise() throws {
        var hall = SurveyedHall()
        hall.noise = 1
        let quiet = try mean(hall)
        hall.noise = 8
        let loud = try mean(hall)
        XCTAssertLessThan(quiet, 2.1)
        XCTAssertGreaterThan(loud, 1.3 * quiet)
    }

    func testAWalkHasErrorsFromFiveSecondsOn() throws {
        let hall = SurveyedHall()
        let map = try XCTUnwrap(hall.radioMap())
        var generator = SeededGenerator(seed: 4)
        let points = (0...20).map { MapPoint(x: 5 + Double($0), y: 8) }
        let walk = SurveyRecording(
            waypoints: points.enumerated().map { index, point in
                .init(instant: Instant(seconds: Double(index)), mapID: CoverageHall.map, point: point, isHold: false)
            },
            sightings: points.enumerated().flatMap { index, point in
                hall.transmitters.map { transmitter in
                    Sighting(
                        instant: Instant(seconds: Double(index)), beacon: CoverageHall.identity(transmitter.beacon),
                        rssi: CoverageHall.rssi(of: transmitter.point, at: point) + generator.normal())
                }
            })
        let errors = HeldOutSurvey(venue: hall.venue, radioMap: map).errors(of: walk)
        XCTAssertEqual(errors.count, 16)
        let known = errors.compactMap(\.distance)
        XCTAssertEqual(known.count, 16)
        XCTAssertLessThan(known.reduce(0, +) / 16, 3)
    }
}

/// A survey of `CoverageHall` with known transmitters, which can differ from the venue's beacons.
struct SurveyedHall {
    /// The places of the venue's beacons.
    var beacons = CoverageHall.lattice(columns: 3, rows: 2)
    /// The transmitters: their beacon's index, their place and their power in dBm.
    var transmitters: [(beacon: Int, point: MapPoint, power: Double)]
    /// The surveyed places.
    var places: [MapPoint]
    /// The standard deviation of a reading in dB.
    var noise = 2.0

    init(placeDistance: Double = 3) {
        places = stride(from: 1.5, to: 20, by: placeDistance).flatMap { y in
            stride(from: 1.5, to: 30, by: placeDistance).map { MapPoint(x: $0, y: y) }
        }
        transmitters = CoverageHall.lattice(columns: 3, rows: 2).enumerated().map { ($0, $1, -60) }
    }

    var venue: Venue {
        let outline = [(0.0, 0.0), (30, 0), (30, 20), (0, 20)].map { MapPoint(x: $0.0, y: $0.1) }
        return CoverageHall.venue(beacons: beacons, walkable: [outline])
    }

    /// Returns one recording for each place: a stay of 3 s with three readings of each transmitter.
    func recordings(seed: UInt64 = 1) -> [SurveyRecording] {
        var generator = SeededGenerator(seed: seed)
        return places.map { place in
            var sightings: [Sighting] = []
            for second in 1...3 {
                for transmitter in transmitters {
                    let rssi = CoverageHall.rssi(of: transmitter.point, at: place, power: transmitter.power)
                    sightings.append(
                        Sighting(
                            instant: Instant(seconds: Double(second)),
                            beacon: CoverageHall.identity(transmitter.beacon), rssi: rssi + noise * generator.normal()))
                }
            }
            let waypoint = SurveyRecording.Waypoint(
                instant: .zero, mapID: CoverageHall.map, point: place, isHold: true)
            return SurveyRecording(waypoints: [waypoint], sightings: sightings)
        }
    }

    func radioMap(seed: UInt64 = 1) -> RadioMap? {
        var learner = RadioMapLearner(venue: venue)
        for recording in recordings(seed: seed) { learner.add(recording) }
        return learner.finish()
    }
}
