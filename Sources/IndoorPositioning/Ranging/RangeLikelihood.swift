import CMath
import IndoorVocabulary
import VenueModel

/// The likelihood of distances to anchors at points of a venue's maps.
///
/// A measured distance is the distance in space, plus an offset of the device that all anchors of one technology share,
/// plus an error. The likelihood is the mean over the possible offsets: several anchors together show a common offset,
/// like the receiver offset of RSSI. `RangeDensity` is the distribution of the remaining error.
package struct RangeLikelihood: Sendable {
    /// A distance to one anchor.
    private struct Term: Sendable {
        var x: Float
        var y: Float
        var distance: Float
        /// The densities at a point, and for a grid cell about a point.
        var atPoint: RangeDensity
        var inCell: RangeDensity
        /// The squared height of the anchor above the device, by map.
        var squaredRises: [Float]
    }

    /// The distances of one technology.
    private struct Group: Sendable {
        var terms: [Term]
        var share: Float
        /// The possible offsets in metres.
        var offsets: [Float]
    }

    private var groups: [Group] = []
    /// The logarithm of the probability that the anchors are measured through floors, by map.
    private var floorTerms: [Float] = []
    private let mostTerms: Int

    /// The probabilities of the offsets: a normal distribution in steps of a standard deviation.
    private static let offsetWeights = [0.0545, 0.2442, 0.4026, 0.2442, 0.0545]
    /// The maximum number of anchors of one technology. The nearest ones are used, because reflections affect them
    /// least.
    private static let anchorLimit = 40

    /// Creates the likelihood of evidence.
    ///
    /// - Parameters:
    ///   - height: the height of the device above the floor in metres.
    ///   - cellSize: the largest edge of the maps' grid cells in metres.
    package init(
        _ evidence: RangeEvidence, anchors: AnchorField, model: RangeModel, height: Double, mapCount: Int,
        cellSize: Double
    ) {
        floorTerms = Array(repeating: 0, count: mapCount)
        let penalty = cmath_log(model.floorShare)
        for technology in 0..<RangeModel.technologies {
            let nearest = evidence.measured.filter { $0.technology == technology }.sorted {
                ($0.distance, $0.anchor) < ($1.distance, $1.anchor)
            }.prefix(Self.anchorLimit)
            guard !nearest.isEmpty else { continue }
            let errors = model.errors(ofTechnology: technology)
            let share = nearest.reduce(0) { $0 + $1.share } / Double(nearest.count)
            for mapIndex in 0..<mapCount {
                let floors = nearest.reduce(0) { $0 + min(anchors.floors(from: $1.anchor, to: mapIndex), 100) }
                floorTerms[mapIndex] += Float(share * penalty * Double(floors))
            }
            let terms = nearest.map { measured in
                let anchor = anchors.anchors[measured.anchor]
                func density(_ deviation: Double) -> RangeDensity {
                    RangeDensity(deviation: deviation, excess: errors.excess, excessShare: model.excessShare)
                }
                // Plus the variance of a uniform distribution over the cell's edge, for the unknown point in the cell.
                let scatter = measured.deviation * measured.deviation + cellSize * cellSize / 12
                return Term(
                    x: Float(anchor.point.x), y: Float(anchor.point.y), distance: Float(measured.distance),
                    atPoint: density(measured.deviation), inCell: density(scatter.squareRoot()),
                    squaredRises: (0..<mapCount).map { mapIndex in
                        let heightDifference = anchors.heightDifference(
                            of: measured.anchor, above: height, mapIndex: mapIndex)
                        return Float(heightDifference * heightDifference)
                    })
            }
            let offsets =
                errors.offsetDeviation > 0 ? [-2, -1, 0, 1, 2].map { Float($0 * errors.offsetDeviation) } : [0]
            groups.append(Group(terms: terms, share: Float(share), offsets: offsets))
        }
        mostTerms = groups.reduce(0) { max($0, $1.terms.count) }
    }

    /// Returns the log-likelihood at a point of a map.
    func logLikelihood(x: Float, y: Float, mapIndex: Int, distances: inout [Float]) -> Float {
        logLikelihood(x, y, mapIndex, isCell: false, &distances)
    }

    /// Memory for the distances from one point.
    var scratch: [Float] { Array(repeating: 0, count: mostTerms) }

    private func logLikelihood(
        _ x: Float, _ y: Float, _ mapIndex: Int, isCell: Bool, _ distances: inout [Float]
    ) -> Float {
        var sum = floorTerms[mapIndex]
        for group in groups {
            let (terms, offsets) = (group.terms, group.offsets)
            for index in terms.indices {
                let term = terms[index]
                let (dx, dy) = (x - term.x, y - term.y)
                distances[index] = term.distance - (dx * dx + dy * dy + term.squaredRises[mapIndex]).squareRoot()
            }
            var total = 0.0
            for place in offsets.indices {
                var product = offsets.count > 1 ? Self.offsetWeights[place] : 1
                for index in terms.indices {
                    let density = isCell ? terms[index].inCell : terms[index].atPoint
                    product *= Double(density.value(at: distances[index] - offsets[place]))
                }
                total += product
            }
            sum += group.share * Float(cmath_log(max(total, .leastNormalMagnitude)))
        }
        return sum
    }

    /// Adds the log-likelihood at each particle of a range.
    func add(to sums: inout [Float], x: [Float], y: [Float], _ range: Range<Int>, mapIndex: Int) {
        var distances = scratch
        for (place, index) in range.enumerated() {
            sums[place] += logLikelihood(x[index], y[index], mapIndex, isCell: false, &distances)
        }
    }

    /// Adds the log-likelihood of every cell of a map, whose sums begin at `first`.
    func add(toGrid sums: inout [Float], first: Int, grid: MapGrid, mapIndex: Int) {
        var distances = scratch
        for cell in 0..<grid.count {
            sums[first + cell] += logLikelihood(inCell: cell, grid: grid, mapIndex: mapIndex, distances: &distances)
        }
    }

    /// Returns the log-likelihood of a cell of a map.
    func logLikelihood(inCell cell: Int, grid: MapGrid, mapIndex: Int, distances: inout [Float]) -> Float {
        let center = grid.center(of: cell)
        return logLikelihood(Float(center.x), Float(center.y), mapIndex, isCell: true, &distances)
    }
}

