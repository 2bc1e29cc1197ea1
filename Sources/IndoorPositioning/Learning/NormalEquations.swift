import IndoorVocabulary

/// The normal equations of generalized least squares, gathered group by group.
struct NormalEquations {
    private let count: Int
    private var matrix: [Double]
    private var right: [Double]

    /// Creates the equations of `count` unknown effects.
    init(count: Int) {
        self.count = count
        matrix = Array(repeating: 0, count: count * count)
        right = Array(repeating: 0, count: count)
    }

    /// Adds a group of readings y with covariance K.
    ///
    /// - Parameters:
    ///   - effects: the indexes of the effects that these readings have.
    ///   - columns: by effect, how much of it each reading has: h.
    ///   - solvedColumns: K⁻¹·h of each.
    ///   - solvedReadings: K⁻¹·y.
    mutating func add(
        _ effects: [Int], _ columns: [[Double]], _ solvedColumns: [[Double]], _ solvedReadings: [Double]
    ) {
        for (row, column) in columns.enumerated() {
            // Most readings have nothing of most effects.
            let touched = column.indices.filter { column[$0] != 0 }
            for (other, solved) in solvedColumns.enumerated() {
                matrix[effects[row] * count + effects[other]] += touched.reduce(0) { $0 + column[$1] * solved[$1] }
            }
            right[effects[row]] += zip(column, solvedReadings).reduce(0) { $0 + $1.0 * $1.1 }
        }
    }

    /// The most probable effects and their variances; nil if they cannot be told from each other.
    ///
    /// - Parameter priors: mean and standard deviation of each effect before any reading; of the first ones, if the others
    ///   are to be taken as 0.
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
