import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import MQTTSharing
import NMEASending
import ScanRecording
import TagTracking
import XCTest

final class ConfigCommandTests: XCTestCase {
    private func file(_ name: String, _ text: String) throws -> String {
        let path = try temporaryFolder() + "/" + name
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    func testHelpOfConfigShow() throws { try assertSnapshot(try Tool.run(["config", "show", "--help"]).output) }
    func testHelpOfConfigKeys() throws { try assertSnapshot(try Tool.run(["config", "keys", "--help"]).output) }
    func testConfigKeys() throws { try assertSnapshot(try Tool.run(["config", "keys"]).output) }
    func testConfigKeysOfAllKinds() throws { try assertSnapshot(try Tool.run(["config", "keys", "--all"]).output) }

    func testConfigKeysListsExpertAndCompatibilityKeysOnlyWithAll() throws {
        func keys(_ options: [String]) throws -> Set<Substring> {
            Set(
                try Tool.run(["config", "keys"] + options).lines.filter { !$0.hasPrefix(" ") }
                    .compactMap { $0.split(separator: " ").first })
        }
        let (listed, all) = (try keys([]), try keys(["--all"]))
        XCTAssertTrue(all.isSuperset(of: listed))
        XCTAssertTrue(listed.isSuperset(of: ["positionInterval", "positioning.method", "positioning.particleFilter"]))
        XCTAssertTrue(all.subtracting(listed).isSuperset(of: ["positioning.recoveryShare", "dtn.use-cellular"]))
        XCTAssertLessThanOrEqual(listed.count { $0.hasPrefix("positioning.") }, 16)
        let experts = try Tool.run(["config", "keys", "--all"]).lines.filter { $0.contains("; expert: ") }
        XCTAssertTrue(experts.allSatisfy { $0.hasSuffix("; expert: may change or go in any release") })
        XCTAssertGreaterThan(experts.count, 80)
    }

    func testAnExpertSettingInAFileIsAppliedAndNoted() throws {
        let path = try file(
            "a.json", "{\"areaDwell\": 1,\n\"positioning\": {\"recoveryShare\": 0.1,\n\"radiusDoubt\": 3}}")
        let result = try Tool.run(["config", "show", "--given", "--settings", path, "--set", "retryPause=2"])
        XCTAssertEqual(result.status, 0)
        XCTAssertEqual(
            result.errors,
            """
            indoorloc: \(path):2: positioning.recoveryShare is an expert key, which may change or go in any release
            indoorloc: \(path):3: positioning.radiusInflation is an expert key, which may change or go in any release

            """)
        let rows = result.lines.map { $0.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: true) }
        XCTAssertEqual(
            rows.map { "\($0[0]) \($0[1]) \($0[2].hasSuffix("; expert"))" },
            [
                "areaDwell 1 false", "retryPause 2 true", "positioning.recoveryShare 0.1 true",
                "positioning.radiusInflation 3 true",
            ])
        let json = try Tool.run(["config", "show", "--json", "--given", "--settings", path])
        XCTAssertEqual(json.output.components(separatedBy: "\"expert\":true").count, 3)
    }

    func testConfigShowPrintsUngivenExpertSettingsOnlyWithAll() throws {
        let short = try Tool.run(["config", "show"]).lines
        let whole = try Tool.run(["config", "show", "--all"]).lines
        XCTAssertEqual(short.count, try Tool.run(["config", "keys"]).lines.count / 2)
        XCTAssertEqual(whole.count, try Tool.run(["config", "keys", "--all"]).lines.count / 2)
        XCTAssertFalse(short.contains { $0.hasPrefix("positioning.recoveryShare") || $0.hasPrefix("dtn.") })
        XCTAssertTrue(whole.contains { $0.hasPrefix("positioning.recoveryShare ") && $0.hasSuffix("; expert") })
    }

    func testConfigShowPrintsTheSourceOfEachValue() throws {
        let result = try Tool.run([
            "config", "show", "--given", "--venue", "Fixtures/office", "--settings", "Fixtures/settings/service.json",
            "--set", "areaDwell=3", "--set", "positioning.method=fingerprint", "--set", "forcedVenue=null",
        ])
        XCTAssertEqual(result.status, 0)
        XCTAssertEqual(result.errors, "")
        try assertSnapshot(result.output)
    }

