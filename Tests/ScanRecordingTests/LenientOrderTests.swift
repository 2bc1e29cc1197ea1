import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import XCTest

final class LenientOrderTests: XCTestCase {
    private struct Reading {
        /// The times that the reader returned, in seconds.
        var kept: [Double] = []
        /// The number of lines that it had read, of which the first is the header, when it returned each of them.
        var lines: [Int] = []
        var tally = RecordingReader.Tally()
    }

    /// Returns what a lenient reader finds in a recording with a step at each of the times.
    private func read(_ times: [Double], padding: String = "") throws -> Reading {
        let header = #"{"type":"header","format":"indoor-localization-recording","version":1}"#
        let lines = [header] + times.map { #"{"t":\#($0),"type":"step","padding":"\#(padding)"}"# }
        let folder = try TemporaryFolder()
        let path = try folder.write("r.jsonl", lines.joined(separator: "\n") + "\n")
        var reader = try RecordingReader(path: path, strictness: .lenient)
        var reading = Reading()
        while let entry = try reader.next() {
            guard let instant = entry.instant else { continue }
            reading.kept.append(instant.seconds)
            reading.lines.append(reader.tally.lines)
        }
        reading.tally = reader.tally
        return reading
    }

    private func seconds(_ range: ClosedRange<Int>) -> [Double] { range.map { Double($0) } }

    func testSeveralLinesInARowThatAreFarAheadAreSkipped() throws {
        let reading = try read([1, 2, 1000, 1001, 1002, 3, 4, 5])
        XCTAssertEqual(reading.kept, [1, 2, 3, 4, 5])
        XCTAssertEqual(reading.tally.skippedLines, 3)
        XCTAssertEqual(reading.tally.errors.map(\.line), [4, 5, 6])
        XCTAssertEqual(
            reading.tally.errors.map(\.problem),
            [1000, 1001, 1002].map { RecordingError.Problem.timeWentBackwards(from: $0, to: 3) })
    }

    func testTheLinesAroundShowWhichOfThoseAfterALeapAreOutOfOrder() throws {
        let cases: [(times: [Double], kept: [Double])] = [
            // The first lines are ahead.
            ([1000, 1001, 1, 2, 3], [1, 2, 3]),
            // Single lines, ahead and behind, in a recording that leaps.
            ([1, 2, 1000, 1001, 3, 1002, 1003], [1, 2, 1000, 1001, 1002, 1003]),
            ([1, 2, 1000, 1005, 1001, 1002], [1, 2, 1000, 1001, 1002]),
            ([1, 2, 1000, 1001, 0, 0, 0, 1002], [1, 2, 1000, 1001, 1002]),
            // A leap during another one.
            ([1, 2, 1000, 1001, 5000, 5001, 1002, 1003], [1, 2, 1000, 1001, 1002, 1003]),
            // A single line behind doesn't show that the lines ahead are wrong, and a second one does.
            ([1, 2, 1000, 1001, 3], [1, 2, 1000, 1001]), ([1, 2, 1000, 1001, 3, 4], [1, 2, 3, 4]),
            ([1, 2, 1000, 1001], [1, 2, 1000, 1001]),
        ]
        for (times, kept) in cases {
            let reading = try read(times)
            XCTAssertEqual(reading.kept, kept, "\(times)")
            XCTAssertEqual(reading.tally.skippedLines, times.count - kept.count, "\(times)")
        }
    }

    func testABurstAheadIsSkippedWhereverItIs() throws {
        let seed: UInt64 = 801
        var generator = SeededGenerator(seed: seed)
        let times = seconds(0...49)
        for position in 0...(times.count - 2) {
            let ahead = Double(position) + Double.random(in: 20...1e6, using: &generator)
            let burst = (0..<Int.random(in: 1...90, using: &generator)).map { ahead + Double($0) / 10 }
            var all = times
            all.insert(contentsOf: burst, at: position)
            let reading = try read(all)
            XCTAssertEqual(reading.kept, times, "before \(position), seed \(seed)")
            XCTAssertEqual(reading.tally.skippedLines, burst.count, "before \(position), seed \(seed)")
        }
    }

    func testNoLineIsLostAfterAClockThatStepsForward() throws {
        let times = seconds(0...19) + seconds(3600...3639) + [9000, 20_000, 20_001]
        let reading = try read(times)
        XCTAssertEqual(reading.kept, times)
        XCTAssertEqual(reading.tally.skippedLines, 0)
    }

    func testLinesAreHeldForTenSecondsAfterALeapOnly() throws {
        let times = [1, 2, 12] + seconds(100...120)
        let reading = try read(times)
        XCTAssertEqual(reading.kept, times)
        // The time 100 is in line 5, and 110 in line 15.
        let afterTheLeap = Array(repeating: 15, count: 10) + Array(16...25) + [25]
        XCTAssertEqual(reading.lines, [3, 4, 5] + afterTheLeap)
    }

    func testTheLinesHeldAfterALeapHaveALimit() throws {
        let padding = String(repeating: "x", count: 100_000)
        let reading = try read([1] + Array(repeating: 100, count: 20), padding: padding)
        // More than 1 MiB are 11 lines, of which the last one is the 13th of the file.
        let afterTheLeap = Array(repeating: 13, count: 10) + Array(14...22) + [22]
        XCTAssertEqual(reading.lines, [3] + afterTheLeap)
    }

    func testLinesAfterAClockThatStepsBackForGoodAreReported() throws {
        let ahead = seconds(1000...1010)
        let reading = try read([1, 2] + ahead + [3, 4, 5, 1011, 1012])
        XCTAssertEqual(reading.kept, [1, 2] + ahead + [1011, 1012])
        XCTAssertEqual(reading.tally.skippedLines, 3)
        XCTAssertEqual(reading.tally.errors.map(\.line), [15, 16, 17])
        XCTAssertEqual(
            reading.tally.errors.map(\.problem),
            [3, 4, 5].map { RecordingError.Problem.timeWentBackwards(from: 1010, to: $0) })
    }
}
