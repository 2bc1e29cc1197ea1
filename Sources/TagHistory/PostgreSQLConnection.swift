import CPostgreSQL
import Glibc
import IndoorVocabulary

/// A connection to a database, for use by a single thread.
///
/// The statements wait in poll(2) with a limit, because libpq's own functions wait forever for a server that hangs.
final class PostgreSQLConnection {
    private let handle: OpaquePointer
    private let limit: Duration
    private let isAbandoned: () -> Bool

    /// Connects, which may take as long as libpq's `connect_timeout` for each address of the server.
    ///
    /// - Parameters:
    ///   - limit: the time limit of a statement.
    ///   - isAbandoned: whether to give up waiting.
    init(_ address: DatabaseAddress, limit: Duration, isAbandoned: @escaping () -> Bool) throws(HistoryError) {
        var isAccepting = false
        var handle = try Self.connect(address)
        // libpq has no error code for a failed attempt. If the server accepts connections in general, and then doesn't
        // accept this one, it refuses the database, the user or the password.
        if PQstatus(handle) != CONNECTION_OK, Self.isAccepting(address) {
            isAccepting = true
            PQfinish(handle)
            handle = try Self.connect(address)
        }
        guard PQstatus(handle) == CONNECTION_OK else {
            let message = String(cString: PQerrorMessage(handle))
            PQfinish(handle)
            throw isAccepting ? HistoryError(.refused, message) : Self.failure(message)
        }
        (self.handle, self.limit, self.isAbandoned) = (handle, limit, isAbandoned)
        // Without a receiver, libpq writes notices to standard error.
        PQsetNoticeReceiver(handle, { _, _ in }, nil)
        PQsetnonblocking(handle, 1)
    }

    deinit { PQfinish(handle) }

    /// Runs one statement and returns its rows. Parameters are numbered from 1.
    @discardableResult
    func run(_ sql: String, _ parameters: [String] = []) throws(HistoryError) -> [[String?]] {
        let isSent = Self.withCStrings(parameters) { values in
            PQsendQueryParams(handle, sql, Int32(parameters.count), nil, values, nil, nil, 0)
        }
        guard isSent == 1 else { throw lost() }
        return try results(before: .now + limit)
    }

    /// Runs statements in one transaction: either all of them take effect, or none.
    func transaction(_ body: () throws(HistoryError) -> Void) throws(HistoryError) {
        try run("BEGIN")
        do throws(HistoryError) {
            try body()
            try run("COMMIT")
        } catch {
            // If the connection is lost, the server has rolled back.
            if PQstatus(handle) == CONNECTION_OK { _ = try? run("ROLLBACK") }
            throw error
        }
    }

    /// Sends the lines of a table in COPY's text format.
    func copy(_ lines: [UInt8], with sql: String) throws(HistoryError) {
        let deadline = ContinuousClock.now + limit
        try run(sql)
        var rest = lines[...]
        while !rest.isEmpty {
            let piece = rest.prefix(1 << 16)
            let code = piece.withUnsafeBytes { bytes in
                PQputCopyData(handle, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
            }
            guard code >= 0 else { throw lost() }
            if code == 1 { rest = rest.dropFirst(piece.count) }
            try flush(before: deadline)
        }
        while true {
            let code = PQputCopyEnd(handle, nil)
            guard code >= 0 else { throw lost() }
            if code == 1 { break }
            try flush(before: deadline)
        }
        _ = try results(before: deadline)
    }

    /// Returns the rows of a statement; empty if the server waits for the lines of COPY.
    private func results(before deadline: ContinuousClock.Instant) throws(HistoryError) -> [[String?]] {
        try flush(before: deadline)
        var rows: [[String?]] = []
        var failure: HistoryError?
        while true {
            while PQisBusy(handle) == 1 { try receive(before: deadline) }
            guard let result = PQgetResult(handle) else { break }
            defer { PQclear(result) }
            switch PQresultStatus(result) {
            case PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: break
            case PGRES_TUPLES_OK: rows = Self.rows(of: result)
            case PGRES_COPY_IN: return []
            default: failure = failure ?? error(of: result)
            }
        }
        if let failure { throw failure }
        return rows
    }

    private static func rows(of result: OpaquePointer) -> [[String?]] {
        let columns = 0..<PQnfields(result)
        return (0..<PQntuples(result)).map { row in
            columns.map { column in
                guard PQgetisnull(result, row, column) == 0 else { return nil }
                return PQgetvalue(result, row, column).map { String(cString: $0) }
            }
        }
    }

    /// Sends what libpq has buffered. Also reads in the meantime, because the server may wait until its own data are
    /// read.
    private func flush(before deadline: ContinuousClock.Instant) throws(HistoryError) {
        while true {
            switch PQflush(handle) {
            case 0: return
            case 1:
                let happened = try wait(for: POLLIN | POLLOUT, before: deadline)
                if happened & POLLIN != 0, PQconsumeInput(handle) != 1 { throw lost() }
            default: throw lost()
            }
        }
    }

    private func receive(before deadline: ContinuousClock.Instant) throws(HistoryError) {
        _ = try wait(for: POLLIN, before: deadline)
        guard PQconsumeInput(handle) == 1 else { throw lost() }
    }

    /// Waits until the socket is ready, and returns its state.
    private func wait(for wish: Int32, before deadline: ContinuousClock.Instant) throws(HistoryError) -> Int32 {
        while true {
            var watched = pollfd(fd: PQsocket(handle), events: Int16(wish), revents: 0)
            guard watched.fd >= 0 else { throw lost() }
            // Wait in short steps, so that an abandoned wait ends.
            if poll(&watched, 1, 200) > 0 { return Int32(watched.revents) }
            if isAbandoned() { throw HistoryError(.unreachable, "the program ends") }
            guard ContinuousClock.now < deadline else {
                throw HistoryError(.unreachable, "no answer within \(Int(limit.seconds)) s")
            }
        }
    }
}

// MARK: Errors and strings

extension PostgreSQLConnection {
    /// The field of a result with the SQLSTATE, `PG_DIAG_SQLSTATE`.
    private static let stateField = Int32(UInt8(ascii: "C"))

