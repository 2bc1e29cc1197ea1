import Foundation
import IndoorLocalization
import MQTTSharing
import NMEASending
import ScanRecording
import TagTracking
import XCTest

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
