import CMath
import IndoorLocalization
import XCTest

/// The loops that learn the receiver, each against the formula it stands for, with every kind of vectors of this machine.
final class ReceiverLoopTests: XCTestCase {
    private typealias State = ReceiverReference.State
    private static let levels = 0...cmath_vector_level()
    /// Bands of rows that together are the grid of `ReceiverReference.Table`.
    private static let bands: [Range<Int32>] = [0..<10, 10..<11, 11..<40]

    /// What many guesses know, as the loops take it: nine numbers each, one array a number.
    private struct Guesses {
        var x: [Float] = []
        var y: [Float] = []
        /// Counted from 1; 0 is outside.
        var cells: [Int32] = []
        var fields = [[Float]](repeating: [], count: 9)
        var sums: [Float] = []

        init(count: Int, cells: Range<Int32>, seed: UInt64) {
            var generator = SeededGenerator(seed: seed)
            for _ in 0..<count {
                x.append(Float(30 * generator.uniform() - 5))
                y.append(Float(30 * generator.uniform() - 5))
                self.cells.append(Int32.random(in: cells, using: &generator))
                sums.append(Float(generator.normal()))
                add(State.random(&generator))
            }
        }

        /// Guesses at the middle of each cell of a table's grid, of one state.
        init(middlesOf table: ReceiverReference.Table, _ state: State) {
            for cell in 0..<Int(ReceiverReference.Table.cells) {
                let middle = table.middle(cell)
                x.append(middle.x)
                y.append(middle.y)
                cells.append(Int32(cell + 1))
                sums.append(0)
                add(state)
            }
        }

        private mutating func add(_ state: State) {
            for (field, value) in state.fields.enumerated() { fields[field].append(Float(value)) }
        }

        func state(_ index: Int) -> State { State(fields: fields.map { Double($0[index]) }) }

        mutating func with(_ body: (cmath_receivers, inout [Float]) -> Void) {
            // Room behind each field, as a grid needs it.
            let count = x.count + Int(cmath_lanes)
            var flat = fields.flatMap { $0 + [Float](repeating: 0, count: Int(cmath_lanes)) }
            sums += [Float](repeating: 0, count: Int(cmath_lanes))
            defer { sums.removeLast(Int(cmath_lanes)) }
            flat.withUnsafeMutableBufferPointer { flat in
                guard let base = flat.baseAddress else { return XCTFail("there are no guesses") }
                let all = cmath_receivers(
                    offset: base, body_x: base + count, body_y: base + 2 * count, c00: base + 3 * count,
                    c01: base + 4 * count, c02: base + 5 * count, c11: base + 6 * count, c12: base + 7 * count,
                    c22: base + 8 * count)
                body(all, &sums)
            }
            for field in fields.indices { fields[field] = Array(flat[field * count..<field * count + x.count]) }
        }

        mutating func hear(_ level: Int32, _ table: ReceiverReference.Table, first: Int = 0, count: Int? = nil) {
            let (x, y, cells, number) = (x, y, cells, count ?? x.count)
            table.with { heard in
                with { receivers, sums in
                    cmath_hear_at(
                        level, &heard, ReceiverReference.Table.columns, Array(cells[first..<first + number]), x, y,
                        first, number, receivers, &sums)
                }
            }
        }

        /// Weighs the reading in each cell of a grid, a band of rows after the other.
        mutating func hearGrid(_ level: Int32, _ table: ReceiverReference.Table, bands: [Range<Int32>]) {
            let columns = ReceiverReference.Table.columns
            table.with { heard in
                with { all, sums in
                    for band in bands {
                        let first = Int(band.lowerBound * columns)
                        let receivers = cmath_receivers(
                            offset: all.offset + first, body_x: all.body_x + first, body_y: all.body_y + first,
                            c00: all.c00 + first, c01: all.c01 + first, c02: all.c02 + first, c11: all.c11 + first,
                            c12: all.c12 + first, c22: all.c22 + first)
                        sums.withUnsafeMutableBufferPointer { sums in
                            guard let sums = sums.baseAddress else { return XCTFail("there are no sums") }
                            cmath_hear_grid_at(
                                level, &heard, columns, band.lowerBound, Int32(band.count), table.left, table.top,
                                table.size, 1, receivers, sums + first)
                        }
                    }
                }
            }
        }

