import Glibc
import IndoorLocalization
import LiveMap
import SecretFiles

/// The options of the commands that serve a live map of their session, and their values.
struct LiveMapOptions: Sendable {
    static let options = options(serving: "a live map")

    /// Returns the options for a page, such as `a live map`.
    static func options(serving page: String) -> [CommandOption] {
        [
            CommandOption(
                name: "http", argument: "ADDRESS",
                help: "serve \(page) and its data by HTTP at HOST:PORT or PORT, such as 127.0.0.1:8080"),
            CommandOption(
                name: "http-token-file", argument: "FILE",
                help: "file with the token that all requests need; required unless ADDRESS is a loopback address"),
        ]
    }

    private let address: LiveMapAddress
    private let tokenFile: SecretFile?

    /// Reads the options of a command; returns nil without `--http`.
    init?(_ arguments: ParsedArguments) throws {
        let command = arguments.syntax.name
        tokenFile = arguments.secretFile("http-token-file", .token)
        guard let text = arguments.value("http") else {
            guard tokenFile != nil else { return nil }
            throw UsageError(message: "--http-token-file requires --http", command: command)
        }
        do throws(LiveMapError) { address = try LiveMapAddress(text) } catch {
            throw UsageError(message: "--http: \(error)", command: command)
        }
        guard tokenFile != nil || address.isLoopback else {
            throw UsageError(
                message: "--http: other hosts can reach \(address); add --http-token-file, or use 127.0.0.1",
                command: command)
        }
    }

    /// Listens at the address.
    ///
    /// - Throws: `CommandError` or `SecretFileError` if the token file can't be used, or `LiveMapError` if the address
    ///   can't be used.
    func listener() throws -> LiveMapListener {
        do {
            return try LiveMapListener(address, token: try tokenFile.map(Self.token))
        } catch let error as LiveMapError {
            guard case .badToken = error, let tokenFile else { throw error }
            throw CommandError(description: "--http-token-file \(tokenFile.path): \(error)")
        }
    }

    private static func token(in file: SecretFile) throws -> String {
        do throws(SecretFileError) { return try file.line() } catch {
            guard case .unreadable(code: ENOENT) = error.reason else { throw error }
            let advice = "create it with 'openssl rand -hex 16 >\(file.path)' and 'chmod 600 \(file.path)'"
            throw CommandError(description: "\(error); \(advice)")
        }
    }
}
