import IndoorLocalization
import XCTest

final class SessionMemoryDocumentTests: XCTestCase {
    private var full: SessionMemory {
        var calibration = Calibration()
        calibration.rssiOffset = -3.25
        let stay = SessionMemory.Stay(
            venueID: 7, venueVersion: 3,
            places: [
                SessionMemory.Place(
                    mapID: 2, probability: 0.75, point: MapPoint(x: 3.5, y: -1), varianceX: 2, varianceY: 4,
                    covariance: -1)
            ], rooms: [.init(id: 4)], fences: [.init(id: 5, isTold: false)], geofences: [.init(id: "desk")],
            departures: [.init(id: 6, ago: .seconds(12))], geofenceDepartures: [.init(id: "lift", ago: .zero)])
        return SessionMemory(stay: stay, calibration: calibration, age: .milliseconds(1500))
    }

    /// A document with one value of it replaced.
    private func document(_ path: [String], _ value: JSONValue?) -> JSONValue {
        func put(_ document: JSONValue, _ path: ArraySlice<String>) -> JSONValue {
            guard let name = path.first else { return value ?? .null }
            if case .array(let values) = document, let index = Int(name) {
                var values = values
                values[index] = put(values[index], path.dropFirst())
                return .array(values)
            }
            guard case .object(var members) = document else { return document }
            members[name] = path.count == 1 ? value : put(members[name] ?? .null, path.dropFirst())
            return .object(members)
        }
        return put(full.document, path[...])
    }

    func testAWrittenDocumentIsReadUnchanged() throws {
        XCTAssertEqual(try SessionMemory(full.document), full)
        XCTAssertEqual(try SessionMemory(SessionMemory().document), SessionMemory())
    }

    func testUnknownMembersAreIgnored() throws {
        XCTAssertEqual(try SessionMemory(document(["stay", "weather"], "fine")), full)
    }

    func testEachWrongValueIsNamed() {
        let cases: [([String], JSONValue?, String)] = [
            (["age"], -1, "memory.age"), (["age"], nil, "memory.age"), (["age"], "old", "memory.age"),
            (["stay"], 5, "memory.stay"), (["stay", "venueId"], 1.5, "memory.stay.venueId"),
            (["stay", "places"], nil, "memory.stay.places"), (["stay", "rooms"], .object([:]), "memory.stay.rooms"),
            (["stay", "rooms", "0"], 1, "memory.stay.rooms[0]"),
            (["stay", "fences", "0", "isTold"], 1, "memory.stay.fences[0].isTold"),
            (["stay", "geofences", "0", "id"], 1, "memory.stay.geofences[0].id"),
            (["stay", "departures", "0", "ago"], -1, "memory.stay.departures[0].ago"),
            (["stay", "places", "0", "probability"], 1.1, "memory.stay.places[0].probability"),
            (["stay", "places", "0", "varianceX"], -0.1, "memory.stay.places[0].varianceX"),
            (["stay", "places", "0", "x"], 1e7, "memory.stay.places[0].x"),
            (["stay", "places", "0", "covariance"], 3, "memory.stay.places[0].covariance"),
            (["calibration", "stepScale"], 9, "memory.calibration"),
        ]
        for (path, value, named) in cases {
            XCTAssertThrowsError(try SessionMemory(document(path, value)), "\(path)") { error in
                XCTAssertTrue("\(error)".hasPrefix(named + " must be"), "\(path): \(error)")
            }
        }
        XCTAssertThrowsError(try SessionMemory(.array([])))
    }
}
