import IndoorLocalization
import TemporaryFiles
import VenueExchange
import VenuePackets
import XCTest

/// Routes in coordinates, as JSON.
final class RouteDocumentTests: XCTestCase {
    /// Two floors whose tops point east, joined by an elevator.
    private func venue(_ georeference: Georeference? = .center(Coordinate(latitude: 52, longitude: 13), bearing: 90))
        -> Venue
    {
        let nodes = [(1, 1, 10.0, 10.0), (2, 1, 30, 10), (3, 1, 30, 20), (4, 2, 30, 20), (5, 2, 10, 20)].map {
            PathGraph.Node(id: $0.0, mapID: MapID(rawValue: $0.1), point: MapPoint(x: $0.2, y: $0.3))
        }
        let edges = [
            PathGraph.Edge(from: 1, to: 2), PathGraph.Edge(from: 2, to: 3),
            PathGraph.Edge(from: 3, to: 4, kind: .elevator), PathGraph.Edge(from: 4, to: 5),
        ]
        return Venue(
            id: 1, name: "office",
            maps: [1, 2].map { number in
                VenueMap(
                    id: MapID(rawValue: number), name: "floor", level: number - 1, width: 40, height: 30,
                    georeference: georeference)
            }, paths: PathGraph(nodes: nodes, edges: edges))
    }

    private func route(_ venue: Venue) throws -> Route {
        var planner = RoutePlanner(venue: venue)
        return try planner.route(
            from: RoutePoint(mapID: 1, point: MapPoint(x: 10, y: 10)),
            to: RoutePoint(mapID: 2, point: MapPoint(x: 10, y: 20)))
    }

    func testLegsHaveTheirBeginEndLengthAndDirection() throws {
        let venue = venue()
        let document = try RouteDocument(try route(venue), in: venue)
        XCTAssertEqual(document.legs.map { $0.length.rounded() }, [20, 10, 0, 20])
        // To the right of a plan whose top points east is south.
        for (leg, direction) in zip(document.legs, [180.0, 270, 270, 0]) {
            let difference = abs(leg.direction - direction)
            XCTAssertEqual(min(difference, 360 - difference), 0, accuracy: 0.01, "\(leg)")
        }
        XCTAssertEqual(document.legs.map(\.begin.floor), [0, 0, 0, 1])
        XCTAssertEqual(document.legs.map(\.end.floor), [0, 0, 1, 1])
        let first = document.legs[0]
        XCTAssertEqual(first.begin.coordinate.distance(to: first.end.coordinate), 20, accuracy: 0.1)
        XCTAssertEqual(document.legs[1].begin, first.end)
    }

    func testADocumentIsWrittenAndReadAgain() throws {
        let venue = venue()
        let document = try RouteDocument(try route(venue), in: venue)
        XCTAssertEqual(try RouteDocument(document.bytes), document)
        let leg = RouteDocument.Leg(
            begin: RouteDocument.Point(coordinate: Coordinate(latitude: 52.5, longitude: 13.25), floor: 0),
            end: RouteDocument.Point(coordinate: Coordinate(latitude: 52.5, longitude: 13.5), floor: -1), length: 12.5,
            direction: 90)
        XCTAssertEqual(
            String(decoding: RouteDocument(legs: [leg]).bytes, as: UTF8.self),
            """
            {"legs":[{"begin":{"floor":0,"latitude":52.5,"longitude":13.25},"direction":90,\
            "end":{"floor":-1,"latitude":52.5,"longitude":13.5},"length":12.5}]}
            """)
        XCTAssertEqual(try RouteDocument(Array(#"{"legs":[]}"#.utf8)).legs, [])
    }

    func testTheErrorOfABrokenDocumentNamesTheProblem() {
        let point = #"{"latitude":1,"longitude":2,"floor":0}"#
        for (text, words) in [
            ("{", "not JSON"), ("[]", "$.legs"), (#"{"legs":[1]}"#, "$.legs[0] is 1"),
            (#"{"legs":[{"end":\#(point)}]}"#, "$.legs[0].begin"),
            (#"{"legs":[{"begin":\#(point),"end":{"latitude":91,"longitude":2,"floor":0}}]}"#, "$.legs[0].end is no"),
            (#"{"legs":[{"begin":\#(point),"end":{"latitude":1,"longitude":2,"floor":0.5}}]}"#, "end.floor"),
            (#"{"legs":[{"begin":\#(point),"end":\#(point),"length":"far"}]}"#, "length is the text"),
            (#"{"legs":[{"begin":\#(point),"end":\#(point),"length":1}]}"#, "direction is missing"),
        ] {
            XCTAssertThrowsError(try RouteDocument(Array(text.utf8))) { error in
                XCTAssertTrue("\(error)".contains(words), "\(error)")
            }
        }
    }

    func testARouteOnAMapWithoutGeoreferenceIsRefused() throws {
        let venue = venue(nil)
        let route = try route(venue)
        XCTAssertThrowsError(try RouteDocument(route, in: venue)) { error in
            XCTAssertEqual(error as? RouteDocumentError, .notGeoreferenced(1))
            XCTAssertTrue("\(error)".contains("map 1"), "\(error)")
        }
    }
}
