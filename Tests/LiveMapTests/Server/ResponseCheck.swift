import Foundation

/// The comparison of responses with the document.
struct ResponseCheck {
    typealias JSON = SchemaValidator.JSON

    var validator: SchemaValidator
    var problems: [String] = []
    /// The paths with a status that have occurred.
    var seen: Set<String> = []

    /// The schemas of the data of server-sent events by the events' names.
    private let events: [String: String]

    init(_ document: JSON, events: [String: String]) {
        validator = SchemaValidator(document)
        self.events = events
    }

    /// The paths with each documented status.
    var documented: Set<String> {
        var all: Set<String> = []
        for (path, item) in validator.document["paths"]?.object ?? [:] {
            for operation in item.object?.values ?? [:].values {
                for status in operation["responses"]?.object?.keys ?? [:].keys { all.insert("\(path) \(status)") }
            }
        }
        return all
    }

    mutating func check(_ reply: RawClient.Reply, _ path: String, _ item: JSON) {
        let name = "\(path) \(reply.status)"
        seen.insert(name)
        guard let operation = item.object?.values.first,
            var response = operation["responses", "\(reply.status)"]
        else { return problems.append("\(name): \(reply.text.prefix(200)) is not documented") }
        if let reference = response["$ref"]?.string { response = validator.resolved(reference) ?? .null }
        guard let content = response["content"]?.object?.first else {
            if !reply.body.isEmpty { problems.append("\(name): has a body") }
            return
        }
        let type = reply.headers["content-type"] ?? "none"
        let isMatch =
            content.key == type || content.key == "*/*" || content.key == "image/*" && type.hasPrefix("image/")
        if !isMatch { problems.append("\(name): \(type) is not \(content.key)") }
        guard type == "application/json", let schema = content.value["schema"] else {
            if type == "text/event-stream" { checkEvents(reply.text) }
            return
        }
        validate(Data(reply.body), schema, name)
    }

    private mutating func validate(_ data: Data, _ schema: JSON, _ name: String) {
        do { validator.validate(try JSONDecoder().decode(JSON.self, from: data), schema, at: name) } catch {
            problems.append("\(name): \(error)")
        }
    }

    /// Checks the data of server-sent events, which has the schema of its kind.
    private mutating func checkEvents(_ text: String) {
        for event in text.components(separatedBy: "\n\n") {
            var fields: [String: Substring] = [:]
            for line in event.split(separator: "\n") {
                let parts = line.split(separator: ":", maxSplits: 1)
                if parts.count == 2 { fields[String(parts[0])] = parts[1].drop { $0 == " " } }
            }
            guard let name = fields["event"], let data = fields["data"] else { continue }
            guard let schema = events[String(name)] else { return problems.append("the event \(name) is unknown") }
            seen.insert("event \(name)")
            validate(
                Data(data.utf8), .object(["$ref": .string("#/components/schemas/\(schema)")]), "\(name) \(fields)")
        }
    }
}
