import Foundation
import IndoorLocalization
import LocalizationFigures
import ScanRecording
import VenueExchange
import VenuePackets

/// The report of a survey: advice, the error of recordings left out, gaps, and the residuals of beacons and places.
struct SurveyReport {
    let venue: Venue
    let radioMap: RadioMap
    let review: SurveyReview
    /// The errors of the recordings left out; nil for a survey with fewer than two recordings.
    let heldOut: HeldOutErrors?
    /// The images of the venue's maps.
    let pictures: [MapID: PlanPicture]

    /// The maximum number of rows of a table.
    private static let rowLimit = 200
    /// The maximum number of survey places and of recordings in a table.
    private static let placeLimit = 30

    init(venue: Venue, radioMap: RadioMap, heldOut: HeldOutErrors?, pictures: [MapID: PlanPicture]) {
        self.venue = venue
        self.radioMap = radioMap
        self.heldOut = heldOut
        self.pictures = pictures
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
        let (definitions, references) = PlanPicture.definitions(of: pictures)
        let parts = [
            definitions, HTMLPage.heading(title), HTMLPage.paragraph(introduction),
            HTMLPage.heading("Advice", level: 2),
            advice.isEmpty ? HTMLPage.paragraph("The review found no problem.") : HTMLPage.list(advice),
            HTMLPage.heading("Expected error", level: 2), errors, HTMLPage.heading("Gaps", level: 2), gaps(references),
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
        func figure(_ layout: FigureLayout) -> Figure {
            Figure(
                title: "Error of recordings left out",
                description: "The cumulative distribution of the error. \(sentence)", panels: [.chart(chart)],
                width: layout.width(columns: 1))
        }
        let worst = heldOut.recordings.sorted { ($1.mean ?? 0, $0.path) < ($0.mean ?? 0, $1.path) }
        let rows = worst.prefix(Self.placeLimit).map { recording in
            [URL(filePath: recording.path).lastPathComponent, "\(recording.errors.count)", number(recording.mean)]
        }
        return HTMLPage.paragraph(sentence) + HTMLPage.figure(figure)
            + HTMLPage.paragraph("The recordings with the largest errors:")
            + HTMLPage.table(["recording", "instants", "mean error (m)"], rows)
    }

    // MARK: Gaps

    private func gaps(_ pictures: [MapID: PlanPicture]) -> String {
        let gaps = review.gaps
        let area = number(gaps.reduce(0) { $0 + $1.area }, 0)
        let distance = number(review.coverDistance, 0)
        let text =
            gaps.isEmpty
            ? "Every walkable place has a survey point within \(distance) m."
            : "\(area) m² of the walkable area have no survey point within \(distance) m. A plan without walkable areas counts as "
                + "a whole."
        let figures = venue.maps.map { map in
            HTMLPage.figure(
                SurveyMapFigure(venue: venue, map: map, radioMap: radioMap, review: review, pictures: pictures).figure)
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

/// The plan of a map with the survey's places, the distance to the nearest one, and the suspicious beacons.
struct SurveyMapFigure {
    let venue: Venue
    let map: VenueMap
    let radioMap: RadioMap
    let review: SurveyReview
    let pictures: [MapID: PlanPicture]

    /// The maximum number of cells of the heat map.
    private static let cellLimit = 10_000.0

    /// Returns the figure in a layout. The heat map is computed once for all of them.
    var figure: (FigureLayout) -> Figure {
        let places = radioMap.fingerprints.filter { $0.mapID == map.id }.map(\.point)
        var layers = [PlanLayer("survey points", .points(places), color: .gray, size: 4)]
        let contradictions = review.contradictions.filter { $0.mapID == map.id }
        if !contradictions.isEmpty {
            layers.append(
                PlanLayer(
                    "contradicting survey points", .circles(contradictions.map { .init(center: $0.point, radius: 1) }),
                    color: .orange))
        }
        layers += beaconLayers
        let gaps = review.gaps.filter { $0.mapID == map.id }
        let area = JSONText.number(gaps.reduce(0) { $0 + $1.area }, decimals: 0)
        let description =
            "\(places.count.counting("survey point")) on \(map.name); \(area) m² without a survey point nearby."
        let plan = FigurePanel.plan(
            PlanView(
                venue: venue, map: map, title: "", pictures: pictures, heatMap: heatMap(places), layers: layers))
        return { [title = map.name] layout in
            Figure(title: title, description: description, panels: [plan], width: layout.width(columns: 1))
        }
    }

    /// The lines from the venue's place of a beacon to the place that its readings fit.
    private var beaconLayers: [PlanLayer] {
        let beacons = Dictionary(venue.beacons.map { ($0.identity, $0) }, uniquingKeysWith: { first, _ in first })
        var moves: [PlanLayer.Segment] = []
        var pairs: [PlanLayer.Segment] = []
        var silent: [MapPoint] = []
        var foreign: [MapPoint] = []
        for finding in review.findings {
            guard let beacon = beacons[finding.beacon] else { continue }
            switch finding.kind {
            case .moved(let place, _, _) where place.mapID == map.id && beacon.mapID == map.id:
                moves.append(.init(beacon.point, place.point))
            case .moved(let place, _, nil) where place.mapID == map.id: foreign.append(place.point)
            case .twoTransmitters(let first, let second) where first.mapID == map.id && second.mapID == map.id:
                pairs.append(.init(first.point, second.point))
            case .silent where beacon.mapID == map.id: silent.append(beacon.point)
            default: break
            }
        }
        var layers: [PlanLayer] = []
        if !moves.isEmpty {
            layers.append(PlanLayer("", .squares(moves.map(\.end)), color: .vermilion, size: 7))
            layers.append(
                PlanLayer("from a beacon to the place that fits its readings", .segments(moves), color: .vermilion))
        }
        if !pairs.isEmpty {
            layers.append(PlanLayer("two transmitters with one identity", .segments(pairs), color: .purple))
        }
        if !foreign.isEmpty {
            layers.append(
                PlanLayer("places that fit a beacon of another map", .squares(foreign), color: .vermilion, size: 7))
        }
        if !silent.isEmpty { layers.append(PlanLayer("silent beacons", .squares(silent), color: .vermilion, size: 8)) }
        return layers
    }

    /// The distance of each walkable cell to the nearest survey point.
    private func heatMap(_ places: [MapPoint]) -> HeatMap? {
        guard !places.isEmpty, map.width > 0, map.height > 0 else { return nil }
        let size = max(1, (map.width * map.height / Self.cellLimit).squareRoot())
        let (columns, rows) = (Int((map.width / size).rounded(.up)), Int((map.height / size).rounded(.up)))
        let areas = map.walkable.map(Area.polygon)
        let values = (0..<columns * rows).map { cell in
            let point = MapPoint(
                x: (Double(cell % columns) + 0.5) * size, y: (Double(cell / columns) + 0.5) * size)
            guard areas.isEmpty || areas.contains(where: { $0.contains(point) }) else { return Double.nan }
            return places.reduce(.infinity) { min($0, $1.distance(to: point)) }
        }
        return HeatMap(
            title: "Distance to the nearest survey point", unit: "m", origin: MapPoint(x: 0, y: 0), cellSize: size,
            columns: columns, values: values, range: 0...2 * review.coverDistance, isReversed: true)
    }
}

/// The errors of survey recordings that were left out of the radio map in turn.
struct HeldOutErrors: Sendable {
    /// The errors of one recording.
    struct Recording: Sendable {
        var path: String
        var errors: [HeldOutSurvey.Error]

        /// The mean error in metres of the positions on the right map; nil without any.
        var mean: Double? { HeldOutErrors.mean(errors.compactMap(\.distance)) }
    }

    /// The recordings in the order of the survey.
    let recordings: [Recording]

    /// The errors of positions on the right map in metres, in ascending order.
    let distances: [Double]
    /// The number of compared places.
    let count: Int

    /// The number of parts of the survey, each of which is left out once. The survey is learned once for each part.
    private static let parts = 4

    /// Learns the survey without each part and locates the part's recordings; nil for recordings from fewer than two
    /// places.
    ///
    /// - Throws: the error of the first recording that can't be read.
    static func measure(
        _ walks: [UnlabelledLearning.Walk], venue: Venue, strictness: RecordingReader.Strictness, jobs: Int,
        progress: ProgressLine
    ) async throws -> HeldOutErrors? {
        let folds = HeldOutSurvey.folds(of: walks.map(\.recording), parts: parts)
        guard !folds.isEmpty else { return nil }
        let parts = try await folds.concurrentMap(
            jobs: jobs, report: { progress.show("report: part \($0) of \(folds.count) left out") }
        ) { _, fold in try errors(of: fold, walks, venue, strictness) }
        let all = parts.flatMap { $0 }.sorted { $0.index < $1.index }
        return HeldOutErrors(recordings: all.map { Recording(path: walks[$0.index].path, errors: $0.errors) })
    }

    private static func errors(
        of fold: HeldOutSurvey.Fold, _ walks: [UnlabelledLearning.Walk], _ venue: Venue,
        _ strictness: RecordingReader.Strictness
    ) throws -> [(index: Int, errors: [HeldOutSurvey.Error])] {
        var learner = RadioMapLearner(venue: venue)
        for index in fold.learned { learner.add(walks[index].recording) }
        guard let map = learner.finish() else { return [] }
        let survey = HeldOutSurvey(venue: venue, radioMap: map)
        let addresses = KnownAddresses(of: venue)
        return try fold.heldOut.map { index in
            var readings: [SensorReading] = []
            let file = try RecordedReadings(path: walks[index].path, strictness: strictness)
            while let reading = try file.next() { readings.append(addresses.named(reading)) }
            return (index, survey.errors(of: walks[index].recording, readings: readings))
        }
    }

    private init(recordings: [Recording]) {
        self.recordings = recordings
        let all = recordings.flatMap(\.errors)
        count = all.count
        distances = all.compactMap(\.distance).sorted()
    }

    /// Returns a quantile of the errors in metres; nil without errors.
    func quantile(_ share: Double) -> Double? {
        distances.isEmpty ? nil : distances[min(Int(Double(distances.count) * share), distances.count - 1)]
    }

    /// The mean error in metres; nil without errors.
    var mean: Double? { Self.mean(distances) }

    /// The share of the places with a position on the right map, in [0, 1].
    var answered: Double { count > 0 ? Double(distances.count) / Double(count) : 0 }

    private static func mean(_ values: [Double]) -> Double? {
        values.isEmpty ? nil : values.reduce(0, +) / Double(values.count)
    }

    /// The errors as a sentence; nil without errors.
    var sentence: String? {
        guard let mean, let two = quantile(0.68), let most = quantile(0.95) else { return nil }
        func metres(_ value: Double) -> String { JSONText.number(value, decimals: 1) + " m" }
        return
            "Positions in recordings that were left out of the survey have a mean error of \(metres(mean)), a 68 % error of "
            + "\(metres(two)) and a 95 % error of \(metres(most)); \(JSONText.number(answered * 100, decimals: 0)) % are on the "
            + "right floor."
    }
}

/// The audit of a venue's beacons by recordings of many sessions, in words or as JSON.
struct SurveyAudit: Sendable {
    let venue: Venue
    let strictness: RecordingReader.Strictness
    let jobs: Int
    let seed: UInt64

    /// Audits the recordings.
    ///
    /// - Throws: `RecordingError` of the first invalid recording, `CommandError` if no recording has a reading of a
    ///   beacon of the venue.
    func audit(_ recordings: [String], progress: ProgressLine) async throws -> BeaconAudit {
        let settings = PositioningSettings()
        let empty = BeaconAudit(
            venue: venue, field: SignalField(venue: venue, model: settings.signal), settings: settings, seed: seed)
        let parts = try await recordings.concurrentMap(
            jobs: jobs, report: { progress.show("audit: \($0) of \(recordings.count) recordings") }
        ) { _, path in
            var part = empty
            let file = try RecordedReadings(path: path, strictness: strictness)
            let addresses = KnownAddresses(of: venue)
            var readings: [SensorReading] = []
            while let reading = try file.next(truth: { _ in }) { readings.append(addresses.named(reading)) }
            part.add(readings, device: file.device)
            return part
        }
        var audit = empty
        for part in parts { audit.add(part) }
        guard audit.sessionCount > 0 else {
            throw CommandError(
                description: "no recording locates the device by beacons of '\(venue.name)'; "
                    + "are the recordings of another venue?")
        }
        return audit
    }
}

extension BeaconAudit {
    /// A line about the sessions, and a line for each finding.
    var lines: [String] {
        let findings = findings()
        let hours = JSONText.number(seconds / 3600, decimals: 2)
        let need =
            findings.isEmpty
            ? "no beacon needs a technician"
            : findings.count == 1 ? "1 beacon needs a technician" : "\(findings.count) beacons need a technician"
        return [
            "\(sessionCount.counting("session")) in \(hours) h, \(receivedCount.counting("beacon")) received; \(need)"
        ]
            + findings.map(\.line)
    }

    /// The same figures as one JSON object.
    var json: JSONText {
        var json = JSONText()
        json.add("sessions", sessionCount)
        json.add("hours", seconds / 3600, decimals: 4)
        json.add("receivedBeacons", receivedCount)
        json.add("findings", findings().map(\.json))
        return json
    }
}

extension BeaconAudit.Finding {
    fileprivate var line: String {
        let message = LocalizationError.beaconFault(fault).message
        guard fault.kind != .silent else { return message }
        return "\(message) (\(places.counting("place")) in \(sessions.counting("session")))"
    }

    fileprivate var json: JSONText {
        var json = fault.json
        json.add("places", places)
        json.add("sessions", sessions)
        json.add("evidence", evidence, decimals: 1)
        json.add("message", LocalizationError.beaconFault(fault).message)
        return json
    }
}
