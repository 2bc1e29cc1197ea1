import IndoorVocabulary
import VenuePackets

/// The parts of a configuration of ESPresense-companion that describe a house.
///
/// Source: github.com/ESPresense/ESPresense-companion, `config.example.yaml` and `Models/Config.cs`; espresense.com,
/// *Companion: Configuration*.
struct CompanionConfiguration: Sendable {
    /// A point in metres of the frame of the file.
    struct Point: Hashable, Sendable {
        var x: Double
        var y: Double
        /// The height in the same frame for all floors; nil if the file has none.
        var z: Double?
    }

    /// Two opposite corners of a floor.
    struct Bounds: Hashable, Sendable {
        var low: Point
        var high: Point

        /// Whether a height is within the floor; false without a height.
        func contains(height: Double?) -> Bool {
            guard let height, let low = low.z, let high = high.z else { return false }
            return (low...high).contains(height)
        }

        /// Returns whether the areas of two floors overlap, seen from above.
        func overlaps(_ other: Bounds) -> Bool {
            low.x < other.high.x && other.low.x < high.x && low.y < other.high.y && other.low.y < high.y
        }
    }

    /// A room.
    struct Room: Sendable {
        var id: String
        var name: String
        var corners: [Point]
        var place: YAMLPlace
    }

    /// A floor.
    struct Floor: Sendable {
        var id: String
        var name: String
        var bounds: Bounds?
        var rooms: [Room] = []
        var place: YAMLPlace
    }

    /// A node: an ESP32 with ESPresense that receives tags.
    struct Node: Sendable {
        /// The name under which it publishes, or from which it derives that name.
        var id: String
        /// Its display name if it differs.
        var name: String?
        var point: Point
        /// The ids of its floors; empty if the file has none.
        var floors: [String]
        var place: YAMLPlace
    }

    /// The location of the frame's origin, and its rotation in degrees clockwise from north.
    struct Location: Hashable, Sendable {
        var origin: Coordinate
        var rotation: Double
    }

    /// Limits that protect the machine from malicious files.
    enum Limit {
        /// The size of a file in bytes; that of a house of 100 rooms has 40 kB.
        static let file = 4 << 20
        /// Floors, rooms and nodes together.
        static let items = 5_000
        /// The corners of a room.
        static let corners = 2_000
    }

    var floors: [Floor] = []
    var nodes: [Node] = []
    var devices: [CompanionDevice] = []
    var location: Location?
    /// Whether x points to the left on the plan.
    var flipsX = false
    /// Whether y points up on the plan.
    var flipsY = true
    /// The address of the broker; nil if the file has none.
    var broker: String?
}

/// Reads a configuration, and notes what can't be used.
struct CompanionReader {
    private(set) var configuration = CompanionConfiguration()
    /// What makes the whole file unusable.
    private(set) var problems: [CompanionProblem] = []
    /// What makes single items unusable, up to `InputLimits.problems`.
    private(set) var flaws: [CompanionProblem] = []
    /// What was left out or changed.
    private(set) var remarks: [IMDFReport.Remark] = []
    private var items = 0

    private typealias Members = [String: YAMLNode]

    init(_ bytes: [UInt8]) {
        do throws(YAMLSyntaxError) { read(try YAMLDocument(bytes).root) } catch {
            problems.append(CompanionProblem(place: error.place, item: "", message: error.message))
        }
    }

    private mutating func read(_ root: YAMLNode?) {
        guard let root, case .mapping = root.content else {
            report(root?.place, "the file is \(root?.summary ?? "empty"); give the config.yaml of ESPresense-companion")
            return
        }
        let members = members(of: root, "file", "config")
        guard members["floors"] != nil || members["nodes"] != nil else {
            report(
                root.place, "it has neither floors nor nodes; give the config.yaml of ESPresense-companion")
            return
        }
        readMap(members["map"])
        readLocation(members["gps"])
        readBroker(members["mqtt"])
        for (index, node) in list("floors", of: members).enumerated() { readFloor(node, index) }
        for (index, node) in list("nodes", of: members).enumerated() { readNode(node, index) }
        for (index, node) in list("devices", of: members).enumerated() { readDevice(node, index) }
        for node in list("exclude_devices", of: members) {
            let entry = self.members(of: node, "device", "exclude_devices")
            let name = entry["id"]?.text ?? entry["name"]?.text ?? "exclude_devices"
            note(
                "device", name, .leftOut,
                "it is excluded; 'track --unknown none' locates only the tags of a register, and none of the others")
        }
        if problems.isEmpty, configuration.floors.isEmpty {
            report(
                members["floors"]?.place ?? root.place, "it has no floor; give at least one with its bounds or rooms")
        }
    }

