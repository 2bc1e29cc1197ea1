import CMath
import IndoorVocabulary
import VenueModel

/// Expects people along the venue's paths, and lets them leave these.
///
/// The weight is s + (1 − s)·exp(−d² / 2w²), where `d` is the distance to the nearest path in metres, `w` the width of
/// the paths and `s` the share that remains far from all. A way to another floor counts with its end on each map. On a
/// map without paths the weight is 1 everywhere.
///
/// A soft form of snapping to a graph: L. Liao, D. Fox, J. Hightower, H. Kautz, D. Schulz, *Voronoi Tracking: Location
/// Estimation Using Sparse and Noisy Sensor Data*, IROS 2003, keep particles on the graph altogether.
public struct PathPrior: MapPrior, TabulatedPrior {
    private struct Piece: Sendable {
        var from: MapPoint
        var to: MapPoint

        /// Metres to the nearest point of the piece.
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

    /// Beyond this many widths from a path the share alone remains.
    private static let reach = 4.0

    /// Creates the prior of a graph; edges whose nodes it doesn't have are ignored.
    ///
    /// - Parameters:
    ///   - paths: the venue's ways.
    ///   - width: metres from a path within which people are expected on it, as a standard deviation; at least 0.01.
    ///   - offPathShare: how likely a place far from all paths is, against one on a path, in [0.001, 1].
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

    /// Linear in the number of the map's edges.
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

    /// The range from the beginning of the first to the end of the last.
    private static func hull(_ one: Range<Int>, _ other: Range<Int>) -> Range<Int> {
        min(one.lowerBound, other.lowerBound)..<max(one.upperBound, other.upperBound)
    }
}
