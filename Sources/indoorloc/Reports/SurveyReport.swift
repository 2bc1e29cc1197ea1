import Foundation
import IndoorLocalization
import LocalizationFigures

/// The report of a survey: advice, the error of recordings left out, coverage, and the residuals of beacons and places.
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
        var page = HTMLPage(title: "Survey of \(venue.name)")
        page.paragraph(
            "\(review.places.counting("survey point")) and \(review.beacons.counting("beacon")) on "
                + "\(venue.maps.count.counting("map")).")
        page.heading("Advice")
        let advice = review.advice(in: venue)
        if advice.isEmpty { page.paragraph("The review found no problem.") } else { page.list(advice) }
        addErrors(to: &page)
        addCoverage(to: &page)
        addBeacons(to: &page)
        addPlaces(to: &page)
        return page.document
    }

    private func number(_ value: Double?, _ decimals: Int = 1) -> String {
        value.map { JSONText.number($0, decimals: decimals) } ?? "–"
    }

    // MARK: Errors

    private func addErrors(to page: inout HTMLPage) {
        page.heading("Expected error")
        guard let heldOut, let sentence = heldOut.sentence else {
            page.paragraph("The survey has too few recordings to leave one out.")
            return
        }
        page.paragraph(sentence)
        let count = Double(heldOut.distances.count)
        let steps = heldOut.distances.enumerated().map { ChartPoint(x: $1, y: Double($0 + 1) / count * 100) }
        let chart = Chart(
            x: ChartAxis("Error", unit: "m", includesZero: true), y: ChartAxis("Share", unit: "%", range: 0...100),
            series: [ChartSeries("", .steps([ChartPoint(x: 0, y: 0)] + steps), color: .blue)], aspect: 0.4)
        page.figure(
            svg: Figure(
                title: "Error of recordings left out",
                description: "The cumulative distribution of the error. \(sentence)",
                panels: [.chart(chart)]
            ).svg)
        let worst = heldOut.recordings.sorted { ($1.mean ?? 0, $0.path) < ($0.mean ?? 0, $1.path) }
        page.paragraph("The recordings with the largest errors:")
        page.table(
            ["recording", "places", "mean error (m)"],
            worst.prefix(Self.placeLimit).map { recording in
                [
                    URL(filePath: recording.path).lastPathComponent, "\(recording.errors.count)",
                    number(recording.mean),
                ]
            })
    }

    // MARK: Coverage

    private func addCoverage(to page: inout HTMLPage) {
        page.heading("Coverage")
        let gaps = review.gaps
        let area = gaps.reduce(0) { $0 + $1.area }
        page.paragraph(
            gaps.isEmpty
                ? "Every walkable place has a survey point within \(number(review.coverDistance, 0)) m."
                : "\(number(area, 0)) m² of the walkable area have no survey point within \(number(review.coverDistance, 0)) m."
        )
        for map in venue.maps {
            page.figure(svg: SurveyMapFigure(venue: venue, map: map, radioMap: radioMap, review: review).figure.svg)
        }
    }

    // MARK: Beacons and places

    private func addBeacons(to page: inout HTMLPage) {
        page.heading("Beacons")
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
                beacon.identity.description, venue.map(beacon.mapID)?.name ?? "\(beacon.mapID)", "\(places[index])",
                "\(readings[index])", number(beacon.power), number(Self.root(residuals[index] ?? [])),
                texts.joined(separator: " "),
            ]
        }
        // The silent beacons are not in the radio map.
        for finding in review.findings where finding.kind == .silent {
            let map = venue.beacons.first { $0.identity == finding.beacon }.flatMap { venue.map($0.mapID)?.name }
            rows.append(
                [
                    finding.beacon.description, map ?? "–", "0", "0", "–", "–",
                    SurveyReview.sentence(of: finding, in: venue),
                ])
        }
        rows.sort { !$0[6].isEmpty && $1[6].isEmpty }
        page.paragraph("The residual is the deviation of the readings from the prediction by the other survey points.")
        page.table(
            ["beacon", "map", "places", "readings", "power (dBm)", "residual (dB)", "finding"],
            Array(rows.prefix(Self.rowLimit)))
        addLimit(rows.count, to: &page)
    }

    private func addPlaces(to page: inout HTMLPage) {
        page.heading("Survey points")
        page.paragraph("The survey points with the largest residuals:")
        let residuals = Dictionary(grouping: review.residuals, by: \.place)
        let worst = residuals.map { (place: $0.key, root: Self.root($0.value) ?? 0, residuals: $0.value) }.sorted {
            ($1.root, $0.place) < ($0.root, $1.place)
        }
        page.table(
            ["map", "x (m)", "y (m)", "beacons", "residual (dB)", "mean (dB)"],
            worst.prefix(Self.placeLimit).map { entry in
                let place = radioMap.fingerprints[entry.place]
                let mean = entry.residuals.reduce(0) { $0 + $1.value } / Double(entry.residuals.count)
                return [
                    venue.map(place.mapID)?.name ?? "\(place.mapID)", number(place.point.x), number(place.point.y),
                    "\(entry.residuals.count)", number(entry.root), number(mean),
                ]
            })
    }

    private func addLimit(_ count: Int, to page: inout HTMLPage) {
        if count > Self.rowLimit { page.paragraph("\(count - Self.rowLimit) more rows are not listed.") }
    }

    /// Returns the root mean square of residuals in dB; nil without residuals.
    private static func root(_ residuals: [SurveyResidual]) -> Double? {
        guard !residuals.isEmpty else { return nil }
        return (residuals.reduce(0) { $0 + $1.value * $1.value } / Double(residuals.count)).squareRoot()
    }
}
