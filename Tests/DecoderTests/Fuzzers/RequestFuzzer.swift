// Treats any bytes as the target of an HTTP request and its headers, a line each: decoding must not trap, an accepted
// target must have a safe path, its encoding must read back equal, and no header must replace a token.
@testable import LiveMap
@testable import TagTrackingService

func fuzzRequest(_ bytes: [UInt8]) throws(Finding) {
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    // The server receives the target and the headers as C strings.
    let text = String(decoding: lines[0].prefix { $0 != 0 }, as: UTF8.self)
    guard let target = try? HTTPTarget(text) else { return }
    let parts = target.path.utf8.split(separator: UInt8(ascii: "/"))
    guard target.path.utf8.first == UInt8(ascii: "/"),
        !parts.contains(where: { $0.elementsEqual("..".utf8) || $0.elementsEqual(".".utf8) }),
        target.path.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\\") })
    else { throw Finding("the path '\(target.path)' is not safe") }
    let query = target.query.map { "\(encoded($0.key))=\(encoded($0.value))" }.joined(separator: "&")
    let again = "/" + encoded(String(decoding: target.path.utf8.dropFirst(), as: UTF8.self)) + "?" + query
    if again.utf8.count <= HTTPTarget.longest, (try? HTTPTarget(again)) != target {
        throw Finding("\(target) does not read back equal")
    }
    let headers = headers(of: lines.dropFirst())
    for method in ["GET", "POST"] { try check(HTTPRequest(method: method, target: target, headers: headers)) }
}

/// Returns the headers of a request by their lowercase names, as the server joins them.
private func headers(of lines: ArraySlice<ArraySlice<UInt8>>) -> [String: String] {
    var headers: [String: String] = [:]
    for line in lines {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
        let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
        let value = String(decoding: line[(colon + 1)...].drop { $0 == 0x20 }.prefix { $0 != 0 }, as: UTF8.self)
        let separator = name == "cookie" ? "; " : ", "
        headers[name] = headers[name].map { $0 + separator + value } ?? value
    }
    return headers
}

private let token = "0123456789abcdef"
private let address = try? LiveMapAddress("127.0.0.1:8080")

private func check(_ request: HTTPRequest) throws(Finding) {
    for name in request.target.query.keys {
        _ = try? request.integer(name, in: 0...1000)
        if let seconds = try? request.seconds(name), !seconds.isFinite { throw Finding("\(seconds) is not finite") }
        _ = request.cookie(name)
    }
    if let id = try? request.lastEventID(), id < 0 { throw Finding("\(id) is not the number of an event") }
    let change = request.headers["last-event-id"] ?? request.target.query["after"] ?? ""
    let id = ChangeID(change, in: "run")
    guard ChangeID(id.text(in: "run"), in: "run") == id else {
        throw Finding("\(change) does not read back equal")
    }
    guard let address else { throw Finding("there is no address") }
    if (try? LiveMapAccess(address, token: nil).check(request)) != nil {
        let host = request.headers["host"]?.lowercased() ?? ""
        guard ["127.0.0.1:8080", "[::1]:8080", "localhost" + ":8080"].contains(host) else {
            throw Finding("the host '\(host)' is not this server's")
        }
    }
    if let headers = try? LiveMapAccess(address, token: token).check(request) {
        let given = [request.headers["authorization"], request.headers["cookie"], request.target.query["token"]]
        guard given.contains(where: { $0?.contains(token) == true }) else {
            throw Finding("\(request.headers) does not contain the token")
        }
        for header in headers where header.value.utf8.contains(where: { $0 < 0x20 }) {
            throw Finding("\(header) does not fit into a line")
        }
    }
}

/// Returns a text with each byte in percent-encoding.
private func encoded(_ text: String) -> String {
    text.utf8.map { ($0 < 16 ? "%0" : "%") + String($0, radix: 16) }.joined()
}