/// The distances of a time interval, prepared for weighing.
package struct RangeEvidence: Sendable {
    /// The distances to one anchor by one technology.
    struct Measured: Sendable {
        /// Index in the anchor field.
        var anchor: Int
        /// Number of the technology.
        var technology: Int
        /// The median distance in metres.
        var distance: Double
        /// Standard deviation of the distance along a free path in metres.
        var deviation: Double
        /// Weight of the distance as evidence, in (0, 1].
        var share: Double
    }

    /// The distances, ordered by technology and anchor; not empty.
    var measured: [Measured]
    /// Mean age of the readings in seconds.
    var age: Double
}

/// A collector that combines readings of distances into evidence.
///
/// The collector uses the median of an anchor's readings in an interval, because temporary reflections cause outliers.
/// Readings at one place share the errors of the radio path: within `RangeErrors.correlationTime`, a further reading
/// has a lower weight.
package struct RangeCollector: Sendable {
    /// A reading of an anchor by one technology.
    private struct Reading: Sendable {
        var instant: Instant
        /// The number that identifies anchor and technology.
        var key: Int
        var distance: Double
        var deviation: Double
        /// Whether no update has used the reading yet.
        var isNew = true
    }

    /// Length in seconds of the window whose readings a lost filter restarts from.
    private static let window = 4.0
    /// The maximum number of readings in the window; the collector ignores further ones.
    private static let limit = 20_000

    private let model: RangeModel
    private var recent: [Reading] = []
    /// The instant of the latest used reading, by anchor and technology.
    private var lastUsed: [Int: Instant] = [:]
    /// The instant of the latest reading; nil before any.
    private(set) var latest: Instant?

    /// Creates a collector without readings.
    package init(model: RangeModel) { self.model = model }

    /// Whether any distance was ever measured.
    package var hasMeasured: Bool { latest != nil }

    /// The bytes of the readings.
    var byteCount: Int {
        MemoryLayout<Reading>.stride * recent.capacity + MemoryLayout<(Int, Instant)>.stride * lastUsed.capacity
    }

    /// Adds a reading of an anchor, identified by its index in the field.
    package mutating func add(_ range: RangeReading, anchor: Int) {
        guard range.hasMeasurement, recent.count < Self.limit else { return }
        let technology = RangeModel.number(of: range.technology)
        recent.append(
            Reading(
                instant: range.instant, key: Self.key(anchor, technology), distance: range.distance,
                deviation: range.deviation ?? model.errors(ofTechnology: technology).deviation))
        latest = max(latest ?? range.instant, range.instant)
    }

    /// Returns the number that identifies an anchor and a technology: two indexes of 32 bits.
    private static func key(_ anchor: Int, _ technology: Int) -> Int { anchor + technology << 32 }

    /// Returns whether the window that ends at an instant contains a reading.
    func isMeasuring(at now: Instant) -> Bool { latest.map { $0.seconds(to: now) <= Self.window } ?? false }

    /// Returns the evidence of the readings that were added since the last call; nil without any.
    ///
    /// A reading that arrives after the update of its instant counts in the next one.
    package mutating func drain(at now: Instant) -> RangeEvidence? {
        guard hasMeasured else { return nil }
        let limit = now.advanced(by: .zero - .seconds(Self.window))
        recent.removeAll { $0.instant < limit }
        let fresh = recent.filter(\.isNew)
        for index in recent.indices { recent[index].isNew = false }
        guard var evidence = evidence(of: fresh, at: now) else { return nil }
        for index in evidence.measured.indices {
            let key = Self.key(evidence.measured[index].anchor, evidence.measured[index].technology)
            if let used = lastUsed[key] {
                let time = model.errors(ofTechnology: evidence.measured[index].technology).correlationTime
                evidence.measured[index].share = 1 - cmath_exp(-used.seconds(to: now) / time)
            }
            lastUsed[key] = now
        }
        return evidence
    }

    /// Returns the evidence of the whole window, regardless of earlier calls; nil if the window is empty.
    package func snapshot(at now: Instant) -> RangeEvidence? {
        recent.isEmpty ? nil : evidence(of: recent, at: now)
    }

    /// Empties the window, because the device is not at the place that its readings indicate.
    mutating func forgetWindow() { recent = [] }

    private func evidence(of readings: [Reading], at now: Instant) -> RangeEvidence? {
        guard !readings.isEmpty else { return nil }
        let sorted = readings.sorted { ($0.key, $0.distance) < ($1.key, $1.distance) }
        var measured: [RangeEvidence.Measured] = []
        var start = 0
        while start < sorted.count {
            let key = sorted[start].key
            let end = sorted[start...].firstIndex { $0.key != key } ?? sorted.count
            let (low, high) = (sorted[(start + end - 1) / 2], sorted[(start + end) / 2])
            measured.append(
                RangeEvidence.Measured(
                    anchor: key & 0xffff_ffff, technology: key >> 32, distance: (low.distance + high.distance) / 2,
                    deviation: max(low.deviation, high.deviation), share: 1))
            start = end
        }
        let ages = readings.reduce(0) { $0 + $1.instant.seconds(to: now) }
        return RangeEvidence(measured: measured, age: max(0, ages / Double(readings.count)))
    }
}

