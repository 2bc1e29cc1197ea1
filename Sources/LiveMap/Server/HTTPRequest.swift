import Foundation
import TextFormats

/// A complete request.
package struct HTTPRequest: Sendable {
    /// The method, such as `GET`.
    package let method: String
    package let target: HTTPTarget
    /// The headers by their lowercase names; the values of equal names are joined.
    package let headers: [String: String]
    package var body: [UInt8] = []
    /// The address of the client, or of the proxy in front of the server; nil if it is unknown.
    package var client: String?

    /// Checks that the end of the body is unambiguous. If two programs disagree about it, one of them reads a body as a
    /// request.
    ///
    /// Source: RFC 9112, 6.1 and 6.3. A body in chunks isn't accepted either, as a server is free to decide, because
    /// libmicrohttpd answers a chunk extension that is longer than its buffer with the status 500.
    /// - Throws: `HTTPProblem` with status 400.
    func checkLength() throws(HTTPProblem) {
        let close = [HTTPHeader("Connection", "close")]
        if let length = headers["content-length"] {
            guard headers["transfer-encoding"] == nil else {
                throw HTTPProblem(400, "A request must not have both Content-Length and Transfer-Encoding.", close)
            }
            guard !length.isEmpty, length.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
                throw HTTPProblem(400, "A request must have one Content-Length, a number of bytes.", close)
            }
        } else if headers["transfer-encoding"] != nil {
            throw HTTPProblem(400, "A body needs a Content-Length: chunks aren't accepted.", close)
        }
    }

    var isRead: Bool { method == "GET" || method == "HEAD" }

    /// The value of a cookie; nil without it.
    func cookie(_ name: String) -> String? {
        for pair in (headers["cookie"] ?? "").split(separator: ";") {
            let sides = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if sides.count == 2, sides[0] == name { return String(sides[1]) }
        }
        return nil
    }

    /// Returns an integer parameter; nil without it.
    package func integer(_ name: String, in range: ClosedRange<Int>) throws(HTTPProblem) -> Int? {
        guard let text = target.query[name] else { return nil }
        guard let number = Int(text), range.contains(number) else {
            let bounds = range.upperBound == .max ? "of at least \(range.lowerBound)" : "in \(range)"
            throw HTTPProblem(400, "The parameter '\(name)' must be an integer \(bounds).")
        }
        return number
    }

    /// Returns an integer parameter that the request must have.
    package func requiredInteger(_ name: String, in range: ClosedRange<Int>) throws(HTTPProblem) -> Int {
        guard let number = try integer(name, in: range) else {
            throw HTTPProblem(400, "The parameter '\(name)' is missing.")
        }
        return number
    }

    /// Returns a parameter in seconds of the session, finite and at least 0; nil without it.
    package func seconds(_ name: String) throws(HTTPProblem) -> Double? {
        guard let text = target.query[name] else { return nil }
        guard let number = Double(text), number.isFinite, number >= 0 else {
            throw HTTPProblem(400, "The parameter '\(name)' must be a number of seconds of at least 0.")
        }
        return number
    }

    /// Returns the number of the last event that a reader received before it connected again; nil without one.
    func lastEventID() throws(HTTPProblem) -> Int? {
        guard let text = headers["last-event-id"], !text.isEmpty else { return nil }
        guard let number = Int(text), number >= 0 else {
            throw HTTPProblem(400, "The header Last-Event-ID must be the number of a frame or an event.")
        }
        return number
    }

    /// Throws if the request has a parameter that isn't one of these.
    package func allowOnly(_ names: [String]) throws(HTTPProblem) {
        guard let unknown = target.query.keys.sorted().first(where: { !names.contains($0) }) else { return }
        let known = names.isEmpty ? "This path has no parameters." : "Known are \(names.joined(separator: ", "))."
        throw HTTPProblem(400, "The parameter '\(unknown)' is unknown. \(known)")
    }
}

/// The path and the query of a request.
package struct HTTPTarget: Hashable, Sendable {
    /// The maximum length of a target in bytes.
    static let longest = 2_048

    /// The decoded path, which begins with a slash.
    package let path: String
    /// The decoded parameters of the query.
    package let query: [String: String]

    /// Decodes the target of a request line (RFC 3986).
    ///
    /// - Throws: `HTTPProblem` if the target is too long, isn't a path, has an invalid percent-encoding, a control
    ///   character, a relative part, or a parameter twice.
    init(_ text: String) throws(HTTPProblem) {
        guard text.utf8.count <= Self.longest else {
            throw HTTPProblem(414, "The URL is longer than \(Self.longest) bytes.")
        }
        guard text.hasPrefix("/") else {
            throw HTTPProblem(400, "The request target must be a path that begins with /.")
        }
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = try Self.decoded(parts[0])
        // The path is split as bytes, because a slash and a combining character together form a different character.
        let names = path.utf8.split(separator: UInt8(ascii: "/"))
        guard !names.contains(where: { $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) }),
            !path.utf8.contains(UInt8(ascii: "\\"))
        else {
            throw HTTPProblem(400, "The path must not have the parts . and .., or a backslash.")
        }
        var query: [String: String] = [:]
        for pair in parts.count > 1 ? parts[1].split(separator: "&") : [] {
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = try Self.decoded(sides[0])
            let value = sides.count > 1 ? try Self.decoded(sides[1]) : ""
            guard query.updateValue(value, forKey: name) == nil else {
                throw HTTPProblem(400, "The parameter '\(name)' occurs twice.")
            }
        }
        self.query = query
    }

    private static func decoded(_ text: Substring) throws(HTTPProblem) -> String {
        guard let bytes = EscapedText.unescaped(text.utf8, mark: UInt8(ascii: "%")) else {
            throw HTTPProblem(400, "The URL has an invalid percent-encoding: % needs two hexadecimal digits.")
        }
        guard let decoded = String(validating: bytes, as: UTF8.self) else {
            throw HTTPProblem(400, "The URL is not UTF-8.")
        }
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw HTTPProblem(400, "The URL has a control character.")
        }
        return decoded
    }
}

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

    /// Checks the method of a request to a path.
    ///
    /// - Parameter isChange: whether the path accepts only POST, instead of GET and HEAD.
    /// - Throws: `HTTPProblem` with status 405.
    package static func check(_ method: String, isChange: Bool) throws(HTTPProblem) {
        let allowed = isChange ? ["POST"] : ["GET", "HEAD"]
        guard !allowed.contains(method) else { return }
        let names = allowed.joined(separator: ", ")
        throw HTTPProblem(405, "The path accepts only \(names).", [HTTPHeader("Allow", names)])
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

extension HTTPRequest {
    /// Throws unless the body is JSON by its header: an HTML form of another site can't send this type.
    package func requireJSON() throws(HTTPProblem) {
        guard headers["content-type"]?.split(separator: ";").first?.lowercased() == "application/json" else {
            throw HTTPProblem(415, "The header Content-Type must be application/json.")
        }
    }

    /// Decodes the body, which must be JSON.
    ///
    /// - Parameter example: a valid body, for the answer to an invalid one.
    package func decoded<Body: Decodable>(_ type: Body.Type, example: String) throws(HTTPProblem) -> Body {
        try requireJSON()
        do { return try JSONDecoder().decode(Body.self, from: Data(body)) } catch {
            throw HTTPProblem(400, "The body must be an object such as \(example).")
        }
    }
}
