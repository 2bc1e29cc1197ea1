import Foundation
import FoundationXML
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import TemporaryFiles
import VenueExchange
import VenuePackets
import XCTest

/// Walks as GPX, KML and CSV, read back with gpsbabel, an XML parser and Python's reader of CSV.
final class WalkFileTests: XCTestCase {
    /// Names that end an element, an attribute, a field or a line, or that hide such a character behind a combining mark.
    private static let hostileNames = [
        "</name><script>alert(1)</script>", "a & b \" ' > <", "]]>", "<!--", "&amp;", "line\r\nbreak\u{0}\u{8}\u{b}",
        "\u{fffe}\u{202e}", "\"\u{301},\"", "=1+1", "@SUM(A1)", "-2", " +3", "a,b\"c\"", "<\u{338}b>", "Büro 🏢",
    ]

    private static let zero = Coordinate(latitude: 50.1109, longitude: 8.6821)
    /// 2026-11-25T21:16:38.700Z.
    private static let clock = WallClock(timeOfZero: .milliseconds(1_795_641_398_700))

    private func venue(name: String = "Office", map: String = "Ground floor") -> Venue {
        Venue(
            id: 1, name: name, version: 1,
            maps: [
                VenueMap(
                    id: 1, name: map, level: 0, width: 20, height: 10, georeference: .center(Self.zero, bearing: 0)),
                VenueMap(id: 2, name: "Upper", level: 1, width: 20, height: 10),
            ], beacons: [])
    }

    private func position(_ second: Double, on map: MapID = 1, label: String? = nil) -> Position {
        var position = Position(
            instant: Instant(seconds: second), venueID: 1, mapID: map, point: MapPoint(x: second, y: 4), radius: 1.9,
            label: label)
        if map == 1 {
            position.coordinate = Coordinate(latitude: 50.1109 + second * 1e-5, longitude: 8.6821 - second * 1e-5)
        }
        return position
    }

    /// Three positions indoors, two outdoors, and one on a map without a georeference.
    private func walk(_ venue: Venue, label: String? = nil, hasClock: Bool = true) -> Walk {
        let outside = [30.0, 31].map { second in
            OutdoorPosition(
                instant: Instant(seconds: second), coordinate: Coordinate(latitude: -1.5, longitude: 170.25), radius: 4,
                altitude: 12, speed: 1.25, course: 90)
        }
        return Walk(
            venue: venue, positions: [1, 2, 3.5].map { position($0, label: label) } + [position(40, on: 2)],
            outdoorPositions: outside, wallClock: hasClock ? Self.clock : nil)
    }

    /// Returns the output of a program that reads the bytes as a file.
    private func output(of program: String, _ package: String, _ arguments: [String], _ bytes: [UInt8]) throws -> String
    {
        let file = try temporaryFolder() + "/walk"
        try Data(bytes).write(to: URL(filePath: file))
        let process = Process()
        process.executableURL = try TestPort.program(program, ofPackage: package)
        process.arguments = arguments.map { $0 == "FILE" ? file : $0 }
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try ProcessSignals.withAll { try process.run() }
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let text = String(decoding: data, as: UTF8.self)
        XCTAssertEqual(process.terminationStatus, 0, text)
        return text
    }

