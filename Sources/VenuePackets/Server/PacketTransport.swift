import CCurl
import Dispatch
import IndoorVocabulary

/// A transport that fetches files from a server: libcurl, or a script in a test.
protocol PacketTransport: Sendable {
    /// Fetches a file with one attempt.
    ///
    /// - Parameter receive: called with the response's head and the next bytes of its body if the status is 200 or 206;
    ///   returns whether to continue.
    /// - Returns: the response's head, after the whole body if the status is 200 or 206, otherwise immediately.
    func fetch(
        _ request: TransferRequest, _ receive: @escaping @Sendable (TransferHead, UnsafeRawBufferPointer) -> Bool
    ) async throws(TransferFailure) -> TransferHead
}

extension PacketTransport {
    /// Fetches a small file into memory with one attempt.
    ///
    /// - Throws: `TransferFailure.stopped` if the body has more bytes than the limit, or another failure of the transfer.
    func content(
        of request: TransferRequest, limit: Int
    ) async throws(TransferFailure) -> (head: TransferHead, bytes: [UInt8]) {
        let body = Guarded<[UInt8]>([])
        let head = try await fetch(request) { _, bytes in
            let piece = [UInt8](bytes)
            return body.withLock { body in
                body += piece
                return body.count <= limit
            }
        }
        return (head, body.withLock { $0 })
    }
}

/// A request for a file.
struct TransferRequest: Hashable, Sendable {
    /// The part of a file to fetch if the file hasn't changed.
    struct Rest: Hashable, Sendable {
        /// The first byte.
        var offset: Int
        /// The entity tag of the file that the earlier bytes are from.
        var tag: EntityTag
    }

    /// The file's URL.
    var url: String
    /// The file is fetched only if its entity tag differs from this one.
    var unless: EntityTag?
    /// Only the rest of the file is fetched.
    var rest: Rest?
    /// Whether the response may be compressed; the body is delivered uncompressed. Otherwise, the request asks for the
    /// file as it is, because the rest of an interrupted download is a part of these bytes.
    var acceptsCompressed = false
    /// The size of the file in bytes according to the catalogue; nil if unknown.
    var size: Int?
    /// A document to send instead; then the response's head is the result, and redirects aren't followed.
    var post: Post?

    /// A document for a server.
    struct Post: Hashable, Sendable {
        var bytes: [UInt8]
        /// Header lines of the request, such as `Content-Type: application/json`.
        var headers: [String]
    }
}

/// The head of a response.
struct TransferHead: Hashable, Sendable {
    /// The status, such as 200.
    var status = 0
    /// The file's entity tag; nil if the server sends none.
    var tag: EntityTag?
    /// The first byte of a partial response.
    var offset: Int?
    /// The size of the whole file for a partial response, in bytes; nil if the server doesn't send it.
    var total: Int?
    /// The encoding of the body, such as "gzip"; nil if the body is the file as it is.
    var encoding: String?
    /// Whether the body is a web page according to its type.
    var isPage = false
    /// Whether a truncated response can be detected, because its length or its end is marked (RFC 9112 6.3).
    var isDelimited = false

    /// Returns whether the file on the server ends at this size, after the last byte was received.
    func ends(at size: Int) -> Bool { status == 206 ? total == size : isDelimited }
}

/// An entity tag, which identifies one state of a file (RFC 9110 8.8.3), including its quotes.
struct EntityTag: Hashable, Sendable {
    let text: String

    /// Creates a tag from a header's value; nil if it cannot be sent back.
    init?(_ text: String) {
        let isTag = text.utf8.count <= 512 && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
        guard isTag, text.hasSuffix("\""), text.hasPrefix("\"") || text.hasPrefix("W/\"") else { return nil }
        self.text = text
    }

    /// Whether equal tags mean equal bytes, so that parts of a file can be combined.
    var isStrong: Bool { text.hasPrefix("\"") }
}

/// The reason why a transfer didn't complete.
enum TransferFailure: Error, Hashable, Sendable {
    case cancelled
    case timedOut(String)
    /// The server could not be reached, or the connection was interrupted.
    case broken(String)
    case untrusted(String)
    /// The receiver stopped the transfer.
    case stopped
}

