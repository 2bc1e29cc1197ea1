import Foundation
import IndoorLocalization
import LocalizationFigures
import ScanRecording
import XCTest

@testable import indoorloc

/// The simple methods, with values computed by hand.
final class SimpleMethodTests: XCTestCase {
    private static let uuid = BeaconUUID(high: 1, low: 2)
    private static func beacon(_ minor: UInt16) -> BeaconIdentity {
        BeaconIdentity(uuid: uuid, major: 1, minor: minor)
    }
    private static let map = MapID(rawValue: 1)
    private static func place(_ x: Double, _ y: Double) -> SimpleLocator.Place {
        SimpleLocator.Place(mapID: map, point: MapPoint(x: x, y: y))
    }

    /// A hall of 20 m × 20 m with a beacon in each corner.
    private static let venue: Venue = {
        let corners = [(0.0, 0.0), (20, 0), (0, 20), (20, 20)]
        return Venue(
            id: 1, name: "hall", version: 1,
            maps: [VenueMap(id: map, name: "hall", level: 0, width: 20, height: 20)],
            beacons: corners.enumerated().map { index, corner in
                VenueBeacon(
                    identity: beacon(UInt16(index + 1)), mapID: map, point: MapPoint(x: corner.0, y: corner.1),
                    measuredPower: -60)
            })
    }()

    private func locator(
        _ method: SimpleMethod, _ settings: SimpleMethodSettings = SimpleMethodSettings(),
        _ places: [(place: SimpleLocator.Place, levels: [BeaconIdentity: Double])] = []
    ) -> SimpleLocator {
        SimpleLocator(
            method, settings: settings, venue: Self.venue, survey: SimpleSurvey(places, venue: Self.venue))
    }

    func testTheStrongestBeaconIsThePosition() {
        let levels = [Self.beacon(1): -70.0, Self.beacon(2): -60, Self.beacon(3): -65, Self.beacon(9): -30]
        XCTAssertEqual(locator(.strongest).place(of: levels), Self.place(20, 0))
        XCTAssertNil(locator(.strongest).place(of: [Self.beacon(9): -30]), "the beacon is unknown")
    }

    func testTheCentroidIsWeightedByAmplitude() throws {
        // 20 dB are a factor of 10: the weights are 10 and 1, so that x is 20 / 11.
        let levels = [Self.beacon(1): -50.0, Self.beacon(2): -70]
        let place = try XCTUnwrap(locator(.centroid).place(of: levels))
        XCTAssertEqual(place.point.x, 20.0 / 11, accuracy: 1e-9)
        XCTAssertEqual(place.point.y, 0, accuracy: 1e-9)
    }

    func testMultilaterationFindsThePlaceOfExactLevels() throws {
        let truth = MapPoint(x: 6, y: 13)
        var levels: [BeaconIdentity: Double] = [:]
        for beacon in Self.venue.beacons {
            let square = pow(beacon.point.distance(to: truth), 2) + 1
            levels[beacon.identity] = -60 - 10 * log10(square)
        }
        let place = try XCTUnwrap(locator(.multilateration).place(of: levels))
        XCTAssertEqual(place.point.distance(to: truth), 0, accuracy: 1e-3)
        // Two beacons don't determine a position; it is the centroid.
        let two = levels.filter { $0.key.minor < 3 }
        XCTAssertEqual(locator(.multilateration).place(of: two), locator(.centroid).place(of: two))
    }

