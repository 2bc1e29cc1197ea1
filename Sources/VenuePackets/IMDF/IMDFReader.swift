import TextFormats

/// Reads and checks the files of an archive, and collects all problems.
struct IMDFReader {
    private let archive: IMDFArchive
    private(set) var problems: [IMDFProblem] = []
    private var bytesRead = 0
    /// The path of the first feature with each id: an id is unique within the archive.
    private var places: [String: String] = [:]
    /// The ids of each type, including those of features with problems.
    private var ids: [IMDFFeatureType: Set<String>] = [:]
    /// The number of features in each file, including those with problems.
    private var counts: [IMDFFeatureType: Int] = [:]
    /// Types with unreadable ids: references to them cannot be checked.
    private var unclear: Set<IMDFFeatureType> = []
    /// References to check after all features are known.
    private var references: [(reference: IMDFReference, id: String, file: String, path: String)] = []

    init(archive: IMDFArchive) { self.archive = archive }

    /// Returns the contents, which are complete only if there are no problems.
    mutating func contents() -> IMDFContents {
        var contents = IMDFContents()
        contents.language = manifestLanguage()
        for type in IMDFFeatureType.allCases {
            guard archive.contains(type.file) else {
                if IMDFFeatureType.required.contains(type) {
                    report(type.file, "$", "is missing; an import requires it")
                    unclear.insert(type)
                }
                continue
            }
            contents.features[type] = features(of: type)
        }
        checkReferences()
        let known = Set(IMDFFeatureType.allCases.map(\.file) + [IMDFArchive.manifestFile])
        contents.unknownFiles = archive.names.filter { !known.contains($0) }
        return contents
    }

    private mutating func report(_ file: String, _ path: String, _ message: String) {
        problems.append(IMDFProblem(file: file, path: path, message: message))
    }

    /// Returns the document of a file as an object; nil if it isn't one.
    private mutating func document(_ file: String) -> JSONObject? {
        do throws(PacketFileError) {
            let bytes = try archive.read(file, used: bytesRead)
            bytesRead += bytes.count
            do throws(JSONDocumentError) {
                let tree = try JSONTree(bytes)
                if case .object(let fields) = tree { return JSONObject(fields: fields, path: "$") }
                report(file, "$", "the document is \(tree.summary); give an object")
            } catch {
                report(file, "$", error.message)
            }
        } catch {
            report(file, "$", error.message)
        }
        return nil
    }

    /// Adds the problems of a parser to those of this archive.
    private mutating func addProblems(of parser: VenueParser, in file: String) {
        for problem in parser.problems { report(file, problem.path, problem.message) }
    }

    private mutating func manifestLanguage() -> String? {
        let file = IMDFArchive.manifestFile
        guard archive.contains(file) else {
            report(file, "$", "is missing; an IMDF archive has it at its root")
            return nil
        }
        guard let manifest = document(file) else { return nil }
        var parser = VenueParser()
        let version = parser.string("version", of: manifest, wanted: "the version of IMDF")
        let language = parser.optionalString("language", of: manifest, wanted: "a BCP 47 tag")
        // Versions before 1.0.0 were drafts; a later 1.x must be readable as 1.0.
        if let version, !version.hasPrefix("1.") {
            parser.report(.error, "$.version", "is \"\(version)\"; this reader supports IMDF 1; export it as 1.0.0")
        }
        addProblems(of: parser, in: file)
        return language
    }

    private mutating func features(of type: IMDFFeatureType) -> [IMDFFeature] {
        guard let collection = document(type.file) else {
            unclear.insert(type)
            return []
        }
        var parser = VenueParser()
        let kind = parser.string("type", of: collection, wanted: "\"FeatureCollection\"")
        if let kind, kind != "FeatureCollection" {
            parser.report(.error, "$.type", "is \"\(kind)\"; give \"FeatureCollection\"")
        }
        let objects = parser.objects("features", of: collection, isRequired: true)
        if parser.problems.contains(where: { $0.severity == .error }) { unclear.insert(type) }
        counts[type] = objects.count
        var features: [IMDFFeature] = []
        if objects.count > IMDFArchive.Limit.features {
            let limit = IMDFArchive.Limit.features
            parser.report(.error, "$.features", "has \(objects.count) features, more than the limit of \(limit)")
            unclear.insert(type)
        } else {
            features = objects.compactMap { feature($0, of: type, &parser) }
        }
        addProblems(of: parser, in: type.file)
        return features
    }