        var bits: [[UInt32]] { (fields + [sums]).map { $0.map(\.bitPattern) } }
    }

    func testEachStateFollowsTheFormulas() {
        for (seed, isDirected) in [(UInt64(1), true), (2, false)] {
            var table = ReceiverReference.Table(seed: seed)
            table.directed = isDirected ? 1 : 0
            // More than one block of the loop, and its rest.
            let guesses = Guesses(count: 1003, cells: 0..<ReceiverReference.Table.cells + 1, seed: seed)
            for level in Self.levels {
                var heard = guesses
                heard.hear(level, table)
                for index in guesses.x.indices {
                    let expected = table.hear(
                        guesses.state(index), cell: guesses.cells[index], x: guesses.x[index], y: guesses.y[index])
                    let place = "guess \(index), level \(level), seed \(seed)"
                    let gain = Double(heard.sums[index]) - Double(guesses.sums[index])
                    XCTAssertEqual(gain, expected.likelihood, accuracy: 5e-5, place)
                    let learned = heard.state(index)
                    for (value, expected) in zip(learned.fields, expected.state.fields) {
                        XCTAssertEqual(value, expected, accuracy: 2e-4 + 2e-5 * abs(expected), place)
                    }
                }
            }
        }
    }

    func testSuccessiveReadingsFollowTheFormulas() {
        let tables = (UInt64(10)..<18).map { ReceiverReference.Table(seed: $0) }
        let guesses = Guesses(count: 300, cells: 1..<ReceiverReference.Table.cells + 1, seed: 9)
        for level in Self.levels {
            var heard = guesses
            for table in tables { heard.hear(level, table) }
            for index in guesses.x.indices {
                var (state, sum) = (guesses.state(index), Double(guesses.sums[index]))
                for table in tables {
                    let next = table.hear(
                        state, cell: guesses.cells[index], x: guesses.x[index], y: guesses.y[index])
                    state = next.state
                    sum += next.likelihood
                }
                XCTAssertEqual(Double(heard.sums[index]), sum, accuracy: 1e-3, "guess \(index), level \(level)")
                for (value, expected) in zip(heard.state(index).fields, state.fields) {
                    XCTAssertEqual(value, expected, accuracy: 2e-3 + 1e-4 * abs(expected), "guess \(index)")
                }
            }
        }
    }

    func testAReadingUpdatesOnlyTheStatesOfItsRange() {
        let table = ReceiverReference.Table(seed: 4)
        let guesses = Guesses(count: 600, cells: 1..<ReceiverReference.Table.cells + 1, seed: 4)
        for level in Self.levels {
            var (some, all) = (guesses, guesses)
            // The sums begin with that of the first guess.
            some.sums = Array(guesses.sums[17..<567])
            some.hear(level, table, first: 17, count: 550)
            all.hear(level, table)
            XCTAssertEqual(some.sums, Array(all.sums[17..<567]), "level \(level)")
            for field in guesses.fields.indices {
                XCTAssertEqual(some.fields[field][17..<567], all.fields[field][17..<567])
                XCTAssertEqual(some.fields[field][..<17], guesses.fields[field][..<17])
                XCTAssertEqual(some.fields[field][567...], guesses.fields[field][567...])
            }
        }
    }

    func testAGridAgreesWithParticlesAtItsCellCenters() {
        let state = State(fields: [1.5, -0.5, 0.25, 81, 2, -1, 4, 0.5, 5])
        for seed in UInt64(5)...7 {
            let table = ReceiverReference.Table(seed: seed)
            for level in Self.levels {
                var (grid, single) = (Guesses(middlesOf: table, state), Guesses(middlesOf: table, state))
                grid.hearGrid(level, table, bands: Self.bands)
                single.hear(level, table)
                XCTAssertEqual(grid.bits, single.bits, "level \(level), seed \(seed)")
                XCTAssertEqual(grid.sums.filter { $0 != 0 }.count, 600, "the cells of the table")
            }
        }
    }

