import Foundation
import IndoorLocalization
import XCTest

@testable import MQTTSharing

/// Signatures of presences, positions and texts.
final class SigningTests: XCTestCase {
    private let topic = SharingTopics(prefix: "indoorloc/v1")
    private let forkKey = SharingSigningKey.generate()

    private func trust(_ policy: SharingTrust.Policy = .prefer) throws -> SharingTrust {
        SharingTrust([try DeviceID("fork"): forkKey.publicKey], policy: policy)
    }

    private func inHall(_ change: (inout MQTTSharingSettings) -> Void) throws -> MachineStage {
        var stage = try MachineStage("cart", change)
        stage.connect()
        stage.join("hall")
        return stage
    }

    private func message(
        _ device: String, x: Double = 1, sequence: Double?, key: SharingSigningKey?, room: String = "hall",
        under topicRoom: String = "hall"
    ) throws -> MQTTMessage {
        let position = SharedPosition(.at(x: x), of: try DeviceID(device), in: room, sentAt: 0)
        let payload = SharingPayload.bytes(position, sequence: sequence.map { Int($0 * 1e6) })
        let name = topic.name(.position(room: room, try DeviceID(device)))
        return MQTTMessage(
            topic: topic.name(.position(room: topicRoom, try DeviceID(device))),
            payload: key.map { SignedPayload.sign(payload, topic: name, with: $0) } ?? payload)
    }

    private func receive(_ message: MQTTMessage, _ stage: inout MachineStage) -> (isHeard: Bool, error: String?) {
        var result: (Bool, String?) = (false, nil)
        for event in stage.handle(.link(.received(message))).events {
            if case .position = event { result.0 = true }
            if case .failed(let error) = event { result.1 = error.message }
        }
        return result
    }