    private func error(of result: OpaquePointer) -> HistoryError {
        let message = String(cString: PQresultErrorMessage(result))
        guard let state = PQresultErrorField(result, Self.stateField) else {
            return HistoryError(.unreachable, message)
        }
        return HistoryError(state: String(cString: state), message)
    }

    /// The error of a connection that no server accepts.
    ///
    /// libpq has no error codes. All its messages about TLS contain "SSL" or "certificate" outside of names in
    /// quotation marks, and those about a connection that ends in the meantime contain the texts of `isLost`
    /// (PostgreSQL 15, `fe-connect.c`, `fe-secure.c`, `fe-secure-common.c` and `fe-secure-openssl.c`).
    private static func failure(_ message: String) -> HistoryError {
        let own = message.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset.isMultiple(of: 2) }.map(\.element).joined()
        let isOfTLS = ["SSL", "certificate"].contains { own.contains($0) }
        let isLost = ["SSL SYSCALL error", "closed unexpectedly"].contains { own.contains($0) }
        return HistoryError(isOfTLS && !isLost ? .insecure : .unreachable, message)
    }

    private func lost() -> HistoryError { HistoryError(.unreachable, String(cString: PQerrorMessage(handle))) }

    /// Connects, and returns the connection, even if it failed.
    private static func connect(_ address: DatabaseAddress) throws(HistoryError) -> OpaquePointer {
        let handle = with(address.parameters) { keywords, values in PQconnectdbParams(keywords, values, 1) }
        guard let handle else { throw HistoryError(.failed, "out of memory") }
        return handle
    }

    /// Whether the server accepts connections in general, for any database and user.
    private static func isAccepting(_ address: DatabaseAddress) -> Bool {
        with(address.parameters) { keywords, values in PQpingParams(keywords, values, 1) } == PQPING_OK
    }

    /// The type of an array of C strings.
    typealias CStrings = UnsafePointer<UnsafePointer<CChar>?>

    /// Calls a function with keywords and values, each as an array of C strings that ends with nil.
    static func with<Result>(
        _ parameters: [(keyword: String, value: String)], _ body: (CStrings?, CStrings?) -> Result
    ) -> Result {
        withCStrings(parameters.map(\.keyword)) { keywords in
            withCStrings(parameters.map(\.value)) { values in body(keywords, values) }
        }
    }

    /// Calls a function with an array of C strings that ends with nil.
    private static func withCStrings<Result>(
        _ texts: [String], _ body: (CStrings?) -> Result
    ) -> Result {
        let copies = texts.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        let pointers = copies.map { $0.map { UnsafePointer($0) } } + [nil]
        return pointers.withUnsafeBufferPointer { body($0.baseAddress) }
    }
}

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

/// The options of a connection as libpq completes them from its environment variables, its service file and its defaults.
struct DatabaseOptions {
    /// A value that no version of libpq accepts. libpq completes the options before it checks them, so that an attempt
    /// with this value ends before the connection.
    private static let refused = (keyword: "channel_binding", value: "undecided")

    /// The values of `host` and `hostaddr`, lists with commas; empty for none.
    private var (hosts, addresses) = ("", "")
    /// Whether an environment variable or the service file has an `sslmode` other than libpq's default.
    private var hasMode = false

    init(_ parameters: [(keyword: String, value: String)]) {
        let handle = PostgreSQLConnection.with(parameters + [Self.refused]) { keywords, values in
            PQconnectStartParams(keywords, values, 1)
        }
        defer { PQfinish(handle) }
        // Without enough memory, or with an unknown service, libpq returns no options. The connection then fails.
        guard let options = PQconninfo(handle) else { return }
        defer { PQconninfoFree(options) }
        var option = options
        while let keyword = option.pointee.keyword {
            let value = option.pointee.val.map { String(cString: $0) } ?? ""
            switch String(cString: keyword) {
            case "host": hosts = value
            case "hostaddr": addresses = value
            case "sslmode":
                let standard = option.pointee.compiled.map { String(cString: $0) } ?? ""
                let variable = option.pointee.envvar.flatMap { getenv($0) }
                hasMode = variable != nil || !value.isEmpty && value != standard
            default: break
            }
            option += 1
        }
    }

    /// Whether the connection leads to another machine and nothing selects an `sslmode`.
    var isUnprotected: Bool { !hasMode && isRemote }

    /// Whether one of the servers may be on another machine.
    ///
    /// If both are given, `hostaddr` decides. An empty entry, a path and a name that begins with @ are Unix sockets
    /// (*PostgreSQL 15 Documentation*, section 34.1.2, PostgreSQL Global Development Group 2022). Loopback addresses in
    /// other spellings, such as 127.1, count as another machine.
    private var isRemote: Bool {
        let names = Self.entries(hosts)
        let numbers = Self.entries(addresses)
        return (0..<max(names.count, numbers.count)).contains { index in
            if index < numbers.count, !numbers[index].isEmpty { return !LoopbackHost.contains(numbers[index]) }
            guard index < names.count, let first = names[index].first, first != "/", first != "@" else { return false }
            return !LoopbackHost.contains(names[index])
        }
    }

    private static func entries(_ list: String) -> [String] {
        list.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }
}
