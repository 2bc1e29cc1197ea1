import IndoorVocabulary
import LocalizationSession

/// Settings that a server provides to all its devices, requested at an interval.
///
///     let server = try VenueServer("https://venues.example.org")
///     for await update in RemoteSettings(server).updates() {
///         guard case .settings(let entries) = update else { continue }
///         let problems = settings.load(entries, from: .remote)
///         settings.apply()
///         await localizer.setSettings(settings)
///     }
///
/// The document is a JSON object as for `SettingsFile`. It is downloaded only if its entity tag has changed. The last
/// settings stay in effect until the server provides others: a failure or an invalid document doesn't remove them.
public struct RemoteSettings: Sendable {
    /// The result of a request.
    public enum Update: Hashable, Sendable {
        /// The server's settings, which replace all its earlier ones.
        case settings([SettingsEntry])
        /// The request failed; it is repeated after a pause.
        case failure(LocalizationError)
    }

    private let server: VenueServer
    private let transport: any PacketTransport
    private let path: String
    private let pull: RemotePullSettings
    private let seed: UInt64
    private let makeClock: @Sendable () -> SessionClock

    /// Describes the document and the requests; no request is sent yet.
    ///
    /// - Parameters:
    ///   - server: the server of the document.
    ///   - path: the document's path below the server's folder.
    ///   - pull: the interval of the requests; the defaults replace settings that are out of range.
    ///   - clock: measures the time between requests.
    ///   - seed: the seed of the random part of the pauses after failures.
    public init(
        _ server: VenueServer, path: String = "settings.json", pull: RemotePullSettings = RemotePullSettings(),
        clock: some Clock<Duration> = ContinuousClock(), seed: UInt64 = .random(in: 0...UInt64.max)
    ) {
        self.server = server
        transport = CurlTransport(server: server)
        self.path = path
        self.pull = pull.problems.isEmpty ? pull : RemotePullSettings()
        self.seed = seed
        makeClock = { SessionClock(clock) }
    }

    /// Requests the settings immediately and then at the interval, until the stream ends.
    public func updates() -> AsyncStream<Update> {
        AsyncStream(bufferingPolicy: .bufferingNewest(64)) { continuation in
            let task = Task {
                await run { continuation.yield($0) }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    private func run(_ report: (Update) -> Void) async {
        let clock = makeClock()
        var machine = RemoteSettingsMachine(pull, seed: seed)
        var directives = machine.handle(.start, at: .zero)
        while !Task.isCancelled {
            var answer: RemoteSettingsMachine.Event?
            for directive in directives {
                switch directive {
                case .ask(let tag): answer = await ask(unless: tag)
                case .use(let entries): report(.settings(entries))
                case .report(let error): report(.failure(error))
                case .cancel: return
                }
            }
            if answer == nil, let wake = machine.nextWake {
                do { try await clock.sleep(until: Instant.zero.duration(to: wake)) } catch { return }
                directives = machine.handle(.tick, at: wake)
            } else {
                let now = Instant.zero.advanced(by: clock.elapsed())
                directives = answer.map { machine.handle($0, at: now) } ?? []
            }
        }
    }

    /// Sends one request.
    private func ask(unless tag: String?) async -> RemoteSettingsMachine.Event {
        let url = server.address(of: path)
        let request = TransferRequest(url: url, unless: tag.flatMap { EntityTag($0) }, acceptsCompressed: true)
        let (head, bytes): (TransferHead, [UInt8])
        do throws(TransferFailure) {
            (head, bytes) = try await transport.content(of: request, limit: InputLimits.standard.settings)
        } catch {
            return .failed(LocalizationError(VenueRepositoryError(error, url: url)))
        }
        switch head.status {
        case 200: break
        case 304 where tag != nil: return .unchanged
        default: return .failed(LocalizationError(VenueRepositoryError.status(head.status, of: server, url: url)))
        }
        do throws(SettingsFile.ReadingError) {
            let file = try SettingsFile(bytes, name: url, source: .remote)
            return .document(file.entries, tag: head.tag?.text)
        } catch {
            return .failed(LocalizationError(code: .generic, message: error.description, kind: .badResponse))
        }
    }
}
