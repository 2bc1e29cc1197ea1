import IndoorVocabulary

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
    /// The line of its beginning.
    let line: Int
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
    private(set) var problems: [OSMProblem] = []
    private let mostElements: Int

    /// Reads a document; its elements are complete only if there are no problems.
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

    private mutating func read(_ reader: XMLReader) throws(XMLSyntaxError) {
        var depth = 0
        var element: OSMElement?
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
                if depth == 2 { element = begin(tag) }
                if depth == 3 { add(tag, to: &element) }
            case .end:
                if depth == 2, let done = element {
                    element = nil
                    guard keep(done) else { return }
                }
                depth -= 1
            }
            if problems.count >= InputLimits.standard.problems { return }
        }
    }

    private mutating func report(_ line: Int, _ element: String, _ message: String) {
        problems.append(OSMProblem(line: line, element: element, message: message))
    }

    /// Returns the element that a tag begins; nil for another one, such as `bounds`, and for a deleted element.
    private mutating func begin(_ tag: XMLReader.Element) -> OSMElement? {
        guard let kind = OSMElement.Kind(rawValue: tag.name) else { return nil }
        // An editor keeps deleted elements until they are uploaded.
        if tag.attributes["action"] == "delete" || tag.attributes["visible"] == "false" { return nil }
        guard let id = tag.attributes["id"].flatMap(Int64.init) else {
            report(
                tag.line, tag.name,
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
                report(
                    tag.line, element.name,
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
        report(tag.line, element.name, "its \(key) is \(text.map { "\"\($0)\"" } ?? "missing"); give degrees")
        return nil
    }

    /// Adds a tag, a node of a way or a member of a relation.
    private mutating func add(_ tag: XMLReader.Element, to element: inout OSMElement?) {
        guard let owner = element else { return }
        switch (tag.name, owner.kind) {
        case ("tag", _):
            guard let key = tag.attributes["k"], let value = tag.attributes["v"] else {
                return report(tag.line, owner.name, "a <tag> has no k or no v")
            }
            if element?.tags.updateValue(value, forKey: key) != nil {
                report(tag.line, owner.name, "it has the tag \(key) twice; keep one")
            }
        case ("nd", .way), ("member", .relation):
            guard let id = tag.attributes["ref"].flatMap(Int64.init) else {
                return report(tag.line, owner.name, "a <\(tag.name)> has no ref; give the id of an element")
            }
            if owner.kind == .way {
                element?.nodes.append(id)
            } else {
                let kind = tag.attributes["type"].flatMap(OSMElement.Kind.init)
                element?.members.append(.init(kind: kind, id: id, role: tag.attributes["role"] ?? ""))
            }
        default: break
        }
    }

    /// Stores an element; false if there are too many.
    private mutating func keep(_ element: OSMElement) -> Bool {
        guard elements.count < mostElements else {
            report(
                element.line, element.name,
                "the file has more than \(mostElements) elements; extract the building only")
            return false
        }
        let other: OSMElement?
        switch element.kind {
        case .node: other = nodes.updateValue(element, forKey: element.id)
        case .way: other = ways.updateValue(element, forKey: element.id)
        case .relation: other = relations.insert(element.id).inserted ? nil : element
        }
        if other != nil {
            report(element.line, element.name, "its id is already used by another \(element.kind.rawValue)")
        }
        if element.members.count > Limit.members, element.has("type", "multipolygon") {
            report(element.line, element.name, "it has more than \(Limit.members) members; simplify it")
        } else {
            elements.append(element)
        }
        return true
    }
}
