import CPostgreSQL
import Glibc

/// The address of a PostgreSQL database: a connection URI, keywords and values, or the name of a database.
///
/// libpq completes the address with its environment variables, the service file and the password file. No description
/// contains the password.
package struct DatabaseAddress: Sendable {
    /// The address without a password.
    let text: String
    /// The password of a file; nil for the one that libpq finds.
    let password: String?

    /// The longest accepted password in bytes.
    private static let longestPassword = 4096

    /// Checks an address.
    ///
    /// - Parameter passwordFile: a file with the password in its first line; nil for the password that libpq finds, in
    ///   `PGPASSWORD` or `PGPASSFILE`.
    /// - Throws: `HistoryError` if the address is invalid or contains a password, which other users could see, or if
    ///   the file isn't usable.
    package init(_ text: String, passwordFile: String? = nil) throws(HistoryError) {
        self.text = text
        try Self.check(text)
        var password: String?
        if let passwordFile { password = try Self.firstLine(of: passwordFile) }
        self.password = password
    }

    private static func check(_ text: String) throws(HistoryError) {
        // A text without keywords is the name of a database.
        guard text.contains("=") || text.contains("://") else {
            if text.isEmpty { throw HistoryError(.badAddress, "it is empty") }
            return
        }
        var reason: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(text, &reason) else {
            // libpq repeats the address, which may contain a password.
            let hasSecret = text.contains("@") || text.contains("password")
            let message = hasSecret ? "" : reason.map { String(cString: $0) } ?? ""
            PQfreemem(reason)
            throw HistoryError(
                .badAddress, message.isEmpty ? "expected postgresql://[USER@][HOST][:PORT]/NAME" : message)
        }
        defer { PQconninfoFree(options) }
        var option = options
        while let keyword = option.pointee.keyword {
            let name = String(cString: keyword)
            if option.pointee.val != nil, ["password", "sslpassword"].contains(name) {
                throw HistoryError(
                    .badAddress,
                    "it contains a password, which other users can see; use --password-file, PGPASSFILE or PGPASSWORD")
            }
            option += 1
        }
    }

    private static func firstLine(of path: String) throws(HistoryError) -> String {
        guard let file = fopen(path, "re") else {
            throw HistoryError(.badPasswordFile(path), String(cString: strerror(errno)))
        }
        defer { fclose(file) }
        // One byte more than the longest password, to detect longer lines.
        var text = [UInt8](repeating: 0, count: longestPassword + 1)
        let count = fread(&text, 1, text.count, file)
        guard ferror(file) == 0 else { throw HistoryError(.badPasswordFile(path), String(cString: strerror(errno))) }
        let line = text.prefix(count).prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        guard line.count <= longestPassword else {
            throw HistoryError(.badPasswordFile(path), "the first line is longer than \(longestPassword) bytes")
        }
        guard !line.isEmpty else { throw HistoryError(.badPasswordFile(path), "the first line has no password") }
        return String(decoding: line, as: UTF8.self)
    }

    /// The keywords and values of a connection. Those of the address replace those before it.
    var parameters: [(keyword: String, value: String)] {
        var parameters = [
            ("fallback_application_name", "indoorloc-fleet"),
            // A server that vanished is detected in time, in seconds, and in milliseconds for sent data.
            ("connect_timeout", "10"), ("tcp_user_timeout", "15000"),
            ("dbname", text),
        ]
        if let password { parameters.append(("password", password)) }
        parameters.append(("client_encoding", "UTF8"))
        return parameters
    }
}

extension DatabaseAddress: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { text }
    package var debugDescription: String { text }
    package var customMirror: Mirror { Mirror(self, children: ["text": text]) }
}
