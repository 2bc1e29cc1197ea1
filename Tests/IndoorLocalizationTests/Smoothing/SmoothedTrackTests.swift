import XCTest

@testable import IndoorPositioning
import IndoorLocalization

final class SmoothedTrackTests: XCTestCase {
    private static func look(_ seconds: Double, _ map: MapID, x: Double, radius: Double) -> SmoothedTrack.Look {
        SmoothedTrack.Look(
            instant: Instant(seconds: seconds), mapID: map, probability: 0.9,
            estimate: .init(at: MapPoint(x: x, y: 5), radius: radius))
    }

    private let track = SmoothedTrack(looks: [
        look(1, 1, x: 2, radius: 1), look(2, 1, x: 4, radius: 3), look(3, 2, x: 8, radius: 1),
    ])

    func testBetweenTwoLooksOnOneMapPlaceAndRadiusAreInterpolated() {
        let look = track.look(at: Instant(seconds: 1.25))
        XCTAssertEqual(look?.instant, Instant(seconds: 1.25))
        XCTAssertEqual(look?.estimate.point, MapPoint(x: 2.5, y: 5))
        XCTAssertEqual(look?.estimate.radius, 1.5)
    }

    func testBetweenTwoMapsTheNearerLookCounts() {
        XCTAssertEqual(track.look(at: Instant(seconds: 2.25))?.mapID, 1)
        XCTAssertEqual(track.look(at: Instant(seconds: 2.25))?.estimate.point.x, 4)
        XCTAssertEqual(track.look(at: Instant(seconds: 2.75))?.mapID, 2)
        XCTAssertEqual(track.look(at: Instant(seconds: 2.75))?.estimate.point.x, 8)
    }

    func testAtALookItCountsAsItIs() {
        for look in track.looks { XCTAssertEqual(track.look(at: look.instant), look) }
    }

    func testOutsideTheRecordingThereIsNoLook() {
        XCTAssertNil(track.look(at: Instant(seconds: 0.9)))
        XCTAssertNil(track.look(at: Instant(seconds: 3.1)))
        XCTAssertNil(SmoothedTrack(looks: []).look(at: .zero))
    }
}
