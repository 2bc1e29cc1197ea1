import IndoorVocabulary
import VenueModel

extension VenueParser {
    mutating func paths(of root: JSONObject) -> PathGraph? {
        guard let object = optionalObject("paths", of: root) else { return nil }
        var seen: [Int: String] = [:]
        let nodes = objects("nodes", of: object, isRequired: true, limit: limits.ways).compactMap { entry in
            node(entry, among: &seen)
        }
        let edges = objects("edges", of: object, isRequired: true, limit: limits.ways).compactMap { entry in
            edge(entry, nodes: seen)
        }
        return PathGraph(nodes: nodes, edges: edges)
    }

    private mutating func node(_ entry: JSONObject, among seen: inout [Int: String]) -> PathGraph.Node? {
        let id = uniqueID(of: entry, among: &seen)
        let mapID = mapID(of: entry)
        let point = point(of: entry)
        guard let id, let mapID, let point else { return nil }
        checkInside(point, of: mapID, at: entry.path, kind: "node")
        return PathGraph.Node(id: id, mapID: mapID, point: point)
    }

    private mutating func edge(_ entry: JSONObject, nodes: [Int: String]) -> PathGraph.Edge? {
        let from = node("from", of: entry, among: nodes)
        let to = node("to", of: entry, among: nodes)
        let weight = optionalNumber("weight", of: entry, .weight)
        let kind = kind(of: entry)
        let isOneWay = bool("oneWay", of: entry, default: false)
        let tags = tags(of: entry)
        guard let from, let to, let kind else { return nil }
        if from == to { report(.warning, entry.path, "leads from node \(from) to itself; remove it") }
        return PathGraph.Edge(from: from, to: to, weight: weight, kind: kind, isOneWay: isOneWay, tags: tags)
    }

    private mutating func tags(of entry: JSONObject) -> Set<String> {
        guard let value = entry["tags"] else { return [] }
        guard case .array(let values) = value else {
            return wrong(value, at: entry.path(of: "tags"), wanted: "an array of texts") ?? []
        }
        var tags: Set<String> = []
        for (index, value) in values.enumerated() {
            guard case .string(let tag) = value else {
                let none: Set<String>? = wrong(value, at: "\(entry.path(of: "tags"))[\(index)]", wanted: "a text")
                return none ?? []
            }
            tags.insert(tag)
        }
        return tags
    }

    private mutating func node(_ key: String, of entry: JSONObject, among nodes: [Int: String]) -> Int? {
        guard let id = integer(key, of: entry, .identifier) else { return nil }
        guard nodes[id] != nil else {
            report(.error, entry.path(of: key), "there is no node \(id); give the id of one of the nodes")
            return nil
        }
        return id
    }

    private mutating func kind(of entry: JSONObject) -> PathGraph.Edge.Kind? {
        let wanted = PathGraph.Edge.Kind.allCases.map(\.rawValue).joined(separator: ", ")
        guard entry["kind"] != nil else { return .walk }
        guard let text = optionalString("kind", of: entry, wanted: "one of \(wanted)") else { return nil }
        guard let kind = PathGraph.Edge.Kind(rawValue: text) else {
            report(.error, entry.path(of: "kind"), "is \"\(text)\"; give one of \(wanted)")
            return nil
        }
        return kind
    }
}
