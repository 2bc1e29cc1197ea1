import Foundation
import IndoorLocalization
import SecretFiles
import VenuePackets

/// A venue server, and the cache for its packets.
struct VenueServerOptions: Sendable {
    /// The options of a command that requires a server.
    static let options = options("venue server: the URL of the folder with catalogue.json")
    /// The options of a command that reads a packet, from a path or from a server.
    static let packetOptions = options("venue server; V is then the number of a venue")

    private static func options(_ server: String) -> [CommandOption] {
        [
            CommandOption(name: "server", argument: "URL", help: server),
            CommandOption(name: "cache", argument: "DIR", help: "cache for packets (default ~/.cache/indoorloc)"),
            CommandOption(name: "token-file", argument: "FILE", help: "file with the server's bearer token"),
            CommandOption(name: "user-file", argument: "FILE", help: "file with user:password for the server"),
            CommandOption(
                name: "plain-credentials", help: "allow sending the token or password over http, unencrypted"),
            CommandOption(
                name: "ca-file", argument: "FILE", help: "certificate authorities (PEM) to trust for the server"),
        ]
    }

    /// Whether packets come from a server.
    var isGiven: Bool { url != nil }

    private let url: String?
    private let cache: String
    private let tokenFile: SecretFile?
    private let userFile: SecretFile?
    private let authority: String?
    private let allowsPlainCredentials: Bool
    private let command: String

    init(_ arguments: ParsedArguments, isRequired: Bool) throws(UsageError) {
        command = arguments.syntax.name
        url = isRequired ? try arguments.required("server") : arguments.value("server")
        tokenFile = arguments.secretFile("token-file", .token)
        userFile = arguments.secretFile("user-file", .login)
        authority = arguments.value("ca-file")
        allowsPlainCredentials = arguments.has("plain-credentials")
        try Self.check(url, arguments)
        if tokenFile != nil, userFile != nil {
            let message = "--token-file and --user-file can't be combined"
            throw UsageError(message: message, command: arguments.syntax.name)
        }
        if let cache = arguments.value("cache") {
            self.cache = cache
        } else {
            let environment = ProcessInfo.processInfo.environment
            let home = environment["HOME"] ?? FileManager.default.homeDirectoryForCurrentUser.path
            cache = (environment["XDG_CACHE_HOME"] ?? home + "/.cache") + "/indoorloc"
        }
    }

    private static func check(_ url: String?, _ arguments: ParsedArguments) throws(UsageError) {
        guard let url else {
            guard
                let name = ["cache", "token-file", "user-file", "plain-credentials", "ca-file"].first(
                    where: arguments.has)
            else { return }
            let message = "--\(name) requires --server; without it, --venue is the path of a packet"
            throw UsageError(message: message, command: arguments.syntax.name)
        }
        do throws(VenueRepositoryError) { _ = try VenueServer(url) } catch {
            throw UsageError(message: "--server: \(error)", command: arguments.syntax.name)
        }
    }

    /// Returns the server with its credentials; nil if none was given.
    ///
    /// - Parameter isLive: whether a stored packet is used if the server is slow; otherwise the command waits for the
    ///   server.
    private func server(isLive: Bool) throws -> VenueServer? {
        guard let url else { return nil }
        let credentials = try Self.credentials(tokenFile: tokenFile, userFile: userFile)
        var patience = RetryPolicy()
        if !isLive { patience.grace = .seconds(3_600) }
        do throws(VenueRepositoryError) {
            let server = try VenueServer(
                url, credentials: credentials, certificateAuthority: authority, patience: patience,
                allowsPlainCredentials: allowsPlainCredentials)
            if credentials != nil, VenueServer.sendsInTheClear(to: url) {
                StandardError.write(
                    "indoorloc: warning: the credentials are sent over http, unencrypted\n")
            }
            return server
        } catch {
            // The URL was checked before, so the problem is in the file, unless its content must not be sent over http.
            guard allowsPlainCredentials || !VenueServer.sendsInTheClear(to: url) else { throw error }
            guard let file = tokenFile ?? userFile else { throw error }
            throw VenueRepositoryError.badServer("\(file.path): \(error)")
        }
    }

    /// The credentials in the first line of a token file, or of a file with user and password; nil without a file.
    static func credentials(
        tokenFile: SecretFile?, userFile: SecretFile?
    ) throws(SecretFileError) -> VenueServerCredentials? {
        if let tokenFile { return .bearer(try tokenFile.line()) }
        guard let (user, password) = try userFile?.login() else { return nil }
        return .basic(user: user, password: password)
    }

    /// Runs the body with a repository for this server and cache; reports errors that don't end it on standard error.
    func withRepository<Result: Sendable>(
        _ body: (VenueRepository) async throws -> Result
    ) async throws -> Result {
        let (result, reporter) = try await attempt(isLive: false, body)
        // The error stream ends with the repository: all errors are reported before the command ends.
        await reporter.value
        return try result.get()
    }

    /// Runs the body with a repository for a session on a live source, which reports the repository's errors itself.
    func withLiveRepository(_ body: (VenueRepository) async throws -> Void) async throws {
        let repository = VenueRepository(cache: cache, server: try server(isLive: true))
        let result: Result<Void, any Error>
        do { result = .success(try await body(repository)) } catch { result = .failure(reportable(error)) }
        await repository.endRefreshing()
        try result.get()
    }

