import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import RecordUpload
import XCTest

/// A process that fills a queue is killed, and what it leaves is looked at.
final class UploadQueueKillTests: XCTestCase {
    /// The program lies beside the one that the tests are in.
    private func start(_ path: String) throws -> (Process, FileHandle) {
        let tests = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
        let process = Process()
        process.executableURL = tests.resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "RecordQueueWriter")
        process.arguments = [path, "1000000"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        return (process, output.fileHandleForReading)
    }

    /// Behaviour §4.1, row network loss: what `append` has returned for survives a kill.
    func testEveryRecordThatWasToldOfSurvivesAKill() async throws {
        let seed: UInt64 = 416
        var random = SeededGenerator(seed: seed)
        let path = try temporaryFolder() + "/uploads.db"
        var expected: Int64 = 0
        for round in 0..<20 {
            let (process, output) = try start(path)
            // It is at work once it has told of something; then at any instant of what follows.
            var told = output.availableData
            usleep(UInt32.random(in: 0..<30_000, using: &random))
            kill(process.processIdentifier, SIGKILL)
            told += try output.readToEnd() ?? Data()
            process.waitUntilExit()
            let context = "round \(round), seed \(seed)"
            let numbers = String(decoding: told, as: UTF8.self).split(separator: "\n").compactMap { Int64($0) }
            let lastTold = try XCTUnwrap(numbers.last, context)
            let queue = try UploadQueue(path: path, limit: 1_000_000)
            var kept: [Int64] = []
            // In two batches, of which the first is confirmed: the second run of the writer goes on behind both.
            while let batch = try await queue.nextBatch(size: 10_000, device: "a") {
                kept += try ReadBatch(batch.body).records.map(\.number)
                try await queue.confirm(batch)
            }
            await queue.close()
            // Numbers without a gap, from the last round's on: all that was told of is there, and pairs are whole.
            XCTAssertEqual(kept, Array((expected + 1)...(expected + Int64(kept.count))), context)
            XCTAssertEqual(kept.count % 2, 0, context)
            XCTAssertGreaterThanOrEqual(try XCTUnwrap(kept.last), lastTold, context)
            expected += Int64(kept.count)
        }
    }
}
