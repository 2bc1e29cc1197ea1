import CMath
import IndoorVocabulary
import VenueModel

/// The standard prior, which is highest near surveyed places and within walkable areas.
///
/// The weight falls with the distance from the nearest surveyed place as a Gaussian with a standard deviation of
/// `SignalModel.supportWidth` metres, down to `SignalModel.unsupportedShare` far from all places. Outside a map's
/// walkable areas, the weight is also multiplied by this share. Without a survey and walkable areas, it is 1.
public struct SurveyPrior: MapPrior, TabulatedPrior {
    private struct Sheet: Sendable {
        var places: [(point: MapPoint, deviation: Double)]
        var areas: [Area]
    }

    private let sheets: [MapID: Sheet]
    private let isSurveyed: Bool
    private let share: Float
    private let width: Double

    /// Creates the prior of a venue with its radio map.
    public init(venue: Venue, model: SignalModel = SignalModel()) {
        let places = Dictionary(grouping: venue.radioMap?.fingerprints ?? [], by: \.mapID)
        sheets = Dictionary(
            venue.maps.map { map in
                let points = places[map.id]?.map { (point: $0.point, deviation: $0.deviation) } ?? []
                return (map.id, Sheet(places: points, areas: map.walkable.map(Area.polygon)))
            }, uniquingKeysWith: { first, _ in first })
        isSurveyed = !(venue.radioMap?.beacons.isEmpty ?? true)
        let model = model.fitted(to: venue.radioMap)
        share = Float(model.unsupportedShare)
        width = model.supportWidth
    }

    /// Returns the weight of a point; the time is linear in the number of the map's surveyed places and the number of
    /// corners of its walkable areas.
    public func weight(at point: MapPoint, on mapID: MapID) -> Double {
        var weight = isSurveyed ? share : 1
        guard let sheet = sheets[mapID] else { return Double(weight) }
        for place in sheet.places
        where max(abs(point.x - place.point.x), abs(point.y - place.point.y)) <= 3 * width + place.deviation {
            weight = max(weight, support(point, place))
        }
        return Double(isWalkable(point, sheet) ? weight : weight * share)
    }

    func weights(on mapID: MapID, grid: MapGrid) -> [Float] {
        var weights = [Float](repeating: isSurveyed ? share : 1, count: grid.count)
        guard let sheet = sheets[mapID] else { return weights }
        for place in sheet.places {
            let block = grid.block(around: place.point, radius: 3 * width + place.deviation)
            for row in block.rows {
                for column in block.columns {
                    let cell = row * grid.columns + column
                    weights[cell] = max(weights[cell], support(grid.center(of: cell), place))
                }
            }
        }
        guard !sheet.areas.isEmpty else { return weights }
        for cell in weights.indices where !isWalkable(grid.center(of: cell), sheet) { weights[cell] *= share }
        return weights
    }

    private func support(_ point: MapPoint, _ place: (point: MapPoint, deviation: Double)) -> Float {
        let distance = max(0, point.distance(to: place.point) - place.deviation)
        return share + (1 - share) * Float(cmath_exp(-distance * distance / (2 * width * width)))
    }

    private func isWalkable(_ point: MapPoint, _ sheet: Sheet) -> Bool {
        sheet.areas.isEmpty || sheet.areas.contains { $0.contains(point) }
    }
}