    func testConfigShowAsJSONIsJSON() throws {
        let result = try Tool.run(["config", "show", "--json", "--settings", "Fixtures/settings/service.json"])
        XCTAssertEqual(result.status, 0)
        let parsed = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [[String: Any]]
        let rows = try XCTUnwrap(parsed)
        let keys = rows.compactMap { $0["key"] as? String }
        XCTAssertEqual(keys.count, rows.count)
        let interval = try XCTUnwrap(rows.first { $0["key"] as? String == "scanner.dutyCycle.interval" })
        XCTAssertEqual(interval["value"] as? Double, 20)
        XCTAssertEqual(interval["unit"] as? String, "s")
        XCTAssertEqual(interval["source"] as? String, "file")
        XCTAssertEqual(interval["place"] as? String, "Fixtures/settings/service.json:7")
        XCTAssertTrue(rows.contains { $0["value"] is NSNull && $0["source"] as? String == "default" })
    }

    func testConfigShowPrintsWhyCompatibilityKeysHaveNoEffect() throws {
        let path = try file(
            "nodle.json",
            """
            {"ble": {"scan": {"duration-msec": 20000, "interval-msec": 40000}}, "cron": {"ios-bg-mode": 0},
             "dtn": {"use-cellular": false}, "cell": {"scan": {"interval-msec": 50000, "other": [1]}}}
            """)
        let result = try Tool.run(["config", "show", "--given", "--settings", path])
        XCTAssertEqual(result.status, 0, result.errors)
        func words(_ key: String) -> [Substring]? {
            result.lines.first { $0.hasPrefix(key + " ") }?.split(separator: " ", omittingEmptySubsequences: true)
        }
        XCTAssertEqual(words("scanner.dutyCycle.scanDuration")?[1], "20")
        XCTAssertEqual(words("scanner.dutyCycle.interval")?[1], "40")
        XCTAssertEqual(words("scanner.dutyCycle.isContinuous"), nil, "a mode does not make it void")
        for (key, reason) in [
            ("dtn.use-cellular", "the system chooses the network for an upload"),
            ("cell.scan.interval-msec", "the package does not scan cellular networks"),
            ("cell.scan.other", "a key of the Nodle SDK that this package does not use"),
        ] {
            let line = try XCTUnwrap(result.lines.first { $0.hasPrefix(key + " ") }, result.output)
            XCTAssertTrue(line.hasSuffix("; accepted, no effect: \(reason)"), "\(line)")
        }
        let json = try Tool.run(["config", "show", "--json", "--settings", path])
        XCTAssertTrue(json.output.contains("\"noEffect\":\"the package does not scan cellular networks\""))
    }

    func testAllProblemsOfSettingsFilesAreReportedWithTheirLines() throws {
        let first = try file("a.json", "{\n\"areaDwel\": 1,\n\"areaDwell\": \"long\"}")
        let second = try file("b.json", "{\"rssiThreshold\":\n5}")
        let result = try Tool.run(["config", "show", "--settings", first, "--settings", second])
        XCTAssertEqual(result.status, 1)
        XCTAssertEqual(result.output, "")
        XCTAssertEqual(
            result.errors,
            """
            indoorloc: \(first):2: there is no setting areaDwel; did you mean areaDwell?
            indoorloc: \(first):3: areaDwell must be a number in [0, 86400] s, not "long"
            indoorloc: \(second):1: rssiThreshold must be in [-127, 0] dBm, not 5

            """)
    }

    func testALaterSettingsFileOverridesAnEarlierOne() throws {
        let first = try file("a.json", "{\"areaDwell\": 1, \"positionInterval\": 1}")
        let second = try file("b.json", "{\"areaDwell\": 2}")
        let result = try Tool.run(["config", "show", "--given", "--settings", first, "--settings", second])
        XCTAssertEqual(
            result.lines.map { $0.split(separator: " ").prefix(2) }, [["positionInterval", "1"], ["areaDwell", "2"]])
    }

    func testAnInvalidSetIsAUsageError() throws {
        for (word, message) in [
            ("areaDwell", "--set must be KEY=VALUE, not 'areaDwell'"),
            ("=3", "--set must be KEY=VALUE, not '=3'"),
            ("areaDwel=3", "--set: there is no setting areaDwel; did you mean areaDwell?"),
            ("areaDwell=", "--set: areaDwell must be a number in [0, 86400] s, not \"\""),
            ("areaDwell=-1", "--set: areaDwell must be in [0, 86400] s, not -1"),
        ] {
            let result = try Tool.run(["config", "show", "--set", word])
            XCTAssertEqual(result.status, 2, word)
            XCTAssertEqual(
                result.errors, "indoorloc config show: \(message)\nTry 'indoorloc config show --help'.\n", word)
        }
    }

