import Glibc
import IndoorVocabulary

/// The user name and password of an MQTT client. No description contains the password.
public struct MQTTCredentials: Hashable, Sendable {
    /// The default environment variable for the password.
    public static let environmentVariable = "INDOORLOC_MQTT_PASSWORD"

    /// The user name.
    public var user: String
    /// The password; nil for none.
    let password: String?

    /// Creates credentials from a user name and a password.
    public init(user: String, password: String? = nil) {
        self.user = user
        self.password = password
    }

    /// Creates credentials with the password from the first line of a file.
    ///
    /// - Throws: `MQTTSharingError.badFile` if the file isn't readable, or its first line is empty or too long.
    public init(user: String, passwordFile path: String) throws(MQTTSharingError) {
        guard let file = fopen(path, "r") else {
            throw .badFile(path: path, reason: MQTTSharingError.text(ofSystemError: errno))
        }
        defer { fclose(file) }
        // One byte more than the longest password, to detect longer lines.
        let limit = InputLimits.standard.secret
        var text = [UInt8](repeating: 0, count: limit + 1)
        let count = fread(&text, 1, text.count, file)
        guard ferror(file) == 0 else { throw .badFile(path: path, reason: MQTTSharingError.text(ofSystemError: errno)) }
        let line = text.prefix(count).prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        guard line.count <= limit else {
            throw .badFile(path: path, reason: "the first line is longer than \(limit) bytes")
        }
        guard !line.isEmpty else { throw .badFile(path: path, reason: "the first line has no password") }
        self.init(user: user, password: String(decoding: line, as: UTF8.self))
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
