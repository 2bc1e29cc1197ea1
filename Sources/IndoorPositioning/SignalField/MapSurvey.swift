import CMath
import IndoorVocabulary
import VenueModel

/// The survey readings on one map, grouped by beacon.
struct MapSurvey: Sendable {
    /// The reading of a beacon at a surveyed place.
    struct Heard {
        var point: MapPoint
        /// Standard deviation of the point along each axis, in metres.
        var deviation: Double
        /// Listening time in seconds.
        var duration: Double
        var reading: RadioMap.Reading
    }

    private struct Entry: Sendable {
        /// Indexes of the place in the radio map and of the reading in the place.
        var place: Int32
        var reading: Int32
    }

    /// The index of each beacon's first entry; plus the number of entries as the last element.
    private let starts: [Int32]
    private let entries: [Entry]
    /// The effective listening time in seconds at each cell; empty without a survey.
    let exposure: [Float]

    /// Creates the survey of a map: its readings by beacon, in the order of the places. If a place has two readings of
    /// one beacon, the first one is used.
    ///
    /// - Parameter count: the number of beacons; readings of other beacons are ignored.
    init(of map: MapID, grid: MapGrid, in radioMap: RadioMap?, beacons count: Int, model: SignalModel) {
        let all = radioMap?.fingerprints ?? []
        let places = all.indices.filter { all[$0].mapID == map }
        var starts = [Int32](repeating: 0, count: count + 1)
        Self.forEachReading(at: places, of: all, beacons: count) { beacon, _, _ in starts[beacon + 1] += 1 }
        for beacon in 0..<count { starts[beacon + 1] += starts[beacon] }
        var next = starts
        var entries = [Entry](repeating: Entry(place: 0, reading: 0), count: Int(starts[count]))
        Self.forEachReading(at: places, of: all, beacons: count) { beacon, place, reading in
            entries[Int(next[beacon])] = Entry(place: Int32(place), reading: Int32(reading))
            next[beacon] += 1
        }
        self.starts = starts
        self.entries = entries
        guard !(radioMap?.beacons.isEmpty ?? true) else {
            exposure = []
            return
        }
        var exposure = [Float](repeating: 0, count: grid.count)
        let cells = (columns: 0..<grid.columns, rows: 0..<grid.rows)
        for place in places {
            let seconds = Float(min(all[place].duration, model.rateDurationCap))
            grid.spread(
                all[place].point, seconds, length: model.rateLength, deviation: all[place].deviation, over: cells,
                &exposure)
        }
        self.exposure = exposure
    }

    private static func forEachReading(
        at places: [Int], of all: [RadioMap.Fingerprint], beacons count: Int,
        _ body: (_ beacon: Int, _ place: Int, _ reading: Int) -> Void
    ) {
        var lastPlace = [Int](repeating: -1, count: count)
        for place in places {
            for (index, reading) in all[place].readings.enumerated()
            where lastPlace.indices.contains(reading.beacon) && lastPlace[reading.beacon] != place {
                lastPlace[reading.beacon] = place
                body(reading.beacon, place, index)
            }
        }
    }

    /// Returns whether the survey detected a beacon anywhere on the map.
    func hasHeard(_ beacon: Int) -> Bool { starts[beacon] < starts[beacon + 1] }

    /// Returns the readings of a beacon, place by place.
    ///
    /// - Parameter radioMap: the radio map that this survey was created from.
    func readings(of beacon: Int, in radioMap: RadioMap?) -> [Heard] {
        guard let radioMap else { return [] }
        return entries[Int(starts[beacon])..<Int(starts[beacon + 1])].map { entry in
            let place = radioMap.fingerprints[Int(entry.place)]
            return Heard(
                point: place.point, deviation: place.deviation, duration: place.duration,
                reading: place.readings[Int(entry.reading)])
        }
    }
}

extension MapGrid {
    /// Adds a Gaussian kernel of height `amount` around a point to the values of some cells.
    ///
    /// The uncertainty of the point widens the kernel.
    /// - Parameters:
    ///   - length: the standard deviation of the kernel in metres.
    ///   - deviation: the standard deviation of the point along each axis, in metres.
    ///   - cells: the columns and rows that `values` covers, row by row.
    func spread(
        _ point: MapPoint, _ amount: Float, length: Double, deviation: Double = 0,
        over cells: (columns: Range<Int>, rows: Range<Int>), _ values: inout [Float]
    ) {
        let square = length * length + deviation * deviation
        let block = block(around: point, radius: 3 * square.squareRoot())
        let (columns, rows) = (block.columns.clamped(to: cells.columns), block.rows.clamped(to: cells.rows))
        guard !columns.isEmpty, !rows.isEmpty else { return }
        var rectangle = rectangle(columns, rows, from: point, stride: cells.columns.count)
        let first =
            (rows.lowerBound - cells.rows.lowerBound) * cells.columns.count + columns.lowerBound
            - cells.columns.lowerBound
        cmath_spread(&rectangle, Float(1 / (2 * square)), amount * Float(length * length / square), first, &values)
    }
}
