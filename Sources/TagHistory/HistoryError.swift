/// An error in opening or writing the database of a fleet's positions.
package struct HistoryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of error.
    package enum Reason: Hashable, Sendable {
        /// The address of the database is invalid, or contains a password.
        case badAddress
        /// No server answers, or the connection ended.
        case unreachable
        /// The connection has no TLS, or the server's certificate isn't trusted.
        case insecure
        /// The server runs, but refuses the connection: the database, the user or the password is wrong.
        case refused
        /// The database has no tables of this package.
        case notCreated
        /// The tables have another version. `found` is the version in the database, and `known` that of this package.
        case otherVersion(found: Int, known: Int)
        /// The user has no permission for a statement.
        case permission
        /// The database doesn't accept the values of a row.
        case refusedRow
        /// Another error of the server, which the message describes.
        case failed
    }

    /// The kind of error.
    package var reason: Reason
    /// The message of libpq or of the server; empty without one.
    package var message: String
    /// The SQLSTATE of the server, five characters; empty if the error is not from a statement.
    package var state: String

    /// Creates an error. The message becomes one line.
    package init(_ reason: Reason, _ message: String = "", state: String = "") {
        self.reason = reason
        self.message = message.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        self.state = state
    }

    /// Creates the error of a statement.
    ///
    /// Source of the classes: *PostgreSQL 15 Documentation*, appendix A, PostgreSQL Global Development Group 2022.
    init(state: String, _ message: String) {
        let reason: Reason =
            switch (state, state.prefix(2)) {
            case ("42501", _), ("25006", _): .permission
            case ("42P01", _): .notCreated
            // Invalid values, violated constraints, and values beyond a limit such as the size of an index entry.
            case (_, "22"), (_, "23"), (_, "54"): .refusedRow
            // Lost connections, and a server that starts or stops.
            case (_, "08"), (_, "57"): .unreachable
            default: .failed
            }
        self.init(reason, message, state: state)
    }

    package var description: String {
        let details = [message, state.isEmpty ? "" : "SQLSTATE \(state)"].filter { !$0.isEmpty }
        return text + (details.isEmpty ? "" : " (\(details.joined(separator: ", ")))")
    }

    private var text: String {
        switch reason {
        case .badAddress: "the address of the database is invalid"
        case .unreachable: "the database is not reachable"
        case .insecure:
            "the server has not proved its identity by TLS; give the authority of its certificate with sslrootcert=FILE "
                + "in --database, or an explicit sslmode"
        case .refused:
            "the server refuses the connection; check the names of database and user, the password, and pg_hba.conf"
        case .notCreated: "the database has no tables of indoorloc; create them with --create"
        case .otherVersion(let found, let known):
            "the tables in the database have version \(found), but this program writes version \(known); "
                + (found > known ? "update the program" : "use another database or schema")
        case .permission:
            "the user has no permission; grant SELECT, INSERT, UPDATE and DELETE on the tables indoorloc_*, and "
                + "TEMPORARY on the database; --create also requires CREATE on the schema"
        case .refusedRow: "the database does not accept an output"
        case .failed: "the database reports an error"
        }
    }
}