extension VenueRepositoryError {
    /// Creates the repository's error for a failed transfer.
    init(_ failure: TransferFailure, url: String) {
        switch failure {
        case .cancelled: self = .cancelled
        case .timedOut(let reason): self = .timedOut(url: url, reason: reason)
        case .broken(let reason): self = .unreachable(url: url, reason: reason)
        case .untrusted(let reason): self = .untrusted(url: url, reason: reason)
        case .stopped: self = .unreachable(url: url, reason: "the response is longer than expected")
        }
    }

    /// Returns the error for a status other than success.
    ///
    /// Without credentials, 403 isn't a refusal of them: object stores answer so for a missing file, and proxies for any
    /// address.
    static func status(_ status: Int, of server: VenueServer, url: String) -> VenueRepositoryError {
        let isRefusal = status == 401 || status == 403 && server.credentials != nil
        guard isRefusal else { return .failed(status: status, url: url) }
        return .refused(status: status, url: url, hadCredentials: server.credentials != nil)
    }
}

/// Fetches files with libcurl, each on its own thread.
struct CurlTransport: PacketTransport {
    /// The largest number of consecutive redirects.
    static let redirects = 5

    let server: VenueServer

    func fetch(
        _ request: TransferRequest, _ receive: @escaping @Sendable (TransferHead, UnsafeRawBufferPointer) -> Bool
    ) async throws(TransferFailure) -> TransferHead {
        let stop = CurlStop()
        let server = server
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // A separate queue has its own thread while it works, so that waiting doesn't block any task.
                DispatchQueue(label: "venue transfer").async {
                    continuation.resume(
                        returning: CurlTransfer.run(request, from: server, stop: stop, receive: receive))
                }
            }
        } onCancel: {
            stop.request()
        }
        return try result.get()
    }
}

/// Stops a transfer on another thread immediately.
///
/// A class because the cancelling thread and the transfer share it.
final class CurlStop: Sendable {
    private struct State: Sendable {
        var isRequested = false
        /// The address of libcurl's handle while the transfer runs.
        var handle: UInt?
    }

    private let state = Guarded(State())

    /// Whether the transfer must stop.
    var isRequested: Bool { state.withLock { $0.isRequested } }

    /// Stops the transfer, even if it hasn't begun yet.
    func request() {
        state.withLock { state in
            state.isRequested = true
            if let handle = state.handle { curl_multi_wakeup(UnsafeMutableRawPointer(bitPattern: handle)) }
        }
    }

    /// Sets the handle to wake up; nil before the handle is freed.
    func setHandle(_ handle: UnsafeMutableRawPointer?) {
        let address = handle.map { UInt(bitPattern: $0) }
        state.withLock { $0.handle = address }
    }
}

/// One transfer with libcurl, which runs on the calling thread.
///
/// A class because libcurl's callbacks refer to it; it stays on its thread.
final class CurlTransfer {
    private typealias Handle = UnsafeMutableRawPointer

    /// libcurl's initialization, once per process; its result doesn't change.
    private static let isReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK

    private var head = TransferHead()
    private let handle: Handle
    private let receive: (TransferHead, UnsafeRawBufferPointer) -> Bool
    private var isStopped = false
    /// Size of all response heads so far, including those of redirects, in bytes.
    private var headSize = 0
    /// Whether the head is the complete response, because the body of an error isn't needed.
    private var isAnswered = false
    /// Whether the caller wants the body of the response.
    private var wantsBody = true

    /// The largest total size of response heads, in bytes.
    private static let headLimit = 64 << 10

    /// Fetches a file.
    static func run(
        _ request: TransferRequest, from server: VenueServer, stop: CurlStop,
        receive: @escaping (TransferHead, UnsafeRawBufferPointer) -> Bool
    ) -> Result<TransferHead, TransferFailure> {
        guard isReady, let handle = curl_easy_init(), let multi = curl_multi_init() else {
            return .failure(.broken("libcurl cannot be used"))
        }
        defer {
            curl_easy_cleanup(handle)
            curl_multi_cleanup(multi)
        }
        let transfer = CurlTransfer(handle, receive: receive)
        return withExtendedLifetime(transfer) { transfer.run(request, from: server, multi: multi, stop: stop) }
    }

    private init(_ handle: Handle, receive: @escaping (TransferHead, UnsafeRawBufferPointer) -> Bool) {
        self.handle = handle
        self.receive = receive
    }

