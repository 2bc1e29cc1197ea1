/// A radio map as a live map shows it. The property names are the names in JSON.
public struct LiveMapRadioMap: Codable, Hashable, Sendable {
    /// A grid of equal square cells over a map, from its top left corner, row by row.
    public struct Grid: Codable, Hashable, Sendable {
        public var mapId: Int
        public var columns: Int
        public var rows: Int
        /// The side of a cell in metres.
        public var cellSize: Double
        /// Base64 of one Int8 a cell: the expected RSSI in dBm; -128 where the beacon is not expected.
        public var expected: String
        /// Base64 of one UInt8 a cell: the standard deviation in tenths of a dB.
        public var deviation: String

        /// Creates a grid.
        public init(mapId: Int, columns: Int, rows: Int, cellSize: Double, expected: String, deviation: String) {
            self.mapId = mapId
            self.columns = columns
            self.rows = rows
            self.cellSize = cellSize
            self.expected = expected
            self.deviation = deviation
        }
    }

    public struct Beacon: Codable, Hashable, Sendable {
        /// `UUID/major/minor`.
        public var id: String
        public var grids: [Grid]
        /// The problems of the beacon that the survey shows, as sentences; nil without one.
        public var findings: [String]?

        /// Creates a beacon.
        public init(id: String, grids: [Grid] = [], findings: [String]? = nil) {
            self.id = id
            self.grids = grids
            self.findings = findings
        }
    }

    /// A place at which the survey has readings.
    public struct SurveyPoint: Codable, Hashable, Sendable {
        public var mapId: Int
        public var x: Double
        public var y: Double
        /// The number of readings.
        public var readings: Int
        /// Seconds of recording.
        public var duration: Double

        /// Creates a survey point.
        public init(mapId: Int, x: Double, y: Double, readings: Int, duration: Double) {
            self.mapId = mapId
            self.x = x
            self.y = y
            self.readings = readings
            self.duration = duration
        }
    }

    /// A mean reading of a beacon at a survey point, and the value that the other survey points predict.
    public struct Residual: Codable, Hashable, Sendable {
        /// Index in `survey`.
        public var point: Int
        /// Index in `beacons`.
        public var beacon: Int
        /// dBm.
        public var rssi: Double
        /// dBm, from the survey without this point.
        public var predicted: Double

        /// Creates a residual.
        public init(point: Int, beacon: Int, rssi: Double, predicted: Double) {
            self.point = point
            self.beacon = beacon
            self.rssi = rssi
            self.predicted = predicted
        }
    }

    /// A connected part of the walkable area without a survey point nearby.
    public struct SurveyGap: Codable, Hashable, Sendable {
        public var mapId: Int
        /// m².
        public var area: Double
        /// The point that is farthest from the survey, in metres.
        public var x: Double
        public var y: Double
        /// The side of a cell in metres.
        public var cellSize: Double
        /// The centres of the cells as x, y, x, y, … in metres.
        public var cells: [Double]

        /// Creates a gap.
        public init(mapId: Int, area: Double, x: Double, y: Double, cellSize: Double, cells: [Double]) {
            self.mapId = mapId
            self.area = area
            self.x = x
            self.y = y
            self.cellSize = cellSize
            self.cells = cells
        }
    }

    public var beacons: [Beacon]
    public var survey: [SurveyPoint]
    public var residuals: [Residual]
    /// The parts of the walkable area that the survey misses, the largest first; nil if unknown.
    public var surveyGaps: [SurveyGap]?
    /// The advice of the survey's review as sentences, the most important first; nil without a survey.
    public var advice: [String]?

    /// Creates a radio map.
    public init(
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
