import FoundationEssentials
import IndoorLocalization
import TemporaryFiles
import VenuePackets
import XCTest

final class RoomTrainingFileTests: XCTestCase {
    private var training: RoomTrainingSet {
        let beacon = BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 4)
        return RoomTrainingSet(rooms: [
            "Küche \"1\"": RoomFingerprint(samples: [.init(timestamp: 1.5, rssi: [beacon: -70])]),
            "bath": RoomFingerprint(),
        ])
    }

    func testTheReaderReturnsTheSetThatWasWritten() throws {
        let folder = try temporaryFolder()
        let path = folder + "/home.json"
        try RoomTrainingFile.write(training, to: path)
        XCTAssertEqual(try RoomTrainingFile.read(path), training)
    }

    func testAFileOfAnotherKindIsRefused() throws {
        let folder = try temporaryFolder()
        for (name, text, part) in [
            ("other", "{\"format\": \"x\", \"version\": 1, \"rooms\": {}}", "$.format: is \"x\""),
            ("newer", "{\"format\": \"indoor-localization-rooms\", \"version\": 2, \"rooms\": {}}", "$.version: is 2"),
            ("bare", "{}", "the field format is missing"),
        ] {
            let path = folder + "/" + name
            try Data(text.utf8).write(to: URL(filePath: path))
            XCTAssertThrowsError(try RoomTrainingFile.read(path), name) { error in
                XCTAssertTrue("\(error)".hasPrefix("\(path): \(part)"), "\(error)")
            }
        }
        XCTAssertThrowsError(try RoomTrainingFile.read(folder + "/none")) { error in
            XCTAssertTrue("\(error)".contains("there is no"), "\(error)")
        }
    }

    func testAWriteToAMissingFolderIsAnError() throws {
        let folder = try temporaryFolder()
        XCTAssertThrowsError(try RoomTrainingFile.write(training, to: folder + "/none/home.json")) { error in
            XCTAssertTrue("\(error)".contains("cannot be written"), "\(error)")
        }
    }
}

final class TrainingDocumentTests: XCTestCase {
    private let uuid = BeaconUUID(high: 0x7C2F_0A10_0000_4000, low: 0x8000_0000_0000_0010)

    private func beacon(_ major: UInt16, _ minor: UInt16) -> BeaconIdentity {
        BeaconIdentity(uuid: uuid, major: major, minor: minor)
    }

    private func read(_ text: String) throws -> RoomFingerprint {
        try TrainingDocument.read(Array(text.utf8), named: "kitchen")
    }

    func testADocumentIsIdenticalAfterReadingAndWriting() throws {
        let text = """
            [{"devices": {"7C2F0A10-0000-4000-8000-000000000010_Maj:1_Min:2": -70, \
            "7C2F0A10-0000-4000-8000-000000000010_Maj:65535_Min:0": -91}, "timestamp": 1.0}, \
            {"devices": {}, "timestamp": 1489149853.25}]
            """
        let fingerprint = try read(text)
        XCTAssertEqual(fingerprint.samples.map(\.timestamp), [1, 1_489_149_853.25])
        XCTAssertEqual(fingerprint.samples.map(\.rssi), [[beacon(1, 2): -70, beacon(65535, 0): -91], [:]])
        XCTAssertEqual(String(decoding: TrainingDocument.bytes(of: fingerprint), as: UTF8.self), text)
    }

    func testAFingerprintWithoutSamplesIsAnEmptyArray() throws {
        XCTAssertEqual(TrainingDocument.bytes(of: RoomFingerprint()), Array("[]".utf8))
        XCTAssertEqual(try read(" [ ] "), RoomFingerprint())
    }

    func testBeaconNamesMayHaveTheOldFormAndEitherCase() throws {
        let fingerprint = try read(
            "[{\"devices\": {\"7c2f0a10-0000-4000-8000-000000000010.Maj:3.Min:4\": -70.5}, \"timestamp\": 2, \"x\": 0}]"
        )
        XCTAssertEqual(fingerprint.samples.map(\.rssi), [[beacon(3, 4): -70.5]])
        let text = String(decoding: TrainingDocument.bytes(of: fingerprint), as: UTF8.self)
        XCTAssertEqual(
            text, "[{\"devices\": {\"7C2F0A10-0000-4000-8000-000000000010_Maj:3_Min:4\": -70.5}, \"timestamp\": 2.0}]")
    }

    func testAnRSSIThatIsNotAMeasurementIsOmitted() throws {
        let id = "7C2F0A10-0000-4000-8000-000000000010_Maj:1_Min:"
        let fingerprint = try read(
            "[{\"devices\": {\"\(id)1\": 127, \"\(id)2\": 0, \"\(id)3\": -1, \"\(id)4\": -2}, \"timestamp\": 2}]")
        XCTAssertEqual(fingerprint.samples.map(\.rssi), [[beacon(1, 4): -2]])
    }

