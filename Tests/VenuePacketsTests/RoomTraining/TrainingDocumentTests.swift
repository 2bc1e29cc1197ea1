import IndoorLocalization
import VenuePackets
import XCTest

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
