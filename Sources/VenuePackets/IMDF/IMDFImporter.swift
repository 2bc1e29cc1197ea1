import IndoorVocabulary
import VenueModel

/// An importer of archives in the Indoor Mapping Data Format 1.0 (OGC 20-094), a zip or its folder.
///
///     let imported = try IMDFImporter(language: "en").read("museum.zip")
///     try VenuePacketWriter().write(imported.venue, toFolder: "museum")
///     print(imported.report)
///
/// The format has neither beacons nor plan images: a survey and an installer add those.
public struct IMDFImporter: Sendable {
    /// The number of the venue; nil derives it from the venue's id in the archive.
    package var venueID: VenueID?
    /// The version of the packet.
    package var version: Int
    /// The language of names as a BCP 47 tag, such as `en` or `zh-Hant`; nil for the archive's own.
    package var language: String?

    /// Called with the steps of work that a conversion took.
    private let didConvert: @Sendable (Int) -> Void
    /// The largest number of steps of a conversion.
    private let mostSteps: Int

    /// Creates an importer.
    public init(venueID: VenueID? = nil, version: Int = 1, language: String? = nil) {
        self.init(venueID: venueID, version: version, language: language, mostSteps: ImportWork.limit) { _ in }
    }

    /// Creates an importer that reports the steps of work of each conversion, so that a test can compare them.
    package init(
        venueID: VenueID? = nil, version: Int = 1, language: String? = nil, mostSteps: Int,
        didConvert: @escaping @Sendable (_ steps: Int) -> Void
    ) {
        self.venueID = venueID
        self.version = version
        self.language = language
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
        var reader = IMDFReader(archive: archive)
        let contents = reader.contents()
        guard reader.problems.isEmpty, let venue = contents[.venue].first else {
            throw IMDFError(archive: path, problems: reader.problems)
        }
        var conversion = IMDFConversion(
            contents: contents, labels: IMDFLabels(language: language, archiveLanguage: contents.language),
            work: ImportWork(limit: mostSteps))
        let result = conversion.venue(venue, id: venueID, version: version)
        didConvert(conversion.work.steps)
        guard conversion.problems.isEmpty else { throw IMDFError(archive: path, problems: conversion.problems) }
        let problems = Self.problems(of: result)
        guard problems.isEmpty else { throw IMDFError(archive: path, problems: problems) }
        return IMDFImport(venue: result, report: conversion.report)
    }
}

extension IMDFImporter {
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

/// An imported archive, or an imported file of OpenStreetMap.
public struct IMDFImport: Hashable, Sendable {
    /// The venue that was created from the archive.
    public var venue: Venue
    /// The features that were omitted or changed.
    public var report: IMDFReport
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
