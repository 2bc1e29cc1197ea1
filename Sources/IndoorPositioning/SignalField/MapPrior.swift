import CMath
import IndoorVocabulary
import VenueModel

/// A prior probability of people's positions in a venue.
///
/// The engine evaluates the prior once for each cell of a map's grid. `PositioningSettings.priorShare` sets its weight
/// per second. `SurveyPrior` is the standard prior; `PathPrior` concentrates on paths.
public protocol MapPrior: Sendable {
    /// Returns the weight of a point relative to the most probable point of the map, in (0, 1].
    ///
    /// The engine treats a weight below 1e-30 and NaN as 1e-30, and a weight above 1 as 1.
    ///
    /// - Parameters:
    ///   - point: a point in metres.
    ///   - mapID: the map of the point.
    func weight(at point: MapPoint, on mapID: MapID) -> Double
}

extension MapPrior {
    /// Returns the product of this prior and another one.
    public func multiplied(by other: some MapPrior) -> ProductPrior { ProductPrior(of: [self, other]) }
}

/// A prior that computes the weights of a grid faster than cell by cell.
protocol TabulatedPrior: MapPrior {
    /// Returns the weight of each cell.
    func weights(on mapID: MapID, grid: MapGrid) -> [Float]
}

extension MapPrior {
    /// Returns the weight of each cell of a grid.
    func makeWeights(on mapID: MapID, grid: MapGrid) -> [Float] {
        let weights =
            (self as? any TabulatedPrior)?.weights(on: mapID, grid: grid)
            ?? (0..<grid.count).map { Float(weight(at: grid.center(of: $0), on: mapID)) }
        // The engine takes the logarithm of the weights.
        return weights.map { $0 > 1e-30 ? min($0, 1) : 1e-30 }
    }
}

/// The product of several priors.
public struct ProductPrior: MapPrior, TabulatedPrior {
    private let factors: [any MapPrior]

    /// Creates the product; without factors, every point has the weight 1.
    public init(of factors: [any MapPrior]) { self.factors = factors }

    /// Returns the product of the factors' weights.
    public func weight(at point: MapPoint, on mapID: MapID) -> Double {
        factors.reduce(1) { $0 * $1.weight(at: point, on: mapID) }
    }

    func weights(on mapID: MapID, grid: MapGrid) -> [Float] {
        guard let first = factors.first else { return Array(repeating: 1, count: grid.count) }
        return factors.dropFirst().reduce(first.makeWeights(on: mapID, grid: grid)) { product, factor in
            zip(product, factor.makeWeights(on: mapID, grid: grid)).map { $0 * $1 }
        }
    }
}

/// The standard prior, which is highest near surveyed places and within walkable areas.
///
/// The weight falls with the distance from the nearest surveyed place as a Gaussian with a standard deviation of
/// `SignalModel.supportWidth` metres, down to `SignalModel.unsupportedShare` far from all places. Outside a map's
/// walkable areas, the weight is also multiplied by this share. Without a survey and walkable areas, it is 1, also on a
/// map with beacons or anchors that the survey left out.
public struct SurveyPrior: MapPrior, TabulatedPrior {
    private struct Floor: Sendable {
        var places: [(point: MapPoint, deviation: Double)]
        var areas: [Area]
        /// The weight far from all places.
        var base: Float
    }

    private let floors: [MapID: Floor]
    /// The weight on a map that the venue doesn't contain.
    private let base: Float
    private let share: Float
    private let width: Double

    /// Creates the prior of a venue with its radio map.
    public init(venue: Venue, model: SignalModel = SignalModel()) {
        let places = Dictionary(grouping: venue.radioMap?.fingerprints ?? [], by: \.mapID)
        let model = model.fitted(to: venue.radioMap)
        let share = Float(model.unsupportedShare)
        let base = venue.radioMap?.beacons.isEmpty ?? true ? 1 : share
        let unsurveyed = venue.unsurveyedMaps
        floors = Dictionary(
            venue.maps.map { map in
                let points = places[map.id]?.map { (point: $0.point, deviation: $0.deviation) } ?? []
                return (
                    map.id,
                    Floor(
                        places: points, areas: map.walkable.map(Area.polygon),
                        base: unsurveyed.contains(map.id) ? 1 : base)
                )
            }, uniquingKeysWith: { first, _ in first })
        (self.base, self.share) = (base, share)
        width = model.supportWidth
    }

    /// Returns the weight of a point; the time is linear in the number of the map's surveyed places and the number of
    /// corners of its walkable areas.
    public func weight(at point: MapPoint, on mapID: MapID) -> Double {
        guard let floor = floors[mapID] else { return Double(base) }
        var weight = floor.base
        for place in floor.places
        where max(abs(point.x - place.point.x), abs(point.y - place.point.y)) <= 3 * width + place.deviation {
            weight = max(weight, support(point, place))
        }
        return Double(isWalkable(point, floor) ? weight : weight * share)
    }

