import IndoorLocalization
import XCTest

@testable import IndoorPositioning

/// Where on a plan a device can be.
final class FloorSpaceTests: XCTestCase {
    private static let grid = MapGrid(from: MapPoint(x: 0, y: 0), to: MapPoint(x: 10, y: 6), cellSize: 1)

    private static func space(walkable: [[MapPoint]]) -> FloorSpace {
        let map = VenueMap(id: 1, name: "", level: 0, width: 10, height: 6, walkable: walkable)
        var space = FloorSpace(venue: Venue(id: 1, name: "", maps: [map]))
        space.survey(0, by: grid)
        return space
    }

    private func expect(_ space: FloorSpace, _ x: Double, _ y: Double, _ isInside: Bool, line: UInt = #line) {
        XCTAssertEqual(space.contains(MapPoint(x: x, y: y), mapIndex: 0, by: Self.grid), isInside, line: line)
    }

    func testAPlanWithoutAreasIsAccessibleUpToItsEdge() {
        let space = Self.space(walkable: [])
        expect(space, 0.1, 0.1, true)
        expect(space, 9.9, 5.9, true)
        expect(space, -0.1, 3, false)
        expect(space, 5, 6.1, false)
    }

    func testAPlanWithAreasIsAccessibleInTheCellsThatTheyTouch() {
        // A corridor along the lower edge, and one along the left edge.
        let corners = [(0.0, 0.0), (10, 0), (10, 1.5), (1.5, 1.5), (1.5, 6), (0, 6)]
        let corridors = corners.map { MapPoint(x: $0.0, y: $0.1) }
        let space = Self.space(walkable: [corridors])
        expect(space, 9.5, 0.5, true)
        expect(space, 0.5, 5.5, true)
        expect(space, 1.9, 4.5, true)
        expect(space, 9.5, 1.9, true)
        expect(space, 2.5, 4.5, false)
        expect(space, 9.5, 2.5, false)
        expect(space, -0.1, 0.5, false)
    }
}