    /// A rectangle of cells in a grid.
    private struct Shape {
        var grid: (columns: Int, rows: Int)
        var columns: Range<Int>
        var rows: Range<Int>
    }

    /// Tables that are narrower than a vector and wider than a block, and that touch the edges of the grid.
    private static let shapes = [
        Shape(grid: (50, 40), columns: 7..<37, rows: 11..<31), Shape(grid: (20, 9), columns: 19..<20, rows: 7..<9),
        Shape(grid: (20, 9), columns: 17..<20, rows: 0..<9), Shape(grid: (40, 13), columns: 24..<40, rows: 5..<13),
        Shape(grid: (320, 7), columns: 20..<320, rows: 1..<7), Shape(grid: (5, 3), columns: 0..<5, rows: 0..<3),
    ]

    func testEachShapeOfATableAgreesWithParticlesAtItsCellCenters() {
        for (number, shape) in Self.shapes.enumerated() {
            for step in [1, 3] {
                for height in [1, 4, shape.grid.rows] {
                    for level in Self.levels {
                        compare(
                            shape, step: step, height: height, level, seed: UInt64(number),
                            "shape \(number), step \(step), bands of \(height) rows, level \(level)")
                    }
                }
            }
        }
    }

    /// Compares the loop over a grid in bands with the loop over particles at the centers of its cells.
    private func compare(_ shape: Shape, step: Int, height: Int, _ level: Int32, seed: UInt64, _ place: String) {
        let (left, top, size) = (Float(-3.5), Float(2.25), Float(0.6))
        let (columns, count) = (shape.grid.columns, shape.grid.columns * shape.grid.rows)
        let room = count + Int(cmath_lanes)
        var generator = SeededGenerator(seed: seed)
        func random(_ range: ClosedRange<Double>, _ count: Int) -> [Float] {
            (0..<count).map { _ in Float(range.lowerBound + (range.upperBound - range.lowerBound) * generator.uniform())
            }
        }
        let entries = shape.columns.count * shape.rows.count
        let (mean, variance) = (random(-100 ... -40, entries), random(0.1...40, entries))
        // Nine fields and the sums. The diagonal of the covariance exceeds the rest.
        let ranges: [ClosedRange<Double>] = [
            -6...6, -4...4, -4...4, 20...80, -1...1, -1...1, 5...9, -1...1, 5...9, -20 ... -1,
        ]
        var grid = ranges.flatMap { random($0, room) }
        let before = grid
        var particles = grid
        let x = (0..<count).map { left + (Float($0 % columns) + 0.5) * size }
        let y = (0..<count).map { top + (Float($0 / columns) + 0.5) * size }
        // A row that isn't the middle of its group is outside for the particles.
        let cells: [Int32] = (0..<count).map { cell in
            let isMiddle = cell / columns % step == step / 2
            return isMiddle ? Int32(cell + 1) : 0
        }
        func receivers(_ base: UnsafeMutablePointer<Float>) -> cmath_receivers {
            cmath_receivers(
                offset: base, body_x: base + room, body_y: base + 2 * room, c00: base + 3 * room, c01: base + 4 * room,
                c02: base + 5 * room, c11: base + 6 * room, c12: base + 7 * room, c22: base + 8 * room)
        }
        mean.withUnsafeBufferPointer { mean in
            variance.withUnsafeBufferPointer { variance in
                guard let mean = mean.baseAddress, let variance = variance.baseAddress else { return XCTFail(place) }
                var heard = cmath_heard(
                    mean: mean, variance: variance, first_column: Int32(shape.columns.lowerBound),
                    columns: Int32(shape.columns.count), first_row: Int32(shape.rows.lowerBound),
                    rows: Int32(shape.rows.count), rssi: -71, noise: 9, share: 0.8, caution: 1.2, x: 4, y: 3,
                    directed: 1,
                    outside: -3.5, freedom: 5)
                grid.withUnsafeMutableBufferPointer { grid in
                    guard let base = grid.baseAddress else { return XCTFail(place) }
                    for row in stride(from: 0, to: shape.grid.rows, by: height) {
                        let first = base + row * columns
                        cmath_hear_grid_at(
                            level, &heard, Int32(columns), Int32(row), Int32(min(height, shape.grid.rows - row)), left,
                            top, size, Int32(step), receivers(first), first + 9 * room)
                    }
                }
                particles.withUnsafeMutableBufferPointer { particles in
                    guard let base = particles.baseAddress else { return XCTFail(place) }
                    cmath_hear_at(
                        level, &heard, Int32(columns), cells, x, y, 0, count, receivers(base), base + 9 * room)
                }
            }
        }
        XCTAssertEqual(grid.map(\.bitPattern), particles.map(\.bitPattern), place)
        XCTAssertNotEqual(grid.map(\.bitPattern), before.map(\.bitPattern), place)
    }