    func testASignatureCoversThePayloadAndTheTopic() throws {
        let payload = Array(#"{"device":"fork","x":1}"#.utf8)
        let signed = SignedPayload.sign(payload, topic: "a", with: forkKey)
        XCTAssertEqual(SignedPayload.verify(signed, topic: "a", by: forkKey.publicKey), .valid)
        XCTAssertEqual(SignedPayload.verify(signed, topic: "b", by: forkKey.publicKey), .wrong)
        XCTAssertEqual(SignedPayload.verify(payload, topic: "a", by: forkKey.publicKey), .unsigned)
        let other = SharingSigningKey.generate().publicKey
        XCTAssertEqual(SignedPayload.verify(signed, topic: "a", by: other), .wrong)
        for index in signed.indices {
            var changed = signed
            changed[index] ^= 1
            XCTAssertNotEqual(
                SignedPayload.verify(changed, topic: "a", by: forkKey.publicKey), .valid, "byte \(index)")
            XCTAssertNotEqual(
                SignedPayload.verify(Array(signed[..<index]), topic: "a", by: forkKey.publicKey), .valid)
        }
        let object = try JSONSerialization.jsonObject(with: Data(signed)) as? [String: Any]
        XCTAssertEqual(object?.keys.sorted(), ["device", "signature", "x"], "the payload is still JSON")
    }

    /// RFC 8032, section 7.1, test 1.
    func testTheKeysAndSignaturesAreThoseOfTheStandard() throws {
        func bytes(_ text: String) -> [UInt8] {
            stride(from: 0, to: text.count, by: 2).compactMap { UInt8(text.dropFirst($0).prefix(2), radix: 16) }
        }
        let seed = bytes("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
        let path = try temporaryFolder() + "/key"
        _ = FileManager.default.createFile(
            atPath: path, contents: Data("indoorloc-ed25519 \(Data(seed).base64EncodedString())\n".utf8),
            attributes: [.posixPermissions: 0o600])
        let key = try SharingSigningKey(file: path)
        XCTAssertEqual(
            key.publicKey.bytes, bytes("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"))
        XCTAssertEqual(
            key.signature(of: []),
            bytes(
                "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
                    + "d25bf5f0595bbe24655141438e7a100b"))
    }

    func testAKeyFileIsForItsOwnerAndIsNeverReplaced() throws {
        let path = try temporaryFolder() + "/key"
        try forkKey.write(to: path)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        XCTAssertEqual(mode, 0o600)
        XCTAssertEqual(try SharingSigningKey(file: path), forkKey)
        XCTAssertThrowsError(try SharingSigningKey.generate().write(to: path)) {
            XCTAssertTrue("\($0)".hasPrefix(path + ": the file exists"), "\($0)")
        }
        XCTAssertEqual(try SharingSigningKey(file: path), forkKey)
        try FileManager.default.setAttributes([.posixPermissions: 0o604], ofItemAtPath: path)
        XCTAssertThrowsError(try SharingSigningKey(file: path)) {
            XCTAssertTrue("\($0)".contains("chmod 600"), "\($0)")
        }
        // No description contains the secret.
        let secret = try String(contentsOfFile: path, encoding: .utf8).split(separator: " ")[1].dropLast()
        var dumped = ""
        dump(forkKey, to: &dumped)
        for text in ["\(forkKey)", String(reflecting: forkKey), dumped] { XCTAssertFalse(text.contains(secret), text) }
    }

    func testAListOfTrustedDevicesReportsTheInvalidLine() throws {
        let path = try temporaryFolder() + "/trust"
        let key = forkKey.publicKey
        try Data("# plant\n\n\(key) fork\n\(key) fork lift 7\r\n".utf8).write(to: URL(filePath: path))
        let trust = try SharingTrust(file: path, policy: .require)
        XCTAssertEqual(trust.keys, [try DeviceID("fork"): key, try DeviceID("fork lift 7"): key])
        XCTAssertEqual(trust.policy, .require)
        for (text, part) in [
            ("\(key) fork\n\(key) fork\n", "line 2: the device 'fork' has a second key"),
            ("fork \(key)\n", "line 1: expected a public key"), ("\(key)\n", "line 1: expected"),
            ("\(key) a/b\n", "line 1: the name \"a/b\""), ("\n", "the file has no key"),
        ] {
            try Data(text.utf8).write(to: URL(filePath: path))
            XCTAssertThrowsError(try SharingTrust(file: path)) { XCTAssertTrue("\($0)".contains(part), "\($0)") }
        }
    }

    func testOnlySignedMessagesOfAListedDeviceAreHeard() throws {
        let trust = try trust()
        var stage = try inHall { $0.trust = trust }
        let now = stage.now.date
        XCTAssertTrue(receive(try message("fork", sequence: now, key: forkKey), &stage).isHeard)
        let attacks = [
            try message("fork", sequence: now + 1, key: nil),
            try message("fork", sequence: now + 1, key: .generate()),
            // A copy under the same topic, and under that of another room.
            try message("fork", sequence: now, key: forkKey),
            try message("fork", sequence: now + 1, key: forkKey, room: "yard", under: "hall"),
            // Signed long ago, or by a clock that is far ahead.
            try message("fork", sequence: now - 301, key: forkKey),
            try message("fork", sequence: now + 301, key: forkKey),
            try message("fork", sequence: nil, key: forkKey),
        ]
        for (index, attack) in attacks.enumerated() {
            let (isHeard, error) = receive(attack, &stage)
            XCTAssertFalse(isHeard, "attack \(index)")
            XCTAssertEqual(error != nil, index == 0, "reported once: \(error ?? "")")
            if let error { XCTAssertTrue(error.contains("'fork'") && error.contains("no signature"), error) }
        }
        XCTAssertEqual(stage.machine.untrustedCount, attacks.count)
        XCTAssertTrue(receive(try message("fork", sequence: now + 1, key: forkKey), &stage).isHeard)
        // A device without a key, with and without a signature.
        XCTAssertTrue(receive(try message("other", sequence: nil, key: nil), &stage).isHeard)
        XCTAssertTrue(receive(try message("other", sequence: now, key: .generate()), &stage).isHeard)
    }

    func testRequiredSignaturesKeepOtherDevicesAndLimitsOut() throws {
        let trust = try trust(.require)
        var stage = try inHall { $0.trust = trust }
        let first = receive(try message("other", sequence: nil, key: nil), &stage)
        XCTAssertFalse(first.isHeard)
        XCTAssertTrue(first.error?.contains("'other'") ?? false)
        XCTAssertNil(receive(try message("third", sequence: nil, key: nil), &stage).error, "reported once")
        try stage.presence(of: "other", ["hall"])
        XCTAssertEqual(stage.machine.occupancy(of: "hall"), 1)
        stage.receive(.limits, Array(#"{"roomCapacity":1}"#.utf8))
        stage.ask("cell")
        stage.echo(["cell", "hall"])
        XCTAssertTrue(stage.machine.isIn("cell"))
        XCTAssertTrue(receive(try message("fork", sequence: stage.now.date, key: forkKey), &stage).isHeard)
    }

    func testARetainedPresenceIsAcceptedAgainButAnEarlierOneIsNot() throws {
        let trust = try trust()
        var stage = try inHall { $0.trust = trust }
        let fork = try DeviceID("fork")
        func presence(_ rooms: [String], _ sequence: Double) -> [UInt8] {
            let payload = SharingPayload.Presence(
                device: "fork", name: nil, session: "s", rooms: rooms, sentAt: 0, sequence: Int(sequence * 1e6))
            return SignedPayload.sign(
                SharingPayload.bytes(payload), topic: topic.name(.presence(fork)), with: forkKey)
        }
        let now = stage.now.date
        stage.receive(.presence(fork), presence(["hall"], now - 600), isRetained: true)
        XCTAssertEqual(stage.machine.occupancy(of: "hall"), 2)
        stage.receive(.presence(fork), presence(["hall"], now - 600), isRetained: true)
        stage.receive(.presence(fork), presence([], now - 601))
        XCTAssertEqual(stage.machine.occupancy(of: "hall"), 2)
        XCTAssertEqual(stage.machine.untrustedCount, 1)
        stage.receive(.presence(fork), [])
        XCTAssertEqual(stage.machine.occupancy(of: "hall"), 1, "the last will has no signature")
    }

    func testTwoMachinesWithKeysHearEachOther() throws {
        let trust = try trust(.require)
        let key = forkKey
        var fork = try MachineStage("fork") {
            $0.signingKey = key
            $0.interval = .zero
        }
        fork.handle(.connect(1))
        for message in fork.acceptLink().published { fork.handle(.link(.received(message))) }
        XCTAssertTrue(fork.machine.isUp)
        fork.handle(.join("hall", 2))
        let filter = topic.filter(ofRoom: "hall")
        let asked = fork.handle(.link(.subscribed(filter: filter, isGranted: true))).published
        for message in asked { fork.handle(.link(.received(message))) }
        var stage = try inHall { $0.trust = trust }
        for message in asked { stage.handle(.link(.received(message))) }
        XCTAssertEqual(stage.machine.occupancy(of: "hall"), 2)
        for x in [1.0, 2, 3] {
            // The clock is set back: the messages still follow each other.
            fork.setClock(back: 1)
            let sent = fork.handle(.share(.at(x: x), level: nil)).positions
            XCTAssertEqual(sent.count, 1)
            for message in sent { XCTAssertTrue(receive(message, &stage).isHeard, "\(x)") }
        }
        let text = fork.handle(.send("hello", tag: "", room: "hall")).published
        XCTAssertEqual(text.flatMap { stage.handle(.link(.received($0))).events }.count, 1)
        XCTAssertEqual(stage.machine.untrustedCount, 0)
    }

    func testAnUnsignedCopyOfTheOwnPresenceIsReplaced() throws {
        let key = forkKey
        var fork = try MachineStage("fork") { $0.signingKey = key }
        fork.handle(.connect(1))
        for message in fork.acceptLink().published { fork.handle(.link(.received(message))) }
        XCTAssertTrue(fork.machine.isUp)
        fork.echo([])
        XCTAssertEqual(try fork.wake().published.map(\.topic), ["indoorloc/v1/devices/fork/presence"])
        XCTAssertLessThanOrEqual(fork.now.instant.seconds, 1001)
    }
}
