import FoundationEssentials
import IndoorLocalization
import IndoorLocalizationTesting
import TemporaryFiles
import XCTest
@testable import VenuePackets

final class RadioMapFileTests: XCTestCase {
    func testTheReaderReturnsWhatWasWritten() throws {
        let seed: UInt64 = 99
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let folder = try temporaryFolder()
        for count in [0, 1, 2, 30] {
            let radioMap = radioMap(beacons: count, using: &random)
            for name in ["map.json", "map.json.gz"] {
                try RadioMapFile.write(radioMap, to: folder + "/" + name)
                XCTAssertEqual(try RadioMapFile.read(folder + "/" + name), radioMap, "\(count) beacons, \(name)")
            }
        }
    }

    func testTheSameRadioMapGivesIdenticalOutputAndGzipIsSmaller() throws {
        var random = SeededGenerator(seed: 5)
        let radioMap = radioMap(beacons: 20, using: &random)
        let folder = try temporaryFolder()
        var contents: [Data] = []
        for name in ["a.json.gz", "b.json.gz", "c.json"] {
            try RadioMapFile.write(radioMap, to: folder + "/" + name)
            contents.append(try Data(contentsOf: URL(filePath: folder + "/" + name)))
        }
        XCTAssertEqual(contents[0], contents[1])
        XCTAssertLessThan(contents[0].count, contents[2].count)
        XCTAssertEqual(Array(contents[0].prefix(2)), [0x1F, 0x8B])
    }

    func testTheFitOfASurveyIsIdenticalAfterWritingAndReading() throws {
        var random = SeededGenerator(seed: 7)
        var radioMap = radioMap(beacons: 3, using: &random)
        let folder = try temporaryFolder()
        radioMap.fit.floorLoss = 5.123456789012345
        radioMap.fit.rateLength = 0.1
        radioMap.fit.ratePriorDetections = 0.003
        radioMap.fit.supportWidth = 0.75
        radioMap.fit.unsupportedShare = 0.01
        radioMap.fit.bodyDeviation = 2.7
        radioMap.fit.receiverDeviation = 1.0 / 3
        radioMap.fit.coverage = 0.9
        radioMap.fit.devices = [
            "b \"phone\"": RadioMap.Receiver(offset: -4.5, deviation: 1.25),
            "a": RadioMap.Receiver(offset: 3, deviation: 2),
        ]
        radioMap.fingerprints[0].deviation = 2.5
        try RadioMapFile.write(radioMap, to: folder + "/a.json")
        let read = try RadioMapFile.read(folder + "/a.json")
        XCTAssertEqual(read.fit, radioMap.fit)
        XCTAssertEqual(read, radioMap)
        try RadioMapFile.write(read, to: folder + "/b.json")
        let contents = try ["a", "b"].map { try Data(contentsOf: URL(filePath: "\(folder)/\($0).json")) }
        XCTAssertEqual(contents[0], contents[1])
    }

    /// The numbers in a file, whatever their names.
    private struct WrittenFit: Decodable { var fit: [String: Double] }

    func testEachNumberOfTheFitIsWrittenAlone() throws {
        let file = try temporaryFolder() + "/map.json"
        for (name, tell) in [
            ("floorLoss", { $0.floorLoss = 0 }), ("rateLength", { $0.rateLength = 4 }),
            ("ratePriorDetections", { $0.ratePriorDetections = 1 }),
            ("supportWidth", { $0.supportWidth = 4 }), ("unsupportedShare", { $0.unsupportedShare = 1 }),
            ("coverage", { $0.coverage = 0 }), ("bodyDeviation", { $0.bodyDeviation = 0 }),
            ("receiverDeviation", { $0.receiverDeviation = 0 }),
        ] as [(String, (inout RadioMap.Fit) -> Void)] {
            var radioMap = RadioMap(beacons: [], fingerprints: [], pathLossExponent: 2)
            tell(&radioMap.fit)
            try RadioMapFile.write(radioMap, to: file)
            XCTAssertEqual(try RadioMapFile.read(file), radioMap, name)
            let written = try JSONDecoder().decode(WrittenFit.self, from: Data(contentsOf: URL(filePath: file)))
            XCTAssertEqual(Array(written.fit.keys), [name])
        }
    }

