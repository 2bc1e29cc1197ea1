import XCTest

/// Failures of standard output and standard error.
final class OutputTests: XCTestCase {
    private func replay() throws -> [String] {
        ["replay", "--venue", "Fixtures/office", try ShortRecording(lines: 60).write(to: temporaryFolder())]
    }

    func testAFullDiskIsAFailureWithAMessage() throws {
        let map = try temporaryFolder() + "/map.json"
        for arguments in [
            try replay(), ["--help"], ["--version"], ["venue", "info", "Fixtures/office"],
            ["survey", "--venue", "Fixtures/office", "-o", map, "Fixtures/office/survey/ground-west.jsonl"],
        ] {
            let result = try Tool.run(arguments, device: "/dev/full")
            XCTAssertEqual(result.status, 1, "\(arguments)")
            XCTAssertEqual(result.errors, "indoorloc: standard output: No space left on device\n", "\(arguments)")
        }
    }

    func testAnErrorWithAClosedStandardErrorKeepsItsStatus() throws {
        XCTAssertEqual(try Tool.run(["locate"], errorDevice: "/dev/full").status, 2)
        XCTAssertEqual(try Tool.run(["venue", "info", "/missing"], errorDevice: "/dev/full").status, 1)
    }

    func testAReaderThatClosesThePipeEndsTheToolWithoutAnError() throws {
        // The output exceeds the pipe's capacity, so that the tool writes after the reader has closed it.
        let recording = "Fixtures/office/tracks/upper.jsonl"
        let arguments = ["replay", "--venue", "Fixtures/office", recording]
        let result = try Tool.run(arguments, closesEarly: true)
        XCTAssertEqual(result.output, "{")
        XCTAssertEqual(result.errors, "")
        XCTAssertTrue([0, 128 + SIGPIPE].contains(result.status), "\(result.status)")
    }

    func testAFileInAMissingFolderIsNamedWithTheReason() throws {
        let folder = try temporaryFolder() + "/missing"
        let track = "Fixtures/office/survey/ground-west.jsonl"
        for arguments in [
            ["survey", "--venue", "Fixtures/office", "--output", folder + "/map.json", track],
            [
                "simulate", "--venue", "Fixtures/office", "--path", "Fixtures/office/paths/stairs.json", "--output",
                folder + "/walk.jsonl",
            ],
        ] {
            let result = try Tool.run(arguments)
            XCTAssertEqual(result.status, 1, "\(arguments)")
            XCTAssertTrue(result.errors.contains(folder), result.errors)
            XCTAssertTrue(result.errors.contains("cannot be written"), result.errors)
            XCTAssertFalse(result.errors.contains("NSCocoaErrorDomain"), result.errors)
        }
    }
}
