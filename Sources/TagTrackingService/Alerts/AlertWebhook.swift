import CSodium
import FoundationEssentials
import IndoorVocabulary
import LocalizationSession
import RecordUpload
import SecretFiles
import TextFormats
import VenuePackets

/// The address of a webhook and the key that signs its requests.
package struct AlertWebhook: Hashable, Sendable {
    let server: VenueServer
    /// The key of the signatures; nil for requests without one.
    let key: WebhookKey?

    /// Describes a webhook.
    ///
    /// - Parameters:
    ///   - url: https, or http to this machine; without user, query or fragment.
    ///   - certificateAuthority: the path of a file with the certificates of trusted authorities; nil for the system's.
    ///   - patience: the time limit for one request; half of it is that for the connection.
    /// - Throws: ``AlertWebhookError`` if the address is invalid, or others could read the requests.
    package init(
        _ url: String, key: WebhookKey? = nil, certificateAuthority: String? = nil, patience: Duration = .seconds(20)
    ) throws(AlertWebhookError) {
        guard !VenueServer.sendsInTheClear(to: url) else {
            throw AlertWebhookError(
                message: "http would send the places of tags unencrypted; use https, or http to this machine only")
        }
        var policy = RetryPolicy()
        policy.connectTimeout = patience / 2
        policy.stallTimeout = patience
        policy.transferTimeout = patience
        do throws(VenueRepositoryError) {
            server = try VenueServer(url, certificateAuthority: certificateAuthority, patience: policy)
        } catch { throw AlertWebhookError(message: "\(error)") }
        self.key = key
    }

    /// Sends an event.
    ///
    /// - Parameters:
    ///   - id: the identifier of the event, the same on each attempt.
    ///   - time: the time of the attempt in seconds since 1970.
    func send(_ body: [UInt8], id: String, at time: Int64) async throws(UploadError) {
        var headers = ["webhook-id: \(id)", "webhook-timestamp: \(time)"]
        if let key { headers.append("webhook-signature: \(key.signature(of: body, id: id, time: time))") }
        do throws(VenueRepositoryError) {
            try await server.post(body, type: "application/json", headers: headers)
        } catch { throw UploadError(error, of: .webhook) }
    }
}

/// The reason why a webhook can't be used.
package struct AlertWebhookError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error in words.
    package var message: String

    package var description: String { message }
}

/// The key with which requests of a webhook are signed. No description contains the key.
///
/// Source: *Standard Webhooks*, standardwebhooks.com, "Signature scheme"; H. Krawczyk, M. Bellare, R. Canetti, *HMAC:
/// Keyed-Hashing for Message Authentication*, RFC 2104, 1997. The implementation is libsodium's.
package struct WebhookKey: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    private static let prefix = "whsec_"
    /// The length of the key in bytes.
    private static let lengths = 24...64

    private let bytes: [UInt8]

    /// Creates a key from its text: `whsec_` and 24 to 64 bytes in Base64. Any other text gives nil.
    package init?(_ text: String) {
        guard text.hasPrefix(Self.prefix), let data = Data(base64Encoded: String(text.dropFirst(Self.prefix.count))),
            Self.lengths.contains(data.count)
        else { return nil }
        bytes = Array(data)
    }

    /// Reads the key from the first line of a file that other users can't read.
    ///
    /// - Throws: ``AlertWebhookError`` if the file can't be read, others may access it, or it has no key.
    package init(file: SecretFile) throws(AlertWebhookError) {
        let line: String
        do throws(SecretFileError) { line = try file.line() } catch {
            throw AlertWebhookError(message: "\(error)")
        }
        guard let key = WebhookKey(line) else {
            let option = file.option.map { "--\($0) " } ?? ""
            throw AlertWebhookError(
                message:
                    "\(option)\(file.path): the first line must be 'whsec_' and 24 to 64 bytes in Base64; create it with "
                    + "(umask 077; echo whsec_$(head -c 32 /dev/urandom | base64) > \(file.path))")
        }
        self = key
    }

    /// Returns the signature of a request: `v1,` and the HMAC-SHA256 in Base64 of identifier, time and body, with dots
    /// between them.
    package func signature(of body: [UInt8], id: String, time: Int64) -> String {
        var state = crypto_auth_hmacsha256_state()
        let message = Array("\(id).\(time).".utf8) + body
        var code = [UInt8](repeating: 0, count: Int(crypto_auth_hmacsha256_BYTES))
        crypto_auth_hmacsha256_init(&state, bytes, bytes.count)
        crypto_auth_hmacsha256_update(&state, message, UInt64(message.count))
        crypto_auth_hmacsha256_final(&state, &code)
        return "v1," + Base64Text.text(of: code)
    }

    package var description: String { "the key of a webhook (hidden)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// The deliveries of events to a webhook, one after the other in their order.
///
/// After a failure, it tries again after pauses that grow to a minute. An answer that refuses the request (401, 403,
/// 404) is tried again each minute, and an event that the server will never accept (400, 413, 415, 422) is dropped.
actor AlertDeliveries: UploadShell {
    private let webhook: AlertWebhook
    private let store: AlertStore
    private let now: @Sendable () -> Instant
    private let note: @Sendable (String) -> Void
    package var upload: UploadRuntime
    /// The event that was sent last.
    private var current: AlertStore.Delivery?
    private var lastError: String?
    private var dropped = 0

    /// Creates deliveries that aren't started.
    ///
    /// - Parameters:
    ///   - now: returns the time, counted from the Unix epoch.
    ///   - note: receives an error that differs from the one before.
    init(
        _ webhook: AlertWebhook, _ store: AlertStore, firstPause: Duration = .seconds(2),
        clock: some Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Instant,
        note: @escaping @Sendable (String) -> Void
    ) {
        (self.webhook, self.store, self.now, self.note) = (webhook, store, now, note)
        var settings = UploadSettings()
        settings.batchSize = 1
        settings.retryPause = firstPause
        upload = UploadRuntime(settings, clock: clock, seed: .random(in: 0...UInt64.max))
    }

    deinit { upload.cancel() }

    /// Starts to send, with the events of an earlier run first.
    func start() async {
        let stops = stopCount
        startSending(waiting: await waiting, unlessStoppedSince: stops)
    }

    /// Sends the events that were added.
    func continueSending() async { run(.queued(waiting: await waiting)) }

    /// Stops: once this returns, nothing more is sent. The remaining events stay on disk.
    func stop() async { await stopSending() }

    private var waiting: Int { get async { (try? await store.waiting) ?? 0 } }

    package func sendNext(_ size: Int, anew: Bool) async throws -> Int {
        current = try await store.next(at: now())
        let lost = await store.droppedCount
        if lost > dropped { note("\(lost - dropped) events are too many or too old, and were dropped") }
        dropped = lost
        guard let current else { return 0 }
        try await webhook.send(current.json, id: current.id, at: FleetClock.wallTime.nanoseconds / 1_000_000_000)
        try await store.remove(current)
        if lastError != nil { note("the webhook accepts events again") }
        lastError = nil
        return try await store.waiting
    }

    package func rejectLast() async throws -> Int {
        if let current { try await store.remove(current) }
        return try await store.waiting
    }

    package func report(_ error: UploadError) {
        let text = "\(error)"
        if text != lastError { note(text) }
        lastError = text
    }
}
