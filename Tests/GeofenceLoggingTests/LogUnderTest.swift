import Foundation
import GeofenceLogging
import IndoorLocalization
import XCTest

extension XCTestCase {
    /// Returns the path of a log that does not exist yet, in a folder that is removed after the test.
    func temporaryLog() throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "geofences-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        addTeardownBlock { try? FileManager.default.removeItem(at: folder) }
        return folder.appending(path: "log.db").path
    }

    /// Returns a record, by default of geofence 7 of venue 1.
    func record(
        at time: Double, fence: Int = 7, venue: VenueID = 1, kind: GeofenceRecord.Kind = .fence, name: String = "door",
        isEntry: Bool = true
    ) -> GeofenceRecord {
        GeofenceRecord(
            time: time, instant: Instant(seconds: time - 1000), venueID: venue, kind: kind, areaID: "\(fence)",
            name: name, isEntry: isEntry)
    }

    /// Asserts that an asynchronous call throws a log error with that reason.
    func assertThrows(
        _ reason: GeofenceLogError.Reason, _ message: String = "", line: UInt = #line,
        _ body: () async throws -> Void
    ) async {
        do {
            try await body()
            XCTFail("no error. \(message)", line: line)
        } catch {
            XCTAssertEqual((error as? GeofenceLogError)?.reason, reason, "\(error). \(message)", line: line)
        }
    }
}
