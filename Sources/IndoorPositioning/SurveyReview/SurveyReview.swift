import IndoorVocabulary
import VenueModel

/// The settings of a survey's review.
package struct SurveyReviewSettings: Hashable, Sendable {
    /// The parameters of the signal.
    package var signal = SignalModel()
    /// The distance in metres from a survey place within which a walkable place is covered, above 0.
    package var coverDistance = 5.0
    /// The minimum area in m² of a reported gap.
    package var leastGap = 4.0
    /// The number of places below which a beacon has few readings.
    package var fewestPlaces = 5
    /// The logarithm of the likelihood ratio above which the readings contradict a beacon's place. With the default of
    /// 6, the probability of a contradiction for a correct place is 0.25 %, if the signal follows the model.
    package var moveEvidence = 6.0
    /// The minimum reported displacement of a beacon in metres.
    package var leastMove = 5.0
    /// The minimum difference in dB between a weak beacon and the other beacons.
    package var weakDifference = 8.0
    /// The root mean square of a place's residuals, relative to the residuals of the whole survey, above which the
    /// place contradicts its neighbours.
    package var contradiction = 2.5

    /// Creates the default settings.
    package init() {}
}

/// A review of a radio survey: missing places, suspicious beacons, and readings that contradict each other.
///
/// The review needs only the radio map that `RadioMapLearner` returns.
public struct SurveyReview: Hashable, Sendable {
    /// A place whose readings contradict those of its neighbours.
    public struct Contradiction: Hashable, Sendable {
        /// The index of the place in the radio map's fingerprints.
        public var place: Int
        /// The map of the place.
        public var mapID: MapID
        /// The point on the map.
        public var point: MapPoint
        /// The root mean square of the residuals, relative to the residuals of the whole survey: 1 for a typical place.
        public var ratio: Double
        /// The mean difference of the readings from the prediction in dB.
        public var offset: Double
    }

    /// The number of surveyed places.
    package let places: Int
    /// The number of beacons that the survey detected.
    package let beacons: Int
    /// The parts of the walkable area without a survey place nearby, the largest first.
    public let gaps: [SurveyGap]
    /// The suspicious beacons, ordered by identity.
    public let findings: [BeaconFinding]
    /// The places whose readings contradict their neighbours, the worst first.
    public let contradictions: [Contradiction]
    /// The leave-one-out residuals of the readings, ordered by place and beacon.
    package let residuals: [SurveyResidual]
    /// The distance in metres from a survey place beyond which a walkable place belongs to a gap.
    package let coverDistance: Double

    /// The minimum number of readings of a place for a comparison with its neighbours.
    private static let fewestReadings = 4

    /// Reviews a radio map of a venue; the venue's own radio map isn't used.
    ///
    /// The time is cubic in the number of readings of a beacon, which are thinned out beyond 400 per map.
    public init(of radioMap: RadioMap, in venue: Venue) {
        self.init(of: radioMap, in: venue, settings: SurveyReviewSettings())
    }

    /// Reviews a radio map with other limits of the findings.
    package init(of radioMap: RadioMap, in venue: Venue, settings: SurveyReviewSettings) {
        places = radioMap.fingerprints.count
        beacons = radioMap.beacons.count
        coverDistance = settings.coverDistance
        gaps = radioMap.surveyGaps(in: venue, distance: settings.coverDistance, leastArea: settings.leastGap)
        residuals = radioMap.residuals(in: venue, model: settings.signal)
        let ratios = residuals.map { abs($0.value) / $0.deviation }.sorted()
        // 0.6745 is the median magnitude of a standard normal variable.
        let stretch = ratios.isEmpty ? 1 : max(ratios[ratios.count / 2] / 0.6745, 0.1)
        contradictions = Self.contradictions(residuals, radioMap, stretch: stretch, limit: settings.contradiction)
        findings = BeaconInspection(venue: venue, radioMap: radioMap, settings: settings).findings()
    }

    private static func contradictions(
        _ residuals: [SurveyResidual], _ radioMap: RadioMap, stretch: Double, limit: Double
    ) -> [Contradiction] {
        Dictionary(grouping: residuals, by: \.place).compactMap { index, residuals -> Contradiction? in
            guard residuals.count >= fewestReadings else { return nil }
            let count = Double(residuals.count)
            let square = residuals.reduce(0) { sum, residual in
                let ratio = residual.value / (residual.deviation * stretch)
                return sum + ratio * ratio / count
            }
            guard square > limit * limit else { return nil }
            let place = radioMap.fingerprints[index]
            return Contradiction(
                place: index, mapID: place.mapID, point: place.point, ratio: square.squareRoot(),
                offset: residuals.reduce(0) { $0 + $1.value } / count)
        }.sorted { ($1.ratio, $0.place) < ($0.ratio, $1.place) }
    }
}

