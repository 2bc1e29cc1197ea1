/// The reason why a request isn't fulfilled.
struct HTTPProblem: Error, Hashable, Sendable {
    /// The status of the response, such as 404.
    let status: Int
    /// A sentence for the client.
    let message: String
    var headers: [HTTPHeader] = []

    init(_ status: Int, _ message: String, _ headers: [HTTPHeader] = []) {
        (self.status, self.message, self.headers) = (status, message, headers)
    }

    /// The body of a request is too long.
    static let longBody = HTTPProblem(413, "The body is longer than \(HTTPRequest.largestBody) bytes.")
}

/// A header of a response.
struct HTTPHeader: Hashable, Sendable {
    let name: String
    let value: String

    init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
}
