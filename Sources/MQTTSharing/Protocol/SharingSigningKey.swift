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
