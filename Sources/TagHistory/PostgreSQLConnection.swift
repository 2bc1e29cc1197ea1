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
