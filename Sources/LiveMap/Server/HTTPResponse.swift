import FoundationEssentials
import IndoorVocabulary

/// A response to a request.
package struct HTTPResponse: Sendable {
    /// The body of a response.
    package enum Body: Sendable {
        case none
        case bytes([UInt8])
        /// Server-sent events until the end of the connection.
        case stream(any HTTPStream)
    }

    package var status: Int
    package var headers: [HTTPHeader]
    package var body: Body

    package init(_ status: Int, _ headers: [HTTPHeader] = [], _ body: Body = .none) {
        (self.status, self.headers, self.body) = (status, headers, body)
    }

    /// Creates the response to a request that fails: `{"error": message}`.
    package init(_ problem: HTTPProblem) {
        let body = (try? Self.encoder.encode(["error": problem.message])).map { Array($0) } ?? []
        self.init(problem.status, problem.headers + [Self.type("application/json"), Self.noStore], .bytes(body))
    }

    /// Creates a response with a value as JSON.
    ///
    /// - Throws: `HTTPProblem` if the value has a number that JSON can't represent.
    package static func json(_ value: some Encodable) throws(HTTPProblem) -> HTTPResponse {
        do {
            return HTTPResponse(200, [type("application/json"), noStore], .bytes(Array(try encoder.encode(value))))
        } catch {
            throw HTTPProblem(500, "The content can't be encoded as JSON.")
        }
    }

    /// Creates a response with a JSON text.
    package static func json(written bytes: [UInt8]) -> HTTPResponse {
        HTTPResponse(200, [type("application/json"), noStore], .bytes(bytes))
    }

    /// Creates a response with a file, which a client can keep as long as its tag is the same.
    package static func file(_ bytes: [UInt8], _ mediaType: String, tag: String, for request: HTTPRequest)
        -> HTTPResponse
    {
        let headers = [HTTPHeader("ETag", tag), HTTPHeader("Cache-Control", "private, no-cache")]
        let known = (request.headers["if-none-match"] ?? "").split(separator: ",").map {
            $0.drop { $0 == " " }.replacing("W/", with: "")
        }
        if known.contains(where: { $0 == tag || $0 == "*" }) { return HTTPResponse(304, headers) }
        return HTTPResponse(200, headers + [type(mediaType)], .bytes(bytes))
    }

    /// Creates a response with a file of the page.
    ///
    /// - Throws: `HTTPProblem` if the page has no such file.
    package static func pageFile(_ name: String, for request: HTTPRequest) throws(HTTPProblem) -> HTTPResponse {
        guard let file = LiveMapPage.file(named: name) else {
            throw HTTPProblem(404, "There is no '\(request.target.path)'.")
        }
        var response = HTTPResponse.file(file.bytes, file.mediaType, tag: file.etag, for: request)
        // The URL contains the token, so no cache may store the response.
        if request.target.query["token"] != nil {
            response.headers = response.headers.filter { $0.name != "Cache-Control" } + [noStore]
        }
        return response
    }

    /// Returns the entity tag of a file, which is a hash of its bytes.
    package static func tag(of bytes: some Sequence<UInt8>) -> String {
        "\"" + String(FNVHash.hash(of: bytes), radix: 16) + "\""
    }

    package static func type(_ mediaType: String) -> HTTPHeader { HTTPHeader("Content-Type", mediaType) }
    package static let noStore = HTTPHeader("Cache-Control", "no-store")

    /// An encoder for the content, which writes the property names unchanged.
    static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    /// The headers of all responses. The page may load only its own files and the server's content.
    static let securityHeaders = [
        HTTPHeader(
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
                + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
        HTTPHeader("X-Content-Type-Options", "nosniff"),
        HTTPHeader("X-Frame-Options", "DENY"),
        HTTPHeader("Referrer-Policy", "no-referrer"),
        HTTPHeader("Cross-Origin-Resource-Policy", "same-origin"),
    ]
}

/// The paths of a server, with the requests that it accepts and their responses.
package protocol HTTPRoutes: Sendable {
    /// Checks the method of a request that has access, before its body is received.
    func checkMethod(_ method: String, _ target: HTTPTarget) throws(HTTPProblem)
    /// Returns the maximum size of the body of a request in bytes.
    func largestBody(of target: HTTPTarget) -> Int
    /// Returns the response to a request that has access.
    func response(to request: HTTPRequest) async -> HTTPResponse
    /// Returns whether the task of a response is cancelled when the client closes the connection before it.
    func endsWithClient(_ target: HTTPTarget) -> Bool
}

extension HTTPRoutes {
    package func endsWithClient(_ target: HTTPTarget) -> Bool { false }
}

/// A source of server-sent events for one reader.
package protocol HTTPStream: Sendable {
    /// Writes events until the task is cancelled, or no event follows.
    func write(to writer: HTTPStreamWriter) async
}

/// The connection of a reader of server-sent events.
package struct HTTPStreamWriter: Sendable {
    private let exchange: HTTPExchange

    init(_ exchange: HTTPExchange) { self.exchange = exchange }

    /// Whether the reader has received all events, up to the buffers of the network. A stream that can combine events
    /// waits until then before it writes more.
    package var isDrained: Bool { exchange.isDrained }

    /// Writes the text of an event.
    ///
    /// - Parameter isFrame: whether the event is discarded before other events if the reader is slow.
    package func write(_ bytes: [UInt8], isFrame: Bool) { exchange.offer(bytes, isFrame: isFrame) }
}

/// The updates of a live map's content as server-sent events.
struct UpdateStream: HTTPStream {
    let content: any LiveMapContent
    let encoding: UpdateEncoding
    /// The number of the last frame or event that the reader has; nil for none.
    let last: Int?

    func write(to writer: HTTPStreamWriter) async {
        for await update in await content.updates(after: last) {
            guard let bytes = encoding.bytes(of: update) else { continue }
            writer.write(bytes, isFrame: update.isFrame)
        }
    }
}
