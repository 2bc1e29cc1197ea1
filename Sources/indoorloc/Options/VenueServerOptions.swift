import Foundation
import IndoorLocalization
import VenuePackets

/// Which venue server to ask, and where to keep what it sends.
struct VenueServerOptions: Sendable {
    /// The options of a command that asks a server.
    static let options = options("the venue server: the folder with catalogue.json")
    /// The options of a command that takes a packet, which may be that of a server.
    static let packetOptions = options("the venue server; then V is a venue's number there")

    private static func options(_ server: String) -> [CommandOption] {
        [
            CommandOption(name: "server", argument: "URL", help: server),
            CommandOption(name: "cache", argument: "DIR", help: "where packets are kept (default ~/.cache/indoorloc)"),
            CommandOption(name: "token-file", argument: "FILE", help: "file with the server's bearer token"),
            CommandOption(name: "user-file", argument: "FILE", help: "file with user:password for the server"),
            CommandOption(
                name: "plain-credentials", help: "send token or password over http, where others can read it"),
            CommandOption(name: "ca-file", argument: "FILE", help: "certificates (PEM) that may vouch for the server"),
        ]
    }

    private let url: String?
    private let cache: String
    private let tokenFile: String?
    private let userFile: String?
    private let authority: String?
    private let allowsPlainCredentials: Bool
    private let command: String

    init(_ arguments: ParsedArguments, isRequired: Bool) throws(UsageError) {
        command = arguments.syntax.name
        url = isRequired ? try arguments.required("server") : arguments.value("server")
        tokenFile = arguments.value("token-file")
        userFile = arguments.value("user-file")
        authority = arguments.value("ca-file")
        allowsPlainCredentials = arguments.has("plain-credentials")
        try Self.check(url, arguments)
        if tokenFile != nil, userFile != nil {
            let message = "--token-file and --user-file contradict each other"
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
            let message = "--\(name) needs --server; without one, --venue is a packet's path, also that of a stored one"
            throw UsageError(message: message, command: arguments.syntax.name)
        }
        do throws(VenueRepositoryError) { _ = try VenueServer(url) } catch {
            throw UsageError(message: "--server: \(error)", command: arguments.syntax.name)
        }
    }

