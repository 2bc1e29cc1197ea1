import CPostgreSQL

/// The address of a PostgreSQL database: a connection URI, keywords and values, or the name of a database.
///
/// libpq completes the address with its environment variables, the service file and the password file. No description
/// contains the password.
package struct DatabaseAddress: Sendable {
    /// The address without a password.
    let text: String
    /// The password; nil for the one that libpq finds.
    let password: String?
    /// Whether the address itself has an `sslmode`.
    private let hasMode: Bool

    /// Checks an address.
    ///
    /// - Parameter password: the password; nil for the one that libpq finds, in `PGPASSWORD` or `PGPASSFILE`.
    /// - Throws: `HistoryError` if the address is invalid or contains a password, which other users could see.
    package init(_ text: String, password: String? = nil) throws(HistoryError) {
        self.text = text
        self.password = password
        hasMode = try Self.keywords(in: text).contains("sslmode")
    }

    /// Returns the keywords that have a value.
    private static func keywords(in text: String) throws(HistoryError) -> Set<String> {
        // A text without keywords is the name of a database.
        guard text.contains("=") || text.contains("://") else {
            if text.isEmpty { throw HistoryError(.badAddress, "it is empty") }
            return []
        }
        var reason: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(text, &reason) else {
            // The message of libpq repeats the address, which may contain a password.
            let hasSecret = text.contains("@") || text.contains("password")
            let message = hasSecret ? "" : reason.map { String(cString: $0) } ?? ""
            PQfreemem(reason)
            throw HistoryError(
                .badAddress, message.isEmpty ? "expected postgresql://[USER@][HOST][:PORT]/NAME" : message)
        }
        defer { PQconninfoFree(options) }
        var keywords: Set<String> = []
        var option = options
        while let keyword = option.pointee.keyword {
            if option.pointee.val != nil { keywords.insert(String(cString: keyword)) }
            option += 1
        }
        guard keywords.isDisjoint(with: ["password", "sslpassword"]) else {
            throw HistoryError(
                .badAddress,
                "it contains a password, which other users can see; use --password-file, PGPASSFILE or PGPASSWORD")
        }
        return keywords
    }

    /// The keywords and values of a connection. The values in the address replace the defaults before it.
    ///
    /// libpq's default `sslmode`, `prefer`, neither requires TLS nor verifies the server. A connection to another machine
    /// therefore has `verify-full` unless the address, `PGSSLMODE` or the service file has another mode.
    package var parameters: [(keyword: String, value: String)] {
        var parameters = [
            ("fallback_application_name", "indoorloc-fleet"),
            // Limits that detect an unreachable server: in seconds for the connection, and in milliseconds for sent
            // data.
            ("connect_timeout", "10"), ("tcp_user_timeout", "15000"),
            ("dbname", text),
        ]
        if let password { parameters.append(("password", password)) }
        parameters.append(("client_encoding", "UTF8"))
        if !hasMode, DatabaseOptions(parameters).isUnprotected { parameters.append(("sslmode", "verify-full")) }
        return parameters
    }
}

extension DatabaseAddress: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { text }
    package var debugDescription: String { text }
    package var customMirror: Mirror { Mirror(self, children: ["text": text]) }
}