/// A connected part of a map's walkable area without a survey place nearby.
public struct SurveyGap: Hashable, Sendable {
    /// The map.
    public var mapID: MapID
    /// The area in m².
    public var area: Double
    /// The point of the gap that is farthest from all survey places of the map.
    public var point: MapPoint
    /// The distance in metres from that point to the nearest survey place; infinity if the map has none.
    public var distance: Double
    /// The edge of the cells in metres.
    public var cellSize: Double
    /// The centres of the cells.
    public var cells: [MapPoint]
}

extension Venue {
    /// Returns the parts of the walkable area that are farther than `distance` metres from all survey places, the
    /// largest first, without parts smaller than `leastArea` m².
    ///
    /// During a survey, the places are those visited so far. On a map without walkable areas, the rooms and what walls and
    /// rooms enclose are walkable; without these too, the whole map.
    public func surveyGaps(
        around places: [MapID: [MapPoint]], distance: Double = 5, leastArea: Double = 4
    ) -> [SurveyGap] { gaps(of: maps, around: places, distance: distance, leastArea: leastArea) }

    /// Returns the gaps of one map.
    package func surveyGaps(
        around places: [MapID: [MapPoint]], distance: Double, on mapID: MapID, leastArea: Double = 4
    ) -> [SurveyGap] {
        gaps(of: maps.filter { $0.id == mapID }, around: places, distance: distance, leastArea: leastArea)
    }

    private func gaps(
        of maps: [VenueMap], around places: [MapID: [MapPoint]], distance: Double, leastArea: Double
    ) -> [SurveyGap] {
        maps.flatMap { map in
            SurveyGapSearch(
                map: map, interior: MapInterior(of: map, in: self, usesSurvey: false), places: places[map.id] ?? [],
                distance: distance
            ).gaps()
        }.filter { $0.area >= leastArea }.sorted {
            ($1.area, $0.mapID.rawValue, $0.point.x, $0.point.y) < ($0.area, $1.mapID.rawValue, $1.point.x, $1.point.y)
        }
    }
}

extension RadioMap {
    /// Returns the gaps of the survey, as `Venue.surveyGaps(around:distance:leastArea:)` does.
    public func surveyGaps(in venue: Venue, distance: Double = 5, leastArea: Double = 4) -> [SurveyGap] {
        let places = Dictionary(grouping: fingerprints, by: \.mapID).mapValues { $0.map(\.point) }
        return venue.surveyGaps(around: places, distance: distance, leastArea: leastArea)
    }
}

/// The search for gaps on one map.
private struct SurveyGapSearch {
    let map: VenueMap
    let interior: MapInterior
    let places: [MapPoint]
    /// The maximum distance in metres between a covered cell and a survey place.
    let distance: Double

    /// The maximum number of cells of a map.
    private static let cellLimit = 10_000.0

    func gaps() -> [SurveyGap] {
        guard map.width > 0, map.height > 0 else { return [] }
        let grid = MapGrid(
            from: MapPoint(x: 0, y: 0), to: MapPoint(x: map.width, y: map.height),
            cellSize: max(1, (map.width * map.height / Self.cellLimit).squareRoot()))
        var far = [Double?](repeating: nil, count: grid.count)
        for cell in WalkableCells(of: map, interior, grid: grid).cells {
            let center = grid.center(of: cell)
            let nearest = places.reduce(Double.infinity) { min($0, $1.distance(to: center)) }
            if nearest > distance { far[cell] = nearest }
        }
        var gaps: [SurveyGap] = []
        for cell in far.indices where far[cell] != nil { gaps.append(takeGap(from: cell, grid, &far)) }
        return gaps
    }

    /// Removes the cells that are connected with a cell, and returns them as a gap.
    private func takeGap(from start: Int, _ grid: MapGrid, _ far: inout [Double?]) -> SurveyGap {
        var open = [(cell: start, nearest: far[start] ?? 0)]
        far[start] = nil
        var members: [(cell: Int, nearest: Double)] = []
        while let next = open.popLast() {
            members.append(next)
            let (row, column) = next.cell.quotientAndRemainder(dividingBy: grid.columns)
            for (x, y) in [(column - 1, row), (column + 1, row), (column, row - 1), (column, row + 1)]
            where x >= 0 && y >= 0 && x < grid.columns && y < grid.rows {
                let cell = y * grid.columns + x
                guard let nearest = far[cell] else { continue }
                far[cell] = nil
                open.append((cell, nearest))
            }
        }
        let points = members.map { grid.center(of: $0.cell) }
        let farthest = members.max { $0.nearest < $1.nearest } ?? members[0]
        // Without any survey place, all cells are equally far; report the middle of the gap.
        let count = Double(points.count)
        let middle = MapPoint(
            x: points.reduce(0) { $0 + $1.x } / count, y: points.reduce(0) { $0 + $1.y } / count)
        let named =
            farthest.nearest < .infinity
            ? grid.center(of: farthest.cell)
            : points.min { $0.distance(to: middle) < $1.distance(to: middle) } ?? middle
        return SurveyGap(
            mapID: map.id, area: count * grid.cellSize * grid.cellSize, point: named, distance: farthest.nearest,
            cellSize: grid.cellSize, cells: points)
    }
}