    private func run(
        _ request: TransferRequest, from server: VenueServer, multi: Handle, stop: CurlStop
    ) -> Result<TransferHead, TransferFailure> {
        var message = [CChar](repeating: 0, count: Int(CURL_ERROR_SIZE))
        return message.withUnsafeMutableBufferPointer { message in
            let lines = setUp(request, server)
            defer { curl_slist_free_all(lines) }
            ccurl_set_pointer(handle, CURLOPT_ERRORBUFFER, message.baseAddress)
            curl_multi_add_handle(multi, handle)
            stop.setHandle(multi)
            let code = perform(multi, until: stop)
            stop.setHandle(nil)
            curl_multi_remove_handle(multi, handle)
            if stop.isRequested { return .failure(.cancelled) }
            guard let code else { return .failure(.broken("libcurl stopped the transfer")) }
            if code == CURLE_OK || isAnswered { return .success(head) }
            let text = message.baseAddress.map { String(cString: $0) } ?? ""
            return .failure(failure(code, text.isEmpty ? String(cString: curl_easy_strerror(code)) : text))
        }
    }

    /// Runs until the transfer ends, which returns its result, or until it is stopped.
    private func perform(_ multi: Handle, until stop: CurlStop) -> CURLcode? {
        var running: Int32 = 1
        while !stop.isRequested {
            guard curl_multi_perform(multi, &running) == CURLM_OK else { return nil }
            if running == 0 { break }
            // Returns when there is work or after a wake-up; the time is only an upper bound.
            curl_multi_poll(multi, nil, 0, 1_000, nil)
        }
        var left: Int32 = 0
        return curl_multi_info_read(multi, &left)?.pointee.data.result
    }

    private func failure(_ code: CURLcode, _ reason: String) -> TransferFailure {
        switch code {
        case CURLE_WRITE_ERROR where isStopped: .stopped
        case CURLE_WRITE_ERROR where headSize > Self.headLimit:
            .broken("the head of its response has more than \(Self.headLimit) bytes")
        case CURLE_OPERATION_TIMEDOUT: .timedOut(reason)
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM, CURLE_SSL_ISSUER_ERROR,
            CURLE_SSL_INVALIDCERTSTATUS:
            .untrusted(reason + "; " + advice(code))
        case CURLE_SSL_CONNECT_ERROR:
            .broken("the encrypted connection failed (\(reason)); does that port accept https, or is it http://…?")
        default: .broken(reason)
        }
    }
}

extension CurlTransfer {
    /// Returns advice for a server whose certificate isn't trusted.
    private func advice(_ code: CURLcode) -> String {
        if code == CURLE_SSL_CACERT_BADFILE { return "correct the file of the authority's certificate" }
        // X509_V_ERR_CERT_NOT_YET_VALID and X509_V_ERR_CERT_HAS_EXPIRED; X509_V_OK or X509_V_ERR_UNSPECIFIED, libcurl's
        // initial value, if only the name is wrong.
        switch ccurl_certificate_defect(handle) {
        case 0, 1: return "use the name that the server's certificate is for"
        case 9: return "correct this machine's clock"
        case 10: return "renew the server's certificate, or correct this machine's clock"
        default: return "give the certificate of its authority"
        }
    }
}