    func testContradictorySettingsOfOptionsAreAUsageError() throws {
        let message = "scanner.timing.window must be in [0.0025, 0.1] s, not 0.2"
        let sets = ["--set", "scanner.timing.interval=0.1", "--set", "scanner.timing.window=0.2"]
        let call = try Tool.run(["config", "show"] + sets)
        XCTAssertEqual(call.status, 2)
        XCTAssertEqual(
            call.errors, "indoorloc config show: --set: \(message)\nTry 'indoorloc config show --help'.\n")
        let path = try file("a.json", "{\"scanner\": {\"timing\": {\"interval\": 0.1,\n\"window\": 0.2}}}")
        let given = try Tool.run(["config", "show", "--settings", path])
        XCTAssertEqual(given.status, 1)
        XCTAssertEqual(given.errors, "indoorloc: \(path):2: \(message)\n")
    }

    func testConfigShowPrintsThePathOfAVenuesSetting() throws {
        let result = try Tool.run(["config", "show", "--given", "--venue", "Fixtures/packets/accepted/every-field"])
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertTrue(result.output.contains("venue ($.settings.positioning.particleCount)"), result.output)
        XCTAssertTrue(result.output.contains("venue ($.settings[\"floor.patience\"])"), result.output)
    }

    func testReplayUsesTheSettingsOfItsOptions() throws {
        let recording = "Fixtures/recordings/one-floor/scan.jsonl.gz"
        let call = ["replay", "--venue", "Fixtures/office", recording]
        let byMethod = try Tool.run(call + ["--method", "trilateration"])
        let bySet = try Tool.run(call + ["--set", "positioning.method=trilateration"])
        let byFile = try Tool.run(
            call + ["--settings", try file("a.json", "{\"positioning\": {\"method\": \"trilateration\"}}")])
        XCTAssertEqual(byMethod.status, 0)
        XCTAssertGreaterThan(byMethod.lines.count, 10)
        XCTAssertEqual(bySet.output, byMethod.output)
        XCTAssertEqual(byFile.output, byMethod.output)
        let rare = try Tool.run(call + ["--method", "trilateration", "--set", "positionInterval=5"])
        XCTAssertLessThan(rare.lines.count * 4, byMethod.lines.count)
    }
}

/// The documentation's page that is generated from the list of settings.
final class ConfigurationPageTests: XCTestCase {
    private func page() throws -> URL {
        try Checkout.root().appending(path: "Sources/IndoorLocalization/IndoorLocalization.docc/Configuration.md")
    }

    func testTheConfigurationPageIsUpToDate() throws {
        let wanted = try Tool.run(["config", "keys", "--markdown"]).output
        if ProcessInfo.processInfo.environment["UPDATE_CONFIGURATION"] == "1" {
            return try Data(wanted.utf8).write(to: try page())
        }
        XCTAssertEqual(
            try String(contentsOf: try page(), encoding: .utf8), wanted,
            "the page is stale: write it again with UPDATE_CONFIGURATION=1")
    }

    func testEverySettingIsOnThePageOnce() throws {
        let text = try String(contentsOf: try page(), encoding: .utf8)
        let lines = try Tool.run(["config", "keys", "--all"]).lines
        XCTAssertGreaterThan(lines.count, 2 * 80)
        for (line, effect) in zip(lines, lines.dropFirst()) where !line.hasPrefix(" ") {
            let key = try XCTUnwrap(line.split(separator: " ").first)
            if line.contains("; expert: ") {
                let name = try XCTUnwrap(key.split(separator: ".").last)
                let prefix = key.dropLast(name.count)
                let rows = text.components(separatedBy: prefix.isEmpty ? "\n|  | " : "\n| `\(prefix)` | ").dropFirst()
                    .compactMap { $0.split(separator: "\n").first }
                XCTAssertEqual(rows.count { $0.contains("`\(name)` ") }, 1, "\(key)")
                continue
            }
            // Keys without an effect share the rows of their reasons.
            let isKept = effect.contains("Accepted, no effect")
            let cell = isKept ? "`\(key)`" : "\n| `\(key)` | "
            XCTAssertEqual(text.components(separatedBy: cell).count, 2, "\(key)")
        }
    }
}

/// The page "Limits" has the values of the code.
final class LimitsPageTests: XCTestCase {
    /// A row: the limit, and the remaining cells.
    private typealias Row = (limit: String, subject: String)

