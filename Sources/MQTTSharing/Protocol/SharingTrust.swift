import IndoorVocabulary
import LocalizationSession

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
