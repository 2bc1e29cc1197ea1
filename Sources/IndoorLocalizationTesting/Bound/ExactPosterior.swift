import CMath
import IndoorLocalization

/// The posterior mean on a fine grid. No estimator has a smaller mean square error in the simulated world.
///
/// Source: S. M. Kay, *Fundamentals of Statistical Signal Processing: Estimation Theory*, 1993, section 10.4.
struct ExactPosterior: Sendable {
    private let points: [MapPoint]
    /// The expected RSSI, by beacon and then by point.
    private let means: [[Float]]
    private let precision: Float

    /// Computes the expected RSSI at each grid point of a hall.
    init(of hall: StaticHall) {
        let edge = hall.settings.gridEdge
        let (columns, rows) = (Int((hall.map.width / edge).rounded(.up)), Int((hall.map.height / edge).rounded(.up)))
        points = (0..<columns * rows).map { cell in
            MapPoint(
                x: (Double(cell % columns) + 0.5) * hall.map.width / Double(columns),
                y: (Double(cell / columns) + 0.5) * hall.map.height / Double(rows))
        }.filter(hall.contains)
        let points = points
        means = hall.beacons.map { beacon in points.map { Float(hall.mean(of: beacon, at: $0)) } }
        precision = Float(Double(hall.independentReadings) / (hall.settings.shadowing * hall.settings.shadowing))
    }

    /// Returns the posterior mean for the mean reading of each beacon; nil if the grid has no point.
    func mean(of readings: [Double]) -> MapPoint? {
        var squares = [Float](repeating: 0, count: points.count)
        for (reading, means) in zip(readings, means) {
            let reading = Float(reading)
            for index in squares.indices {
                let difference = reading - means[index]
                squares[index] += difference * difference
            }
        }
        guard let least = squares.min() else { return nil }
        var (weight, x, y) = (0.0, 0.0, 0.0)
        for (square, point) in zip(squares, points) {
            let share = Double(cmath_expf((least - square) * precision / 2))
            weight += share
            x += share * point.x
            y += share * point.y
        }
        return MapPoint(x: x / weight, y: y / weight)
    }
}
