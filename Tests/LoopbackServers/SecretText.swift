import Foundation

/// Files with passwords and tokens, as users create them.
package enum SecretText {
    /// Writes a text to a file that only its owner can read, also if the file exists.
    package static func write(_ text: String, to path: String) throws {
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        guard FileManager.default.createFile(atPath: path, contents: nil, attributes: attributes) else {
            throw CocoaError(.fileWriteUnknown)
        }
        try FileManager.default.setAttributes(attributes, ofItemAtPath: path)
        try Data(text.utf8).write(to: URL(filePath: path))
    }
}