// The options of the transfer.
extension CurlTransfer {
    /// Sets all options; the returned header lines must exist until the end of the transfer, and then be freed.
    private func setUp(_ request: TransferRequest, _ server: VenueServer) -> UnsafeMutablePointer<curl_slist>? {
        ccurl_set_text(handle, CURLOPT_URL, request.url)
        ccurl_set_text(handle, CURLOPT_USERAGENT, "IndoorLocalization")
        // Without this option, a timeout of name resolution would raise a signal in some builds of libcurl.
        ccurl_set_number(handle, CURLOPT_NOSIGNAL, 1)
        setUpRoute(request.url, server)
        setUpTimeouts(server.patience, size: request.post?.bytes.count ?? request.size)
        setUpCredentials(server.credentials)
        if request.acceptsCompressed { ccurl_set_text(handle, CURLOPT_ACCEPT_ENCODING, "gzip") }
        let context = Unmanaged.passUnretained(self).toOpaque()
        ccurl_set_pointer(handle, CURLOPT_HEADERDATA, context)
        ccurl_set_receiver(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
            let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return CurlTransfer.from(context)?.readHeadLine(line) == true ? size * count : 0
        }
        ccurl_set_pointer(handle, CURLOPT_WRITEDATA, context)
        ccurl_set_receiver(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            let buffer = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return CurlTransfer.from(context)?.readBody(buffer) == true ? size * count : 0
        }
        var lines: UnsafeMutablePointer<curl_slist>?
        if let tag = request.unless { lines = curl_slist_append(lines, "If-None-Match: \(tag.text)") }
        if let rest = request.rest {
            // Not CURLOPT_RESUME_FROM, which reports a failure if the file has changed and the response is the whole
            // file.
            ccurl_set_text(handle, CURLOPT_RANGE, "\(rest.offset)-")
            lines = curl_slist_append(lines, "If-Range: \(rest.tag.text)")
        }
        if !request.acceptsCompressed, request.post == nil {
            // Not CURLOPT_ACCEPT_ENCODING, with which libcurl would decode the body of a server that compresses anyway.
            lines = curl_slist_append(lines, "Accept-Encoding: identity")
        }
        if let post = request.post {
            setUp(post)
            // Without the empty `Expect`, libcurl would wait a second for the server's "100 Continue".
            for line in post.headers + ["Expect:"] { lines = curl_slist_append(lines, line) }
        }
        ccurl_set_list(handle, CURLOPT_HTTPHEADER, lines)
        return lines
    }

    private func setUp(_ post: TransferRequest.Post) {
        wantsBody = false
        // A redirect would turn the request into a GET.
        ccurl_set_number(handle, CURLOPT_FOLLOWLOCATION, 0)
        ccurl_set_number(handle, CURLOPT_POST, 1)
        ccurl_set_number(handle, CURLOPT_POSTFIELDSIZE, post.bytes.count)
        // libcurl copies the bytes before it returns, and doesn't change them.
        _ = post.bytes.withUnsafeBytes { bytes in
            ccurl_set_pointer(handle, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: bytes.baseAddress))
        }
    }

    private func setUpRoute(_ url: String, _ server: VenueServer) {
        ccurl_set_number(handle, CURLOPT_FOLLOWLOCATION, 1)
        ccurl_set_number(handle, CURLOPT_MAXREDIRS, CurlTransport.redirects)
        ccurl_set_text(handle, CURLOPT_PROTOCOLS_STR, "http,https")
        // A redirect must not lead from an encrypted connection to an unencrypted one.
        ccurl_set_text(handle, CURLOPT_REDIR_PROTOCOLS_STR, url.hasPrefix("https:") ? "https" : "http,https")
        if WebAddress.isLoopback(url) { ccurl_set_text(handle, CURLOPT_PROXY, "") }
        if let authority = server.certificateAuthority { ccurl_set_text(handle, CURLOPT_CAINFO, authority) }
    }

    private func setUpTimeouts(_ policy: RetryPolicy, size: Int?) {
        let deadline = policy.deadline(for: size)
        ccurl_set_number(handle, CURLOPT_TIMEOUT_MS, Int(deadline.nanoseconds / 1_000_000))
        ccurl_set_number(handle, CURLOPT_CONNECTTIMEOUT_MS, Int(policy.connectTimeout.nanoseconds / 1_000_000))
        ccurl_set_number(handle, CURLOPT_LOW_SPEED_LIMIT, policy.slowestRate)
        ccurl_set_number(handle, CURLOPT_LOW_SPEED_TIME, Int(policy.stallTimeout.seconds.rounded(.up)))
    }

    /// libcurl sends credentials only to the host, port and protocol they were given for, and omits them after a
    /// redirect to any other.
    private func setUpCredentials(_ credentials: VenueServerCredentials?) {
        switch credentials?.secret {
        case .bearer(let token):
            ccurl_use_bearer(handle)
            ccurl_set_text(handle, CURLOPT_XOAUTH2_BEARER, token)
        case .basic(let user, let password):
            ccurl_use_basic(handle)
            ccurl_set_text(handle, CURLOPT_USERNAME, user)
            ccurl_set_text(handle, CURLOPT_PASSWORD, password)
        case nil: break
        }
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> CurlTransfer? {
        context.map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
    }
}