    private mutating func feature(
        _ object: JSONObject, of type: IMDFFeatureType, _ parser: inout VenueParser
    ) -> IMDFFeature? {
        let id = parser.string("id", of: object, wanted: "the feature's id")?.lowercased()
        if let id {
            checkUnique(id, at: object, of: type, &parser)
            ids[type, default: []].insert(id)
        } else {
            unclear.insert(type)
        }
        let written = parser.optionalString("feature_type", of: object, wanted: "\"\(type.rawValue)\"")
        if let written, written != type.rawValue {
            parser.report(
                .error, object.path(of: "feature_type"),
                "is \"\(written)\", but \(type.file) contains features of type \"\(type.rawValue)\" only; move it")
        }
        let geometry = geometry(of: object, type, &parser)
        guard parser.required("properties", of: object, wanted: "an object"),
            let properties = parser.optionalObject("properties", of: object)
        else { return nil }
        checkProperties(properties, of: type, &parser)
        let display = parser.optionalObject("display_point", of: properties).flatMap { parser.geometry(of: $0)?.point }
        guard let id else { return nil }
        return IMDFFeature(type: type, id: id, geometry: geometry, properties: properties, displayPoint: display)
    }

    private mutating func checkUnique(
        _ id: String, at object: JSONObject, of type: IMDFFeatureType, _ parser: inout VenueParser
    ) {
        let place = "\(type.file) \(object.path)"
        if let other = places[id] {
            parser.report(
                .error, object.path(of: "id"), "\(id) is already the id of \(other); give each feature its own UUID")
        } else {
            places[id] = place
        }
    }

    private func geometry(
        of object: JSONObject, _ type: IMDFFeatureType, _ parser: inout VenueParser
    ) -> GeoJSONGeometry? {
        guard object["geometry"] != nil else {
            if type.geometry != .none, type.geometry != .anything {
                parser.report(.error, object.path(of: "geometry"), "is missing; give \(type.geometry.wanted)")
            }
            return nil
        }
        // The geometry of a relationship or of a feature without a location isn't used.
        if type.geometry == .none || type.geometry == .anything { return nil }
        guard let member = parser.optionalObject("geometry", of: object),
            let geometry = parser.geometry(of: member)
        else { return nil }
        guard type.geometry.accepts(geometry) else {
            let found = if case .string(let text)? = member["type"] { text } else { "" }
            parser.report(
                .error, member.path(of: "type"), "is \"\(found)\"; a \(type.rawValue) has \(type.geometry.wanted)")
            return nil
        }
        return geometry
    }

    /// Checks the properties that an import needs, and collects references to other features.
    private mutating func checkProperties(
        _ properties: JSONObject, of type: IMDFFeatureType, _ parser: inout VenueParser
    ) {
        if type == .level { _ = parser.integer("ordinal", of: properties, .level) }
        if type == .unit { _ = parser.string("category", of: properties, wanted: "the unit's category") }
        for reference in type.references {
            if reference.isRequired, !parser.required(reference.key, of: properties, wanted: "an id") { continue }
            guard let value = properties[reference.key] else { continue }
            let path = properties.path(of: reference.key)
            var values = [(value: value, path: path)]
            if reference.isList { values = parser.array(value, at: path) ?? [] }
            for (value, path) in values {
                guard case .string(let id) = value else {
                    parser.report(.error, path, "is \(value.summary); give the id of a \(reference.target.rawValue)")
                    continue
                }
                references.append((reference, id.lowercased(), type.file, path))
            }
        }
    }

    /// Checks all references, even after other problems, so that one pass reports all of them.
    private mutating func checkReferences() {
        for (reference, id, file, path) in references {
            guard !unclear.contains(reference.target), ids[reference.target]?.contains(id) != true else { continue }
            let target = reference.target.rawValue
            report(file, path, "there is no \(target) \(id); give the id of one in \(reference.target.file)")
        }
        let venues = counts[.venue, default: 0]
        if !unclear.contains(.venue), venues != 1 {
            report(IMDFFeatureType.venue.file, "$.features", "has \(venues) venues; give one")
        }
        if !unclear.contains(.level), counts[.level, default: 0] == 0 {
            report(IMDFFeatureType.level.file, "$.features", "is empty; give at least one level")
        }
    }
}
