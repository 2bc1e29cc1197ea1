import CYAML
import VenuePackets

/// A node of a YAML document.
struct YAMLNode: Sendable {
    /// The content of a node.
    enum Content: Sendable {
        /// A text. An unquoted one can stand for a number, a truth value or an absent value.
        case scalar(String, isPlain: Bool)
        case sequence([YAMLNode])
        case mapping([YAMLMember])
    }

    let content: Content
    /// The place of its first character.
    let place: YAMLPlace
    /// The number of nodes in it, with those of its aliases and itself.
    fileprivate let size: Int

    /// Whether the node stands for an absent value: it is empty, `~` or `null`.
    var isNull: Bool {
        guard case .scalar(let text, isPlain: true) = content else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(text)
    }

    /// The text of a scalar; nil for an absent value and for a list or mapping.
    var text: String? {
        guard case .scalar(let text, _) = content, !isNull else { return nil }
        return text
    }

    /// The value of a finite number; nil for anything else.
    var number: Double? {
        guard let text, text.utf8.allSatisfy({ "+-.0123456789eE".utf8.contains($0) }) else { return nil }
        return Double(text).flatMap { $0.isFinite ? $0 : nil }
    }

    /// The truth value in one of the spellings of YAML 1.1; nil for anything else.
    var truth: Bool? {
        switch text?.lowercased() {
        case "true", "yes", "on": true
        case "false", "no", "off": false
        default: nil
        }
    }

    /// What the node is, in the words of an error.
    var summary: String {
        switch content {
        case .scalar(let text, _): isNull ? "empty" : "\"\(text.prefix(40))\""
        case .sequence: "a list"
        case .mapping: "a mapping"
        }
    }
}

/// A key of a mapping and its value.
struct YAMLMember: Sendable {
    let key: YAMLNode
    let value: YAMLNode
}

/// A place in a file.
struct YAMLPlace: Hashable, Sendable {
    /// The line, from 1.
    let line: Int
    /// The column in characters, from 1.
    let column: Int

    static let start = YAMLPlace(line: 1, column: 1)
}

/// A document that isn't YAML, or that exceeds a limit.
struct YAMLSyntaxError: Error, Hashable {
    let place: YAMLPlace
    let message: String
}

/// Reads the first document of a YAML file with LibYAML, within limits.
struct YAMLDocument {
    /// Limits that protect the machine from malicious files.
    enum Limit {
        /// Open lists and mappings; the configuration of ESPresense-companion needs 6.
        static let depth = 32
        /// All nodes, with those of aliases; a house of 100 rooms has 3,000.
        static let nodes = 200_000
    }

    /// The root; nil for a file without content.
    let root: YAMLNode?

    /// Reads the bytes of a file.
    init(_ bytes: [UInt8]) throws(YAMLSyntaxError) {
        var reader = YAMLReader(bytes)
        root = try reader.document()
    }
}

/// The part of a document that a reader has passed.
private struct YAMLReader {
    private let events: YAMLEvents
    private var anchors: [String: YAMLNode] = [:]
    /// The number of nodes so far, with those of aliases.
    private var count = 0

    init(_ bytes: [UInt8]) { events = YAMLEvents(bytes) }

    mutating func document() throws(YAMLSyntaxError) -> YAMLNode? {
        while true {
            let event = try events.next()
            switch event.kind {
            case .streamEnd: return nil
            case .other: continue
            default:
                let root = try node(event, depth: 0)
                guard case .other = try events.next().kind, case .streamEnd = try events.next().kind else {
                    throw YAMLSyntaxError(
                        place: root.place, message: "the file has more than one document; remove all but the first")
                }
                return root
            }
        }
    }

    private mutating func node(_ event: YAMLEvents.Event, depth: Int) throws(YAMLSyntaxError) -> YAMLNode {
        guard depth <= YAMLDocument.Limit.depth else {
            throw YAMLSyntaxError(
                place: event.place, message: "more than \(YAMLDocument.Limit.depth) lists and mappings are nested")
        }
        let content: YAMLNode.Content
        var size = 1
        switch event.kind {
        case .alias(let name):
            guard let node = anchors[name] else {
                throw YAMLSyntaxError(
                    place: event.place, message: "no anchor &\(name) stands before the alias *\(name)")
            }
            try use(node.size, at: event.place)
            return YAMLNode(content: node.content, place: event.place, size: node.size)
        case .scalar(let text, let isPlain):
            content = .scalar(text, isPlain: isPlain)
        case .sequence:
            var items: [YAMLNode] = []
            while let item = try item(depth: depth) {
                items.append(item)
                size += item.size
            }
            content = .sequence(items)
        case .mapping:
            var members: [YAMLMember] = []
            while let key = try item(depth: depth) {
                let value = try node(events.next(), depth: depth + 1)
                members.append(YAMLMember(key: key, value: value))
                size += key.size + value.size
            }
            content = .mapping(members)
        case .end, .streamEnd, .other:
            throw YAMLSyntaxError(place: event.place, message: "a value is missing")
        }
        try use(1, at: event.place)
        let node = YAMLNode(content: content, place: event.place, size: size)
        if let anchor = event.anchor { anchors[anchor] = node }
        return node
    }