// The response.
extension CurlTransfer {
    /// Reads a line of a response head; after a redirect, another head follows. Returns whether to continue.
    private func readHeadLine(_ bytes: UnsafeRawBufferPointer) -> Bool {
        headSize += bytes.count
        guard headSize <= Self.headLimit else { return false }
        let line = String(decoding: bytes, as: UTF8.self)
        if line.hasPrefix("HTTP/") {
            head = TransferHead()
            // From HTTP/2 on, the end of every response is marked.
            head.isDelimited = !line.hasPrefix("HTTP/1")
        }
        head.status = ccurl_status(handle)
        if line == "\r\n" || line == "\n" {
            // After an interim response or a redirect, another head follows; the rest of an error isn't needed.
            isAnswered = head.status >= 400
            return !isAnswered
        }
        guard let colon = line.firstIndex(of: ":") else { return true }
        let value = line[line.index(after: colon)...].trimmed
        switch line[..<colon].lowercased() {
        case "etag": head.tag = EntityTag(value)
        case "content-range": (head.offset, head.total) = (Self.firstByte(of: value), Self.total(of: value))
        case "content-length", "transfer-encoding": head.isDelimited = true
        case "content-encoding": head.encoding = ["", "identity"].contains(value.lowercased()) ? nil : value
        case "content-type": head.isPage = value.lowercased().hasPrefix("text/html")
        default: break
        }
        return true
    }

    /// Returns the first byte in `bytes 500-999/1000` (RFC 9110 14.4); nil for any other text.
    private static func firstByte(of range: String) -> Int? {
        guard range.hasPrefix("bytes "), let dash = range.firstIndex(of: "-") else { return nil }
        return Int(range[..<dash].dropFirst("bytes ".count))
    }

    /// Returns the size of the whole file in `bytes 500-999/1000`; nil if it is `*`.
    private static func total(of range: String) -> Int? {
        range.lastIndex(of: "/").flatMap { Int(range[range.index(after: $0)...]) }
    }

    private func readBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard wantsBody, head.status == 200 || head.status == 206 else {
            isAnswered = true
            return false
        }
        if receive(head, bytes) { return true }
        isStopped = true
        return false
    }
}

extension Substring {
    fileprivate var trimmed: String {
        var text = self
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text.drop(while: \.isWhitespace))
    }
}

/// URLs (RFC 3986), as libcurl parses them.
enum WebAddress {
    /// Returns the reason why a URL cannot be a server's folder; nil if it can.
    static func problem(of url: String) -> String? {
        let wanted = "give one such as https://venues.example.org/museum"
        guard let handle = curl_url() else { return "out of memory" }
        defer { curl_url_cleanup(handle) }
        guard url.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }), curl_url_set(handle, CURLUPART_URL, url, 0) == CURLUE_OK
        else { return "\(quoted(url)) is not valid; \(wanted)" }
        guard let scheme = part(CURLUPART_SCHEME, of: handle), ["http", "https"].contains(scheme) else {
            return "\(quoted(url)) is not an http or https address; \(wanted)"
        }
        if part(CURLUPART_USER, of: handle) != nil || part(CURLUPART_PASSWORD, of: handle) != nil {
            return "the server's address contains a user; give user and password separately, where they stay secret"
        }
        if part(CURLUPART_QUERY, of: handle) != nil || part(CURLUPART_FRAGMENT, of: handle) != nil || url.contains("?")
            || url.contains("#")
        {
            return "the server's address has a query or fragment; \(wanted)"
        }
        return nil
    }

    /// Returns the URL for a message, unless it may contain a password.
    private static func quoted(_ url: String) -> String {
        let isPlain = url.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } && !url.contains { "@?#".contains($0) }
        return isPlain ? "the server's address '\(url.prefix(200))'" : "the server's address"
    }

    /// Returns whether the host is this machine's loopback, which a proxy cannot reach.
    static func isLoopback(_ url: String) -> Bool {
        guard let handle = curl_url() else { return false }
        defer { curl_url_cleanup(handle) }
        guard curl_url_set(handle, CURLUPART_URL, url, 0) == CURLUE_OK, let host = part(CURLUPART_HOST, of: handle)
        else { return false }
        return LoopbackHost.contains(host)
    }

    /// Returns a path component with percent encoding.
    static func escaped(_ text: String) -> String {
        guard let escaped = curl_easy_escape(nil, text, 0) else { return text }
        defer { curl_free(escaped) }
        return String(cString: escaped)
    }

    private static func part(_ part: CURLUPart, of handle: OpaquePointer) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, part, &text, 0) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