    // MARK: Notes

    private mutating func report(_ place: YAMLPlace?, _ message: String) {
        problems.append(CompanionProblem(place: place ?? .start, item: "", message: message))
    }

    /// Notes an item that can't be used, or a part of one.
    private mutating func note(
        _ place: YAMLPlace, _ kind: String, _ id: String, _ outcome: IMDFReport.Outcome, _ message: String
    ) {
        if flaws.count < InputLimits.standard.problems {
            flaws.append(CompanionProblem(place: place, item: "\(kind) \(id)", message: message))
        }
        note(kind, id, outcome, message)
    }

    /// Notes a valid item that a packet can't contain.
    private mutating func note(_ kind: String, _ id: String, _ outcome: IMDFReport.Outcome, _ message: String) {
        remarks.append(IMDFReport.Remark(featureType: kind, id: id, outcome: outcome, reason: message))
    }

    // MARK: Values

    private mutating func members(of node: YAMLNode, _ kind: String, _ id: String) -> Members {
        guard case .mapping(let list) = node.content else { return [:] }
        var members: Members = [:]
        for member in list {
            guard let key = member.key.text else { continue }
            if members[key] == nil {
                members[key] = member.value
            } else {
                note(member.key.place, kind, id, .changed, "it has the key \(key) twice; the first one is used")
            }
        }
        return members.filter { !$0.value.isNull }
    }

    /// Returns the mappings of a list; empty for an absent one.
    private mutating func list(_ key: String, of members: Members, in owner: String = "") -> [YAMLNode] {
        guard let node = members[key] else { return [] }
        let name = owner.isEmpty ? key : "\(owner).\(key)"
        guard case .sequence(let nodes) = node.content else {
            note(node.place, "list", name, .leftOut, "it is \(node.summary); give a list, whose items begin with -")
            return []
        }
        return nodes.filter { node in
            if case .mapping = node.content { return true }
            note(node.place, "item", name, .leftOut, "it is \(node.summary); give a mapping, such as name: Kitchen")
            return false
        }
    }

    /// Returns a text; nil and a note if the value is none.
    private mutating func text(_ key: String, of members: Members, _ kind: String, _ id: String) -> String? {
        guard let node = members[key] else { return nil }
        if let text = node.text, !text.allSatisfy(\.isWhitespace) { return text }
        note(node.place, kind, id, .changed, "its \(key) is \(node.summary); give a text")
        return nil
    }

    /// Returns a point; nil and a note if it can't be used.
    private mutating func point(_ node: YAMLNode, _ name: String, _ kind: String, _ id: String)
        -> CompanionConfiguration.Point?
    {
        guard case .sequence(let parts) = node.content, (2...3).contains(parts.count),
            case let numbers = parts.compactMap(\.number), numbers.count == parts.count
        else {
            let found =
                if case .sequence(let parts) = node.content {
                    "[" + parts.prefix(5).map { $0.text ?? $0.summary }.joined(separator: ", ") + "]"
                } else { node.summary }
            note(
                node.place, kind, id, .leftOut,
                "\(name) is \(found); give metres as [x, y, z], with a point before decimals")
            return nil
        }
        guard numbers.allSatisfy({ abs($0) <= 10_000 }) else {
            note(node.place, kind, id, .leftOut, "\(name) is more than 10 km from the origin; give metres")
            return nil
        }
        return CompanionConfiguration.Point(x: numbers[0], y: numbers[1], z: numbers.count > 2 ? numbers[2] : nil)
    }

    /// Counts an item; false if there are too many.
    private mutating func count(_ place: YAMLPlace) -> Bool {
        items += 1
        if items == CompanionConfiguration.Limit.items + 1 {
            report(place, "the file has more than \(CompanionConfiguration.Limit.items) floors, rooms and nodes")
        }
        return items <= CompanionConfiguration.Limit.items
    }

