import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import TemporaryFiles
import VenuePackets
import XCTest

/// Whom a repository trusts, and to whom it gives credentials.
final class RepositoryTrustTests: XCTestCase {
    private let token = "s3cr3t-t0ken"
    private let password = "p4ssw0rd-x"

    func testAPrivateAuthorityIsTrustedIfItIsGiven() async throws {
        let authority = try TestAuthority(in: try temporaryFolder())
        let server = try nginx(
            serving: try publishedFolder(), NginxServer.Configuration(identity: authority.identity))
        let address = try VenueServer(
            server.url(scheme: "https"), credentials: .bearer(token), certificateAuthority: authority.certificate)
        let repository = VenueRepository(cache: try temporaryFolder(), server: address)
        try assertWhole(try await repository.venue(1), version: 3)
    }

    func testTheServerConfigurationOfTheGuideAcceptsItsToken() async throws {
        let sources = URL(filePath: #filePath).appending(path: "../../../../Sources/IndoorLocalization").standardized
        let guide = sources.appending(path: "IndoorLocalization.docc/VenueServer.md")
        let text = try String(contentsOf: guide, encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let block = lines.drop { !$0.hasPrefix("    map ") }.prefix { $0.hasPrefix("    ") }.joined(separator: "\n")
        let (authority, port) = (try TestAuthority(in: try temporaryFolder()), try TestPort.free())
        var configuration = block
        for (old, new) in [
            ("listen 443", "listen 127.0.0.1:\(port)"), ("/etc/nginx/venues.pem", authority.identity.certificate),
            ("/etc/nginx/venues.key", authority.identity.key), ("/srv/venues", try publishedFolder()),
        ] {
            XCTAssertTrue(configuration.contains(old), "\(old): \(configuration)")
            configuration = configuration.replacing(old, with: new)
        }
        _ = try nginx(serving: try temporaryFolder(), NginxServer.Configuration(http: configuration))
        for (token, isRight) in [("5f2c9a8e1b7d4c30", true), ("5F2C9A8E1B7D4C30", false)] {
            let address = try VenueServer(
                "https://127.0.0.1:\(port)", credentials: .bearer(token), certificateAuthority: authority.certificate)
            let repository = VenueRepository(cache: try temporaryFolder(), server: address)
            if isRight {
                try assertWhole(try await repository.venue(1), version: 3)
            } else {
                let error = await repositoryError { try await repository.venue(1) }
                XCTAssertEqual(error?.statusCode, 401)
            }
        }
    }

    func testTheErrorNamesTheDefectOfACertificate() async throws {
        let authority = try TestAuthority(in: try temporaryFolder())
        let other = try TestAuthority(in: try temporaryFolder())
        for (identity, trusted, advice) in [
            (
                try authority.expired(), authority,
                "renew the server's certificate, or correct this machine's clock"
            ),
            (try authority.stranger(), authority, "use the name that the server's certificate is for"),
            (authority.identity, other, "give the certificate of its authority"),
        ] {
            let server = try nginx(serving: try publishedFolder(), NginxServer.Configuration(identity: identity))
            let address = try VenueServer(server.url(scheme: "https"), certificateAuthority: trusted.certificate)
            let repository = VenueRepository(cache: try temporaryFolder(), server: address)
            let error = await repositoryError { try await repository.venue(1) }
            guard case .untrusted = error else {
                XCTFail("\(String(describing: error))")
                continue
            }
            let text = error?.description ?? ""
            XCTAssertTrue(text.hasSuffix("; " + advice), text)
        }
    }

    func testCredentialsAreNotSentUnencryptedUnlessAllowed() throws {
        let credentials = VenueServerCredentials.bearer(token)
        for url in [
            "http://venues.example.org", "HTTP://venues.example.org", "http://10.0.0.7:8080/a", "http://127.evil.org",
        ] {
            XCTAssertThrowsError(try VenueServer(url, credentials: credentials), url) { error in
                XCTAssertTrue("\(error)".contains("unencrypted"), "\(error)")
                XCTAssertFalse("\(error)".contains(token), "\(error)")
            }
            XCTAssertNoThrow(try VenueServer(url, credentials: credentials, allowsPlainCredentials: true), url)
            XCTAssertNoThrow(try VenueServer(url), url)
        }
        for url in ["https://venues.example.org", "http://127.0.0.1:80", "http://localhost/a", "http://[::1]:8080"] {
            XCTAssertNoThrow(try VenueServer(url, credentials: credentials), url)
        }
    }

    func testAnUnknownAuthorityIsNotTrustedAndGetsNoCredentials() async throws {
        let authority = try TestAuthority(in: try temporaryFolder())
        let other = try TestAuthority(in: try temporaryFolder())
        let server = try nginx(
            serving: try publishedFolder(), NginxServer.Configuration(identity: authority.identity))
        for certificate in [nil, other.certificate, "/nowhere/authority.pem"] {
            let address = try VenueServer(
                server.url(scheme: "https"), credentials: .bearer(token), certificateAuthority: certificate)
            let repository = VenueRepository(cache: try temporaryFolder(), server: address)
            let error = await repositoryError { try await repository.venue(1) }
            guard case .untrusted = error else { return XCTFail("\(String(describing: error))") }
            XCTAssertEqual(error.map { LocalizationError($0).code }, .network)
        }
        XCTAssertEqual(try server.stopAndTellRequests(), [])
    }

    func testAnEncryptedServerCannotRedirectToAnUnencryptedOne() async throws {
        let open = try nginx(serving: try publishedFolder())
        let authority = try TestAuthority(in: try temporaryFolder())
        let redirecting = NginxServer.Configuration(
            location: "return 302 \(open.url())$request_uri;", identity: authority.identity)
        let server = try nginx(serving: try temporaryFolder(), redirecting)
        let address = try VenueServer(
            server.url(scheme: "https"), certificateAuthority: authority.certificate,
            patience: {
                var once = RetryPolicy(); once.attempts = 1; return once
            }())
        let repository = VenueRepository(cache: try temporaryFolder(), server: address)
        let error = await repositoryError { try await repository.venue(1) }
        XCTAssertEqual(error.map { LocalizationError($0).code }, .network)
        XCTAssertEqual(try open.stopAndTellRequests(), [])
    }

    func testAServerThatRequiresCredentialsAcceptsThem() async throws {
        // "user:p4ssw0rd-x" in base 64.
        for (credentials, header) in [
            (VenueServerCredentials.bearer(token), "Bearer \(token)"),
            (.basic(user: "user", password: password), "Basic dXNlcjpwNHNzdzByZC14"),
        ] {
            let guarded = NginxServer.Configuration(location: "if ($http_authorization != '\(header)') { return 401; }")
            let server = try nginx(serving: try publishedFolder(), guarded)
            let address = try awaitedServer(server.url(), credentials: credentials)
            let repository = VenueRepository(cache: try temporaryFolder(), server: address)
            try assertWhole(try await repository.venue(1), version: 3)
            XCTAssertEqual(Set(try server.stopAndTellRequests().map(\.authorization)), [header])
        }
    }

    func testARedirectToAnotherServerDoesNotForwardCredentials() async throws {
        for credentials in [VenueServerCredentials.bearer(token), .basic(user: "user", password: password)] {
            let target = try nginx(serving: try publishedFolder())
            let moved = NginxServer.Configuration(
                location: "return 302 http://localhost:\(target.port)$request_uri;")
            let server = try nginx(serving: try temporaryFolder(), moved)
            let address = try awaitedServer(server.url(), credentials: credentials)
            let repository = VenueRepository(cache: try temporaryFolder(), server: address)
            try assertWhole(try await repository.venue(1), version: 3)
            XCTAssertTrue(try server.stopAndTellRequests().allSatisfy { !$0.authorization.isEmpty })
            let requests = try target.stopAndTellRequests()
            XCTAssertEqual(requests.count, 4)
            XCTAssertTrue(requests.allSatisfy { $0.authorization.isEmpty }, "\(requests)")
        }
    }

    func testNoTextAndNoFileContainsCredentials() async throws {
        let refusing = NginxServer.Configuration(location: "return 401;")
        let server = try nginx(serving: try publishedFolder(), refusing)
        for (credentials, secret) in [
            (VenueServerCredentials.bearer(token), token), (.basic(user: "user", password: password), password),
        ] {
            let cache = try temporaryFolder()
            let address = try awaitedServer(server.url(), credentials: credentials)
            let repository = VenueRepository(cache: cache, server: address)
            let error = await repositoryError { try await repository.venue(1) }
            var texts = ["\(credentials)", String(reflecting: credentials), "\(address)", String(reflecting: address)]
            texts += ["\(repository)", String(reflecting: repository)]
            for value: Any in [credentials, address, repository, error as Any] {
                var dumped = ""
                dump(value, to: &dumped)
                texts += [dumped, "\(value)"]
            }
            if let error { texts += ["\(LocalizationError(error))", "\(error)", error.localizedDescription] }
            for name in try FileManager.default.subpathsOfDirectory(atPath: cache) {
                texts.append((try? String(contentsOf: URL(filePath: cache + "/" + name), encoding: .utf8)) ?? "")
            }
            for text in texts { XCTAssertFalse(text.contains(secret), text) }
        }
    }

    func testAnAddressThatIsInvalidOrContainsCredentialsIsRefusedWithoutQuotingIt() throws {
        for url in [
            "", "venues.example.org", "ftp://venues.example.org", "http://", "http://user:\(password)@host/",
            "http://host/?token=\(token)", "http://host/#\(token)", "http://host/a b", "http://host\r\nX: y",
        ] {
            do throws(VenueRepositoryError) {
                _ = try VenueServer(url)
                XCTFail("\(url) was taken")
            } catch {
                guard case .badServer(let message) = error else { return XCTFail("\(error)") }
                XCTAssertFalse(message.contains(password) || message.contains(token), message)
                XCTAssertEqual(LocalizationError(error).code, .critical)
            }
        }
    }

    func testCredentialsThatAHeaderCannotContainAreRefused() throws {
        for credentials in [
            VenueServerCredentials.bearer(""), .bearer("a b"), .bearer("a\r\nX-Evil: 1"), .bearer("a\u{0}b"),
            .basic(user: "a:b", password: ""), .basic(user: "a", password: "b\nc"),
        ] {
            XCTAssertThrowsError(try VenueServer("http://127.0.0.1", credentials: credentials))
        }
    }

    func testARetryPolicyOutOfRangeIsRefused() throws {
        for change: (inout RetryPolicy) -> Void in [
            { $0.attempts = 0 }, { $0.connectTimeout = .zero }, { $0.stallTimeout = .milliseconds(10) },
            { $0.slowestRate = 0 }, { $0.firstPause = .seconds(-1) }, { $0.transferTimeout = .zero },
            { $0.transferTimeout = .seconds(3601) }, { $0.grace = .seconds(-1) }, { $0.grace = .seconds(3601) },
        ] {
            var patience = RetryPolicy()
            change(&patience)
            XCTAssertThrowsError(try VenueServer("http://127.0.0.1", patience: patience))
        }
    }
}
