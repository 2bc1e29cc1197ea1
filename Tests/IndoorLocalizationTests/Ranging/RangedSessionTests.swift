import IndoorLocalization
import XCTest

final class RangedSessionTests: XCTestCase {
    private let place = MapPoint(x: 11, y: 7)
    private let other = Venue(
        id: 6, name: "yard", maps: [VenueMap(id: 9, name: "yard", level: 0, width: 20, height: 20)],
        anchors: [VenueAnchor(id: "Y1", mapID: 9, point: MapPoint(x: 1, y: 1))])

    private func outputs(_ readings: [SensorReading]) -> [SessionReplay.Output] {
        var replay = SessionReplay(
            venues: [RangedHall.venue, other], settings: LocalizationSettings(), seed: 0)
        return replay.start() + readings.flatMap { replay.handle($0) } + replay.finish()
    }

    private func states(_ outputs: [SessionReplay.Output]) -> [String] {
        outputs.compactMap { if case .state(let state) = $0.content { state.name } else { nil } }
    }

    func testDistancesAloneCarryASessionToPositions() throws {
        let outputs = outputs(RangedHall.readings(at: place, seconds: 15))
        XCTAssertEqual(
            states(outputs),
            ["started", "searchVenue", "getPacket", "getPacket", "findFloor", "localizationRunning", "idle"])
        let positions = outputs.compactMap { if case .position(let position) = $0.content { position } else { nil } }
        let last = try XCTUnwrap(positions.last)
        XCTAssertEqual(last.mapID, RangedHall.ground)
        XCTAssertLessThan(last.point.distance(to: place), 0.3)
    }

    func testDistancesKeepASessionInItsVenue() {
        let outputs = outputs(RangedHall.readings(at: place, seconds: 70))
        XCTAssertEqual(states(outputs).suffix(2), ["localizationRunning", "idle"])
        XCTAssertFalse(outputs.contains { if case .diagnosis = $0.content { true } else { false } })
    }

    func testDistancesToUnknownAnchorsAreTheDiagnosis() throws {
        let readings = (0..<20).map { second -> SensorReading in
            .range(
                RangeReading(
                    instant: Instant(seconds: Double(second)), anchor: "Z\(second % 4)", distance: 3, technology: .wifi)
            )
        }
        let diagnoses = outputs(readings).compactMap { output -> SessionDiagnosis? in
            if case .diagnosis(let diagnosis) = output.content { diagnosis } else { nil }
        }
        let diagnosis = try XCTUnwrap(diagnoses.first)
        XCTAssertEqual(diagnosis.reason, .unknownAnchors)
        XCTAssertEqual(diagnosis.unknownAnchors, ["Z0", "Z1", "Z2", "Z3"])
        XCTAssertEqual(
            diagnosis.description,
            "Distances to 4 anchors were measured, of which none belongs to a known venue: \"Z0\", \"Z1\", \"Z2\" "
                + "and 1 more.")
    }

    func testASummaryNamesTheAnchorsOfItsVenue() {
        XCTAssertEqual(
            VenueSummary(of: other).regions, [BeaconRegion(VenueAnchor(id: "Y1", mapID: 1, point: place).identity)])
    }
}
