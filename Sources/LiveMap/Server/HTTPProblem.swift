/// The reason why a request fails.
package struct HTTPProblem: Error, Hashable, Sendable {
    /// The status of the response, such as 404.
    let status: Int
    /// A sentence for the client.
    let message: String
    var headers: [HTTPHeader] = []

    package init(_ status: Int, _ message: String, _ headers: [HTTPHeader] = []) {
        (self.status, self.message, self.headers) = (status, message, headers)
    }

    /// Returns the problem of a body that is too long.
    static func longBody(limit: Int) -> HTTPProblem { HTTPProblem(413, "The body is longer than \(limit) bytes.") }
}

/// A header of a response.
package struct HTTPHeader: Hashable, Sendable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
}