    func testAnEmptyFitIsNotWritten() throws {
        var random = SeededGenerator(seed: 7)
        let file = try temporaryFolder() + "/map.json"
        try RadioMapFile.write(radioMap(beacons: 3, using: &random), to: file)
        let text = try String(contentsOf: URL(filePath: file), encoding: .utf8)
        XCTAssertFalse(text.contains("fit"), text)
        try Data(document(fit: "{}").utf8).write(to: URL(filePath: file))
        XCTAssertEqual(try RadioMapFile.read(file).fit, RadioMap.Fit())
    }

    func testAnInvalidNumberOfTheFitIsRefusedWithItsPath() throws {
        let file = try temporaryFolder() + "/map.json"
        for (name, wrong, right) in [
            ("floorLoss", ["-0.1", "100.1"], ["0", "100"]),
            ("rateLength", ["0", "-1", "0.009", "1001"], ["0.01", "1000"]),
            ("ratePriorDetections", ["0", "-1", "0.0009", "1000001"], ["0.001", "1000000"]),
            ("supportWidth", ["0", "0.009", "1001"], ["0.01", "1000"]),
            ("unsupportedShare", ["0", "-0.1", "1.001"], ["0.001", "1"]),
            ("coverage", ["-0.1", "1.1"], ["0", "1"]),
            ("bodyDeviation", ["-0.1", "50.1"], ["0", "50"]),
            ("receiverDeviation", ["-0.1", "50.1"], ["0", "50"]),
        ] {
            for number in wrong {
                try Data(document(fit: "{\"\(name)\": \(number)}").utf8).write(to: URL(filePath: file))
                XCTAssertThrowsError(try RadioMapFile.read(file), "\(name) \(number)") { error in
                    XCTAssertEqual((error as? RadioMapFileError)?.path, "$.fit.\(name)", "\(error)")
                }
            }
            for number in right {
                try Data(document(fit: "{\"\(name)\": \(number)}").utf8).write(to: URL(filePath: file))
                XCTAssertNoThrow(try RadioMapFile.read(file), "\(name) \(number)")
            }
        }
    }

    func testAnInvalidDeviceIsRefusedWithItsPath() throws {
        let file = try temporaryFolder() + "/map.json"
        for (receiver, path) in [
            ("{\"offset\": 51, \"deviation\": 1}", "$.fit.devices.phone.offset"),
            ("{\"offset\": 1, \"deviation\": -1}", "$.fit.devices.phone.deviation"),
            ("{\"offset\": 1}", "$.fit.devices.phone"), ("7", "$.fit.devices.phone"),
        ] {
            try Data(document(fit: "{\"devices\": {\"phone\": \(receiver)}}").utf8).write(to: URL(filePath: file))
            XCTAssertThrowsError(try RadioMapFile.read(file), receiver) { error in
                XCTAssertEqual((error as? RadioMapFileError)?.path, path, "\(error)")
            }
        }
        try Data(document(fit: "{\"devices\": null}").utf8).write(to: URL(filePath: file))
        XCTAssertEqual(try RadioMapFile.read(file).fit, RadioMap.Fit(), "a map of before there were devices")
    }

