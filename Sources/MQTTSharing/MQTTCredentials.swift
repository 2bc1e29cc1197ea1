import FoundationEssentials
import Glibc

/// The name and the password that a broker knows a client by. The password is never printed.
public struct MQTTCredentials: Hashable, Sendable {
    /// The environment variable that a password is taken from if nothing else is said.
    public static let environmentVariable = "INDOORLOC_MQTT_PASSWORD"

    /// The name.
    public var user: String
    /// The password; nil for none.
    let password: String?

    /// Takes a name and a password.
    public init(user: String, password: String? = nil) {
        self.user = user
        self.password = password
    }

    /// Takes the password from the first line of a file.
    ///
    /// - Throws: `MQTTSharingError.badFile` if it cannot be read or has nothing on its first line.
    public init(user: String, passwordFile path: String) throws(MQTTSharingError) {
        let data: Data
        do { data = try Data(contentsOf: URL(filePath: path)) } catch {
            throw .badFile(path: path, reason: "it cannot be read")
        }
        let line = String(decoding: data, as: UTF8.self).split(
            omittingEmptySubsequences: false, whereSeparator: \.isNewline
        ).first
        guard let line, !line.isEmpty else {
            throw .badFile(path: path, reason: "it has no password on its first line")
        }
        self.init(user: user, password: String(line))
    }

    /// Takes the password from an environment variable; none where that is not set.
    public init(user: String, passwordVariable name: String) {
        self.init(user: user, password: getenv(name).map { String(cString: $0) })
    }
}

extension MQTTCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "\(user), \(password == nil ? "without" : "with") a password" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["user": user]) }
}