    // MARK: Parts of the file

    private mutating func readMap(_ node: YAMLNode?) {
        guard let node else { return }
        let members = members(of: node, "file", "map")
        for (key, path) in [("flip_x", \CompanionConfiguration.flipsX), ("flip_y", \.flipsY)] {
            guard let value = members[key] else { continue }
            if let truth = value.truth {
                configuration[keyPath: path] = truth
            } else {
                note(value.place, "file", "map", .changed, "its \(key) is \(value.summary); give true or false")
            }
        }
    }

    private mutating func readLocation(_ node: YAMLNode?) {
        guard let node else { return }
        let members = members(of: node, "file", "gps")
        guard let latitude = members["latitude"], let longitude = members["longitude"] else { return }
        let coordinate = latitude.number.flatMap { latitude in
            longitude.number.map { Coordinate(latitude: latitude, longitude: $0) }
        }
        guard let coordinate, coordinate.isValid, abs(coordinate.latitude) < 90 else {
            note(
                node.place, "file", "gps", .leftOut,
                "latitude \(latitude.summary), longitude \(longitude.summary) is not a place; give degrees")
            return
        }
        var rotation = 0.0
        if let value = members["rotation"] {
            if let number = value.number, abs(number) <= 360 {
                rotation = number
            } else {
                note(value.place, "file", "gps", .leftOut, "its rotation is \(value.summary); give degrees within ±360")
                return
            }
        }
        configuration.location = CompanionConfiguration.Location(origin: coordinate, rotation: rotation)
    }

