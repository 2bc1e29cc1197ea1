// Treats any bytes as the target of an HTTP request: decoding must not trap, an accepted target must have a safe path,
// and its encoding must read back equal.

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzRequest(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    // The server receives the target as a C string.
    let text = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    guard let target = try? HTTPTarget(text) else { return 0 }
    let parts = target.path.utf8.split(separator: UInt8(ascii: "/"))
    guard target.path.utf8.first == UInt8(ascii: "/"),
        !parts.contains(where: { $0.elementsEqual("..".utf8) || $0.elementsEqual(".".utf8) }),
        target.path.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\\") })
    else { fatalError("the path '\(target.path)' is not safe") }
    let query = target.query.map { "\(encoded($0.key))=\(encoded($0.value))" }.joined(separator: "&")
    let again = "/" + encoded(String(decoding: target.path.utf8.dropFirst(), as: UTF8.self)) + "?" + query
    if again.utf8.count <= HTTPTarget.longest, (try? HTTPTarget(again)) != target {
        fatalError("\(target) does not read back equal")
    }
    let request = HTTPRequest(method: "GET", target: target, headers: ["cookie": text])
    for name in target.query.keys {
        _ = try? request.integer(name, in: 0...1000)
        if let seconds = try? request.seconds(name), !seconds.isFinite { fatalError("\(seconds) is not finite") }
        _ = request.cookie(name)
    }
    return 0
}

/// Returns a text with each byte in percent-encoding.
private func encoded(_ text: String) -> String {
    text.utf8.map { ($0 < 16 ? "%0" : "%") + String($0, radix: 16) }.joined()
}