    func testAPipeIsWrittenIntoAndNotReplaced() throws {
        var random = SeededGenerator(seed: 6)
        let radioMap = radioMap(beacons: 2, using: &random)
        let folder = try temporaryFolder()
        let pipe = folder + "/pipe"
        XCTAssertEqual(mkfifo(pipe, 0o600), 0)
        // Open at both ends, so that neither blocks: the few bytes stay in the pipe.
        let descriptor = open(pipe, O_RDWR | O_NONBLOCK)
        defer { close(descriptor) }
        try RadioMapFile.write(radioMap, to: pipe)
        let type = try FileManager.default.attributesOfItem(atPath: pipe)[.type] as? FileAttributeType
        XCTAssertNotEqual(type, .typeRegular)
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = read(descriptor, &bytes, bytes.count)
        let file = folder + "/map.json"
        try RadioMapFile.write(radioMap, to: file)
        XCTAssertEqual(Data(bytes.prefix(max(0, count))), try Data(contentsOf: URL(filePath: file)))
    }

    func testTheErrorOfAnUnwritableFileHasTheSystemsReason() throws {
        var random = SeededGenerator(seed: 6)
        let radioMap = radioMap(beacons: 2, using: &random)
        let file = try temporaryFolder() + "/missing/map.json"
        XCTAssertThrowsError(try RadioMapFile.write(radioMap, to: file)) { error in
            let text = "\(error)"
            XCTAssertTrue(text.hasPrefix("\(file): cannot be written: No such file or directory"), text)
        }
    }

    func testAWrongFileIsRefusedWithItsPath() throws {
        let beacon = """
            {"uuid": "3F2504E0-4F89-41D3-9A0C-0305E82C3301", "major": 1, "minor": 1, "mapId": 1, "x": 1, "y": 2, "power": -60}
            """
        let cases: [(text: String, path: String)] = [
            ("{", "$"),
            (document(format: "x"), "$.format"),
            (document(version: 2), "$.version"),
            (document().replacing("\"beacons\": [], ", with: ""), "$"),
            (document(exponent: "0"), "$.pathLossExponent"),
            (document(exponent: "\"NaN\""), "$.pathLossExponent"),
            (document(beacons: beacon + "," + beacon), "$.beacons[1]"),
            (document(beacons: beacon.replacing("0305E8", with: "")), "$.beacons[0].uuid"),
            (document(beacons: beacon.replacing("\"major\": 1", with: "\"major\": 65536")), "$.beacons[0]"),
            (document(beacons: beacon.replacing("-60", with: "1e999")), "$.beacons[0]"),
            (document(beacons: beacon, readings: reading(beacon: 1)), "$.fingerprints[0].readings[0].beacon"),
            (document(beacons: beacon, readings: reading(beacon: -1)), "$.fingerprints[0].readings[0].beacon"),
            (document(beacons: beacon, readings: reading(count: 0)), "$.fingerprints[0].readings[0]"),
            (document(beacons: beacon, readings: reading(), duration: 0), "$.fingerprints[0]"),
        ]
        let file = try temporaryFolder() + "/map.json"
        for (text, path) in cases {
            try Data(text.utf8).write(to: URL(filePath: file))
            XCTAssertThrowsError(try RadioMapFile.read(file), text) { error in
                XCTAssertEqual((error as? RadioMapFileError)?.path, path, "\(error)")
            }
        }
        try Data(document(beacons: beacon, readings: reading()).utf8).write(to: URL(filePath: file))
        XCTAssertEqual(try RadioMapFile.read(file).fingerprints.first?.readings.count, 1)
    }

    func testAFileThatIsNotGzipOrIsTruncatedIsRefused() throws {
        let file = try temporaryFolder() + "/map.json.gz"
        var random = SeededGenerator(seed: 5)
        try RadioMapFile.write(radioMap(beacons: 3, using: &random), to: file)
        let bytes = try Data(contentsOf: URL(filePath: file))
        for wrong in [Data(), Data(document().utf8), bytes.prefix(bytes.count / 2), bytes.prefix(20)] {
            try wrong.write(to: URL(filePath: file))
            XCTAssertThrowsError(try RadioMapFile.read(file), "\(wrong.count) bytes")
        }
        XCTAssertThrowsError(try RadioMapFile.read(file + ".missing.gz"))
    }