    func testAnErrorNamesTheDocumentThePathAndTheProblem() {
        for (text, path, part) in [
            ("{}", "$", "not of type"), ("[", "$", "is not JSON"),
            ("[{\"timestamp\": 1}]", "$[0]", "devices is missing"),
            ("[{\"devices\": {}}]", "$[0]", "timestamp is missing"),
            (
                "[{\"devices\": {}, \"timestamp\": 1}, {\"devices\": {\"desk\": -1}, \"timestamp\": 1}]",
                "$[1].devices", "desk"
            ),
            ("[{\"devices\": {\"\(uuid)_Maj:65536_Min:1\": -1}, \"timestamp\": 1}]", "$[0].devices", "65536"),
        ] {
            XCTAssertThrowsError(try read(text), text) { error in
                let error = error as? TrainingFileError
                XCTAssertEqual(error?.file, "kitchen", text)
                XCTAssertEqual(error?.path, path, text)
                XCTAssertTrue(error?.message.contains(part) ?? false, "\(text): \(error?.message ?? "")")
            }
        }
    }
}

/// Fingerprints in the second format of Crownstone's app.
final class FingerprintDocumentTests: XCTestCase {
    private let uuid = BeaconUUID(high: 0x7C2F_0A10_0000_4000, low: 0x8000_0000_0000_0010)

    private func beacon(_ major: UInt16, _ minor: UInt16) -> BeaconIdentity {
        BeaconIdentity(uuid: uuid, major: major, minor: minor)
    }

    private static let text = """
        {"cloudId":"c1","createdAt":1700000000000,"createdByUser":"ana","createdOnDeviceType":"phone",\
        "crownstonesAtCreation":{"1_2":true,"1_3":true},"data":[{"data":{"1_2":-70,"1_3":-81},"dt":0},\
        {"data":{"1_2":-72.5},"dt":1004}],"id":"5f","type":"IN_POCKET","updatedAt":1700000002000}
        """

    private func document(_ text: String = text) throws -> FingerprintDocument {
        try FingerprintDocument(Array(text.utf8), named: "kitchen")
    }

    func testADocumentIsIdenticalAfterReadingAndWriting() throws {
        let document = try document()
        XCTAssertEqual(document.kind, .inPocket)
        XCTAssertEqual(document.cloudID, "c1")
        XCTAssertEqual(document.beaconsAtCreation.map(\.minor).sorted(), [2, 3])
        XCTAssertEqual(String(decoding: document.bytes, as: UTF8.self), Self.text)
    }

    func testTheMomentsOfADocumentAreSamplesWithAPlacement() throws {
        let fingerprint = try document().fingerprint(uuid: uuid)
        XCTAssertEqual(fingerprint.samples.map(\.timestamp), [1_700_000_000, 1_700_000_001.004])
        XCTAssertEqual(
            fingerprint.samples.map(\.rssi), [[beacon(1, 2): -70, beacon(1, 3): -81], [beacon(1, 2): -72.5]])
        XCTAssertEqual(fingerprint.samples.map(\.placement), [.pocket, .pocket])
        let inHand = try document(Self.text.replacingOccurrences(of: "IN_POCKET", with: "FIND_AND_FIX"))
        XCTAssertEqual(inHand.fingerprint(uuid: uuid).samples.map(\.placement), [.hand, .hand])
    }

    func testAFingerprintBecomesADocumentForEachPlacement() throws {
        var fingerprint = RoomFingerprint(samples: [
            .init(timestamp: 10, rssi: [beacon(1, 2): -60]),
            .init(
                timestamp: 11.25,
                rssi: [beacon(1, 3): -65, BeaconIdentity(uuid: .init(high: 1, low: 2), major: 1, minor: 9): -50]),
        ])
        fingerprint.samples.append(.init(timestamp: 20, rssi: [beacon(1, 2): -75], placement: .pocket))
        for (placement, kind, count) in [
            (.hand, .inHand, 2), (.pocket, .inPocket, 1),
        ] as [(RoomFingerprint.Placement, FingerprintDocument.Kind, Int)] {
            let document = FingerprintDocument(
                of: fingerprint, in: placement, id: "a", uuid: uuid, deviceType: "phone", user: "ana")
            XCTAssertEqual(document.kind, kind)
            XCTAssertEqual(document.moments.count, count)
            XCTAssertEqual(try FingerprintDocument(document.bytes, named: "a"), document)
            let back = document.fingerprint(uuid: uuid)
            XCTAssertEqual(back.samples.map(\.timestamp), fingerprint.samples(in: placement).map(\.timestamp))
            XCTAssertEqual(back.samples[0], fingerprint.samples(in: placement)[0])
        }
    }

