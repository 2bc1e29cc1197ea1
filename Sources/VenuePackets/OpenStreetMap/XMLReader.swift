import CExpat

/// Reads the elements of an XML document with expat, within limits.
///
/// It reads the parts that data files contain: elements with attributes. Text, comments and processing instructions are
/// skipped. A document type declaration is an error, so no entity expands and no other file is read.
final class XMLReader {
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
        /// Bytes of an attribute's value; OpenStreetMap has up to 255 characters.
        static let value = 16_384
        /// Tokens that are read in advance.
        static let tokens = 1_024
    }

    private let bytes: [UInt8]
    private let parser: XML_Parser?
    /// The next tokens in reverse order.
    private var tokens: [Token] = []
    private var depth = 0
    private var state = State.before
    /// The problem that follows the stored tokens; nil for none.
    private var problem: XMLSyntaxError?

    private enum State { case before, suspended, ended }

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        parser = XML_ParserCreate(nil)
        XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
        XML_SetElementHandler(parser) { reader, name, attributes in
            XMLReader.of(reader)?.start(name, attributes)
        } _: { reader, _ in
            XMLReader.of(reader)?.end()
        }
        XML_SetStartDoctypeDeclHandler(parser) { reader, _, _, _, _ in
            XMLReader.of(reader)?.stop("a document type declaration is not supported; remove it")
        }
    }

    deinit { XML_ParserFree(parser) }

    /// Returns the next start or end of an element; nil at the end of the document.
    func next() throws(XMLSyntaxError) -> Token? {
        while tokens.isEmpty, state != .ended { read() }
        if let token = tokens.popLast() { return token }
        if let problem { throw problem }
        return nil
    }

    /// Reads up to the limit of tokens.
    private func read() {
        let status =
            switch state {
            case .before:
                bytes.withUnsafeBytes { bytes in
                    XML_Parse(parser, bytes.baseAddress, CInt(clamping: bytes.count), CInt(XML_TRUE))
                }
            default: XML_ResumeParser(parser)
            }
        state = status == XML_STATUS_SUSPENDED ? .suspended : .ended
        tokens.reverse()
        guard status == XML_STATUS_ERROR, problem == nil else { return }
        let reason = XML_ErrorString(XML_GetErrorCode(parser)).map { String(cString: $0) } ?? "unknown error"
        report("it is not well-formed XML: \(reason); correct it there, or export the file again")
    }

    // MARK: Handlers

    private static func of(_ pointer: UnsafeMutableRawPointer?) -> XMLReader? {
        pointer.map { Unmanaged<XMLReader>.fromOpaque($0).takeUnretainedValue() }
    }

    private var line: Int { Int(XML_GetCurrentLineNumber(parser)) }

    private func report(_ message: String) { problem = XMLSyntaxError(line: line, message: message) }

    private func stop(_ message: String) {
        guard problem == nil else { return }
        report(message)
        XML_StopParser(parser, XML_Bool(XML_FALSE))
    }

    private func start(_ name: UnsafePointer<CChar>?, _ pairs: UnsafeMutablePointer<UnsafePointer<CChar>?>?) {
        guard problem == nil, let name else { return }
        depth += 1
        guard depth <= Limit.depth else { return stop("more than \(Limit.depth) elements are nested") }
        let element = String(cString: name)
        var attributes: [String: String] = [:]
        var index = 0
        while let key = pairs?[index], let value = pairs?[index + 1] {
            let (key, value) = (String(cString: key), String(cString: value))
            guard value.utf8.count <= Limit.value else {
                return stop("the value of \(key) is longer than \(Limit.value) bytes")
            }
            attributes[key] = value
            index += 2
            guard attributes.count <= Limit.attributes else {
                return stop("<\(element)> has more than \(Limit.attributes) attributes")
            }
        }
        add(.start(Element(name: element, attributes: attributes, line: line)))
    }

    private func end() {
        guard problem == nil else { return }
        depth -= 1
        add(.end)
    }

    /// Stores a token. If there are many, the parser pauses until they are used.
    private func add(_ token: Token) {
        tokens.append(token)
        if tokens.count == Limit.tokens { XML_StopParser(parser, XML_Bool(XML_TRUE)) }
    }
}

/// A document that isn't well-formed XML, or that exceeds a limit.
struct XMLSyntaxError: Error, Hashable {
    let line: Int
    let message: String
}
