import Foundation
import IndoorLocalizationTesting
import LiveMap
import LoopbackServers
import XCTest

/// The addresses of the server, and the access to it.
final class LiveMapAccessTests: XCTestCase {
    private static let token = "correct-horse.battery~staple"
    private let content = StagedContent(frames: 2)

    /// Returns the name of the cookie, with the first digits that `printf %s TOKEN | sha256sum` prints.
    private static func cookie(_ port: UInt16) -> String { "live-map-\(port)-4ce03b22" }

    private func server(_ address: String = "127.0.0.1:0", token: String? = nil) throws -> LiveMapServer {
        let server = try LiveMapServer(content: content, address: try LiveMapAddress(address), token: token)
        addTeardownBlock { server.stop() }
        return server
    }

    private func error(_ reply: RawClient.Reply) throws -> String {
        try XCTUnwrap(JSONDecoder().decode([String: String].self, from: Data(reply.body))["error"])
    }

    /// Returns the error of a server's start.
    private func failure(_ address: String, token: String? = nil) throws -> LiveMapError {
        do throws(LiveMapError) {
            let server = try LiveMapServer(content: content, address: try LiveMapAddress(address), token: token)
            server.stop()
            throw LiveMapError.badAddress(text: address, reason: "no error occurred")
        } catch { return error }
    }

    func testAnAddressIsReadFromText() throws {
        for (text, host, port, isLoopback) in [
            ("127.0.0.1:8080", "127.0.0.1", 8080, true), ("8080", "127.0.0.1", 8080, true),
            ("localhost" + ":80", "localhost", 80, true), ("LOCALHOST" + ":0", "localhost", 0, true),
            ("[::1]:65535", "::1", 65_535, true), ("127.8.9.1:1", "127.8.9.1", 1, true),
            ("0.0.0.0:8080", "0.0.0.0", 8080, false), ("[::]:8080", "::", 8080, false),
            ("192.168.1.20:8080", "192.168.1.20", 8080, false), ("[fe80::1]:8080", "fe80::1", 8080, false),
        ] {
            let address = try LiveMapAddress(text)
            XCTAssertEqual(address.host, host, text)
            XCTAssertEqual(Int(address.port), port, text)
            XCTAssertEqual(address.isLoopback, isLoopback, text)
            XCTAssertEqual(try LiveMapAddress(address.description), address, text)
        }
        for text in [
            "", ":", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:8080x", "::1:8080",
            "[127.0.0.1]:80", "[::1]", "example.org:8080", "127.0.0.1 :80", "[]:80", ":8080", "1.2.3.4.5:80",
            "127.0.0.1:\u{0663}", "127.0.0.1:99999999999999999999",
        ] {
            XCTAssertThrowsError(try LiveMapAddress(text), text) { error in
                guard case LiveMapError.badAddress(let given, _) = error else { return XCTFail("\(error)") }
                XCTAssertEqual(given, text)
            }
        }
    }