    private func rows() throws -> [Row] {
        let page = String(
            decoding: try bytes("Sources/IndoorLocalization/IndoorLocalization.docc/Limits.md"), as: UTF8.self)
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| ") }.map { line -> Row in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            return (cells.first ?? "", cells.dropFirst().joined(separator: " | "))
        }
        XCTAssertGreaterThan(rows.count, 50)
        return rows
    }

    /// The row of each value of `InputLimits`, by a part of its text.
    private static let subjects = [
        "jsonDepth": "nested arrays and objects", "jsonValues": "a JSON document", "problems": "a venue, a catalogue",
        "venueFile": "`venue.json`", "catalogue": "a catalogue, the memory",
        "radioMap": "a radio map after decompression",
        "image": "a plan's image", "training": "training data of rooms", "settings": "settings, the document",
        "walk": "the document of a simulated walk", "secret": "a file with a password",
        "unpacked": "all files that are unpacked",
        "inflated": "recordings, radio maps and zips", "inflation": "recordings, radio maps and zips",
        "zipEntries": "files of a zip", "zipDirectory": "the directory of a zip", "maps": "maps of a venue",
        "beacons": "beacons and receivers of a venue", "places": "rooms, points of interest",
        "ways": "nodes and edges of a path graph", "entries": "an array of a venue", "settingCount": "a settings file",
        "corners": "corners of a polygon", "cornerSquares": "sum of the squared numbers of corners",
        "fingerprints": "fingerprints of a radio map", "radioMapReadings": "readings of a radio map",
        "surveyReadings": "sightings and places of a survey", "cells": "cells of all maps",
        "beaconMaps": "beacons times maps", "fingerprintMaps": "fingerprints times maps",
        "tableEntries": "cells in which each beacon", "wallCells": "cells around each wall",
        "modelSteps": "cells that are compared",
    ]

    /// The forms of a number on the page, such as `16 MiB` or `2,000,000`.
    private func forms(_ value: Int) -> [String] {
        let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")]
        var forms = units.filter { value % (1 << $0.0) == 0 && value >> $0.0 > 0 }.map { "\(value >> $0.0) \($0.1)" }
        var digits = "\(value)"
        for index in stride(from: digits.count - 3, to: 0, by: -3) {
            digits.insert(",", at: digits.index(digits.startIndex, offsetBy: index))
        }
        forms.append(digits)
        return forms
    }

    private func assertRow(
        _ subject: String, has value: Int, of name: String, in rows: [Row], line: UInt = #line
    ) {
        let found = rows.filter { $0.subject.hasPrefix(subject) || $0.subject.contains(", " + subject) }
        XCTAssertEqual(found.count, 1, "\(name): rows of \"\(subject)\"", line: line)
        // Surrounded by what can't be a part of a number.
        let limit = " " + (found.first?.limit ?? "").replacing("; ", with: " ") + " "
        let isThere = forms(value).contains { limit.contains(" \($0) ") || limit.contains(" \($0), ") }
        XCTAssertTrue(isThere, "\(name) is \(value), but the page has \"\(limit)\" for \(subject)", line: line)
    }

    func testThePageHasEachValueOfTheInputLimits() throws {
        let rows = try rows()
        let limits = Mirror(reflecting: InputLimits.standard).children
        XCTAssertEqual(Set(limits.compactMap(\.label)), Set(Self.subjects.keys))
        for limit in limits {
            let name = try XCTUnwrap(limit.label)
            let value = try XCTUnwrap(limit.value as? Int, name)
            assertRow(Self.subjects[name] ?? name, has: value, of: name, in: rows)
        }
    }

    func testThePageHasTheLimitsOfOtherInputs() throws {
        let rows = try rows()
        for (subject, value) in [
            ("a line of a recording", LineBuffer.maximumLineLength),
            ("the payload and the packet of a shared position", SharingPayload.longest),
            ("the payload and the packet of a shared position", SharingPayload.longestPacket),
            ("the message of a gateway", TagIntake.Limits().payload),
            ("rooms of a device that shares", SharingPayload.mostRooms),
            ("rooms of a device that shares", SharingPayload.mostLimitedRooms),
            ("keys of trusted devices", SharingTrust.mostKeys),
            ("readers of an NMEA 0183 server", CycleQueue.capacity),
        ] { assertRow(subject, has: value, of: subject, in: rows) }
    }
}
