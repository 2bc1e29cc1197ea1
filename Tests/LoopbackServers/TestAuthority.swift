import Foundation

/// A certificate authority for one test, and the identities that it signs.
package struct TestAuthority {
    /// The file with the authority's certificate.
    package let certificate: String
    /// The files of a server identity for 127.0.0.1.
    package let identity: (certificate: String, key: String)
    private let folder: String

    private static let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]

    package init(in folder: String) throws {
        self.folder = folder
        certificate = folder + "/authority.pem"
        identity = (folder + "/server.pem", folder + "/server.key")
        try Self.openssl(
            ["req", "-x509", "-subj", "/CN=Authority of a test", "-keyout", folder + "/authority.key", "-out"]
                + [certificate, "-days", "3650"] + Self.key)
        try vouch(for: "127.0.0.1", names: "IP:127.0.0.1", identity)
    }

    /// Creates the identity of a client.
    package func client(_ name: String) throws -> (certificate: String, key: String) {
        let identity = ("\(folder)/\(name).pem", "\(folder)/\(name).key")
        try vouch(for: name, names: "DNS:\(name)", identity)
        return identity
    }

    /// Creates an expired server identity for 127.0.0.1: it ends when it begins, because OpenSSL 3.6 makes none that ends
    /// before that.
    package func expired() throws -> (certificate: String, key: String) {
        let identity = ("\(folder)/expired.pem", "\(folder)/expired.key")
        try vouch(for: "127.0.0.1", names: "IP:127.0.0.1", identity, days: 0)
        return identity
    }

    /// Creates the identity of a server on another machine.
    package func stranger() throws -> (certificate: String, key: String) {
        let identity = ("\(folder)/stranger.pem", "\(folder)/stranger.key")
        try vouch(for: "elsewhere.example.org", names: "DNS:elsewhere.example.org", identity)
        return identity
    }

    private func vouch(
        for name: String, names: String, _ files: (certificate: String, key: String), days: Int = 3650
    ) throws {
        try Self.openssl(["req", "-subj", "/CN=\(name)", "-keyout", files.key, "-out", folder + "/request"] + Self.key)
        try Data("subjectAltName=\(names)".utf8).write(to: URL(filePath: folder + "/names"))
        try Self.openssl([
            "x509", "-req", "-in", folder + "/request", "-CA", certificate, "-CAkey", folder + "/authority.key",
            "-CAcreateserial", "-days", "\(days)", "-extfile", folder + "/names", "-out", files.certificate,
        ])
    }

    private static func openssl(_ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        let errors = Pipe()
        process.standardError = errors
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw TestPort.Failure(description: "openssl: \(text)") }
    }
}

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
