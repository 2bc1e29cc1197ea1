import Foundation
import IndoorLocalization
import NATSLog
import SecretFiles
import TagTracking
import TagTrackingService
import indoorloc

/// The options of the commands that use NATS, and their values.
struct NATSServerOptions: Sendable {
    static let options = [
        CommandOption(
            name: "nats", argument: "URL",
            help: "NATS server with JetStream, such as nats://127.0.0.1:4222; repeat it for further servers"),
        CommandOption(name: "nats-user-file", argument: "FILE", help: "file with user:password for NATS"),
        CommandOption(name: "nats-credentials", argument: "FILE", help: "credentials file with a JWT and its key"),
        CommandOption(name: "nats-ca", argument: "FILE", help: "certificate authorities (PEM) to trust for NATS"),
        CommandOption(name: "nats-certificate", argument: "FILE", help: "certificate (PEM) of this client"),
        CommandOption(name: "nats-key", argument: "FILE", help: "key (PEM) of the certificate"),
    ]

    /// The pause between attempts to reach a server.
    private static let pause = Duration.seconds(1)

    private let servers: NATSServers
    private let command: String

    init(_ arguments: ParsedArguments) throws {
        command = arguments.syntax.name
        _ = try arguments.required("nats")
        let urls = arguments.values["nats"] ?? []
        for url in urls {
            guard url.wholeMatch(of: #/(nats|tls):\/\/[^\s\/@]+/#) != nil else {
                let reason = url.contains("@") ? "; put user and password into --nats-user-file" : ""
                throw UsageError(
                    message:
                        "--nats must be nats://HOST[:PORT] or tls://HOST[:PORT], not '\(AddressText.withoutSecrets(Self.withoutUser(url)))'"
                        + reason, command: command)
            }
        }
        var security = NATSServers.Security()
        security.authorityFile = arguments.value("nats-ca")
        security.certificateFile = arguments.value("nats-certificate")
        security.keyFile = arguments.value("nats-key")
        if security.keyFile != nil, security.certificateFile == nil {
            throw UsageError(message: "--nats-key requires --nats-certificate", command: command)
        }
        try Self.checkFilesForLibrary(arguments)
        let login = try arguments.secretFile("nats-user-file", .login)?.login()
        servers = NATSServers(
            urls: urls, user: login.map { NATSServers.Credentials(user: $0.user, password: $0.password) },
            credentialsFile: arguments.value("nats-credentials"),
            security: security == NATSServers.Security() ? nil : security)
    }

    private static func withoutUser(_ url: String) -> String {
        guard let end = url.lastIndex(of: "@"), let start = url.range(of: "://")?.upperBound, start < end else {
            return url
        }
        return url[..<start] + "…" + url[end...]
    }

    /// Checks the permissions of the files with keys, which libnats reads. Without `--nats-key`, the file of the
    /// certificate also has the key.
    private static func checkFilesForLibrary(_ arguments: ParsedArguments) throws(SecretFileError) {
        for option in ["nats-credentials", arguments.has("nats-key") ? "nats-key" : "nats-certificate"] {
            try arguments.secretFile(option, .key)?.check()
        }
    }

    /// Runs the body with a connection, whose changes are reported on standard error.
    ///
    /// - Parameter isPatient: whether to wait until a server answers.
    func withConnection(
        name: String, isPatient: Bool, _ body: (NATSConnection) async throws -> Void
    ) async throws {
        let connection = try await open(name: name, isPatient: isPatient)
        let result: Result<Void, any Error>
        do { result = .success(try await body(connection)) } catch { result = .failure(error) }
        await connection.end()
        try result.get()
    }

    /// Connects, and reports the changes of the connection on standard error; see ``withConnection(name:isPatient:_:)``.
    func open(name: String, isPatient: Bool) async throws -> NATSConnection {
        let log = ProcessLog()
        return try await patiently(isPatient) { () async throws(FleetStoreError) -> NATSConnection in
            try await NATSConnection.open(servers, name: name) { change in
                switch change {
                case .disconnected: log.line("NATS: the connection broke; reconnecting", .warning)
                case .reconnected(let url): log.line("NATS: connected again to \(url)", .notice)
                case .refused(let reason): log.line("NATS: \(reason)", .warning)
                }
            }
        }
    }

    /// Returns the result of requests at the start of a process, such as those that open stores.
    ///
    /// - Parameter isPatient: whether to repeat them until a server answers in time.
    func patiently<Value>(
        _ isPatient: Bool = true, _ request: () async throws(FleetStoreError) -> Value
    ) async throws -> Value {
        let log = ProcessLog()
        while true {
            do throws(FleetStoreError) { return try await request() } catch {
                guard isPatient, error.isTransient else { throw error }
                log.line("\(error); trying again", .warning)
                try await Task.sleep(for: Self.pause)
            }
        }
    }
}

/// The log and the stores of a fleet, which a process opens at its start.
struct FleetStores {
    let snapshots: NATSSnapshotStore
    let partitioning: Partitioning
    let readings: NATSReadingLog
    let leases: NATSLeaseStore

    init(_ connection: NATSConnection) async throws(FleetStoreError) {
        let snapshots = try await NATSSnapshotStore(connection)
        let partitioning = try await snapshots.partitioning()
        readings = try await NATSReadingLog(connection, partitioning: partitioning)
        leases = try await NATSLeaseStore(connection)
        (self.snapshots, self.partitioning) = (snapshots, partitioning)
    }
}

/// The outputs of a fleet in a stream of NATS: the JSON of an output under `positions.TAG`.
///
/// A worker stores a state only after the stream has stored the outputs before it. After a failure, it emits the
/// outputs after the stored state again.
struct NATSOutputSink: FleetOutputSink, OutputConfirmation {
    let publisher: NATSOutputPublisher

    func write(_ outputs: [FleetOutput]) async { await publisher.publish(outputs) }

    var losses: Int { publisher.losses }

    func flush() async -> Bool { await publisher.flush() }
}

/// Several sinks, which receive the same outputs one after the other.
struct OutputSinks: FleetOutputSink {
    let sinks: [any FleetOutputSink]

    func write(_ outputs: [FleetOutput]) async {
        for sink in sinks { await sink.write(outputs) }
    }

    func write(_ events: [ReceiverEvent]) async {
        for sink in sinks { await sink.write(events) }
    }

    func write(_ activity: GatewayActivity) async {
        for sink in sinks { await sink.write(activity) }
    }

    func use(register: TagRegister, removing tags: [TagKey]) async {
        for sink in sinks { await sink.use(register: register, removing: tags) }
    }

    func forget(_ isForgotten: @Sendable (TagKey) -> Bool) async {
        for sink in sinks { await sink.forget(isForgotten) }
    }
}
