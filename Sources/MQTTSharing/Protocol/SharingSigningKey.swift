import CSodium
import FoundationEssentials
import Glibc
import IndoorVocabulary
import LocalizationSession
import SecretFiles
import TextFormats

/// The secret Ed25519 key with which a device signs what it shares. No description contains the key.
///
/// Source: S. Josefsson, I. Liusvaara, *Edwards-Curve Digital Signature Algorithm (EdDSA)*, RFC 8032, 2017. The
/// implementation is libsodium's.
public struct SharingSigningKey: Hashable, Sendable {
    /// The first word of a key file.
    private static let label = "indoorloc-ed25519"

    /// The key from which the other devices verify the signatures.
    public let publicKey: SharingPublicKey
    private let seed: [UInt8]

    private init(seed: [UInt8]) {
        self.seed = seed
        publicKey = SharingPublicKey(bytes: Sodium.keyPair(seed).publicKey)
    }

    /// Returns a new random key.
    public static func generate() -> SharingSigningKey {
        SharingSigningKey(seed: Sodium.randomBytes(count: Sodium.seedSize))
    }

    /// Reads a key from a file that `write(to:)` created.
    ///
    /// - Throws: `MQTTSharingError.badFile` if the file isn't readable, contains no key, or is accessible to every user of the
    ///   machine.
    public init(file path: String) throws(MQTTSharingError) {
        let bytes: [UInt8]
        do throws(SecretFileError) { bytes = try SecretFile(path, .key).bytes(atMost: 1024) } catch {
            throw .badFile(path: path, reason: error.explanation)
        }
        let words = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard words.count == 2, words[0] == Self.label, let seed = Data(base64Encoded: String(words[1])),
            seed.count == Sodium.seedSize
        else {
            throw .badFile(
                path: path, reason: "the file is not a signing key: create one with 'indoorloc share keygen FILE'")
        }
        self.init(seed: Array(seed))
    }

    /// Writes the key to a new file that only its owner may read.
    ///
    /// - Throws: `MQTTSharingError.badFile` if the file exists or can't be written.
    public func write(to path: String) throws(MQTTSharingError) {
        let text = "\(Self.label) \(Base64Text.text(of: seed))\n"
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else {
            let reason =
                errno == EEXIST
                ? "the file exists: choose another name, or remove it first"
                : MQTTSharingError.text(ofSystemError: errno)
            throw .badFile(path: path, reason: reason)
        }
        defer { close(file) }
        let bytes = Array(text.utf8)
        // Independent of the umask.
        guard fchmod(file, 0o600) == 0, Glibc.write(file, bytes, bytes.count) == bytes.count, fsync(file) == 0 else {
            let reason = MQTTSharingError.text(ofSystemError: errno)
            unlink(path)
            throw .badFile(path: path, reason: reason)
        }
    }

    /// Returns the signature of a message, 64 bytes.
    func signature(of message: [UInt8]) -> [UInt8] { Sodium.signature(of: message, seed: seed) }
}

extension SharingSigningKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "the signing key of \(publicKey)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["publicKey": publicKey]) }
}

/// The public Ed25519 key of a device.
public struct SharingPublicKey: Hashable, Sendable, CustomStringConvertible {
    let bytes: [UInt8]

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// Creates a key from its base64 text; nil if that isn't a key.
    public init?(_ text: some StringProtocol) {
        guard let data = Data(base64Encoded: String(text)), data.count == Sodium.publicKeySize else { return nil }
        bytes = Array(data)
    }

    /// The key in base64, 44 characters.
    public var description: String { Base64Text.text(of: bytes) }

    /// Returns whether a signature is that of a message by the owner of this key.
    func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        Sodium.verifies(signature, of: message, publicKey: bytes)
    }
}

/// Files with public keys.
enum SharingKeyFile {
    /// Reads a file of limited size.
    static func read(_ path: String, atMost limit: Int) throws(MQTTSharingError) -> [UInt8] {
        func failure() -> MQTTSharingError { .badFile(path: path, reason: MQTTSharingError.text(ofSystemError: errno)) }
        guard let file = fopen(path, "re") else { throw failure() }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        let count = fread(&bytes, 1, bytes.count, file)
        guard ferror(file) == 0 else { throw failure() }
        guard count <= limit else { throw .badFile(path: path, reason: "the file is larger than \(limit) bytes") }
        return Array(bytes.prefix(count))
    }
}

/// The devices whose signatures a device verifies.
///
/// A device drops messages from a listed device that have no valid signature. `Policy` decides about other devices.
public struct SharingTrust: Hashable, Sendable {
    /// The handling of devices without a key.
    public enum Policy: String, Hashable, Sendable, CaseIterable {
        /// Accept messages of devices that have no key.
        case prefer
        /// Drop messages of devices that have no key, and ignore the broker's limits, which have no signature.
        case require
    }

    /// The largest number of keys in a file.
    package static let mostKeys = 20_000
    private static let largestFile = 8 << 20

    /// The public keys of the devices.
    package var keys: [DeviceID: SharingPublicKey]
    /// The handling of devices without a key.
    package var policy: Policy

    /// Creates a list of trusted devices.
    public init(_ keys: [DeviceID: SharingPublicKey], policy: Policy = .prefer) {
        self.keys = keys
        self.policy = policy
    }

