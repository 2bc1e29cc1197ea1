import IndoorVocabulary
import TextFormats
import VenueModel
import VenuePackets

/// An importer of archives in the Indoor Mapping Data Format 1.0 (OGC 20-094), a zip or its folder.
///
///     let imported = try IMDFImporter(language: "en").read("museum.zip")
///     try VenuePacketWriter().write(imported.venue, toFolder: "museum")
///     print(imported.report)
///
/// A feature that breaks a rule of the format is left out and reported, unless the importer is strict.
///
/// The format has neither beacons nor plan images: a survey and an installer add those.
public struct IMDFImporter: Sendable {
    /// The number of the venue; nil derives it from the venue's id in the archive.
    package var venueID: VenueID?
    /// The version of the packet.
    package var version: Int
    /// The language of names as a BCP 47 tag, such as `en` or `zh-Hant`; nil for the archive's own.
    package var language: String?
    /// Whether one feature that breaks a rule of the format refuses the archive, instead of being left out.
    package var isStrict: Bool

    /// Called with the steps of work that a conversion took.
    private let didConvert: @Sendable (Int) -> Void
    /// The largest number of steps of a conversion.
    private let mostSteps: Int

    /// Creates an importer.
    ///
    /// - Parameter isStrict: whether one feature that breaks a rule of the format refuses the archive. Otherwise the
    ///   report names it.
    public init(venueID: VenueID? = nil, version: Int = 1, language: String? = nil, isStrict: Bool = false) {
        self.init(
            venueID: venueID, version: version, language: language, isStrict: isStrict, mostSteps: ImportWork.limit
        ) { _ in }
    }

    /// Creates an importer that reports the steps of work of each conversion, so that a test can compare them.
    package init(
        venueID: VenueID? = nil, version: Int = 1, language: String? = nil, isStrict: Bool = false, mostSteps: Int,
        didConvert: @escaping @Sendable (_ steps: Int) -> Void
    ) {
        self.venueID = venueID
        self.version = version
        self.language = language
        self.isStrict = isStrict
        self.mostSteps = mostSteps
        self.didConvert = didConvert
    }

    /// Reads an archive.
    ///
    /// - Throws: `IMDFError` with all problems of the archive.
    public func read(_ path: String) throws(IMDFError) -> IMDFImport {
        let archive: IMDFArchive
        do throws(PacketFileError) {
            archive = try IMDFArchive(path: path)
        } catch {
            throw IMDFError(archive: path, problems: [IMDFProblem(file: "", path: "$", message: error.message)])
        }
        return try read(archive, named: path)
    }

    /// Reads the files of an archive.
    ///
    /// - Parameter path: the name of the archive in errors.
    func read(_ archive: IMDFArchive, named path: String) throws(IMDFError) -> IMDFImport {
        var reader = IMDFReader(archive: archive, isStrict: isStrict)
        let contents = reader.contents()
        guard reader.problems.isEmpty, let venue = contents[.venue].first else {
            throw IMDFError(archive: path, problems: reader.problems)
        }
        var conversion = IMDFConversion(
            contents: contents, labels: IMDFLabels(language: language, archiveLanguage: contents.language),
            work: ImportWork(limit: mostSteps))
        conversion.report.remarks = reader.remarks
        var result = conversion.venue(venue, id: venueID, version: version)
        didConvert(conversion.work.steps)
        guard conversion.problems.isEmpty else { throw IMDFError(archive: path, problems: conversion.problems) }
        if !isStrict { Self.leaveOutFlaws(of: &result, &conversion.report) }
        let problems = Self.problems(of: result)
        guard problems.isEmpty else { throw IMDFError(archive: path, problems: problems) }
        return IMDFImport(venue: result, report: conversion.report)
    }
}

