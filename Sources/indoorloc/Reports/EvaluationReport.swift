import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LocalizationFigures
import ScanRecording
import VenuePackets

/// The report of an evaluation: a page without scripts and external resources, with scores and figures.
struct EvaluationReport: Sendable {
    /// The name of the data set.
    let name: String
    /// The venue with the radio map that the evaluation used.
    let venue: Venue
    /// The results of the methods; the first one is the evaluated method.
    let results: [MethodComparison.Result]
    /// The score of positions estimated afterwards; nil if they were not evaluated.
    let offline: TrackScore?
    /// The changes to the data set, in words; empty without changes.
    let conditions: [String]
    /// The residuals of the tracks' readings.
    let residuals: ResidualList
    /// The ranges of the tracks' readings.
    let ranges: RangeList
    let field: SignalField
    /// The images of the venue's maps.
    let pictures: [MapID: PlanPicture]

    /// The page.
    var page: String {
        let (definitions, pictures) = PlanPicture.definitions(of: pictures)
        let summary = results.first.map { $0.score.figureLine(of: name) } ?? name
        return HTMLPage.page(
            title: "Evaluation of \(name)", meta: [ReportIndex.key: summary],
            body: [
                definitions, HTMLPage.heading("Evaluation of \(name)"),
                HTMLPage.paragraph(
                    ([venue.name, "indoorloc \(PackageVersion.current)"] + conditions).joined(separator: " · ")),
                HTMLPage.heading("Scores", level: 2), scores,
                HTMLPage.paragraph(
                    "Errors are in metres, of positions on the right floor. IPIN is the third quartile of the error plus "
                        + "15 m for each level of difference. The radius is calibrated if it contains 68 % of the true "
                        + "positions."),
                HTMLPage.heading("Errors", level: 2), errors, HTMLPage.heading("Tracks", level: 2), tracks(pictures),
                HTMLPage.heading("Radio", level: 2), radio(pictures), HTMLPage.heading("Beacons", level: 2),
                beacons(pictures),
            ].joined())
    }

    private var scores: String {
        var rows = results.map { ($0.method.name, $0.score) }
        if let offline { rows.insert(("\(rows.first?.0 ?? "") afterwards (offline)", offline), at: min(1, rows.count)) }
        func percent(_ share: Double?) -> String {
            share.map { JSONText.number($0 * 100, decimals: 1) + "\u{A0}%" } ?? "–"
        }
        func metres(_ value: Double?) -> String { value.map { JSONText.number($0, decimals: 2) } ?? "–" }
        return HTMLPage.table(
            ["method", "n", "answered", "floor", "mean", "median", "P75", "P90", "P95", "IPIN", "in radius"],
            rows.map { name, score in
                [
                    name, String(score.count), percent(score.answered), percent(score.floor), metres(score.mean),
                    metres(score.median), metres(score.p75), metres(score.p90), metres(score.p95), metres(score.ipin),
                    percent(score.insideRadius),
                ]
            })
    }

    private var errors: String {
        let series = results.map(\.errors)
        let first = Array(series.prefix(1))
        return HTMLPage.figure { Figure.errorDistribution(title: "Distribution of the error", of: series, layout: $0) }
            + HTMLPage.figure {
                Figure.errorOverTime(
                    title: "Error over time", of: first, limit: series.first?.tracks.count ?? 0, layout: $0)
            }
    }

    private func tracks(_ pictures: [MapID: PlanPicture]) -> String {
        (results.first?.outcomes ?? []).map { outcome in
            var scorer = TrackScorer(venue: venue)
            scorer.add(outcome.causal)
            return HTMLPage.figure {
                Figure.track(
                    title: PlotSource.name(ofRecording: outcome.path), venue: venue,
                    truth: outcome.truths.compactMap(\.waypoint), positions: outcome.positions, pictures: pictures,
                    caption: [scorer.score.caption], layout: $0)
            }
        }.joined()
    }

    private func radio(_ pictures: [MapID: PlanPicture]) -> String {
        var parts = HTMLPage.figure {
            Figure.radioMap(
                title: "Expected RSSI of the strongest beacon", venue: venue, field: field, maps: venue.maps,
                contents: [.strongest], pictures: pictures, caption: [venue.radioMapCaption], layout: $0)
        }
        if residuals.count > 0 {
            parts += HTMLPage.figure {
                Figure.residuals(
                    title: "Measured minus expected RSSI on the tracks", of: residuals.beacons,
                    caption: [residuals.caption], layout: $0)
            }
        }
        if !ranges.beacons.isEmpty {
            parts += HTMLPage.figure {
                Figure.range(
                    title: "RSSI over distance on the tracks", of: ranges.beacons, caption: [ranges.caption], layout: $0
                )
            }
        }
        return parts.isEmpty ? HTMLPage.paragraph("No reading at a known place.") : parts
    }

