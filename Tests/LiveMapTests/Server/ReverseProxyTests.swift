import Foundation
import IndoorLocalizationTesting
import LiveMap
import LoopbackServers
import XCTest

/// A live map behind nginx with TLS, with the documented configuration.
final class ReverseProxyTests: XCTestCase {
    private static let token = "0123456789abcdef"

    /// Returns the lines of the documented location, with the port of a server.
    private func location(_ port: UInt16) throws -> String {
        let checkout = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
            .standardizedFileURL
        let page = checkout.appending(
            path: "Sources/IndoorLocalization/IndoorLocalization.docc/ServingTheLiveMap.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let start = try XCTUnwrap(text.range(of: "location / {\n"))
        let end = try XCTUnwrap(text.range(of: "    }\n", range: start.upperBound..<text.endIndex))
        let lines = String(text[start.upperBound..<end.lowerBound])
        XCTAssertTrue(lines.contains("proxy_pass http://127.0.0.1:8080;"), lines)
        return lines.replacingOccurrences(of: "127.0.0.1:8080", with: "127.0.0.1:\(port)")
    }

    private func curl(_ authority: String, _ arguments: [String]) throws -> (process: Process, output: FileHandle) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["curl", "-sS", "--max-time", "180", "--cacert", authority] + arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        return (process, output.fileHandleForReading)
    }

    private func text(_ authority: String, _ arguments: String...) throws -> String {
        let (process, output) = try curl(authority, arguments)
        let data = try output.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }

    func testTheMapPassesThroughNginxWithTLS() throws {
        let folder = NSTemporaryDirectory() + "live-map-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        addTeardownBlock { try? FileManager.default.removeItem(atPath: folder) }
        let content = StagedContent(frames: 3)
        let server = try LiveMapServer(
            content: content, address: try LiveMapAddress("127.0.0.1:0"), token: Self.token)
        addTeardownBlock { server.stop() }
        let authority = try TestAuthority(in: folder)
        let nginx = try NginxServer(
            root: folder, folder: folder,
            NginxServer.Configuration(location: try location(server.address.port), identity: authority.identity))
        addTeardownBlock { nginx.stop() }
        let (url, trusted) = (nginx.url(scheme: "https"), authority.certificate)
        let bearer = "Authorization: Bearer \(Self.token)"

        let refused = try text(trusted, "-w", "%{http_code}", url + "/api/v1/venue")
        XCTAssertTrue(refused.hasSuffix("401"), refused)
        let page = try text(trusted, "-i", url + "/?token=\(Self.token)")
        XCTAssertTrue(page.lowercased().contains("<!doctype html>"), page)
        XCTAssertTrue(page.contains("default-src 'none'"), page)
        let cookie = try XCTUnwrap(page.split(separator: "\r\n").first { $0.lowercased().hasPrefix("set-cookie: ") })
        XCTAssertTrue(cookie.hasSuffix("; Secure"), String(cookie))
        let value = try XCTUnwrap(cookie.dropFirst("set-cookie: ".count).split(separator: ";").first)
        XCTAssertTrue(try text(trusted, "-b", String(value), url + "/api/v1/venue").contains("\"Office\""))
        XCTAssertEqual(
            try text(
                trusted, "-w", "%{http_code}", "-b", String(value), "-H", "Content-Type: application/json", "-H",
                "Origin: \(url)", "-d", #"{"mapId": 1, "x": 1, "y": 2}"#, url + "/api/v1/marks"), "204")
        XCTAssertEqual(content.marks.count, 1)
        let foreign = try text(
            trusted, "-w", "%{http_code}", "-b", String(value), "-H", "Content-Type: application/json", "-H",
            "Origin: https://evil.example", "-d", #"{"mapId": 1, "x": 1, "y": 2}"#, url + "/api/v1/marks")
        XCTAssertTrue(foreign.hasSuffix("403"), foreign)

        // Each event arrives before the next one is emitted, so nothing waits in a buffer.
        let (process, output) = try curl(trusted, ["--no-buffer", "-H", bearer, url + "/api/v1/stream"])
        var received = ""
        func receive(_ id: Int) throws {
            while !received.contains("id: \(id)\n") {
                let data = output.availableData
                guard !data.isEmpty else { break }
                received += String(decoding: data, as: UTF8.self)
            }
            XCTAssertTrue(received.contains("id: \(id)\n"), received)
        }
        try receive(3)
        for id in 4..<30 {
            content.emit(.event(StagedContent.event(id)))
            try receive(id)
        }
        server.stop()
        _ = try output.readToEnd()
        process.waitUntilExit()
    }
}