    func testACompressedFileWithAWrongChecksumIsDamaged() throws {
        let file = try temporaryFolder() + "/map.json.gz"
        var random = SeededGenerator(seed: 5)
        try RadioMapFile.write(radioMap(beacons: 3, using: &random), to: file)
        var bytes = try Data(contentsOf: URL(filePath: file))
        bytes[bytes.count - 8] ^= 1
        try bytes.write(to: URL(filePath: file))
        XCTAssertThrowsError(try RadioMapFile.read(file)) { error in
            XCTAssertTrue(
                "\(error)".contains("is damaged: the checksum of the compressed data is wrong; pack it again"),
                "\(error)")
        }
    }

    func testARadioMapWithANumberThatIsNotFiniteIsNotWritten() throws {
        let folder = try temporaryFolder()
        let wrong = RadioMap(beacons: [], fingerprints: [], pathLossExponent: .nan)
        XCTAssertThrowsError(try RadioMapFile.write(wrong, to: folder + "/map.json"))
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder), [])
    }

    func testAPacketIsWrittenAndReadWithItsRadioMapAsFolderAndAsZip() throws {
        var random = SeededGenerator(seed: 6)
        let folder = try temporaryFolder()
        let map = VenueMap(id: 1, name: "b", level: 0, width: 10, height: 10)
        let venue = Venue(id: 3, name: "a", maps: [map], radioMap: radioMap(beacons: 4, using: &random))
        try VenuePacketWriter().write(venue, toFolder: folder + "/packet")
        XCTAssertEqual(try VenuePacketReader().read(folder + "/packet").venue, venue)
        try VenuePacketWriter().pack(folder: folder + "/packet", toZip: folder + "/packet.zip")
        XCTAssertEqual(try VenuePacketReader().read(folder + "/packet.zip").venue, venue)
    }

    func testARadioMapOfAnotherVenueIsAProblemOfThePacket() throws {
        var random = SeededGenerator(seed: 6)
        let folder = try temporaryFolder()
        let map = VenueMap(id: 2, name: "b", level: 0, width: 10, height: 10)
        let venue = Venue(id: 3, name: "a", maps: [map], radioMap: radioMap(beacons: 4, using: &random))
        try VenuePacketWriter().write(venue, toFolder: folder)
        XCTAssertEqual(VenuePacketReader().check(folder).map(\.path), ["$.radioMap"])
    }

    func testAGivenRadioMapReplacesThePacketsOwn() throws {
        let packet = try FixtureFolder("packets/accepted/radio-map").path
        let file = try temporaryFolder() + "/map.json"
        let given = RadioMap(beacons: [], fingerprints: [], pathLossExponent: 3)
        try RadioMapFile.write(given, to: file)
        XCTAssertEqual(try VenuePacketReader().read(packet, radioMap: file).venue.radioMap, given)
    }

    func testAGivenRadioMapOfAnotherVenueOrThatIsMissingIsRefused() throws {
        let packet = try FixtureFolder("packets/accepted/smallest").path
        let other = try FixtureFolder("packets/rejected/radio-map-of-another-venue").file("map.json")
        for file in [other, packet + "/missing.json"] {
            XCTAssertThrowsError(try VenuePacketReader().read(packet, radioMap: file)) { error in
                XCTAssertEqual((error as? VenuePacketError)?.problems.map(\.path), ["$.radioMap"], file)
            }
        }
    }

    private func radioMap(beacons count: Int, using random: inout SeededGenerator) -> RadioMap {
        let beacons = (0..<count).map { index in
            RadioMap.Beacon(
                identity: BeaconIdentity(
                    uuid: BeaconUUID(high: random.next(), low: 1), major: 0, minor: UInt16(index)),
                mapID: 1, point: MapPoint(x: random.uniform() * 30, y: random.uniform() * 30),
                z: random.uniform() < 0.5 ? nil : 2.5, power: -60 + random.uniform())
        }
        let fingerprints = (0..<count * 3).map { _ in
            RadioMap.Fingerprint(
                mapID: 1, point: MapPoint(x: random.uniform() * 30, y: random.uniform() * 30),
                duration: 0.1 + random.uniform(),
                readings: (0..<count).map { beacon in
                    RadioMap.Reading(
                        beacon: beacon, rssi: -90 * random.uniform(), count: beacon + 1,
                        weight: beacon % 2 == 0 ? 0 : random.uniform())
                })
        }
        return RadioMap(beacons: beacons, fingerprints: fingerprints, pathLossExponent: 2.1)
    }

    private func document(
        format: String = "indoor-localization-radio-map", version: Int = 1, exponent: String = "2",
        beacons: String = "", readings: String? = nil, duration: Double = 1, fit: String? = nil
    ) -> String {
        let fingerprints = readings.map {
            "{\"mapId\": 1, \"x\": 1, \"y\": 1, \"duration\": \(duration), \"readings\": [\($0)]}"
        }
        return "{\"format\": \"\(format)\", \"version\": \(version), \"unknown\": 1, "
            + (fit.map { "\"fit\": \($0), " } ?? "")
            + "\"beacons\": [\(beacons)], \"fingerprints\": [\(fingerprints ?? "")], \"pathLossExponent\": \(exponent)}"
    }

    private func reading(beacon: Int = 0, count: Int = 1) -> String {
        "{\"beacon\": \(beacon), \"rssi\": -70.5, \"count\": \(count)}"
    }
}

