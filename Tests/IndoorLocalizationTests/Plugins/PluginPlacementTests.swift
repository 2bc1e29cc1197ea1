import IndoorLocalization
import XCTest

final class PluginPlacementTests: XCTestCase {
    private let running = LocalizationState.localizationRunning(RunningState(venue: SessionStage.office, mapID: 10))

    func testAPlaceInMetresNeedsOnlyTheNumberOfItsMap() throws {
        let placement = PluginPlacement(mapID: 11, place: .point(MapPoint(x: 1, y: 2)), radius: 3)
        for state in [LocalizationState.idle, .searchVenue, .findFloor(SessionStage.office), running] {
            XCTAssertEqual(
                try placement.fix(in: state),
                Fix(instant: .zero, mapID: 11, point: MapPoint(x: 1, y: 2), radius: 3), state.name)
        }
    }

    func testAPlacementWithoutAMapUsesTheDevicesMap() throws {
        let placement = PluginPlacement(place: .pixel(PixelPoint(x: 100, y: 200)), radius: 10)
        let fix = try XCTUnwrap(try placement.fix(in: running))
        XCTAssertEqual(fix.mapID, 10)
        XCTAssertEqual(fix.point, MapPoint(x: 10, y: 20), "ten pixels a metre")
        XCTAssertEqual(fix.radius, 1, accuracy: 1e-9)
        XCTAssertThrowsError(try placement.fix(in: .findFloor(SessionStage.office))) {
            XCTAssertEqual($0 as? PluginPlacementError, .noMap)
        }
    }

    func testAPlacementWithOnlyAHeadingGivesNoFix() throws {
        XCTAssertNil(try PluginPlacement(heading: 90).fix(in: .idle))
    }

    func testAPlaceThatIsOnNoMapIsAnError() {
        let pixel = FixPlace.pixel(PixelPoint(x: 1, y: 1))
        let point = FixPlace.point(MapPoint(x: 1, y: 1))
        let cases: [(PluginPlacement, LocalizationState, PluginPlacementError)] = [
            (PluginPlacement(mapID: 10, place: pixel), .searchVenue, .noVenue(pixel)),
            (PluginPlacement(mapID: 99, place: point), running, .unknownMap(99, venue: 1)),
            (PluginPlacement(mapID: 11, place: pixel), running, .fix(.noImageSize(11))),
            (PluginPlacement(mapID: 10, place: point, radius: 0), running, .fix(.invalidRadius(0))),
        ]
        for (placement, state, expected) in cases {
            XCTAssertThrowsError(try placement.fix(in: state), "\(expected)") {
                XCTAssertEqual($0 as? PluginPlacementError, expected)
            }
        }
    }
}