extension IMDFImporter {
    /// Leaves out the rooms, points of interest, fences and beacons that break a rule of packets, and reports them.
    static func leaveOutFlaws(of venue: inout Venue, _ report: inout IMDFReport) {
        var rules = VenueParser()
        _ = rules.venue(VenueDocument.tree(venue, radioMapPath: nil))
        // The first reason of each object, by its list and its place in the list.
        var flaws: [String: [Int: String]] = [:]
        for problem in rules.problems where problem.severity == .error {
            guard let (list, index, field) = place(problem.path), flaws[list]?[index] == nil else { continue }
            flaws[list, default: [:]][index] = field + problem.message
        }
        leaveOut(flaws["rooms"], of: &venue.rooms, "room", \.id, &report)
        leaveOut(flaws["pois"], of: &venue.pointsOfInterest, "poi", \.id, &report)
        leaveOut(flaws["events"], of: &venue.fences, "fence", \.id, &report)
        leaveOut(flaws["beacons"], of: &venue.beacons, "beacon", { _ in nil }, &report)
    }

    /// Returns the list, the index and the rest of a path such as `$.rooms[3].polygon`.
    private static func place(_ path: String) -> (list: String, index: Int, field: String)? {
        let parts = path.dropFirst(2).split(separator: "[", maxSplits: 1)
        guard path.hasPrefix("$."), parts.count == 2, !parts[0].contains("."),
            let end = parts[1].firstIndex(of: "]"), let index = Int(parts[1][..<end])
        else { return nil }
        let field = parts[1][parts[1].index(after: end)...].drop { $0 == "." }
        return (String(parts[0]), index, field.isEmpty ? "" : field + " ")
    }

    private static func leaveOut<Thing>(
        _ flaws: [Int: String]?, of things: inout [Thing], _ kind: String, _ number: (Thing) -> Int?,
        _ report: inout IMDFReport
    ) {
        for (index, reason) in (flaws ?? [:]).sorted(by: { $0.key > $1.key }) where things.indices.contains(index) {
            let number = number(things.remove(at: index))
            let identity = report.identities.firstIndex { $0.kind == kind && $0.number == number }
            let feature = identity.map { report.identities.remove(at: $0) }
            report.remarks.append(
                IMDFReport.Remark(
                    featureType: feature?.featureType ?? kind, id: feature?.id ?? number.map { "\($0)" } ?? "\(index)",
                    outcome: .leftOut, reason: "it breaks a rule of packets: \(reason)"))
        }
    }

    /// Returns the rules of a packet that a venue breaks, such as a point that is too far from its level.
    static func problems(of venue: Venue, from source: String = "archive") -> [IMDFProblem] {
        var rules = VenueParser()
        _ = rules.venue(VenueDocument.tree(venue, radioMapPath: nil))
        return rules.problems.filter { $0.severity == .error }.map { problem in
            IMDFProblem(
                file: "", path: problem.path,
                message: "the venue of the \(source) breaks a rule of packets: \(problem.path) \(problem.message); "
                    + "correct the feature in the \(source)")
        }
    }
}

/// An imported archive, or an imported file of another format.
public struct IMDFImport: Hashable, Sendable {
    /// The venue that was created from the archive.
    public var venue: Venue
    /// The features that were omitted or changed.
    public var report: IMDFReport

    /// Creates an imported venue.
    package init(venue: Venue, report: IMDFReport) {
        self.venue = venue
        self.report = report
    }
}

/// A problem in an archive of the Indoor Mapping Data Format.
public struct IMDFProblem: Hashable, Sendable, CustomStringConvertible {
    /// The file within the archive, such as `unit.geojson`; empty for the whole archive.
    public var file: String
    /// The path within the file, such as `$.features[3].properties.level_id`; `$` is the whole file.
    public var path: String
    /// The problem and its remedy.
    public var message: String

    /// Creates a problem.
    package init(file: String, path: String, message: String) {
        self.file = file
        self.path = path
        self.message = message
    }

    public var description: String { PrintableText.line(file.isEmpty ? message : "\(file): \(path): \(message)") }
}

/// An archive that cannot be imported, with all its problems.
public struct IMDFError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The folder or zip that was read.
    public var archive: String
    /// All problems; at least one.
    public var problems: [IMDFProblem]

    /// Creates an error.
    package init(archive: String, problems: [IMDFProblem]) {
        self.archive = archive
        self.problems = problems
    }

    /// The archive, then one problem per line.
    public var description: String {
        (["\(archive) is not a usable IMDF archive:"] + problems.map { "  \($0)" }).joined(separator: "\n")
    }
}

