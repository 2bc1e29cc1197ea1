import IndoorLocalization
import XCTest

@testable import VenuePackets

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
