import IndoorVocabulary

/// A feature of an archive with checked geometry and references.
struct IMDFFeature: Sendable {
    let type: IMDFFeatureType
    /// The id in lower case, for comparison.
    let id: String
    /// The geometry; nil for a feature without a location.
    let geometry: GeoJSONGeometry?
    let properties: JSONObject
    /// The point that represents the feature; nil if there is none.
    let displayPoint: Coordinate?

    /// The `category`; empty if there is none.
    var category: String { text("category") ?? "" }

    /// A copy of the feature without its geometry.
    var withoutGeometry: IMDFFeature {
        IMDFFeature(type: type, id: id, geometry: nil, properties: properties, displayPoint: displayPoint)
    }

    /// Returns a string property; nil if it is absent or of another type.
    func text(_ key: String) -> String? {
        if case .string(let text)? = properties[key] { text } else { nil }
    }

    /// Returns an integer property.
    func integer(_ key: String) -> Int? {
        if case .number(let number)? = properties[key] { Int(exactly: number) } else { nil }
    }

    /// Returns whether a property is true.
    func isTrue(_ key: String) -> Bool { properties[key] == .bool(true) }

    /// Returns the ids in a property in lower case; empty if it is absent or null.
    func ids(_ key: String) -> [String] {
        switch properties[key] {
        case .string(let id)?: [id.lowercased()]
        case .array(let values)?:
            values.compactMap { value in if case .string(let id) = value { id.lowercased() } else { nil } }
        default: []
        }
    }
}

/// Advice for the author of a map about problems, in the terms of the map's format.
struct IMDFAdvice: Sendable {
    /// For a space that no path reaches.
    let pathless: String
    /// For an escalator without a known direction.
    let undirected: String
    /// For coordinates that are too far apart.
    let distant: String

    static let imdf = IMDFAdvice(
        pathless: "draw an opening on its outline, or give a relationship to a unit of another level",
        undirected: "the archive does not contain its direction: give a directed relationship",
        distant: "correct the coordinates: longitude comes first")
    static let openStreetMap = IMDFAdvice(
        pathless: "add a node with a door to its outline, or draw stairs to another level",
        undirected: "an area has no direction: draw it as a line with highway=steps and conveying=forward",
        distant: "extract one venue, or correct the coordinates")
}

/// The content of an archive.
struct IMDFContents: Sendable {
    /// The manifest's language; nil if it has none.
    var language: String?
    /// The features by type, in the order of their file.
    var features: [IMDFFeatureType: [IMDFFeature]] = [:]
    /// Advice for the author about problems.
    var advice = IMDFAdvice.imdf
    /// The files of the archive that the standard doesn't define.
    var unknownFiles: [String] = []

    subscript(type: IMDFFeatureType) -> [IMDFFeature] { features[type] ?? [] }

    /// Returns the features of a type by their id.
    func byID(_ type: IMDFFeatureType) -> [String: IMDFFeature] {
        Dictionary(self[type].map { ($0.id, $0) }) { first, _ in first }
    }
}
