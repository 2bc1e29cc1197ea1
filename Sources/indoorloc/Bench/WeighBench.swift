import CBench
import IndoorLocalization

/// The benchmark of the filter's innermost loop: the likelihood of received beacons for each particle, and each
/// particle's estimate of the receiver offset.
struct WeighBench {
    private let likelihood: Likelihood
    private let map: SignalField.MapField
    private let receiver = ReceiverOffset(deviation: 6, bodyDeviation: 2)
    /// The initial positions, and the cell of each, counted from 1; 0 is outside the grid.
    private let places: [MapPoint]
    private let cells: [Int32]
    private var particles = ParticleFilter.Particles()
    /// The C code's data of each beacon, and the start of its table in `mean` and `variance`.
    private var beacons: [(numbers: cbench_beacon, start: Int)] = []
    private var mean: [Float] = []
    private var variance: [Float] = []
    private var inC: [cbench_particle] = []
    private var sums: [Float]

    /// Creates particles at random places in the office, one in a hundred outside.
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

    /// The number of particles times the number of beacons.
    var count: Int { cells.count * beacons.count }

    /// Resets the sums.
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

    /// The largest difference between the results of both.
    func difference(to other: WeighBench) -> Float { zip(sums, other.sums).map { abs($0 - $1) }.max() ?? .infinity }
}

extension Likelihood {
    /// A received beacon as data of the C code, without its table.
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
