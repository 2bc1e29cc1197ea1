import IndoorLocalizationTesting
import IndoorVocabulary
import VenueEditing
import VenueModel
import VenuePackets
import XCTest

final class SurveyChangesTests: XCTestCase {
    /// The office with a radio map of its beacons 1 to 3.
    private func office() throws -> Venue {
        var venue = try VenuePacketReader().read(try FixtureFolder("office").path).venue
        venue.radioMap = RadioMap(
            beacons: venue.beacons.prefix(3).map {
                RadioMap.Beacon(identity: $0.identity, mapID: $0.mapID, point: $0.point, power: -60)
            }, fingerprints: [], pathLossExponent: 2)
        return venue
    }

    func testAMovedAndARemovedBeaconOfTheSurveyAreNamed() throws {
        let old = try office()
        var new = old
        new.beacons[1].point.x += 0.5
        new.beacons.remove(at: 0)
        let changes = try XCTUnwrap(SurveyChanges(from: old, to: new))
        XCTAssertEqual(changes.moved, [old.beacons[1].name])
        XCTAssertEqual(changes.removed, [old.beacons[0].name])
    }

    func testABeaconThatMovesToAnotherFloorOrHeightIsNamed() throws {
        let old = try office()
        var new = old
        new.beacons[0].mapID = 2
        new.beacons[2].z = 1
        XCTAssertEqual(SurveyChanges(from: old, to: new)?.moved, [old.beacons[0].name, old.beacons[2].name])
    }

    func testTheSurveyStillAgreesAfterChangesOfOtherBeaconsAndOfRooms() throws {
        let old = try office()
        var new = old
        new.beacons[5].point.x += 1
        new.beacons.removeLast()
        new.rooms.removeAll()
        new.beacons[0].measuredPower = -70
        XCTAssertNil(SurveyChanges(from: old, to: new))
    }

    func testWithoutARadioMapNothingDisagrees() throws {
        let old = try office()
        var new = old
        new.radioMap = nil
        new.beacons[0].point.x += 3
        XCTAssertNil(SurveyChanges(from: old, to: new))
    }
}