/// A mean reading of a survey, compared with the prediction by the rest of the survey.
package struct SurveyResidual: Hashable, Sendable {
    /// The index of the place in the radio map's fingerprints.
    package var place: Int
    /// The index of the beacon in the radio map's beacons.
    package var beacon: Int
    /// The mean RSSI in dBm, normalized to the mean receiver of the survey.
    package var rssi: Double
    /// The RSSI in dBm that path loss and the beacon's readings at the other places predict.
    package var predicted: Double
    /// The standard deviation in dB that the signal model expects of the difference.
    package var deviation: Double

    /// The difference between the reading and the prediction in dB.
    package var value: Double { rssi - predicted }

    /// Creates a residual.
    package init(place: Int, beacon: Int, rssi: Double, predicted: Double, deviation: Double) {
        self.place = place
        self.beacon = beacon
        self.rssi = rssi
        self.predicted = predicted
        self.deviation = deviation
    }
}

extension RadioMap {
    /// Returns the leave-one-out residuals of the readings, ordered by place and beacon.
    ///
    /// Each reading is predicted from the readings of the same beacon at all other places of the map, without learning the
    /// map again. Source: C. E. Rasmussen, C. K. I. Williams, *Gaussian Processes for Machine Learning*, 2006, section
    /// 5.4.2. The readings of a beacon on one map are thinned out beyond 400, and the thinned readings have no residual.
    package func residuals(in venue: Venue, model: SignalModel = SignalModel()) -> [SurveyResidual] {
        let model = model.fitted(to: self)
        let floorDistance = FloorDistance(venue.maps)
        var groups: [MapID: [Int: [(place: Int, reading: RadioMap.Reading)]]] = [:]
        for (index, place) in fingerprints.enumerated() {
            for reading in place.readings where beacons.indices.contains(reading.beacon) {
                groups[place.mapID, default: [:]][reading.beacon, default: []].append((index, reading))
            }
        }
        var residuals: [SurveyResidual] = []
        for (map, byBeacon) in groups {
            for (index, all) in byBeacon {
                let readings = all.thinned(to: Self.residualReadings)
                let heard = readings.map {
                    (fingerprints[$0.place].point, fingerprints[$0.place].deviation, $0.reading.count)
                }
                guard
                    let factor = model.covariance(of: heard, constant: model.powerDeviation * model.powerDeviation)
                else { continue }
                let beacon = beacons[index]
                let loss = model.floorLoss * Double(floorDistance.floors(from: beacon.mapID, to: map))
                let differences = readings.map { entry in
                    let point = fingerprints[entry.place].point
                    let expected = model.expectedRSSI(of: beacon, exponent: pathLossExponent, at: point)
                    return entry.reading.rssi - expected + loss
                }
                let (weights, precisions) = (factor.solve(differences), factor.inverseDiagonal())
                for (position, entry) in readings.enumerated() {
                    residuals.append(
                        SurveyResidual(
                            place: entry.place, beacon: index, rssi: entry.reading.rssi,
                            predicted: entry.reading.rssi - weights[position] / precisions[position],
                            deviation: (1 / precisions[position]).squareRoot()))
                }
            }
        }
        return residuals.sorted { ($0.place, $0.beacon) < ($1.place, $1.beacon) }
    }

    private static let residualReadings = 400
}

extension SurveyReview {
    /// The maximum number of gaps and of contradictions in the advice.
    private static let adviceLimit = 5