/// The numbers of elements and the size of a radio map.
final class RadioMapLimitTests: XCTestCase {
    /// A document of two beacons and two fingerprints with one reading each.
    private let document: [UInt8] = {
        let beacon =
            #"{"uuid":"00000000-0000-4000-8000-000000000001","major":1,"minor":1,"mapId":1,"x":0,"y":0,"power":-59}"#
        let reading = #"{"beacon":0,"rssi":-60,"count":1}"#
        let fingerprint = #"{"mapId":1,"x":0,"y":0,"duration":1,"readings":[\#(reading)]}"#
        let text =
            #"{"format":"indoor-localization-radio-map","version":1,"pathLossExponent":2,"#
            + #""beacons":[\#(beacon),\#(beacon)],"fingerprints":[\#(fingerprint),\#(fingerprint)]}"#
        return Array(text.utf8)
    }()

    func testEachNumberOfElementsIsLimited() {
        let cases: [(limit: WritableKeyPath<InputLimits, Int>, path: String, message: String)] = [
            (\.beacons, "$.beacons", "has more than the limit of 1 entries; survey fewer places"),
            (\.fingerprints, "$.fingerprints", "has more than the limit of 1 entries; survey fewer places"),
            (
                \.radioMapReadings, "$.fingerprints[1].readings",
                "has, with the arrays before it, more than the limit of 1 entries; survey fewer places"
            ),
        ]
        for (limit, path, message) in cases {
            var limits = InputLimits()
            limits[keyPath: limit] = 2
            XCTAssertNoThrow(try RadioMapReader.document(document, limits: limits), path)
            limits[keyPath: limit] = 1
            XCTAssertThrowsError(try RadioMapReader.document(document, limits: limits), path) { error in
                let error = error as? PacketFileError
                XCTAssertEqual(error?.path, path)
                XCTAssertEqual(error?.message, message)
            }
        }
    }

    func testTheSizeIsLimitedAfterDecompression() throws {
        let packed = try GzipData.compressed(document)
        XCTAssertEqual(try GzipData.decompressed(packed, limit: document.count), document)
        XCTAssertThrowsError(try GzipData.decompressed(packed, limit: document.count - 1)) { error in
            XCTAssertEqual(
                (error as? PacketFileError)?.message, "unpacks to more than the limit of \(document.count - 1) bytes")
        }
    }
}
