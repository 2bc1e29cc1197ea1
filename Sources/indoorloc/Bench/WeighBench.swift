import CBench
import IndoorLocalization

/// The innermost loop of the filter: the likelihood of heard beacons, particle by particle, and what each learns of the
/// receiver.
struct WeighBench {
    private let likelihood: Likelihood
    private let map: SignalField.MapField
    private let receiver = ReceiverOffset(deviation: 6, bodyDeviation: 2)
    /// The places at the beginning, and the cell of each counted from 1; 0 is nowhere.
    private let places: [MapPoint]
    private let cells: [Int32]
    private var particles = ParticleFilter.Particles()
    /// What the C code needs of each beacon, and where its table begins in `mean` and `variance`.
    private var beacons: [(numbers: cbench_beacon, start: Int)] = []
    private var mean: [Float] = []
    private var variance: [Float] = []
    private var inC: [cbench_particle] = []
    private var sums: [Float]

    /// Particles anywhere in the office, one in a hundred outside.
    init(particles count: Int, seed: UInt64 = 3) {
        let bench = FilterBench(particles: 100)
        map = bench.field.maps[0]
        likelihood = Likelihood(
            field: bench.field, evidence: bench.evidence[0], receivers: [receiver])
        var generator = SeededGenerator(seed: seed)
        let grid = map.grid
        places = (0..<count).map { _ in
            let isOutside = generator.uniform() < 0.01
            let point = grid.center(of: Int.random(in: 0..<grid.count, using: &generator))
            return isOutside ? MapPoint(x: -1000, y: point.y) : point
        }
        cells = places.map { Int32(grid.cell(at: $0) ?? -1) + 1 }
        sums = Array(repeating: 0, count: count)
        particles.place(places, receiver)
        for heard in likelihood.evidence.heard {
            guard let table = map.tables[heard.beacon] else { continue }
            let reading = likelihood.numbers(heard, table, mapIndex: 0)
            beacons.append((reading, mean.count))
            mean += table.mean
            variance += table.variance
        }
    }

    /// Particles times beacons.
    var count: Int { cells.count * beacons.count }

    /// Forgets what was learned.
    private mutating func begin() {
        for index in sums.indices { sums[index] = 0 }
    }

    mutating func weigh() {
        begin()
        particles.forget(receiver)
        likelihood.hear(&particles, 0..<cells.count, mapIndex: 0, cells: cells, sums: &sums)
    }

    mutating func weighInC() {
        begin()
        inC.removeAll(keepingCapacity: true)
        for (index, place) in places.enumerated() {
            inC.append(
                cbench_particle(
                    x: Float(place.x), y: Float(place.y), cell: cells[index] - 1, mean: (0, 0, 0),
                    covariance: (
                        Float(receiver.variance), 0, 0, Float(receiver.bodyVariance), 0, Float(receiver.bodyVariance)
                    )))
        }
        mean.withUnsafeBufferPointer { mean in
            variance.withUnsafeBufferPointer { variance in
                guard let mean = mean.baseAddress, let variance = variance.baseAddress else { return }
                let placed = beacons.map { beacon in
                    var numbers = beacon.numbers
                    numbers.mean = mean + beacon.start
                    numbers.variance = variance + beacon.start
                    return numbers
                }
                cbench_hear(placed, placed.count, Int32(map.grid.columns), &inC, inC.count, &sums)
            }
        }
    }

    /// The largest difference between what both came to.
    func difference(to other: WeighBench) -> Float { zip(sums, other.sums).map { abs($0 - $1) }.max() ?? .infinity }
}

extension Likelihood {
    /// A heard beacon as the C code takes it, but for its table.
    fileprivate func numbers(_ heard: Evidence.Heard, _ table: SignalField.Table, mapIndex: Int) -> cbench_beacon {
        let terms = terms(heard, mapIndex: mapIndex)
        let place = place(of: heard)
        var numbers = cbench_beacon()
        numbers.first_column = Int32(table.columns.lowerBound)
        numbers.columns = Int32(table.columns.count)
        numbers.first_row = Int32(table.rows.lowerBound)
        numbers.rows = Int32(table.rows.count)
        numbers.rssi = heard.rssi
        numbers.noise = terms.variance
        numbers.share = heard.share
        numbers.caution = Float(model.receiverCaution)
        (numbers.x, numbers.y) = (Float(place.x), Float(place.y))
        numbers.outside = terms.outside
        numbers.freedom = Float(model.degreesOfFreedom)
        return numbers
    }
}
