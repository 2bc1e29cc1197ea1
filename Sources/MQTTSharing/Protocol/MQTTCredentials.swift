import Glibc
import SecretFiles

/// The user name and password of an MQTT client. No description contains the password.
public struct MQTTCredentials: Hashable, Sendable {
    /// The default environment variable for the password.
    package static let environmentVariable = "INDOORLOC_MQTT_PASSWORD"

    /// The user name.
    package var user: String
    /// The password; nil for none.
    let password: String?

    /// Creates credentials from a user name and a password.
    public init(user: String, password: String? = nil) {
        self.user = user
        self.password = password
    }

    /// Creates credentials with the password from the first line of a file.
    ///
    /// - Throws: `MQTTSharingError.badFile` if the file isn't readable, is accessible to every user of the machine, or its
    ///   first line is empty or too long.
    public init(user: String, passwordFile path: String) throws(MQTTSharingError) {
        let password: String
        do throws(SecretFileError) { password = try SecretFile(path, .password).line() } catch {
            throw .badFile(path: path, reason: error.explanation)
        }
        self.init(user: user, password: password)
    }

    /// Creates credentials with the password from an environment variable; without a password if the variable isn't set
    /// or is empty.
    public init(user: String, passwordVariable name: String) {
        let value = getenv(name).map { String(cString: $0) } ?? ""
        self.init(user: user, password: value.isEmpty ? nil : value)
    }
}

extension MQTTCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "\(user), \(password == nil ? "without" : "with") a password" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["user": user]) }
}
