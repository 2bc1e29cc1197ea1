/// A complete request.
package struct HTTPRequest: Sendable {
    /// The method, such as `GET`.
    package let method: String
    package let target: HTTPTarget
    /// The headers by their lowercase names; the values of equal names are joined.
    package let headers: [String: String]
    package var body: [UInt8] = []

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