    /// Returns the advice of the review as sentences, the most important first; empty for a survey without a problem.
    ///
    /// Gaps on maps without walkable areas come last, because a plan can contain areas that nobody can reach.
    public func advice(in venue: Venue) -> [String] {
        let whole = venue.maps.filter { map in map.walkable.isEmpty && gaps.contains { $0.mapID == map.id } }
        let unknown = Set(whole.map(\.id))
        var sentences = Self.sentences(
            of: gaps.filter { !unknown.contains($0.mapID) }, in: venue, distance: coverDistance)
        sentences += findings.map { Self.sentence(of: $0, in: venue) }
        sentences += contradictions.prefix(Self.adviceLimit).map { contradiction in
            let place = Self.coordinates(contradiction.point)
            let offset = Self.number(abs(contradiction.offset))
            let map = Self.name(of: contradiction.mapID, in: venue)
            return
                "Repeat the survey at \(place) on \(map): its readings differ from those of its neighbours, by \(offset) dB "
                + "on average."
        }
        if contradictions.count > Self.adviceLimit {
            sentences.append(
                "\(contradictions.count - Self.adviceLimit) more survey points contradict their neighbours.")
        }
        guard !whole.isEmpty else { return sentences }
        sentences += Self.sentences(
            of: gaps.filter { unknown.contains($0.mapID) }, in: venue, distance: coverDistance)
        let names = whole.map(\.name).joined(separator: ", ")
        sentences.append("Add walkable areas to the venue: without them, the review counts the whole plan of \(names).")
        return sentences
    }

    /// Returns the largest gaps as sentences, and the number and area of the others.
    private static func sentences(of gaps: [SurveyGap], in venue: Venue, distance: Double) -> [String] {
        var sentences = gaps.prefix(adviceLimit).map { gap in
            "Walk \(part(of: gap.point, on: gap.mapID, in: venue)): \(number(gap.area)) m² have no survey point within "
                + "\(number(distance)) m."
        }
        let rest = gaps.dropFirst(adviceLimit)
        let area = number(rest.reduce(0) { $0 + $1.area })
        if !rest.isEmpty {
            sentences.append(
                rest.count == 1
                    ? "Walk 1 smaller area without a survey point: \(area) m²."
                    : "Walk \(rest.count) smaller areas without a survey point: \(area) m² in total.")
        }
        return sentences
    }

    /// Returns the finding as a sentence.
    package static func sentence(of finding: BeaconFinding, in venue: Venue) -> String {
        let beacon = "beacon \(venue.name(of: finding.beacon))"
        switch finding.kind {
        case .silent:
            return "Check \(beacon): the survey never detected it, although it came within 10 m of its place."
        case .fewReadings(let places):
            return
                "Walk around \(beacon): the survey detected it at \(places == 1 ? "1 place" : "\(places) places") only."
        case .moved(let place, let deviation, let distance):
            let found =
                "\(coordinates(place.point)) on \(name(of: place.mapID, in: venue)), ± \(number(deviation)) m"
            guard let distance else {
                return "Check the place of \(beacon): its readings are strongest on another map, around \(found)."
            }
            return
                "Check the place of \(beacon): its readings fit a place \(number(distance)) m from the venue's, at \(found)."
        case .weak(let difference):
            return
                "Check the battery and the mounting of \(beacon): its power is \(number(difference)) dB below that of the other "
                + "beacons."
        case .twoTransmitters(let first, let second):
            return
                "Check the identity of \(beacon): two transmitters seem to use it, near \(coordinates(first.point)) on "
                + "\(name(of: first.mapID, in: venue)) and near \(coordinates(second.point)) on \(name(of: second.mapID, in: venue))."
        }
    }

    /// Returns a description of the part of a map that contains a point, with the room if there is one.
    private static func part(of point: MapPoint, on mapID: MapID, in venue: Venue) -> String {
        guard let map = venue.map(mapID), map.width > 0, map.height > 0 else { return "map \(mapID)" }
        let rows = ["top", "", "bottom"]
        let columns = ["left", "", "right"]
        func third(_ share: Double) -> Int { min(max(Int(share * 3), 0), 2) }
        let words = [rows[third(point.y / map.height)], columns[third(point.x / map.width)]].filter { !$0.isEmpty }
        let part = words.isEmpty ? "the middle" : "the \(words.joined(separator: " "))"
        let room = venue.rooms.first { $0.mapID == mapID && $0.area?.contains(point) ?? false }
        let inRoom = room.map { ", \($0.name)" } ?? ""
        return "\(part) of \(map.name) around \(coordinates(point))\(inRoom)"
    }

    private static func name(of mapID: MapID, in venue: Venue) -> String { venue.map(mapID)?.name ?? "map \(mapID)" }

    private static func coordinates(_ point: MapPoint) -> String { "(\(number(point.x)), \(number(point.y)))" }

    /// Returns the text of a number: with one decimal below 10, otherwise without decimals.
    private static func number(_ value: Double) -> String {
        guard value.isFinite, abs(value) < 1e9 else { return "unknown" }
        let rounded = abs(value) < 10 ? (value * 10).rounded() / 10 : value.rounded()
        return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
    }
}