    func testTheErrorOfABrokenDocumentNamesTheProblem() {
        for (from, to, path, words) in [
            ("IN_POCKET", "ON_HEAD", "$.type", "IN_HAND"), ("\"1_2\":-70", "\"desk\":-70", "$.data[0].data", "desk"),
            ("{\"1_2\":true", "{\"1_2_3\":true", "$.crownstonesAtCreation", "major_minor"),
            ("\"dt\":1004", "\"dx\":1004", "$.data[1]", "dt is missing"),
            ("\"1_2\":-72.5", "\"1_70000\":-72.5", "$.data[1].data", "1_70000"),
        ] {
            XCTAssertThrowsError(try document(Self.text.replacingOccurrences(of: from, with: to))) { error in
                let problem = error as? TrainingFileError
                XCTAssertEqual(problem?.path, path)
                XCTAssertTrue(problem?.message.contains(words) ?? false, "\(error)")
            }
        }
    }

    // MARK: - Whichever format it is

    private let set = """
        {"sphereCloudId":"s","annotation":"by night","device":{"name":"phone 1"},"location":{"name":"kitchen","uid":3},\
        "dataset":[{"timestamp":1500,"devices":{"7C2F0A10-0000-4000-8000-000000000010_Maj:1_Min:2":-70}}]}
        """
    private let fingerprints = """
        {"spheres":{"s":{"sphere":{},"fingerprints":{"1":{"name":"bath","cloudId":"x","fingerprint":[\
        {"timestamp":1.5,"devices":{"7C2F0A10-0000-4000-8000-000000000010_Maj:1_Min:2":-71}}]},\
        "2":{"name":"den","cloudId":"y","fingerprint":[]}}}}}
        """

    func testADataSetHasARoomADeviceAndMilliseconds() throws {
        let document = try RoomDataSetDocument(Array(set.utf8), named: "set")
        XCTAssertEqual(document.device, "phone 1")
        XCTAssertEqual(document.annotation, "by night")
        XCTAssertEqual(document.spheres.map(\.id), ["s"])
        let training = document.spheres[0].training
        XCTAssertEqual(training.rooms.keys.sorted(), ["kitchen"])
        XCTAssertEqual(training.rooms["kitchen"]?.samples, [.init(timestamp: 1.5, rssi: [beacon(1, 2): -70])])
    }

    func testFingerprintsHaveTheirSpheresAndRooms() throws {
        let document = try RoomDataSetDocument(Array(fingerprints.utf8), named: "set")
        let training = try XCTUnwrap(document.spheres.first).training
        XCTAssertEqual(training.rooms.keys.sorted(), ["bath", "den"])
        XCTAssertEqual(training.rooms["bath"]?.samples, [.init(timestamp: 1.5, rssi: [beacon(1, 2): -71])])
    }

    func testEveryFormatIsRecognised() throws {
        let samples = "[{\"devices\": {\"7C2F0A10-0000-4000-8000-000000000010_Maj:1_Min:2\": -70}, \"timestamp\": 1.0}]"
        for (text, room, rooms) in [
            (samples, "attic", ["attic"]), (Self.text, "attic", ["attic"]), (set, nil, ["kitchen"]),
            (fingerprints, nil, ["bath", "den"]),
        ] as [(String, String?, [String])] {
            let training = try RoomTrainingImport.read(Array(text.utf8), named: "a", room: room, uuid: uuid)
            XCTAssertEqual(training.rooms.keys.sorted(), rooms)
        }
        for (text, room, uuid, words) in [
            (samples, nil, uuid, "does not name its room"), (Self.text, nil, uuid, "does not name its room"),
            (Self.text, "attic", nil, "give their UUID"), ("{}", "attic", uuid, "neither"), ("{", nil, nil, "not JSON"),
            ("{\"dataset\":[]}", nil, nil, "names its room"),
        ] as [(String, String?, BeaconUUID?, String)] {
            XCTAssertThrowsError(
                try RoomTrainingImport.read(Array(text.utf8), named: "a", room: room, uuid: uuid)
            ) { error in
                XCTAssertTrue("\(error)".contains(words), "\(error)")
            }
        }
    }

    func testAPlacementIsWrittenOnlyIfItIsThePocket() throws {
        let fingerprint = RoomFingerprint(samples: [
            .init(timestamp: 1, rssi: [:]), .init(timestamp: 2, rssi: [:], placement: .pocket),
        ])
        let bytes = TrainingDocument.bytes(of: fingerprint)
        XCTAssertEqual(
            String(decoding: bytes, as: UTF8.self),
            "[{\"devices\": {}, \"timestamp\": 1.0}, {\"devices\": {}, \"timestamp\": 2.0, \"placement\": \"pocket\"}]")
        XCTAssertEqual(try TrainingDocument.read(bytes, named: "a"), fingerprint)
        let wrong = Array("[{\"devices\": {}, \"timestamp\": 1, \"placement\": \"hat\"}]".utf8)
        XCTAssertThrowsError(try TrainingDocument.read(wrong, named: "a")) { error in
            XCTAssertEqual((error as? TrainingFileError)?.path, "$[0].placement")
        }
    }
}