    func testThePathLossLawIsFittedToTheSurvey() throws {
        // Levels by a law with the exponent 3 and the powers -50 and -58.
        let points = [MapPoint(x: 1, y: 0), MapPoint(x: 5, y: 2), MapPoint(x: 9, y: 9), MapPoint(x: 15, y: 4)]
        let places = points.map { point in
            let pairs = [(1, -50.0), (2, -58.0)].map { minor, power in
                let square = pow(Self.venue.beacons[minor - 1].point.distance(to: point), 2) + 1
                return (Self.beacon(UInt16(minor)), power - 15 * log10(square))
            }
            return (Self.place(point.x, point.y), Dictionary(uniqueKeysWithValues: pairs))
        }
        let one = places.map { place, levels in (place: place, levels: levels.filter { $0.key.minor == 1 }) }
        let survey = SimpleSurvey(one, venue: Self.venue)
        XCTAssertEqual(survey.exponent, 3, accuracy: 1e-9)
        XCTAssertEqual(try XCTUnwrap(survey.beacons[0]).power, -50, accuracy: 1e-9)
        XCTAssertEqual(try XCTUnwrap(survey.beacons[1]).power, -60, "not received in the survey: that of the venue")
        XCTAssertEqual(SimpleSurvey([], venue: Self.venue).exponent, 2)
    }

    func testABeaconOutsideTheVenueIsWhereItWasReceived() throws {
        // The weights are 1 and 1/10.
        let places = [(Self.place(1, 1), -60.0), (Self.place(12, 1), -80)].map {
            (place: $0, levels: [Self.beacon(9): $1])
        }
        let survey = SimpleSurvey(places, venue: Self.venue)
        let beacon = try XCTUnwrap(survey.indexes[Self.beacon(9)].flatMap { survey.beacons[$0] })
        XCTAssertEqual(beacon.point.x, (1 + 1.2) / 1.1, accuracy: 1e-9)
    }

    func testTheNearestFingerprintsAreAveraged() throws {
        let places = [
            (place: Self.place(0, 0), levels: [Self.beacon(1): -60.0]),
            (place: Self.place(4, 0), levels: [Self.beacon(1): -63.0]),
            (place: Self.place(20, 0), levels: [Self.beacon(2): -60.0]),
        ]
        var settings = SimpleMethodSettings()
        (settings.neighbors, settings.weights) = (2, .uniform)
        let levels = [Self.beacon(1): -60.0]
        XCTAssertEqual(locator(.knn, settings, places).place(of: levels)?.point.x, 2)
        // At distances of 0 and 3 dB, the weights are 1 and 1/4: x is 1 / 1.25.
        settings.weights = .distance
        let weighted = try XCTUnwrap(locator(.knn, settings, places).place(of: levels))
        XCTAssertEqual(weighted.point.x, 0.8, accuracy: 1e-9)
        // The third fingerprint lacks beacon 1 and has beacon 2: √(30² + 30²) dB with -90 dBm for missing beacons.
        (settings.neighbors, settings.missing) = (3, -90)
        let third = 1 / (1800.0.squareRoot() + 1)
        let all = try XCTUnwrap(locator(.knn, settings, places).place(of: levels))
        XCTAssertEqual(all.point.x, (4 * 0.25 + 20 * third) / (1.25 + third), accuracy: 1e-9)
        XCTAssertNil(locator(.knn).place(of: levels), "there is no survey")
    }

    private func sighting(_ seconds: Double, _ rssi: Double) -> Sighting {
        Sighting(instant: Instant(seconds: seconds), beacon: Self.beacon(1), rssi: rssi)
    }

    func testAWindowExcludesItsStartAndIncludesItsEnd() {
        let windows = LevelWindows([sighting(1, -50), sighting(2, -60), sighting(3, -70), sighting(3, 127)])
        XCTAssertEqual(windows.means(after: 1, upTo: 3), [Self.beacon(1): -65])
        XCTAssertEqual(windows.means(after: 3, upTo: 9), [:])
    }

