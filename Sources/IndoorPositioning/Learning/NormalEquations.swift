import IndoorVocabulary

/// The normal equations of generalized least squares, accumulated group by group.
struct NormalEquations {
    private let count: Int
    private var matrix: [Double]
    private var right: [Double]

    /// Creates the equations for `count` unknown effects.
    init(count: Int) {
        self.count = count
        matrix = Array(repeating: 0, count: count * count)
        right = Array(repeating: 0, count: count)
    }

    /// Adds a group of readings y with covariance K.
    ///
    /// - Parameters:
    ///   - effects: the indexes of the effects on these readings.
    ///   - columns: for each effect, the column h of its coefficients in the readings.
    ///   - solvedColumns: K⁻¹·h of each column.
    ///   - solvedReadings: K⁻¹·y.
    mutating func add(
        _ effects: [Int], _ columns: [[Double]], _ solvedColumns: [[Double]], _ solvedReadings: [Double]
    ) {
        for (row, column) in columns.enumerated() {
            // Skip zeros: the columns are sparse.
            let touched = column.indices.filter { column[$0] != 0 }
            for (other, solved) in solvedColumns.enumerated() {
                matrix[effects[row] * count + effects[other]] += touched.reduce(0) { $0 + column[$1] * solved[$1] }
            }
            right[effects[row]] += zip(column, solvedReadings).reduce(0) { $0 + $1.0 * $1.1 }
        }
    }

    /// Returns the most probable effects and their variances; nil if the equations are singular.
    ///
    /// - Parameter priors: mean and standard deviation of each effect before any reading. With fewer priors than
    ///   effects, the remaining effects are fixed at 0.
    func solve(_ priors: [(mean: Double, deviation: Double)]) -> (values: [Double], variances: [Double])? {
        let used = priors.count
        var matrix = (0..<used).flatMap { self.matrix[($0 * count)..<($0 * count + used)] }
        var right = Array(self.right[..<used])
        for (index, prior) in priors.enumerated() {
            let precision = 1 / max(prior.deviation * prior.deviation, 1e-6)
            matrix[index * used + index] += precision
            right[index] += prior.mean * precision
        }
        guard let factor = Cholesky(matrix, order: used) else { return nil }
        return (factor.solve(right), factor.inverseDiagonal())
    }
}