    func weights(on mapID: MapID, grid: MapGrid) -> [Float] {
        var weights = [Float](repeating: floors[mapID]?.base ?? base, count: grid.count)
        guard let floor = floors[mapID] else { return weights }
        for place in floor.places {
            let block = grid.block(around: place.point, radius: 3 * width + place.deviation)
            for row in block.rows {
                for column in block.columns {
                    let cell = row * grid.columns + column
                    weights[cell] = max(weights[cell], support(grid.center(of: cell), place))
                }
            }
        }
        guard !floor.areas.isEmpty else { return weights }
        for cell in weights.indices where !isWalkable(grid.center(of: cell), floor) { weights[cell] *= share }
        return weights
    }

    private func support(_ point: MapPoint, _ place: (point: MapPoint, deviation: Double)) -> Float {
        let distance = max(0, point.distance(to: place.point) - place.deviation)
        return share + (1 - share) * Float(cmath_exp(-distance * distance / (2 * width * width)))
    }

    private func isWalkable(_ point: MapPoint, _ floor: Floor) -> Bool {
        floor.areas.isEmpty || floor.areas.contains { $0.contains(point) }
    }
}

/// A prior that concentrates around the venue's paths and still allows positions away from them.
///
/// The weight is s + (1 − s)·exp(−d² / 2w²), where `d` is the distance to the nearest path in metres, `w` the width of
/// the paths and `s` the weight far from all paths. A path to another floor contributes its end on each map. On a map
/// without paths the weight is 1 everywhere.
///
/// This is a soft form of snapping to a graph. Source: L. Liao, D. Fox, J. Hightower, H. Kautz, D. Schulz, *Voronoi
/// Tracking: Location Estimation Using Sparse and Noisy Sensor Data*, IROS 2003, which restricts the particles to the
/// graph.
public struct PathPrior: MapPrior, TabulatedPrior {
    private struct Piece: Sendable {
        var from: MapPoint
        var to: MapPoint

        /// Returns the distance in metres to the nearest point of the piece.
        func distance(to point: MapPoint) -> Double {
            let (way, offset) = (to - from, point - from)
            let square = way.x * way.x + way.y * way.y
            let share = square > 0 ? min(max((offset.x * way.x + offset.y * way.y) / square, 0), 1) : 0
            return (from + way * share).distance(to: point)
        }
    }

    private let pieces: [MapID: [Piece]]
    private let width: Double
    private let offPathShare: Double

    /// Distance from a path, in widths, above which the weight is `offPathShare`.
    private static let reach = 4.0

    /// Creates the prior of a path graph; edges with unknown nodes are ignored.
    ///
    /// - Parameters:
    ///   - paths: the path graph of the venue.
    ///   - width: standard deviation in metres of people's distance from a path; at least 0.01.
    ///   - offPathShare: the weight of a point far from all paths, relative to a point on a path, in [0.001, 1].
    public init(paths: PathGraph, width: Double = 1.5, offPathShare: Double = 0.1) {
        let nodes = Dictionary(paths.nodes.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        var pieces: [MapID: [Piece]] = [:]
        for edge in paths.edges {
            guard let from = nodes[edge.from], let to = nodes[edge.to] else { continue }
            if from.mapID == to.mapID {
                pieces[from.mapID, default: []].append(Piece(from: from.point, to: to.point))
            } else {
                pieces[from.mapID, default: []].append(Piece(from: from.point, to: from.point))
                pieces[to.mapID, default: []].append(Piece(from: to.point, to: to.point))
            }
        }
        self.pieces = pieces
        self.width = width > 0.01 ? width : 0.01
        self.offPathShare = offPathShare > 0.001 ? min(offPathShare, 1) : 0.001
    }

    /// Returns the weight of a point; the time is linear in the number of the map's edges.
    public func weight(at point: MapPoint, on mapID: MapID) -> Double {
        guard let pieces = pieces[mapID] else { return 1 }
        return weight(distance: pieces.reduce(Double.infinity) { min($0, $1.distance(to: point)) })
    }

    func weights(on mapID: MapID, grid: MapGrid) -> [Float] {
        guard let pieces = pieces[mapID] else { return Array(repeating: 1, count: grid.count) }
        var distances = [Double](repeating: .infinity, count: grid.count)
        for piece in pieces {
            let from = grid.block(around: piece.from, radius: Self.reach * width)
            let to = grid.block(around: piece.to, radius: Self.reach * width)
            for row in Self.hull(from.rows, to.rows) {
                for column in Self.hull(from.columns, to.columns) {
                    let cell = row * grid.columns + column
                    distances[cell] = min(distances[cell], piece.distance(to: grid.center(of: cell)))
                }
            }
        }
        return distances.map { Float(weight(distance: $0)) }
    }

    private func weight(distance: Double) -> Double {
        guard distance < Self.reach * width else { return offPathShare }
        return offPathShare + (1 - offPathShare) * cmath_exp(-distance * distance / (2 * width * width))
    }

    /// Returns the smallest range that contains both ranges.
    private static func hull(_ one: Range<Int>, _ other: Range<Int>) -> Range<Int> {
        min(one.lowerBound, other.lowerBound)..<max(one.upperBound, other.upperBound)
    }
}
