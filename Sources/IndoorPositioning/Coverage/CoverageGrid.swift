import IndoorVocabulary

/// The expected accuracy of positions in the cells of a map.
public struct CoverageGrid: Hashable, Sendable {
    /// The map.
    public var mapID: MapID
    /// The edge of a cell in metres.
    public var cellSize: Double
    /// The number of cells along x, from the plan's left edge.
    package var columns: Int
    /// The number of cells along y, from the plan's top edge.
    package var rows: Int
    /// The expected 68 % error in metres, cell by cell along x; nil outside the walkable areas.
    public var errors: [Double?]
    /// The expected number of detected beacons of each cell; 0 outside the walkable areas.
    package var detectedBeacons: [Double]

    /// The mean of the expected errors in metres; nil without walkable cells.
    public var meanError: Double? {
        let known = errors.compactMap { $0 }
        return known.isEmpty ? nil : known.reduce(0, +) / Double(known.count)
    }

    /// Returns the share of the walkable area with an expected error of at most `target` metres, in [0, 1]; nil without
    /// walkable cells.
    public func share(within target: Double) -> Double? {
        let known = errors.compactMap { $0 }
        return known.isEmpty ? nil : Double(known.count { $0 <= target }) / Double(known.count)
    }

    /// Returns the expected 68 % error at a point in metres; nil outside the walkable areas.
    public func error(at point: MapPoint) -> Double? {
        let (column, row) = ((point.x / cellSize).rounded(.down), (point.y / cellSize).rounded(.down))
        guard column >= 0, row >= 0, column < Double(columns), row < Double(rows) else { return nil }
        return errors[Int(row) * columns + Int(column)]
    }
}

/// A proposed place for a beacon.
public struct ProposedBeacon: Hashable, Sendable {
    /// The map.
    public var mapID: MapID
    /// The point on the map.
    public var point: MapPoint
    /// The mean expected 68 % error in metres of all analysed maps, with this beacon and the ones before it.
    public var meanError: Double
    /// The share of the walkable area of all analysed maps within the target, with this beacon and the ones before it;
    /// nil without a target.
    public var shareWithinTarget: Double?
}
