import Glibc
import IndoorVocabulary

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
        guard let file = fopen(path, "r") else {
            throw .badFile(path: path, reason: MQTTSharingError.text(ofSystemError: errno))
        }
        defer { fclose(file) }
        // With one byte more than a password may have, and the zero that ends it.
        let limit = InputLimits.standard.secret
        var text = [UInt8](repeating: 0, count: limit + 1)
        let count = fread(&text, 1, text.count, file)
        guard ferror(file) == 0 else { throw .badFile(path: path, reason: MQTTSharingError.text(ofSystemError: errno)) }
        let line = text.prefix(count).prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        guard line.count <= limit else {
            throw .badFile(path: path, reason: "its first line is longer than \(limit) bytes")
        }
        guard !line.isEmpty else { throw .badFile(path: path, reason: "it has no password on its first line") }
        self.init(user: user, password: String(decoding: line, as: UTF8.self))
    }

    /// Takes the password from an environment variable; none where that is not set, or empty.
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
