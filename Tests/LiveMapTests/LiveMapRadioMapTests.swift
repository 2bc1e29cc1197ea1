import Foundation
import IndoorLocalization
import LiveMap
import XCTest

final class LiveMapRadioMapTests: XCTestCase {
    private let identity = BeaconIdentity(uuid: BeaconUUID(high: 0, low: 9), major: 1, minor: 2)

    /// Returns a room of 20 × 10 m with one beacon, surveyed in its left half.
    private func venue() throws -> Venue {
        let map = VenueMap(id: 1, name: "Room", level: 0, width: 20, height: 10)
        let beacon = VenueBeacon(identity: identity, mapID: 1, point: MapPoint(x: 2, y: 5), measuredPower: -60)
        var venue = Venue(id: 1, name: "Room", maps: [map], beacons: [beacon])
        var learner = RadioMapLearner(venue: venue)
        for x in stride(from: 1.0, to: 10, by: 2) {
            for y in stride(from: 1.0, to: 10, by: 2) {
                let rssi = -60 - 8 * MapPoint(x: x, y: y).distance(to: beacon.point).squareRoot()
                learner.add(
                    SurveyRecording(
                        waypoints: [.init(instant: .zero, mapID: 1, point: MapPoint(x: x, y: y), isHold: true)],
                        sightings: [
                            Sighting(instant: Instant(seconds: 1), beacon: identity, rssi: rssi),
                            Sighting(instant: Instant(seconds: 2), beacon: identity, rssi: rssi),
                        ]))
            }
        }
        venue.radioMap = try XCTUnwrap(learner.finish())
        return venue
    }

    private func bytes(_ text: String) throws -> [UInt8] { Array(try XCTUnwrap(Data(base64Encoded: text))) }

    func testTheGridHasTheExpectedRSSIOfTheRadioMap() throws {
        let content = LiveMapRadioMap(venue: try venue())
        XCTAssertEqual(content.beacons.map(\.id), [identity.description])
        let grid = try XCTUnwrap(content.beacons.first?.grids.first)
        XCTAssertEqual([grid.mapId, grid.columns, grid.rows], [1, 40, 20])
        XCTAssertEqual(grid.cellSize, 0.5)
        let expected = try bytes(grid.expected).map { Int8(bitPattern: $0) }
        let deviation = try bytes(grid.deviation)
        XCTAssertEqual(expected.count, 800)
        XCTAssertEqual(deviation.count, 800)
        // Cells at (2.25, 5.25) and (9.25, 5.25).
        XCTAssertGreaterThan(expected[10 * 40 + 4], expected[10 * 40 + 18])
        XCTAssertEqual(Double(expected[10 * 40 + 18]), -60 - 8 * 7.25.squareRoot(), accuracy: 3)
        // The survey's end is less certain than its middle.
        XCTAssertGreaterThan(deviation[10 * 40 + 39], deviation[10 * 40 + 8])
    }

    func testTheSurveyHasItsResidualsAndItsGap() throws {
        let venue = try venue()
        let content = LiveMapRadioMap(venue: venue)
        XCTAssertEqual(content.survey.count, 25)
        XCTAssertEqual(content.survey[0].readings, 2)
        XCTAssertEqual(content.residuals.count, 25)
        XCTAssertLessThan(content.residuals.map { abs($0.rssi - $0.predicted) }.max() ?? .infinity, 6)
        let gap = try XCTUnwrap(content.surveyGaps?.first)
        XCTAssertEqual(content.surveyGaps?.count, 1)
        XCTAssertEqual(gap.cells.count, 2 * Int(gap.area))
        XCTAssertEqual(gap.area, 60, accuracy: 15)
        XCTAssertGreaterThan(gap.x, 18)
        XCTAssertTrue(
            content.advice?.contains { $0.hasPrefix("Walk the bottom right of Room") } == true,
            "\(content.advice ?? [])")
        XCTAssertNil(content.beacons[0].findings)
    }

    func testABeaconThatTheSurveyContradictsHasFindings() throws {
        var venue = try venue()
        venue.beacons[0].point = MapPoint(x: 18, y: 5)
        let findings = try XCTUnwrap(LiveMapRadioMap(venue: venue).beacons[0].findings)
        XCTAssertTrue(findings[0].hasPrefix("Check the place of beacon \(identity)"), "\(findings)")
    }

    func testTheGridsStayWithinTheLimit() throws {
        let venue = try venue()
        let content = LiveMapRadioMap(venue: venue, limit: 300)
        let grid = try XCTUnwrap(content.beacons.first?.grids.first)
        XCTAssertLessThanOrEqual(2 * grid.columns * grid.rows, 300)
        XCTAssertGreaterThan(grid.cellSize, 0.5)
        XCTAssertEqual(LiveMapRadioMap(venue: venue, limit: 10).beacons.map(\.grids.count), [0])
    }

    func testAVenueWithoutRadioMapHasPathLossAndNoSurvey() throws {
        var venue = try venue()
        venue.radioMap = nil
        let content = LiveMapRadioMap(venue: venue)
        XCTAssertEqual(content.beacons.first?.grids.count, 1)
        XCTAssertEqual(content.survey, [])
        XCTAssertEqual(content.residuals, [])
        XCTAssertNil(content.surveyGaps)
        XCTAssertNil(content.advice)
    }

    func testTheContentIsEncodedAndDecodedAsJSON() throws {
        let content = LiveMapRadioMap(venue: try venue())
        XCTAssertEqual(
            try JSONDecoder().decode(LiveMapRadioMap.self, from: JSONEncoder().encode(content)), content)
    }
}