    func testExtremeReadingsKeepAllNumbersFinite() {
        for rssi in [-1e30, 1e30] as [Float] {
            var table = ReceiverReference.Table(seed: 8)
            table.rssi = rssi
            var guesses = Guesses(count: 500, cells: 0..<ReceiverReference.Table.cells + 1, seed: 8)
            for _ in 0..<4 { guesses.hear(cmath_vector_level(), table) }
            XCTAssertTrue(guesses.fields.joined().allSatisfy(\.isFinite), "\(rssi) dBm")
            XCTAssertTrue(guesses.sums.allSatisfy(\.isFinite), "\(rssi) dBm")
        }
    }

    func testManyReadingsKeepTheVariancesPositive() {
        var guesses = Guesses(count: 200, cells: 1..<ReceiverReference.Table.cells + 1, seed: 11)
        for turn in 0..<500 { guesses.hear(cmath_vector_level(), ReceiverReference.Table(seed: UInt64(turn % 20))) }
        for index in guesses.x.indices {
            let state = guesses.state(index)
            for axis in 0..<3 { XCTAssertGreaterThanOrEqual(state.covariance[axis][axis], 0, "guess \(index)") }
        }
    }

    func testTimeAddsNoiseToTheOffsetAndResetsTheBody() {
        let guesses = Guesses(count: 777, cells: 0..<1, seed: 12)
        for level in Self.levels {
            var aged = guesses
            aged.with { receivers, _ in cmath_age_receivers_at(level, 0.04, 0.8, 1.5, 5, 760, receivers) }
            for index in guesses.x.indices {
                let state = guesses.state(index)
                let expected = (5..<765).contains(index) ? state.aged(wander: 0.04, keep: 0.8, fresh: 1.5) : state
                for (value, expected) in zip(aged.state(index).fields, expected.fields) {
                    XCTAssertEqual(value, expected, accuracy: 1e-5 * (1 + abs(expected)), "\(index), level \(level)")
                }
            }
            XCTAssertEqual(aged.sums, guesses.sums)
        }
    }

    /// Equal seeds give equal bytes, on whatever processor.
    func testAllVectorLevelsGiveTheSameBits() {
        let table = ReceiverReference.Table(seed: 13)
        let guesses = Guesses(count: 1003, cells: 0..<ReceiverReference.Table.cells + 1, seed: 13)
        func bits(_ level: Int32) -> [[UInt32]] {
            var heard = guesses
            for _ in 0..<5 {
                heard.hear(level, table)
                heard.with { receivers, _ in cmath_age_receivers_at(level, 0.01, 0.9, 0.8, 3, 990, receivers) }
            }
            var grid = Guesses(middlesOf: table, guesses.state(0))
            grid.hearGrid(level, table, bands: Self.bands)
            return heard.bits + grid.bits
        }
        for level in Self.levels { XCTAssertEqual(bits(level), bits(0), "level \(level)") }
    }
}

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