    /// The expected error at each point with the venue's beacons.
    private func beacons(_ pictures: [MapID: PlanPicture]) -> String {
        guard !field.beacons.isEmpty else { return HTMLPage.paragraph("The venue has no beacon.") }
        var settings = CoverageSettings()
        settings.signal = field.model
        let analysis = CoverageAnalysis(venue: venue, settings: settings)
        let coverage = CoverageResult(
            venue: venue, grids: venue.maps.compactMap { analysis.expectedErrors(on: $0.id) }, proposals: [],
            target: nil, pictures: pictures)
        return HTMLPage.figure { coverage.figure($0) }
    }
}

/// The reports in a folder, and their index.
struct ReportFolder: Sendable {
    let folder: String
    private let mayOverwrite: Bool
    /// The files and folders that the command reads.
    private let inputs: [String]

    init(_ folder: String, mayOverwrite: Bool, inputs: [String]) {
        self.folder = folder
        self.mayOverwrite = mayOverwrite
        self.inputs = inputs
    }

    /// Creates the folder; returns the file of a data set's report without writing it.
    func file(of name: String) throws -> OutputFile {
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), !isFolder.boolValue {
            throw CommandError(description: "--report: \(folder) is a file; give a folder")
        }
        try CommandError.explaining(folder) {
            try DiskFolder.create(folder)
        }
        let file = OutputFile(
            path: "\(folder)/\(ReportIndex.prefix)\(name).html", existing: mayOverwrite ? .replaced : .kept,
            inputs: inputs, isPrivate: true)
        try file.check()
        try index.check()
        return file
    }

    /// The index in the folder. The one of earlier reports is replaced, but no other file of that name.
    private var index: OutputFile {
        let path = folder + "/index.html"
        let isReplaced = mayOverwrite || ReportIndex.isIndex(path)
        return OutputFile(path: path, existing: isReplaced ? .replaced : .kept, inputs: inputs, isPrivate: true)
    }

    /// Writes the index of all reports in the folder, in place of the one before.
    func writeIndex() throws {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let reports = names.filter { $0.hasPrefix(ReportIndex.prefix) && $0.hasSuffix(".html") }.sorted()
        let rows = reports.map { name in (name, ReportIndex.summary(of: "\(folder)/\(name)")) }
        try index.write(Array(ReportIndex.page(of: rows).utf8))
    }
}

/// The index of the reports in a folder.
enum ReportIndex {
    /// The beginning of a report's file name.
    static let prefix = "report-"
    /// The name of the score in the head of a report.
    static let key = "indoorloc-score"
    /// The title of the page.
    private static let title = "Evaluations"

    /// Returns the score in the head of a report; an empty text if the file is not a report.
    static func summary(of path: String) -> String {
        let head = head(of: path)
        guard let start = head.range(of: "<meta name=\"\(key)\" content=\"") else { return "" }
        return HTMLPage.unescaped(String(head[start.upperBound...].prefix { $0 != "\"" && $0 != "<" }))
    }

    /// Returns whether a file is the index of reports.
    static func isIndex(_ path: String) -> Bool { head(of: path).contains("<title>\(title)</title>") }

    private static func head(of path: String) -> String {
        guard let file = FileHandle(forReadingAtPath: path), let data = try? file.read(upToCount: 4096) else {
            return ""
        }
        return String(decoding: data, as: UTF8.self)
    }

    /// The page with a link to each report and its score.
    static func page(of reports: [(name: String, summary: String)]) -> String {
        let rows = reports.map { name, summary in
            let path = name.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? name
            let title = String(name.dropFirst(prefix.count).dropLast(".html".count))
            // A path with a colon would begin with a scheme.
            return "<li>\(HTMLPage.link(to: "./" + path, title))<br>\(HTMLPage.escaped(summary))</li>\n"
        }
        return HTMLPage.page(
            title: title,
            body: HTMLPage.heading(title) + "<ul>\n\(rows.joined())</ul>\n")
    }
}

extension HTMLPage {
    /// A list of sentences.
    static func list(_ items: [String]) -> String {
        "<ul>\n" + items.map { "<li>\(escaped($0))</li>\n" }.joined() + "</ul>\n"
    }

    /// A table with a row of headings, and some columns with text, which are aligned on the left.
    static func table(_ head: [String], _ rows: [[String]], textColumns: Set<Int>) -> String {
        func line(_ cells: [String], _ tag: String) -> String {
            let cells = cells.enumerated().map { column, text in
                "<\(tag)\(textColumns.contains(column) ? " style=\"text-align:left\"" : "")>\(escaped(text))</\(tag)>"
            }
            return "<tr>\(cells.joined())</tr>\n"
        }
        let body = rows.map { line($0, "td") }.joined()
        return "<div class=\"table\"><table>\n\(line(head, "th"))\(body)</table></div>\n"
    }
}
