import IndoorVocabulary

/// One feature of an archive, its geometry and references checked.
struct IMDFFeature: Sendable {
    let type: IMDFFeatureType
    /// Its id in lower case, so that it can be compared.
    let id: String
    /// Nil for a feature without a place.
    let geometry: IMDFGeometry?
    let properties: JSONObject
    /// The point that stands for the feature; nil if it names none.
    let displayPoint: Coordinate?

    /// The `category`, empty without one.
    var category: String { text("category") ?? "" }

    /// A property that is a text; nil if it is absent or something else.
    func text(_ key: String) -> String? {
        if case .string(let text)? = properties[key] { text } else { nil }
    }

    /// A property that is a whole number.
    func integer(_ key: String) -> Int? {
        if case .number(let number)? = properties[key] { Int(exactly: number) } else { nil }
    }

    /// Whether a property is true.
    func isTrue(_ key: String) -> Bool { properties[key] == .bool(true) }

    /// The ids that a property holds, in lower case: none if it is absent or null.
    func ids(_ key: String) -> [String] {
        switch properties[key] {
        case .string(let id)?: [id.lowercased()]
        case .array(let values)?:
            values.compactMap { value in if case .string(let id) = value { id.lowercased() } else { nil } }
        default: []
        }
    }
}

/// All that an archive holds.
struct IMDFContents: Sendable {
    /// The manifest's language; nil if it names none.
    var language: String?
    /// The features by type, each in the order of its file.
    var features: [IMDFFeatureType: [IMDFFeature]] = [:]
    /// Files of the archive that are none of the standard.
    var unknownFiles: [String] = []

    subscript(type: IMDFFeatureType) -> [IMDFFeature] { features[type] ?? [] }

    /// The features of a type by their id.
    func byID(_ type: IMDFFeatureType) -> [String: IMDFFeature] {
        Dictionary(self[type].map { ($0.id, $0) }) { first, _ in first }
    }
}