    func testASurveyHasAPlaceForEachStayAndEachSecondOfAWalk() {
        func waypoint(_ seconds: Double, _ x: Double, isHold: Bool) -> SurveyRecording.Waypoint {
            SurveyRecording.Waypoint(
                instant: Instant(seconds: seconds), mapID: Self.map, point: MapPoint(x: x, y: 0), isHold: isHold)
        }
        let stay = SurveyRecording(
            waypoints: [waypoint(0, 3, isHold: true)], sightings: [sighting(0, -50), sighting(30, -60)])
        let places = SimpleSurvey.places(in: stay, settings: SimpleMethodSettings(), weakestKept: -.infinity)
        XCTAssertEqual(places.map(\.place), [Self.place(3, 0)])
        XCTAssertEqual(places.map(\.levels), [[Self.beacon(1): -55]])
        let walk = SurveyRecording(
            waypoints: [waypoint(0, 0, isHold: false), waypoint(2.5, 5, isHold: false), waypoint(4, 5, isHold: false)],
            sightings: [sighting(0.5, -50), sighting(3, -70)])
        let steps = SimpleSurvey.places(in: walk, settings: SimpleMethodSettings(), weakestKept: -.infinity)
        XCTAssertEqual(steps.map(\.place.point.x), [0, 2, 4, 5, 5])
        XCTAssertEqual(steps.map { $0.levels[Self.beacon(1)] }, [-50, -60, -60, -70, -70])
    }

    func testAPlaceThatWasLeftHasNoReadingsOfElsewhere() {
        var stay = SurveyRecording.Waypoint(
            instant: .zero, mapID: Self.map, point: MapPoint(x: 3, y: 0), isHold: true)
        stay.leftAt = Instant(seconds: 10)
        let survey = SurveyRecording(waypoints: [stay], sightings: [sighting(1, -50), sighting(30, -90)])
        let places = SimpleSurvey.places(in: survey, settings: SimpleMethodSettings(), weakestKept: -.infinity)
        XCTAssertEqual(places.map(\.levels), [[Self.beacon(1): -50]])
    }

    func testTheWindowOfAStayBeginsWithIt() {
        let hold = Truth(
            instant: Instant(seconds: 10), mapID: Self.map, point: MapPoint(x: 0, y: 0), isHold: true)
        let sightings = [sighting(9, -50), sighting(11, -60), sighting(29, -70)]
        let positions = locator(.strongest).positions(
            from: sightings, truths: [hold], end: Instant(seconds: 40), in: 1)
        // Until 12 s there is the reading at 9 s or 11 s, then the stay's last 20 s.
        XCTAssertEqual(positions.first?.instant.seconds, 9)
        XCTAssertEqual(positions.last?.instant.seconds, 40)
        XCTAssertTrue(positions.allSatisfy { $0.radius.isNaN })
    }

    /// The times of a recording may count from 1970.
    func testTheSecondsOfATrackBeginWithItsFirstReading() throws {
        func times(from origin: Double) throws -> [Double] {
            let sightings = [sighting(origin + 9.5, -50), sighting(origin + 11, -60)]
            let end = Instant(seconds: origin + 15)
            // Only the first one, because a sequence from 1970 on would fill the memory.
            let first = SimpleLocator.seconds(of: sightings, until: end).first { _ in true }
            guard first == origin + 10 else { throw CommandError(description: "the first second is \(first ?? .nan)") }
            return locator(.strongest).positions(from: sightings, truths: [], end: end, in: 1).map {
                $0.instant.seconds - origin
            }
        }
        let usual = try times(from: 0)
        XCTAssertEqual(usual.first, 10)
        XCTAssertEqual(try times(from: 1_767_225_600), usual)
        XCTAssertTrue(SimpleLocator.seconds(of: [], until: Instant(seconds: 1_767_225_600.5)).allSatisfy { _ in false })
    }
}