/// The anchors of a venue with their positions in space.
package struct AnchorField: Sendable {
    /// A fixed radio at a known place.
    struct Anchor: Hashable, Sendable {
        /// The point on its map.
        var point: MapPoint
        /// Index of its map in the venue.
        var mapIndex: Int
        /// The height above the floor in metres; nil for the height of the device.
        var z: Double?
    }

    /// The anchors, by index.
    let anchors: [Anchor]
    /// The index of each anchor.
    let indexes: [String: Int]
    /// The height of each map's floor in metres.
    private let elevations: [Double]
    /// The number of floors between any two maps.
    private let floors: [[Int]]

    /// Creates the anchors of a venue; omits anchors on unknown maps.
    package init(venue: Venue) {
        var places: [MapID: Int] = [:]
        for (mapIndex, map) in venue.maps.enumerated() where places[map.id] == nil { places[map.id] = mapIndex }
        var anchors: [Anchor] = []
        var indexes: [String: Int] = [:]
        for anchor in venue.anchors {
            guard let mapIndex = places[anchor.mapID], indexes[anchor.id] == nil else { continue }
            indexes[anchor.id] = anchors.count
            anchors.append(Anchor(point: anchor.point, mapIndex: mapIndex, z: anchor.z))
        }
        self.anchors = anchors
        self.indexes = indexes
        guard !anchors.isEmpty else {
            (elevations, floors) = ([], [])
            return
        }
        elevations = FloorFilter.elevations(of: venue.maps.map { ($0.level, $0.elevation) })
        let distance = FloorDistance(venue.maps)
        floors = venue.maps.map { home in venue.maps.map { distance.floors(from: home.id, to: $0.id) } }
    }

    /// Returns the number of floors between an anchor and a map.
    func floors(from anchor: Int, to mapIndex: Int) -> Int { floors[anchors[anchor].mapIndex][mapIndex] }

    /// Returns the height in metres of an anchor above a device on a map.
    ///
    /// - Parameter height: the height of the device above the floor.
    func heightDifference(of anchor: Int, above height: Double, mapIndex: Int) -> Double {
        let anchor = anchors[anchor]
        return elevations[anchor.mapIndex] + (anchor.z ?? height) - elevations[mapIndex] - height
    }
}

