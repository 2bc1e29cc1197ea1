import CPostgreSQL
import Glibc
import IndoorVocabulary

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