/// The positions after the start of a track.
final class StartScorerTests: XCTestCase {
    func testTheLastPositionUntilTheInstantCounts() {
        let map = MapID(rawValue: 1)
        let venue = Venue(
            id: 1, name: "hall", version: 1,
            maps: [VenueMap(id: map, name: "hall", level: 0, width: 50, height: 20)], beacons: [])
        func truth(_ seconds: Double, _ x: Double) -> Truth {
            Truth(instant: Instant(seconds: seconds), mapID: map, point: MapPoint(x: x, y: 0), isHold: false)
        }
        func position(_ seconds: Double, _ x: Double) -> Position {
            Position(
                instant: Instant(seconds: seconds), venueID: 1, mapID: map, point: MapPoint(x: x, y: 0), radius: 2)
        }
        var scorer = StartScorer()
        // The device walks 1 m/s; its readings begin at 2 s, and the ground truth ends at 13 s.
        scorer.add(
            truths: [truth(0, 0), truth(13, 13)], first: Instant(seconds: 2),
            positions: [position(3.5, 3), position(7, 9)], in: venue)
        XCTAssertEqual(scorer.figures.map(\.count), [1, 1, 1, 1, 0])
        XCTAssertEqual(scorer.figures.map(\.answered), [0, 1, 1, 1, nil])
        XCTAssertEqual(scorer.figures.map { $0.median.map { ($0 * 1000).rounded() / 1000 } }, [nil, 1, 2, 3, nil])
        XCTAssertEqual(scorer.figures.map(\.radius), [nil, 2, 2, 2, nil])
    }

    func testAPositionOnAnotherFloorIsAnAnswerWithoutAnError() {
        let maps = [0, 1].map { VenueMap(id: MapID(rawValue: $0), name: "", level: $0, width: 50, height: 20) }
        let venue = Venue(id: 1, name: "hall", version: 1, maps: maps, beacons: [])
        let stay = Truth(instant: .zero, mapID: maps[0].id, point: MapPoint(x: 1, y: 1), isHold: true)
        let upstairs = Position(
            instant: .zero, venueID: 1, mapID: maps[1].id, point: MapPoint(x: 1, y: 1), radius: 2)
        var scorer = StartScorer()
        scorer.add(truths: [stay], first: .zero, positions: [upstairs], in: venue)
        XCTAssertEqual(scorer.figures.map(\.answered), [1, 1, 1, 1, 1])
        XCTAssertEqual(scorer.figures.map(\.median), [nil, nil, nil, nil, nil])
    }
}

/// Files of errors.
final class ErrorTableTests: XCTestCase {
    private func series(_ text: String) throws -> [ErrorSeries] { try ErrorTable.series(of: Array(text.utf8)) }

    func testAFileOfAnotherProgramNeedsOnlyMethodAndError() throws {
        let series = try series("error,method\n1.5,theirs\n,theirs\n2,\"other, too\"\n0.5,theirs\n")
        XCTAssertEqual(series.map(\.name), ["theirs", "other, too"])
        XCTAssertEqual(series.map(\.sorted), [[0.5, 1.5], [2]])
    }

    func testTheErrorIsComputedFromPositions() throws {
        let text = "method,true_x,true_y,x,y,floor_right,track\na,0,0,3,4,1,one\na,0,0,9,9,0,one\na,1,1,1,3,1,two\n"
        let series = try series(text)
        XCTAssertEqual(series.map(\.sorted), [[2, 5]])
        XCTAssertEqual(series.first?.tracks.map(\.name), ["one", "two"])
    }

    /// Each chart of the error over time is of one track of the first method.
    func testTracksOfOneNameCorrespondInTheirOrder() throws {
        let names = "method,track,seed,error\n"
        let other = try XCTUnwrap(try series(names + "a,one,0,0\na,one,1,0\na,two,0,0\na,two,1,0\na,three,0,0\n").first)
        let some = try XCTUnwrap(try series(names + "b,two,0,3\nb,one,0,1\nb,one,1,2\nb,four,0,4\n").first)
        let tracks = some.aligned(to: other).tracks
        XCTAssertEqual(tracks.map(\.name), ["one", "one", "two", "two", "three", "four"])
        XCTAssertEqual(tracks.map { $0.samples.map(\.error) }, [[1], [2], [3], [3], [], [4]])
        let strange = try XCTUnwrap(try series(names + "c,five,0,5\n").first)
        XCTAssertEqual(strange.aligned(to: other).tracks.map(\.name), ["five"])
    }

