import CMath
import IndoorLocalization

/// A random field whose cost doesn't depend on the area: independent normal numbers at the points of a square lattice,
/// interpolated between them. The same seed gives the same field.
struct LatticeNoise: Hashable, Sendable {
    private let deviation: Double
    private let distance: Double
    private let seed: UInt64

    /// Creates a field.
    ///
    /// - Parameters:
    ///   - deviation: the standard deviation of its values.
    ///   - distance: the edge of the lattice in metres, above 0.
    init(deviation: Double, distance: Double, seed: UInt64) {
        self.deviation = deviation
        self.distance = distance
        self.seed = seed
    }

    /// Returns the field's value at a place.
    func value(at point: MapPoint) -> Double {
        guard deviation > 0 else { return 0 }
        let (x, y) = (point.x / distance, point.y / distance)
        let (column, row) = (x.rounded(.down), y.rounded(.down))
        let (right, down) = (x - column, y - row)
        var (sum, squares) = (0.0, 0.0)
        for (stepX, shareX) in [(0, 1 - right), (1, right)] {
            for (stepY, shareY) in [(0, 1 - down), (1, down)] {
                let weight = shareX * shareY
                sum += weight * corner(Int(column) + stepX, Int(row) + stepY)
                squares += weight * weight
            }
        }
        // The division makes the variance the same everywhere, at the lattice points and between them.
        return deviation * sum / squares.squareRoot()
    }

    private func corner(_ column: Int, _ row: Int) -> Double {
        let place = UInt64(bitPattern: Int64(column)) << 32 ^ UInt64(UInt32(truncatingIfNeeded: row))
        var generator = SeededGenerator(seed: seed ^ place &* 0x9E37_79B9_7F4A_7C15)
        return generator.normal()
    }
}
