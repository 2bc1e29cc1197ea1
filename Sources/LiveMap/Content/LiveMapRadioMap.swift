/// A radio map as a live map shows it. The property names are the names in JSON.
package struct LiveMapRadioMap: Codable, Hashable, Sendable {
    /// A grid of equal square cells over a map, from its top left corner, row by row.
    package struct Grid: Codable, Hashable, Sendable {
        /// The identifier of the map.
        package var mapId: Int
        /// The number of cells in a row.
        package var columns: Int
        /// The number of rows.
        package var rows: Int
        /// The side of a cell in metres.
        package var cellSize: Double
        /// Base64 of one Int8 a cell: the expected RSSI in dBm; -128 where the beacon is not expected.
        package var expected: String
        /// Base64 of one UInt8 a cell: the standard deviation in tenths of a dB.
        package var deviation: String

        /// Creates a grid.
        package init(mapId: Int, columns: Int, rows: Int, cellSize: Double, expected: String, deviation: String) {
            self.mapId = mapId
            self.columns = columns
            self.rows = rows
            self.cellSize = cellSize
            self.expected = expected
            self.deviation = deviation
        }
    }

    /// The expected RSSI of a beacon.
    package struct Beacon: Codable, Hashable, Sendable {
        /// The identity as `UUID/major/minor`.
        package var id: String
        /// The expected RSSI on each map, in the order of the venue.
        package var grids: [Grid]
        /// The problems of the beacon that the survey shows, as sentences; nil without one.
        package var findings: [String]?

        /// Creates a beacon.
        package init(id: String, grids: [Grid] = [], findings: [String]? = nil) {
            self.id = id
            self.grids = grids
            self.findings = findings
        }
    }

    /// A place at which the survey has readings.
    package struct SurveyPoint: Codable, Hashable, Sendable {
        /// The identifier of the map.
        package var mapId: Int
        /// The distance from the left edge of the plan in metres.
        package var x: Double
        /// The distance from the top edge of the plan in metres.
        package var y: Double
        /// The number of readings.
        package var readings: Int
        /// The time of recording at the place in seconds.
        package var duration: Double

        /// Creates a survey point.
        package init(mapId: Int, x: Double, y: Double, readings: Int, duration: Double) {
            self.mapId = mapId
            self.x = x
            self.y = y
            self.readings = readings
            self.duration = duration
        }
    }

    /// A mean reading of a beacon at a survey point, and the value that the other survey points predict.
    package struct Residual: Codable, Hashable, Sendable {
        /// The index of the survey point in `survey`.
        package var point: Int
        /// The index of the beacon in `beacons`.
        package var beacon: Int
        /// The mean of the readings in dBm.
        package var rssi: Double
        /// The RSSI in dBm that the survey without this point predicts.
        package var predicted: Double

        /// Creates a residual.
        package init(point: Int, beacon: Int, rssi: Double, predicted: Double) {
            self.point = point
            self.beacon = beacon
            self.rssi = rssi
            self.predicted = predicted
        }
    }

    /// A connected part of the walkable area without a survey point nearby.
    package struct SurveyGap: Codable, Hashable, Sendable {
        /// The identifier of the map.
        package var mapId: Int
        /// The area in square metres.
        package var area: Double
        /// The distance in metres of the point that is farthest from the survey, from the left edge of the plan.
        package var x: Double
        /// The distance in metres of that point from the top edge of the plan.
        package var y: Double
        /// The side of a cell in metres.
        package var cellSize: Double
        /// The centres of the cells as x, y, x, y, … in metres.
        package var cells: [Double]

        /// Creates a gap.
        package init(mapId: Int, area: Double, x: Double, y: Double, cellSize: Double, cells: [Double]) {
            self.mapId = mapId
            self.area = area
            self.x = x
            self.y = y
            self.cellSize = cellSize
            self.cells = cells
        }
    }

    /// The beacons with their expected RSSI.
    package var beacons: [Beacon]
    /// The places at which the survey has readings; empty if unknown.
    package var survey: [SurveyPoint]
    /// The residuals of the survey points; empty if unknown.
    package var residuals: [Residual]
    /// The parts of the walkable area that the survey misses, the largest first; nil if unknown.
    package var surveyGaps: [SurveyGap]?
    /// The advice of the survey's review as sentences, the most important first; nil without a survey.
    package var advice: [String]?

    /// Creates a radio map.
    package init(
        beacons: [Beacon] = [], survey: [SurveyPoint] = [], residuals: [Residual] = [], surveyGaps: [SurveyGap]? = nil,
        advice: [String]? = nil
    ) {
        self.beacons = beacons
        self.survey = survey
        self.residuals = residuals
        self.surveyGaps = surveyGaps
        self.advice = advice
    }
}