    /// Returns the next node of a list or mapping; nil at its end.
    private mutating func item(depth: Int) throws(YAMLSyntaxError) -> YAMLNode? {
        let event = try events.next()
        if case .end = event.kind { return nil }
        return try node(event, depth: depth + 1)
    }

    private mutating func use(_ nodes: Int, at place: YAMLPlace) throws(YAMLSyntaxError) {
        count += nodes
        guard count <= YAMLDocument.Limit.nodes else {
            throw YAMLSyntaxError(
                place: place, message: "the file has more than \(YAMLDocument.Limit.nodes) values; shorten it")
        }
    }
}

/// The events of LibYAML's parser.
private final class YAMLEvents {
    /// A part of the document.
    struct Event {
        enum Kind {
            case scalar(String, isPlain: Bool)
            case alias(String)
            case sequence
            case mapping
            /// The end of a list or mapping.
            case end
            case streamEnd
            /// The start of the stream, or the start or end of a document.
            case other
        }

        let kind: Kind
        let anchor: String?
        let place: YAMLPlace
    }

    private let bytes: [UInt8]
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    /// The number of bytes that the parser has received.
    private var offset = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        parser = .allocate(capacity: 1)
        parser.initialize(to: yaml_parser_t())
        yaml_parser_initialize(parser)
        yaml_parser_set_input(
            parser,
            { events, buffer, size, count in
                guard let events, let buffer, let count else { return 0 }
                let reader = Unmanaged<YAMLEvents>.fromOpaque(events).takeUnretainedValue()
                count.pointee = reader.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: size))
                return 1
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit {
        yaml_parser_delete(parser)
        parser.deallocate()
    }

    private func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let part = bytes[offset..<min(offset + buffer.count, bytes.count)]
        buffer.copyBytes(from: part)
        offset += part.count
        return part.count
    }

    func next() throws(YAMLSyntaxError) -> Event {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else { throw problem() }
        defer { yaml_event_delete(&event) }
        let place = Self.place(event.start_mark)
        switch event.type {
        case YAML_SCALAR_EVENT:
            let scalar = event.data.scalar
            let text = String(decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
            return Event(
                kind: .scalar(text, isPlain: scalar.style == YAML_PLAIN_SCALAR_STYLE), anchor: Self.text(scalar.anchor),
                place: place)
        case YAML_ALIAS_EVENT:
            return Event(kind: .alias(Self.text(event.data.alias.anchor) ?? ""), anchor: nil, place: place)
        case YAML_SEQUENCE_START_EVENT:
            return Event(kind: .sequence, anchor: Self.text(event.data.sequence_start.anchor), place: place)
        case YAML_MAPPING_START_EVENT:
            return Event(kind: .mapping, anchor: Self.text(event.data.mapping_start.anchor), place: place)
        case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: return Event(kind: .end, anchor: nil, place: place)
        // After the end of the stream, the parser returns no event.
        case YAML_STREAM_END_EVENT, YAML_NO_EVENT: return Event(kind: .streamEnd, anchor: nil, place: place)
        default: return Event(kind: .other, anchor: nil, place: place)
        }
    }

    private func problem() -> YAMLSyntaxError {
        let reason = parser.pointee.problem.map { String(cString: $0) } ?? "unknown error"
        guard parser.pointee.error == YAML_READER_ERROR else {
            let context = parser.pointee.context.map { String(cString: $0) + ": " } ?? ""
            return YAMLSyntaxError(
                place: Self.place(parser.pointee.problem_mark),
                message: "it is not valid YAML: \(context)\(reason); correct the indentation and the quotes there")
        }
        let before = bytes.prefix(parser.pointee.problem_offset)
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let column = String(decoding: before[start...], as: UTF8.self).unicodeScalars.count + 1
        return YAMLSyntaxError(
            place: YAMLPlace(line: before.count { $0 == UInt8(ascii: "\n") } + 1, column: column),
            message: "it is not valid text: \(reason); save the file as UTF-8")
    }

    private static func place(_ mark: yaml_mark_t) -> YAMLPlace {
        YAMLPlace(line: Int(clamping: mark.line) + 1, column: Int(clamping: mark.column) + 1)
    }

    private static func text(_ name: UnsafeMutablePointer<yaml_char_t>?) -> String? {
        name.map { String(cString: $0) }
    }
}