    private mutating func readBroker(_ node: YAMLNode?) {
        guard let node else { return }
        let members = members(of: node, "file", "mqtt")
        guard let host = members["host"]?.text, host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return }
        let isSecure = members["ssl"]?.truth ?? false
        let standardPort = isSecure ? 8883 : 1883
        let port = members["port"]?.number.flatMap { Int(exactly: $0) } ?? standardPort
        let user = members["username"]?.text.map { $0 + "@" } ?? ""
        configuration.broker =
            "\(isSecure ? "mqtts" : "mqtt")://\(user)\(host)" + (port == standardPort ? "" : ":\(port)")
    }

    private mutating func readFloor(_ node: YAMLNode, _ index: Int) {
        guard count(node.place) else { return }
        let members = members(of: node, "floor", "\(index + 1)")
        let name = text("name", of: members, "floor", "\(index + 1)")
        let id = text("id", of: members, "floor", "\(index + 1)") ?? name.map(Self.snakeCase) ?? "\(index + 1)"
        guard !configuration.floors.contains(where: { $0.id.lowercased() == id.lowercased() }) else {
            note(node.place, "floor", id, .leftOut, "its id is already used by another floor")
            return
        }
        var floor = CompanionConfiguration.Floor(id: id, name: name ?? id, place: node.place)
        floor.bounds = bounds(members["bounds"], of: id)
        for (index, room) in list("rooms", of: members, in: id).enumerated() {
            if let room = self.room(room, index, on: id) { floor.rooms.append(room) }
        }
        configuration.floors.append(floor)
    }

    private mutating func bounds(_ node: YAMLNode?, of floor: String) -> CompanionConfiguration.Bounds? {
        guard let node else { return nil }
        guard case .sequence(let corners) = node.content, corners.count == 2 else {
            note(node.place, "floor", floor, .changed, "its bounds are \(node.summary); give two corners as [x, y, z]")
            return nil
        }
        guard let first = point(corners[0], "a corner of its bounds", "floor", floor),
            let second = point(corners[1], "a corner of its bounds", "floor", floor)
        else { return nil }
        let heights = first.z.flatMap { first in second.z.map { (min(first, $0), max(first, $0)) } }
        let bounds = CompanionConfiguration.Bounds(
            low: .init(x: min(first.x, second.x), y: min(first.y, second.y), z: heights?.0),
            high: .init(x: max(first.x, second.x), y: max(first.y, second.y), z: heights?.1))
        guard bounds.low.x < bounds.high.x, bounds.low.y < bounds.high.y else {
            note(node.place, "floor", floor, .changed, "its bounds have no area; give two opposite corners")
            return nil
        }
        return bounds
    }

    private mutating func room(_ node: YAMLNode, _ index: Int, on floor: String) -> CompanionConfiguration.Room? {
        guard count(node.place) else { return nil }
        let label = "\(floor)/\(index + 1)"
        let members = members(of: node, "room", label)
        let name = text("name", of: members, "room", label)
        guard let id = text("id", of: members, "room", label) ?? name.map(Self.snakeCase) else {
            note(node.place, "room", label, .leftOut, "it has no name")
            return nil
        }
        guard let points = members["points"], case .sequence(let nodes) = points.content else {
            note(
                members["points"]?.place ?? node.place, "room", name ?? id, .leftOut,
                "its points are \(members["points"]?.summary ?? "missing"); give its corners as a list of [x, y]")
            return nil
        }
        guard nodes.count <= CompanionConfiguration.Limit.corners else {
            note(
                points.place, "room", name ?? id, .leftOut,
                "it has more than \(CompanionConfiguration.Limit.corners) corners; simplify it")
            return nil
        }
        var corners: [CompanionConfiguration.Point] = []
        for corner in nodes {
            guard let point = point(corner, "a corner", "room", name ?? id) else { return nil }
            corners.append(point)
        }
        return CompanionConfiguration.Room(id: id, name: name ?? id, corners: corners, place: points.place)
    }

    private mutating func readNode(_ node: YAMLNode, _ index: Int) {
        guard count(node.place) else { return }
        let members = members(of: node, "node", "\(index + 1)")
        let name = text("name", of: members, "node", "\(index + 1)")
        guard let id = text("id", of: members, "node", "\(index + 1)") ?? name else {
            note(node.place, "node", "\(index + 1)", .leftOut, "it has no name; give that of its room in ESPresense")
            return
        }
        guard !configuration.nodes.contains(where: { Self.snakeCase($0.id) == Self.snakeCase(id) }) else {
            note(node.place, "node", id, .leftOut, "its name is already used by another node")
            return
        }
        if members["enabled"]?.truth == false {
            note("node", id, .leftOut, "it is not enabled")
            return
        }
        if members["stationary"]?.truth == false {
            note("node", id, .leftOut, "it is not stationary; a receiver has a fixed place")
            return
        }
        guard let place = members["point"] else {
            note(node.place, "node", id, .leftOut, "its point is missing; give metres as [x, y, z]")
            return
        }
        guard let point = point(place, "its point", "node", id) else { return }
        var floors: [String] = []
        if let list = members["floors"] {
            if case .sequence(let nodes) = list.content {
                floors = nodes.compactMap(\.text)
            } else if let text = list.text {
                floors = [text]
            }
            if floors.isEmpty {
                note(list.place, "node", id, .changed, "its floors are \(list.summary); give a list of their ids")
            }
        }
        configuration.nodes.append(
            CompanionConfiguration.Node(
                id: id, name: name == id ? nil : name, point: point, floors: floors, place: place.place))
    }

    private mutating func readDevice(_ node: YAMLNode, _ index: Int) {
        let members = members(of: node, "device", "\(index + 1)")
        let id = text("id", of: members, "device", "\(index + 1)")
        let name = text("name", of: members, "device", "\(index + 1)")
        guard let label = id ?? name else {
            note(node.place, "device", "\(index + 1)", .leftOut, "it has neither an id nor a name")
            return
        }
        guard !label.contains(where: { "*?[{".contains($0) }) else {
            note(
                "device", label, .leftOut,
                "it is a pattern, and not one tag; 'track' also locates tags outside the register")
            return
        }
        // Nodes report the name, or the id that is derived from it.
        let short = Self.snakeCase(label)
        configuration.devices.append(
            CompanionDevice(
                key: label, name: name, alias: id == nil && short != label ? short : nil, line: node.place.line))
    }

    /// Returns the letters and digits of a name in lower case with `_` between its words, as ESPresense derives an id.
    static func snakeCase(_ name: String) -> String {
        var words = ""
        for character in name.lowercased() {
            if character.isLetter || character.isNumber {
                words.append(character)
            } else if !words.isEmpty, words.last != "_" {
                words.append("_")
            }
        }
        return words.last == "_" ? String(words.dropLast()) : words
    }
}