    private func attempt<Success: Sendable>(
        isLive: Bool, _ body: (VenueRepository) async throws -> Success
    ) async throws -> (Result<Success, any Error>, Task<Void, Never>) {
        let repository = VenueRepository(cache: cache, server: try server(isLive: isLive))
        let errors = repository.errors
        let reporter = Task {
            for await error in errors { StandardError.line("\(CommandFailure(error))") }
        }
        do { return (.success(try await body(repository)), reporter) } catch {
            await repository.endRefreshing()
            return (.failure(reportable(error)), reporter)
        }
    }

    /// The error as a command reports it.
    func reportable(_ error: any Error) -> any Error {
        let error = (error as? VenueRepositoryError).map { LocalizationError($0) } ?? error
        guard let error = error as? LocalizationError else { return error }
        var failure = CommandFailure(error)
        if error.code == .credential || error.httpStatus == 403, tokenFile == nil, userFile == nil {
            failure.description += " (--token-file or --user-file)"
        }
        return failure
    }

    /// Fetches a venue, showing progress on a terminal; returns the folder of its packet.
    func fetch(_ id: VenueID, from repository: VenueRepository) async throws -> String {
        let progress = ProgressLine()
        defer { progress.clear() }
        _ = try await repository.venue(id) { fraction in
            progress.show("venue \(id): \(Int(fraction * 100)) %")
        }
        guard let path = await repository.storedPacket(of: id) else { throw VenueRepositoryError.unknownVenue(id) }
        return path
    }

    /// The packet given by `--venue`: a path, or with `--server` a venue's number.
    ///
    /// - Parameter isLive: whether a session on a live source begins with the packet. A stored packet is then used
    ///   immediately if the server is slow; a newer version is stored in the background for the next start.
    func packet(_ venue: String, radioMap: String?, isLive: Bool = false) async throws -> VenuePacket {
        guard url != nil else {
            return try VenuePacketReader().read(venue, radioMap: radioMap).reportingWarnings(venue)
        }
        guard let id = Int(venue).map(VenueID.init(rawValue:)) else {
            throw UsageError(
                message: "with --server, --venue must be a venue's number, not '\(venue)'", command: command)
        }
        let (packet, reporter) = try await attempt(isLive: isLive) { repository in
            _ = try await repository.catalogue()
            // Read here, as the repository doesn't replace the packet before the body returns.
            let path = try await fetch(id, from: repository)
            return try VenuePacketReader().read(path, radioMap: radioMap).reportingWarnings(path)
        }
        // A live session doesn't wait for these errors; they are reported while it runs.
        if case .success(let packet) = packet, isLive { return packet }
        await reporter.value
        return try packet.get()
    }
}

/// A repository error outside of a session.
private struct CommandFailure: ErrorOfSeveralLines, CustomStringConvertible {
    var description: String

    init(_ error: LocalizationError) {
        description = error.cause.map { "\(error.message): \($0)" } ?? error.message
    }
}

extension VenuePacket {
    /// Returns the same packet; reports problems of its settings and its radio map on standard error.
    func reportingWarnings(_ path: String) -> VenuePacket {
        for warning in warnings where warning.path.hasPrefix("$.settings") || warning.path == "$.radioMap" {
            StandardError.line("\(path): \(warning)")
        }
        return self
    }
}

/// A web server given by a group of options, with its credentials.
struct WebServerOption {
    /// The prefix of the group's options, such as `upload` in `--upload-url`.
    let prefix: String
    /// The option for a file with user and password; nil if the group has none.
    var passwordOption: String?
    /// The option that allows unencrypted credentials; nil if the group has none.
    var plainOption: String?

    init(_ prefix: String, passwordOption: String? = nil, plainOption: String? = nil) {
        self.prefix = prefix
        self.passwordOption = passwordOption
        self.plainOption = plainOption
    }

    /// Returns the server at a URL.
    ///
    /// - Throws: `UsageError` if the options are invalid, or the error of a credentials file.
    func server(_ url: String, _ arguments: ParsedArguments) throws -> VenueServer {
        let command = arguments.syntax.name
        let tokenFile = arguments.secretFile(prefix + "-token-file", .token)
        let userFile = passwordOption.flatMap { arguments.secretFile($0, .login) }
        if tokenFile != nil, userFile != nil {
            let message = "--\(prefix)-token-file and --\(passwordOption ?? "") can't be combined"
            throw UsageError(message: message, command: command)
        }
        do throws(VenueRepositoryError) { _ = try VenueServer(url) } catch {
            throw UsageError(message: "--\(prefix)-url: \(error)", command: command)
        }
        let allowsPlain = plainOption.map(arguments.has) ?? false
        let credentials = try VenueServerOptions.credentials(tokenFile: tokenFile, userFile: userFile)
        if credentials != nil, VenueServer.sendsInTheClear(to: url) {
            guard allowsPlain else {
                let advice = plainOption.map { ", or allow it with --\($0)" } ?? ""
                throw UsageError(
                    message: "--\(prefix)-url: http sends the credentials unencrypted; use https\(advice)",
                    command: command)
            }
            StandardError.write(
                "indoorloc: warning: the credentials are sent over http, unencrypted\n")
        }
        return try VenueServer(
            url, credentials: credentials, certificateAuthority: arguments.value(prefix + "-ca"),
            allowsPlainCredentials: allowsPlain)
    }
}

extension ParsedArguments {
    /// Returns the file of an option that names a token, a password or a key; nil without the option.
    package func secretFile(_ option: String, _ content: SecretFile.Content) -> SecretFile? {
        value(option).map { SecretFile($0, content, option: option) }
    }
}
