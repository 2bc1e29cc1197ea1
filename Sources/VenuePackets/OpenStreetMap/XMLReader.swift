/// Reads the elements of an XML 1.0 document in one pass, within limits.
///
/// It reads what data files consist of: elements with attributes. Text, comments and processing instructions are
/// skipped. A document type declaration is an error, so no entity expands and no other file is read; only the five
/// predefined entities and references to characters are replaced. The encoding is UTF-8.
struct XMLReader {
    /// An element without its content.
    struct Element: Hashable {
        let name: String
        let attributes: [String: String]
        /// The line of its first byte; the first line is 1.
        let line: Int
    }

    /// A part of the document.
    enum Token: Hashable {
        case start(Element)
        case end
    }

    /// Limits that protect the machine from malicious files.
    enum Limit {
        /// Open elements; OpenStreetMap needs 3.
        static let depth = 16
        /// Attributes of one element; OpenStreetMap has 10.
        static let attributes = 64
        /// Bytes of a name.
        static let name = 128
        /// Bytes of an attribute's value as written; OpenStreetMap has up to 255 characters.
        static let value = 16_384
    }

    private let bytes: [UInt8]
    private var index = 0
    /// The names of the open elements.
    private var open: [String] = []
    private var hasRoot = false
    /// Whether the element that was just read has no content.
    private var isEmpty = false
    /// The line at `counted`.
    private var lineNumber = 1
    private var counted = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
    }

    /// The line of the next byte.
    var line: Int {
        mutating get {
            let end = min(index, bytes.count)
            lineNumber += bytes[counted..<end].count { $0 == UInt8(ascii: "\n") }
            counted = end
            return lineNumber
        }
    }

    /// Returns the next start or end of an element; nil at the end of the document.
    mutating func next() throws(XMLSyntaxError) -> Token? {
        if isEmpty {
            isEmpty = false
            open.removeLast()
            return .end
        }
        while true {
            try skipText()
            guard index < bytes.count else { break }
            if starts(with: "<!--") {
                try skip(past: "-->", after: 4, "a comment")
            } else if starts(with: "<?") {
                try skipInstruction()
            } else if starts(with: "<![CDATA["), !open.isEmpty {
                try skip(past: "]]>", after: 9, "a CDATA section")
            } else if starts(with: "<!") {
                throw wrong("a document type declaration is not supported; remove it")
            } else if starts(with: "</") {
                return try endTag()
            } else {
                return try startTag()
            }
        }
        if let name = open.last { throw wrong("the document ends inside <\(name)>; it is incomplete") }
        guard hasRoot else { throw wrong("there is no element: this is not an XML document") }
        return nil
    }

    // MARK: Between elements

    /// Skips text up to the next `<` or the end.
    private mutating func skipText() throws(XMLSyntaxError) {
        while index < bytes.count, bytes[index] != UInt8(ascii: "<") {
            guard !open.isEmpty || Self.isBlank(bytes[index]) else {
                throw wrong("there is text outside of the elements: this is not an XML document in UTF-8")
            }
            index += 1
        }
    }

    private mutating func skip(past end: String, after length: Int, _ what: String) throws(XMLSyntaxError) {
        var position = index + length
        let end = Array(end.utf8)
        while position + end.count <= bytes.count {
            if bytes[position] == end[0], bytes[position..<(position + end.count)].elementsEqual(end) {
                index = position + end.count
                return
            }
            position += 1
        }
        throw wrong("\(what) has no end; the document is incomplete")
    }

    /// Skips an instruction, and checks the encoding of the XML declaration.
    private mutating func skipInstruction() throws(XMLSyntaxError) {
        let start = index
        try skip(past: "?>", after: 2, "an instruction")
        let text = bytes[start..<index]
        guard text.starts(with: "<?xml".utf8), text.count < 256 else { return }
        let parts = String(decoding: text, as: UTF8.self).split { "\"' =?".contains($0) }
        guard let key = parts.firstIndex(of: "encoding"), key + 1 < parts.endIndex else { return }
        let encoding = parts[key + 1].uppercased()
        guard ["UTF-8", "UTF8", "US-ASCII", "ASCII"].contains(encoding) else {
            throw wrong("the encoding is \(encoding); save the document in UTF-8")
        }
    }

    // MARK: Elements

    private mutating func endTag() throws(XMLSyntaxError) -> Token {
        index += 2
        let name = try self.name()
        skipBlanks()
        guard byte == UInt8(ascii: ">") else { throw wrong("</\(name) has no >") }
        index += 1
        guard open.last == name else {
            throw wrong(open.last.map { "</\(name)> ends <\($0)>" } ?? "</\(name)> has no beginning")
        }
        open.removeLast()
        return .end
    }

    private mutating func startTag() throws(XMLSyntaxError) -> Token {
        guard !open.isEmpty || !hasRoot else { throw wrong("there is a second element behind the first one") }
        let line = self.line
        index += 1
        let name = try self.name()
        var attributes: [String: String] = [:]
        while true {
            let hasBlank = skipBlanks()
            switch byte {
            case UInt8(ascii: ">"):
                index += 1
            case UInt8(ascii: "/"):
                index += 1
                guard byte == UInt8(ascii: ">") else { throw wrong("<\(name)> has a / before its end") }
                index += 1
                isEmpty = true
            default:
                guard hasBlank else { throw wrong("<\(name)> has no blank before an attribute, or no end") }
                let (key, value) = try attribute(of: name)
                guard attributes.updateValue(value, forKey: key) == nil else {
                    throw wrong("<\(name)> has the attribute \(key) twice")
                }
                guard attributes.count <= Limit.attributes else {
                    throw wrong("<\(name)> has more than \(Limit.attributes) attributes")
                }
                continue
            }
            break
        }
        open.append(name)
        hasRoot = true
        guard open.count <= Limit.depth else { throw wrong("more than \(Limit.depth) elements are nested") }
        return .start(Element(name: name, attributes: attributes, line: line))
    }

    private mutating func attribute(of element: String) throws(XMLSyntaxError) -> (key: String, value: String) {
        let key = try name()
        skipBlanks()
        guard byte == UInt8(ascii: "=") else { throw wrong("the attribute \(key) of <\(element)> has no value") }
        index += 1
        skipBlanks()
        guard let quote = byte, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            throw wrong("the value of \(key) is not in quotes")
        }
        index += 1
        var value: [UInt8] = []
        let start = index
        while let next = byte, next != quote {
            switch next {
            case UInt8(ascii: "<"): throw wrong("the value of \(key) contains <, or its quote has no end")
            case UInt8(ascii: "&"): value += try character()
            case 0x09, 0x0A, 0x0D:
                value.append(UInt8(ascii: " "))
                index += 1
            case ..<0x20: throw wrong("the value of \(key) contains a control character")
            default:
                value.append(next)
                index += 1
            }
            guard index - start <= Limit.value else {
                throw wrong("the value of \(key) is longer than \(Limit.value) bytes")
            }
        }
        guard byte == quote else { throw wrong("the document ends inside the value of \(key); it is incomplete") }
        index += 1
        guard let text = String(validating: value, as: UTF8.self) else {
            throw wrong("the value of \(key) is not UTF-8; save the document in UTF-8")
        }
        return (key, text)
    }

    /// Returns the UTF-8 of the character that a reference at `&` stands for.
    private mutating func character() throws(XMLSyntaxError) -> [UInt8] {
        let rest = bytes[(index + 1)...].prefix(10)
        guard let end = rest.firstIndex(of: UInt8(ascii: ";")) else { throw wrong("& has no ;: write it as &amp;") }
        let name = String(decoding: rest[..<end], as: UTF8.self)
        let predefined = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"]
        var text = predefined[name]
        if name.hasPrefix("#") {
            let code = name.hasPrefix("#x") ? UInt32(name.dropFirst(2), radix: 16) : UInt32(name.dropFirst(1))
            // A NUL, a half of a surrogate pair or a control character is no character of XML.
            text = code.flatMap(Unicode.Scalar.init)
                .flatMap { $0.value >= 0x20 || [0x09, 0x0A, 0x0D].contains($0.value) ? String($0) : nil }
        }
        guard let text else { throw wrong("&\(name); is not a known entity; write the character itself") }
        index = end + 1
        return Array(text.utf8)
    }

    private mutating func name() throws(XMLSyntaxError) -> String {
        let start = index
        while let next = byte, Self.isOfName(next), index - start < Limit.name { index += 1 }
        guard index > start, let text = String(validating: bytes[start..<index], as: UTF8.self) else {
            throw wrong("a name is expected")
        }
        return text
    }

    // MARK: Bytes

    private var byte: UInt8? { index < bytes.count ? bytes[index] : nil }

    private func starts(with text: String) -> Bool { bytes[index...].starts(with: text.utf8) }

    private static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), 0x80...: true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"): true
        default: false
        }
    }

    /// Returns whether there was a blank.
    @discardableResult private mutating func skipBlanks() -> Bool {
        let start = index
        while let next = byte, Self.isBlank(next) { index += 1 }
        return index > start
    }

    private mutating func wrong(_ message: String) -> XMLSyntaxError { XMLSyntaxError(line: line, message: message) }
}

/// A document that isn't well-formed XML, or that exceeds a limit.
struct XMLSyntaxError: Error, Hashable {
    let line: Int
    let message: String
}
