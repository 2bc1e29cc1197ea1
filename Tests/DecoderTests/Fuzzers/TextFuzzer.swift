// Treats the bytes behind the first one, which selects the format, as a text: reading must not trap, a strict reader must
// accept no more than a tolerant one, and what is read must read back equal from what the package writes.
import TextFormats

func fuzzText(_ input: [UInt8]) throws(Finding) {
    guard let first = input.first else { return }
    let bytes = Array(input.dropFirst())
    switch first {
    case UInt8(ascii: "1"): try checkCSV(bytes)
    case UInt8(ascii: "2"): try checkHex(bytes)
    case UInt8(ascii: "3"): try checkEscapes(bytes)
    default: try checkJSON(bytes)
    }
}

private let tolerant = JSONLimits(depth: 64, values: 10_000, permitsControls: true, permitsLoneSurrogates: true)
private let usual = JSONLimits(depth: 64, values: 10_000)

private func checkJSON(_ bytes: [UInt8]) throws(Finding) {
    let strict = accepted(bytes, usual)
    if strict == nil, accepted(bytes, tolerant) != nil { throw Finding("a tolerant reader refuses a strict document") }
    if let strict {
        guard (0...bytes.count).contains(strict.offset), (strict.offset...bytes.count).contains(strict.byte),
            !strict.expected.isEmpty
        else { throw Finding("\(strict) is not in the document") }
    }
    guard let tree = try? JSONTree(bytes, limits: usual) else {
        // A document that can be skipped is a tree, unless a text of it isn't UTF-8.
        guard strict == nil, (try? UTF8Span(validating: bytes.span)) != nil else { return }
        throw Finding("a valid document is no tree")
    }
    guard strict == nil else { throw Finding("a tree is no valid document: \(strict?.expected ?? "")") }
    _ = JSONKeyLines(bytes, limits: usual, limit: 100)
    guard isRepresentable(tree) else { return }
    for written in [tree.line(), tree.lines()] {
        guard let again = try? JSONTree(written, limits: usual), again == tree else {
            throw Finding("\(String(decoding: written, as: UTF8.self)) does not read back equal")
        }
    }
}

/// Returns the error of a document; nil for a valid one.
private func accepted(_ bytes: [UInt8], _ limits: JSONLimits) -> JSONSyntaxError? {
    var reader = JSONReader(bytes, limits: limits)
    do throws(JSONSyntaxError) {
        try reader.skipValue()
        try reader.finish()
        return nil
    } catch {
        return error
    }
}

private func isRepresentable(_ tree: JSONTree) -> Bool {
    switch tree {
    case .unreadable: false
    case .array(let values): values.allSatisfy(isRepresentable)
    case .object(let fields): fields.values.allSatisfy(isRepresentable)
    default: true
    }
}

private func checkCSV(_ bytes: [UInt8]) throws(Finding) {
    for separator in [UInt8(ascii: ","), UInt8(ascii: ";")] { _ = CSVText.fields(bytes, separator: separator) }
    var reader = CSVReader(bytes)
    while let record = try? reader.next() {
        guard record.fields.allSatisfy({ $0.unicodeScalars.allSatisfy { $0.value >= 0x20 } }) else { continue }
        let line = record.fields.map { CSVText.field($0.unicodeScalars) }.joined(separator: ",")
        // A byte order mark at the beginning is no part of the first field.
        var again = CSVReader(Array(("\n" + line).utf8))
        guard (try? again.next())?.fields == record.fields else { throw Finding("\(record) does not read back equal") }
    }
}

private func checkHex(_ bytes: [UInt8]) throws(Finding) {
    var decoded: [UInt8] = []
    if Base64Text.append(bytes.span, to: &decoded), decoded.count > bytes.count * 3 / 4 {
        throw Finding("\(bytes.count) characters of Base64 have \(decoded.count) bytes")
    }
    decoded = []
    if HexDigits.append(bytes.span, to: &decoded) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard HexDigits.text(of: decoded, uppercase: false) == text.lowercased() else {
            throw Finding("\(text) does not read back equal")
        }
    }
    if let number = HexDigits.number(bytes.span), UInt64(String(decoding: bytes, as: UTF8.self), radix: 16) != number {
        throw Finding("\(number) is a wrong number")
    }
}

private func checkEscapes(_ bytes: [UInt8]) throws(Finding) {
    let text = String(decoding: bytes, as: UTF8.self)
    let mark = UInt8(ascii: "%")
    guard EscapedText.unescaped(EscapedText.escaped(text, mark: mark, plain: "-").utf8, mark: mark) == Array(text.utf8)
    else { throw Finding("an escaped text does not read back equal") }
    _ = EscapedText.unescaped(bytes, mark: mark)
    for style in [JSONEscapes.Style.digits, .lines, .letters] {
        var quoted: [UInt8] = []
        JSONEscapes.append(text, to: &quoted, style: style)
        guard (try? JSONTree(quoted, limits: usual)) == .string(text) else {
            throw Finding("a string of JSON does not read back equal")
        }
    }
    guard !XMLText.escaped(text).contains(where: { "<>\"'".contains($0) }) else {
        throw Finding("a text of XML has a character that must be escaped")
    }
}