    func testTheFloorIsRightByAnyWordForYes() throws {
        let words = ["1", "True", "YES", "", "1.0", "0", "FALSE", "no", "0.0"]
        let text = "method,floor_right,error\n" + words.enumerated().map { "a,\($1),\($0)\n" }.joined()
        XCTAssertEqual(try series(text).map(\.sorted), [[0, 1, 2, 3, 4]])
    }

    func testADefectHasItsLine() throws {
        for (text, line, words) in [
            ("", 1, "the file is empty"), ("method,x\n", 1, "must name the columns method and error"),
            ("method,error\na,1\na,much\n", 3, "error must be a number, not 'much'"),
            ("method,error\na,-1\n", 2, "error must be at least 0"),
            (
                "method,error\na,1,\na,2,5\n", 3,
                "the line has 3 fields, but the first line has 2; write decimals with a point"
            ),
            ("method,error,floor_right\na,1,wrong\n", 2, "floor_right must be 0 or 1, not 'wrong'"),
        ] {
            XCTAssertThrowsError(try series(text), text) { error in
                let failure = error as? ErrorTable.Failure
                XCTAssertEqual(failure?.line, line, text)
                XCTAssertTrue(failure?.message.contains(words) == true, "\(error)")
            }
        }
    }
}

/// `evaluate` with several methods and seeds.
final class MethodComparisonTests: XCTestCase {
    private static let set = "Fixtures/real/openhps"

    private func evaluate(_ arguments: String..., status: Int32 = 0) throws -> Tool.Result {
        let result = try Tool.run(["evaluate"] + arguments)
        XCTAssertEqual(result.status, status, "\(arguments): \(result.errors)")
        return result
    }

    func testEachMethodHasALine() throws {
        let lines = try evaluate(Self.set, "--method", "knn,trilateration", "--method", "centroid").lines
        XCTAssertEqual(
            lines.map { String($0.prefix { $0 != ":" }) }, ["openhps knn", "openhps trilateration", "openhps centroid"])
        XCTAssertTrue(lines[0].contains("mean 5.27  median 3.68"), String(lines[0]))
        XCTAssertTrue(lines[0].hasSuffix("inside radius - of -"), String(lines[0]))
        let one = try evaluate(Self.set, "--method", "trilateration").lines
        XCTAssertEqual(one.map(String.init), [String(lines[1]).replacing("openhps trilateration", with: "openhps")])
    }

    func testTheParametersOfKnnChangeItsFigures() throws {
        func mean(_ options: [String]) throws -> Double {
            let result = try Tool.run(["evaluate", Self.set, "--method", "knn", "--json"] + options)
            return try XCTUnwrap(ShortDataSet.figures(result.output)["mean"] as? Double, result.errors)
        }
        let usual = try mean([])
        XCTAssertEqual(
            try mean(["--neighbors", "9", "--weights", "distance", "--missing=-105", "--window", "20"]), usual)
        for option in [["--neighbors", "1"], ["--weights", "uniform"], ["--missing=-90"], ["--window", "1"]] {
            XCTAssertNotEqual(try mean(option), usual, "\(option)")
        }
    }

    func testSeveralSeedsHaveMeanAndDeviation() throws {
        let set = try ShortDataSet.write(to: temporaryFolder())
        func mean(_ seed: String) throws -> Double {
            let result = try Tool.run(["evaluate", set, "--json", "--seed", seed] + ShortDataSet.light)
            return try XCTUnwrap(ShortDataSet.figures(result.output)["mean"] as? Double, result.errors)
        }
        let (first, second) = (try mean("1"), try mean("2"))
        let both = try Tool.run(["evaluate", set, "--json", "--seeds", "1-2"] + ShortDataSet.light)
        let figures = try ShortDataSet.figures(both.output)
        XCTAssertEqual(try XCTUnwrap(figures["mean"] as? Double), (first + second) / 2, accuracy: 1e-4)
        XCTAssertEqual(figures["seeds"] as? [Int], [1, 2])
        let deviation = try XCTUnwrap((figures["deviation"] as? [String: Any])?["mean"] as? Double)
        XCTAssertEqual(deviation, abs(first - second) / 2.0.squareRoot(), accuracy: 1e-4)
        let text = try Tool.run(["evaluate", set, "--seeds", "1", "--seeds", "2"] + ShortDataSet.light).output
        XCTAssertTrue(text.contains("mean \(String(format: "%.2f", (first + second) / 2)) ± "), text)
    }

