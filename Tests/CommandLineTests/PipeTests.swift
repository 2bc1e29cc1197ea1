import Foundation
import XCTest

/// Input files from pipes.
final class PipeTests: XCTestCase {
    /// Runs a shell command in which `$T` is the tool.
    private func shell(_ line: String) throws -> Tool.Result {
        try Tool.run(["-c", "set -o pipefail; T='\(try Tool.path())'; " + line], program: "/bin/bash")
    }

    /// A command line with the file's path, and shell commands that pass the file through a pipe.
    private func assertPipes(
        _ file: String, _ call: (String) -> String, line: UInt = #line
    ) throws {
        let plain = try shell(call(file))
        XCTAssertEqual(plain.status, 0, plain.errors, line: line)
        let fifo = try temporaryFolder() + "/fifo"
        XCTAssertEqual(mkfifo(fifo, 0o600), 0)
        for piped in [
            "cat \(file) | \(call("-"))", "cat \(file) | \(call("/dev/stdin"))", "\(call("-")) < \(file)",
            call("<(cat \(file))"), "cat \(file) > \(fifo) & \(call(fifo))",
        ] {
            let result = try shell(piped)
            XCTAssertEqual(result.status, 0, "\(piped): \(result.errors)", line: line)
            XCTAssertTrue(result.output == plain.output, piped, line: line)
        }
    }

    private let replay = "$T replay --venue Fixtures/office \(ShortDataSet.light.joined(separator: " "))"

    func testReplayReadsARecordingAndACaptureFromPipes() throws {
        let folder = try temporaryFolder()
        let walk = try ShortRecording(lines: 100).write(to: folder)
        try assertPipes(walk) { "\(replay) \($0)" }
        XCTAssertEqual(try Tool.run(["convert", walk, folder + "/walk.btsnoop"]).status, 0)
        try assertPipes(folder + "/walk.btsnoop") { "\(replay) \($0)" }
        XCTAssertEqual(try Tool.run(["convert", walk, folder + "/walk.jsonl.gz"]).status, 0)
        try assertPipes(folder + "/walk.jsonl.gz") { "\(replay) \($0)" }
    }

    func testCommandsReadOtherFilesFromPipes() throws {
        let folder = try temporaryFolder()
        let walk = try ShortRecording(lines: 60).write(to: folder)
        let (settings, zip, map) = (folder + "/settings.json", folder + "/office.zip", folder + "/map.json.gz")
        try Data("{\"positionInterval\": 0.5}".utf8).write(to: URL(filePath: settings))
        XCTAssertEqual(try Tool.run(["venue", "import", "Fixtures/imdf/museum", "-o", zip]).status, 0)
        let survey = "Fixtures/office/survey/ground-west.jsonl"
        XCTAssertEqual(try Tool.run(["survey", "--venue", "Fixtures/office", "-o", map, survey]).status, 0)
        try assertPipes(settings) { "\(replay) \(walk) --settings \($0)" }
        try assertPipes("Fixtures/geofences/office.geojson") { "\(replay) \(walk) --geofences \($0)" }
        try assertPipes(map) { "\(replay) \(walk) --radio-map \($0)" }
        try assertPipes(zip) { "$T venue info \($0)" }
        try assertPipes(survey) { "$T survey --venue Fixtures/office -o /dev/null \($0)" }
        try assertPipes("Fixtures/office/paths/track-upper.json") {
            "$T simulate --venue Fixtures/office -o /dev/stdout --path \($0)"
        }
    }

    func testAnOutputThatIsStandardInputIsRefused() throws {
        let walk = try ShortRecording(lines: 60).write(to: temporaryFolder())
        let before = try bytes(walk)
        let result = try shell("\(replay) --geojson \(walk) --overwrite - < \(walk)")
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("is also an input of this command"), result.errors)
        XCTAssertEqual(try bytes(walk), before)
    }

    func testStandardInputCanBeGivenOnlyOnce() throws {
        let result = try Tool.run(["replay", "--venue", "-", "-"])
        XCTAssertEqual(result.status, 2)
        XCTAssertTrue(result.errors.contains("'-' (standard input) can be given only once"), result.errors)
    }

    /// Positions are printed while the pipe is open, not at its end.
    func testReplayPrintsPositionsWhileThePipeIsOpen() throws {
        let folder = try temporaryFolder()
        let walk = try ShortRecording(lines: 400).write(to: folder)
        // The second half is written only after the service has ended with its first position.
        let result = try shell(
            """
            mkfifo \(folder)/in \(folder)/go
            exec 3<>\(folder)/go
            (head -n 350 \(walk); read -r -u 3 _; tail -n +351 \(walk)) > \(folder)/in &
            $T serve --venue Fixtures/office --state-directory \(folder)/state --replay \(folder)/in --once
            echo go >&3
            """)
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertTrue(result.output.contains("\"type\":\"position\""), result.output)
    }

    /// The writer waits for a position before it ends, as a recorder in the next room would.
    func testReplayAndConvertFollowAPipeWhoseWriterKeepsItOpen() throws {
        let folder = try temporaryFolder()
        let walk = try ShortRecording(lines: 400).write(to: folder)
        for command in [
            "\(replay) \(folder)/in",
            "$T convert \(folder)/in - | \(replay) -",
        ] {
            let result = try shell(
                """
                rm -f \(folder)/in \(folder)/out; mkfifo \(folder)/in \(folder)/out
                exec 4<>\(folder)/out
                { \(command) > \(folder)/out; } &
                exec 5>\(folder)/in
                head -n 350 \(walk) >&5
                while read -r -t 120 -u 4 line; do case $line in *'"type":"position"'*) echo "$line"; break;; esac; done
                tail -n +351 \(walk) >&5
                exec 5>&-
                wait
                """)
            XCTAssertEqual(result.status, 0, "\(command): \(result.errors)")
            XCTAssertTrue(result.output.contains("\"type\":\"position\""), "\(command): \(result.errors)")
        }
    }
}