    /// Returns the points that gpsbabel reads: name of the track, latitude, longitude and time.
    private func points(_ bytes: [UInt8], as format: String) throws -> [[String]] {
        let style = try temporaryFolder() + "/points.style"
        let lines = [
            "FIELD_DELIMITER TAB", "RECORD_DELIMITER NEWLINE", "DATATYPE TRACK", "ENCODING UTF-8",
            "OFIELD TRACK_NAME, \"\", \"%s\"", "OFIELD LAT_DECIMAL, \"\", \"%.8f\"",
            "OFIELD LON_DECIMAL, \"\", \"%.8f\"", "OFIELD TIMET_TIME, \"\", \"%ld\"",
        ]
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: style))
        let text = try output(
            of: "gpsbabel", "gpsbabel",
            ["-t", "-i", format, "-f", "FILE", "-o", "xcsv,style=" + style, "-F", "-"], bytes)
        return text.split(separator: "\n").map { line in
            line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        }
    }

    private func assertPoints(_ points: [[String]]) throws {
        XCTAssertEqual(points.count, 5, "\(points)")
        XCTAssertEqual(
            points.map { $0[1] }, ["50.11091000", "50.11092000", "50.11093500", "-1.50000000", "-1.50000000"])
        XCTAssertEqual(points.map { $0[2] }.prefix(3), ["8.68209000", "8.68208000", "8.68206500"])
        let seconds = points.compactMap { Int($0[3]) }
        XCTAssertEqual(seconds, [1, 2, 4, 30, 31].map { 1_795_641_398 + $0 }, "\(points)")
    }

    func testGpsbabelReadsAGPXFile() throws {
        let bytes = GPXWriter().document(of: walk(venue(), label: "Kitchen"))
        let points = try points(bytes, as: "gpx")
        try assertPoints(points)
        XCTAssertEqual(points.map { $0[0] }, ["Ground floor", "Ground floor", "Ground floor", "Outdoors", "Outdoors"])
        let text = String(decoding: bytes, as: UTF8.self)
        XCTAssertTrue(
            text.contains("<time>2026-11-25T21:16:39.700Z</time><desc>Kitchen</desc><hdop>0.100</hdop></trkpt>"), text)
    }

    func testGpsbabelReadsAKMLFile() throws {
        try assertPoints(try points(KMLWriter().document(of: walk(venue())), as: "kml"))
    }

    func testWithoutAWallClockTheFilesHaveNoTimes() throws {
        let walk = walk(venue(), hasClock: false)
        for (format, bytes) in [("gpx", GPXWriter().document(of: walk)), ("kml", KMLWriter().document(of: walk))] {
            XCTAssertEqual(try points(bytes, as: format).count, 5, format)
            XCTAssertFalse(String(decoding: bytes, as: UTF8.self).contains("2026"), format)
        }
    }

    func testAPauseBeginsANewTrack() {
        let walk = Walk(venue: venue(), positions: [1, 2, 12.5, 13].map { position($0) })
        let text = String(decoding: GPXWriter().document(of: walk), as: UTF8.self)
        XCTAssertEqual(text.split(separator: "<trkseg>").count, 3, text)
    }

    func testAnEmptyWalkIsAValidDocument() throws {
        let walk = Walk(venue: venue(), positions: [])
        for bytes in [GPXWriter().document(of: walk), KMLWriter().document(of: walk)] {
            XCTAssertTrue(XMLParser(data: Data(bytes)).parse())
        }
        XCTAssertEqual(
            String(decoding: CSVWriter().document(of: walk), as: UTF8.self),
            CSVWriter.columns.joined(separator: ",") + "\r\n")
    }

    func testHostileNamesStayNamesInXML() throws {
        for name in Self.hostileNames {
            let walk = walk(venue(name: name, map: name), label: name)
            for bytes in [GPXWriter().document(of: walk), KMLWriter().document(of: walk)] {
                let parser = XMLParser(data: Data(bytes))
                let names = XMLNames()
                parser.delegate = names
                XCTAssertTrue(parser.parse(), "\(name.debugDescription): \(String(describing: parser.parserError))")
                XCTAssertTrue(names.elements.isSubset(of: Self.elements), "\(names.elements)")
                XCTAssertEqual(names.texts["name"]?.first, Self.cleaned(name), name.debugDescription)
            }
        }
    }

    private static let elements: Set<String> = [
        "gpx", "metadata", "name", "trk", "trkseg", "trkpt", "time", "desc", "hdop", "kml", "Document", "Placemark",
        "description", "gx:Track", "when", "gx:coord",
    ]

    /// The name as a reader receives it.
    private static func cleaned(_ name: String) -> String {
        String(
            String.UnicodeScalarView(
                name.unicodeScalars.map { scalar in
                    switch scalar.value {
                    case 9, 10, 13: " "
                    case 0..<0x20, 0x202e, 0xfffe: "\u{fffd}"
                    default: scalar
                    }
                }))
    }

    /// The rows as Python's csv module reads them, and each field of the first position.
    private func rows(_ bytes: [UInt8]) throws -> [[String]] {
        let script =
            "import csv,json,sys;"
            + "json.dump(list(csv.reader(open(sys.argv[1],newline='',encoding='utf-8'),strict=True)),sys.stdout)"
        let text = try output(of: "python3", "python3", ["-c", script, "FILE"], bytes)
        return try JSONDecoder().decode([[String]].self, from: Data(text.utf8))
    }

    func testACSVFileHasALineForEachPositionInOrderOfTime() throws {
        let rows = try rows(CSVWriter().document(of: walk(venue(), label: "Kitchen")))
        XCTAssertEqual(rows[0], CSVWriter.columns)
        XCTAssertEqual(
            rows[1],
            [
                "2026-11-25T21:16:39.700Z", "1.000", "position", "1", "1", "Ground floor", "0", "1.000", "4.000",
                "1.900",
                "50.11091000", "8.68209000", "", "Kitchen", "", "", "",
            ])
        XCTAssertEqual(
            rows[4],
            [
                "2026-11-25T21:17:08.700Z", "30.000", "outdoorPosition", "", "", "", "", "", "", "4.000", "-1.50000000",
                "170.25000000", "12.00", "", "90.0", "1.25", "",
            ])
        // A map without a georeference has metres only.
        XCTAssertEqual(rows[6][4...11], ["2", "Upper", "1", "40.000", "4.000", "1.900", "", ""])
        XCTAssertEqual(rows.count, 7)
    }

    func testHostileNamesStayFieldsInCSV() throws {
        for name in Self.hostileNames {
            let rows = try rows(CSVWriter().document(of: walk(venue(map: name), label: name)))
            XCTAssertEqual(rows.count, 7, name.debugDescription)
            XCTAssertTrue(rows.allSatisfy { $0.count == CSVWriter.columns.count }, name.debugDescription)
            let field = rows[1][13]
            XCTAssertEqual(field, rows[1][5])
            let first = field.unicodeScalars.first { $0 != " " }
            XCTAssertFalse(["=", "+", "-", "@"].contains(first), "\(field) is a formula")
            let plain = name.unicodeScalars.map { $0.value < 0x20 ? " " : $0 }
            XCTAssertTrue(field.unicodeScalars.suffix(plain.count).elementsEqual(plain), field.debugDescription)
        }
    }
}

/// The elements of an XML document, and the texts in them.
private final class XMLNames: NSObject, XMLParserDelegate {
    var elements: Set<String> = []
    var texts: [String: [String]] = [:]
    private var text = ""

    func parser(
        _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        elements.insert(elementName)
        text = ""
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }

    func parser(_ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName: String?) {
        texts[elementName, default: []].append(text)
        text = ""
    }
}
