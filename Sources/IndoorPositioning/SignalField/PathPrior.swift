import CMath
import IndoorVocabulary
import VenueModel

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
