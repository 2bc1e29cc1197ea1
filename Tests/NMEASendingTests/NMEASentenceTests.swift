import Foundation
import IndoorLocalization
import NMEASending
import XCTest

/// The sentences of positions.
final class NMEASentenceTests: XCTestCase {
    /// 25 November 2026, 21:16:38.729 UTC.
    private static let time = UnixTime(milliseconds: 1_795_641_398_729)

    /// A map of 20 m by 10 m whose top points to the bearing.
    private func venue(bearing: Double = 0, latitude: Double = 50.1109, longitude: Double = 8.6821) -> Venue {
        Venue(
            id: 1, name: "V", version: 1,
            maps: [
                VenueMap(
                    id: 1, name: "G", level: 0, width: 20, height: 10,
                    georeference: .center(Coordinate(latitude: latitude, longitude: longitude), bearing: bearing)),
                VenueMap(id: 2, name: "U", level: 1, width: 20, height: 10),
            ], beacons: [])
    }

    private func encoder(in venue: Venue) -> NMEAEncoder {
        var encoder = NMEAEncoder()
        XCTAssertEqual(encoder.sentences(for: .state(.findFloor(venue)), at: Self.time), [])
        return encoder
    }

    /// A position in the centre of the first map.
    private func position(in venue: Venue, _ change: (inout Position) -> Void = { _ in }) throws -> Position {
        let point = MapPoint(x: 10, y: 5)
        var position = Position(
            instant: .zero, venueID: 1, mapID: 1, point: point, radius: 1.9,
            coordinate: try venue.maps[0].geoTransform()?.coordinate(at: point))
        change(&position)
        return position
    }

    private func texts(_ sentences: [NMEASentence]) -> [String] { sentences.map(\.description) }

    /// The fields of the sentence of a type.
    private func fields(_ type: String, _ sentences: [NMEASentence]) throws -> [String] {
        try XCTUnwrap(sentences.first { $0.address == "GP" + type }).fields
    }

    func testAPositionIsACycleOfFourSentencesWithQualitySix() throws {
        let venue = venue()
        var encoder = encoder(in: venue)
        let position = try position(in: venue) { ($0.course, $0.speed) = (90, 1.2) }
        XCTAssertEqual(
            texts(encoder.sentences(for: .position(position), at: Self.time)),
            [
                "$GPGGA,211638.72,5006.654000,N,00840.926000,E,6,00,0.100,,M,,M,,*55",
                "$GPGSA,A,2,,,,,,,,,,,,,0.100,0.100,*1D",
                "$GPGST,211638.72,,1.26,1.26,0.0,1.26,1.26,*5D",
                "$GPRMC,211638.72,A,5006.654000,N,00840.926000,E,2.33,90.0,251126,,,E*5D",
            ])
    }

    func testTheChecksumIsThatOfAKnownSentence() throws {
        // A sentence of a receiver, from the Wikipedia article "NMEA 0183".
        let known = "$GPGGA,092750.000,5321.6802,N,00630.3372,W,1,8,1.03,61.7,M,55.2,M,,*76"
        let fields = known.dropFirst(7).prefix { $0 != "*" }.split(separator: ",", omittingEmptySubsequences: false)
        XCTAssertEqual(NMEASentence("GGA", fields.map(String.init)).description, known)
    }

    func testDegreesAndMinutesAreRoundedAsAWhole() throws {
        for (latitude, longitude, expected) in [
            (-33.999_999_999_9, 179.999_999_999_9, ["3400.000000", "S", "18000.000000", "E"]),
            (0.000_000_1, -0.5, ["0000.000006", "N", "00030.000000", "W"]),
            (-90.0, -180.0, ["9000.000000", "S", "18000.000000", "W"]),
        ] {
            let outside = OutdoorPosition(
                instant: .zero, coordinate: Coordinate(latitude: latitude, longitude: longitude), radius: 1)
            var encoder = NMEAEncoder()
            let sentences = encoder.sentences(for: .outdoorPosition(outside), at: Self.time)
            XCTAssertEqual(Array(try fields("GGA", sentences)[1...4]), expected)
            XCTAssertEqual(Array(try fields("RMC", sentences)[2...5]), expected)
        }
    }

    func testAnOutdoorPositionHasTheQualityOfASatelliteReceiver() throws {
        let outside = OutdoorPosition(
            instant: .zero, coordinate: Coordinate(latitude: 1, longitude: 2), radius: 9.5, altitude: 40, speed: 10,
            course: 359.97)
        var encoder = NMEAEncoder()
        let sentences = encoder.sentences(for: .outdoorPosition(outside), at: Self.time)
        XCTAssertEqual(try fields("GGA", sentences)[5...7], ["1", "00", "0.500"])
        XCTAssertEqual(try fields("RMC", sentences).suffix(6), ["19.44", "0.0", "251126", "", "", "A"].suffix(6))
    }

