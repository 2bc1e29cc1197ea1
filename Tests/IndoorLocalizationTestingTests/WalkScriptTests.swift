import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

final class WalkScriptTests: XCTestCase {
    private let head = "\"format\": \"indoor-localization-walk\", \"version\": 1"

    private func failure(_ json: String) -> SimulationError? {
        do {
            _ = try WalkSimulator(venue: SimulatedHall.venue(), script: WalkScript(json: json.utf8), seed: 1)
            return nil
        } catch {
            return error
        }
    }

    func testEveryFieldIsRead() throws {
        let script = try WalkScript(
            json: """
                {\(head), "name": "n", "speed": 1.5, "points": [
                {"mapId": 1, "x": 3, "y": 4, "pause": 5, "heading": 90, "unknown": []},
                {"mapId": 2, "x": 9.5, "y": 7, "by": "elevator", "seconds": 14, "speed": 2, "outdoors": true}],
                "settings": {"radio.wallLoss": 5, "sensors.reportsSteps": true, "radio.environmentSeed": 9}}
                """.utf8)
        var settings = SimulationSettings()
        settings.radio.wallLoss = 5
        settings.sensors.reportsSteps = true
        settings.radio.environmentSeed = 9
        let points = [
            WalkPath.Point(mapID: 1, point: MapPoint(x: 3, y: 4), pause: 5, heading: 90),
            WalkPath.Point(
                mapID: 2, point: MapPoint(x: 9.5, y: 7), seconds: 14, speed: 2, isOutdoors: true,
                floorChange: .elevator),
        ]
        XCTAssertEqual(
            script, WalkScript(path: WalkPath(name: "n", speed: 1.5, points: points), settings: settings))
    }

    func testAnInvalidDocumentIsRejectedWithTheField() {
        let cases: [(String, String)] = [
            ("", "$"),
            ("{\(head)}", "$.points"),
            ("{\(head), \"points\": [{\"mapId\": 1, \"x\": 1}]}", "$.points[0].y"),
            ("{\(head), \"points\": [{\"mapId\": 1, \"x\": \"a\", \"y\": 1}]}", "$.points[0].x"),
            ("{\(head), \"points\": [{\"mapId\": 1, \"x\": 1, \"y\": 1, \"by\": \"rope\"}]}", "$.points[0].by"),
        ]
        for (json, expected) in cases {
            guard case .malformedDocument(let field, _)? = failure(json) else {
                XCTFail("\(json) gave \(String(describing: failure(json)))")
                continue
            }
            XCTAssertEqual(field, expected, json)
        }
    }

    func testInvalidContentIsRejectedWithItsName() {
        let point = "{\"mapId\": 1, \"x\": 1, \"y\": 1}"
        let upstairs = "{\"mapId\": 2, \"x\": 1, \"y\": 1, \"outdoors\": true}"
        let cases: [(String, SimulationError)] = [
            ("{\"format\": \"other\", \"version\": 1, \"points\": []}", .unsupportedFormat("\"other\", version 1,")),
            ("{\(head), \"points\": []}", .noPoints),
            ("{\(head), \"points\": [{\"mapId\": 9, \"x\": 1, \"y\": 1}]}", .unknownMap(9, field: "points[0].mapId")),
            ("{\(head), \"points\": [\(point), \(upstairs)]}", .noGeoreference(2, field: "points[1].outdoors")),
            (
                "{\(head), \"points\": [\(point)], \"settings\": {\"radio.wallloss\": 1}}",
                .unknownSetting("radio.wallloss")
            ),
            (
                "{\(head), \"points\": [\(point)], \"settings\": {\"radio.wallLoss\": true}}",
                .wrongKindOfSetting("radio.wallLoss", expected: "a number")
            ),
            (
                "{\(head), \"points\": [\(point)], \"settings\": {\"radio.wallLoss\": 41}}",
                .outOfRange(field: "settings.radio.wallLoss", value: 41, allowed: "0.0 to 40.0")
            ),
            (
                "{\(head), \"speed\": 0, \"points\": [\(point)]}",
                .outOfRange(field: "speed", value: 0, allowed: "0.001 to 1000000.0")
            ),
        ]
        for (json, expected) in cases { XCTAssertEqual(failure(json), expected, json) }
    }

    func testEveryNamedSettingCanBeSet() {
        for name in SimulationSettings.names {
            // One of these is in the range of each setting: shares and lengths, dBm, hPa, and flags.
            let values: [SimulationSettings.Value] = [.number(1), .number(-50), .number(900), .flag(true)]
            let accepted = values.contains { value in
                var settings = SimulationSettings()
                return (try? settings.set(name, to: value)) != nil
            }
            XCTAssertTrue(accepted, name)
        }
        XCTAssertEqual(SimulationSettings.names.count, Set(SimulationSettings.names).count)
    }

    func testTheDefaultSettingsAreInTheirRanges() throws {
        XCTAssertNoThrow(try SimulationSettings().check())
    }
}
