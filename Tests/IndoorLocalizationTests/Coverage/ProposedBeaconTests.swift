import IndoorLocalization
import XCTest

final class ProposedBeaconTests: XCTestCase {
    func testARemovedBeaconIsProposedAgainInASymmetricHall() throws {
        var beacons = CoverageHall.lattice(columns: 3, rows: 3)
        let removed = beacons.remove(at: 4)
        let proposals = CoverageAnalysis(venue: CoverageHall.venue(beacons: beacons)).proposedBeacons(count: 1)
        let proposed = try XCTUnwrap(proposals.first)
        XCTAssertEqual(proposed.mapID, CoverageHall.map)
        XCTAssertLessThan(proposed.point.distance(to: removed), 4)
    }

    func testEachProposalReducesTheMeanErrorOfTheOnesBefore() throws {
        let venue = CoverageHall.venue(beacons: [MapPoint(x: 3, y: 3)])
        let analysis = CoverageAnalysis(venue: venue)
        let before = try XCTUnwrap(analysis.expectedErrors(on: CoverageHall.map)?.meanError)
        let proposals = analysis.proposedBeacons(count: 4)
        XCTAssertEqual(proposals.count, 4)
        let errors = [before] + proposals.map(\.meanError)
        XCTAssertEqual(errors, errors.sorted(by: >))
        XCTAssertLessThan(errors[4], 0.6 * before)
        // The last mean error is that of a venue with all of these beacons.
        let all = CoverageHall.venue(beacons: venue.beacons.map(\.point) + proposals.map(\.point))
        let after = try XCTUnwrap(CoverageAnalysis(venue: all).expectedErrors(on: CoverageHall.map)?.meanError)
        XCTAssertEqual(after, errors[4], accuracy: 1e-6)
        XCTAssertNil(proposals[0].shareWithinTarget)
    }

    func testProposalsRaiseTheShareWithinTheTarget() throws {
        var settings = CoverageSettings()
        settings.target = 4
        let venue = CoverageHall.venue(beacons: CoverageHall.lattice(columns: 2, rows: 1))
        let proposals = CoverageAnalysis(venue: venue, settings: settings).proposedBeacons(count: 6)
        let shares = try proposals.map { try XCTUnwrap($0.shareWithinTarget) }
        XCTAssertGreaterThan(try XCTUnwrap(shares.last), shares[0] + 0.2)
    }

    func testProposalsAtWallsAreNearWalls() {
        var settings = CoverageSettings()
        settings.placement = .atWalls(within: 1.2)
        let outline = [
            MapPoint(x: 0, y: 0), MapPoint(x: 30, y: 0), MapPoint(x: 30, y: 20), MapPoint(x: 0, y: 20),
            MapPoint(x: 0, y: 0),
        ]
        let venue = CoverageHall.venue(beacons: [MapPoint(x: 15, y: 10)], walls: [outline])
        let proposals = CoverageAnalysis(venue: venue, settings: settings).proposedBeacons(count: 4)
        XCTAssertEqual(proposals.count, 4)
        for proposal in proposals {
            let point = proposal.point
            XCTAssertLessThanOrEqual(min(point.x, point.y, 30 - point.x, 20 - point.y), 1.2)
        }
    }

    func testAnUnknownMapHasNoErrorsAndNoProposals() {
        let analysis = CoverageAnalysis(venue: CoverageHall.venue(beacons: []))
        XCTAssertNil(analysis.expectedErrors(on: 9))
        XCTAssertEqual(analysis.proposedBeacons(count: 2, on: 9), [])
    }
}