    func testTablesForAPaper() throws {
        let latex = try evaluate(Self.set, "--method", "knn,strongest", "--format", "latex").output
        let lines = latex.split(separator: "\n")
        XCTAssertTrue(lines[0].hasPrefix("% openhps, indoorloc "), latex)
        XCTAssertEqual(lines[1], "\\begin{tabular}{lrrrrrrrrr}")
        XCTAssertEqual(lines[5], "knn & 16 & 100.0\\,\\% & 100.0\\,\\% & 5.27 & 3.68 & 4.67 & 11.99 & 18.17 & -- \\\\")
        let markdown = try evaluate(Self.set, "--method", "knn", "--seeds", "0-1", "--format", "markdown").lines
        XCTAssertEqual(markdown.count, 3)
        XCTAssertTrue(
            markdown[2].hasPrefix("| knn | 16 | 100.0 ± 0.0 % | 100.0 ± 0.0 % | 5.27 ± 0.00 |"), "\(markdown)")
    }

    func testSeveralMethodsGoWithOtherConditions() throws {
        let lines = try evaluate(Self.set, "--method", "strongest,knn", "--shift=0,10", "--deaf", "0.2").lines
        XCTAssertEqual(
            lines.map { String($0.prefix { $0 != ":" }) },
            [
                "openhps strongest deaf 0.20 0.0 dB", "openhps knn deaf 0.20 0.0 dB",
                "openhps strongest deaf 0.20 10.0 dB", "openhps knn deaf 0.20 10.0 dB",
            ])
        func figures(_ line: Substring) -> Substring { line.drop { $0 != ":" } }
        XCTAssertEqual(figures(lines[0]), figures(lines[2]), "the strongest beacon stays the strongest")
        XCTAssertNotEqual(figures(lines[1]), figures(lines[3]))
    }

