import Foundation
import Glibc
import IndoorLocalization
import LiveMap

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
    private let tokenFile: String?

    /// Reads the options of a command; returns nil without `--http`.
    init?(_ arguments: ParsedArguments) throws {
        let command = arguments.syntax.name
        tokenFile = arguments.value("http-token-file")
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
    /// - Throws: `CommandError` if the token file can't be used, or `LiveMapError` if the address can't be.
    func listener() throws -> LiveMapListener {
        do {
            return try LiveMapListener(address, token: try tokenFile.map(Self.token))
        } catch let error as LiveMapError {
            guard case .badToken = error, let tokenFile else { throw error }
            throw CommandError(description: "--http-token-file \(tokenFile): \(error)")
        }
    }

    /// Returns the first line of a file that only its owner can read.
    private static func token(in path: String) throws(CommandError) -> String {
        func failure(_ reason: String) -> CommandError {
            CommandError(description: "--http-token-file \(path): \(reason)")
        }
        guard let file = fopen(path, "re") else {
            let (number, reason) = (errno, String(cString: strerror(errno)))
            let advice = "; create it with 'openssl rand -hex 16 >\(path)' and 'chmod 600 \(path)'"
            throw failure(reason + (number == ENOENT ? advice : ""))
        }
        defer { fclose(file) }
        var status = stat()
        guard fstat(fileno(file), &status) == 0 else { throw failure(String(cString: strerror(errno))) }
        guard status.st_mode & 0o077 == 0 else {
            throw failure("other users can read the token; use 'chmod 600 \(path)'")
        }
        // One byte more than the longest secret, to detect longer lines.
        let limit = InputLimits.standard.secret
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        let count = fread(&bytes, 1, bytes.count, file)
        guard ferror(file) == 0 else { throw failure(String(cString: strerror(errno))) }
        let line = bytes.prefix(count).prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        guard line.count <= limit else { throw failure("the first line is longer than \(limit) bytes") }
        guard !line.isEmpty else { throw failure("the first line has no token") }
        return String(decoding: line, as: UTF8.self)
    }
}
