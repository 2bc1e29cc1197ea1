import Foundation
import LiveMap
import LoopbackServers
import XCTest

/// The live map of `serve`.
final class ServeLiveMapTests: XCTestCase {
    private func curl(_ arguments: String...) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["curl", "-sS", "--max-time", "180"] + arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }

    /// Starts the service, and returns it with its URL.
    private func service(_ options: [String]) throws -> (ServiceProcess, String) {
        let folder = try temporaryFolder()
        let service = try ServiceProcess(
            ServiceProcess.walk("one-floor", from: 5) + ["--state-directory", folder] + options)
        try service.waitForError("live map: http://")
        let line = try XCTUnwrap(service.errors.first { $0.contains("live map: http://") })
        let url = line[try XCTUnwrap(line.range(of: "http://")).lowerBound...].prefix { $0 != " " }
        return (service, String(url))
    }

    func testTheServiceServesItsSession() throws {
        let (service, url) = try service(["--http", "127.0.0.1:0"])
        try service.wait(for: "\"type\":\"position\"")
        let overview = try JSONDecoder().decode(
            LiveMapOverview.self, from: Data(try curl("--fail", url + "api/v1/venue").output.utf8))
        XCTAssertEqual(overview.mode, .live)
        XCTAssertEqual(overview.venues.map(\.id), [1])
        XCTAssertFalse(overview.acceptsMarks)
        // A frame with a position, and the end of the stream with the service.
        let stream = Process()
        stream.executableURL = URL(filePath: "/usr/bin/env")
        stream.arguments = ["curl", "-sS", "--no-buffer", url + "api/v1/stream"]
        let output = Pipe()
        stream.standardOutput = output
        try stream.run()
        var text = ""
        while !(text.contains("\"estimate\":{") && text.contains("\"venueId\":1")) {
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { break }
            text += String(decoding: data, as: UTF8.self)
        }
        XCTAssertTrue(text.contains("event: frame\n"), String(text.prefix(400)))
        XCTAssertTrue(text.contains("\"venueId\":1"), String(text.prefix(400)))
        let metrics = try curl("--fail", url + "metrics").output
        XCTAssertTrue(metrics.contains("\nindoorloc_positions_total "), metrics)
        XCTAssertTrue(metrics.hasSuffix("# EOF\n"), metrics)
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0, "\(service.errors)")
        _ = try output.fileHandleForReading.readToEnd()
        stream.waitUntilExit()
        XCTAssertEqual(try curl(url).status, 7, "the port is free")
    }

    func testAnAddressInUseEndsTheServiceBeforeItsSession() throws {
        let (service, url) = try service(["--http", "127.0.0.1:0"])
        let port = try XCTUnwrap(URL(string: url)?.port)
        let folder = try temporaryFolder()
        let result = try Tool.run(
            ["serve"] + (try ServiceProcess.walk("one-floor")) + ["--state-directory", folder, "--http", "\(port)"])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("The address 127.0.0.1:\(port) is in use"), result.errors)
        XCTAssertFalse(result.errors.contains("session started"), result.errors)
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0)
    }

    func testTheTokenIsReadFromAFileThatOtherUsersCannotRead() throws {
        let file = try temporaryFolder() + "/token"
        try Data("0123456789abcdef\nsecond line\n".utf8).write(to: URL(filePath: file))
        let options = ["--http", "127.0.0.1:0", "--http-token-file", file]
        for mode in [0o644, 0o604] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
            let result = try Tool.run(["serve"] + (try ServiceProcess.walk("one-floor")) + options)
            XCTAssertEqual(result.status, 1)
            XCTAssertTrue(result.errors.contains("chmod 600"), result.errors)
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        let (service, url) = try service(options)
        XCTAssertEqual(try curl("--fail", url + "api/v1/health").status, 22)
        let health = try curl("--fail", "-H", "Authorization: Bearer 0123456789abcdef", url + "api/v1/health")
        XCTAssertTrue(health.output.contains("\"status\":\"ok\""), health.output)
        XCTAssertFalse(service.errors.contains { $0.contains("0123456789abcdef") })
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0)
        try Data("short\n".utf8).write(to: URL(filePath: file))
        let short = try Tool.run(["serve"] + (try ServiceProcess.walk("one-floor")) + options)
        XCTAssertEqual(short.status, 1)
        XCTAssertTrue(short.errors.contains("--http-token-file \(file): Invalid token: it has 5 "), short.errors)
        XCTAssertTrue(short.errors.contains("at least 16"), short.errors)
        try FileManager.default.removeItem(atPath: file)
        let missing = try Tool.run(["serve"] + (try ServiceProcess.walk("one-floor")) + options)
        XCTAssertEqual(missing.status, 1)
        XCTAssertTrue(missing.errors.contains("; create it with 'openssl rand -hex 16 >\(file)'"), missing.errors)
    }

    func testInvalidOptionsAreUsageErrors() throws {
        for (options, reason) in [
            (["--http", "0.0.0.0:8080"], "add --http-token-file"), (["--http", "[::]:8080"], "add --http-token-file"),
            (["--http", "127.0.0.1"], "expected HOST:PORT or PORT"), (["--http", "example.org:80"], "numeric address"),
            (["--http-token-file", "token"], "requires --http"),
        ] {
            for command in ["serve", "locate"] {
                let result = try Tool.run([command, "--venue", "Fixtures/office"] + options)
                XCTAssertEqual(result.status, 2, "\(options)")
                XCTAssertTrue(result.errors.contains(reason), "\(options): \(result.errors)")
            }
        }
    }
}
