import CBench
import IndoorLocalization

/// The innermost loop of the filter: the likelihood of heard beacons, particle by particle.
struct WeighBench {
    private let likelihood: Likelihood
    private let level: SignalField.Level
    /// The cell of each particle; -1 is nowhere.
    private let cells: [Int32]
    /// What the C code needs of each beacon, and where its table begins in `mean`, `variance` and `rate`.
    private let beacons: [(numbers: cbench_beacon, start: Int)]
    private let mean: [Float]
    private let variance: [Float]
    private let rate: [Float]
    /// How many detections there were in all.
    private let draws: Float
    private var sums: [Float]

    /// Particles anywhere in the office, one in a hundred outside.
    init(particles: Int, seed: UInt64 = 3) {
        let bench = FilterBench(particles: 100)
        likelihood = Likelihood(field: bench.field, evidence: bench.evidence[0], offsets: bench.offsets)
        level = bench.field.levels[0]
        var generator = SeededGenerator(seed: seed)
        let count = Int32(level.grid.count)
        cells = (0..<particles).map { _ in
            generator.uniform() < 0.01 ? -1 : Int32.random(in: 0..<count, using: &generator)
        }
        sums = Array(repeating: 0, count: particles)
        var beacons: [(numbers: cbench_beacon, start: Int)] = []
        var (mean, variance, rate): ([Float], [Float], [Float]) = ([], [], [])
        var draws: Float = 0
        for heard in bench.evidence[0].heard {
            let terms = likelihood.terms(heard, level: 0)
            draws += terms.draw
            guard let table = level.tables[heard.beacon] else { continue }
            let freedom = Float(bench.field.model.degreesOfFreedom)
            beacons.append((Self.numbers(terms, table, freedom: freedom), mean.count))
            mean += table.mean
            variance += table.variance
            rate += table.logRate
        }
        (self.beacons, self.mean, self.variance, self.rate, self.draws) = (beacons, mean, variance, rate, draws)
    }

    private static func numbers(
        _ terms: Likelihood.Terms, _ table: SignalField.Table, freedom: Float
    ) -> cbench_beacon {
        var numbers = cbench_beacon()
        numbers.first_column = Int32(table.columns.lowerBound)
        numbers.columns = Int32(table.columns.count)
        numbers.first_row = Int32(table.rows.lowerBound)
        numbers.rows = Int32(table.rows.count)
        numbers.rssi = terms.rssi
        numbers.noise = terms.variance
        numbers.share = terms.share
        numbers.draw = terms.draw
        numbers.outside = terms.outside
        numbers.freedom = freedom
        return numbers
    }

    /// Particles times beacons.
    var count: Int { cells.count * beacons.count }

    mutating func weigh() {
        for index in sums.indices { sums[index] = 0 }
        likelihood.add(to: &sums, level: 0, cells: cells)
    }

    mutating func weighInC() {
        for index in sums.indices { sums[index] = 0 }
        mean.withUnsafeBufferPointer { mean in
            variance.withUnsafeBufferPointer { variance in
                rate.withUnsafeBufferPointer { rate in
                    guard let mean = mean.baseAddress, let variance = variance.baseAddress, let rate = rate.baseAddress
                    else { return }
                    let placed = beacons.map { beacon in
                        var numbers = beacon.numbers
                        numbers.mean = mean + beacon.start
                        numbers.variance = variance + beacon.start
                        numbers.log_rate = rate + beacon.start
                        return numbers
                    }
                    cbench_weigh(placed, placed.count, Int32(level.grid.columns), cells, cells.count, &sums)
                }
            }
        }
        // How often something was heard at all, against how often something is heard at the place.
        for (index, cell) in cells.enumerated() {
            sums[index] -= draws * (cell < 0 ? level.outsideRate : level.logRate[Int(cell)])
        }
    }

    /// The largest difference between what both came to.
    func difference(to other: WeighBench) -> Float { zip(sums, other.sums).map { abs($0 - $1) }.max() ?? .infinity }
}
