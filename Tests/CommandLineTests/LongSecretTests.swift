import Foundation
import XCTest

/// Files with tokens and passwords that are too long to be one.
final class LongSecretTests: XCTestCase {
    /// A file of its owner with 64 KiB and one byte.
    private func secret(_ text: String = "") throws -> String {
        let path = try temporaryFolder() + "/secret"
        let long = text + String(repeating: "x", count: 65_537 - text.utf8.count)
        try Data(long.utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        return path
    }

    private func assertRefused(_ arguments: [String], _ file: String, line: UInt = #line) throws {
        let result = try Tool.run(arguments + [file])
        XCTAssertEqual(result.status, 1, result.errors, line: line)
        XCTAssertTrue(
            result.errors.contains("\(file): the first line is longer than 65536 bytes"), result.errors, line: line)
    }

    func testTheCredentialsOfAVenueServerHaveALimit() throws {
        let fetch = ["venue", "fetch", "--server", "https://127.0.0.1:1", "--cache", try temporaryFolder()]
        try assertRefused(fetch + ["--token-file"], secret())
        try assertRefused(fetch + ["--user-file"], secret("a:"))
    }

    func testTheTokenOfALiveMapHasALimit() throws {
        let serve = try ["serve"] + ServiceProcess.walk("one-floor") + ["--http", "127.0.0.1:0"]
        try assertRefused(serve + ["--http-token-file"], secret())
    }
}