    /// The server, with its credentials.
    ///
    /// - Parameter isLive: whether positions must not wait for it while something is stored; otherwise its answer counts.
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
                    "indoorloc: warning: the credentials are sent over http unencrypted; others can read them\n")
            }
            return server
        } catch {
            // The address is right; what is wrong was in the file, unless that is not to be sent there.
            guard allowsPlainCredentials || !VenueServer.sendsInTheClear(to: url) else { throw error }
            guard let file = tokenFile ?? userFile else { throw error }
            throw VenueRepositoryError.badServer("\(file): \(error)")
        }
    }

    /// What the first line of a file with a token, or of one with user and password, lets in; nil without a file.
    static func credentials(tokenFile: String?, userFile: String?) throws -> VenueServerCredentials? {
        if let tokenFile {
            let token = try firstLine(of: tokenFile)
            guard !token.isEmpty else {
                throw VenueRepositoryError.badServer("\(tokenFile) holds no token; write it on the first line")
            }
            return .bearer(token)
        }
        guard let userFile else { return nil }
        let parts = try firstLine(of: userFile).split(
            separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else {
            throw VenueRepositoryError.badServer(
                "\(userFile) does not hold user:password; write them on its first line")
        }
        return .basic(user: String(parts[0]), password: String(parts[1]))
    }

    private static func firstLine(of path: String) throws(VenueRepositoryError) -> String {
        do throws(BoundedFileError) {
            let bytes = try BoundedFile.read(path, limit: InputLimits.standard.secret)
            let text = String(decoding: bytes, as: UTF8.self)
            return text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        } catch .unreadable(let reason) {
            throw .storage(path: path, reason: reason)
        } catch {
            throw .storage(path: path, reason: "\(error)")
        }
    }

    /// Runs the body with a repository over that server and that cache; what fails without ending it is told on standard
    /// error.
    func withRepository<Result: Sendable>(
        _ body: (VenueRepository) async throws -> Result
    ) async throws -> Result {
        let (result, teller) = try await attempt(isLive: false, body)
        // With the repository its errors end: all of them are told before the end.
        await teller.value
        return try result.get()
    }

    /// Runs the body with a repository for a session on a live source, which tells itself what fails.
    func withLiveRepository(_ body: (VenueRepository) async throws -> Void) async throws {
        let repository = VenueRepository(cache: cache, server: try server(isLive: true))
        let result: Result<Void, any Error>
        do { result = .success(try await body(repository)) } catch { result = .failure(told(error)) }
        await repository.endRefreshing()
        try result.get()
    }

    private func attempt<Success: Sendable>(
        isLive: Bool, _ body: (VenueRepository) async throws -> Success
    ) async throws -> (Result<Success, any Error>, Task<Void, Never>) {
        let repository = VenueRepository(cache: cache, server: try server(isLive: isLive))
        let errors = repository.errors
        let teller = Task {
            for await error in errors { StandardError.line("\(CommandFailure(error))") }
        }
        do { return (.success(try await body(repository)), teller) } catch {
            await repository.endRefreshing()
            return (.failure(told(error)), teller)
        }
    }

    /// The error as a command tells it.
    private func told(_ error: any Error) -> any Error {
        let error = (error as? VenueRepositoryError).map { LocalizationError($0) } ?? error
        guard let error = error as? LocalizationError else { return error }
        var failure = CommandFailure(error)
        if error.code == .credential, tokenFile == nil, userFile == nil {
            failure.description += " (--token-file or --user-file)"
        }
        return failure
    }

    /// Fetches a venue with its progress on a terminal; the folder of its packet.
    func fetch(_ id: VenueID, from repository: VenueRepository) async throws -> String {
        let progress = ProgressLine()
        defer { progress.clear() }
        _ = try await repository.venue(id) { fraction in
            progress.show("venue \(id): \(Int(fraction * 100)) %")
        }
        guard let path = await repository.storedPacket(of: id) else { throw VenueRepositoryError.unknownVenue(id) }
        return path
    }

    /// The packet that `--venue` means: a path, or with `--server` a venue's number there.
    ///
    /// - Parameter isLive: whether a session on a live source begins with it: then what is stored does not wait for a slow
    ///   server, whose newer version is stored behind it for the next start.
    func packet(_ venue: String, radioMap: String?, isLive: Bool = false) async throws -> VenuePacket {
        guard url != nil else {
            return try VenuePacketReader().read(venue, radioMap: radioMap).tellingOfWarnings(venue)
        }
        guard let id = Int(venue).map(VenueID.init(rawValue:)) else {
            throw UsageError(
                message: "with --server, --venue must be a venue's number, not '\(venue)'", command: command)
        }
        let (packet, teller) = try await attempt(isLive: isLive) { repository in
            _ = try await repository.catalogue()
            // Read while the repository keeps it from being replaced.
            let path = try await fetch(id, from: repository)
            return try VenuePacketReader().read(path, radioMap: radioMap).tellingOfWarnings(path)
        }
        // What a live session does not wait for is told while it runs.
        if case .success(let packet) = packet, isLive { return packet }
        await teller.value
        return try packet.get()
    }
}

/// An error of a repository without what it means for a session, as a command runs none then.
private struct CommandFailure: ErrorOfSeveralLines, CustomStringConvertible {
    var description: String

    init(_ error: LocalizationError) {
        description = error.cause.map { "\(error.message): \($0)" } ?? error.message
    }
}

extension VenuePacket {
    /// The same packet; what is wrong with its settings or its radio map is told on standard error.
    func tellingOfWarnings(_ path: String) -> VenuePacket {
        for warning in warnings where warning.path.hasPrefix("$.settings") || warning.path == "$.radioMap" {
            StandardError.line("\(path): \(warning)")
        }
        return self
    }
}