    /// Reads the keys from a file: on each line a key and the device's ID, separated by a space, as
    /// `indoorloc share keygen` prints them. Empty lines and lines that begin with `#` are ignored.
    ///
    /// - Throws: `MQTTSharingError.badFile` with the line that is invalid.
    public init(file path: String, policy: Policy = .prefer) throws(MQTTSharingError) {
        let bytes = try SharingKeyFile.read(path, atMost: Self.largestFile)
        keys = [:]
        self.policy = policy
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            func fail(_ reason: String) -> MQTTSharingError {
                .badFile(path: path, reason: "line \(index + 1): \(reason)")
            }
            var text = String(decoding: line, as: UTF8.self)
            if text.hasSuffix("\r") { text.removeLast() }
            if text.isEmpty || text.hasPrefix("#") { continue }
            let parts = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let key = SharingPublicKey(parts[0]) else {
                throw fail("expected a public key in base64, a space and the device's ID")
            }
            let device: DeviceID
            do throws(SharingNameError) { device = try DeviceID(String(parts[1])) } catch { throw fail("\(error)") }
            guard keys.updateValue(key, forKey: device) == nil else {
                throw fail("the device '\(device)' has a second key")
            }
            guard keys.count <= Self.mostKeys else { throw fail("more than \(Self.mostKeys) keys") }
        }
        guard !keys.isEmpty else { throw .badFile(path: path, reason: "the file has no key") }
    }
}

/// Payloads with a signature.
///
/// A signed payload is a JSON object whose first member is `signature`: the Ed25519 signature in base64. It covers
/// these bytes: `indoorloc-sharing-1`, a zero byte, the topic, a zero byte, and the payload without that member. The
/// payload itself contains the device and `sequence`. The signature covers the JSON as it is sent, without re-encoding,
/// so that the signed form is unique.
package enum SignedPayload {
    private static let domain = "indoorloc-sharing-1"
    private static let head = Array(#"{"signature":""#.utf8)
    private static let tail = Array(#"","#.utf8)
    /// The length of a signature in base64.
    private static let textSize = 88

    /// Returns a payload with its signature.
    ///
    /// - Parameter payload: A JSON object with at least one member.
    package static func sign(_ payload: [UInt8], topic: String, with key: SharingSigningKey) -> [UInt8] {
        let signature = Base64Text.text(of: key.signature(of: covered(payload, topic)))
        return head + Array(signature.utf8) + tail + Array(payload.dropFirst())
    }

    /// The result of the verification of a payload.
    package enum Verdict: Hashable, Sendable {
        case valid
        case unsigned
        case wrong
    }

    /// Verifies the signature of a payload.
    package static func verify(_ payload: [UInt8], topic: String, by key: SharingPublicKey) -> Verdict {
        let start = head.count + textSize
        guard payload.starts(with: head) else { return .unsigned }
        guard payload.count > start + tail.count, payload[start...].starts(with: tail),
            let signature = Data(base64Encoded: Data(payload[head.count..<start]))
        else { return .wrong }
        let original = [UInt8(ascii: "{")] + payload[(start + tail.count)...]
        return key.verifies(Array(signature), of: covered(original, topic)) ? .valid : .wrong
    }

    private static func covered(_ payload: [UInt8], _ topic: String) -> [UInt8] {
        Array(domain.utf8) + [0] + Array(topic.utf8) + [0] + payload
    }
}

/// The functions of libsodium that signing needs.
enum Sodium {
    static let seedSize = Int(crypto_sign_ed25519_SEEDBYTES)
    static let publicKeySize = Int(crypto_sign_ed25519_PUBLICKEYBYTES)
    static let signatureSize = Int(crypto_sign_ed25519_BYTES)

    /// Initializes libsodium once, at its first use: the initialization selects the fastest code and opens the system's
    /// random generator. It fails only on a system without one.
    private static let isReady = sodium_init() >= 0

    static func randomBytes(count: Int) -> [UInt8] {
        precondition(isReady, "the system has no random generator")
        var bytes = [UInt8](repeating: 0, count: count)
        randombytes_buf(&bytes, count)
        return bytes
    }

    static func keyPair(_ seed: [UInt8]) -> (publicKey: [UInt8], secretKey: [UInt8]) {
        precondition(isReady && seed.count == seedSize)
        var publicKey = [UInt8](repeating: 0, count: publicKeySize)
        var secretKey = [UInt8](repeating: 0, count: Int(crypto_sign_ed25519_SECRETKEYBYTES))
        crypto_sign_ed25519_seed_keypair(&publicKey, &secretKey, seed)
        return (publicKey, secretKey)
    }

    static func signature(of message: [UInt8], seed: [UInt8]) -> [UInt8] {
        var signature = [UInt8](repeating: 0, count: signatureSize)
        var secretKey = keyPair(seed).secretKey
        crypto_sign_ed25519_detached(&signature, nil, message, UInt64(message.count), secretKey)
        sodium_memzero(&secretKey, secretKey.count)
        return signature
    }

    static func verifies(_ signature: [UInt8], of message: [UInt8], publicKey: [UInt8]) -> Bool {
        guard isReady, signature.count == signatureSize, publicKey.count == publicKeySize else { return false }
        return crypto_sign_ed25519_verify_detached(signature, message, UInt64(message.count), publicKey) == 0
    }
}
