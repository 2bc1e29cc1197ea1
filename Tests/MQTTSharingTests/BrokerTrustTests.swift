import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
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
        try await MQTTPositionSharing.testConnect(address(broker, credentials), patience: Bounded.longest)
        let sharing = try MQTTPositionSharing(
            address(broker, credentials), device: DeviceID("cart"), settings: .patient)
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
                try await MQTTPositionSharing.testConnect(address, patience: Bounded.longest)
            }
            await assertFails(with: .refusedCredentials(host: "127.0.0.1", user: user)) {
                try await MQTTPositionSharing(address, device: DeviceID("cart"), settings: .patient).connect()
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
            try await MQTTPositionSharing.testConnect(
                self.address(broker, MQTTCredentials(user: "cart")), patience: Bounded.longest)
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
        try await MQTTPositionSharing.testConnect(trusted, patience: Bounded.longest)
        let sharing = try MQTTPositionSharing(trusted, device: DeviceID("cart"), settings: .patient)
        let hears = EventListener(sharing)
        try await sharing.connect()
        try await sharing.join("hall")
        let other = try MQTTPositionSharing(trusted, device: DeviceID("fork"), settings: .patient)
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
                try await MQTTPositionSharing.testConnect(broker, patience: Bounded.longest)
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
                try await MQTTPositionSharing.testConnect(address(broker, nil, security), patience: Bounded.longest)
                XCTFail("trusted \(security)")
            } catch {
                guard case .insecure(_, let reason) = error else { return XCTFail("\(error)") }
                XCTAssertTrue(reason.contains("certificate verify failed"), reason)
            }
        }
        // The certificate is for the address, not for this host name.
        let named = address(broker, host: "localhost", nil, MQTTSecurity(authorityFile: authority.certificate))
        do {
            try await MQTTPositionSharing.testConnect(named, patience: Bounded.longest)
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
        try await MQTTPositionSharing.testConnect(address(broker, nil, security), patience: Bounded.longest)
        (security.certificateFile, security.keyFile) = (nil, nil)
        do {
            try await MQTTPositionSharing.testConnect(address(broker, nil, security), patience: Bounded.longest)
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
                try await MQTTPositionSharing.testConnect(address, patience: Bounded.longest)
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
            try await MQTTPositionSharing.testConnect(
                MQTTBroker(host: "127.0.0.1", port: port), patience: Bounded.longest)
            XCTFail("no broker listens on this port")
        } catch {
            guard case .unreachable("127.0.0.1", port, let reason) = error else { return XCTFail("\(error)") }
            // libmosquitto 2.1 doesn't pass the reason on.
            XCTAssertTrue(["Connection refused", "the system reported no reason"].contains(reason), reason)
        }
        await assertFails(with: .unknownHost("no-such-host.invalid")) {
            // A resolver without an answer takes as long as the default patience.
            try await MQTTPositionSharing.testConnect(
                MQTTBroker(host: "no-such-host.invalid"), patience: Bounded.longest)
        }
        let folder = try temporaryFolder()
        for (path, reason) in [
            (folder + "/authority.pem", "No such file or directory"), (folder, "Is a directory"),
            ("/dev/null", "the file is empty"),
        ] {
            await assertFails(with: .badFile(path: path, reason: reason)) {
                let security = MQTTSecurity(authorityFile: path)
                try await MQTTPositionSharing.testConnect(
                    MQTTBroker(port: port, security: security), patience: Bounded.longest)
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

/// Permissions from a broker's access list, and their errors.
final class AccessListTests: XCTestCase {
    private func broker(accessList: String, _ listener: String, in folder: String) throws -> MosquittoBroker {
        try Data(accessList.utf8).write(to: URL(filePath: folder + "/access"))
        return try broker(
            MosquittoBroker.Configuration(listener: listener + "\nacl_file \(folder)/access"), in: folder)
    }

    /// Returns the access list of the documentation.
    private func documentedList() throws -> String {
        let page = try String(
            contentsOfFile: FixtureFolder("sharing").path
                + "/../../Sources/IndoorLocalization/IndoorLocalization.docc/Sharing.md", encoding: .utf8)
        let lines = page.split(separator: "\n").filter { $0.hasPrefix("    pattern ") }
        XCTAssertGreaterThanOrEqual(lines.count, 5)
        let list = lines.map { $0.dropFirst(4) + "\n" }.joined()
        XCTAssertEqual(
            list, try String(contentsOfFile: FixtureFolder("sharing").file("mosquitto.acl"), encoding: .utf8))
        return list
    }

    /// Returns a broker with the documented access list for the users `cart` and `fork`, whose passwords equal their
    /// names.
    private func guardedBroker() throws -> MosquittoBroker {
        let folder = try temporaryFolder()
        try Data("cart:cart\nfork:fork\n".utf8).write(to: URL(filePath: folder + "/passwords"))
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["mosquitto_passwd", "-U", folder + "/passwords"]
        try process.run()
        process.waitUntilExit()
        XCTAssertEqual(process.terminationStatus, 0)
        return try broker(
            accessList: documentedList(), "allow_anonymous false\npassword_file \(folder)/passwords", in: folder)
    }

    private func address(of user: String, _ broker: MosquittoBroker) -> MQTTBroker {
        MQTTBroker(
            host: "127.0.0.1", port: broker.port, credentials: MQTTCredentials(user: user, password: user))
    }

    func testDevicesNamedAsTheirUsersShareWithTheDocumentedAccessList() async throws {
        let broker = try guardedBroker()
        var settings = MQTTSharingSettings.patient
        settings.interval = .zero
        settings.homeAssistantPrefix = "homeassistant"
        // What the device removes when it leaves must not be left to its last will.
        settings.closingTime = Bounded.longest
        let cart = try MQTTPositionSharing(address(of: "cart", broker), device: DeviceID("cart"), settings: settings)
        let fork = try MQTTPositionSharing(address(of: "fork", broker), device: DeviceID("fork"), settings: .patient)
        let forkHears = EventListener(fork)
        for sharing in [cart, fork] {
            try await sharing.connect()
            try await sharing.join("hall")
        }
        try await cart.share(.at(x: 4))
        _ = try await forkHears.hearsPosition(of: "cart", x: 4)
        try await cart.send("hello", tag: "x", to: "hall")
        let message = try await forkHears.hearsMessage()
        XCTAssertEqual(message.text, "hello")
        await cart.disconnect()
        await fork.disconnect()
        let removed = try await MQTTPositionSharing.forget(
            DeviceID("cart"), on: address(of: "cart", broker), settings: .patient)
        XCTAssertEqual(
            removed,
            [
                "homeassistant/device_tracker/indoorloc_cart_position/config",
                "homeassistant/sensor/indoorloc_cart_room/config", "indoorloc/v1/devices/cart/location",
            ])
    }

    func testSharingUnderAnotherNameThrowsForbidden() async throws {
        let broker = try guardedBroker()
        let address = address(of: "cart", broker)
        // The broker's refusal ends the wait.
        let thief = try MQTTPositionSharing(address, device: DeviceID("fork"), settings: .patient)
        await assertFails(with: .forbidden(topic: "indoorloc/v1/devices/fork/presence")) { try await thief.connect() }
        await assertFails(with: .forbidden(topic: "indoorloc/v1/devices/fork/location")) {
            _ = try await MQTTPositionSharing.forget(DeviceID("fork"), on: address, settings: .patient)
        }
    }

    func testABrokerThatDeniesPublishingHasItsOwnError() async throws {
        let broker = try broker(
            accessList: "topic read #\n", "allow_anonymous true", in: try temporaryFolder())
        let cart = try device("cart", broker)
        await assertFails(with: .forbidden(topic: "indoorloc/v1/devices/cart/presence")) { try await cart.connect() }
    }

    func testARefusedPositionIsReportedOnceWithItsTopic() async throws {
        let broker = try broker(
            accessList: "topic readwrite indoorloc/v1/devices/#\ntopic read #\n", "allow_anonymous true",
            in: try temporaryFolder())
        let cart = try device("cart", broker) { $0.interval = .zero }
        let hears = EventListener(cart)
        try await cart.connect()
        try await cart.join("hall")
        for x in 1...5 { try await cart.share(.at(x: Double(x))) }
        let topic = "indoorloc/v1/rooms/hall/devices/cart/position"
        let error = try await hears.hearsFailure()
        XCTAssertEqual(
            error.message, MQTTSharingError.refusedMessage(topic: topic, reason: .notAuthorized).description)
        XCTAssertEqual(error.kind, .permissionDenied)
        // The broker refuses the text, too, before it answers the next request.
        try await cart.send("hello", tag: "", to: "hall")
        try await cart.join("yard")
        await cart.disconnect()
        let later = try await hears.hears("the end") { event -> String? in
            switch event {
            case .failed(let error): error.message
            case .disconnected: "disconnected"
            default: nil
            }
        }
        XCTAssertEqual(later, "disconnected")
        let refused = await cart.refusedMessageCount
        XCTAssertGreaterThanOrEqual(refused, 2)
    }

    /// A message of a separate connection, such as an uploaded batch, must not count as delivered.
    func testTheDeliveryOfARefusedMessageFailsWithMQTT5Only() async throws {
        let broker = try broker(accessList: "topic read #\n", "allow_anonymous true", in: try temporaryFolder())
        let address = MQTTBroker(host: "127.0.0.1", port: broker.port)
        let message = MQTTMessage(topic: "records", payload: [1])
        await assertFails(with: .refusedMessage(topic: "records", reason: .notAuthorized)) {
            try await MQTTDelivery.deliver(message, to: address, patience: Bounded.longest)
        }
        // MQTT 3.1.1 has no reason codes: the broker confirms the message that it drops.
        let (link, events) = MQTTLink.open(
            address, clientID: "older", will: nil, keepAliveSeconds: 60, version: .three)
        let answer = try await Bounded.wait(for: "the answer") { () -> MQTTLinkEvent? in
            for await event in events {
                switch event {
                case .accepted: link.ask(.deliver(message))
                default: return event
                }
            }
            return nil
        }
        XCTAssertEqual(answer, .confirmed)
        link.ask(.close)
    }

    /// Each attack of a client that may log in, as a device of its own, has no effect.
    func testAHostileClientHasNoEffectWithTheDocumentedAccessList() async throws {
        let broker = try guardedBroker()
        let cart = try MQTTPositionSharing(address(of: "cart", broker), device: DeviceID("cart"), settings: .patient)
        let fork = try MQTTPositionSharing(address(of: "fork", broker), device: DeviceID("fork"), settings: .patient)
        let (cartHears, forkHears) = (EventListener(cart), EventListener(fork))
        for sharing in [cart, fork] {
            try await sharing.connect()
            try await sharing.join("hall")
        }
        let base = "indoorloc/v1/"
        let forged = SharingPayload.bytes(
            SharingPayload.Presence(device: "cart", name: nil, session: "forged", rooms: [], sentAt: 0))
        let position = SharingPayload.bytes(SharedPosition(.at(x: 99), of: try DeviceID("cart"), in: "hall", sentAt: 0))
        let text = SharingPayload.bytes(
            SharedMessage(device: try DeviceID("cart"), room: "hall", tag: "", text: "forged", sentAt: 0))
        let attacker = try await PlainClient(address(of: "fork", broker), filter: base + "#")
        attacker.publish(base + "devices/cart/presence", forged, isRetained: true)
        attacker.publish(base + "devices/cart/presence", "", isRetained: true)
        attacker.publish(base + "devices/cart/presence", "{", isRetained: true)
        attacker.publish(base + "devices/cart/location", forged, isRetained: true)
        attacker.publish(base + "limits", #"{"serverCapacity":1,"roomCapacity":1}"#, isRetained: true)
        attacker.publish(base + "rooms/hall/devices/cart/position", position)
        attacker.publish(base + "rooms/hall/devices/cart/message", text)
        for number in 0..<2000 {
            attacker.publish(base + "devices/junk-\(number)/presence", forged, isRetained: true)
            attacker.publish(base + "rooms/hall/devices/junk-\(number)/position", position)
        }
        attacker.publish(
            base + "rooms/hall/devices/cart/position", [UInt8](repeating: 0x20, count: 1 << 20), isRetained: true)
        // Under its own name, the client may publish; the devices drop what is too large.
        attacker.publish(base + "rooms/hall/devices/fork/position", [UInt8](repeating: 0x20, count: 1 << 20))
        try await fork.send("the end", tag: "", to: "hall")
        let end = try await cartHears.hears("text or failure") { event -> String? in
            switch event {
            case .message(let message): message.text
            case .position(let position): "position of \(position.device)"
            case .failed(let error): error.message
            case .disconnected(let reason): reason
            default: nil
            }
        }
        XCTAssertEqual(end, "the end")
        let counts = [await cart.occupancy(of: "hall"), await fork.occupancy(of: "hall")]
        XCTAssertEqual(counts, [2, 2])
        // The fork hears the attacks on the cart, if the broker lets them through.
        try await cart.share(.at(x: 5))
        let x = try await forkHears.hears("position") { if case .position(let other) = $0 { other.x } else { nil } }
        XCTAssertEqual(x, 5)
        let malformed = [await cart.malformedMessageCount, await fork.malformedMessageCount]
        XCTAssertEqual(malformed, [0, 0])
        // A new client receives the retained presences of the two devices, and no other retained message.
        let reader = try await PlainClient(address(of: "cart", broker), filter: base + "#")
        reader.publish(base + "devices/cart/end", "")
        let retained = try await reader.topics(until: base + "devices/cart/end")
        XCTAssertEqual(
            retained,
            [base + "devices/cart/presence", base + "devices/fork/presence", base + "devices/cart/end"])
        for sharing in [cart, fork] { await sharing.disconnect() }
        attacker.close()
        reader.close()
    }
}

final class MQTTAddressTests: XCTestCase {
    func testAllFormsOfAddressesAreParsed() throws {
        let plain = try MQTTAddress("mqtt://broker.example.org/hall")
        XCTAssertEqual(plain.broker, MQTTBroker(host: "broker.example.org"))
        XCTAssertEqual(plain.broker.port, 1883)
        XCTAssertEqual(plain.room, "hall")
        let full = try MQTTAddress("mqtts://cart%407@[fe80::1]:8884/hall%204")
        XCTAssertEqual(full.broker.host, "fe80::1")
        XCTAssertEqual(full.broker.port, 8884)
        XCTAssertEqual(full.broker.security, MQTTSecurity())
        XCTAssertEqual(full.broker.credentials?.user, "cart@7")
        XCTAssertEqual(full.room, "hall 4")
        XCTAssertEqual(try MQTTAddress("mqtts://h/r").broker.port, 8883)
    }

    func testTheAddressOfABrokerHasNoRoom() throws {
        XCTAssertEqual(try MQTTBroker(address: "mqtt://localhost"), MQTTBroker(host: "localhost"))
        let full = try MQTTBroker(address: "mqtts://cart%407@[fe80::1]:8884/")
        XCTAssertEqual(full.host, "fe80::1")
        XCTAssertEqual(full.port, 8884)
        XCTAssertEqual(full.credentials?.user, "cart@7")
        XCTAssertNotNil(full.security)
        for text in ["", "localhost", "mqtt://h/hall", "mqtt://cart:secret@h", "mqtt://h:0", "mqtt://%2@h"] {
            XCTAssertThrowsError(try MQTTBroker(address: text), text) { error in
                guard case MQTTSharingError.badAddress = error else { return XCTFail("\(text): \(error)") }
                XCTAssertFalse("\(error)".contains("secret"), "\(error)")
            }
        }
    }

    func testInvalidAddressesAreRefused() {
        for text in [
            "", "hall", "http://h/r", "mqtt://h", "mqtt://h/", "mqtt:///r", "mqtt://h/a/b", "mqtt://h:0/r",
            "mqtt://h:65536/r",
            "mqtt://h:x/r", "mqtt://h/%2", "mqtt://h/%-1", "mqtt://h/%FF", "mqtt://h/%2F", "mqtt://h/+", "mqtt://h/%23",
            "mqtt://fe80::1/r",
        ] {
            XCTAssertThrowsError(try MQTTAddress(text), text) { error in
                guard case MQTTSharingError.badAddress = error else { return XCTFail("\(text): \(error)") }
            }
        }
    }

    func testAPasswordInAnAddressIsRefusedAndNotRepeated() {
        for secret in ["s3cret", "s3:cret", "s3/cret", "s3@cret", "@s3cret:/", "s3//cret", "%s3cret"] {
            for text in [
                "mqtt://cart:\(secret)@h/r", "mqtt://cart:\(secret)@h", "mqtt://:\(secret)@h:1883/r",
                "cart:\(secret)@h/r", "mqtt://cart:\(secret)@h/%2", "mqtt://h/?password=\(secret)",
                "mqtt://h/r?password=\(secret)",
                "tcp://cart:\(secret)@h", "mqtt://h:1883/#\(secret)",
            ] {
                XCTAssertThrowsError(try MQTTAddress(text), text) { error in
                    XCTAssertFalse("\(error)".contains("s3"), "\(error)")
                    XCTAssertFalse("\(error)".contains("cret"), "\(error)")
                }
            }
        }
    }
}

final class MQTTSharingErrorTests: XCTestCase {
    private func cart() throws -> MQTTPositionSharing {
        try MQTTPositionSharing(MQTTBroker(host: "127.0.0.1"), device: DeviceID("cart"))
    }

    /// The test compiles only if each function throws `MQTTSharingError`.
    func testSharingThrowsErrorsOfOneType() async throws {
        let cart = try cart()
        do throws(MQTTSharingError) {
            try await cart.join("hall")
            XCTFail("joined without a connection")
        } catch {
            switch error {
            case .notConnected: break
            default: XCTFail("\(error)")
            }
        }
        do throws(MQTTPositionSharing.Failure) {
            try await cart.share(.at(x: .infinity), level: 1)
            XCTFail("sent without a connection")
        } catch { XCTAssertEqual(error, .badPosition(.outOfRange(field: "x", value: .infinity))) }
    }

    /// Each description contains the problem, the place and the remedy.
    func testEachErrorSaysWhereAndWhatToDo() throws {
        let errors: [(error: MQTTSharingError, parts: [String])] = [
            (
                .noAnswer(host: "h", port: 1884, to: "to the subscription"),
                ["h:1884", "to the subscription", "check host"]
            ),
            (
                .refused(host: "h", reason: "identifier rejected"),
                ["at h", "identifier rejected", "see the broker's log"]
            ),
            (
                .connectionLost(host: "h", reason: "the broker closed the connection"),
                ["at h", "closed the", "check that"]
            ),
            (.textTooLong(bytes: 5000, longest: 4096), ["5000", "send at most 4096"]),
            (.tagTooLong(bytes: 300, longest: 256), ["300", "give one of at most 256"]),
            (.badPosition(.outOfRange(field: "radius", value: -1)), ["radius is -1.0", "give metres from 0 on"]),
            (.badRoom(.empty), ["must not be empty", "it needs 1 to 64"]),
            (.badRoom(.forbidden("$", name: "$SYS")), ["\"$SYS\"", "begin it with another character"]),
            (.roomFull("cell", capacity: 2), ["'cell'", "2 devices", "raise 'roomCapacity'"]),
            (.serverFull(capacity: 1), ["1 device:", "raise 'serverCapacity'"]),
            (
                .library(function: "mosquitto_publish", reason: "Invalid"),
                ["mosquitto_publish", "Invalid", "check that"]
            ),
        ]
        for (error, parts) in errors {
            for part in parts { XCTAssertTrue("\(error)".contains(part), "\(error), without \(part)") }
        }
    }
}
