import Foundation
import IndoorLocalization
import LoopbackServers
import XCTest

@testable import MQTTSharing

/// Authentication of devices and brokers, and its errors.
final class BrokerTrustTests: XCTestCase {
    private let password = "p4ssw0rd-x"

    /// Returns a broker that accepts `cart` with the password.
    private func guardedBroker() throws -> MosquittoBroker {
        let folder = try temporaryFolder()
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["mosquitto_passwd", "-c", "-b", folder + "/passwords", "cart", password]
        try process.run()
        process.waitUntilExit()
        XCTAssertEqual(process.terminationStatus, 0)
        let lines = "allow_anonymous false\npassword_file \(folder)/passwords"
        return try broker(MosquittoBroker.Configuration(listener: lines), in: folder)
    }

    private func address(
        _ broker: MosquittoBroker, host: String = "127.0.0.1", _ credentials: MQTTCredentials? = nil,
        _ security: MQTTSecurity? = nil
    ) -> MQTTBroker {
        MQTTBroker(host: host, port: broker.port, credentials: credentials, security: security)
    }

    func testTheBrokerAcceptsTheCorrectPassword() async throws {
        let broker = try guardedBroker()
        let file = try temporaryFolder() + "/password"
        try SecretText.write("\(password)\nsecond line\n", to: file)
        let credentials = try MQTTCredentials(user: "cart", passwordFile: file)
        try await MQTTPositionSharing.testConnect(address(broker, credentials))
        let sharing = try MQTTPositionSharing(address(broker, credentials), device: DeviceID("cart"))
        try await sharing.connect()
        try await sharing.join("hall")
        await sharing.disconnect()
    }

    func testAWrongOrMissingPasswordIsRefusedAndNotPrinted() async throws {
        let broker = try guardedBroker()
        let wrong = MQTTCredentials(user: "cart", password: "wr0ng-secret")
        for (credentials, user) in [(wrong, "cart"), (nil, nil)] as [(MQTTCredentials?, String?)] {
            let address = address(broker, credentials)
            await assertFails(with: .refusedCredentials(host: "127.0.0.1", user: user)) {
                try await MQTTPositionSharing.testConnect(address)
            }
            await assertFails(with: .refusedCredentials(host: "127.0.0.1", user: user)) {
                try await MQTTPositionSharing(address, device: DeviceID("cart")).connect()
            }
        }
        var printed = "\(wrong) \(String(reflecting: wrong)) \(address(broker, wrong))"
        dump(address(broker, wrong), to: &printed)
        XCTAssertFalse(printed.contains("wr0ng"), printed)
        XCTAssertTrue(printed.contains("cart"), printed)
    }

    func testAMissingPasswordHasItsOwnError() async throws {
        let broker = try guardedBroker()
        let error = MQTTSharingError.missingPassword(host: "127.0.0.1", user: "cart")
        await assertFails(with: error) {
            try await MQTTPositionSharing.testConnect(self.address(broker, MQTTCredentials(user: "cart")))
        }
        XCTAssertTrue("\(error)".contains("--share-password-file"), "\(error)")
        XCTAssertTrue("\(error)".contains("$INDOORLOC_MQTT_PASSWORD"), "\(error)")
        let unset = MQTTCredentials(user: "cart", passwordVariable: "INDOORLOC_NO_SUCH_VARIABLE")
        XCTAssertEqual(unset, MQTTCredentials(user: "cart"))
    }

