import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import XCTest

/// The error kinds by which programs distinguish errors in recordings.
final class RecordedErrorKindTests: XCTestCase {
    func testErrorsOfRecordingsAndCapturesHaveTheirKinds() {
        let recordings: [(RecordingError.Problem, LocalizationError.Kind)] = [
            (.unsupportedVersion(2), .versionMismatch), (.unreadable("no"), .storage), (.unwritable("no"), .storage),
            (.empty, .badResponse), (.missingField, .badResponse),
        ]
        for (problem, kind) in recordings { XCTAssertEqual(RecordingError(file: "x", problem: problem).kind, kind) }
        let captures: [(BTSnoopError.Problem, LocalizationError.Kind)] = [
            (.unsupportedVersion(2), .versionMismatch), (.unreadable("no"), .storage),
            (.unsupportedDatalink(7), .notSupported), (.notACapture, .badResponse),
        ]
        for (problem, kind) in captures { XCTAssertEqual(BTSnoopError(file: "x", problem: problem).kind, kind) }
    }

    func testARecordingWithAForeignTraceIDIsReadable() throws {
        let folder = try TemporaryFolder()
        for (text, expected) in [(#""xyz""#, nil), (#""ab12""#, TraceID(rawValue: 0xAB12))] {
            let header = #"{"type":"header","format":"indoor-localization-recording","version":1,"traceId":\#(text)}"#
            var reader = try RecordingReader(path: try folder.write("walk.jsonl", header + "\n"))
            guard case .header(let read)? = try reader.next() else { return XCTFail(text) }
            XCTAssertEqual(read.traceID, expected)
        }
    }

    /// A session that cannot read its recording ends with the error of the recording.
    func testASessionKeepsTheKindOfARecordingError() async throws {
        let folder = try TemporaryFolder()
        let header = #"{"type":"header","format":"indoor-localization-recording","version":99}"#
        let path = try folder.write("new.jsonl", header + "\n")
        let localizer = Localizer(source: RecordingSource(path: path), venues: VenueLibrary([]))
        let errors = localizer.errors
        await localizer.start()
        let error = try await Bounded.first(1, of: errors)[0]
        XCTAssertEqual(error.code, .critical)
        XCTAssertEqual(error.kind, .versionMismatch)
    }
}
