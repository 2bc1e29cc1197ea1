/// The paths of a server, with the requests that it accepts and their responses.
package protocol HTTPRoutes: Sendable {
    /// Checks the method of a request that has access, before its body is received.
    func checkMethod(_ method: String, _ target: HTTPTarget) throws(HTTPProblem)
    /// Returns the maximum size of the body of a request in bytes.
    func largestBody(of target: HTTPTarget) -> Int
    /// Returns the response to a request that has access.
    func response(to request: HTTPRequest) async -> HTTPResponse
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