    func testTheErrorNamesAnUnusablePasswordFile() throws {
        let empty = try temporaryFolder() + "/empty"
        try SecretText.write("\nsecret", to: empty)
        let exposed = try temporaryFolder() + "/exposed"
        try SecretText.write("secret", to: exposed)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: exposed)
        // From a file without a line end, only the longest password is read.
        let endless = "/dev/zero"
        for (path, reason) in [
            (exposed, "its mode 0644 lets every user of this machine access the password; use 'chmod 600 \(exposed)'"),
            (empty, "the first line has no password"), (empty + "-not", "No such file or directory"),
            (try temporaryFolder(), "Is a directory"), (endless, "the first line is longer than 65536 bytes"),
        ] {
            XCTAssertThrowsError(try MQTTCredentials(user: "cart", passwordFile: path)) { error in
                XCTAssertEqual("\(error)", "\(path): \(reason)")
                XCTAssertFalse("\(error)".contains("secret"), "\(error)")
            }
        }
    }

    func testAPrivateAuthorityIsTrustedIfTheSettingsNameIt() async throws {
        let authority = try TestAuthority(in: try temporaryFolder())
        let identity = (authority.identity.certificate, authority.identity.key, nil as String?)
        let broker = try broker(MosquittoBroker.Configuration(identity: identity))
        let trusted = address(broker, nil, MQTTSecurity(authorityFile: authority.certificate))
        try await MQTTPositionSharing.testConnect(trusted)
        let sharing = try MQTTPositionSharing(trusted, device: DeviceID("cart"))
        let hears = EventListener(sharing)
        try await sharing.connect()
        try await sharing.join("hall")
        let other = try MQTTPositionSharing(trusted, device: DeviceID("fork"))
        try await other.connect()
        try await other.join("hall")
        try await other.share(.at(x: 9))
        _ = try await hears.hearsPosition(of: "fork", x: 9)
        await other.disconnect()
        await sharing.disconnect()
    }

    func testAPasswordIsNotSentUnencryptedUnlessAllowed() async throws {
        let credentials = MQTTCredentials(user: "cart", password: password)
        for host in ["broker.invalid", "10.0.0.7", "127.example.invalid"] {
            let broker = MQTTBroker(host: host, credentials: credentials)
            do {
                // The client refuses before it resolves the host.
                try await MQTTPositionSharing.testConnect(broker)
                XCTFail("the password was sent to \(host)")
            } catch {
                XCTAssertEqual(error, .plainPassword(host: host))
                XCTAssertFalse("\(error)".contains(password), "\(error)")
            }
        }
        for broker in [
            MQTTBroker(host: "broker.invalid", credentials: credentials, security: MQTTSecurity()),
            MQTTBroker(host: "broker.invalid", credentials: MQTTCredentials(user: "cart")),
            MQTTBroker(host: "broker.invalid", credentials: credentials, allowsPlainPassword: true),
            MQTTBroker(host: "127.0.0.1", credentials: credentials),
            MQTTBroker(host: "localhost", credentials: credentials), MQTTBroker(host: "::1", credentials: credentials),
        ] {
            XCTAssertNoThrow(try broker.checkSecrecy(), "\(broker)")
        }
    }

    func testAnErrorWithoutANumberIsNotDescribedAsSuccess() {
        XCTAssertEqual(MQTTSharingError.text(ofSystemError: 0), "the system reported no reason")
        XCTAssertEqual(MQTTSharingError.text(ofSystemError: ENOENT), "No such file or directory")
    }

    func testAnUnknownAuthorityIsNotTrusted() async throws {
        let authority = try TestAuthority(in: try temporaryFolder())
        let other = try TestAuthority(in: try temporaryFolder())
        let identity = (authority.identity.certificate, authority.identity.key, nil as String?)
        let broker = try broker(MosquittoBroker.Configuration(identity: identity))
        for security in [MQTTSecurity(authorityFile: other.certificate), MQTTSecurity()] {
            do {
                try await MQTTPositionSharing.testConnect(address(broker, nil, security))
                XCTFail("trusted \(security)")
            } catch {
                guard case .insecure(_, let reason) = error else { return XCTFail("\(error)") }
                XCTAssertTrue(reason.contains("certificate verify failed"), reason)
            }
        }
        // The certificate is for the address, not for this host name.
        let named = address(broker, host: "localhost", nil, MQTTSecurity(authorityFile: authority.certificate))
        do {
            try await MQTTPositionSharing.testConnect(named)
            XCTFail("the host name was not verified")
        } catch { guard case .insecure = error else { return XCTFail("\(error)") } }
    }

    func testTheDeviceSendsItsCertificateOnRequest() async throws {
        let authority = try TestAuthority(in: try temporaryFolder())
        let identity = (authority.identity.certificate, authority.identity.key, authority.certificate as String?)
        let broker = try broker(MosquittoBroker.Configuration(identity: identity))
        let client = try authority.client("cart")
        var security = MQTTSecurity(
            authorityFile: authority.certificate, certificateFile: client.certificate, keyFile: client.key)
        try await MQTTPositionSharing.testConnect(address(broker, nil, security))
        (security.certificateFile, security.keyFile) = (nil, nil)
        do {
            try await MQTTPositionSharing.testConnect(address(broker, nil, security))
            XCTFail("the broker did not request the certificate")
        } catch {
            switch error {
            case .insecure, .connectionLost: break
            default: XCTFail("\(error)")
            }
        }
    }

    func testPlainAndSecureConnectionsDoNotMatch() async throws {
        let authority = try TestAuthority(in: try temporaryFolder())
        let identity = (authority.identity.certificate, authority.identity.key, nil as String?)
        let secure = try broker(MosquittoBroker.Configuration(identity: identity))
        let plain = try broker()
        let security = MQTTSecurity(authorityFile: authority.certificate)
        for address in [address(secure), address(plain, nil, security)] {
            do {
                try await MQTTPositionSharing.testConnect(address)
                XCTFail("\(address)")
            } catch {
                switch error {
                case .insecure, .connectionLost: break
                default: XCTFail("\(error)")
                }
                let hint = address.security == nil ? "for TLS" : "TLS"
                XCTAssertTrue("\(error)".contains(hint), "\(error)")
            }
        }
    }

    func testMissingBrokersAndFilesHaveTheirOwnErrors() async throws {
        let port = try TestPort.free()
        do {
            try await MQTTPositionSharing.testConnect(MQTTBroker(host: "127.0.0.1", port: port))
            XCTFail("no broker listens on this port")
        } catch {
            guard case .unreachable("127.0.0.1", port, let reason) = error else { return XCTFail("\(error)") }
            XCTAssertEqual(reason, "Connection refused")
        }
        await assertFails(with: .unknownHost("no-such-host.invalid")) {
            try await MQTTPositionSharing.testConnect(MQTTBroker(host: "no-such-host.invalid"))
        }
        let folder = try temporaryFolder()
        for (path, reason) in [
            (folder + "/authority.pem", "No such file or directory"), (folder, "Is a directory"),
            ("/dev/null", "the file is empty"),
        ] {
            await assertFails(with: .badFile(path: path, reason: reason)) {
                let security = MQTTSecurity(authorityFile: path)
                try await MQTTPositionSharing.testConnect(MQTTBroker(port: port, security: security))
            }
        }
    }

    func testASilentServerTimesOut() async throws {
        // The server accepts connections but never answers.
        let silent = try SilentListener()
        defer { silent.close() }
        await assertFails(with: .noAnswer(host: "127.0.0.1", port: silent.port, to: "to the connection request")) {
            try await MQTTPositionSharing.testConnect(
                MQTTBroker(host: "127.0.0.1", port: silent.port), patience: .milliseconds(200))
        }
        var settings = MQTTSharingSettings()
        settings.patience = .milliseconds(200)
        let sharing = try MQTTPositionSharing(
            MQTTBroker(host: "127.0.0.1", port: silent.port), device: DeviceID("cart"), settings: settings)
        await assertFails(with: .noAnswer(host: "127.0.0.1", port: silent.port, to: "to the connection request")) {
            try await sharing.connect()
        }
    }
}
