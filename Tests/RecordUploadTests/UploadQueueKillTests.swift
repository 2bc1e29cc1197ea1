import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import RecordUpload
import XCTest

/// The queue that a process leaves when it is killed while it adds records.
final class UploadQueueKillTests: XCTestCase {
    /// Starts the writer program, which is in the same folder as the tests.
    private func start(_ path: String) throws -> (Process, FileHandle) {
        let tests = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
        let process = Process()
        process.executableURL = tests.resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "KilledProcess")
        process.arguments = ["uploads", path, "1000000"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        return (process, output.fileHandleForReading)
    }

    /// A record is reported once `append` has returned.
    func testEveryReportedRecordSurvivesAKill() async throws {
        let seed: UInt64 = 416
        var random = SeededGenerator(seed: seed)
        let path = try temporaryFolder() + "/uploads.db"
        var expected: Int64 = 0
        for round in 0..<20 {
            let (process, output) = try start(path)
            // The writer is at work once it has printed a number. The kill follows after a random delay.
            var printed = output.availableData
            usleep(UInt32.random(in: 0..<30_000, using: &random))
            kill(process.processIdentifier, SIGKILL)
            printed += try output.readToEnd() ?? Data()
            process.waitUntilExit()
            let context = "round \(round), seed \(seed)"
            let numbers = String(decoding: printed, as: UTF8.self).split(separator: "\n").compactMap { Int64($0) }
            let lastReported = try XCTUnwrap(numbers.last, context)
            let queue = try UploadQueue(path: path, limit: 1_000_000)
            var kept: [Int64] = []
            // In two batches; the first one is confirmed, and the second run of the writer continues after both.
            while let batch = try await queue.nextBatch(size: 10_000, device: "a") {
                kept += try ReadBatch(batch.body).records.map(\.number)
                try await queue.confirm(batch)
            }
            await queue.close()
            // Numbers without a gap from the last round on: all reported records are there, and pairs are complete.
            XCTAssertEqual(kept, Array((expected + 1)...(expected + Int64(kept.count))), context)
            XCTAssertEqual(kept.count % 2, 0, context)
            XCTAssertGreaterThanOrEqual(try XCTUnwrap(kept.last), lastReported, context)
            expected += Int64(kept.count)
        }
    }
}
