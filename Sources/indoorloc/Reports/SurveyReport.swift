import Foundation
import IndoorLocalization
import LocalizationFigures

/// The report of a survey: advice, the error of recordings left out, gaps, and the residuals of beacons and places.
struct SurveyReport {
    let venue: Venue
    let radioMap: RadioMap
    let review: SurveyReview
    /// The errors of the recordings left out; nil for a survey with fewer than two recordings.
    let heldOut: HeldOutErrors?

    /// The maximum number of rows of a table.
    private static let rowLimit = 200
    /// The maximum number of survey places and of recordings in a table.
    private static let placeLimit = 30

    init(venue: Venue, radioMap: RadioMap, heldOut: HeldOutErrors?) {
        self.venue = venue
        self.radioMap = radioMap
        self.heldOut = heldOut
        review = SurveyReview(of: radioMap, in: venue)
    }

    /// The summary as lines: the advice, then the error of recordings left out.
    var summary: [String] {
        let advice = review.advice(in: venue)
        let lines = advice.isEmpty ? ["The review of the survey found no problem."] : advice
        return lines + [heldOut?.sentence].compactMap { $0 }
    }

    /// The report as one self-contained HTML page.
    var page: String {
        let title = "Survey of \(venue.name)"
        let advice = review.advice(in: venue)
        let introduction =
            "\(review.places.counting("survey point")) and \(review.beacons.counting("beacon")) on "
            + "\(venue.maps.count.counting("map"))."
        let parts = [
            HTMLPage.heading(title), HTMLPage.paragraph(introduction), HTMLPage.heading("Advice", level: 2),
            advice.isEmpty ? HTMLPage.paragraph("The review found no problem.") : HTMLPage.list(advice),
            HTMLPage.heading("Expected error", level: 2), errors, HTMLPage.heading("Gaps", level: 2), gaps,
            HTMLPage.heading("Beacons", level: 2), beacons, HTMLPage.heading("Survey points", level: 2), places,
        ]
        return HTMLPage.page(title: title, body: parts.joined())
    }

    private func number(_ value: Double?, _ decimals: Int = 1) -> String {
        value.map { JSONText.number($0, decimals: decimals) } ?? "–"
    }

    // MARK: Errors

    private var errors: String {
        guard let heldOut, let sentence = heldOut.sentence else {
            return HTMLPage.paragraph("The survey has too few recordings to leave one out.")
        }
        let count = Double(heldOut.distances.count)
        let steps = heldOut.distances.enumerated().map { ChartPoint(x: $1, y: Double($0 + 1) / count * 100) }
        let chart = Chart(
            x: ChartAxis("Error", unit: "m", includesZero: true), y: ChartAxis("Share", unit: "%", range: 0...100),
            series: [ChartSeries("", .steps([ChartPoint(x: 0, y: 0)] + steps), color: .blue)], aspect: 0.4)
        let figure = Figure(
            title: "Error of recordings left out", description: "The cumulative distribution of the error. \(sentence)",
            panels: [.chart(chart)])
        let worst = heldOut.recordings.sorted { ($1.mean ?? 0, $0.path) < ($0.mean ?? 0, $1.path) }
        let rows = worst.prefix(Self.placeLimit).map { recording in
            [URL(filePath: recording.path).lastPathComponent, "\(recording.errors.count)", number(recording.mean)]
        }
        return HTMLPage.paragraph(sentence) + HTMLPage.figure(figure)
            + HTMLPage.paragraph("The recordings with the largest errors:")
            + HTMLPage.table(["recording", "instants", "mean error (m)"], rows)
    }

    // MARK: Gaps

    private var gaps: String {
        let gaps = review.gaps
        let area = number(gaps.reduce(0) { $0 + $1.area }, 0)
        let distance = number(review.coverDistance, 0)
        let text =
            gaps.isEmpty
            ? "Every walkable place has a survey point within \(distance) m."
            : "\(area) m² of the walkable area have no survey point within \(distance) m. A plan without walkable areas counts as "
                + "a whole."
        let figures = venue.maps.map { map in
            HTMLPage.figure(SurveyMapFigure(venue: venue, map: map, radioMap: radioMap, review: review).figure)
        }
        return HTMLPage.paragraph(text) + figures.joined()
    }

    // MARK: Beacons and places

    private var beacons: String {
        let findings = Dictionary(grouping: review.findings, by: \.beacon)
        let residuals = Dictionary(grouping: review.residuals, by: \.beacon)
        var places = Array(repeating: 0, count: radioMap.beacons.count)
        var readings = places
        for reading in radioMap.fingerprints.flatMap(\.readings) where places.indices.contains(reading.beacon) {
            places[reading.beacon] += 1
            readings[reading.beacon] += reading.count
        }
        var rows = radioMap.beacons.enumerated().map { index, beacon in
            let texts = (findings[beacon.identity] ?? []).map { SurveyReview.sentence(of: $0, in: venue) }
            return [
                venue.name(of: beacon.identity), venue.map(beacon.mapID)?.name ?? "\(beacon.mapID)", "\(places[index])",
                "\(readings[index])", number(beacon.power), number(Self.root(residuals[index] ?? [])),
                texts.joined(separator: " "),
            ]
        }
        // The silent beacons are not in the radio map.
        for finding in review.findings where finding.kind == .silent {
            let map = venue.beacons.first { $0.identity == finding.beacon }.flatMap { venue.map($0.mapID)?.name }
            rows.append(
                [
                    venue.name(of: finding.beacon), map ?? "–", "0", "0", "–", "–",
                    SurveyReview.sentence(of: finding, in: venue),
                ])
        }
        rows.sort { !$0[6].isEmpty && $1[6].isEmpty }
        let text =
            "A residual is the difference between a reading and the prediction from the other survey points; the table has "
            + "their root mean square."
        let rest = rows.count - Self.rowLimit
        return HTMLPage.paragraph(text)
            + HTMLPage.table(
                ["beacon", "map", "survey points", "readings", "power (dBm)", "RMS residual (dB)", "finding"],
                Array(rows.prefix(Self.rowLimit)), textColumns: [0, 1, 6])
            + (rest > 0 ? HTMLPage.paragraph("\(rest) more beacons are not listed.") : "")
    }

    private var places: String {
        let residuals = Dictionary(grouping: review.residuals, by: \.place)
        let worst = residuals.map { (place: $0.key, root: Self.root($0.value) ?? 0, residuals: $0.value) }.sorted {
            ($1.root, $0.place) < ($0.root, $1.place)
        }
        let rows = worst.prefix(Self.placeLimit).map { entry in
            let place = radioMap.fingerprints[entry.place]
            let mean = entry.residuals.reduce(0) { $0 + $1.value } / Double(entry.residuals.count)
            return [
                venue.map(place.mapID)?.name ?? "\(place.mapID)", number(place.point.x), number(place.point.y),
                "\(entry.residuals.count)", number(entry.root), number(mean),
            ]
        }
        return HTMLPage.paragraph("The survey points with the largest residuals:")
            + HTMLPage.table(["map", "x (m)", "y (m)", "beacons", "RMS residual (dB)", "mean residual (dB)"], rows)
    }

    /// Returns the root mean square of residuals in dB; nil without residuals.
    private static func root(_ residuals: [SurveyResidual]) -> Double? {
        guard !residuals.isEmpty else { return nil }
        return (residuals.reduce(0) { $0 + $1.value * $1.value } / Double(residuals.count)).squareRoot()
    }
}
