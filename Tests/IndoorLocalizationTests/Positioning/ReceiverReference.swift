import CMath
import XCTest

import IndoorLocalization

/// What the loops that learn the receiver have to come to: the formulas as textbooks write them, in double precision.
enum ReceiverReference {
    /// What a guess knows of the receiver: mean and covariance of offset, body x and body y.
    struct State {
        var mean: [Double]
        var covariance: [[Double]]

        /// Mean, and the covariance's numbers on the diagonal and above it, row by row.
        var fields: [Double] {
            mean + [0, 1, 2].flatMap { row in (row..<3).map { covariance[row][$0] } }
        }

        init(fields: [Double]) {
            mean = Array(fields[..<3])
            covariance = [
                [fields[3], fields[4], fields[5]], [fields[4], fields[6], fields[7]],
                [fields[5], fields[7], fields[8]],
            ]
        }

        /// Any mean, and a covariance that is a product with its own transpose.
        static func random(_ generator: inout SeededGenerator) -> State {
            let factor = [9.0, 2, 2].map { size in (0..<3).map { _ in size * generator.normal() / 2 } }
            var fields = (0..<3).map { _ in 4 * generator.normal() }
            for row in 0..<3 {
                for column in row..<3 {
                    let product = zip(factor[row], factor[column]).reduce(0) { $0 + $1.0 * $1.1 }
                    fields.append(product + (row == column ? 0.5 : 0))
                }
            }
            return State(fields: fields.map { Double(Float($0)) })
        }

        /// After some time: a random walk of the offset, an Ornstein-Uhlenbeck process of the body.
        func aged(wander: Double, keep: Double, fresh: Double) -> State {
            let keeps = [1, keep, keep]
            var state = self
            for row in 0..<3 {
                state.mean[row] *= keeps[row]
                for column in 0..<3 { state.covariance[row][column] *= keeps[row] * keeps[column] }
                state.covariance[row][row] += row == 0 ? wander : fresh
            }
            return state
        }
    }

    /// A table of 30 × 20 cells in a grid of 50 × 40, and a reading.
    struct Table {
        static let columns: Int32 = 50
        static let cells: Int32 = 2000
        let left: Float = -3.5
        let top: Float = 2.25
        let size: Float = 0.6
        var mean: [Float] = []
        var variance: [Float] = []
        var directed: Float = 1
        var rssi: Float
        var noise: Float
        private let share: Float
        private let caution: Float
        private let freedom: Float
        private let x: Float
        private let y: Float
        private let outside: Float = -3.5

        init(seed: UInt64) {
            var generator = SeededGenerator(seed: seed)
            for _ in 0..<600 {
                mean.append(Float(-100 + 60 * generator.uniform()))
                variance.append(Float(0.1 + 40 * generator.uniform()))
            }
            rssi = Float(-90 + 40 * generator.uniform())
            noise = Float(2 + 20 * generator.uniform())
            share = Float(0.1 + 0.9 * generator.uniform())
            caution = Float(0.5 + generator.uniform())
            freedom = Float(3 + 20 * generator.uniform())
            (x, y) = (Float(20 * generator.uniform()), Float(20 * generator.uniform()))
        }

        /// Where the middle of a cell is, cells counted from 0.
        func middle(_ cell: Int) -> (x: Float, y: Float) {
            let (row, column) = cell.quotientAndRemainder(dividingBy: Int(Self.columns))
            return (left + (Float(column) + 0.5) * size, top + (Float(row) + 0.5) * size)
        }

        func with(_ body: (inout cmath_heard) -> Void) {
            mean.withUnsafeBufferPointer { mean in
                variance.withUnsafeBufferPointer { variance in
                    guard let mean = mean.baseAddress, let variance = variance.baseAddress else {
                        return XCTFail("the table is empty")
                    }
                    var heard = cmath_heard(
                        mean: mean, variance: variance, first_column: 7, columns: 30, first_row: 11, rows: 20,
                        rssi: rssi, noise: noise, share: share, caution: caution, x: x, y: y, directed: directed,
                        outside: outside, freedom: freedom)
                    body(&heard)
                }
            }
        }

        /// The reading's likelihood at a guess, against that outside the table, and what the guess knows then.
        ///
        /// Student's t distribution: K. L. Lange et al., JASA 84(408), 1989. The update: R. E. Kalman, *A New Approach to
        /// Linear Filtering and Prediction Problems*, 1960, with a variance that is weighted by how likely the reading is.
        func hear(_ state: State, cell: Int32, x guessX: Float, y guessY: Float) -> (likelihood: Double, state: State) {
            let (row, column) = (Int(cell - 1) / Int(Self.columns) - 11, Int(cell - 1) % Int(Self.columns) - 7)
            guard cell > 0, (0..<20).contains(row), (0..<30).contains(column) else { return (0, state) }
            let entry = row * 30 + column
            let (dx, dy) = (Double(x) - Double(guessX), Double(y) - Double(guessY))
            // Half a metre around a beacon has hardly a direction.
            let distance = (dx * dx + dy * dy + 0.25).squareRoot()
            let direction = directed == 0 ? [1, 0, 0] : [1, dx / distance, dy / distance]
            let reach = state.covariance.map { row in zip(row, direction).reduce(0) { $0 + $1.0 * $1.1 } }
            let known = zip(direction, reach).reduce(0) { $0 + $1.0 * $1.1 }
            let expected = Double(mean[entry]) + zip(direction, state.mean).reduce(0) { $0 + $1.0 * $1.1 }
            let difference = Double(rssi) - expected
            let (share, freedom) = (Double(share), Double(freedom))
            let own = Double(noise) + Double(variance[entry])
            let all = own + known
            let ratio = difference * difference / all
            let density = -(freedom + 1) / 2 * log1p(ratio / freedom) - log(all) / 2
            let trusted = Double(caution) * own / share * (freedom + ratio) / (freedom + 1)
            let gain = reach.map { $0 / (known + trusted) }
            var learned = state
            for row in 0..<3 {
                learned.mean[row] += gain[row] * difference
                for column in 0..<3 { learned.covariance[row][column] -= gain[row] * reach[column] }
            }
            return (share * density - Double(outside), learned)
        }
    }
}
