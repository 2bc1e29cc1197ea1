import CExpat
import IndoorVocabulary
import VenuePackets

/// A node, way or relation.
struct OSMElement: Sendable {
    enum Kind: String, Sendable { case node, way, relation }

    /// A part of a relation.
    struct Member: Hashable, Sendable {
        let kind: Kind?
        let id: Int64
        let role: String
    }

    let kind: Kind
    let id: Int64
    /// The line of its beginning; nil in a document without lines.
    let line: Int?
    var tags: [String: String] = [:]
    /// The position of a node.
    var coordinate: Coordinate?
    /// The ids of a way's nodes.
    var nodes: [Int64] = []
    /// The members of a relation.
    var members: [Member] = []

    /// The element as reports write it, such as `way/12`.
    var name: String { "\(kind.rawValue)/\(id)" }
    /// Whether a way ends at its first node.
    var isClosed: Bool { nodes.count > 3 && nodes.first == nodes.last }

    func has(_ key: String, _ values: String...) -> Bool { tags[key].map { values.contains($0) } ?? false }
}

/// The elements of a file.
struct OSMDocument: Sendable {
    /// Limits that protect the machine from malicious files.
    enum Limit {
        /// The size of a file in bytes; an extract of one building has less than 1 MB.
        static let file = 32 << 20
        /// Nodes, ways and relations; a large station and its surroundings have 30,000.
        static let elements = 300_000
        /// Members of a relation, which are joined end to end.
        static let members = 2_000
    }

    private(set) var nodes: [Int64: OSMElement] = [:]
    private(set) var ways: [Int64: OSMElement] = [:]
    /// The nodes, ways and relations in the order of the file.
    private(set) var elements: [OSMElement] = []
    private var relations: Set<Int64> = []
    /// What makes the whole file unusable.
    private(set) var problems: [OSMProblem] = []
    /// What makes single elements unusable, up to `InputLimits.problems`.
    private(set) var flaws: [OSMProblem] = []
    /// What was left out or changed because of the flaws.
    private(set) var remarks: [IMDFReport.Remark] = []
    private let mostElements: Int

    /// Reads a document; its elements are complete only if there are neither problems nor flaws.
    ///
    /// - Parameter mostElements: the limit of the nodes, ways and relations together.
    init(_ bytes: [UInt8], mostElements: Int = Limit.elements) {
        self.mostElements = mostElements
        let reader = XMLReader(bytes)
        do throws(XMLSyntaxError) {
            try read(reader)
        } catch {
            problems.append(OSMProblem(line: error.line, element: "", message: error.message))
        }
    }

    /// Reads the elements of GeoJSON.
    init(geoJSON bytes: [UInt8]) {
        mostElements = Limit.elements
        var reader = OSMGeoJSON()
        let elements = reader.elements(of: bytes)
        problems = reader.problems
        for flaw in reader.flaws { note(nil, flaw.kind, flaw.element, .leftOut, flaw.message) }
        for element in elements where !keep(element) { return }
    }

    private mutating func read(_ reader: XMLReader) throws(XMLSyntaxError) {
        var depth = 0
        var element: OSMElement?
        var isWhole = true
        while let token = try reader.next() {
            switch token {
            case .start(let tag):
                depth += 1
                if depth == 1, tag.name != "osm" {
                    report(
                        tag.line, "",
                        "the root is <\(tag.name)>; give an .osm file of OpenStreetMap, with the root <osm>")
                    return
                }
                if depth == 2 {
                    element = begin(tag)
                    isWhole = true
                }
                if depth == 3, !add(tag, to: &element) { isWhole = false }
            case .end:
                if depth == 2, let done = element {
                    element = nil
                    if isWhole, !keep(done) { return }
                }
                depth -= 1
            }
            // A file of unusable elements only must not give a report without end.
            if remarks.count > mostElements {
                report(nil, "", "more than \(mostElements) of its elements can't be used; export it again")
            }
            if !problems.isEmpty { return }
        }
    }

    /// Notes an element that can't be used, or a part of one.
    private mutating func note(
        _ line: Int?, _ kind: String, _ element: String, _ outcome: IMDFReport.Outcome, _ message: String
    ) {
        if flaws.count < InputLimits.standard.problems {
            flaws.append(OSMProblem(line: line, element: element, message: message))
        }
        remarks.append(IMDFReport.Remark(featureType: kind, id: element, outcome: outcome, reason: message))
    }

