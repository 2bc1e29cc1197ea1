import TextFormats

/// The meaning of a way or a multipolygon for an indoor map.
///
/// Source: the page *Simple Indoor Tagging* of the OpenStreetMap Wiki.
enum OSMKind: Hashable, Sendable {
    /// A space, with its category in IMDF.
    case space(String)
    /// The outline of a level.
    case level
    /// A wall, drawn as a line.
    case wall
    /// Solid matter, drawn as an area.
    case solid
    /// Stairs or an escalator, drawn as a line from one level to the next.
    case steps
    /// An opening, drawn as a line.
    case door
    /// The outline of a building.
    case building
    /// A part that a packet doesn't need or can't contain, with the reason.
    case leftOut(String)

    /// Returns the kind of an element; nil if it isn't part of an indoor map.
    init?(_ element: OSMElement) {
        let isArea = element.kind == .relation ? element.has("type", "multipolygon") : element.isClosed
        if isArea, element.has("highway", "elevator") || element.has("room", "elevator") {
            self = .space("elevator")
        } else if isArea, element.has("indoor", "room", "area", "corridor"),
            element.has("stairs", "yes") || element.has("room", "stairs")
        {
            self = .space(element.isEscalator ? "escalator" : "stairs")
        } else if element.has("highway", "steps"), element.kind == .way, element.tags["level"] != nil {
            self = isArea && element.has("area", "yes") ? .space("stairs") : .steps
        } else if element.kind == .way, !isArea, element.isDoor {
            self = .door
        } else {
            self.init(indoor: element, isArea: isArea)
        }
    }

    private init?(indoor element: OSMElement, isArea: Bool) {
        switch element.tags["indoor"] {
        case "room": self = .space("room")
        case "area": self = .space("unenclosedarea")
        case "corridor" where isArea: self = .space("walkway")
        case "corridor":
            self = .leftOut("it is a corridor without width; draw it as an area")
        case "level": self = .level
        case "wall": self = isArea && element.has("area", "yes") || element.kind == .relation ? .solid : .wall
        case "column", "pillar": self = .solid
        case "yes", "pathway":
            guard element.tags["highway"] != nil else { return nil }
            self = .leftOut("it is a drawn path; paths are computed from the spaces, their walls and their doors")
        default:
            guard let building = element.tags["building"], building != "no", isArea else { return nil }
            self = .building
        }
    }
}

extension OSMElement {
    /// Whether the element is an opening in a wall.
    var isDoor: Bool {
        if let door = tags["door"] { return door != "no" }
        return tags["entrance"].map { $0 != "no" } ?? false || has("indoor", "door")
    }

    /// Whether stairs move.
    var isEscalator: Bool { tags["conveying"].map { $0 != "no" } ?? false }

    /// Whether the public may not enter.
    var isPrivate: Bool { has("access", "private", "no") }

    /// The purpose of a place in words, from the tag that states it, such as `meeting room`; nil without one.
    var purpose: String? {
        for key in [
            "room", "amenity", "shop", "tourism", "office", "healthcare", "leisure", "craft", "information",
            "emergency", "man_made",
        ] {
            if let value = tags[key], !["yes", "no", ""].contains(value) {
                return value.map { $0 == "_" ? " " : String($0) }.joined()
            }
        }
        return tags["shop"] == nil ? nil : "shop"
    }

    /// The name in each language, with the value of the tag `name` under an empty language tag; nil if there is none.
    var label: JSONTree? {
        var texts: [String: JSONTree] = [:]
        for (key, value) in tags where !value.isEmpty {
            if key == "name" { texts[""] = .string(value) }
            guard key.hasPrefix("name:") else { continue }
            let language = key.dropFirst(5)
            // Other keys begin with `name:` too, such as name:etymology.
            if (2...3).contains(language.prefix { $0 != "-" }.count) { texts[String(language)] = .string(value) }
        }
        return texts.isEmpty ? nil : .object(texts)
    }
}