/// The features that an import has omitted or changed, and the numbers of the archive's features.
public struct IMDFReport: Hashable, Sendable, CustomStringConvertible {
    /// The result for a feature or a part of it.
    public enum Outcome: String, Hashable, Sendable, CaseIterable {
        /// The feature is not in the packet.
        case leftOut
        /// The feature is in the packet in a changed form.
        case changed
    }

    /// A remark about a feature.
    public struct Remark: Hashable, Sendable {
        /// The feature's type, such as `unit`; `archive` for a file that isn't a feature.
        public var featureType: String
        /// The feature's id in the archive, in lower case, or the file's name.
        public var id: String
        /// The result.
        public var outcome: Outcome
        /// The reason and its effect.
        public var reason: String

        /// Creates a remark.
        package init(featureType: String, id: String, outcome: Outcome, reason: String) {
            self.featureType = featureType
            self.id = id
            self.outcome = outcome
            self.reason = reason
        }
    }

    /// An object of the packet and the feature that it comes from.
    package struct Identity: Hashable, Sendable {
        /// The kind of object: `venue`, `map`, `room`, `poi`, `fence` or `node`.
        package var kind: String
        /// The number in the packet.
        package var number: Int
        /// The feature's type.
        package var featureType: String
        /// The feature's id in the archive, in lower case.
        package var id: String

        /// Creates an entry.
        package init(kind: String, number: Int, featureType: String, id: String) {
            self.kind = kind
            self.number = number
            self.featureType = featureType
            self.id = id
        }
    }

    /// The remarks in the order of the import.
    public var remarks: [Remark] = []
    /// The numbers of the packet with their features.
    package var identities: [Identity] = []

    /// Creates an empty report.
    package init() {}

    /// One line per feature type, outcome and reason, with the number of features and their first ids, such as
    /// `changed: 2 units, each: it has no name: it is named after its occupants (…)`.
    public var description: String {
        struct Group: Hashable {
            var featureType: String
            var outcome: Outcome
            var reason: String
        }
        var order: [Group] = []
        var ids: [Group: [String]] = [:]
        for remark in remarks {
            let group = Group(featureType: remark.featureType, outcome: remark.outcome, reason: remark.reason)
            if ids[group] == nil { order.append(group) }
            ids[group, default: []].append(remark.id)
        }
        let shown = 3
        let lines = order.map { group in
            let all = ids[group] ?? []
            let more = all.count > shown ? ", …" : ""
            let outcome = group.outcome == .leftOut ? "left out" : "changed"
            let kind = group.featureType == "archive" ? "file" : group.featureType
            // The text of a reason refers to a single feature.
            let features = all.count == 1 ? "1 \(kind)" : "\(all.count) \(Self.plural(of: kind)), each"
            return "\(outcome): \(features): \(group.reason) (\(all.prefix(shown).joined(separator: ", "))\(more))"
        }
        return lines.map(PrintableText.line).joined(separator: "\n")
    }

    /// Returns the plural of a noun: `levels`, `addresses`, `amenities`, `points of interest`.
    static func plural(of thing: String) -> String {
        let parts = thing.split(separator: " of ", maxSplits: 1)
        guard let head = parts.first else { return thing }
        let rest = parts.dropFirst().map { " of \($0)" }.joined()
        if head.hasSuffix("ss") { return head + "es" + rest }
        return (head.hasSuffix("ty") ? head.dropLast() + "ies" : head + "s") + rest
    }

    /// Returns the report as JSON: `remarks[]` of `featureType`, `id`, `outcome` and `reason`, and `identities[]` of
    /// `kind`, `number`, `featureType` and `id`.
    public func document() -> [UInt8] {
        let remarks = remarks.map { remark in
            JSONTree.object([
                "featureType": .string(remark.featureType), "id": .string(remark.id),
                "outcome": .string(remark.outcome.rawValue), "reason": .string(remark.reason),
            ])
        }
        let identities = identities.map { identity in
            JSONTree.object([
                "kind": .string(identity.kind), "number": .number(Double(identity.number)),
                "featureType": .string(identity.featureType), "id": .string(identity.id),
            ])
        }
        return JSONTree.object(["remarks": .array(remarks), "identities": .array(identities)]).lines()
    }
}