    private mutating func report(_ line: Int?, _ element: String, _ message: String) {
        problems.append(OSMProblem(line: line, element: element, message: message))
    }

    /// Returns the element that a tag begins; nil for another one, such as `bounds`, and for a deleted element.
    private mutating func begin(_ tag: XMLReader.Element) -> OSMElement? {
        guard let kind = OSMElement.Kind(rawValue: tag.name) else { return nil }
        // An editor keeps deleted elements until they are uploaded.
        if tag.attributes["action"] == "delete" || tag.attributes["visible"] == "false" { return nil }
        guard let id = tag.attributes["id"].flatMap(Int64.init) else {
            note(
                tag.line, tag.name, tag.name, .leftOut,
                "its id is \(tag.attributes["id"].map { "\"\($0)\"" } ?? "missing"); give a whole number")
            return nil
        }
        var element = OSMElement(kind: kind, id: id, line: tag.line)
        if kind == .node {
            guard let latitude = number("lat", of: tag, element), let longitude = number("lon", of: tag, element) else {
                return nil
            }
            let place = Coordinate(latitude: latitude, longitude: longitude)
            guard place.isValid else {
                note(
                    tag.line, kind.rawValue, element.name, .leftOut,
                    "lat \(latitude), lon \(longitude) is not a place; give degrees in [-90, 90] and [-180, 180]")
                return nil
            }
            element.coordinate = place
        }
        return element
    }

    private mutating func number(_ key: String, of tag: XMLReader.Element, _ element: OSMElement) -> Double? {
        let text = tag.attributes[key]
        if let number = text.flatMap(Double.init), number.isFinite { return number }
        note(
            tag.line, tag.name, element.name, .leftOut,
            "its \(key) is \(text.map { "\"\($0)\"" } ?? "missing"); give degrees")
        return nil
    }

    /// Adds a tag, a node of a way or a member of a relation; false if the element can't be used without it.
    private mutating func add(_ tag: XMLReader.Element, to element: inout OSMElement?) -> Bool {
        guard let owner = element else { return true }
        let kind = owner.kind.rawValue
        switch (tag.name, owner.kind) {
        case ("tag", _):
            guard let key = tag.attributes["k"], let value = tag.attributes["v"] else {
                note(tag.line, kind, owner.name, .changed, "a <tag> has no k or no v")
                return true
            }
            if owner.tags[key] != nil {
                note(tag.line, kind, owner.name, .changed, "it has the tag \(key) twice; keep one")
            } else {
                element?.tags[key] = value
            }
        case ("nd", .way), ("member", .relation):
            guard let id = tag.attributes["ref"].flatMap(Int64.init) else {
                note(
                    tag.line, kind, owner.name, .leftOut, "a <\(tag.name)> has no ref; give the id of an element")
                return false
            }
            if owner.kind == .way {
                element?.nodes.append(id)
            } else {
                let kind = tag.attributes["type"].flatMap(OSMElement.Kind.init)
                element?.members.append(.init(kind: kind, id: id, role: tag.attributes["role"] ?? ""))
            }
        default: break
        }
        return true
    }

    /// Stores an element; false if there are too many.
    private mutating func keep(_ element: OSMElement) -> Bool {
        guard elements.count < mostElements else {
            report(
                element.line, element.name,
                "the file has more than \(mostElements) elements; extract the building only")
            return false
        }
        let kind = element.kind.rawValue
        let isKnown =
            switch element.kind {
            case .node: nodes[element.id] != nil
            case .way: ways[element.id] != nil
            case .relation: !relations.insert(element.id).inserted
            }
        guard !isKnown else {
            note(element.line, kind, element.name, .leftOut, "its id is already used by another \(kind)")
            return true
        }
        guard element.members.count <= Limit.members || !element.has("type", "multipolygon") else {
            note(
                element.line, kind, element.name, .leftOut, "it has more than \(Limit.members) members; simplify it")
            return true
        }
        switch element.kind {
        case .node: nodes[element.id] = element
        case .way: ways[element.id] = element
        case .relation: break
        }
        elements.append(element)
        return true
    }
}

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

    private var line: Int { Int(cexpat_line(parser)) }

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
