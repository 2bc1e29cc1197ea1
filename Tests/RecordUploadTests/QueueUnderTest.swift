import Foundation
import IndoorLocalization
import RecordUpload
import XCTest

extension XCTestCase {
    /// Returns a folder that exists until the end of the test.
    func temporaryFolder() throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "upload-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        addTeardownBlock { try? FileManager.default.removeItem(at: folder) }
        return folder.path
    }
}

extension UploadRecord {
    /// Returns records with these times.
    static func numbered(_ numbers: ClosedRange<Int>) -> [UploadRecord] {
        let place = OutdoorPosition(instant: .zero, coordinate: Coordinate(latitude: 48, longitude: 11), radius: 5)
        return numbers.map { UploadRecord(.outdoorPosition(place), unixTime: UnixTime(milliseconds: Int64($0))) }
    }
}

/// A batch as a server decodes it.
struct ReadBatch: Decodable {
    struct Record: Decodable {
        var number: Int64
        var type: String
        var time: Int64?
        var uuid: String?
        var major: Int?
        var minor: Int?
        var rssi: Double?
        var count: Int?
        var proximity: String?
        var distance: Double?
        var x: Double?
        var latitude: Double?
        var label: String?
    }

    var format: String
    var version: Int
    var batch: String
    var device: String
    var dropped: Int
    var records: [Record]

    init(_ body: some Sequence<UInt8>) throws { self = try JSONDecoder().decode(ReadBatch.self, from: Data(body)) }
}
