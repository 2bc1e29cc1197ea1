import IndoorLocalization
import LocalizationFigures

/// The plan of a map with the survey's places, the distance to the nearest one, and the suspicious beacons.
struct SurveyMapFigure {
    let venue: Venue
    let map: VenueMap
    let radioMap: RadioMap
    let review: SurveyReview

    /// The maximum number of cells of the heat map.
    private static let cellLimit = 10_000.0

    var figure: Figure {
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
        return Figure(
            title: map.name,
            description:
                "\(places.count.counting("survey point")) on \(map.name); \(area) m² without a survey point nearby.",
            panels: [.plan(PlanView(venue: venue, map: map, title: "", heatMap: heatMap(places), layers: layers))])
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
