import IndoorVocabulary
import VenueModel
import VenuePackets

/// An importer of OpenStreetMap files with Simple Indoor Tagging (`.osm`, version 0.6).
///
///     let imported = try OSMImporter(language: "de").read("station.osm")
///     try VenuePacketWriter().write(imported.venue, toFolder: "station")
///     print(imported.report)
///
/// Also reads the same elements as GeoJSON, as JOSM and overpass turbo write it. One file gives one venue. An element
/// that can't be used is left out and reported, unless the importer is strict. Source of the tags: the pages *Simple Indoor Tagging* and *Tag:indoormark=beacon* of the
/// OpenStreetMap Wiki.
public struct OSMImporter: Sendable {
    /// The number of the venue; nil derives it from the id of the building.
    package var venueID: VenueID?
    /// The version of the packet.
    package var version: Int
    /// The language of names as a BCP 47 tag, such as `en` for `name:en`; nil for the tag `name`.
    package var language: String?
    /// Whether one element that can't be used refuses the file, instead of being left out.
    package var isStrict: Bool

    /// Called with the steps of work that a conversion took.
    private let didConvert: @Sendable (Int) -> Void

    /// Creates an importer.
    ///
    /// - Parameter isStrict: whether one element that can't be used refuses the file. Otherwise the report names it.
    public init(venueID: VenueID? = nil, version: Int = 1, language: String? = nil, isStrict: Bool = false) {
        self.init(venueID: venueID, version: version, language: language, isStrict: isStrict) { _ in }
    }

    /// Creates an importer that reports the steps of work of each conversion, so that a test can compare them.
    package init(
        venueID: VenueID? = nil, version: Int = 1, language: String? = nil, isStrict: Bool = false,
        didConvert: @escaping @Sendable (_ steps: Int) -> Void
    ) {
        self.venueID = venueID
        self.version = version
        self.language = language
        self.isStrict = isStrict
        self.didConvert = didConvert
    }

    /// Reads a file of up to 32 MiB.
    ///
    /// The ids in the report are those of the elements, such as `way/12`; `way/12@1` is the element on level 1.
    /// - Throws: `OSMError` with all problems of the file.
    public func read(_ path: String) throws(OSMError) -> IMDFImport {
        let bytes: [UInt8]
        do throws(BoundedFileError) {
            bytes = try BoundedFile.read(path, limit: OSMDocument.Limit.file)
        } catch {
            throw OSMError(file: path, problems: [OSMProblem(line: nil, element: "", message: "it \(error)")])
        }
        return try read(bytes, named: path)
    }

    /// Reads the bytes of a file.
    ///
    /// - Parameter path: the name of the file in errors.
    func read(_ bytes: [UInt8], named path: String) throws(OSMError) -> IMDFImport {
        let document = OSMGeoJSON.begins(bytes) ? OSMDocument(geoJSON: bytes) : OSMDocument(bytes)
        try Self.check(document.problems, document.flaws, isStrict: isStrict, of: path)
        var translation = OSMTranslation(document, language: language)
        let venue = translation.translate()
        try Self.check(translation.problems, translation.flaws, isStrict: isStrict, of: path)
        guard let venue else { throw OSMError(file: path, problems: translation.problems + translation.flaws) }
        var conversion = IMDFConversion(
            contents: translation.contents, labels: IMDFLabels(language: language, archiveLanguage: nil))
        conversion.report.remarks = translation.remarks
        var result = conversion.venue(venue, id: venueID, version: version)
        didConvert(conversion.work.steps)
        try Self.check(conversion.problems, of: path)
        result.beacons = translation.beacons.compactMap { beacon in
            guard let plan = conversion.plans[beacon.levelID] else { return nil }
            return beacon.placed(on: plan)
        }
        if !isStrict { IMDFImporter.leaveOutFlaws(of: &result, &conversion.report) }
        try Self.check(IMDFImporter.problems(of: result, from: "file"), of: path)
        return IMDFImport(venue: result, report: conversion.report)
    }

    /// Throws the problems of the file, with the elements that can't be used; these alone only if the import is strict.
    private static func check(
        _ problems: [OSMProblem], _ flaws: [OSMProblem], isStrict: Bool, of path: String
    ) throws(OSMError) {
        let all = problems.isEmpty && !isStrict ? [] : problems + flaws
        guard !all.isEmpty else { return }
        throw OSMError(file: path, problems: Array(all.prefix(InputLimits.standard.problems)))
    }

    private static func check(_ problems: [IMDFProblem], of path: String) throws(OSMError) {
        guard !problems.isEmpty else { return }
        throw OSMError(
            file: path, problems: problems.map { OSMProblem(line: nil, element: "", message: $0.message) })
    }
}

/// A problem in a file of OpenStreetMap.
public struct OSMProblem: Hashable, Sendable, CustomStringConvertible {
    /// The line of the element, from 1; nil for the whole file.
    public var line: Int?
    /// The element, such as `way/12`; empty for the file.
    public var element: String
    /// The problem and its remedy.
    public var message: String

    /// Creates a problem.
    package init(line: Int?, element: String, message: String) {
        self.line = line
        self.element = element
        self.message = message
    }

    public var description: String {
        let place = [line.map { "line \($0)" } ?? "", element].filter { !$0.isEmpty }
        return PrintableText.line((place + [message]).joined(separator: ": "))
    }
}

/// A file that cannot be imported, with all its problems.
public struct OSMError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file that was read.
    public var file: String
    /// All problems; at least one.
    public var problems: [OSMProblem]

    /// Creates an error.
    package init(file: String, problems: [OSMProblem]) {
        self.file = file
        self.problems = problems
    }

    /// The file, then one problem per line.
    public var description: String {
        (["\(file) is not a usable OpenStreetMap file:"] + problems.map { "  \($0)" }).joined(separator: "\n")
    }
}