    func testTheErrorsAreThoseOfTheScoreAndCanBeDrawn() throws {
        let folder = try temporaryFolder()
        let file = folder + "/errors.csv"
        let line = try evaluate(Self.set, "--method", "knn,strongest", "--errors", file).lines[0]
        let rows = String(decoding: try bytes(file), as: UTF8.self).split(separator: "\n").map {
            $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        XCTAssertEqual(rows[0], ErrorTable.columns)
        XCTAssertEqual(rows.count, 33)
        XCTAssertEqual(Array(rows[1][0...3]), ["openhps", "point003", "knn", "0"])
        XCTAssertEqual(rows[1].last, "1")
        let errors = rows.filter { $0[2] == "knn" }.compactMap { Double($0[11]) }
        let mean = String(format: "%.2f", errors.reduce(0, +) / 16)
        XCTAssertTrue(line.contains("mean \(mean) "), "\(line) \(mean)")
        let theirs = folder + "/theirs.csv"
        try "method,error\nours & theirs,1\nours & theirs,2\n".write(toFile: theirs, atomically: true, encoding: .utf8)
        let figure = try Tool.run(["plot", "error", "--errors", file, "--errors", theirs])
        XCTAssertEqual(figure.status, 0, figure.errors)
        for text in ["knn: mean \(mean) m; n = 16", "ours &amp; theirs: mean 1.50 m; n = 2"] {
            XCTAssertTrue(figure.output.contains(text), text)
        }
        let beside = try Tool.run(["plot", "error", "--method", "knn", "--errors", theirs, Self.set])
        XCTAssertEqual(beside.status, 0, beside.errors)
        XCTAssertTrue(beside.output.contains("error of knn, ours &amp; theirs"), beside.errors)
    }

    /// The tracks of the seeds have the same name, and so can tracks of several data sets.
    func testADistributionHasTheErrorsOfAllSeeds() throws {
        let file = try temporaryFolder() + "/errors.csv"
        func rows(_ method: String, _ errors: [Double]) -> String {
            errors.enumerated().map { "walk,\(method),\($0),\($1)\n" }.joined()
        }
        func lines(_ rows: String...) throws -> Set<Substring> {
            let text = "track,method,seed,error\n" + rows.joined()
            try text.write(toFile: file, atomically: true, encoding: .utf8)
            let figure = try Tool.run(["plot", "error", "--errors", file])
            XCTAssertEqual(figure.status, 0, figure.errors)
            // Without the lines of the legend, whose places depend on the order of the methods: they have no L.
            return Set(figure.output.matches(of: /d="(M[^"]*L[^"]*)"/).map { $0.output.1 })
        }
        let (one, other) = (rows("one", [1, 1, 1]), rows("other", [1, 9, 9]))
        let drawn = try lines(one, other)
        XCTAssertGreaterThan(drawn.count, 4, "the axes, two shares and two methods")
        XCTAssertEqual(drawn, try lines(other, one))
    }

    func testStartHasALineForEachDelay() throws {
        let set = try ShortDataSet.write(to: temporaryFolder())
        let result = try Tool.run(["evaluate", set, "--start"] + ShortDataSet.light)
        XCTAssertEqual(
            result.lines.dropFirst().map { String($0.prefix { $0 != ":" }) },
            ["1", "2", "5", "10", "20"].map { "set after \($0) s" })
        let json = try ShortDataSet.figures(
            Tool.run(["evaluate", set, "--start", "--json"] + ShortDataSet.light).output)
        let start = try XCTUnwrap(json["start"] as? [[String: Any]])
        XCTAssertEqual(start.map { $0["after"] as? Int }, [1, 2, 5, 10, 20])
        XCTAssertEqual(start.first?["answered"] as? Double, 1)
    }

    func testContradictoryOptionsAreRefused() throws {
        for (arguments, words) in [
            (
                ["--method", "guess"],
                "must be one of particle, fingerprint, trilateration, strongest, centroid, multilateration, knn, not 'guess'"
            ),
            (["--seeds", "4-1"], "--seeds must be numbers such as 0,3 or a range such as 0-4, not '4-1'"),
            (["--seeds", "1", "--seed", "1"], "--seeds can't be combined with --seed"),
            (["--json", "--format", "latex"], "--json can't be combined with --format latex"),
            (["--format", "pdf"], "--format must be one of text, json, markdown, latex, not 'pdf'"),
            (["--method", "knn,particle", "--set", "positioning.method=fingerprint"], "--method contradicts --set"),
            (["--method", "knn,particle", "--replays", "no"], "--replays allows only one method and one seed"),
            (["--errors", "no.csv", "--shift=0,1"], "--errors allows only one value of --shift"),
            (["--weights", "heavy"], "--weights must be uniform or distance, not 'heavy'"),
            (["--missing", "5"], "--missing must be a number of dBm from -200 to 0, not '5'"),
            (["--motion", "--method", "knn"], "--motion can't be combined with --method"),
        ] {
            let result = try Tool.run(["evaluate", Self.set] + arguments)
            XCTAssertEqual(result.status, 2, "\(arguments)")
            XCTAssertTrue(result.errors.contains(words), "\(arguments): \(result.errors)")
        }
        let result = try evaluate("Fixtures/real/kolakowski", "--method", "knn", status: 1)
        XCTAssertTrue(result.errors.contains("the method knn requires a survey or a radio map"), result.errors)
    }
}
