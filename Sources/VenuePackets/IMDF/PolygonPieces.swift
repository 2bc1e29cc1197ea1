import IndoorVocabulary
import VenueModel

/// Cuts areas with holes into simple polygons, because a packet's polygons have no holes.
///
/// The area is cut into trapezoids at the height of every corner and crossing; trapezoids between the same two edges
/// are joined again. This is correct for all rings, even if they cross each other.
struct PolygonPieces {
    /// An edge that isn't horizontal, from its upper end to its lower end.
    private struct Edge {
        let top: MapPoint
        let bottom: MapPoint
        /// 0 for the area, 1 and above for the areas to subtract.
        let owner: Int

        func x(at y: Double) -> Double {
            y <= top.y
                ? top.x : y >= bottom.y ? bottom.x : top.x + (bottom.x - top.x) * (y - top.y) / (bottom.y - top.y)
        }

        /// Returns the height at which two edges cross; nil if they don't.
        func crossing(_ other: Edge) -> Double? {
            let (a, b) = (bottom - top, other.bottom - other.top)
            let denominator = a.x * b.y - a.y * b.x
            guard denominator != 0 else { return nil }
            let way = other.top - top
            let t = (way.x * b.y - way.y * b.x) / denominator
            let u = (way.x * a.y - way.y * a.x) / denominator
            return t > 0 && t < 1 && u > 0 && u < 1 ? top.y + a.y * t : nil
        }
    }

    /// A trapezoid between two edges.
    private struct Piece {
        let left: Int
        let right: Int
        var top: Double
        var bottom: Double
    }

    /// Returns whether the rings contain the point, by the even-odd rule.
    static func contains(_ point: MapPoint, _ rings: [[MapPoint]]) -> Bool {
        rings.reduce(false) { $0 != Area.polygon($1).contains(point) }
    }

    /// Returns simple polygons that cover the inside of the rings without the inside of the others.
    ///
    /// A single simple ring is returned unchanged. Quadratic in the number of corners; nil if there are too many
    /// corners or crossings.
    static func pieces(of rings: [[MapPoint]], without others: Blocked) -> [[MapPoint]]? {
        let own = edges(of: rings, 0)
        let near = others.near(PlanBox(around: rings.first ?? [])).filter { other in
            return other.joined().contains { contains($0, rings) } || rings.joined().contains { contains($0, other) }
                || edges(of: other, 1).contains { edge in own.contains { $0.crossing(edge) != nil } }
        }
        let corners = (rings + near.joined()).reduce(0) { $0 + $1.count }
        guard corners <= InputLimits.standard.corners else { return nil }
        if near.isEmpty, rings.count == 1, PolygonDefect(in: rings[0]) == nil { return rings }
        return PolygonPieces(edges: own + near.enumerated().flatMap { edges(of: $1, $0 + 1) }).polygons()
    }

    /// The areas to subtract on a level.
    struct Blocked {
        private let areas: [[[MapPoint]]]
        private let grid: PlanGrid

        init(_ areas: [[[MapPoint]]], work: ImportWork) {
            self.areas = areas
            grid = PlanGrid(areas.map { PlanBox(around: $0.first ?? []) }, work: work)
        }

        /// Returns the areas whose boxes meet this one.
        func near(_ box: PlanBox) -> [[[MapPoint]]] { grid.near(box).map { areas[$0] } }

        func contains(_ point: MapPoint) -> Bool {
            near(PlanBox(point, point)).contains { PolygonPieces.contains(point, $0) }
        }
    }

    private static func edges(of rings: [[MapPoint]], _ owner: Int) -> [Edge] {
        rings.flatMap(StraightLine.edges).filter { $0.from.y != $0.to.y }.map {
            $0.from.y < $0.to.y
                ? Edge(top: $0.from, bottom: $0.to, owner: owner) : Edge(top: $0.to, bottom: $0.from, owner: owner)
        }
    }

    private let edges: [Edge]

    /// The largest product of edges and cutting heights: a hall of 200 corners with 100 obstacles has 400,000.
    private static let mostCuts = 400_000

    /// Returns the polygons; nil if there are too many cuts.
    private func polygons() -> [[MapPoint]]? {
        var heights = Set(edges.flatMap { [$0.top.y, $0.bottom.y] })
        for (index, edge) in edges.enumerated() {
            for other in edges[(index + 1)...] {
                if let height = edge.crossing(other) { heights.insert(height) }
            }
            guard heights.count * edges.count <= Self.mostCuts else { return nil }
        }
        let levels = heights.sorted()
        var open: [Piece] = []
        var done: [Piece] = []
        for (top, bottom) in zip(levels, levels.dropFirst()) {
            let found = pieces(from: top, to: bottom)
            var next: [Piece] = []
            for piece in found {
                let above = open.first { $0.left == piece.left && $0.right == piece.right }
                next.append(Piece(left: piece.left, right: piece.right, top: above?.top ?? top, bottom: bottom))
            }
            done += open.filter { old in !found.contains { $0.left == old.left && $0.right == old.right } }
            open = next
        }
        return (done + open).compactMap(polygon)
    }

    /// Returns the trapezoids between two heights; no edge ends or crosses another between these heights.
    private func pieces(from top: Double, to bottom: Double) -> [Piece] {
        let middle = (top + bottom) / 2
        let active = edges.indices.filter { edges[$0].top.y < middle && edges[$0].bottom.y > middle }
            .map { (index: $0, x: edges[$0].x(at: middle)) }.sorted { ($0.x, $0.index) < ($1.x, $1.index) }
        var pieces: [Piece] = []
        var isInside = false
        var excluded: Set<Int> = []
        for (edge, next) in zip(active, active.dropFirst()) {
            let owner = edges[edge.index].owner
            if owner == 0 {
                isInside.toggle()
            } else if excluded.remove(owner) == nil {
                excluded.insert(owner)
            }
            if isInside, excluded.isEmpty {
                pieces.append(Piece(left: edge.index, right: next.index, top: top, bottom: bottom))
            }
        }
        return pieces
    }

    /// Returns the corners of a trapezoid in whole millimetres; nil if it is narrower than that.
    private func polygon(_ piece: Piece) -> [MapPoint]? {
        let (left, right) = (edges[piece.left], edges[piece.right])
        let corners = [(left, piece.top), (right, piece.top), (right, piece.bottom), (left, piece.bottom)].map {
            MapPoint(x: ($0.0.x(at: $0.1) * 1000).rounded() / 1000, y: ($0.1 * 1000).rounded() / 1000)
        }
        var distinct: [MapPoint] = []
        for corner in corners where !distinct.contains(corner) { distinct.append(corner) }
        return PolygonDefect(in: distinct) == nil ? distinct : nil
    }
}
