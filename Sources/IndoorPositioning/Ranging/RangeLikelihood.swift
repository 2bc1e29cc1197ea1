import CMath
import IndoorVocabulary

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
                        let rise = anchors.rise(of: measured.anchor, above: height, mapIndex: mapIndex)
                        return Float(rise * rise)
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
            for (index, term) in group.terms.enumerated() {
                let (dx, dy) = (x - term.x, y - term.y)
                distances[index] = term.distance - (dx * dx + dy * dy + term.squaredRises[mapIndex]).squareRoot()
            }
            var total = 0.0
            for (place, offset) in group.offsets.enumerated() {
                var product = group.offsets.count > 1 ? Self.offsetWeights[place] : 1
                for (index, term) in group.terms.enumerated() {
                    let density = isCell ? term.inCell : term.atPoint
                    product *= Double(density.value(at: distances[index] - offset))
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
