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
    }

    public struct Beacon: Codable, Hashable, Sendable {
        /// `UUID/major/minor`.
        public var id: String
        public var grids: [Grid]
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
    }

    public var beacons: [Beacon]
    public var survey: [SurveyPoint]
    public var residuals: [Residual]
    /// The parts of the walkable area that the survey misses, the largest first; nil if unknown.
    public var surveyGaps: [SurveyGap]?
}
