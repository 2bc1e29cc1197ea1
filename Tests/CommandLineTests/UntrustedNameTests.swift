import Foundation
import XCTest

/// Names in untrusted packets can neither control the terminal nor forge lines of the tool.
final class UntrustedNameTests: XCTestCase {
    /// A name that clears the screen, forges a line, writes from right to left, and moves the cursor with a C1 control.
    private let hostile = #"Shop\u001b[2J\nerror: $.forged: line\u202egpj\u009b1A"#
    private let shown = #"Shop\u001B[2J\u000Aerror: $.forged: line\u202Egpj\u009B1A"#

    private func packet(nameless: Bool = false) throws -> String {
        let folder = try temporaryFolder() + "/packet"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let text = """
            {"format": "indoor-localization-venue", "formatVersion": 1, "id": 7, "name": "\(hostile)", "version": 1,
            "maps": [{"id": 1, "name": "\(hostile)", "level": 0, "widthMeters": 20, "heightMeters": 20}],
            "beacons": [{"uuid": "00000000-0000-4000-8000-000000000001", "major": 1, "minor": 1, "mapId": 1, "x": 1,
            "y": 1}], "rooms": [{"id": 1, "name": "\(hostile)", "mapId": \(nameless ? 9 : 1), "\(hostile)": 1}],
            "pois": [{"id": 1, "name": "\(hostile)", "mapId": 1, "x": 9, "y": 9}], "settings": {"\(hostile)": 1},
            "paths": {"nodes": [{"id": 1, "mapId": 1, "x": 1, "y": 1}, {"id": 2, "mapId": 1, "x": 2, "y": 9}],
            "edges": [{"from": 1, "to": 2}]}}
            """
        try Data(text.utf8).write(to: URL(filePath: folder + "/venue.json"))
        return folder
    }

    func testControlCharactersAreEscaped() throws {
        let (good, bad) = (try packet(), try packet(nameless: true))
        let calls = [
            (["venue", "info", good], 0), (["venue", "check", good], 0), (["venue", "check", bad], 1),
            (["venue", "route", good, "--from", "1,1,1", "--to", "1,2,8"], 0),
            (["venue", "route", good, "--from", "1,1,1", "--to-poi", "Books"], 1),
            (["venue", "publish", try temporaryFolder() + "/public", good], 0),
            (["venue", "publish", try temporaryFolder() + "/public", bad], 1),
            (["replay", "--venue", good, "Fixtures/office/tracks/ground.jsonl"], 0),
            (["replay", "--venue", good, "--fix", "3,1,1,1", "Fixtures/office/tracks/ground.jsonl"], 2),
        ]
        for (call, status) in calls {
            let result = try Tool.run(call)
            XCTAssertEqual(Int(result.status), status, "\(call): \(result.errors)")
            let text = result.output + result.errors
            XCTAssertTrue(text.contains(shown), "\(call): \(text)")
            for forbidden in ["\u{1B}", "\u{202E}", "\u{9B}"] {
                XCTAssertFalse(text.unicodeScalars.contains { String($0) == forbidden }, "\(call): \(text)")
            }
            XCTAssertFalse(text.split(separator: "\n").contains { $0.hasPrefix("error: $.forged") }, "\(call): \(text)")
        }
    }
}