    func testAnAddressThatOtherHostsReachRequiresAToken() throws {
        for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
            XCTAssertEqual(try failure(address), .tokenRequired(try LiveMapAddress(address)))
        }
        for token in ["", "short", String(repeating: "a", count: 15), "sixteen chars; or", "sixteen\r\ncharacters"] {
            guard case .badToken = try failure("127.0.0.1:0", token: token) else { return XCTFail(token) }
        }
        let server = try server("0.0.0.0:0", token: Self.token)
        let reply = try RawClient.get("/api/v1/health", port: server.address.port)
        XCTAssertEqual(reply.status, 401)
    }

    func testTheErrorOfAnAddressNamesItsReason() throws {
        let port = try server().address.port
        let address = try LiveMapAddress("127.0.0.1:\(port)")
        XCTAssertEqual(try failure("127.0.0.1:\(port)"), .addressInUse(address))
        XCTAssertTrue("\(LiveMapError.addressInUse(address))".contains("127.0.0.1:\(port) is in use"))
        guard case .addressInUse = try failure("localhost" + ":\(port)") else { return XCTFail("in use") }
        // An address for documentation, which no host has (RFC 5737).
        XCTAssertEqual(
            try failure("192.0.2.1:80", token: Self.token), .addressNotAvailable(try LiveMapAddress("192.0.2.1:80")))
    }

    func testLocalhostMeansBothLoopbackAddresses() throws {
        let server = try server("localhost" + ":0")
        XCTAssertNotEqual(server.address.port, 0)
        for host in ["127.0.0.1", "::1"] {
            let client = try RawClient(port: server.address.port, host: host)
            client.send("GET /api/v1/health HTTP/1.0\r\nHost: localhost:\(server.address.port)\r\n\r\n")
            try client.receiveAll()
            XCTAssertEqual(try client.reply().status, 200, host)
        }
    }

    func testANameOfAnotherSiteIsRefused() throws {
        let port = try server().address.port
        for host in ["127.0.0.1:\(port)", "localhost:\(port)", "LocalHost:\(port)", "[::1]:\(port)"] {
            XCTAssertEqual(try RawClient.get("/", port: port, host: host).status, 200, host)
        }
        for host in ["evil.example:\(port)", "127.0.0.1", "localhost", "127.0.0.1:1", "127.0.0.1:\(port)x", "a\tb"] {
            for target in ["/", "/api/v1/venue", "/api/v1/stream", "/metrics"] {
                let reply = try RawClient.get(target, port: port, host: host)
                XCTAssertEqual(reply.status, 403, "\(host) \(target)")
                XCTAssertTrue(try error(reply).contains("Host"))
            }
        }
    }

    func testARequestNeedsTheToken() throws {
        let port = try server(token: Self.token).address.port
        for target in ["/", "/index.html", "/api/v1/venue", "/api/v1/stream", "/metrics", "/none", "/api/v1/health"] {
            for header in [
                [], ["Authorization: Bearer \(Self.token)x"], ["Authorization: Bearer \(Self.token.dropLast())"],
                ["Authorization: Bearer"], ["Authorization: Basic \(Self.token)"], ["Authorization: \(Self.token)"],
                ["Cookie: \(Self.cookie(port))=\(Self.token)x"], ["Cookie: \(Self.cookie(1))=\(Self.token)"],
                ["Cookie: \(Self.cookie(port))="], ["Authorization: Bearer "],
                ["Cookie: \(Self.cookie(port))=\(Self.token)", "Authorization: bearer \(Self.token)x"],
            ] {
                let reply = try RawClient.get(target, port: port, headers: header)
                XCTAssertEqual(reply.status, 401, "\(target) \(header)")
                XCTAssertEqual(reply.headers["www-authenticate"], "Bearer realm=\"live map\"")
                XCTAssertTrue(try error(reply).lowercased().contains("token"))
                XCTAssertNil(reply.headers["set-cookie"])
            }
        }
        XCTAssertEqual(content.readers, 0)
        // With the token, a reverse proxy's name is accepted.
        for host in ["127.0.0.1:\(port)", "map.example.org"] {
            let reply = try RawClient.get(
                "/api/v1/venue", port: port, host: host, headers: ["Authorization: Bearer \(Self.token)"])
            XCTAssertEqual(reply.status, 200)
        }
    }

    func testThePageStoresTheTokenInACookie() throws {
        let port = try server(token: Self.token).address.port
        XCTAssertEqual(try RawClient.get("/?token=\(Self.token)x", port: port).status, 401)
        XCTAssertEqual(try RawClient.get("/api/v1/venue?token=\(Self.token)", port: port).status, 401)
        let page = try RawClient.get("/?token=\(Self.token)", port: port)
        XCTAssertEqual(page.status, 200)
        XCTAssertEqual(page.headers["cache-control"], "no-store")
        let cookie = try XCTUnwrap(page.headers["set-cookie"])
        let parts = cookie.components(separatedBy: "; ")
        XCTAssertTrue(parts.contains("HttpOnly"))
        XCTAssertTrue(parts.contains("SameSite=Strict"))
        XCTAssertFalse(parts.contains("Secure"))
        for header in [["Cookie: \(parts[0])"], ["Cookie: a=b; \(parts[0]); c=d"]] {
            XCTAssertEqual(try RawClient.get("/api/v1/venue", port: port, headers: header).status, 200)
        }
        let secure = try RawClient.get("/?token=\(Self.token)", port: port, headers: ["X-Forwarded-Proto: https"])
        XCTAssertTrue(try XCTUnwrap(secure.headers["set-cookie"]).hasSuffix("; Secure"))
    }

    func testTheCredentialsOfAReverseProxyDoNotReplaceTheToken() throws {
        let port = try server(token: Self.token).address.port
        let basic = "Authorization: Basic dXNlcjpwYXNzd29yZA=="
        let page = try RawClient.get("/?token=\(Self.token)", port: port, headers: [basic])
        XCTAssertEqual(page.status, 200)
        let cookie = try XCTUnwrap(page.headers["set-cookie"]?.components(separatedBy: "; ").first)
        let reply = try RawClient.get("/api/v1/venue", port: port, headers: [basic, "Cookie: \(cookie)"])
        XCTAssertEqual(reply.status, 200)
    }

    func testTwoTokensHaveTwoCookies() throws {
        let other = "another-token-of-a-server"
        let port = try server(token: other).address.port
        let name = try XCTUnwrap(
            RawClient.get("/?token=\(other)", port: port).headers["set-cookie"]?.components(separatedBy: "=").first)
        XCTAssertTrue(name.hasPrefix("live-map-\(port)-"), name)
        XCTAssertNotEqual(name.suffix(8), Self.cookie(port).suffix(8))
    }

    func testAnotherSiteCannotMarkWithTheCookie() throws {
        let port = try server(token: Self.token).address.port
        let headers = ["Cookie: \(Self.cookie(port))=\(Self.token)", "Content-Type: application/json"]
        for (origin, status) in [("https://evil.example", 403), ("https://map.example.org", 204)] {
            let reply = try RawClient.request(
                "POST", "/api/v1/marks", port: port, host: "map.example.org", headers: headers + ["Origin: \(origin)"],
                body: #"{"mapId": 1, "x": 1, "y": 2}"#)
            XCTAssertEqual(reply.status, status, origin)
        }
    }

    func testAStoppedServerFreesThePort() throws {
        // No other process gets this port meanwhile.
        let address = "127.0.0.1:\(try TestPort.free())"
        let first = try server(address)
        let stream = try RawClient.stream(port: first.address.port)
        try stream.receive { $0.contains("id: 2\n") }
        let idle = try RawClient(port: first.address.port)
        first.stop()
        try stream.receiveAll()
        try idle.receiveAll()
        XCTAssertEqual(first.requestCount, 0)
        first.stop()
        let second = try server(address)
        XCTAssertEqual(try RawClient.get("/", port: second.address.port).status, 200)
    }

    func testAReleasedServerStops() throws {
        let address = "127.0.0.1:\(try TestPort.free())"
        var first: LiveMapServer? = try LiveMapServer(content: content, address: try LiveMapAddress(address))
        let stream = try RawClient.stream(port: try XCTUnwrap(first).address.port)
        try stream.receive { $0.contains("id: 2\n") }
        first = nil
        try stream.receiveAll()
        XCTAssertNoThrow(try server(address))
    }
}

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
