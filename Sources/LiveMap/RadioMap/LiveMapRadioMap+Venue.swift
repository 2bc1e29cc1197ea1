import Foundation
import IndoorPositioning
import IndoorVocabulary
import TextFormats
import VenueModel

extension LiveMapRadioMap {
    /// The default limit of the grids' size in bytes.
    package static let standardLimit = 4_000_000

    /// Creates the content of a venue's radio map: the expected RSSI of each beacon on each map, the survey with its
    /// leave-one-out residuals, and the review of the survey: its gaps, its suspicious beacons and its advice.
    ///
    /// Without a radio map, path loss alone determines the expected RSSI, and the survey is empty.
    /// - Parameters:
    ///   - limit: the maximum size of all grids in bytes before Base64. The cells grow from 0.5 m until the grids fit.
    ///     Beacons beyond those that fit with cells of 4 m have no grids.
    package init(venue: Venue, model: SignalModel = SignalModel(), limit: Int = standardLimit) {
        let field = SignalField(venue: venue, model: model)
        let side = Self.cellSize(for: field, of: venue, limit: limit)
        var rest = limit
        beacons = field.beacons.indices.map { index in
            let grids = venue.maps.compactMap { map -> Grid? in
                let (columns, rows) = Self.size(of: map, side: side)
                guard rest >= 2 * columns * rows,
                    let grid = Self.grid(of: index, field, map, side: side, columns: columns, rows: rows)
                else { return nil }
                rest -= 2 * columns * rows
                return grid
            }
            return Beacon(id: field.beacons[index].description, grids: grids)
        }
        let places = venue.radioMap?.fingerprints ?? []
        survey = places.map { place in
            SurveyPoint(
                mapId: place.mapID.rawValue, x: place.point.x, y: place.point.y,
                readings: place.readings.reduce(0) { $0 + $1.count }, duration: place.duration)
        }
        // The field begins with the radio map's beacons in their order.
        var settings = SurveyReviewSettings()
        settings.signal = model
        let review = venue.radioMap.map { SurveyReview(of: $0, in: venue, settings: settings) }
        residuals = (review?.residuals ?? []).map { residual in
            Residual(
                point: residual.place, beacon: residual.beacon, rssi: residual.rssi, predicted: residual.predicted)
        }
        surveyGaps = review?.gaps.map(SurveyGap.init)
        advice = review?.advice(in: venue)
        let findings = Dictionary(grouping: review?.findings ?? [], by: \.beacon.description)
        for index in beacons.indices {
            beacons[index].findings = findings[beacons[index].id]?.map { SurveyReview.sentence(of: $0, in: venue) }
        }
    }

    /// The smallest and the largest side of a cell in metres.
    private static let sides = (finest: 0.5, coarsest: 4.0)

    private static func size(of map: VenueMap, side: Double) -> (columns: Int, rows: Int) {
        func count(_ length: Double) -> Int { max(1, Int(min((length / side).rounded(.up), 10_000))) }
        return (count(map.width), count(map.height))
    }

    /// Returns the side of a cell in metres with which all grids are within the limit.
    private static func cellSize(for field: SignalField, of venue: Venue, limit: Int) -> Double {
        var side = sides.finest
        while side < sides.coarsest {
            let bytes = zip(venue.maps, field.maps).reduce(0) { sum, entry in
                let (columns, rows) = size(of: entry.0, side: side)
                return sum + 2 * columns * rows * field.beacons.count
            }
            if bytes <= limit { break }
            side *= 1.25
        }
        return min(side, sides.coarsest)
    }

    /// Returns the grid of a beacon on a map; nil if the beacon cannot be detected there.
    private static func grid(
        of beacon: Int, _ field: SignalField, _ map: VenueMap, side: Double, columns: Int, rows: Int
    ) -> Grid? {
        guard let tables = field.maps.first(where: { $0.mapID == map.id }), let table = tables.tables[beacon] else {
            return nil
        }
        var expected = [UInt8](repeating: UInt8(bitPattern: -128), count: columns * rows)
        var deviation = [UInt8](repeating: 0, count: columns * rows)
        for row in 0..<rows {
            for column in 0..<columns {
                let point = MapPoint(x: (Double(column) + 0.5) * side, y: (Double(row) + 0.5) * side)
                guard let cell = tables.grid.cell(at: point) else { continue }
                let (y, x) = cell.quotientAndRemainder(dividingBy: tables.grid.columns)
                guard table.columns.contains(x), table.rows.contains(y) else { continue }
                let entry = (y - table.rows.lowerBound) * table.columns.count + x - table.columns.lowerBound
                let rssi = min(max(Double(table.mean[entry]).rounded(), -127), 127)
                expected[row * columns + column] = UInt8(bitPattern: Int8(rssi))
                let tenths = (Double(table.variance[entry]).squareRoot() * 10).rounded()
                deviation[row * columns + column] = UInt8(min(max(tenths, 0), 255))
            }
        }
        return Grid(
            mapId: map.id.rawValue, columns: columns, rows: rows, cellSize: side,
            expected: Base64Text.text(of: expected), deviation: Base64Text.text(of: deviation))
    }
}

extension LiveMapRadioMap.SurveyGap {
    /// Creates the content of a gap, of a radio map or of a survey that is still being recorded.
    package init(_ gap: IndoorPositioning.SurveyGap) {
        self.init(
            mapId: gap.mapID.rawValue, area: gap.area, x: gap.point.x, y: gap.point.y, cellSize: gap.cellSize,
            cells: gap.cells.flatMap { [$0.x, $0.y] })
    }
}