    func testTheDeviationsFollowTheBearingOfThePlan() throws {
        // 3 m along the plan's x axis, and 1 m along its y axis.
        let covariance = PositionCovariance(xx: 9, xy: 0, yy: 1)
        for (bearing, direction, latitude, longitude) in [
            (0.0, "90.0", "1.00", "3.00"), (90, "0.0", "3.00", "1.00"), (45, "135.0", "2.24", "2.24"),
        ] {
            let venue = venue(bearing: bearing)
            var encoder = encoder(in: venue)
            let position = try position(in: venue) { $0.covariance = covariance }
            let gst = try fields("GST", encoder.sentences(for: .position(position), at: Self.time))
            XCTAssertEqual(Array(gst[2...6]), ["3.00", "1.00", direction, latitude, longitude], "bearing \(bearing)")
        }
    }

    func testTheCourseIsThatOnEarth() throws {
        let venue = venue(bearing: 300)
        var encoder = encoder(in: venue)
        let position = try position(in: venue) { $0.course = 90 }
        let rmc = try fields("RMC", encoder.sentences(for: .position(position), at: Self.time))
        XCTAssertEqual(rmc[7], "30.0")
    }

    func testAPositionOnAMapWithoutGeoreferenceIsLeftOutAndCounted() throws {
        let venue = venue()
        var encoder = encoder(in: venue)
        let position = try position(in: venue) { ($0.mapID, $0.coordinate) = (2, nil) }
        XCTAssertEqual(encoder.sentences(for: .position(position), at: Self.time), [])
        XCTAssertEqual(encoder.omitted, 1)
    }

    func testOneCycleSaysThatThereIsNoPositionAfterTheLossOfTheVenue() throws {
        let venue = venue()
        var encoder = encoder(in: venue)
        XCTAssertEqual(encoder.sentences(for: .state(.searchVenue), at: Self.time), [], "no position before")
        _ = encoder.sentences(for: .state(.localizationRunning(RunningState(venue: venue, mapID: 1))), at: Self.time)
        _ = encoder.sentences(for: .position(try position(in: venue)), at: Self.time)
        XCTAssertEqual(encoder.sentences(for: .state(.findFloor(venue)), at: Self.time), [], "another floor")
        let lost = [
            "$GPGGA,211638.72,,,,,0,00,,,M,,M,,*42", "$GPGSA,A,1,,,,,,,,,,,,,,,*1E",
            "$GPRMC,211638.72,V,,,,,,,251126,,,N*74",
        ]
        XCTAssertEqual(texts(encoder.sentences(for: .state(.searchVenue), at: Self.time)), lost)
        XCTAssertEqual(encoder.sentences(for: .state(.idle), at: Self.time), [])
        _ = encoder.sentences(for: .position(try position(in: venue)), at: Self.time)
        XCTAssertEqual(texts(encoder.end(at: Self.time)), lost)
    }

    func testEverySentenceHasAtMost82CharactersAndAValidChecksum() throws {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<300 {
            let venue = venue(
                bearing: random.uniform() * 360, latitude: random.uniform() * 178 - 89,
                longitude: random.uniform() * 360 - 180)
            var encoder = encoder(in: venue)
            let huge = Double.random(in: -3...12, using: &random)
            let position = try position(in: venue) {
                $0.radius = pow(10, huge)
                $0.speed = pow(10, huge)
                $0.course = random.uniform() * 360
                $0.covariance = PositionCovariance(xx: pow(10, huge), xy: 0, yy: 1)
            }
            for sentence in encoder.sentences(for: .position(position), at: Self.time) {
                XCTAssertLessThanOrEqual(sentence.bytes.count, 82, sentence.description)
                let parts = sentence.description.dropFirst().split(separator: "*")
                let sum = parts[0].utf8.reduce(0, ^)
                XCTAssertEqual(UInt8(parts[1], radix: 16), sum, sentence.description)
            }
        }
    }

    func testDatesOfAllKindsAreRight() throws {
        for (seconds, date) in [
            (0, "010170"), (951_782_400, "290200"), (951_868_799, "290200"), (951_868_800, "010300"),
            (4_107_542_399, "280200"), (1_735_689_599, "311224"),
        ] {
            let outside = OutdoorPosition(
                instant: .zero, coordinate: Coordinate(latitude: 1, longitude: 2), radius: 1)
            var encoder = NMEAEncoder()
            let time = UnixTime(milliseconds: Int64(seconds) * 1000)
            XCTAssertEqual(try fields("RMC", encoder.sentences(for: .outdoorPosition(outside), at: time))[8], date)
        }
    }

    func testAVenueWithoutAGeoreferenceIsRefused() throws {
        var venue = venue()
        XCTAssertNoThrow(try venue.checkCoordinates())
        venue.maps[0].georeference = nil
        XCTAssertThrowsError(try venue.checkCoordinates()) { error in
            XCTAssertEqual(error as? NMEAError, .notGeoreferenced([1, 2]))
            XCTAssertTrue("\(error)".contains("give a center and bearing"), "\(error)")
        }
        venue.maps[1].georeference = .controlPoints([])
        XCTAssertThrowsError(try venue.checkCoordinates()) { error in
            XCTAssertEqual(error as? NMEAError, .wrongGeoreference(2, .tooFewControlPoints(0)))
        }
    }
}