/// The estimated height of the device above the floor, which distances to anchors near the device depend on.
///
/// The estimate is the posterior mean over candidate heights. The likelihood of a height is the likelihood of the
/// measured distances, averaged over the belief.
package struct DeviceHeight: Hashable, Sendable {
    /// The possible heights in metres.
    let candidates: [Double]
    private let prior: [Double]
    private var evidence: [Double]
    /// The estimated height in metres.
    package private(set) var value: Double

    /// The time constant in seconds with which evidence loses its weight, because the device may be carried
    /// differently.
    private static let memory = 300.0

    /// Creates the estimate before any evidence.
    package init(model: RangeModel) {
        let deviation = model.deviceHeightDeviation
        // From below a pocket to above a person's head, and higher for a device on a pole or at a ceiling.
        let steps = deviation > 0 ? [-1.0, -0.5, 0, 0.5, 1, 1.5, 2, 2.5, 3] : [0]
        candidates = steps.map { model.deviceHeight + $0 * deviation }
        prior = steps.map { -$0 * $0 / 2 }
        evidence = steps.map { _ in 0 }
        value = model.deviceHeight
    }

    /// Whether the height is known.
    var isKnown: Bool { candidates.count == 1 }

    /// Adds the log-likelihood of each candidate.
    ///
    /// - Parameters:
    ///   - share: the part of the evidence that is independent of the previous one, in [0, 1].
    ///   - seconds: time since the previous evidence.
    mutating func observe(_ logLikelihoods: [Double], share: Double, after seconds: Double) {
        guard logLikelihoods.allSatisfy(\.isFinite) else { return }
        let keep = cmath_exp(-max(0, seconds) / Self.memory)
        for index in evidence.indices { evidence[index] = keep * evidence[index] + share * logLikelihoods[index] }
        let sums = evidence.indices.map { prior[$0] + evidence[$0] }
        let best = sums.max() ?? 0
        let weights = sums.map { cmath_exp($0 - best) }
        let total = weights.reduce(0, +)
        value = zip(weights, candidates).reduce(0) { $0 + $1.0 * $1.1 } / total
        // Only differences between candidates matter.
        for index in evidence.indices { evidence[index] -= best }
    }
}
