import IndoorVocabulary
import VenueModel

/// Imports archives in the Indoor Mapping Data Format 1.0 (OGC 20-094), a zip or its folder, as venues.
///
///     let imported = try IMDFImporter(language: "en").read("museum.zip")
///     try VenuePacketWriter().write(imported.venue, toFolder: "museum")
///     print(imported.report)
///
/// The format knows neither beacons nor plan images: a survey and an installer add those.
public struct IMDFImporter: Sendable {
    /// The number of the venue; nil derives it from the venue's id in the archive.
    public var venueID: VenueID?
    /// The edition of the packet.
    public var version: Int
    /// The language of names as a BCP 47 tag, such as `en` or `zh-Hant`; nil for the archive's own.
    public var language: String?

    /// Creates an importer.
    public init(venueID: VenueID? = nil, version: Int = 1, language: String? = nil) {
        self.venueID = venueID
        self.version = version
        self.language = language
    }

    /// Reads an archive.
    ///
    /// - Throws: `IMDFError` with everything that is wrong with the archive.
    public func read(_ path: String) throws(IMDFError) -> IMDFImport {
        let archive: IMDFArchive
        do throws(PacketFileError) {
            archive = try IMDFArchive(path: path)
        } catch {
            throw IMDFError(archive: path, problems: [IMDFProblem(file: "", path: "$", message: error.message)])
        }
        var reader = IMDFReader(archive: archive)
        let contents = reader.contents()
        guard reader.problems.isEmpty, let venue = contents[.venue].first else {
            throw IMDFError(archive: path, problems: reader.problems)
        }
        var conversion = IMDFConversion(
            contents: contents, labels: IMDFLabels(language: language, archiveLanguage: contents.language))
        let result = conversion.venue(venue, id: venueID, version: version)
        guard conversion.problems.isEmpty else { throw IMDFError(archive: path, problems: conversion.problems) }
        return IMDFImport(venue: result, report: conversion.report)
    }
}

/// An imported archive.
public struct IMDFImport: Hashable, Sendable {
    /// What the archive has become.
    public var venue: Venue
    /// What was left out or changed.
    public var report: IMDFReport
}
