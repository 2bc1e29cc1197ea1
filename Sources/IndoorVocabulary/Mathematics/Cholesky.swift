/// The lower triangle L of a symmetric positive definite matrix A = L·Lᵀ, stored by rows.
package struct Cholesky: Sendable {
    /// Number of rows.
    package let order: Int
    private var factor: [Double]

    /// Factors a matrix given by rows; nil if it isn't positive definite. Reads only the lower triangle.
    ///
    /// The factorization needs order³/3 operations.
    package init?(_ matrix: [Double], order: Int) {
        precondition(matrix.count == order * order, "a matrix of order \(order) has \(order * order) elements")
        self.order = order
        factor = matrix
        let succeeded = factor.withUnsafeMutableBufferPointer { a in
            for row in 0..<order {
                for column in 0...row {
                    var sum = a[row * order + column]
                    for k in 0..<column { sum -= a[row * order + k] * a[column * order + k] }
                    if row == column {
                        guard sum > 0, sum.isFinite else { return false }
                        a[row * order + row] = sum.squareRoot()
                    } else {
                        a[row * order + column] = sum / a[column * order + column]
                    }
                }
            }
            return true
        }
        guard succeeded else { return nil }
    }

    /// Returns the solution x of A·x = b.
    package func solve(_ right: [Double]) -> [Double] {
        solve(each: [right])[0]
    }

    /// Returns the solutions of A·x = b for many right-hand sides b. The results equal the results of separate calls,
    /// but take much less time.
    package func solve(each rights: [[Double]]) -> [[Double]] {
        columns(rights) { x, width in
            forward(&x, width)
            for row in stride(from: order - 1, through: 0, by: -1) {
                for k in (row + 1)..<max(order, row + 1) {
                    subtract(factor[k * order + row], times: k, from: row, &x, width)
                }
                for column in 0..<width { x[row * width + column] /= factor[row * order + row] }
            }
        }
    }

    /// Returns L⁻¹·b for many b. The elements of a vector with the covariance A become independent, with a variance of
    /// 1.
    package func whitened(each rights: [[Double]]) -> [[Double]] {
        columns(rights) { forward(&$0, $1) }
    }

    /// Stores the columns side by side, so that the innermost loops access contiguous memory.
    private func columns(
        _ rights: [[Double]], _ body: (inout UnsafeMutableBufferPointer<Double>, _ width: Int) -> Void
    ) -> [[Double]] {
        let width = rights.count
        var solutions = [Double](repeating: 0, count: order * width)
        for (column, right) in rights.enumerated() {
            precondition(right.count == order, "the right side needs \(order) elements")
            for row in 0..<order { solutions[row * width + column] = right[row] }
        }
        solutions.withUnsafeMutableBufferPointer { body(&$0, width) }
        return (0..<width).map { column in (0..<order).map { solutions[$0 * width + column] } }
    }

    private func forward(_ x: inout UnsafeMutableBufferPointer<Double>, _ width: Int) {
        for row in 0..<order {
            for k in 0..<row { subtract(factor[row * order + k], times: k, from: row, &x, width) }
            for column in 0..<width { x[row * width + column] /= factor[row * order + row] }
        }
    }

    @inline(__always)
    private func subtract(
        _ share: Double, times source: Int, from target: Int, _ x: inout UnsafeMutableBufferPointer<Double>,
        _ width: Int
    ) {
        for column in 0..<width { x[target * width + column] -= share * x[source * width + column] }
    }

    /// Returns the diagonal of A⁻¹. Needs order³/3 operations.
    package func inverseDiagonal() -> [Double] {
        var diagonal = [Double](repeating: 0, count: order)
        var column = [Double](repeating: 0, count: order)
        for start in 0..<order {
            // Compute column `start` of L⁻¹, which is zero above the diagonal; A⁻¹ = L⁻ᵀ·L⁻¹.
            for row in start..<order {
                var sum = row == start ? 1.0 : 0.0
                for k in start..<row { sum -= factor[row * order + k] * column[k] }
                column[row] = sum / factor[row * order + row]
                diagonal[start] += column[row] * column[row]
            }
        }
        return diagonal
    }
}
